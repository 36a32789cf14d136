//! Archives inside a tokio runtime, without holding its workers.
//!
//! These are shells over the encoder and decoders of this crate, with one buffer each: headers,
//! content, descriptors and the directory go out together, in writes of 128 KiB and more. Entries of
//! up to 128 KiB are compressed where they are given, and larger ones as long as they shrink to next to
//! nothing; the rest is compressed by [`Workers`](crate::Workers), so that no call holds its thread for
//! longer than an entry of 128 KiB takes. Every [`YIELD_BYTES`] of content a task gives way to others.
//!
//! Every future may be dropped at any time: what a call took is taken in its last step, behind which
//! it waits for nothing. A call that was dropped may be made again, and only
//! [`push`](AsyncArchiveWriter::push) may have done a part of its work, which
//! [`entry_bytes`](AsyncArchiveWriter::entry_bytes) tells.

mod entry_reader;
mod entry_writer;
mod fetch;
mod pipe;
mod pipe_entry;
mod reader;
mod writer;

use std::task::{Context, Poll};

use ::tokio::task::yield_now;

pub use entry_reader::AsyncEntryReader;
pub use entry_writer::AsyncEntryWriter;
pub use pipe::AsyncPipeReader;
pub use pipe_entry::AsyncPipeEntryReader;
pub use reader::AsyncArchiveReader;
pub use writer::AsyncArchiveWriter;

use crate::write::Budget;

/// Content between two times that a task gives way.
pub const YIELD_BYTES: u64 = 64 << 10;
/// What an entry costs beside its content, in bytes of it.
const ENTRY_BYTES: u64 = 512;

/// Whose turn it is.
#[derive(Debug)]
struct Turn(Budget);

impl Default for Turn {
    fn default() -> Self {
        Self(Budget::bytes(YIELD_BYTES))
    }
}

impl Turn {
    /// Lets others run first if enough was done.
    async fn take(&mut self) {
        if self.0.is_spent() {
            self.0 = Budget::bytes(YIELD_BYTES);
            yield_now().await;
        }
    }

    /// The same for calls that are polled: it wakes the task again by itself.
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
