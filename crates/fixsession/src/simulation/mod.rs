//! Two sessions and a bad line under a simulated clock (feature `simulation`): what is lost, delayed, cut
//! and sent again, and what must hold all the same.
//!
//! [`run`] draws a run from [`Choices`], so that a seed, or the input of a fuzzer, repeats it.

mod line;
mod run;
mod side;

pub use run::{Choices, Outcome, run};
