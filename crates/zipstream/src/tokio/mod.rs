//! Archives inside a tokio runtime, without blocking its workers.
//!
//! These types drive the encoder and decoders of this crate over `AsyncWrite` and `AsyncRead`, with
//! one buffer each: headers, content, descriptors and the directory are written together, 128 KiB
//! or more at a time. A call compresses an entry itself where that ends within the threshold of the archive
//! ([`ArchiveOptions::threshold_ns`](crate::ArchiveOptions::threshold_ns), 100 µs) although it may be hard to compress, or where
//! its content repeats itself from end to end. The rest is compressed by [`Workers`](crate::Workers).
//!
//! All tasks of a worker thread share its turns, also with those of other crates that take part in
//! `perfkit-turns`, as `zstdkit` does: a call waits for the next turn where the runtime would otherwise not look at
//! its other tasks for longer than 100 µs. So the thread is held for that long, or as long as the longest call takes,
//! however many archives are written and read on it.
//!
//! So are directories read, checked and [searched](crate::Directory::find_async), also those of strangers with long names and
//! many fields, and so are entries decoded: [`ReadOptions::threshold_ns`](crate::ReadOptions::threshold_ns) sets another time
//! than 100 µs. An entry of up to 1 MiB, which is verified before any of it is returned, is decoded in several steps, too. What is
//! large and done with, a directory or content that a dropped future has gathered, is freed on a thread of its own.
//!
//! # What is not divided
//! The least that a call does at once, where the threshold is shorter than that:
//!
//! | call | least unit |
//! |---|---|
//! | reading deflate, deflate64, LZMA, XZ, stored | 4 KiB of content |
//! | reading zstd | a block, 128 KiB of content at most |
//! | reading bzip2 | a block, 900 KB of content at most |
//! | reading an AES entry | its key |
//! | writing | copying 256 KiB of content, or an entry of unknown size that is found to be large |
//!
//! `examples/longest_poll.rs` measures it.
//!
//! Every future may be dropped at any time: a call takes its input in its last step and does not
//! wait after it. A dropped call may be repeated. Only [`push`](AsyncArchiveWriter::push) may have
//! done a part of its work; [`entry_bytes`](AsyncArchiveWriter::entry_bytes) says how much.

mod blocking;
mod entry_reader;
mod entry_writer;
mod fetch;
mod find;
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

/// Who shares a turn should mean the same by it.
const _: () = assert!(turns::THRESHOLD_NS == crate::read::THRESHOLD_NS);
