//! Rows of bits: for each value of an attribute a row, one bit per expression, that marks the expressions such an
//! event can match.
//!
//! A search takes one row of each attribute, and of lists one row per element, and joins them, 2,048
//! expressions at a time. Rows of an attribute with many values are of cells, and what begins or ends inside of one is
//! compared ([`edges`]). Lists remove what a value excludes ([`clears`]). The remaining expressions run as programs, without the tests
//! that are decided then. [`choose`] chooses attributes, [`build`] sets bits, [`finish`] puts them in order, `search::columns` searches.

mod build;
mod choose;
mod clears;
mod edges;
mod finish;
mod holds;
mod rows;

pub(crate) use build::Builder;
pub(crate) use choose::{Choice, Scalar};
pub(crate) use clears::{Cleared, Clears};
pub(crate) use holds::holds;
use rows::Values;
pub(crate) use rows::{Column, Columns};

use crate::simd::TILE_WORDS;

/// Expressions of a tile.
pub(crate) const TILE: usize = 64 * TILE_WORDS;
/// The most columns.
pub(super) const COLUMNS_MAX: usize = 60;
/// The most elements of lists that have a row.
pub(super) const ELEMENTS_MAX: usize = 300;
/// The place of an empty program: the rows decide.
pub(crate) const DECIDED: u32 = u32::MAX;
/// Members have the numbers of their slots if at least one slot in this many is one.
pub(super) const ALIGNED_MIN: usize = 8;
