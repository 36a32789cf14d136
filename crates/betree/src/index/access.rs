//! Access clauses: what an event must have for an expression to match, by which the index finds it.
//!
//! An expression is filed as *units*: conjunctions, one of which holds whenever it matches. A clause of a unit is
//! a set of keys, at least one of which the event has whenever the unit holds. Each part of the conjunction can
//! give one: a test its values, a range the cells that it touches, a radius the cells of the map, an `or` the
//! keys of all its parts.

use super::dimension::{Dimension, Key, RESOLUTIONS};
use super::guard::Guard;
use super::keys::{Access, Found, Known};
use super::operands::interval;
use super::postings::Keys;
use crate::code::{Head, Op};
use crate::program::arena::Arena;

/// A clause that more than this share of events meet is not used.
const PROBABILITY_MAX: f32 = 0.6;
/// Parts of a unit whose place in the index can make them superfluous.
const PARTS_MAX: usize = 64;
/// Of an `or` with many alternatives, one with a single clause of at least this many keys is found by postings.
const POSTED_MIN: usize = 8;

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
    long: Option<Long>,
}

/// A clause with many keys. A unit that has one is found by postings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Long {
    /// The share of events that meet it.
    pub(crate) probability: f32,
    /// The parts that hold for an event with any of its keys.
    pub(crate) implied: u64,
    /// The part that it comes from.
    node: u32,
}

/// The units with long clauses, in their order, and the keys of these clauses.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(super) units: Vec<u32>,
    pub(super) keys: Keys,
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
    found: Found,
    pub(super) listed: Listed,
    ranges: Vec<(usize, (i64, i64), u64)>,
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

    /// The long clause of a unit.
    pub(crate) fn long(&self, unit: u32) -> Option<Long> {
        self.units.get(unit as usize).and_then(|unit| unit.long)
    }

    /// The share of events that meet the clause by which a unit is found, and the parts that this implies.
    pub(crate) fn best(&self, unit: u32) -> Option<(f32, u64)> {
        if let Some(long) = self.long(unit) {
            return Some((long.probability, long.implied));
        }
        let all = self.of(unit).iter();
        let best = all.min_by(|a, b| a.probability.total_cmp(&b.probability))?;
        Some((best.probability, best.parts))
    }

    pub(crate) fn keys(&self, clause: &Clause) -> &[(Key, bool)] {
        let start = clause.start as usize;
        let keys = self.keys.get(start..start + clause.count as usize);
        keys.unwrap_or(&[])
    }

    /// Looks at an arena, of which units are added then.
    pub(crate) fn weigh(&mut self, arena: &Arena, known: &Known<'_>) {
        self.found.weigh(arena, known);
    }

    /// Whether the keys of a node are many, and each implies it.
    pub(crate) fn is_long_or(&self, arena: &Arena, node: u32) -> bool {
        let found = self.found.of(node);
        found.is_some_and(|access| access.is_long()) && self.found.implies(arena, node)
    }

    /// Adds a conjunction, or a single test, of the arena that was weighed. `is_of_many`: its
    /// expression has many units. Returns the share of events that meet its best clause; 1 when it has none.
    pub(crate) fn push(
        &mut self,
        arena: &Arena,
        node: u32,
        is_of_many: bool,
        known: &Known<'_>,
    ) -> f32 {
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
            long: None,
        });
        let first = self.clauses.len();
        self.add_ranges(arena, parts, known);
        let mut long: Option<(Access, Long)> = None;
        for (at, part) in parts.iter().enumerate() {
            let bit = if at < PARTS_MAX { 1 << at } else { 0 };
            if let Some(access) = self.found.of(*part) {
                self.add(arena, *part, access, bit, known);
                let is_less = |(other, _): &(Access, Long)| access.weight() < other.weight();
                // Many keys are found together, however many events have one.
                let is_rare = access.is_long() || access.probability <= PROBABILITY_MAX;
                if is_rare && long.as_ref().is_none_or(is_less) {
                    let one = Long {
                        probability: access.probability,
                        implied: bit,
                        node: *part,
                    };
                    long = Some((access, one));
                }
            }
            if let Some(guard) = known.cells.guard(arena, *part) {
                self.guards.push((bit, guard));
            }
        }
        let all = self.clauses[first..].iter();
        let least = all.map(|clause| clause.probability);
        let least = least.fold(f32::INFINITY, f32::min);
        let best = least.min(1.0);
        let is_only = self.clauses.len() - first <= 1;
        let long = long.filter(|(access, _)| match access.is_long() {
            true => access.weight() < least,
            false => is_of_many && is_only && access.keys() >= POSTED_MIN,
        });
        let Some((_, mut long)) = long else {
            return best;
        };
        if !self.found.implies(arena, long.node) {
            long.implied = 0;
        }
        if let Some(last) = self.units.last_mut() {
            last.long = Some(long);
        }
        long.probability
    }

    /// Adds the keys of long clauses of the units from one on, which are of the arena that was weighed.
    pub(crate) fn list(&mut self, arena: &Arena, from: usize, known: &Known<'_>) {
        let mut keys = Vec::new();
        for unit in from..self.units.len() {
            let Some(long) = self.units[unit].long else {
                continue;
            };
            let item = self.listed.units.len() as u32;
            self.listed.units.push(unit as u32);
            self.found.collect(arena, long.node, known, &mut keys);
            for ((dimension, value), _) in keys.drain(..) {
                let all = self.listed.keys.entry(dimension).or_default();
                all.push((value, item));
            }
        }
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
        if access.probability > PROBABILITY_MAX || access.is_long() {
            return;
        }
        let start = self.keys.len();
        let mut keys = Vec::new();
        self.found.collect(arena, part, known, &mut keys);
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
}
