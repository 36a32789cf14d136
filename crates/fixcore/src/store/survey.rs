//! Inspecting a store without changing it: every message and every damaged place, in one pass.
//!
//! Files are read, not mapped, and no lock is taken. An open store can be inspected; a record that is
//! being appended meanwhile may look torn.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::error::{Damage, StoreError, StoreResult};
use super::files;
use super::options::SEGMENT_BYTES;
use super::record::{ALIGN, u32_at};
use super::segment::{ABSENT, ENTRY_BYTES, Header};
use super::walk::{Step, Walk};
use crate::Timestamp;

/// What a survey finds. Offsets are bytes of the segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// A message.
    Message {
        /// Where its record begins.
        offset: u64,
        /// Its sequence number.
        number: u64,
        /// Its content.
        bytes: &'a [u8],
    },
    /// Damaged bytes.
    Damaged {
        /// The first byte.
        offset: u64,
        /// How many bytes.
        bytes: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// A record that was being written when the process or the machine stopped. Opening the store
    /// cuts it off.
    Torn {
        /// The first byte.
        offset: u64,
        /// How many bytes.
        bytes: u64,
    },
}

/// What a store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// How many segments are in use.
    pub segments: u64,
    /// The total size of their files.
    pub file_bytes: u64,
    /// How many messages there are.
    pub messages: u64,
    /// The total size of the messages.
    pub message_bytes: u64,
    /// The first and the last number with a message.
    pub numbers: Option<(u64, u64)>,
    /// The number of the next message to append.
    pub next_sender: u64,
    /// The number expected in the next message from the other side.
    pub next_target: u64,
    /// When the numbers began; `None` if that was not stated.
    pub created: Option<Timestamp>,
    /// How many damaged places there are.
    pub damaged: u64,
    /// How many bytes opening the store would cut off.
    pub torn_bytes: u64,
}

/// A function that is called for each finding, with the segment that it is in. It stops the survey
/// by returning [`ControlFlow::Break`].
pub type Visit<'v> = &'v mut dyn FnMut(&Path, Seen<'_>) -> ControlFlow<()>;

/// Inspects a store, oldest message first, until the visitor stops it.
///
/// # Errors
///
/// [`StoreError::Io`] if a file cannot be read. Damage inside files goes to the visitor.
pub fn survey(dir: impl AsRef<Path>, visit: Visit<'_>) -> StoreResult<Survey> {
    let dir = dir.as_ref();
    let mut survey = Survey {
        next_sender: 1,
        next_target: 1,
        ..Survey::default()
    };
    let headers = headers(dir)?;
    let newest = headers.iter().rev().find_map(|(_, _, header)| *header);
    for (at, (number, path, header)) in headers.iter().enumerate() {
        let Some(header) = header.filter(|header| header.number == *number) else {
            survey.damaged += 1;
            let seen = damaged(0, 0, Damage::Header);
            match visit(path, seen) {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => break,
            }
        };
        if newest.is_some_and(|newest| newest.epoch != header.epoch) {
            continue;
        }
        let after = headers.get(at + 1).and_then(|(_, _, after)| after.as_ref());
        let bytes = read(path, SEGMENT_BYTES.end() + 1)?;
        if survey
            .segment(path, &bytes, &header, after, visit)
            .is_break()
        {
            break;
        }
    }
    Ok(survey)
}

/// Inspects the bytes of one segment as if it were the last one of a store.
pub fn survey_bytes(bytes: &[u8], visit: Visit<'_>) -> Survey {
    let mut survey = Survey {
        next_sender: 1,
        next_target: 1,
        ..Survey::default()
    };
    let path = Path::new("");
    match Header::read(bytes) {
        Some(header) => drop(survey.segment(path, bytes, &header, None, visit)),
        None => {
            survey.damaged += 1;
            let _ = visit(path, damaged(0, 0, Damage::Header));
        }
    }
    survey
}

type Found = (u64, PathBuf, Option<Header>);

/// The segments in use, ascending, with their headers.
fn headers(dir: &Path) -> StoreResult<Vec<Found>> {
    let mut headers = Vec::new();
    let numbers = files::segments(dir)?;
    for number in numbers.into_iter().rev() {
        let path = files::segment_path(dir, number);
        let beginning = read(&path, files::BEGINNING_BYTES)?;
        if headers.is_empty() && Header::is_unused(&path, &beginning)? {
            continue;
        }
        headers.push((number, path, Header::read(&beginning)));
    }
    headers.reverse();
    Ok(headers)
}

fn read(path: &Path, bytes_max: usize) -> StoreResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(bytes_max as u64).read_to_end(&mut bytes));
    read.map_err(|error| StoreError::io("read", path, error))?;
    Ok(bytes)
}

fn damaged(offset: usize, bytes: usize, damage: Damage) -> Seen<'static> {
    Seen::Damaged {
        offset: offset as u64,
        bytes: bytes as u64,
        damage,
    }
}

impl Survey {
    /// Inspects a segment; `after` is the header of the next one.
    fn segment(
        &mut self,
        path: &Path,
        bytes: &[u8],
        header: &Header,
        after: Option<&Header>,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        self.segments += 1;
        self.created = header.created();
        self.file_bytes += bytes.len() as u64;
        let is_last = after.is_none();
        let mut index = Index::new(bytes, header);
        let mut walk = Walk::new(bytes, header);
        while let Some(step) = walk.step() {
            let seen = match step {
                Step::Message {
                    offset,
                    number,
                    skipped,
                    content,
                } => {
                    self.messages += 1;
                    self.message_bytes += content.len() as u64;
                    let first = self.numbers.map_or(number, |(first, _)| first);
                    self.numbers = Some((first, number));
                    index.skip(skipped);
                    if let Some(at) = index.differs(offset).filter(|_| !is_last) {
                        self.damaged += 1;
                        visit(path, damaged(at, ENTRY_BYTES, Damage::Index))?;
                    }
                    Seen::Message {
                        offset: offset as u64,
                        number,
                        bytes: content,
                    }
                }
                Step::Numbers { skipped } => {
                    index.skip(skipped);
                    continue;
                }
                Step::Torn { offset, bytes } if is_last => {
                    self.torn_bytes += bytes as u64;
                    Seen::Torn {
                        offset: offset as u64,
                        bytes: bytes as u64,
                    }
                }
                Step::Torn { offset, bytes } => {
                    self.damaged += 1;
                    damaged(offset, bytes, Damage::Missing)
                }
                Step::Damaged {
                    offset,
                    bytes,
                    damage,
                } => {
                    self.damaged += 1;
                    damaged(offset, bytes, damage)
                }
            };
            visit(path, seen)?;
        }
        (self.next_sender, self.next_target) = (walk.next_sender, walk.next_target);
        let is_short = after.is_some_and(|after| {
            after.number != header.number + 1
                || (after.before != (walk.entries() as u64, walk.end() as u64))
        });
        if is_short {
            self.damaged += 1;
            visit(path, damaged(walk.end(), 0, Damage::Missing))?;
        }
        ControlFlow::Continue(())
    }
}

/// The index of a segment, read in step with its records.
struct Index<'a> {
    bytes: &'a [u8],
    end: usize,
}

impl<'a> Index<'a> {
    fn new(bytes: &'a [u8], header: &Header) -> Self {
        let end = usize::try_from(header.bytes).unwrap_or(usize::MAX);
        Self { bytes, end }
    }

    fn skip(&mut self, entries: u64) {
        self.end = self.end.saturating_sub(ENTRY_BYTES * entries as usize);
    }

    /// The place of the next entry, if it does not point to this offset.
    fn differs(&mut self, offset: usize) -> Option<usize> {
        self.skip(1);
        let entry = u32_at(self.bytes, self.end);
        (entry == ABSENT || entry as usize * ALIGN != offset).then_some(self.end)
    }
}

/// Whether a directory holds a store, without opening it.
///
/// # Errors
///
/// [`StoreError::Io`] if the directory cannot be read.
pub fn is_store(dir: impl AsRef<Path>) -> StoreResult<bool> {
    Ok(!files::segments(dir.as_ref())?.is_empty())
}
