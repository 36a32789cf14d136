//! Statistics of logs: [`Part`] is gathered from a block by any thread, [`Statistics`] adds parts up.

mod counts;
mod groups;
mod holes;
#[cfg(test)]
mod orders;
mod part;
mod sequence;
mod told;
mod total;
mod twice;

pub use counts::{Early, Gap, SessionCount, TypeCount};
pub use groups::GroupCount;
pub(crate) use part::Header;
pub use part::Part;
pub use total::Statistics;
