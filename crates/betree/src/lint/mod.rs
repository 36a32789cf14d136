//! What is odd about expressions: those that never match, that always match, that mean the same, and that match only
//! when another one does.
//!
//! [`sets`] are sets of values, [`tests`] are tests as sets, [`conjunction`] is a conjunction of tests, by attribute,
//! [`meaning`] is what patterns and circles mean together, [`form`] turns a tree of words into conjunctions, and [`find`]
//! looks for what is odd.

mod conjunction;
mod find;
mod form;
mod meaning;
mod sets;
mod tests;

pub use find::{Finding, Lint, Oddity};
