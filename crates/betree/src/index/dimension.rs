//! What keys are looked up by, and the cells that ranges are divided into.

use super::asks::Asks;
use super::positions::ordered;
use super::windows::PatternKey;
use crate::domain::{AttributeType, Domain};
use crate::expr::Position;

/// The most keys of a range.
const RANGE_KEYS_MAX: usize = 16;

/// How finely the cells of ranges divide an attribute.
pub(crate) const RESOLUTIONS: [usize; 2] = [64, 1024];

/// The first of the codes of texts, above the attribute.
const TEXTS: u32 = 16;

/// What keys are looked up by: the values of an attribute, its cells at a resolution, cells of the map at a level,
/// patterns that a text has at a position, or segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Dimension {
    Value(u16),
    Cell(u16, u8),
    Place(u8),
    Text(u16, Position),
    Segment,
}

impl Dimension {
    /// A number of its own.
    #[inline]
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Value(attribute) => u32::from(attribute),
            Self::Cell(attribute, resolution) => {
                u32::from(attribute) | (1 + u32::from(resolution)) << 16
            }
            Self::Place(level) => u32::from(level) | 1 << 24,
            Self::Text(attribute, position) => {
                u32::from(attribute) | (TEXTS + position as u32) << 16
            }
            Self::Segment => 1 << 25,
        }
    }

    /// The pattern of a key whose dimension has this code, if it is one.
    pub(crate) fn pattern(code: u32, value: u64) -> Option<PatternKey> {
        let position = match (code >> 16).checked_sub(TEXTS)? {
            0 => Position::Anywhere,
            1 => Position::Start,
            2 => Position::End,
            _ => return None,
        };
        Some((code as u16, position, value as u32))
    }
}

/// A value of a dimension.
pub(crate) type Key = (Dimension, u64);

/// The bounds of the cells of ranges, by attribute and resolution.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// For each resolution; empty for attributes without ranges.
    starts: Vec<[Vec<i64>; RESOLUTIONS.len()]>,
    pub(super) is_float: Vec<bool>,
}

impl Bounds {
    pub(crate) fn new(asks: &Asks, domain: &Domain) -> Self {
        let mut out = Self::default();
        for (at, attribute) in domain.attributes().iter().enumerate() {
            let kind = attribute.kind();
            out.is_float
                .push(matches!(kind, AttributeType::Float { .. }));
            let starts = |count| {
                asks.of(at)
                    .map_or(Vec::new(), |asked| asked.quantiles(count - 1))
            };
            out.starts.push(RESOLUTIONS.map(starts));
        }
        out
    }

    /// The cell of a value.
    pub(crate) fn cell(&self, attribute: u16, resolution: u8, value: u64) -> u64 {
        let is_float = self.is_float.get(usize::from(attribute)) == Some(&true);
        let value = ordered(value, is_float);
        let starts = self.of(attribute, resolution);
        starts.partition_point(|start| *start <= value) as u64
    }

    pub(super) fn of(&self, attribute: u16, resolution: u8) -> &[i64] {
        let starts = self.starts.get(usize::from(attribute));
        starts
            .and_then(|all| all.get(usize::from(resolution)))
            .map_or(&[], Vec::as_slice)
    }

    /// The cells from one position to another, each with whether it is entirely between them.
    pub(super) fn touched(
        &self,
        attribute: u16,
        resolution: u8,
        (low, high): (i64, i64),
    ) -> Option<Vec<(u64, bool)>> {
        let starts = self.of(attribute, resolution);
        let cell = |value: i64| starts.partition_point(|start| *start <= value);
        let (first, last) = (cell(low), cell(high));
        if last - first >= RANGE_KEYS_MAX {
            return None;
        }
        let inside = |at: usize| {
            let start = at.checked_sub(1).map_or(i64::MIN, |before| starts[before]);
            let end = starts.get(at).map_or(i64::MAX, |end| end - 1);
            low <= start && end <= high
        };
        Some((first..=last).map(|at| (at as u64, inside(at))).collect())
    }
}
