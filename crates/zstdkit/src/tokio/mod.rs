//! Compression inside a tokio runtime, without holding its workers.
//!
//! For each call a [`Scheduler`] decides whether to run it at once, in slices with other work in between,
//! or on the offload threads. [`AsyncEncoder`] and [`AsyncDecoder`] do the same for streams. All of them
//! are thin layers over `sliced`, `schedule` and the pool.
//!
//! Only these layers read a clock. They time their own calls and teach the cost model, so that it stays
//! accurate for the machine and the data. All streams and calls of a worker thread share its turns, also with those
//! of other crates that take part in `perfkit-turns`: together they hold the thread no longer than the threshold or one
//! call.
//!
//! # Thresholds
//! How long a thread is held before its other tasks have a turn:
//!
//! | what works | by default | while another thread of the runtime has nothing to do |
//! |---|---|---|
//! | [`compress`](Scheduler::compress), [`decompress`](Scheduler::decompress) | 100 µs ([`THRESHOLD_NS`](crate::schedule::THRESHOLD_NS)) | 400 µs |
//! | [`AsyncEncoder`], [`AsyncDecoder`] | 300 µs ([`SLICE_THRESHOLD_NS`](crate::schedule::SLICE_THRESHOLD_NS)) | 800 µs |
//! | all, after [`CostModel::with_threshold_ns`](crate::schedule::CostModel::with_threshold_ns) | that | four times that, 800 µs at most, if that is not less |
//!
//! The last column is for runtimes of several threads, as `#[tokio::main]` makes by default. One setter changes all:
//! `Scheduler::new(CostModel::default().with_threshold_ns(50_000), pool, offload)`.
//!
//! Not divided are a block that is decoded (128 KiB of content at most) and a slice (16 KiB and more, by how long others of the
//! stream took): one of them is the least that a turn has, and content that suddenly takes longer makes one slice longer
//! than that.
//!
//! How a call is divided depends on how long things take, and where it is, so do the bytes of a frame: two calls with the same
//! content may give frames that differ, with the same content. Use [`crate::compress`] on a thread of your own where the bytes
//! must be the same, as for an ETag.
//!
//! # Memory
//! Where memory of the pool is short, streams and calls wait for it, in order of arrival. An error is what is larger than
//! the whole budget, at once; and, after the wait, what finds no memory although
//! [twice the budget](crate::Pool#when-the-budget-is-used-up) may be used then. A stream that is not called meanwhile may have to
//! give its context back: it goes on with another frame. [`PoolStats`](crate::PoolStats) has the waits. Idle contexts stay, up to the
//! budget, until [`Pool::trim`](crate::Pool::trim) is called.
//!
//! Every future may be dropped at any time. Contexts then go back to the pool or are discarded, queued
//! work is removed, and running work owns everything that it touches.

mod berth;
mod decoder;
mod encoder;
mod job;
mod memory;
mod pace;
mod room;
mod scheduler;
mod tiny;
mod unpack;
mod whole;

pub use decoder::AsyncDecoder;
pub use encoder::AsyncEncoder;
pub use scheduler::Scheduler;

/// Who shares a turn should mean the same by it.
const _: () = assert!(turns::THRESHOLD_NS == crate::schedule::THRESHOLD_NS);
