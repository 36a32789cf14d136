//! Two logs compared message by message.

mod compare;
mod fields;
mod options;
mod restarts;
mod waiting;

pub use compare::{Counts, Diff, Event};
pub use fields::Difference;
pub use options::{Match, Options};
