//! What the standard's texts say against a message that an engine accepts: values that contradict each other.

use std::fmt;

use crate::decoder::Message;
use crate::value::Decimal;

/// Values of a message that contradict each other, by what the standard says of these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// ExecType (150) and OrdStatus (39) of an ExecutionReport: no order can get there by this event.
    Status {
        /// ExecType.
        exec_type: u8,
        /// OrdStatus.
        status: u8,
    },
    /// LeavesQty (151) of an order that is at work is not OrderQty (38) less CumQty (14).
    Quantities {
        /// OrderQty.
        order: Decimal,
        /// CumQty.
        filled: Decimal,
        /// LeavesQty.
        left: Decimal,
    },
    /// PossResend (97) is Y in a message of the session, which are never sent under another number.
    PossResend,
}

impl Warning {
    /// The field that is named.
    #[must_use]
    pub fn tag(self) -> u32 {
        match self {
            Self::Status { .. } => 39,
            Self::Quantities { .. } => 151,
            Self::PossResend => 97,
        }
    }

    /// What is doubtful in a message.
    ///
    /// ```
    /// # fn bytes(body: &str) -> Vec<u8> {
    /// #     let mut all = Vec::new();
    /// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
    /// #     all
    /// # }
    /// use fixcore::dict::Warning;
    ///
    /// let bytes = bytes("35=8|150=F|39=0|38=100|14=40|151=50|");
    /// let mut decoder = fixcore::Decoder::new();
    /// let message = decoder.parse(&bytes)?;
    /// let found: Vec<_> = Warning::of(&message).map(|warning| warning.to_string()).collect();
    /// assert_eq!(found, [
    ///     "OrdStatus (39) is 0, which ExecType (150) F excludes",
    ///     "LeavesQty (151) is 50, OrderQty (38) less CumQty (14) is 60",
    /// ]);
    /// # Ok::<(), fixcore::Error>(())
    /// ```
    pub fn of(message: &Message<'_, '_>) -> impl Iterator<Item = Self> {
        let msg_type = message.msg_type();
        let is_execution = msg_type == b"8";
        let of_session = matches!(msg_type, b"0" | b"1" | b"2" | b"3" | b"4" | b"5" | b"A");
        let found = [
            is_execution.then(|| status(message)).flatten(),
            is_execution.then(|| quantities(message)).flatten(),
            (of_session && message.get(97) == Some(b"Y")).then_some(Self::PossResend),
        ];
        found.into_iter().flatten()
    }
}

/// ExecType and OrdStatus. OrdStatus is the one of highest precedence that an order has, so that a pending cancel
/// hides others; only what no precedence explains is named.
fn status(message: &Message<'_, '_>) -> Option<Warning> {
    let (&[exec_type], &[status]) = (message.get(150)?, message.get(39)?) else {
        return None;
    };
    let excluded: &[u8] = match exec_type {
        // New.
        b'0' => b"8A",
        // Partial fill (to 4.2), and trade: something is filled.
        b'1' | b'F' => b"08A",
        // Fill (to 4.2).
        b'2' => b"018A",
        // Canceled, expired: the order is not at work any more.
        b'4' => b"018AC",
        b'C' => b"0148A",
        b'5' => b"8A",
        // Pending cancel is the highest there is; only it hides a pending replace.
        b'6' => b"0123478ABCDE95",
        b'E' => b"0123478ABCD95",
        b'A' => b"123478BC",
        b'8' => b"01234567ABCDE9",
        _ => return None,
    };
    excluded
        .contains(&status)
        .then_some(Warning::Status { exec_type, status })
}

/// The standard: "LeavesQty = OrderQty - CumQty", but for orders that are not at work any more, of which 0 may be
/// left. Where an order is in lots of another size (CashOrderQty, OrderPercent), OrderQty is not stated.
fn quantities(message: &Message<'_, '_>) -> Option<Warning> {
    let at_work = matches!(message.get(39)?, b"0" | b"1" | b"2" | b"A" | b"6");
    // A busted or corrected trade, and a status, may tell of another time.
    let tells = !matches!(message.get(150), Some(b"H" | b"G" | b"I" | b"D" | b"5"));
    if !at_work || !tells {
        return None;
    }
    let value = |tag| message.get(tag).and_then(Decimal::parse);
    let (order, filled, left) = (value(38)?, value(14)?, value(151)?);
    let scale = order.scale.max(filled.scale).max(left.scale);
    let at = |value: Decimal| {
        let more = 10_i128.checked_pow(u32::from(scale - value.scale))?;
        i128::from(value.mantissa).checked_mul(more)
    };
    let is_right = at(filled)?.checked_add(at(left)?)? == at(order)?;
    (!is_right).then_some(Warning::Quantities {
        order,
        filled,
        left,
    })
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { exec_type, status } => {
                let (event, status) = (exec_type.escape_ascii(), status.escape_ascii());
                write!(
                    f,
                    "OrdStatus (39) is {status}, which ExecType (150) {event} excludes"
                )
            }
            Self::Quantities {
                order,
                filled,
                left,
            } => {
                write!(
                    f,
                    "LeavesQty (151) is {left}, OrderQty (38) less CumQty (14) is "
                )?;
                match difference(*order, *filled) {
                    Some(right) => write!(f, "{right}"),
                    None => f.write_str("another number"),
                }
            }
            Self::PossResend => f.write_str("PossResend (97) is Y in a message of the session"),
        }
    }
}

/// One number less another.
fn difference(a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale.max(b.scale);
    let at = |value: Decimal| {
        let more = 10_i64.checked_pow(u32::from(scale - value.scale))?;
        value.mantissa.checked_mul(more)
    };
    Some(Decimal {
        mantissa: at(a)?.checked_sub(at(b)?)?,
        scale,
    })
}
