//! Access clauses: what an event must have for an expression to match, by which the index finds it.
//!
//! A clause is a set of keys (values of attributes), at least one of which the event has whenever the
//! expression matches. Each part of the conjunction at the root can give one.

use crate::code::{HAS_MAX, Head, IN_MAX, Op, i64_at};
use crate::event::signature;
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;

/// The most keys of a clause.
const KEYS_MAX: u32 = 64;
/// A clause that more than this share of events meet is not used.
const PROBABILITY_MAX: f32 = 0.6;

/// The attribute of a clause with keys of several attributes.
pub(crate) const SEVERAL: u32 = u32::MAX;

/// A value of an attribute.
pub(crate) type Key = (u16, u64);

/// One clause of an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clause {
    /// The share of events that meet it.
    pub(crate) probability: f32,
    /// The attribute of all keys, or [`SEVERAL`].
    pub(crate) attribute: u32,
    /// The signatures of the values of all keys.
    pub(crate) mask: u64,
    start: u32,
    count: u32,
}

/// The clauses of many expressions.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    clauses: Vec<Clause>,
    /// Where the clauses of each expression begin.
    starts: Vec<u32>,
    keys: Vec<Key>,
    found: Vec<Option<Access>>,
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
        self.starts.len()
    }

    /// The clauses of an expression, by the order in which they were added.
    pub(crate) fn of(&self, expression: u32) -> &[Clause] {
        let at = expression as usize;
        let start = self.starts.get(at).map_or(0, |at| *at as usize);
        let end = self.starts.get(at + 1);
        let end = end.map_or(self.clauses.len(), |at| *at as usize);
        self.clauses.get(start..end).unwrap_or(&[])
    }

    pub(crate) fn keys(&self, clause: &Clause) -> &[Key] {
        let start = clause.start as usize;
        let keys = self.keys.get(start..start + clause.count as usize);
        keys.unwrap_or(&[])
    }

    /// The share of events that meet the best clause of an arena; 1 when it has none.
    pub(crate) fn best(&mut self, arena: &Arena, estimates: &Estimates) -> f32 {
        self.weigh(arena, estimates);
        let parts = arena.children(ROOT).iter();
        parts
            .filter_map(|part| self.found[*part as usize])
            .map(|access| access.probability)
            .fold(1.0, f32::min)
    }

    /// Adds the clauses of the arena that `best` was last called for.
    pub(crate) fn push(&mut self, arena: &Arena) {
        self.starts.push(self.clauses.len() as u32);
        for part in arena.children(ROOT) {
            let Some(access) = self.found[*part as usize] else {
                continue;
            };
            if access.probability > PROBABILITY_MAX {
                continue;
            }
            let start = self.keys.len();
            self.collect(arena, *part);
            let mut keys = self.keys.split_off(start);
            keys.sort_unstable();
            keys.dedup();
            let first = keys.first().map_or(0, |key| key.0);
            let one = keys.iter().all(|key| key.0 == first);
            let mask = keys.iter().fold(0, |mask, key| mask | signature(key.1));
            self.keys.append(&mut keys);
            self.clauses.push(Clause {
                probability: access.probability,
                attribute: if one { u32::from(first) } else { SEVERAL },
                mask,
                start: start as u32,
                count: (self.keys.len() - start) as u32,
            });
        }
    }

    /// Computes for each node the clause that it would give.
    fn weigh(&mut self, arena: &Arena, estimates: &Estimates) {
        self.found.clear();
        self.found.resize(arena.nodes.len(), None);
        for index in (0..arena.nodes.len() as u32).rev() {
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
                _ => leaf(arena, index, estimates),
            };
        }
    }

    /// Appends the keys of a node.
    fn collect(&mut self, arena: &Arena, node: u32) {
        let mut due = vec![node];
        while let Some(index) = due.pop() {
            match arena.nodes[index as usize].op {
                Op::And => due.extend(self.found[index as usize].map(|access| access.pick)),
                Op::Or => due.extend_from_slice(arena.children(index)),
                _ => self.collect_leaf(arena, index),
            }
        }
    }

    fn collect_leaf(&mut self, arena: &Arena, index: u32) {
        let test = arena.test(index);
        let (head, operands) = (Head(test[0]), &test[1..]);
        let attribute = head.attribute() as u16;
        let narrow = |value: &u32| i64::from(*value as i32) as u64;
        match head.op() {
            Op::Bool => self.keys.push((attribute, 1)),
            Op::Equal32 | Op::In => {
                let keys = operands.iter().map(|value| (attribute, narrow(value)));
                self.keys.extend(keys);
            }
            Op::Equal64 => self.keys.push((attribute, i64_at(operands, 0) as u64)),
            Op::InMany => {
                let count = operands.first().copied().unwrap_or(0) as usize;
                let values = (0..count).map(|at| i64_at(operands, 1 + 2 * at) as u64);
                self.keys.extend(values.map(|value| (attribute, value)));
            }
            // All elements must be there, so any one of them is enough as a key.
            Op::HasAll => {
                let element = operands.first().copied().unwrap_or(0);
                self.keys.push((attribute, u64::from(element)));
            }
            Op::HasAny => {
                let keys = operands.iter().map(|e| (attribute, u64::from(*e)));
                self.keys.extend(keys);
            }
            _ => {
                let (low, high) = arena.bounds(index);
                let values = (low..=high).map(|value| (attribute, value as u64));
                self.keys.extend(values);
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
        (keys <= KEYS_MAX).then_some(Self {
            probability: self.probability + other.probability,
            keys,
            pick: 0,
        })
    }
}

/// The clause of a test. A test that is true for an undefined attribute has none.
fn leaf(arena: &Arena, index: u32, estimates: &Estimates) -> Option<Access> {
    let test = arena.test(index);
    let (head, operands) = (Head(*test.first()?), &test[1..]);
    if head.flag() || head.undefined() {
        return None;
    }
    let keys = match head.op() {
        Op::Bool | Op::Equal32 | Op::Equal64 | Op::HasAll => 1,
        Op::In => head.len().min(IN_MAX) as u32,
        Op::HasAny => head.len().min(HAS_MAX) as u32,
        Op::InMany => operands
            .first()
            .copied()
            .filter(|count| *count <= KEYS_MAX)?,
        Op::Range32 | Op::Range64 => {
            let (low, high) = arena.bounds(index);
            let span = high.checked_sub(low).filter(|span| *span >= 0)?;
            u32::try_from(span).ok().filter(|span| *span < KEYS_MAX)? + 1
        }
        _ => return None,
    };
    let probability = match head.op() {
        Op::Bool | Op::HasAll => estimates.test(head, operands),
        _ => (estimates.value(head.attribute()) * keys as f32).min(1.0),
    };
    Some(Access {
        probability,
        keys,
        pick: 0,
    })
}
