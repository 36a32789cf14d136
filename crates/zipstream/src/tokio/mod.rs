//! Archives inside a tokio runtime, without blocking its workers.
//!
//! These types drive the encoder and decoders of this crate over `AsyncWrite` and `AsyncRead`, with
//! one buffer each: headers, content, descriptors and the directory are written together, 128 KiB
//! or more at a time. Entries of up to 128 KiB are compressed by the call itself, and larger ones
//! as long as they shrink to almost nothing. The rest is compressed by [`Workers`](crate::Workers),
//! so that no call holds its thread longer than an entry of 128 KiB takes. A task yields after
//! every [`YIELD_BYTES`] of content.
//!
//! Every future may be dropped at any time: a call takes its input in its last step and does not
//! wait after it. A dropped call may be repeated. Only [`push`](AsyncArchiveWriter::push) may have
//! done a part of its work; [`entry_bytes`](AsyncArchiveWriter::entry_bytes) says how much.

mod blocking;
mod entry_reader;
mod entry_writer;
mod fetch;
mod parallel;
mod pipe;
mod pipe_entry;
mod reader;
mod writer;

use std::task::{Context, Poll};

use ::tokio::task::yield_now;

pub use blocking::BlockingSource;
pub use entry_reader::AsyncEntryReader;
pub use entry_writer::AsyncEntryWriter;
pub use pipe::AsyncPipeReader;
pub use pipe_entry::AsyncPipeEntryReader;
pub use reader::AsyncArchiveReader;
pub use writer::AsyncArchiveWriter;

use crate::write::Budget;

/// Content after which a task yields.
pub const YIELD_BYTES: u64 = 64 << 10;
/// The cost of an entry besides its content, in bytes of content.
const ENTRY_BYTES: u64 = 512;

/// When the task yields next.
#[derive(Debug)]
struct YieldBudget(Budget);

impl Default for YieldBudget {
    fn default() -> Self {
        Self(Budget::bytes(YIELD_BYTES))
    }
}

impl YieldBudget {
    /// Yields if enough was done.
    async fn take(&mut self) {
        if self.0.is_spent() {
            self.0 = Budget::bytes(YIELD_BYTES);
            yield_now().await;
        }
    }

    /// The same for poll functions: it wakes the task again.
    fn poll_take(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.0.is_spent() {
            self.0 = Budget::bytes(YIELD_BYTES);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn charge(&mut self, bytes: u64) {
        self.0.charge(bytes);
    }
}
