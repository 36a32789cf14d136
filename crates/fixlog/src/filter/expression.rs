//! An expression over the fields of a message, for callers.

use fixcore::Message;

use super::ExpressionError;
use super::names::Names;
use super::parse::parsed;
use super::tree::Node;
use crate::Dictionaries;

/// An expression over the fields of a message.
///
/// ```text
/// Symbol=MSFT and OrdStatus in (8, EXPIRED) and not OrderQty < 1000
/// ```
///
/// A field is named as the standard names it, or by its tag. `=`, `<>`, `<`, `<=`, `>`, `>=`, `in (…)`,
/// `not in (…)`, `is null`, `is not null`, `contains(field, "x")`, `starts_with` and `ends_with` test
/// it; `and`, `or`, `not` and parentheses combine tests. Numbers are compared as numbers, SendingTime and its
/// like as times, ids and all else byte by byte, and values in quotes always so, where `\x01` is a byte. The name of a value stands for the value. A test of a
/// field that occurs several times holds if it holds for one of them; of `<>` and `not in`, if it holds
/// for all. A test of a field that a message lacks does not hold.
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::Expression;
///
/// let message = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(message)?;
/// let holds = |text: &str| Expression::parse(text, None).map(|wanted| wanted.holds(&message));
/// assert_eq!(holds("MsgType=HEARTBEAT and BodyLength < 10"), Ok(true));
/// assert_eq!(holds("35 in (D, 8) or Text is not null"), Ok(false));
/// assert!(holds("MsgType=").is_err());
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(Node);

impl Expression {
    /// Reads an expression. Fields have the names of `dictionaries` and of the built-in ones.
    ///
    /// # Errors
    /// What is expected, what is there instead, and where.
    pub fn parse<'d>(
        text: &str,
        dictionaries: impl Into<Dictionaries<'d>>,
    ) -> Result<Self, ExpressionError> {
        parsed(text, &Names(dictionaries.into())).map(Self)
    }

    /// Whether it holds for a message.
    #[must_use]
    pub fn holds(&self, message: &Message<'_, '_>) -> bool {
        self.0.holds(message)
    }
}
