//! Where sessions keep numbers and messages, and what they log: the durable store, the files of QuickFIX and
//! QuickFIX/J, and their logs.

mod any;
mod durable;
mod export;
mod import;
mod names;
mod parts;
mod quickfix;
mod quickfix_j;
mod session_log;

pub use any::AnyStore;
pub use durable::DurableStore;
pub use export::{Exported, export};
pub use import::{Imported, import};
pub use names::{quickfix_j_name, quickfix_name, store_name};
pub use parts::{FileFormat, ForeignError, found};
pub use session_log::SessionLog;
