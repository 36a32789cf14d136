//! FIX sessions without I/O: logon, heartbeats, resends, recovery, schedules, settings and stores.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod id;
mod memory_store;
mod now;
mod options;
pub mod schedule;
pub mod settings;
mod store;
pub mod stores;

pub use id::SessionId;
pub use memory_store::MemoryStore;
pub use now::Now;
pub use options::{Role, SessionOptions, TimePrecision};
pub use store::{Store, StoreFailure};
