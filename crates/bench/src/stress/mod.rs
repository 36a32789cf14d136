//! Codecs and pools under load against each other: who takes the least processor time for a byte, what
//! leaks, and what rates the machine holds. The load itself is `perfkit-stress`.
//!
//! `runner` makes one run, `turns` those of several pairs in rounds, `sweep` those at several rates; [`agents`] share
//! the load of one; `row` keeps what was found, `rank` and `tables` show it, `verdict` judges, `words` says it in sentences, [`run()`] connects them.

pub mod agents;
mod plan;
mod rank;
mod row;
mod run;
mod runner;
mod sweep;
mod tables;
mod turns;
mod verdict;
mod words;

pub use plan::{Plan, Rate, pair_name};
pub use rank::{Control, ranking};
pub use row::Row;
pub use run::{duration, run};
pub use runner::Follow;
pub use verdict::{Complaint, unexpected};
