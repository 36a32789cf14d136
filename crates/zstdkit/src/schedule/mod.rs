//! Where a call should run: on the calling thread, in slices, or on another thread.
//!
//! [`CostModel`] predicts how long a call will take from how long similar calls took. A [`Calibration`]
//! teaches it in under a second, further observations keep it accurate, and a small text file preserves
//! what it learned. [`Offload`] runs work on a few other threads with a short queue. Nothing here reads
//! a clock: the caller passes times in.
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
pub use model::{CostModel, Decision, SLICE_THRESHOLD_NS, THRESHOLD_NS};
pub use offload::{Offload, OffloadFuture};
pub use text::ParseCostsError;
