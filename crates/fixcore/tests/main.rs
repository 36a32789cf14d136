//! Integration tests in one executable: it links once. `io` and `store_disk` have a harness of their own.

mod boundaries;
mod common;
#[cfg(feature = "deferred")]
mod deferred;
#[cfg(feature = "workload")]
mod dictionary;
mod encoder;
#[cfg(all(unix, feature = "workload"))]
mod guard;
#[cfg(feature = "workload")]
#[path = "common/messages.rs"]
mod messages;
#[cfg(feature = "workload")]
mod paths;
mod stated;
#[cfg(feature = "store")]
mod store;
#[cfg(all(target_os = "linux", feature = "store"))]
mod store_processes;
#[cfg(feature = "workload")]
mod stream;
