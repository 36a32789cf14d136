//! Compression inside a tokio runtime, without holding its workers.
//!
//! For each call a [`Scheduler`] decides whether to run it at once, in slices with other work in between,
//! or on the offload threads. [`AsyncEncoder`] and [`AsyncDecoder`] do the same for streams. All of them
//! are thin layers over `sliced`, `schedule` and the pool.
//!
//! Only these layers read a clock. They time their own calls and teach the cost model, so that it stays
//! accurate for the machine and the data. All streams and calls of a worker thread share its turns, also with those
//! of other crates that take part in `perfkit-turns`: together they hold the thread no longer than the threshold or one
//! call. On a runtime of several threads a task that works alone on its thread goes on for up to four times as long, 800 µs at most, while
//! another thread has nothing to do.
//!
//! Where memory of the pool is short, streams and calls wait for it, in order of arrival; only what is larger than the
//! whole budget is an error. A stream that is not called meanwhile may have to give its context back: it goes on with
//! another frame. [`PoolStats`](crate::PoolStats) has the waits.
//!
//! Every future may be dropped at any time. Contexts then go back to the pool or are discarded, queued
//! work is removed, and running work owns everything that it touches.

mod berth;
mod decoder;
mod encoder;
mod job;
mod memory;
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
