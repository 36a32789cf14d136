//! Fields that are required, or wrong, because of the value of another one.
//!
//! A dictionary says which fields a message must always have; the standard's texts say more. Here is what they
//! say without an "if agreed": each rule names its field. A rule holds only where the dictionary allows the
//! missing field in the message. What an engine would not reject is in `warning`.

use crate::decoder::{Field, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::value::unsigned;

/// What has to hold where a field has one of some values.
#[derive(Debug)]
pub(super) struct Condition {
    field: u32,
    values: Values,
    then: Then,
}

#[derive(Debug)]
enum Values {
    Any,
    /// Of one character.
    Of(&'static [u8]),
}

#[derive(Debug)]
enum Then {
    /// One of these fields is needed, for the session.
    Session(&'static [u32]),
    /// One of these fields is needed, for the application.
    Application(&'static [u32]),
    /// This field has a right value.
    Holds(u32, fn(&Message<'_, '_>) -> bool),
}

const fn needs(field: u32, values: &'static [u8], tags: &'static [u32]) -> Condition {
    Condition {
        field,
        values: Values::Of(values),
        then: Then::Application(tags),
    }
}

/// PossDupFlag (43): OrigSendingTime (122) is required for messages that are sent again.
static RESENT: [Condition; 1] = [Condition {
    field: 43,
    values: Values::Of(b"Y"),
    then: Then::Session(&[122]),
}];
/// ResetSeqNumFlag (141): both sides reset to 1, so a Logon with it is number 1.
static LOGON: [Condition; 1] = [Condition {
    field: 141,
    values: Values::Of(b"Y"),
    then: Then::Holds(34, |message| number(message, 34) == Some(1)),
}];
/// GapFillFlag (123): NewSeqNo (36) is above MsgSeqNum (34). Without it, a reset may go anywhere.
static SEQUENCE_RESET: [Condition; 1] = [Condition {
    field: 123,
    values: Values::Of(b"Y"),
    then: Then::Holds(36, |message| number(message, 36) > number(message, 34)),
}];
/// EndSeqNo (16) is not below BeginSeqNo (7), or is 0: all that came since.
static RESEND_REQUEST: [Condition; 1] = [Condition {
    field: 7,
    values: Values::Any,
    then: Then::Holds(16, |message| {
        number(message, 16) == Some(0) || number(message, 16) >= number(message, 7)
    }),
}];
/// OrdType (40): Price (44) for limit orders, StopPx (99) for stop orders; TimeInForce (59): ExpireDate (432) or
/// ExpireTime (126) for Good Till Date.
static ORDER: [Condition; 3] = [
    needs(40, b"24B", &[44]),
    needs(40, b"34", &[99]),
    needs(59, b"6", &[432, 126]),
];
/// ExecType (150): LastQty (32) and LastPx (31) for a trade, ExecRestatementReason (378) for a restatement.
static EXECUTION: [Condition; 3] = [
    needs(150, b"F", &[32]),
    needs(150, b"F", &[31]),
    needs(150, b"D", &[378]),
];

fn of_type(msg_type: &[u8]) -> &'static [Condition] {
    match msg_type {
        b"A" => &LOGON,
        b"4" => &SEQUENCE_RESET,
        b"2" => &RESEND_REQUEST,
        b"D" | b"G" | b"AB" | b"AC" => &ORDER,
        b"8" => &EXECUTION,
        _ => &[],
    }
}

fn number(message: &Message<'_, '_>, tag: u32) -> Option<u64> {
    unsigned(message.get(tag)?)
}

/// A condition of a message whose fields alone do not fulfil it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    /// The position of the field that has it.
    at: usize,
    condition: &'static Condition,
}

/// The conditions of a message, or of any other with the same tags, that its values decide.
pub(super) fn pending(message: &Message<'_, '_>, allows: impl Fn(u32) -> bool) -> Vec<Pending> {
    let msg_type = message.msg_type();
    // A SequenceReset is no message that was sent before.
    let resent: &[Condition] = match msg_type {
        b"4" => &[],
        _ => &RESENT,
    };
    let all = of_type(msg_type).iter().chain(resent);
    let of = |condition: &'static Condition| {
        let at = message.position(condition.field)?;
        let is_open = match &condition.then {
            Then::Session(tags) | Then::Application(tags) => {
                let is_there = |tag: &u32| message.position(*tag).is_some();
                !tags.iter().any(is_there) && tags.iter().any(|tag| allows(*tag))
            }
            Then::Holds(tag, _) => message.position(*tag).is_some(),
        };
        is_open.then_some(Pending { at, condition })
    };
    all.filter_map(of).collect()
}

impl Pending {
    /// What is wrong with a message by its values.
    #[inline]
    pub(super) fn fault(self, message: &Message<'_, '_>) -> Option<Error> {
        let field = message.field(self.at)?;
        let applies = match (&self.condition.values, field.value) {
            (Values::Any, _) => true,
            (Values::Of(values), [value]) => values.iter().any(|known| known == value),
            _ => false,
        };
        match applies {
            true => self.of(message, &field),
            false => None,
        }
    }

    /// What is wrong with a message whose field has one of the values.
    #[cold]
    fn of(self, message: &Message<'_, '_>, field: &Field<'_>) -> Option<Error> {
        let (kind, tag) = match &self.condition.then {
            Then::Session(tags) => (ErrorKind::MissingTag, *tags.first()?),
            Then::Application(tags) => (ErrorKind::ConditionalTag, *tags.first()?),
            Then::Holds(_, holds) if holds(message) => return None,
            Then::Holds(tag, _) => (ErrorKind::Contradiction, *tag),
        };
        // Of an order of numbers, the other one says what is wrong.
        let (other, value) = match (tag, message.get(34)) {
            (36, Some(number)) => (34, number),
            _ => (field.tag, field.value),
        };
        let because = (other, value);
        Some(Error::because(kind, field.offset, tag, because))
    }
}

/// Checks conditions by the values of a message.
#[inline]
pub(super) fn check(pending: &[Pending], message: &Message<'_, '_>) -> Result<()> {
    for pending in pending {
        if let Some(error) = pending.fault(message) {
            return Err(error);
        }
    }
    Ok(())
}
