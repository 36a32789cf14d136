//! Settings of zstd against each other on the caller's data: speed, ratio, latency of calls, memory.
//!
//! [`data`](Data) is cut into blocks, `codec` is one face for whole buffers and streams, `measure` takes
//! turns and times, `runner` puts them together for one candidate, `rank` judges, `tables` and `matrix`
//! show, [`run`] connects them.

mod codec;
mod data;
mod matrix;
mod measure;
mod plan;
mod rank;
mod run;
mod runner;
mod tables;

pub use data::{Data, PART_BYTES, decode_frame};
pub use measure::ROUNDS;
pub use plan::{Candidate, Mode, Plan};
pub use run::{count, room_bytes, run};
