//! Reads a log: its records one after the other, and whether its end is torn.

use std::sync::Arc;

use betree::{Constants, SubscriptionId};

use super::frame::{
    CONTENT_BYTES_MAX, DELETE, HEADER_BYTES, MAGIC, PRIORITY, PUT, RECORD_BYTES, SUM_BYTES, VERSION,
};
use super::{LogError, header};
use crate::change::{Change, Put};

/// The records of a log.
///
/// ```
/// use betree::SubscriptionId;
/// use matcher::Change;
/// use matcher::log::{Ending, Frames, append, header};
///
/// let mut bytes = header(0).to_vec();
/// let changes = [Change::put(SubscriptionId(7), "a"), Change::Delete(SubscriptionId(3))];
/// append(1, &changes, &mut bytes);
/// let good = bytes.len();
/// append(3, &changes, &mut bytes);
///
/// // The process ended while it wrote the second record.
/// let mut frames = Frames::new(&bytes[..good + 9])?;
/// let frame = frames.next_frame()?.expect("a record");
/// assert_eq!((frame.sequence, &frame.changes[..]), (1, &changes[..]));
/// assert_eq!(frames.next_frame()?, None);
/// assert_eq!(frames.ending(), Ending::Torn { at: good, bytes: 9 });
/// # Ok::<(), matcher::log::LogError>(())
/// ```
#[derive(Debug)]
pub struct Frames<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The number of the last change so far.
    last: u64,
}

/// Changes that were made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The number of the first.
    pub sequence: u64,
    /// The changes, at least one.
    pub changes: Vec<Change>,
}

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With a whole record.
    Whole,
    /// In the middle of a record: the process or the machine stopped while it was written.
    Torn {
        /// Where the record begins.
        at: usize,
        /// How many bytes of it there are.
        bytes: usize,
    },
}

impl<'b> Frames<'b> {
    /// Reads the first bytes. A file that ends within them is a log without records, torn at its start.
    ///
    /// # Errors
    /// Something else than a log, or another version of it.
    pub fn new(bytes: &'b [u8]) -> Result<Self, LogError> {
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            let known = bytes.len().min(MAGIC.len());
            return match bytes[..known] == MAGIC[..known] {
                true => Ok(Self {
                    bytes,
                    at: 0,
                    last: 0,
                }),
                false => Err(LogError::Foreign),
            };
        };
        if head[..8] != MAGIC {
            return Err(LogError::Foreign);
        }
        let found = u32_at(head, 8);
        if found != VERSION {
            return Err(LogError::Version { found });
        }
        let last = u64_at(head, 12);
        if *head != header(last) {
            return Err(LogError::Foreign);
        }
        Ok(Self {
            bytes,
            at: HEADER_BYTES,
            last,
        })
    }

    /// The number of the last change that was read; before the first record, that of the change before it.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// How the log ends, once there are no more records.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self.bytes.len() - self.at {
            0 => Ending::Whole,
            bytes => Ending::Torn { at: self.at, bytes },
        }
    }

    /// The next record; `None` at the end, or where the log is torn.
    ///
    /// # Errors
    /// A record that is damaged and not the last, or one that no program like this wrote.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, LogError> {
        if self.at < HEADER_BYTES {
            return Ok(None);
        }
        let Some((head, content)) = whole(&self.bytes[self.at..], self.last) else {
            return match self.good_after() {
                Some(after) => Err(LogError::Damaged { at: self.at, after }),
                None => Ok(None),
            };
        };
        let changes = changes(content, head.count).ok_or(LogError::Content { at: self.at })?;
        self.at += RECORD_BYTES + content.len() + SUM_BYTES;
        self.last += u64::from(head.count);
        Ok(Some(Frame {
            sequence: head.sequence,
            changes,
        }))
    }

    /// How many bytes after this place a whole later record begins.
    fn good_after(&self) -> Option<usize> {
        let rest = &self.bytes[self.at..];
        // Every checksum of a content costs its length: what claims more than there is left is not looked at,
        // and a number of attempts is enough to find one good record.
        const ATTEMPTS_MAX: usize = 64;
        let mut attempts = 0;
        for at in 1..rest.len() {
            let Some(head) = Head::read(&rest[at..]).filter(|head| head.sequence > self.last)
            else {
                continue;
            };
            attempts += 1;
            if head.content(&rest[at..]).is_some() {
                return Some(at);
            }
            if attempts == ATTEMPTS_MAX {
                return None;
            }
        }
        None
    }
}

/// The first bytes of a record.
#[derive(Debug, Clone, Copy)]
struct Head {
    length: usize,
    count: u32,
    sequence: u64,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Self> {
        let head = bytes.first_chunk::<RECORD_BYTES>()?;
        let length = u32_at(head, 0) as usize;
        let count = u32_at(head, 4);
        // A change has at least nine bytes. Zeros are no record, whatever their checksum.
        let plausible = count > 0 && length <= CONTENT_BYTES_MAX && length / 9 >= count as usize;
        let good = plausible && crc32fast::hash(&head[..16]) == u32_at(head, 16);
        good.then(|| Self {
            length,
            count,
            sequence: u64_at(head, 8),
        })
    }

    /// The content, if all of it is there and its checksum is right.
    fn content<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let rest = bytes.get(RECORD_BYTES..)?;
        let content = rest.get(..self.length)?;
        let sum = rest.get(self.length..)?.first_chunk::<SUM_BYTES>()?;
        (crc32fast::hash(content).to_le_bytes() == *sum).then_some(content)
    }
}

/// The record at the start of `bytes`, if it is whole and follows on change `last`.
fn whole(bytes: &[u8], last: u64) -> Option<(Head, &[u8])> {
    let head = Head::read(bytes)?;
    let follows = last.checked_add(1) == Some(head.sequence)
        && head.sequence.checked_add(u64::from(head.count)).is_some();
    let content = head.content(bytes)?;
    follows.then_some((head, content))
}

/// `count` changes that are all of `content`.
fn changes(content: &[u8], count: u32) -> Option<Vec<Change>> {
    let mut reader = Reader(content);
    let mut changes = Vec::new();
    for _ in 0..count {
        changes.push(reader.change()?);
    }
    reader.0.is_empty().then_some(changes)
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn change(&mut self) -> Option<Change> {
        let kind = *self.take(1)?.first()?;
        let id = SubscriptionId(self.u64()?);
        match kind {
            DELETE => Some(Change::Delete(id)),
            PUT => {
                let mask = *self.take(1)?.first()?;
                let mut constants = Constants::default();
                let places = [
                    &mut constants.advertiser_id,
                    &mut constants.campaign_id,
                    &mut constants.campaign_group_id,
                    &mut constants.flight_id,
                    &mut constants.product_id,
                ];
                if (mask & !PRIORITY) >> places.len() != 0 {
                    return None;
                }
                for (at, place) in places.into_iter().enumerate() {
                    if mask >> at & 1 != 0 {
                        *place = Some(self.u64()? as i64);
                    }
                }
                let priority = match mask & PRIORITY {
                    0 => 0,
                    // Of 0 nothing is written.
                    _ => Some(self.u64()? as i64).filter(|priority| *priority != 0)?,
                };
                let length = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
                let text = std::str::from_utf8(self.take(length as usize)?).ok()?;
                let expression: Arc<str> = text.into();
                let put = Put {
                    expression,
                    constants,
                    priority,
                };
                Some(Change::Put(id, put))
            }
            _ => None,
        }
    }
}

fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
