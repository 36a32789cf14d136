//! Two logs compared message by message.

mod compare;
mod fields;
mod restarts;
mod waiting;

pub use compare::{Counts, Diff, Event, Match, Options};
pub use fields::Difference;
