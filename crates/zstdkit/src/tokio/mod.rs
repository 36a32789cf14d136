//! Compression inside a tokio runtime, without holding its workers.
//!
//! A [`Scheduler`] decides call by call what runs at once, what is sliced with others in between
//! and what goes to the offload threads; [`AsyncEncoder`] and [`AsyncDecoder`] do the same for
//! streams. They are shells: the logic is that of `sliced`, `schedule` and the pool.
//!
//! These shells are the one place of the crate that reads a clock. They time their own calls and
//! teach the cost model, so that it stays right for the machine and the data at hand.
//!
//! Every future may be dropped at any time: contexts go back to the pool or are thrown away,
//! queued work is taken out, and work that runs owns all that it touches.

mod decoder;
mod encoder;
mod scheduler;
mod turn;
mod whole;

pub use decoder::AsyncDecoder;
pub use encoder::AsyncEncoder;
pub use scheduler::Scheduler;
