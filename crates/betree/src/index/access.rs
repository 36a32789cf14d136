//! Access clauses: what an event must have for an expression to match, by which the index finds it.
//!
//! An expression is filed as *units*: conjunctions, one of which holds whenever it matches. A clause of a unit is
//! a set of keys, at least one of which the event has whenever the unit holds. Each part of the conjunction can
//! give one: a test its values, a range the cells that it touches, a radius the cells of the map, an `or` the
//! keys of all its parts.

use super::asks::Asks;
use super::cells::{CellWords, Guard, interval, points};
use super::columns::ordered;
use super::geo;
use super::tree::{ITEM_NS, PROGRAM_NS, best_guards};
use crate::code::{HAS_MAX, Head, IN_MAX, Op, u64_at};
use crate::domain::{AttributeType, Domain};
use crate::program::arena::Arena;
use crate::program::estimate::Estimates;

/// The most keys of a clause.
const KEYS_MAX: usize = 64;
/// The most keys of a range.
const RANGE_KEYS_MAX: usize = 16;
/// A clause that more than this share of events meet is not used.
const PROBABILITY_MAX: f32 = 0.6;
/// Parts of a unit whose place in the index can make them superfluous.
const PARTS_MAX: usize = 64;

/// How finely the cells of ranges divide an attribute.
pub(crate) const RESOLUTIONS: [usize; 2] = [64, 1024];

/// What keys are looked up by: the values of an attribute, its cells at a resolution, cells of the map at a level,
/// or segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Dimension {
    Value(u16),
    Cell(u16, u8),
    Place(u8),
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
            Self::Segment => 1 << 25,
        }
    }
}

/// A value of a dimension.
pub(crate) type Key = (Dimension, u64);

/// One clause of a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clause {
    /// The share of events that meet it.
    pub(crate) probability: f32,
    /// The dimension of all keys; `None`: they are of several.
    pub(crate) dimension: Option<Dimension>,
    /// The parts that hold for an event with a key that implies them.
    pub(crate) parts: u64,
    start: u32,
    count: u32,
}

/// A conjunction of an expression.
#[derive(Debug, Clone, Copy)]
struct Unit {
    clauses: u32,
    guards: u32,
    /// One bit per part; 0 when there are too many.
    parts: u64,
}

/// The clauses of many units.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    units: Vec<Unit>,
    clauses: Vec<Clause>,
    /// Keys, and whether one implies the parts of its clause.
    keys: Vec<(Key, bool)>,
    /// The guards of parts.
    guards: Vec<(u64, Guard)>,
    found: Vec<Option<Access>>,
    ranges: Vec<(usize, (i64, i64), u64)>,
}

/// What the index knows about events and expressions.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    pub(crate) asks: &'a Asks,
    pub(crate) cells: &'a CellWords,
    pub(crate) bounds: &'a Bounds,
    pub(crate) estimates: &'a Estimates,
    pub(crate) domain: &'a Domain,
}

/// The bounds of the cells of ranges, by attribute and resolution.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    /// For each resolution; empty for attributes without ranges.
    starts: Vec<[Vec<i64>; RESOLUTIONS.len()]>,
    is_float: Vec<bool>,
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

    fn of(&self, attribute: u16, resolution: u8) -> &[i64] {
        let starts = self.starts.get(usize::from(attribute));
        starts
            .and_then(|all| all.get(usize::from(resolution)))
            .map_or(&[], Vec::as_slice)
    }

    /// The cells from one position to another, each with whether it is entirely between them.
    fn touched(
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

/// The candidate clause of a node.
#[derive(Debug, Clone, Copy)]
struct Access {
    probability: f32,
    keys: u32,
    /// The child of a conjunction that it comes from.
    pick: u32,
}

impl Clauses {
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    fn slice<'a, T>(&self, all: &'a [T], unit: u32, start: impl Fn(&Unit) -> u32) -> &'a [T] {
        let at = unit as usize;
        let first = self.units.get(at).map_or(0, |unit| start(unit) as usize);
        let end = self.units.get(at + 1);
        let end = end.map_or(all.len(), |unit| start(unit) as usize);
        all.get(first..end).unwrap_or(&[])
    }

    /// The clauses of a unit, by the order in which it was added.
    pub(crate) fn of(&self, unit: u32) -> &[Clause] {
        self.slice(&self.clauses, unit, |unit| unit.clauses)
    }

    /// The guards of a unit's parts.
    pub(crate) fn guards(&self, unit: u32) -> &[(u64, Guard)] {
        self.slice(&self.guards, unit, |unit| unit.guards)
    }

    /// All parts of a unit; 0 when they are too many to be told apart.
    pub(crate) fn parts(&self, unit: u32) -> u64 {
        self.units.get(unit as usize).map_or(0, |unit| unit.parts)
    }

    pub(crate) fn keys(&self, clause: &Clause) -> &[(Key, bool)] {
        let start = clause.start as usize;
        let keys = self.keys.get(start..start + clause.count as usize);
        keys.unwrap_or(&[])
    }

    /// Adds a conjunction, or a single test, of an arena. Returns the share of events that meet its best clause; 1
    /// when it has none.
    pub(crate) fn push(&mut self, arena: &Arena, node: u32, known: &Known<'_>) -> f32 {
        let one = [node];
        let parts = match arena.nodes[node as usize].op {
            Op::And => arena.children(node),
            _ => &one[..],
        };
        self.units.push(Unit {
            clauses: self.clauses.len() as u32,
            guards: self.guards.len() as u32,
            parts: match parts.len() {
                1..=PARTS_MAX => u64::MAX >> (PARTS_MAX - parts.len()),
                _ => 0,
            },
        });
        self.weigh(arena, node, known);
        let first = self.clauses.len();
        self.add_ranges(arena, parts, known);
        for (at, part) in parts.iter().enumerate() {
            let bit = if at < PARTS_MAX { 1 << at } else { 0 };
            if let Some(access) = self.found[*part as usize] {
                self.add(arena, *part, access, bit, known);
            }
            if let Some(guard) = known.cells.guard(arena, *part) {
                self.guards.push((bit, guard));
            }
        }
        let all = self.clauses[first..].iter();
        all.map(|clause| clause.probability).fold(1.0, f32::min)
    }

    /// Nanoseconds that a unit costs in the tree, about: it is tested for the events that have one of its keys, and
    /// run for those that pass its guards.
    pub(crate) fn cost(&self, unit: u32) -> f32 {
        let best = self
            .of(unit)
            .iter()
            .min_by(|a, b| a.probability.total_cmp(&b.probability));
        let Some(best) = best else {
            return f32::MAX;
        };
        let guards = best_guards(self, unit, best.parts);
        let pass: f32 = guards.iter().map(|(_, guard)| guard.pass).product();
        best.probability * (ITEM_NS + pass * PROGRAM_NS)
    }

    /// Removes all units from one on.
    pub(crate) fn truncate(&mut self, units: usize) {
        if let Some(unit) = self.units.get(units) {
            self.clauses.truncate(unit.clauses as usize);
            self.guards.truncate(unit.guards as usize);
            let keys = self
                .clauses
                .last()
                .map_or(0, |last| last.start + last.count);
            self.keys.truncate(keys as usize);
            self.units.truncate(units);
        }
    }

    fn add(&mut self, arena: &Arena, part: u32, access: Access, bit: u64, known: &Known<'_>) {
        if access.probability > PROBABILITY_MAX {
            return;
        }
        let start = self.keys.len();
        self.collect(arena, part, known);
        let mut keys = self.keys.split_off(start);
        keys.sort_unstable();
        keys.dedup_by_key(|(key, _)| *key);
        self.keys.append(&mut keys);
        self.clause(start, access.probability, bit);
    }

    /// Adds a clause of the keys from `start` on.
    fn clause(&mut self, start: usize, probability: f32, parts: u64) {
        let keys = self.keys.get(start..).unwrap_or(&[]);
        let first = keys.first().map(|((dimension, _), _)| *dimension);
        let one = keys
            .iter()
            .all(|((dimension, _), _)| Some(*dimension) == first);
        self.clauses.push(Clause {
            probability,
            dimension: first.filter(|_| one),
            parts,
            start: start as u32,
            count: keys.len() as u32,
        });
    }

    /// The clauses of ranges: all that bound the same attribute make one.
    fn add_ranges(&mut self, arena: &Arena, parts: &[u32], known: &Known<'_>) {
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.clear();
        for (at, part) in parts.iter().enumerate().take(PARTS_MAX) {
            if matches!(arena.nodes[*part as usize].op, Op::And | Op::Or) {
                continue;
            }
            let Some([head, operands @ ..]) = Some(arena.test(*part)) else {
                continue;
            };
            let head = Head(*head);
            let is_float = known.bounds.is_float.get(head.attribute()) == Some(&true);
            let Some((low, high)) = interval(head, operands, is_float) else {
                continue;
            };
            if head.flag() || head.undefined() {
                continue;
            }
            let attribute = head.attribute();
            match ranges.iter_mut().find(|(other, ..)| *other == attribute) {
                Some((_, range, bits)) => {
                    *range = (range.0.max(low), range.1.min(high));
                    *bits |= 1 << at;
                }
                None => ranges.push((attribute, (low, high), 1 << at)),
            }
        }
        for (attribute, range, bits) in &ranges {
            let attribute = *attribute as u16;
            // The finest cells of which there are few.
            let found = (0..RESOLUTIONS.len()).rev().find_map(|at| {
                let cells = match range.0 <= range.1 {
                    true => known.bounds.touched(attribute, at as u8, *range)?,
                    false => Vec::new(),
                };
                Some((at, cells))
            });
            let Some((resolution, cells)) = found else {
                continue;
            };
            let count = known.bounds.of(attribute, resolution as u8).len() + 1;
            let start = self.keys.len();
            let dimension = Dimension::Cell(attribute, resolution as u8);
            let keys = cells
                .iter()
                .map(|(cell, inside)| ((dimension, *cell), *inside));
            self.keys.extend(keys);
            self.clause(start, cells.len() as f32 / count as f32, *bits);
        }
        self.ranges = ranges;
    }

    /// Computes for each node below one the clause that it would give.
    fn weigh(&mut self, arena: &Arena, root: u32, known: &Known<'_>) {
        self.found.clear();
        self.found.resize(arena.nodes.len(), None);
        for index in (root..arena.end(root) as u32).rev() {
            let children = || arena.children(index).iter();
            self.found[index as usize] = match arena.nodes[index as usize].op {
                Op::And => children()
                    .filter_map(|child| self.found[*child as usize].map(|access| (access, child)))
                    .min_by(|a, b| a.0.probability.total_cmp(&b.0.probability))
                    .map(|(access, child)| Access {
                        pick: *child,
                        ..access
                    }),
                Op::Or => children().try_fold(Access::NONE, |sum, child| {
                    let access = self.found[*child as usize]?;
                    sum.plus(access)
                }),
                Op::True | Op::False => None,
                _ => leaf(arena, index, known),
            };
        }
    }

    /// Appends the keys of a node.
    fn collect(&mut self, arena: &Arena, node: u32, known: &Known<'_>) {
        let mut due = vec![node];
        while let Some(index) = due.pop() {
            match arena.nodes[index as usize].op {
                Op::And => due.extend(self.found[index as usize].map(|access| access.pick)),
                Op::Or => due.extend_from_slice(arena.children(index)),
                // Below a group, a key says nothing about the other parts.
                _ => self.collect_leaf(arena, index, index == node, known),
            }
        }
    }

    fn collect_leaf(&mut self, arena: &Arena, index: u32, alone: bool, known: &Known<'_>) {
        let test = arena.test(index);
        let (head, operands) = (Head(test[0]), &test[1..]);
        let attribute = head.attribute() as u16;
        let dimension = Dimension::Value(attribute);
        match head.op() {
            // All elements must be there, so any one of them is enough as a key.
            Op::HasAll => {
                let share = |e: &&u32| known.key(head.attribute(), u64::from(**e));
                let rarest = operands.iter().min_by(|a, b| share(a).total_cmp(&share(b)));
                let element = rarest.copied().unwrap_or(0);
                let implied = alone && operands.len() == 1;
                self.keys.push(((dimension, u64::from(element)), implied));
            }
            Op::HasAny => {
                let keys = operands.iter().map(|e| ((dimension, u64::from(*e)), alone));
                self.keys.extend(keys);
            }
            Op::Geo => {
                let (level, cells) = geo::cells(operands).unwrap_or_default();
                let keys = cells
                    .iter()
                    .map(|cell| ((Dimension::Place(level), *cell), false));
                self.keys.extend(keys);
                // A place that is not on the map meets every radius here.
                self.keys
                    .push(((Dimension::Place(level), geo::ANYWHERE), false));
            }
            Op::SegmentWithin | Op::SegmentBefore => {
                let slot = operands.first().copied().unwrap_or(0);
                self.keys
                    .push(((Dimension::Segment, u64::from(slot)), false));
            }
            _ => {
                let points = points(head, operands).unwrap_or_default();
                let keys = points.into_iter().map(|value| ((dimension, value), alone));
                self.keys.extend(keys);
            }
        }
    }
}

impl Access {
    const NONE: Self = Self {
        probability: 0.0,
        keys: 0,
        pick: 0,
    };

    fn plus(self, other: Self) -> Option<Self> {
        let keys = self.keys + other.keys;
        (keys as usize <= KEYS_MAX).then_some(Self {
            probability: self.probability + other.probability,
            keys,
            pick: 0,
        })
    }
}

impl Known<'_> {
    /// The share of events that have a value of an attribute: half from how many values there are, half from how
    /// often expressions ask for it, because what is asked for often is frequent.
    fn key(&self, attribute: usize, value: u64) -> f32 {
        let uniform = self.estimates.value(attribute);
        let asked = self
            .asks
            .of(attribute)
            .map_or(0.0, |asked| asked.share(value));
        let several = match self.domain.attributes().get(attribute).map(|a| a.kind()) {
            Some(AttributeType::IntegerList { .. } | AttributeType::StringList { .. }) => {
                crate::program::estimate::LIST_ELEMENTS
            }
            _ => 1.0,
        };
        (uniform + several * asked) / 2.0
    }
}

/// The clause of a test. A test that is true for an undefined attribute has none.
fn leaf(arena: &Arena, index: u32, known: &Known<'_>) -> Option<Access> {
    let test = arena.test(index);
    let (head, operands) = (Head(*test.first()?), &test[1..]);
    if head.flag() || head.undefined() {
        return None;
    }
    let attribute = head.attribute();
    let sum = |values: &mut dyn Iterator<Item = u64>| {
        values.map(|value| known.key(attribute, value)).sum::<f32>()
    };
    let (keys, probability) = match head.op() {
        Op::Bool => (1, 0.5),
        Op::HasAll => {
            let elements = operands.iter().map(|e| u64::from(*e));
            (
                1,
                elements
                    .map(|e| known.key(attribute, e))
                    .fold(1.0, f32::min),
            )
        }
        Op::HasAny => {
            let count = head.len().min(HAS_MAX);
            (count, sum(&mut operands.iter().map(|e| u64::from(*e))))
        }
        Op::In if head.len() > IN_MAX => return None,
        Op::Equal32 | Op::Equal64 | Op::In | Op::InMany => {
            let points = points(head, operands)?;
            (points.len(), sum(&mut points.iter().copied()))
        }
        Op::Geo => {
            let (level, cells) = geo::cells(operands)?;
            let radius = f64::from_bits(u64_at(operands, 5));
            (cells.len() + 1, geo::share(level, cells.len(), radius))
        }
        Op::SegmentWithin | Op::SegmentBefore => (1, 0.02),
        _ => return None,
    };
    (keys <= KEYS_MAX).then_some(Access {
        probability: probability.min(1.0),
        keys: keys as u32,
        pick: 0,
    })
}
