//! Tests of the library from outside.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(all(feature = "net", target_os = "linux"))]
mod engine;
#[cfg(all(feature = "tls", target_os = "linux"))]
mod engine_tls;
mod schedule;
mod settings;
mod stores;
