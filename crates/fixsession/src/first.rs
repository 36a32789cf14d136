//! The first message of a connection, before it is known which session it belongs to.

use fixcore::{Decoder, Message, SOH};

use crate::framing::{self, End};
use crate::id::SessionId;

/// BeginString (8) with its tag is shorter than this.
const HEAD_BYTES_MAX: usize = 16;
/// Digits of a BodyLength (9).
const LENGTH_DIGITS_MAX: usize = 9;

/// What the first bytes of a connection are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum First {
    /// The message is not complete yet.
    NeedMore,
    /// A Logon.
    Logon {
        /// The session that it names, from this side: `sender` is its TargetCompID (56).
        id: Box<SessionId>,
    },
    /// No Logon: close the connection without an answer.
    Refused(FirstProblem),
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FirstProblem {
    /// The bytes do not begin like a message.
    #[error("not a FIX message")]
    NotFix,
    /// The message is longer than the limit.
    #[error("first message too long")]
    TooLong,
    /// The message is not valid.
    #[error("first message is not valid: {0}")]
    Invalid(fixcore::Error),
    /// Another type than Logon.
    #[error("first message is not a Logon (35=A)")]
    NotLogon,
    /// SenderCompID (49) or TargetCompID (56) is missing.
    #[error("Logon without SenderCompID (49) or TargetCompID (56)")]
    NoCompId,
}

/// Which session the first message of a connection names. `input` is everything that came so far; give
/// the same bytes to [`Session::bytes`](crate::Session::bytes) then.
///
/// ```
/// use fixsession::{First, first_message};
///
/// let mut logon = Vec::new();
/// fixcore::frame::write(b"FIX.4.4", b"35=A\x0149=BUYER\x0156=SELLER\x0134=1\x01", &mut logon);
/// assert_eq!(first_message(&logon[..20], 4096), First::NeedMore);
/// let First::Logon { id } = first_message(&logon, 4096) else { panic!() };
/// assert_eq!(id.to_string(), "FIX.4.4:SELLER->BUYER");
/// ```
#[must_use]
pub fn first_message(input: &[u8], max_bytes: usize) -> First {
    if !may_begin(input) {
        return First::Refused(FirstProblem::NotFix);
    }
    let end = match framing::end(input, max_bytes, 0) {
        End::At(end) => end,
        End::NotBefore(_) => return First::NeedMore,
        End::TooLong => return First::Refused(FirstProblem::TooLong),
    };
    let mut decoder = Decoder::new();
    match decoder.parse(input.get(..end).unwrap_or(input)) {
        Err(error) => First::Refused(FirstProblem::Invalid(error)),
        Ok(message) if message.msg_type() != b"A" => First::Refused(FirstProblem::NotLogon),
        Ok(message) => match identity(&message) {
            Some(id) => First::Logon { id: Box::new(id) },
            None => First::Refused(FirstProblem::NoCompId),
        },
    }
}

/// Whether a message may begin with these bytes: `8=FIX`, and a BodyLength (9) of digits second. What does not is
/// known at once, before a limit is reached.
fn may_begin(input: &[u8]) -> bool {
    const BEGIN: &[u8] = b"8=FIX";
    if !BEGIN.starts_with(input.get(..BEGIN.len()).unwrap_or(input)) {
        return false;
    }
    let head = input.get(..HEAD_BYTES_MAX).unwrap_or(input);
    let Some(end) = head.iter().position(|byte| *byte == SOH) else {
        return input.len() < HEAD_BYTES_MAX;
    };
    let rest = input.get(end + 1..).unwrap_or(&[]);
    let length = rest.split(|byte| *byte == SOH).next().unwrap_or(rest);
    let (tag, digits) = length.split_at(length.len().min(2));
    b"9=".starts_with(tag)
        && digits.len() <= LENGTH_DIGITS_MAX
        && digits.iter().all(u8::is_ascii_digit)
}

/// The session that a message names, from the side that received it.
fn identity(message: &Message<'_, '_>) -> Option<SessionId> {
    let text = |tag| {
        let value = message.get(tag);
        value.map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let begin_string = String::from_utf8_lossy(message.begin_string());
    let mut id = SessionId::new(&begin_string, &text(56)?, &text(49)?);
    id.sender_sub = text(57).unwrap_or_default();
    id.sender_location = text(143).unwrap_or_default();
    id.target_sub = text(50).unwrap_or_default();
    id.target_location = text(142).unwrap_or_default();
    Some(id)
}
