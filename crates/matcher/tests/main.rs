//! Integration tests in one executable: it links once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod log;
mod matcher;
