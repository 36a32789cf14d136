//! A betree that lives: one writer changes it, any number of readers search it, and what was acknowledged survives
//! the end of the process.
//!
#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! [`Matcher`] is the handle; the writer behind it makes [`Change`]s and publishes states. [`log`] has the bytes of the
//! log, the store the files of a directory.
#![forbid(unsafe_code)]

mod change;
mod error;
mod first;
#[cfg(feature = "http")]
pub mod http;
pub mod log;
mod matcher;
mod ranks;
mod rows;
mod shared;
mod store;
mod texts;
mod trouble;
mod writer;

pub use crate::change::{Applied, CHANGES_MAX, Change, ChangeError, EXPRESSION_BYTES_MAX, Put};
pub use crate::error::{Error, Result};
pub use crate::first::First;
pub use crate::log::Sync;
pub use crate::matcher::{Matcher, Options, Status};
pub use crate::rows::{Live, Specs};
pub use crate::shared::{Outcomes, SaveError, Saved};
pub use crate::store::{Cut, LostTexts, Recovery};
pub use crate::texts::Texts;
pub use crate::trouble::{Observer, Trouble};
