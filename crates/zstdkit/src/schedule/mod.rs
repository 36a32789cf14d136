//! Where a call should run: at once, by the slice, or on another thread.
//!
//! [`CostModel`] predicts how long a call will take from how long calls like it took; a
//! [`Calibration`] teaches it in under a second, use keeps it right, a small text file keeps what
//! it knows. [`Offload`] is the other threads: few, with a short queue. Nothing here reads a
//! clock; times are given in.
//!
//! ```
//! use zstdkit::schedule::{CostModel, Decision};
//! use zstdkit::Recipe;
//!
//! let model = CostModel::default();
//! let small = Recipe::Fast.options(Some(2_000));
//! assert_eq!(model.decide(&small, 2_000), Decision::Inline);
//! let large = Recipe::Maximum.options(Some(500_000));
//! assert_eq!(model.decide(&large, 500_000), Decision::Offload);
//! ```

#[cfg(feature = "background")]
mod background;
mod calibrate;
mod key;
mod model;
mod offload;
mod text;

pub use crate::error::OffloadError;
pub use calibrate::Calibration;
pub use key::CostKey;
pub use model::{CostModel, Decision, THRESHOLD_NS};
pub use offload::{Offload, OffloadFuture};
pub use text::ParseCostsError;
