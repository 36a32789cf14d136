//! Every error of the crate with its data and its text. Kinds, places and help are derived from these in
//! the module above.

use std::fmt;

use super::offload::OffloadError;
use super::prefix::Prefix;

/// The part of a frame that the input ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    FrameHeader,
    BlockHeader,
    Block,
    Checksum,
    Skippable,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FrameHeader => "the frame header",
            Self::BlockHeader => "the block header",
            Self::Block => "the block",
            Self::Checksum => "the frame checksum",
            Self::Skippable => "the skippable frame",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Repr {
    #[error("{option} {value} is out of range ({low} to {high})")]
    Parameter {
        option: &'static str,
        value: i64,
        low: i64,
        high: i64,
    },
    #[error("libzstd refused {option} {value} ({reason})")]
    ParameterRefused {
        option: &'static str,
        value: i64,
        reason: &'static str,
    },
    #[error("the content hash of the frame was not set before its end")]
    MissingHash,
    #[error("{one} cannot be combined with {other}")]
    Conflict {
        one: &'static str,
        other: &'static str,
    },
    #[error("invalid dictionary ({reason})")]
    BadDictionary { reason: &'static str },
    #[error("cannot train a dictionary ({reason})")]
    Samples {
        reason: &'static str,
        help: &'static str,
    },
    #[error("out of memory for {what}{size}", size = Amount(*bytes))]
    Memory {
        bytes: Option<u64>,
        what: &'static str,
    },
    #[error("wrong frame size: pledged {pledged} bytes, given {given}")]
    PledgedSize {
        given: u64,
        pledged: u64,
        offset: u64,
    },
    #[error("{given} bytes of input after the end of the frame")]
    NoOpenFrame { given: usize },
    #[error("unexpected end of input: no frame")]
    NoFrame,
    #[error("not a zstd frame at byte {offset} ({found})")]
    NotZstd { offset: u64, found: Prefix },
    #[error("data after the last frame at byte {offset} is not a zstd frame ({found})")]
    TrailingData { offset: u64, found: Prefix },
    #[error("unsupported legacy format: zstd 0.{version} frame at byte {offset}")]
    LegacyFormat { offset: u64, version: u8 },
    #[error("unexpected end of input at byte {offset}, inside {part} at byte {part_start}")]
    Truncated {
        offset: u64,
        part: Part,
        part_start: u64,
    },
    #[error("corrupt frame header at byte {offset} ({reason})")]
    FrameHeader { offset: u64, reason: &'static str },
    #[error("corrupt block at byte {offset} ({reason})")]
    Block { offset: u64, reason: &'static str },
    #[error("corrupt block at byte {offset} (size {size} exceeds the frame's maximum of {max})")]
    BlockSize { offset: u64, size: u32, max: u32 },
    #[error(
        "frame checksum mismatch at byte {offset} (stored {stored:08x}, computed {computed:08x})"
    )]
    Checksum {
        offset: u64,
        stored: u32,
        computed: u32,
    },
    #[error(
        "wrong content size in frame at byte {offset}: stated {stated} bytes, found {more}{produced}"
    )]
    ContentSize {
        offset: u64,
        produced: u64,
        stated: u64,
        more: &'static str,
    },
    #[error("frame at byte {offset} needs dictionary {id}{}", Given(*given))]
    Dictionary {
        offset: u64,
        id: u32,
        /// The id of the first dictionary that was given. 0: it is raw content without an id.
        given: Option<u32>,
    },
    #[error("frame at byte {offset} needs a window of {window} bytes, the limit is {limit}")]
    WindowLimit {
        offset: u64,
        window: u64,
        limit: u64,
    },
    #[error("frame at byte {offset} needs {need} bytes of memory, the limit is {limit}")]
    MemoryLimit { offset: u64, need: u64, limit: u64 },
    #[error("these settings need {need} bytes of memory, the limit is {limit}")]
    MemoryEstimate { need: u64, limit: u64 },
    #[error("a context needs {need} bytes, {}", Room { need: *need, held: *held, budget: *budget })]
    Budget { need: u64, held: u64, budget: u64 },
    #[error("output exceeds the limit of {limit} bytes in the frame at byte {offset}")]
    OutputLimit { offset: u64, limit: u64 },
    #[error("output buffer of {capacity} bytes is too small")]
    OutputTooSmall { capacity: usize },
    #[error("finished at byte {offset} before all decoded output was taken")]
    Undrained { offset: u64 },
    #[error("{0}")]
    Offload(OffloadError),
    #[error("corrupt seek table at byte {offset} ({reason})")]
    SeekTable { offset: u64, reason: &'static str },
    #[error("seek table mismatch at byte {offset}: stated {stated} bytes of {what}, found {found}")]
    SeekTableBytes {
        offset: u64,
        what: &'static str,
        stated: u64,
        found: u64,
    },
    #[error("a frame of {bytes} bytes is too large for a seek table (at most {max})")]
    SeekTableEntry { bytes: u64, max: u64 },
    #[error("corrupt patch at byte {offset} ({reason})")]
    PatchHeader { offset: u64, reason: &'static str },
    #[error("unexpected end of input at byte {offset}, before the last segment of the patch")]
    PatchEnded { offset: u64 },
    #[error("the older file has {found} bytes, but the patch was made from one of {stated} bytes")]
    OlderLength { stated: u64, found: u64 },
    #[error(
        "the older file is not the one that the patch was made from: bytes {start} to {end}, as far as \
         the segment at byte {content} of the content needs them, have XXH64 {computed:016x}, stated is {stored:016x}"
    )]
    OlderContent {
        content: u64,
        start: u64,
        end: u64,
        stored: u64,
        computed: u64,
    },
    #[error("a worker thread died during its work at byte {offset}")]
    WorkerGone { offset: u64 },
    #[error("libzstd failed at byte {offset} ({reason})")]
    Internal { offset: u64, reason: &'static str },
}

struct Given(Option<u32>);

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(0) => write!(f, ", the given one has no id"),
            Some(id) => write!(f, ", given was {id}"),
            None => Ok(()),
        }
    }
}

struct Amount(Option<u64>);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, " ({bytes} bytes)"),
            None => Ok(()),
        }
    }
}

/// What there is of the memory that a context needs.
struct Room {
    need: u64,
    held: u64,
    budget: u64,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, held, budget } = self;
        match need > budget {
            true => write!(f, "more than the whole budget of its pool, {budget}"),
            false => write!(
                f,
                "but its pool has no room for it: contexts hold {held} bytes, its budget is {budget}"
            ),
        }
    }
}
