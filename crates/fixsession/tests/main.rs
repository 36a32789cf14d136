//! Tests of the library from outside.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod schedule;
mod settings;
mod stores;
