//! Chooses the attributes that get rows: those that many expressions use and that have few values.

use std::collections::HashSet;

use super::{COLUMNS_MAX, ELEMENTS_MAX};
use crate::bind::range_bounds;
use crate::code::{Head, Op, heads, i64_at, u64_at};
use crate::domain::{AttributeType, Domain};
use crate::index::Sources;
use crate::index::asks::Asks;
use crate::index::operands::interval;
use crate::index::positions::{ordered, scalar};

/// The most intervals of a scalar.
const INTERVALS_MAX: usize = 256;
/// Rows of all columns together.
const ROWS_MAX: usize = 640;
/// Rows of all cells together, and the most and the fewest of an attribute.
const CELL_ROWS_MAX: usize = 1024;
const CELLS_MAX: usize = 256;
const CELLS_MIN: usize = 16;
/// An attribute gets cells only if there is one range over it in this many expressions or more.
const RANGES_MIN: usize = 16;
/// Where the narrowest range of an expression has a lesser share of the cells, on average, the tree finds it sooner; all go
/// there then, for an index with both costs more than either. And the expressions that are looked at for that.
const NARROW_MAX: f32 = 0.05;
const LOOKED_AT: usize = 1024;
/// An attribute gets rows only if at least one in this many expressions uses it.
const SHARE_MIN: usize = 50;

/// What the tests of an attribute use.
#[derive(Debug, Default)]
struct Asked {
    tests: usize,
    /// Single values.
    points: HashSet<i64>,
    /// Values at which an outcome can change.
    cuts: HashSet<i64>,
    /// Elements of which any or none must be there.
    any: HashSet<u32>,
    none: HashSet<u32>,
    too_many: bool,
}

/// The columns of an index, before they have any rows.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(super) scalars: Vec<Scalar>,
    pub(super) lists: Vec<List>,
}

/// The intervals of a scalar.
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(super) attribute: usize,
    pub(super) is_float: bool,
    pub(super) starts: Vec<i64>,
    /// The row of each interval, from 0, the one before the first start included.
    pub(super) rows: Vec<u32>,
    /// For each row one of its values. `None`: the row has no value, such as the interval before the least
    /// integer.
    pub(super) values: Vec<Option<u64>>,
    /// Whether outcomes change inside of intervals, too: these are cells.
    pub(super) is_coarse: bool,
}

impl Scalar {
    /// Cells that begin at these positions, and one before.
    fn of_cells(attribute: usize, is_float: bool, starts: Vec<i64>) -> Self {
        let rows = (0..=starts.len() as u32).collect();
        Self {
            is_coarse: true,
            ..Self::new(attribute, is_float, starts, rows)
        }
    }

    /// The interval of a position.
    pub(super) fn interval_of(&self, position: i64) -> usize {
        self.starts.partition_point(|start| *start <= position)
    }

    /// The first and the last position of a range test that is not negated; of a single value, too.
    pub(super) fn interval(&self, head: Head, operands: &[u32]) -> Option<(i64, i64)> {
        if head.flag() {
            return None;
        }
        let value = match head.op() {
            Op::Equal32 => i64::from(operands.first().copied()? as i32),
            Op::Equal64 => i64_at(operands, 0),
            _ => return interval(head, operands, self.is_float),
        };
        Some((value, value))
    }

    fn new(attribute: usize, is_float: bool, starts: Vec<i64>, rows: Vec<u32>) -> Self {
        let count = rows.iter().max().map_or(0, |row| *row as usize + 1);
        let mut values = vec![None; count];
        // The value before the first start, if any. Every other interval contains at least its start, because
        // starts ascend without repetition.
        let before = starts.first().map_or(Some(0), |start| start.checked_sub(1));
        let firsts = std::iter::once(before).chain(starts.iter().copied().map(Some));
        for (row, value) in rows.iter().zip(firsts) {
            let known = &mut values[*row as usize];
            *known = known.or(value.map(|value| scalar(value, is_float)));
        }
        Self {
            attribute,
            is_float,
            starts,
            rows,
            values,
            is_coarse: false,
        }
    }
}

impl Scalar {
    /// The intervals for single values and for positions at which an outcome can change.
    pub(crate) fn of(attribute: usize, is_float: bool, points: &[i64], cuts: &[i64]) -> Self {
        let ends = points.iter().filter_map(|point| point.checked_add(1));
        let starts = points.iter().copied().chain(ends);
        let mut starts: Vec<i64> = starts.chain(cuts.iter().copied()).collect();
        starts.sort_unstable();
        starts.dedup();
        let own_points: HashSet<i64> = points.iter().copied().collect();
        // Where only single values matter, all other values share a row.
        let mut next = 1;
        let mut rows = vec![0];
        for start in &starts {
            let own = !cuts.is_empty() || own_points.contains(start);
            rows.push(if own { next } else { 0 });
            next += u32::from(own);
        }
        Self::new(attribute, is_float, starts, rows)
    }

    /// How many rows there are.
    pub(crate) fn cells(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn is_float(&self) -> bool {
        self.is_float
    }

    /// The row of a value.
    pub(crate) fn cell(&self, value: u64) -> usize {
        let value = ordered(value, self.is_float);
        let at = self.starts.partition_point(|start| *start <= value);
        self.rows.get(at).map_or(0, |row| *row as usize)
    }

    /// For each row one of its values, if it has any.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<u64>> {
        self.values.iter().copied()
    }

    /// The row of a single value, if no other value shares it.
    pub(crate) fn point(&self, value: u64) -> Option<usize> {
        let value = ordered(value, self.is_float);
        let at = self.starts.binary_search(&value).ok()?;
        let ends = value
            .checked_add(1)
            .is_none_or(|end| self.starts.get(at + 1) == Some(&end));
        let row = self.rows.get(at + 1).map(|row| *row as usize)?;
        (ends && self.is_own(row)).then_some(row)
    }

    /// A bit for each row from one position to another, both included, if these rows hold nothing else.
    pub(crate) fn run(&self, low: i64, high: i64) -> Option<u64> {
        let first = match low {
            i64::MIN => 0,
            low => self.starts.binary_search(&low).ok()? + 1,
        };
        let end = match high.checked_add(1) {
            None => self.starts.len() + 1,
            Some(end) => self.starts.binary_search(&end).ok()? + 1,
        };
        let rows = self.rows.get(first..end)?;
        rows.iter().try_fold(0, |bits, row| {
            let own = self.is_own(*row as usize) && *row < 64;
            own.then(|| bits | 1u64 << row)
        })
    }

    /// Whether a row has only one interval.
    fn is_own(&self, row: usize) -> bool {
        row > 0 || self.rows.iter().filter(|other| **other == 0).count() == 1
    }
}

/// The elements of a list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) attribute: usize,
    pub(super) none: bool,
    pub(super) elements: Vec<u32>,
}

impl Choice {
    /// Chooses by the tests of all expressions, wherever they are in an expression.
    pub(crate) fn new(domain: &Domain, sources: &Sources, asks: &Asks) -> Self {
        let attributes = domain.attributes();
        let mut asked: Vec<Asked> = Vec::new();
        asked.resize_with(attributes.len(), Asked::default);
        for (head, operands) in heads(sources.all_words()) {
            if let Some(asked) = asked.get_mut(head.attribute()).filter(|a| !a.too_many) {
                asked.add(head, operands);
            }
        }
        let least = sources.len() / SHARE_MIN;
        let mut order: Vec<usize> = (0..asked.len())
            .filter(|at| asked[*at].tests > least && !asked[*at].too_many)
            .collect();
        // Attributes with the most tests per row come first.
        let worth = |at: usize| asked[at].tests as f32 / (asked[at].rows() + 4) as f32;
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
        let mut out = Self::default();
        let (mut rows, mut elements) = (0, 0);
        for attribute in order {
            let found = &asked[attribute];
            let (more_rows, more_elements) = (found.rows(), found.any.len() + found.none.len());
            let columns = out.scalars.len() + out.lists.len();
            if rows + more_rows > ROWS_MAX
                || elements + more_elements > ELEMENTS_MAX
                || columns + 2 > COLUMNS_MAX
            {
                continue;
            }
            rows += more_rows;
            elements += more_elements;
            out.take(attribute, &attributes[attribute].kind(), found);
        }
        out.take_cells(domain, sources, asks);
        out
    }

    /// Divides the attributes that have many ranges, and no rows for each value, in cells.
    fn take_cells(&mut self, domain: &Domain, sources: &Sources, asks: &Asks) {
        let before = self.scalars.len();
        let ranges = |at: usize| asks.of(at).map_or(0, |asked| asked.ranges as usize);
        let has_rows = |at: usize| self.scalars.iter().any(|scalar| scalar.attribute == at);
        let mut order: Vec<usize> = (0..domain.attributes().len())
            .filter(|at| ranges(*at) > 0 && ranges(*at) * RANGES_MIN >= asks.sampled)
            .filter(|at| !has_rows(*at))
            .collect();
        order.sort_by_key(|at| std::cmp::Reverse(ranges(*at)));
        let room = COLUMNS_MAX.saturating_sub(self.scalars.len() + self.lists.len());
        order.truncate(room.min(CELL_ROWS_MAX / CELLS_MIN));
        let cells = (CELL_ROWS_MAX / order.len().max(1)).min(CELLS_MAX);
        for attribute in order {
            let kind = domain.attributes()[attribute].kind();
            let is_float = matches!(kind, AttributeType::Float { .. });
            let starts = asks.of(attribute).map(|asked| asked.quantiles(cells - 1));
            let starts = starts.unwrap_or_default();
            self.scalars
                .push(Scalar::of_cells(attribute, is_float, starts));
        }
        let cells = self.scalars.get(before..).unwrap_or(&[]);
        if narrowest(cells, sources) < NARROW_MAX {
            self.scalars.truncate(before);
        }
    }

    fn take(&mut self, attribute: usize, kind: &AttributeType, asked: &Asked) {
        for (none, elements) in [(false, &asked.any), (true, &asked.none)] {
            if !elements.is_empty() {
                let mut elements: Vec<u32> = elements.iter().copied().collect();
                elements.sort_unstable();
                self.lists.push(List {
                    attribute,
                    none,
                    elements,
                });
            }
        }
        if asked.points.is_empty() && asked.cuts.is_empty() {
            return;
        }
        let is_float = matches!(kind, AttributeType::Float { .. });
        let points: Vec<i64> = asked.points.iter().copied().collect();
        let cuts: Vec<i64> = asked.cuts.iter().copied().collect();
        self.scalars
            .push(Scalar::of(attribute, is_float, &points, &cuts));
    }
}

/// The share of the cells of an attribute that the narrowest range of an expression has, on average over those with
/// ranges.
fn narrowest(scalars: &[Scalar], sources: &Sources) -> f32 {
    let step = sources.len().div_ceil(LOOKED_AT).max(1);
    let (mut sum, mut count) = (0.0, 0);
    for slot in (0..sources.len()).step_by(step) {
        // Tests of an attribute bound it together.
        let mut bounds = vec![None; scalars.len()];
        for (head, operands) in heads(sources.tree(slot)) {
            for (scalar, bound) in scalars.iter().zip(&mut bounds) {
                if scalar.attribute == head.attribute()
                    && let Some((low, high)) = scalar.interval(head, operands)
                {
                    let (from, to) = bound.unwrap_or((i64::MIN, i64::MAX));
                    *bound = Some((low.max(from), high.min(to)));
                }
            }
        }
        let share = |(scalar, bound): (&Scalar, &Option<(i64, i64)>)| {
            let (low, high) = (*bound)?;
            let cells = (scalar.interval_of(high) + 1).saturating_sub(scalar.interval_of(low));
            Some(cells as f32 / (scalar.starts.len() + 1) as f32)
        };
        let shares = scalars.iter().zip(&bounds).filter_map(share);
        if let Some(least) = shares.min_by(f32::total_cmp) {
            sum += least;
            count += 1;
        }
    }
    sum / count.max(1) as f32
}

impl Asked {
    fn rows(&self) -> usize {
        let intervals = match self.cuts.is_empty() {
            true => self.points.len(),
            false => 2 * self.points.len() + self.cuts.len(),
        };
        intervals + 2 + self.any.len() + self.none.len()
    }

    fn add(&mut self, head: Head, operands: &[u32]) {
        let narrow = |value: &u32| i64::from(*value as i32);
        let float = || ordered(u64_at(operands, 0), true);
        match head.op() {
            Op::Bool => _ = self.points.insert(1),
            Op::Equal32 | Op::In => self.points.extend(operands.iter().map(narrow)),
            Op::Equal64 => _ = self.points.insert(i64_at(operands, 0)),
            Op::InMany if operands.len() > 2 * INTERVALS_MAX => self.too_many = true,
            Op::InMany => {
                let values = (1..operands.len()).step_by(2);
                self.points.extend(values.map(|at| i64_at(operands, at)));
            }
            Op::Range32 => {
                let bound = |at: usize| operands.get(at).copied().unwrap_or(0);
                let (low, high) = range_bounds(bound(0), bound(1));
                self.cut(low, high);
            }
            Op::Range64 => self.cut(i64_at(operands, 0), i64_at(operands, 2)),
            Op::FloatLess | Op::FloatGreaterEqual => _ = self.cuts.insert(float()),
            Op::FloatLessEqual | Op::FloatGreater => self.cuts.extend(float().checked_add(1)),
            Op::FloatEqual => {
                self.cuts.insert(float());
                self.cuts.extend(float().checked_add(1));
            }
            Op::HasAny if head.flag() => self.none.extend(operands),
            Op::HasAny => self.any.extend(operands),
            _ => return,
        }
        self.tests += 1;
        let values = self.points.len() * 2 + self.cuts.len();
        self.too_many |= values > INTERVALS_MAX;
        self.too_many |= self.any.len() + self.none.len() > ELEMENTS_MAX;
    }

    fn cut(&mut self, low: i64, high: i64) {
        self.cuts.extend((low > i64::MIN).then_some(low));
        self.cuts.extend(high.checked_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar_of(points: &[i64], cuts: &[i64]) -> Scalar {
        let asked = Asked {
            points: points.iter().copied().collect(),
            cuts: cuts.iter().copied().collect(),
            ..Asked::default()
        };
        let mut choice = Choice::default();
        let kind = AttributeType::Integer {
            min: i64::MIN,
            max: i64::MAX,
        };
        choice.take(0, &kind, &asked);
        choice.scalars.remove(0)
    }

    #[test]
    fn the_value_of_a_row_is_of_that_row() {
        let edges = [
            i64::MIN,
            i64::MIN + 1,
            i64::MIN + 2,
            -1,
            0,
            1,
            i64::MAX - 1,
            i64::MAX,
        ];
        // All sets of points, with and without a cut.
        for set in 1u32..1 << edges.len() {
            let points = edges.iter().enumerate();
            let points = points.filter(|(at, _)| set >> at & 1 == 1);
            let points: Vec<i64> = points.map(|(_, point)| *point).collect();
            for cuts in [&[][..], &[i64::MIN + 1], &[0], &[i64::MAX]] {
                let scalar = scalar_of(&points, cuts);
                for (row, value) in scalar.values.iter().enumerate() {
                    match value {
                        Some(value) => {
                            let value = *value as i64;
                            let at = scalar.starts.partition_point(|start| *start <= value);
                            assert_eq!(scalar.rows[at] as usize, row, "{points:?} {cuts:?}");
                        }
                        // There is nothing before the least value.
                        None => {
                            assert_eq!((row, scalar.starts[0]), (0, i64::MIN));
                            assert!(!scalar.rows[1..].contains(&0));
                        }
                    }
                }
            }
        }
    }
}
