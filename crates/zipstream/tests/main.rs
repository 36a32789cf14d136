//! All integration tests in one executable: it links once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "aes")]
mod combine;
mod common;
#[cfg(all(feature = "aes", feature = "zstd"))]
mod crypt;
mod data;
mod deflate;
#[cfg(feature = "aes")]
mod details;
mod edit;
mod external_content;
#[cfg(feature = "extract")]
mod extract;
mod gzip;
mod hostile;
mod hostile_table;
mod inflate;
mod io_traits;
#[cfg(feature = "methods")]
mod methods;
#[cfg(feature = "object_store")]
mod object;
mod parts;
mod quine;
mod random_access;
mod roundtrip;
mod steps;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tokio")]
mod tokio_inline;
#[cfg(feature = "tokio")]
mod tokio_io_traits;
#[cfg(feature = "tokio")]
mod tokio_requests;
#[cfg(feature = "tokio")]
mod tokio_steps;
#[cfg(feature = "tokio")]
mod tokio_turns;
