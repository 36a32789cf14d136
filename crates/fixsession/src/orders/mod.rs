//! An application that trades: it answers orders with executions, and cancels what is open. For tests of
//! counterparties, and as an example.

mod answers;
mod book;
mod handle;

pub use self::book::Fill;
pub use self::handle::{OrderCounts, Orders, OrdersOptions};
