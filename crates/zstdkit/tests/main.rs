//! All integration tests in one executable: it links once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blocks;
mod common;
mod decoder;
mod dictionary;
mod encoder;
mod exzstandard;
mod frames;
mod interop;
mod io;
mod offload;
mod offloaded;
mod oneshot;
mod panics;
mod parallel;
mod patch;
mod pool;
mod properties;
mod recipe;
mod seekable;
mod settings;
mod sliced;
mod steps;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tokio")]
mod tokio_cancel;
#[cfg(feature = "tokio")]
mod tokio_discard;
#[cfg(feature = "tokio")]
mod tokio_gather;
#[cfg(feature = "tokio")]
mod tokio_memory;
#[cfg(feature = "tokio")]
mod tokio_open;
#[cfg(feature = "tokio")]
mod tokio_slow;
#[cfg(feature = "tokio")]
mod tokio_turns;
#[cfg(feature = "workload")]
mod workload;
