//! Ranges as keys: the cells that the interval of a test, or of several tests of one attribute, touches.

use super::dimension::{Dimension, Key, RESOLUTIONS};
use super::known::Known;
use super::operands::interval;
use crate::code::{Head, Op};
use crate::program::arena::Arena;

/// The most tests of which ranges are put together: one bit each.
const RANGES_MAX: usize = 64;

/// What tests of one attribute come to, all of which must hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) attribute: u16,
    pub(super) interval: (i64, i64),
    /// The first of these tests.
    pub(super) node: u32,
    /// One bit for each of them, by their position among all.
    pub(super) parts: u64,
}

/// The cells that a range touches, each with whether it is entirely in it.
pub(super) struct Cells {
    pub(super) resolution: u8,
    pub(super) cells: Vec<(u64, bool)>,
    pub(super) share: f32,
}

/// The attribute and the interval of a test that is true exactly for the values of an interval.
pub(super) fn range(arena: &Arena, node: u32, known: &Known<'_>) -> Option<(u16, (i64, i64))> {
    if matches!(arena.nodes[node as usize].op, Op::And | Op::Or) {
        return None;
    }
    let [head, operands @ ..] = arena.test(node) else {
        return None;
    };
    let head = Head(*head);
    let is_float = known.bounds.is_float.get(head.attribute()) == Some(&true);
    let interval = interval(head, operands, is_float)?;
    let is_plain = !head.flag() && !head.undefined();
    is_plain.then_some((head.attribute() as u16, interval))
}

/// The ranges of tests all of which must hold, one for each attribute.
pub(super) fn ranges(arena: &Arena, tests: &[u32], known: &Known<'_>) -> Vec<Range> {
    let mut out: Vec<Range> = Vec::new();
    for (at, node) in tests.iter().enumerate().take(RANGES_MAX) {
        let Some((attribute, (low, high))) = range(arena, *node, known) else {
            continue;
        };
        match out.iter_mut().find(|other| other.attribute == attribute) {
            Some(other) => {
                let interval = other.interval;
                other.interval = (interval.0.max(low), interval.1.min(high));
                other.parts |= 1 << at;
            }
            None => out.push(Range {
                attribute,
                interval: (low, high),
                node: *node,
                parts: 1 << at,
            }),
        }
    }
    out
}

/// Appends the keys of a range.
pub(super) fn collect_range(
    known: &Known<'_>,
    attribute: u16,
    interval: Option<(i64, i64)>,
    implies: bool,
    out: &mut Vec<(Key, bool)>,
) {
    if let Some(found) = interval.and_then(|interval| known.cells_of(attribute, interval)) {
        let dimension = Dimension::Cell(attribute, found.resolution);
        let keys = found.cells.iter();
        out.extend(keys.map(|(cell, inside)| ((dimension, *cell), implies && *inside)));
    }
}

impl Known<'_> {
    /// The finest cells that an interval touches of which there are few.
    pub(super) fn cells_of(&self, attribute: u16, interval: (i64, i64)) -> Option<Cells> {
        let (resolution, cells) = (0..RESOLUTIONS.len() as u8).rev().find_map(|resolution| {
            let cells = match interval.0 <= interval.1 {
                true => self.bounds.touched(attribute, resolution, interval)?,
                false => Vec::new(),
            };
            Some((resolution, cells))
        })?;
        let count = self.bounds.of(attribute, resolution).len() + 1;
        Some(Cells {
            resolution,
            share: cells.len() as f32 / count as f32,
            cells,
        })
    }
}
