//! All integration tests in one executable: it links once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[cfg(all(feature = "aes", feature = "zstd"))]
mod crypt;
mod data;
mod deflate;
mod edit;
mod external_content;
#[cfg(feature = "extract")]
mod extract;
mod hostile;
mod hostile_table;
mod inflate;
mod io_traits;
#[cfg(feature = "methods")]
mod methods;
mod quine;
mod roundtrip;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tokio")]
mod tokio_io_traits;
