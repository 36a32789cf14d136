//! What messages are told apart by: type, session, fields, or the time they were sent at; and the values that a message
//! has of these, as one key.

use fixcore::Message;

use crate::parties::title;

/// Bytes of a value that rows are told apart by.
const VALUE_BYTES_MAX: usize = 256;
/// Stands behind a value that is longer.
const CUT: &[u8] = "…".as_bytes();

/// What messages are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupKey {
    /// SenderCompID (49) and TargetCompID (56), as `A → B`.
    Session,
    /// A field by its tag. A message with several such fields has all their values, with `;` between them.
    Field(u32),
    /// The day of SendingTime (52), as `20260305`.
    Day,
    /// The hour of SendingTime (52), as `20260305-14`.
    Hour,
    /// The minute of SendingTime (52), as `20260305-14:02`.
    Minute,
}

impl GroupKey {
    /// Writes the values that a message has as a key, in place of what it was.
    pub(crate) fn write(by: &[Self], message: &Message<'_, '_>, key: &mut Vec<u8>) {
        key.clear();
        for one in by {
            match one {
                Self::Session => {
                    push(key, message.get(49));
                    push(key, message.get(56));
                }
                Self::Field(35) => push(key, Some(message.msg_type())),
                Self::Field(tag) => push_field(key, message, *tag),
                Self::Day | Self::Hour | Self::Minute => {
                    let bytes = match one {
                        Self::Day => "20260305".len(),
                        Self::Hour => "20260305-14".len(),
                        _ => "20260305-14:02".len(),
                    };
                    push(key, message.get(52).and_then(|sent| sent.get(..bytes)));
                }
            }
        }
    }

    /// The values of a key, one for each; `None` where messages have no such field.
    pub(crate) fn values(by: &[Self], key: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut rest = key;
        let value = |one: &Self| match one {
            Self::Session => {
                let names = [take(&mut rest), take(&mut rest)];
                let is_any = names.iter().any(Option::is_some);
                let names = names.map(|name| name.unwrap_or_default().to_vec());
                is_any.then(|| title(&names, &Default::default()).into_bytes())
            }
            _ => take(&mut rest).map(<[u8]>::to_vec),
        };
        by.iter().map(value).collect()
    }
}

/// Appends the values of all fields with a tag.
fn push_field(key: &mut Vec<u8>, message: &Message<'_, '_>, tag: u32) {
    let start = key.len();
    push(key, message.get(tag));
    let tags = message.tags().iter().enumerate();
    let mut others = tags.filter(|(_, other)| **other == tag).skip(1).peekable();
    if others.peek().is_none() {
        return;
    }
    key.truncate(start);
    let mut all = message.get(tag).unwrap_or_default().to_vec();
    for field in others.filter_map(|(at, _)| message.field(at)) {
        if all.len() > VALUE_BYTES_MAX {
            break;
        }
        all.push(b';');
        all.extend_from_slice(field.value);
    }
    push(key, Some(&all));
}

/// Appends a value behind its length and 1; none is 0.
fn push(key: &mut Vec<u8>, value: Option<&[u8]>) {
    let Some(value) = value else {
        return key.extend_from_slice(&[0, 0]);
    };
    let cut = value
        .get(..VALUE_BYTES_MAX)
        .filter(|cut| cut.len() < value.len());
    let behind = if cut.is_some() { CUT } else { b"" };
    let kept = cut.unwrap_or(value);
    let bytes = (kept.len() + behind.len()) as u16;
    key.extend_from_slice(&(bytes + 1).to_le_bytes());
    key.extend_from_slice(kept);
    key.extend_from_slice(behind);
}

/// Takes the next value.
fn take<'k>(rest: &mut &'k [u8]) -> Option<&'k [u8]> {
    let (length, behind) = rest.split_first_chunk::<2>()?;
    *rest = behind;
    let bytes = usize::from(u16::from_le_bytes(*length)).checked_sub(1)?;
    let (value, behind) = rest.split_at_checked(bytes)?;
    *rest = behind;
    Some(value)
}
