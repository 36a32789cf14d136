//! The fills of logs: how much was traded at which prices, by symbol and side or by other values. [`FillPart`] is
//! gathered from a block by any thread, [`Fills`] adds parts up in the order of the logs.
//!
//! Only ExecutionReports (8) are read. Who may see them, and what became of orders, is in `orders`.

mod exact;
mod fill;
mod ledger;
mod part;
mod rows;

pub use exact::Exact;
pub use ledger::Fills;
pub use part::{FillFault, FillPart};
pub use rows::{FillCounts, FillRow, NotCounted};

#[cfg(test)]
mod tests;
