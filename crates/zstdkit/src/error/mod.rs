//! The one error type: a kind to branch on, the byte it happened at, and what to do next.
//!
//! libzstd reports an error code without a place. The callers here always know the place, so the
//! code's own text appears only as the reason in parentheses.

mod kind;
mod libzstd;
mod offload;
mod prefix;
mod repr;

use std::io;

pub use kind::ErrorKind;
pub(crate) use libzstd::{CORRUPTION, is_out_of_memory, is_output_too_small, reason};
pub use offload::OffloadError;
pub(crate) use prefix::Prefix;
pub(crate) use repr::{Part, Repr};

/// An error of this crate: its [kind](Error::kind), [the byte](Error::offset) where it happened if
/// there is one, and [what to do next](Error::help) if that is known.
///
/// Its text is one line in lower case and includes the byte.
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
    /// The content of the frame at this byte has another size than its header states. `more`: what stands before the
    /// counted size.
    pub(crate) fn wrong_size(offset: u64, more: &'static str, produced: u64, stated: u64) -> Self {
        Repr::ContentSize {
            offset,
            produced,
            stated,
            more,
        }
        .into()
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match *self.0 {
            Repr::Parameter { .. }
            | Repr::ParameterRefused { .. }
            | Repr::MissingHash
            | Repr::Conflict { .. } => ErrorKind::Parameter,
            Repr::BadDictionary { .. } | Repr::Samples { .. } => ErrorKind::Dictionary,
            Repr::Memory { .. } => ErrorKind::Memory,
            Repr::PledgedSize { .. } => ErrorKind::PledgedSize,
            Repr::NoOpenFrame { .. } => ErrorKind::NoOpenFrame,
            Repr::NoFrame => ErrorKind::NoFrame,
            Repr::NotZstd { .. } => ErrorKind::NotZstd,
            Repr::TrailingData { .. } => ErrorKind::TrailingData,
            Repr::LegacyFormat { .. } => ErrorKind::LegacyFormat,
            Repr::Truncated { .. } | Repr::PatchEnded { .. } => ErrorKind::Truncated,
            Repr::PatchHeader { .. } => ErrorKind::Patch,
            Repr::OlderLength { .. } | Repr::OlderContent { .. } => ErrorKind::OlderFile,
            Repr::FrameHeader { .. } => ErrorKind::FrameHeader,
            Repr::Block { .. } | Repr::BlockSize { .. } => ErrorKind::Block,
            Repr::Checksum { .. } => ErrorKind::Checksum,
            Repr::ContentSize { .. } => ErrorKind::ContentSize,
            Repr::Dictionary { .. } => ErrorKind::Dictionary,
            Repr::WindowLimit { .. } => ErrorKind::WindowLimit,
            Repr::MemoryLimit { .. } | Repr::MemoryEstimate { .. } | Repr::Budget { .. } => {
                ErrorKind::MemoryLimit
            }
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

    /// The byte where it happened, counted from the start of the input: compressed bytes for a decoder
    /// or scanner, content bytes for an encoder.
    pub fn offset(&self) -> Option<u64> {
        match *self.0 {
            Repr::Parameter { .. }
            | Repr::ParameterRefused { .. }
            | Repr::MissingHash
            | Repr::Conflict { .. }
            | Repr::BadDictionary { .. }
            | Repr::Samples { .. }
            | Repr::Memory { .. }
            | Repr::Budget { .. }
            | Repr::MemoryEstimate { .. }
            | Repr::NoOpenFrame { .. }
            | Repr::NoFrame
            | Repr::SeekTableEntry { .. }
            | Repr::OutputTooSmall { .. }
            | Repr::OlderLength { .. }
            | Repr::OlderContent { .. }
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
            | Repr::PatchHeader { offset, .. }
            | Repr::PatchEnded { offset }
            | Repr::WorkerGone { offset }
            | Repr::Internal { offset, .. } => Some(offset),
        }
    }

    /// What to do next, if that is known.
    pub fn help(&self) -> Option<&str> {
        match &*self.0 {
            Repr::NotZstd { found, .. } => found.looks_like(),
            Repr::Samples { help, .. } => Some(help),
            Repr::BadDictionary { .. } => {
                Some("use the complete, unmodified file that training wrote")
            }
            Repr::TrailingData { .. } => Some("the frames before it are complete"),
            Repr::LegacyFormat { .. } => {
                Some("recompress it with a zstd tool that was built with legacy support")
            }
            Repr::Truncated { .. } | Repr::PatchEnded { .. } => {
                Some("the file is truncated: download or copy it again")
            }
            Repr::PatchHeader { .. } => Some("download or copy the patch again"),
            Repr::OlderLength { .. } | Repr::OlderContent { .. } => {
                Some("name the very file that the patch was made from")
            }
            Repr::Dictionary { .. } => Some("use the dictionary that it was compressed with"),
            Repr::WindowLimit { .. } => Some("raise the window limit if the source is trusted"),
            Repr::MemoryEstimate { .. } => {
                Some("choose a lower level or a smaller window, or raise the limit")
            }
            Repr::MemoryLimit { .. } => Some("raise the memory limit if the source is trusted"),
            Repr::Budget { need, budget, .. } if need > budget => {
                Some("give the pool a larger budget (memory_budget_bytes), or state small sizes")
            }
            Repr::Budget { .. } => Some(
                "try again when others have returned contexts, state small sizes, or raise the budget (memory_budget_bytes)",
            ),
            Repr::OutputLimit { .. } => Some("raise the output limit if the source is trusted"),
            Repr::SeekTable { .. } | Repr::SeekTableBytes { .. } => {
                Some("the content can still be read from the beginning, without the table")
            }
            Repr::SeekTableEntry { .. } => Some("split the content into smaller frames"),
            Repr::MissingHash => Some("call set_content_hash before the call that ends the frame"),
            Repr::NoOpenFrame { .. } => Some("begin a new frame"),
            Repr::PledgedSize { .. } => Some("begin the frame with its real size, or without one"),
            _ => None,
        }
    }

    /// Whether libzstd itself failed, so that its context must not be used again.
    pub(crate) fn spoils_context(&self) -> bool {
        matches!(*self.0, Repr::Memory { .. } | Repr::Internal { .. })
    }

    /// Whether the memory of a pool was short, and would be enough if others returned theirs: the same call may succeed
    /// later. A server answers 503. Of an [`io::Error`] of a stream, `get_ref` and `downcast_ref` give this error.
    pub fn is_pool_exhausted(&self) -> bool {
        self.short_bytes().is_some()
    }

    /// What was asked for of a pool whose memory is short, where it would be enough if others returned theirs.
    pub(crate) fn short_bytes(&self) -> Option<u64> {
        match *self.0 {
            Repr::Budget { need, budget, .. } if need <= budget => Some(need),
            _ => None,
        }
    }

    /// Whether the input was empty, which a tool may want to accept.
    pub fn is_no_frame(&self) -> bool {
        self.kind() == ErrorKind::NoFrame
    }
}
