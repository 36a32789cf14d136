//! fixcore over shapes of messages, next to a naive parser and a naive encoder.
//!
//! [`Plan::cases`] lists the shapes: all named ones, sweeps over one number, and random draws. [`measure`] runs one
//! case by one instruction set: every side parses and writes every message, all answers are compared, then the sides
//! take turns in random order. [`Cliff`] finds neighbours of a sweep that are too far apart.

mod cases;
mod cliffs;
mod measure;
pub mod naive;
mod ours;
mod row;
mod run;
mod sides;
mod simple;
mod tables;

pub use cases::{Case, Plan};
pub use cliffs::{Cliff, FACTOR_MAX, cliffs};
pub use measure::{Found, measure};
pub use row::Row;
pub use run::run;
pub use sides::{Answer, Operation, Rival, Side, Workload};
pub use simple::Naive;
pub use tables::{neighbours as table_of_neighbours, sets as table_of_sets, shapes as table};
