//! Access clauses: what an event must have for an expression to match, by which the index finds it.
//!
//! An expression is filed as *units*: conjunctions, one of which holds whenever it matches. A clause of a unit is
//! a set of keys, at least one of which the event has whenever the unit holds. Each part of the conjunction can
//! give one: a test its values, a range the cells that it touches, a radius the cells of the map, an `or` the
//! keys of all its parts.

use super::asks::Asks;
use super::cells::CellWords;
use super::dimension::{Bounds, Dimension, Key, RESOLUTIONS};
use super::geo;
use super::guard::Guard;
use super::operands::{interval, points};
use super::texts::position;
use crate::code::{HAS_MAX, Head, IN_MAX, Op};
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};
use crate::expr::Position;
use crate::program::arena::Arena;
use crate::program::estimate::Estimates;

/// The most keys of a clause.
const KEYS_MAX: usize = 64;
/// A clause that more than this share of events meet is not used.
const PROBABILITY_MAX: f32 = 0.6;
/// Parts of a unit whose place in the index can make them superfluous.
const PARTS_MAX: usize = 64;

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
    pub(crate) dictionary: &'a Dictionary,
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
            let [head, operands @ ..] = arena.test(*part) else {
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
            Op::Contains | Op::StartsWith | Op::EndsWith => {
                let at = position(head.op()).unwrap_or(Position::Anywhere);
                let string = operands.first().copied().unwrap_or(0);
                let dimension = Dimension::Text(attribute, at);
                self.keys.push(((dimension, u64::from(string)), alone));
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
            (cells.len() + 1, geo::share(level, cells.len()))
        }
        Op::SegmentWithin | Op::SegmentBefore => (1, 0.02),
        op => {
            let string = *operands.first()?;
            let length = known.dictionary.text(string).len();
            let key = (attribute as u16, position(op)?, string);
            (1, known.asks.pattern(key, length)?)
        }
    };
    (keys <= KEYS_MAX).then_some(Access {
        probability: probability.min(1.0),
        keys: keys as u32,
        pick: 0,
    })
}
