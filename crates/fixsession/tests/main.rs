//! Tests of the library from outside.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_line;
mod common;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_hostile;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_proxy;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_refusals;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_schedule;
#[cfg(all(feature = "tls", target_os = "linux"))]
mod engine_tls;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_turns;
#[cfg(all(feature = "net", target_os = "linux"))]
mod engine_unusable;
mod garbled;
mod options;
mod orders;
mod replay;
mod schedule;
mod session;
mod settings;
mod settings_warnings;
mod stores;
