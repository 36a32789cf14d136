//! The command line of the `zstd` program, for a binary that is called by one of its names.
//!
//! [`program`] is its names and environment variables, [`parse`](mod@parse) parses the arguments, [`tuning`] those
//! about frames, [`training`] those of `--train`, [`lz4`] those that only lz4 has, and [`plan`] turns them into perfkit's own plans.

mod lz4;
mod parse;
mod plan;
mod program;
mod training;
mod tuning;
mod values;

pub(crate) use plan::{Action, ZstdPlan, parse};
pub(crate) use program::{Name, Variables};

#[cfg(test)]
mod tests;
