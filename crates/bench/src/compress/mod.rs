//! Settings of zstd against each other on the caller's data: speed, ratio, latency of calls, memory.
//!
//! [`data`](Data) is cut into blocks, `codec` is one face for whole buffers and streams, `measure` takes
//! turns and times, `runner` puts them together for one candidate, `rank` judges, `tables` and `matrix`
//! show, [`run`] connects them.
//!
//! ```
//! use std::time::Duration;
//!
//! use perfkit_bench::Context;
//! use perfkit_bench::compress::{self, Candidate, Data, Plan};
//! use perfkit_bench::report::{Outcome, Run, RunOptions};
//!
//! let mut data = Data::new("text");
//! data.push("all of it", &b"a line of some length\n".repeat(1000));
//! let mut plan = Plan::new(vec![Candidate::level(1), Candidate::level(9)]);
//! plan.time = Duration::from_millis(20);
//! plan.pareto = true;
//!
//! let run = Run::start(RunOptions::new("my-bench", "1.0.0", "compress"))?;
//! let mut outcome = Outcome::new("compress");
//! let context = Context { run: &run, watch: &() };
//! compress::run(&plan, &[data], context, &mut outcome)?;
//! let report = run.finish(outcome).report;
//! assert_eq!(report.tables[0].name, "pareto");
//! assert!(report.validation.is_some_and(|checked| checked.ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codec;
mod data;
mod matrix;
mod measure;
mod plan;
mod rank;
mod run;
mod runner;
mod section;
mod tables;

pub use data::{Data, PART_BYTES, decode_frame};
pub use measure::ROUNDS;
pub use plan::{Candidate, Mode, Plan};
pub use run::{count, room_bytes, run};
