//! What is known before an expression is filed.

use super::asks::Asks;
use super::cells::CellWords;
use super::dimension::Bounds;
use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::program::estimate::Estimates;

/// What the index knows about events and expressions.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    pub(crate) asks: &'a Asks,
    pub(crate) cells: &'a CellWords,
    pub(crate) bounds: &'a Bounds,
    pub(crate) estimates: &'a Estimates,
    pub(crate) domain: &'a Domain,
    pub(crate) dictionary: &'a Dictionary,
}
