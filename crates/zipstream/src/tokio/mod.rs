//! Archives inside a tokio runtime, without blocking its workers.
//!
//! These types drive the encoder and decoders of this crate over `AsyncWrite` and `AsyncRead`, with
//! one buffer each: headers, content, descriptors and the directory are written together, 128 KiB
//! or more at a time. Entries of up to 128 KiB that take no longer than a millisecond are compressed by the call
//! itself, and larger ones as long as they shrink to almost nothing. The rest is compressed by
//! [`Workers`](crate::Workers).
//!
//! All tasks of a worker thread share its turns, also with those of other crates that take part in
//! `perfkit-turns`, as `zstdkit` does: a call waits for the next turn where the runtime would otherwise not look at
//! its other tasks for longer than 100 µs. So the thread is held for that long, or as long as the longest call takes,
//! however many archives are written and read on it.
//!
//! Two things are not divided yet. Opening an archive reads its whole directory in one call, and so does
//! [`check`](AsyncArchiveReader::check) unless the profile is strict: 14 ms for 300,000 entries were measured, so bound the
//! entries of archives that you do not trust ([`Limits::entries`](crate::Limits::entries)). And
//! [`read`](AsyncArchiveReader::read) collects an entry in memory that grows; where entries may have megabytes, copy them
//! ([`copy_to`](AsyncArchiveReader::copy_to)).
//!
//! Every future may be dropped at any time: a call takes its input in its last step and does not
//! wait after it. A dropped call may be repeated. Only [`push`](AsyncArchiveWriter::push) may have
//! done a part of its work; [`entry_bytes`](AsyncArchiveWriter::entry_bytes) says how much.

mod blocking;
mod entry_reader;
mod entry_writer;
mod fetch;
mod pace;
mod parallel;
mod pipe;
mod pipe_entry;
mod reader;
mod writer;

pub use blocking::BlockingSource;
pub use entry_reader::AsyncEntryReader;
pub use entry_writer::AsyncEntryWriter;
pub use pipe::AsyncPipeReader;
pub use pipe_entry::AsyncPipeEntryReader;
pub use reader::AsyncArchiveReader;
pub use writer::AsyncArchiveWriter;
