//! Vector instructions: what lockstep, batches and columns run on them, and the choice of an instruction
//! set.
//!
//! [`blocks`], [`slices`] and [`tiles`] are the data that instructions work on, [`isa`] is what the
//! processor has, [`dispatch`] the only way in. Nothing here knows expressions or events.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocks;
mod dispatch;
mod isa;
mod scalar;
mod slices;
mod spread;
mod tiles;

pub(crate) use blocks::{
    ACCEPTED, Block, LANES, NO_PROGRAM, Place, REJECTED, Row, TESTS_MAX, Truth,
};
pub(crate) use dispatch::{compress, run, scan, sliced, spread};
pub use isa::{Isa, ParseIsaError};
pub(crate) use slices::{EVENTS_MAX, Slice, Step, WAITING, WORDS, transpose};
pub(crate) use spread::{Spread, WORDS as GROUP_WORDS};
pub(crate) use tiles::{Join, TILE_WORDS};
