//! zstd with bounded calls.
#![forbid(unsafe_code)]
