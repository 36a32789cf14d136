//! Messages counted by type, session, fields, or the time they were sent at: one row for each combination of values.

use std::collections::HashMap;

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

/// The messages that have the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupCount {
    /// One for each [`GroupKey`]; `None` where messages have no such field. What is behind the first 256 bytes of a
    /// value is left out, with `…` in its place.
    pub values: Vec<Option<Vec<u8>>>,
    /// The log, counted from 0; of logs that are one, the first.
    pub log: usize,
    /// How many messages.
    pub messages: u64,
    /// How many bytes they have together.
    pub bytes: u64,
}

#[derive(Debug)]
struct Row {
    key: Vec<u8>,
    log: usize,
    messages: u64,
    bytes: u64,
}

/// Rows in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Groups {
    rows: Vec<Row>,
    /// By log and key.
    places: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Adds a message of a block.
    pub(super) fn message(&mut self, by: &[GroupKey], message: &Message<'_, '_>) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for one in by {
            match one {
                GroupKey::Session => {
                    push(&mut key, message.get(49));
                    push(&mut key, message.get(56));
                }
                GroupKey::Field(35) => push(&mut key, Some(message.msg_type())),
                GroupKey::Field(tag) => push_field(&mut key, message, *tag),
                GroupKey::Day | GroupKey::Hour | GroupKey::Minute => {
                    let bytes = match one {
                        GroupKey::Day => "20260305".len(),
                        GroupKey::Hour => "20260305-14".len(),
                        _ => "20260305-14:02".len(),
                    };
                    push(&mut key, message.get(52).and_then(|sent| sent.get(..bytes)));
                }
            }
        }
        self.count(&key, 0, (1, message.bytes().len() as u64), usize::MAX);
        self.key = key;
    }

    /// Adds those of a block of a log; how many messages have no row, because there are `rows_max` others.
    pub(super) fn add(&mut self, part: &Self, log: usize, rows_max: usize) -> u64 {
        let mut key = std::mem::take(&mut self.key);
        let mut lost = 0;
        for row in &part.rows {
            key.clear();
            key.extend_from_slice(&row.key);
            key.extend_from_slice(&log.to_le_bytes());
            if !self.count(&key, log, (row.messages, row.bytes), rows_max) {
                lost += row.messages;
            }
        }
        self.key = key;
        lost
    }

    /// Adds messages and their bytes to the row of a key; whether it has one.
    fn count(&mut self, key: &[u8], log: usize, of: (u64, u64), rows_max: usize) -> bool {
        let at = match self.places.get(key) {
            Some(at) => *at,
            None if self.rows.len() >= rows_max => return false,
            None => {
                self.places.insert(key.to_vec(), self.rows.len());
                self.rows.push(Row {
                    key: key.to_vec(),
                    log,
                    messages: 0,
                    bytes: 0,
                });
                self.rows.len() - 1
            }
        };
        if let Some(row) = self.rows.get_mut(at) {
            row.messages += of.0;
            row.bytes += of.1;
        }
        true
    }

    /// All, those with the most messages first.
    pub(super) fn counts(&self, by: &[GroupKey]) -> Vec<GroupCount> {
        let mut counts: Vec<_> = self.rows.iter().map(|row| row.count(by)).collect();
        counts.sort_by(|a, b| {
            let most = b.messages.cmp(&a.messages);
            most.then_with(|| (&a.values, a.log).cmp(&(&b.values, b.log)))
        });
        counts
    }
}

impl Row {
    fn count(&self, by: &[GroupKey]) -> GroupCount {
        let mut rest = &self.key[..];
        let value = |one: &GroupKey| match one {
            GroupKey::Session => {
                let names = [take(&mut rest), take(&mut rest)];
                let is_any = names.iter().any(Option::is_some);
                let names = names.map(|name| name.unwrap_or_default().to_vec());
                is_any.then(|| title(&names, &Default::default()).into_bytes())
            }
            _ => take(&mut rest).map(<[u8]>::to_vec),
        };
        GroupCount {
            values: by.iter().map(value).collect(),
            log: self.log,
            messages: self.messages,
            bytes: self.bytes,
        }
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
