//! betree over shapes of workloads, next to two simple inverted indexes.
//!
//! [`Plan::cases`] lists the shapes: all named and long ones, sweeps over numbers of values, and random draws, each at several
//! numbers of expressions. [`measure`] runs one case: every side answers every event, all answers are compared, then
//! the sides take turns in random order. [`Cliff`] finds neighbours of a sweep that are too far apart.

mod cases;
mod cliffs;
mod measure;
mod row;
mod run;
mod sides;
mod tables;

pub use cases::{Case, Plan};
pub use cliffs::{Cliff, FACTOR_MAX, cliffs};
pub use measure::{Took, measure};
pub use row::{Changes, Row, Times};
pub use run::run;
pub use sides::{Counting, Rival, Side, Simple, Workload};
pub use tables::{neighbours as table_of_neighbours, shapes as table, sizes as table_of_sizes};
