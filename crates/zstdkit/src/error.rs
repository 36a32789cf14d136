//! The one error type: a kind to branch on, the byte it happened at, and what to do next.
//!
//! What libzstd reports is an error code without a place. The callers here always know the place,
//! so the code's own text appears only as the reason in parentheses.

use std::{fmt, io};

use crate::schedule::OffloadError;

/// What went wrong, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option is outside its bounds, or two options do not go together.
    Parameter,
    /// The system refused to give memory.
    Memory,
    /// A frame was given more or fewer bytes than were pledged for it.
    PledgedSize,
    /// A frame is closed and a new one was not begun.
    NoOpenFrame,
    /// There is no frame at all: the input is empty.
    NoFrame,
    /// The input does not start with a zstd frame.
    NotZstd,
    /// Bytes that are not a frame follow the last frame.
    TrailingData,
    /// A frame of zstd 0.1 to 0.7, which nothing has written since 2016.
    LegacyFormat,
    /// The input ends inside a frame.
    Truncated,
    /// A frame header that the format does not allow.
    FrameHeader,
    /// A block that cannot be decoded.
    Block,
    /// The content does not have the checksum that the frame states.
    Checksum,
    /// The content does not have the size that the frame states.
    ContentSize,
    /// The frame needs a dictionary that was not given, or a dictionary cannot be used or trained.
    Dictionary,
    /// The frame needs a window above the limit.
    WindowLimit,
    /// A frame or a context needs more memory than the limit.
    MemoryLimit,
    /// The content is larger than the limit.
    OutputLimit,
    /// The output buffer of a one-shot call is too small.
    OutputTooSmall,
    /// The stream was finished while decoded bytes were still waiting.
    Undrained,
    /// Work on another thread was not done: it panicked, or the threads were stopped.
    Offload,
    /// A seek table that cannot be right, or that the frames do not bear out.
    SeekTable,
    /// libzstd failed in a way that no input should cause.
    Internal,
}

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
    #[error("{option} {value} was refused ({reason})")]
    ParameterRefused {
        option: &'static str,
        value: i64,
        reason: &'static str,
    },
    #[error("{one} and {other} do not go together")]
    Conflict {
        one: &'static str,
        other: &'static str,
    },
    #[error("not a usable dictionary ({reason})")]
    BadDictionary { reason: &'static str },
    #[error("no dictionary can be trained ({reason})")]
    Samples {
        reason: &'static str,
        help: &'static str,
    },
    #[error("out of memory for {what}{size}", size = Amount(*bytes))]
    Memory {
        bytes: Option<u64>,
        what: &'static str,
    },
    #[error("size pledged for the frame is {pledged}, size given is {given}")]
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
    #[error("legacy format not supported: a zstd 0.{version} frame at byte {offset}")]
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
    #[error("frame at byte {offset} holds {more}{produced} bytes, its header states {stated}")]
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
        /// The id of the first dictionary that was given; 0 is one of plain content.
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
    #[error("a context needs {need} bytes of a pool of {budget}, of which {held} are in use")]
    Budget { need: u64, held: u64, budget: u64 },
    #[error("output exceeds the limit of {limit} bytes in the frame at byte {offset}")]
    OutputLimit { offset: u64, limit: u64 },
    #[error("output buffer of {capacity} bytes is too small")]
    OutputTooSmall { capacity: usize },
    #[error("decoded output is still waiting at byte {offset}")]
    Undrained { offset: u64 },
    #[error("{0}")]
    Offload(OffloadError),
    #[error("corrupt seek table at byte {offset} ({reason})")]
    SeekTable { offset: u64, reason: &'static str },
    #[error("seek table at byte {offset} states {stated} bytes of {what}, there are {found}")]
    SeekTableBytes {
        offset: u64,
        what: &'static str,
        stated: u64,
        found: u64,
    },
    #[error("a seek table has no room for a frame of {bytes} bytes, the most is {max}")]
    SeekTableEntry { bytes: u64, max: u64 },
    #[error("a worker thread ended before its work at byte {offset} was done")]
    WorkerGone { offset: u64 },
    #[error("libzstd failed at byte {offset} ({reason})")]
    Internal { offset: u64, reason: &'static str },
}

/// The first bytes of what should have been a frame, at most four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix {
    bytes: [u8; 4],
    len: u8,
}

impl Prefix {
    pub(crate) fn new(found: &[u8]) -> Self {
        let mut bytes = [0; 4];
        let len = found.len().min(4);
        bytes[..len].copy_from_slice(&found[..len]);
        Self {
            bytes,
            len: len as u8,
        }
    }

    fn found(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// A guess at what the file is instead, for the help line.
    fn looks_like(&self) -> Option<&'static str> {
        match self.found() {
            [0x1f, 0x8b, ..] => Some("this looks like gzip data"),
            [0xfd, b'7', b'z', b'X'] => Some("this looks like xz data"),
            [b'B', b'Z', b'h', ..] => Some("this looks like bzip2 data"),
            [0x04, 0x22, 0x4d, 0x18] => Some("this looks like LZ4 data"),
            [b'P', b'K', 3 | 5 | 7, ..] => Some("this looks like a ZIP archive"),
            [0x37, 0xa4, 0x30, 0xec] => Some("this is a zstd dictionary, not compressed data"),
            _ => None,
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("found ")?;
        for byte in self.found() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

struct Given(Option<u32>);

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(0) => write!(f, ", the one given has no id"),
            Some(id) => write!(f, ", the one given is {id}"),
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

/// An error of this crate: a [kind](Error::kind), where there is one [the byte](Error::offset)
/// it happened at, and where there is one [the next step](Error::help).
///
/// Its text is one line in lower case and names the byte itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(Box<Repr>);

impl From<Repr> for Error {
    fn from(repr: Repr) -> Self {
        Self(Box::new(repr))
    }
}

/// So that `?` works in functions that return [`io::Result`]. The error stays inside: get it back with
/// [`io::Error::downcast`] or [`io::Error::get_ref`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Truncated | ErrorKind::NoFrame => io::ErrorKind::UnexpectedEof,
            ErrorKind::Parameter | ErrorKind::PledgedSize | ErrorKind::NoOpenFrame => {
                io::ErrorKind::InvalidInput
            }
            ErrorKind::Memory | ErrorKind::MemoryLimit => io::ErrorKind::OutOfMemory,
            ErrorKind::Internal | ErrorKind::Offload => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

impl From<OffloadError> for Error {
    fn from(error: OffloadError) -> Self {
        Repr::Offload(error).into()
    }
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match *self.0 {
            Repr::Parameter { .. } | Repr::ParameterRefused { .. } | Repr::Conflict { .. } => {
                ErrorKind::Parameter
            }
            Repr::BadDictionary { .. } | Repr::Samples { .. } => ErrorKind::Dictionary,
            Repr::Memory { .. } => ErrorKind::Memory,
            Repr::PledgedSize { .. } => ErrorKind::PledgedSize,
            Repr::NoOpenFrame { .. } => ErrorKind::NoOpenFrame,
            Repr::NoFrame => ErrorKind::NoFrame,
            Repr::NotZstd { .. } => ErrorKind::NotZstd,
            Repr::TrailingData { .. } => ErrorKind::TrailingData,
            Repr::LegacyFormat { .. } => ErrorKind::LegacyFormat,
            Repr::Truncated { .. } => ErrorKind::Truncated,
            Repr::FrameHeader { .. } => ErrorKind::FrameHeader,
            Repr::Block { .. } | Repr::BlockSize { .. } => ErrorKind::Block,
            Repr::Checksum { .. } => ErrorKind::Checksum,
            Repr::ContentSize { .. } => ErrorKind::ContentSize,
            Repr::Dictionary { .. } => ErrorKind::Dictionary,
            Repr::WindowLimit { .. } => ErrorKind::WindowLimit,
            Repr::MemoryLimit { .. } | Repr::Budget { .. } => ErrorKind::MemoryLimit,
            Repr::OutputLimit { .. } => ErrorKind::OutputLimit,
            Repr::OutputTooSmall { .. } => ErrorKind::OutputTooSmall,
            Repr::Undrained { .. } => ErrorKind::Undrained,
            Repr::Offload(_) => ErrorKind::Offload,
            Repr::SeekTable { .. } | Repr::SeekTableBytes { .. } | Repr::SeekTableEntry { .. } => {
                ErrorKind::SeekTable
            }
            Repr::WorkerGone { .. } | Repr::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The byte it happened at, counted from the start of the stream that was given in:
    /// compressed bytes for a decoder or scanner, content bytes for an encoder.
    pub fn offset(&self) -> Option<u64> {
        match *self.0 {
            Repr::Parameter { .. }
            | Repr::ParameterRefused { .. }
            | Repr::Conflict { .. }
            | Repr::BadDictionary { .. }
            | Repr::Samples { .. }
            | Repr::Memory { .. }
            | Repr::Budget { .. }
            | Repr::NoOpenFrame { .. }
            | Repr::NoFrame
            | Repr::SeekTableEntry { .. }
            | Repr::OutputTooSmall { .. }
            | Repr::Offload(_) => None,
            Repr::PledgedSize { offset, .. }
            | Repr::NotZstd { offset, .. }
            | Repr::TrailingData { offset, .. }
            | Repr::LegacyFormat { offset, .. }
            | Repr::Truncated { offset, .. }
            | Repr::FrameHeader { offset, .. }
            | Repr::Block { offset, .. }
            | Repr::BlockSize { offset, .. }
            | Repr::Checksum { offset, .. }
            | Repr::ContentSize { offset, .. }
            | Repr::Dictionary { offset, .. }
            | Repr::WindowLimit { offset, .. }
            | Repr::MemoryLimit { offset, .. }
            | Repr::OutputLimit { offset, .. }
            | Repr::Undrained { offset }
            | Repr::SeekTable { offset, .. }
            | Repr::SeekTableBytes { offset, .. }
            | Repr::WorkerGone { offset }
            | Repr::Internal { offset, .. } => Some(offset),
        }
    }

    /// What to do next, where that is known.
    pub fn help(&self) -> Option<&str> {
        match &*self.0 {
            Repr::NotZstd { found, .. } => found.looks_like(),
            Repr::Samples { help, .. } => Some(help),
            Repr::BadDictionary { .. } => {
                Some("give the file that training wrote, whole and unchanged")
            }
            Repr::TrailingData { .. } => Some("the frames before it are complete"),
            Repr::LegacyFormat { .. } => {
                Some("recompress it with a zstd tool that was built with legacy support")
            }
            Repr::Truncated { .. } => Some("the file was cut off: fetch or copy it again"),
            Repr::Dictionary { .. } => Some("give the dictionary it was compressed with"),
            Repr::WindowLimit { .. } => Some("raise the window limit if the source is trusted"),
            Repr::MemoryLimit { .. } => Some("raise the memory limit if the source is trusted"),
            Repr::Budget { .. } => Some(
                "give contexts back before taking more, state small sizes, or raise the budget",
            ),
            Repr::OutputLimit { .. } => Some("raise the output limit if the source is trusted"),
            Repr::SeekTable { .. } | Repr::SeekTableBytes { .. } => {
                Some("the frames can be read without it, from the first on")
            }
            Repr::SeekTableEntry { .. } => Some("cut the content into smaller frames"),
            Repr::NoOpenFrame { .. } => Some("begin a new frame"),
            Repr::PledgedSize { .. } => Some("begin the frame with its real size, or with none"),
            _ => None,
        }
    }

    /// Whether libzstd itself failed, so that its context is not to be used again.
    pub(crate) fn spoils_context(&self) -> bool {
        matches!(*self.0, Repr::Memory { .. } | Repr::Internal { .. })
    }

    /// Whether the input held no frame at all, which a tool may want to let pass.
    pub fn is_no_frame(&self) -> bool {
        self.kind() == ErrorKind::NoFrame
    }
}

/// What a libzstd error code means here, in the style of the rest.
pub(crate) fn reason(code: usize) -> &'static str {
    match code.wrapping_neg() {
        20 => "data corruption detected",
        24 => "literals header does not match its size",
        // libzstd thinks of a dictionary, the only other place such tables come from.
        30 | 32 => "refers to tables that were never sent",
        40 | 41 => "unsupported option",
        42 => "option out of range",
        44 => "entropy table too large",
        46 | 48 => "entropy table with wrong symbols",
        60 => "wrong order of calls",
        64 => "out of memory",
        70 => "content too large",
        72 => "wrong size",
        _ => zstd_safe::get_error_name(code),
    }
}

/// The error code of libzstd for data that is corrupt in some way.
pub(crate) const CORRUPTION: usize = 20_usize.wrapping_neg();

/// Whether a libzstd error code means that an allocation failed.
pub(crate) fn is_out_of_memory(code: usize) -> bool {
    code.wrapping_neg() == 64
}

/// Whether a libzstd error code means that the output did not fit.
pub(crate) fn is_output_too_small(code: usize) -> bool {
    code.wrapping_neg() == 70
}
