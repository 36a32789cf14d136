//! Command lines as what is measured: how often each is run, in which order, what goes before and after,
//! and what the runs come to.
//!
//! It starts no process by itself: a [`Launch`] does, so that a caller decides how a process that must end
//! is ended, and tests need none. What is here follows hyperfine, so that its command lines mean the same:
//! a command is measured in its shell, whose own start-up is measured first and taken off. [`Runner::interleaved`]
//! is what hyperfine lacks: rounds in random order, with a control.

mod error;
mod export;
mod floor;
mod identity;
mod launch;
mod outcome;
mod parameters;
mod plan;
mod relative;
mod runner;
mod sample;
mod shell;

pub use error::{Error, Step};
pub use export::{Export, Sorted, TimeUnit};
pub use floor::start_floor;
pub use identity::identities;
pub use launch::{Launch, Ran};
pub use outcome::{Floors, outcome};
pub use parameters::{lists, scan, values};
pub use plan::{Failures, Output, Parameter, Plan, Program, RUNS_MAX, Runs};
pub use relative::{Relative, Standing, relative};
pub use runner::{Interleaved, Runner};
pub use sample::{Outliers, Sample};
pub use shell::{Shell, is_executable, is_program, quoted, shell_sign, words};
