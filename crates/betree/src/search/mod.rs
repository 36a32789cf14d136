//! Searches: find the expressions of a snapshot that match an event, in steps under a budget.
//!
//! A search goes through phases, each of which can stop after any operation: lockstep blocks ([`families`]), rows
//! of bits ([`columns`]), patterns of texts ([`texts`]), the tree ([`walk`]), named expressions ([`named`]) and the writing of ids ([`write`]).
//! The reductions of an operation do not depend on where a search stopped before, so every split of the work
//! finds the same ids in the same number of reductions.

mod bits;
mod buffers;
mod columns;
mod counting;
mod families;
mod found;
mod machine;
mod named;
mod owned;
mod phase;
mod texts;
mod top;
mod walk;
mod write;

pub use buffers::Buffers;
pub(crate) use machine::Paused;
pub use machine::Search;
pub use owned::OwnedSearch;
pub(crate) use phase::Output;
use phase::{FETCH_REDUCTIONS, Phase};
