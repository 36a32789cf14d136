//! Access clauses: what an event must have for an expression to match, by which the index finds it.
//!
//! An expression is filed as *units*: conjunctions, one of which holds whenever it matches. A clause of a unit is
//! a set of keys, at least one of which the event has whenever the unit holds. Each part of the conjunction can
//! give one: a test its values, a range the cells that it touches, a radius the cells of the map, an `or` the
//! keys of all its parts.

use super::cost;
use super::counted::{self, LISTS_MAX};
use super::dimension::{Dimension, Key};
use super::guard::Guard;
use super::keys::{Access, Found, MANY_WEIGHT};
use super::known::Known;
use super::postings::{KEYS_MIN, Keys, UNITS_MIN};
use super::ranges::ranges;
use crate::code::Op;
use crate::program::arena::Arena;

/// A clause that more than this share of events meet is not used.
const PROBABILITY_MAX: f32 = 0.6;
/// Parts of a unit whose place in the index can make them superfluous.
const PARTS_MAX: usize = 64;
/// Events whose lists are this many times as long as estimated decide which lists are counted: there a list is in most
/// events, and costs more to test than to count.
const ELEMENTS_FACTOR: f32 = 8.0;
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
    /// Reductions of the program that is left to run once it was found.
    left: f32,
    long: Option<Long>,
    counted: Option<Several>,
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

/// Several lists of a unit, or one that is long, by which it is found by counting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Several {
    /// The share of events that have elements of all of them.
    pub(crate) probability: f32,
    /// The parts that then hold.
    pub(crate) implied: u64,
    /// Nanoseconds that the unit costs, about.
    pub(crate) cost: f32,
    /// The parts that they come from.
    nodes: [u32; LISTS_MAX],
    lists: usize,
}

/// The units with long clauses, in their order, and the keys of these clauses.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(super) units: Vec<u32>,
    pub(super) keys: Keys,
}

impl Listed {
    /// Whether a look-up costs less than testing each unit.
    pub(super) fn are_worth_it(&self) -> bool {
        let keys = self.keys.values().map(Vec::len).sum::<usize>();
        self.units.len() >= UNITS_MIN || keys >= KEYS_MIN
    }
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
    pub(super) counted: counted::Lists,
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

    /// Nanoseconds that a unit costs in the tree, about: it is tested for the events that have one of its keys, and
    /// run for those that pass its guards.
    pub(crate) fn cost(&self, unit: u32) -> f32 {
        let Some((probability, implied)) = self.best(unit) else {
            return f32::MAX;
        };
        if let Some(several) = self.several(unit) {
            return several.cost;
        }
        let long = self.long(unit).map_or(0, |long| long.implied);
        if long != 0 && long == self.parts(unit) {
            return probability * (cost::ITEM_NS + cost::HIT_NS);
        }
        cost::of_found(self.guards(unit), (probability, implied), self.left(unit))
    }

    /// All parts of a unit; 0 when they are too many to be told apart.
    pub(crate) fn parts(&self, unit: u32) -> u64 {
        self.units.get(unit as usize).map_or(0, |unit| unit.parts)
    }

    /// The long clause of a unit.
    pub(crate) fn long(&self, unit: u32) -> Option<Long> {
        self.units.get(unit as usize).and_then(|unit| unit.long)
    }

    /// Reductions of the program that is left to run once a unit was found.
    pub(crate) fn left(&self, unit: u32) -> f32 {
        self.units.get(unit as usize).map_or(0.0, |unit| unit.left)
    }

    /// The lists of a unit that is found by counting.
    pub(crate) fn several(&self, unit: u32) -> Option<&Several> {
        self.units.get(unit as usize)?.counted.as_ref()
    }

    /// The parts that hold when a unit with many keys or several lists is found.
    pub(crate) fn implied(&self, unit: u32) -> u64 {
        let several = self.several(unit).map(|several| several.implied);
        let long = || self.long(unit).map(|long| long.implied);
        several.or_else(long).unwrap_or(0)
    }

    /// The share of events that meet the clause by which a unit is found, and the parts that this implies.
    pub(crate) fn best(&self, unit: u32) -> Option<(f32, u64)> {
        if let Some(several) = self.several(unit) {
            return Some((several.probability, several.implied));
        }
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

    /// Whether a node holds as soon as an event has one of some elements of lists.
    pub(crate) fn is_list(&self, arena: &Arena, node: u32) -> bool {
        self.found.is_list(arena, node)
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
            left: arena.nodes[node as usize].cost,
            long: None,
            counted: None,
        });
        let first = self.clauses.len();
        self.add_ranges(arena, parts, known);
        for (at, part) in parts.iter().enumerate() {
            let bit = if at < PARTS_MAX { 1 << at } else { 0 };
            if let Some(access) = self.found.of(*part) {
                self.add(arena, *part, access, bit, known);
            }
            if let Some(guard) = known.cells.guard(arena, *part) {
                self.guards.push((bit, guard));
            }
        }
        let all = self.clauses[first..].iter();
        let least = all.min_by(|a, b| a.probability.total_cmp(&b.probability));
        let mut best = least.map_or(1.0, |clause| clause.probability);
        let is_only = self.clauses.len() - first <= 1;
        let long = self.find_long(arena, node, parts, least);
        let posted = || self.find_posted(arena, node, parts);
        let long = long.or_else(|| posted().filter(|_| is_of_many && is_only));
        if let (Some((long, left)), Some(last)) = (long, self.units.last_mut()) {
            best = long.probability;
            last.long = Some(long);
            last.left = left;
        }
        let several = self.find_several(arena, node, parts);
        let several = several.or_else(|| self.find_one(arena));
        if let (Some((several, left)), Some(last)) = (several, self.units.last_mut()) {
            best = several.probability.min(best);
            last.counted = Some(several);
            last.left = left;
        }
        best
    }

    /// The part with many keys by which the unit that was added last is better found than by its best clause, and the
    /// reductions of the program that is left then.
    fn find_long(
        &self,
        arena: &Arena,
        node: u32,
        parts: &[u32],
        best: Option<&Clause>,
    ) -> Option<(Long, f32)> {
        let (long, left) = self.least(arena, node, parts, Access::is_long)?;
        let unit = self.units.len() as u32 - 1;
        let ns = |share, implied, left| cost::of_found(self.guards(unit), (share, implied), left);
        let is_better = best.is_none_or(|best| {
            let whole = arena.nodes[node as usize].cost;
            let weight = long.probability * MANY_WEIGHT;
            ns(weight, long.implied, left) < ns(best.probability, best.parts, whole)
        });
        is_better.then_some((long, left))
    }

    /// The part with some keys by which a unit of many is better found together with the others.
    fn find_posted(&self, arena: &Arena, node: u32, parts: &[u32]) -> Option<(Long, f32)> {
        self.least(arena, node, parts, |access| {
            !access.is_long()
                && access.probability <= PROBABILITY_MAX
                && access.keys() >= POSTED_MIN
        })
    }

    /// The part that the fewest events meet of those that fit, and the reductions that are left when it is found.
    fn least(
        &self,
        arena: &Arena,
        node: u32,
        parts: &[u32],
        fits: impl Fn(&Access) -> bool,
    ) -> Option<(Long, f32)> {
        let all = parts.iter().enumerate();
        let all = all.filter_map(|(at, part)| Some((self.found.of(*part)?, at)));
        let (access, at) = all
            .filter(|(access, _)| fits(access))
            .min_by(|(a, _), (b, _)| a.probability.total_cmp(&b.probability))?;
        let is_told = at < PARTS_MAX && self.found.implies(arena, parts[at]);
        let long = Long {
            probability: access.probability,
            implied: if is_told { 1 << at } else { 0 },
            node: parts[at],
        };
        let whole = arena.nodes[node as usize].cost;
        let own = match is_told {
            true => arena.nodes[parts[at] as usize].cost,
            false => 0.0,
        };
        Some((long, (whole - own).max(0.0)))
    }

    /// The long list by which the unit that was added last is found, if it is one: however many elements of it an event
    /// has, a mark is looked at once.
    fn find_one(&self, arena: &Arena) -> Option<(Several, f32)> {
        let unit = self.units.last()?;
        let long = unit.long.filter(|long| {
            let is_long = |access: Access| access.is_long();
            self.found.of(long.node).is_some_and(is_long) && self.found.is_list(arena, long.node)
        })?;
        let at = self.units.len() as u32 - 1;
        let mut out = Several {
            probability: long.probability,
            implied: long.implied,
            cost: self.cost(at),
            nodes: [0; LISTS_MAX],
            lists: 1,
        };
        out.nodes[0] = long.node;
        Some((out, unit.left))
    }

    /// The lists by which the unit that was added last is better found than by its best clause, and the reductions of
    /// the program that is left then.
    fn find_several(&self, arena: &Arena, node: u32, parts: &[u32]) -> Option<(Several, f32)> {
        let lists = parts.iter().enumerate().take(PARTS_MAX);
        let mut lists: Vec<(Access, usize)> = lists
            .filter(|(_, part)| self.found.is_list(arena, **part))
            .filter_map(|(at, part)| Some((self.found.of(*part)?, at)))
            .collect();
        if lists.len() < 2 {
            return None;
        }
        lists.sort_by(|a, b| a.0.probability.total_cmp(&b.0.probability));
        let mut out = Several {
            probability: 1.0,
            implied: 0,
            cost: 0.0,
            nodes: [0; LISTS_MAX],
            lists: 0,
        };
        let mut left = arena.nodes[node as usize].cost;
        let mut often = 1.0;
        for (access, at) in lists.into_iter().take(LISTS_MAX) {
            let marks = access.probability * cost::MARK_NS;
            let evaluated = arena.nodes[parts[at] as usize].cost;
            let share = access.probability * ELEMENTS_FACTOR;
            if out.lists > 1 && often * evaluated * cost::TESTED_NS < share * cost::MARK_NS {
                continue;
            }
            often *= share.min(1.0);
            left = (left - evaluated).max(0.0);
            out.nodes[out.lists] = parts[at];
            out.lists += 1;
            out.implied |= 1 << at;
            out.cost += marks;
            out.probability *= access.probability.min(1.0);
        }
        let unit = self.units.len() as u32 - 1;
        out.cost += cost::of_found(self.guards(unit), (out.probability, out.implied), left);
        match self.best(unit) {
            Some(best) if cost::of_found(self.guards(unit), best, self.left(unit)) <= out.cost => {
                None
            }
            _ => Some((out, left)),
        }
    }

    /// Adds the keys of long clauses and of counted lists of the units from one on, which are of the arena that was weighed.
    pub(crate) fn list(&mut self, arena: &Arena, from: usize, known: &Known<'_>) {
        let mut keys = Vec::new();
        for unit in from..self.units.len() {
            if let Some(several) = self.units[unit].counted {
                self.counted.unit(unit as u32, several.lists);
                for (list, node) in several.nodes.iter().take(several.lists).enumerate() {
                    Found::elements(arena, *node, |attribute, element| {
                        self.counted.element(attribute, element, list as u32);
                    });
                }
                continue;
            }
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
        for range in ranges(arena, parts, known) {
            let Some(found) = known.cells_of(range.attribute, range.interval) else {
                continue;
            };
            let start = self.keys.len();
            let dimension = Dimension::Cell(range.attribute, found.resolution);
            let keys = found.cells.iter();
            let keys = keys.map(|(cell, inside)| ((dimension, *cell), *inside));
            self.keys.extend(keys);
            self.clause(start, found.share, range.parts);
        }
    }
}
