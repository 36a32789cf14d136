//! Integration tests in one executable: it links once. `io` and `store_disk` have a harness of
//! their own, and `store_processes` starts processes: between fork and exec those hold the locks of every store
//! that is open here.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boundaries;
mod common;
#[cfg(feature = "deferred")]
mod deferred;
#[cfg(feature = "workload")]
mod dictionary;
mod encoder;
mod fields;
#[cfg(all(unix, feature = "workload"))]
mod guard;
#[cfg(feature = "workload")]
#[path = "common/messages.rs"]
mod messages;
#[cfg(feature = "workload")]
mod paths;
#[cfg(feature = "workload")]
mod shapes;
mod stated;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "store")]
mod store_steps;
#[cfg(feature = "workload")]
mod stream;
mod written;
