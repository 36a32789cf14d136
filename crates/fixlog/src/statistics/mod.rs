//! Statistics of logs: [`Part`] is gathered from a block by any thread, [`Statistics`] adds parts up.

mod holes;
#[cfg(test)]
mod orders;
mod part;
mod sequence;
mod total;

pub(crate) use part::Header;
pub use part::Part;
pub use total::{Early, Gap, SessionCount, Statistics, TypeCount};
