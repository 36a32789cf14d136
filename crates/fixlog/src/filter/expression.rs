//! An expression over the fields of a message, and whether it holds.

use std::cmp::Ordering;

use fixcore::dict::{Dictionary, FieldSpec, Version};
use fixcore::{Decimal, Message};

use super::ExpressionError;
use super::parse::parsed;
use super::tokens::Relation;

/// A value that fields are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) text: Vec<u8>,
    /// In units of ten to the power of minus 18. A quoted value is no number.
    pub(super) number: Option<i128>,
}

/// What is asked of the values of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Is(Relation, Constant),
    In(Vec<Constant>),
    Contains(Vec<u8>),
    StartsWith(Vec<u8>),
    EndsWith(Vec<u8>),
    Present,
}

/// Not deeper than the parser allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Test(u32, Test),
}

/// An expression over the fields of a message.
///
/// ```text
/// Symbol=MSFT and OrdStatus in (8, EXPIRED) and not OrderQty < 1000
/// ```
///
/// A field is named as the standard names it, or by its tag. `=`, `<>`, `<`, `<=`, `>`, `>=`, `in (…)`,
/// `not in (…)`, `is null`, `is not null`, `contains(field, "x")`, `starts_with` and `ends_with` test
/// it; `and`, `or`, `not` and parentheses combine tests. Numbers are compared as numbers, everything else
/// byte by byte, and values in quotes always so. The name of a value stands for the value. A test of a
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
    /// Reads an expression. Fields have the names of `dictionary` and of the built-in ones.
    ///
    /// # Errors
    /// What is expected, what is there instead, and where.
    pub fn parse(text: &str, dictionary: Option<&Dictionary>) -> Result<Self, ExpressionError> {
        parsed(text, &Names(dictionary)).map(Self)
    }

    /// Whether it holds for a message.
    #[must_use]
    pub fn holds(&self, message: &Message<'_, '_>) -> bool {
        self.0.holds(message)
    }
}

/// The names of fields and values.
pub(super) struct Names<'d>(Option<&'d Dictionary>);

impl<'d> Names<'d> {
    /// The fields of the caller's dictionary, then those of the built-in ones.
    fn fields(&self) -> impl Iterator<Item = &'d FieldSpec> + use<'d> {
        let built = Version::ALL.into_iter().rev();
        let built = built.filter_map(|version| -> Option<&'d Dictionary> { version.dictionary() });
        self.0.into_iter().chain(built).flat_map(Dictionary::fields)
    }

    /// The tag of a field by its name or number.
    pub(super) fn tag(&self, name: &str) -> Option<u32> {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok().filter(|tag| *tag > 0);
        }
        let is = |field: &&FieldSpec| field.name().eq_ignore_ascii_case(name);
        self.fields().find(is).map(FieldSpec::tag)
    }

    /// A value by its name, where it is the name of one and not a value itself.
    pub(super) fn value(&self, tag: u32, name: &str) -> Option<&'d str> {
        let specs = || self.fields().filter(move |field| field.tag() == tag);
        if specs().any(|field| field.value_name(name.as_bytes()).is_some()) {
            return None;
        }
        let mut values = specs().flat_map(FieldSpec::values);
        let found = values.find(|value| value.1.eq_ignore_ascii_case(name));
        found.map(|value| value.0.as_str())
    }
}

/// A number in units of ten to the power of minus 18.
pub(super) fn number(value: &[u8]) -> Option<i128> {
    let decimal = Decimal::parse(value)?;
    let unit = 10_i128.pow(u32::from(Decimal::SCALE_MAX - decimal.scale));
    Some(i128::from(decimal.mantissa) * unit)
}

impl Constant {
    /// How a value compares with this one; `None` if only one of them is a number.
    fn compare(&self, value: &[u8]) -> Option<Ordering> {
        match (self.number, number(value)) {
            (Some(wanted), Some(value)) => Some(value.cmp(&wanted)),
            (Some(_), None) => None,
            (None, _) => Some(value.cmp(&self.text)),
        }
    }

    fn equals(&self, value: &[u8]) -> bool {
        value == self.text
            || (self.number.is_some() && self.compare(value) == Some(Ordering::Equal))
    }
}

impl Test {
    /// Whether it holds for a value. `<>` is not asked here.
    fn holds(&self, value: &[u8]) -> bool {
        match self {
            Self::Is(Relation::Equal | Relation::Unequal, wanted) => wanted.equals(value),
            Self::Is(relation, wanted) => {
                wanted.compare(value).is_some_and(|order| match relation {
                    Relation::Less => order.is_lt(),
                    Relation::LessOrEqual => order.is_le(),
                    Relation::Greater => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            Self::In(wanted) => wanted.iter().any(|wanted| wanted.equals(value)),
            Self::Contains(text) => memchr::memmem::find(value, text).is_some(),
            Self::StartsWith(text) => value.starts_with(text),
            Self::EndsWith(text) => value.ends_with(text),
            Self::Present => true,
        }
    }
}

impl Node {
    fn holds(&self, message: &Message<'_, '_>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(message)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(message)),
            Self::Not(node) => !node.holds(message),
            Self::Test(tag, test @ Test::Is(Relation::Unequal, _)) => {
                let mut values = values(message, *tag).peekable();
                values.peek().is_some() && !values.any(|value| test.holds(value))
            }
            Self::Test(tag, test) => values(message, *tag).any(|value| test.holds(value)),
        }
    }
}

/// The values of all fields with a tag.
fn values<'m>(message: &Message<'_, 'm>, tag: u32) -> impl Iterator<Item = &'m [u8]> {
    let places = message.tags().iter().enumerate();
    places
        .filter(move |(_, other)| **other == tag)
        .filter_map(|(at, _)| message.field(at))
        .map(|field| field.value)
}
