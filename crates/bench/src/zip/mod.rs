//! The ZIP writer for files against the one for tokio.
//!
//! Both pack the same in turns, with the first once more as a control; `pack` is what they do, `ticker` a
//! task next to packing.

mod pack;
mod run;
mod ticker;
mod words;

pub use run::{CONTENT_BYTES, Plan, run};
