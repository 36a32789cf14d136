//! Work in slices of 16 KiB under a budget, for threads that others wait for.
//!
//! These are thin layers over [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder): they split
//! the input, count the work and stop when the budget is spent. `schedule` decides whether to slice at
//! all; the caller decides what runs between two slices.

mod append;
mod budget;
mod decoder;
mod encoder;

pub use budget::{Budget, SLICE_BYTES};
pub use decoder::SlicedDecoder;
pub use encoder::SlicedEncoder;
