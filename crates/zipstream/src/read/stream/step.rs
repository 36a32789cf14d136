//! What calls give: entries, and what they did.

use crate::entry_time::EntryTime;
use crate::method::Method;

/// An entry, as its local header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamEntry {
    /// The name.
    pub name: String,
    /// How it is compressed.
    pub method: Method,
    /// Whether its content is encrypted.
    pub encrypted: bool,
    /// The size of its content, if the header states it.
    pub content_bytes: Option<u64>,
    /// When it was modified, as far as the local header says.
    pub time: EntryTime,
    /// Where its local header starts in the archive.
    pub offset: u64,
}

/// What a call has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent {
    /// More input is needed.
    NeedInput,
    /// An entry starts: see [`StreamDecoder::entry`](super::StreamDecoder::entry).
    Entry,
    /// Content was produced, or will be with more input.
    Content,
    /// The entry is complete and verified.
    EntryEnd,
    /// A record of the directory: see [`StreamDecoder::record`](super::StreamDecoder::record).
    Record,
    /// The archive is complete.
    End,
}

/// What one call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStep {
    /// Input bytes consumed.
    pub consumed: usize,
    /// Content bytes produced.
    pub produced: usize,
    /// What the call has led to.
    pub event: StreamEvent,
}
