//! Priorities of subscriptions: with them a search finds the best few matches and leaves out what cannot be among them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::SubscriptionId;
use crate::index::Index;
use crate::state::{Part, State};

/// The priority of each subscription of a snapshot, for [`Snapshot::top_k`](crate::Snapshot::top_k).
///
/// Made by [`Snapshot::priorities`](crate::Snapshot::priorities). Takes 8 bytes a subscription, and 8 bytes a node of the
/// index.
#[derive(Debug, Clone)]
pub struct Priorities {
    parts: Vec<Arc<PartPriorities>>,
}

#[derive(Debug)]
struct PartPriorities {
    /// The index that the slots and nodes are of.
    index: Arc<Index>,
    slots: Vec<i64>,
    /// For each node of the tree the greatest priority of its units and of those below it.
    nodes: Vec<i64>,
}

impl Priorities {
    /// Those of indexes that `earlier` has are taken from there.
    pub(crate) fn new(
        state: &State,
        earlier: Option<&Self>,
        of: impl Fn(SubscriptionId) -> i64,
    ) -> Self {
        let known = |part: &Part| {
            let mut all = earlier?.parts.iter();
            all.find(|known| Arc::ptr_eq(&known.index, &part.index))
        };
        let part = |part: &Part| match known(part) {
            Some(known) => Arc::clone(known),
            None => Arc::new(PartPriorities::new(&part.index, &of)),
        };
        Self {
            parts: state.parts.iter().map(part).collect(),
        }
    }

    /// Whether these are priorities of the expressions of a state.
    pub(crate) fn is_of(&self, state: &State) -> bool {
        let same =
            |(own, part): (&Arc<PartPriorities>, &Part)| Arc::ptr_eq(&own.index, &part.index);
        self.parts.len() == state.parts.len() && self.parts.iter().zip(&state.parts).all(same)
    }

    fn of(&self, part: usize, slot: u32) -> i64 {
        let part = self.parts.get(part);
        part.and_then(|part| part.slots.get(slot as usize))
            .copied()
            .unwrap_or(i64::MIN)
    }

    fn id(&self, part: usize, slot: u32) -> SubscriptionId {
        let ids = self.parts.get(part).map(|part| &part.index.sources.ids);
        let id = ids.and_then(|ids| ids.get(slot as usize)).copied();
        id.unwrap_or(SubscriptionId(u64::MAX))
    }

    fn of_node(&self, part: usize, node: u32) -> i64 {
        let part = self.parts.get(part);
        part.and_then(|part| part.nodes.get(node as usize))
            .copied()
            .unwrap_or(i64::MAX)
    }
}

impl PartPriorities {
    fn new(index: &Arc<Index>, of: impl Fn(SubscriptionId) -> i64) -> Self {
        let slots: Vec<i64> = index.sources.ids.iter().map(|id| of(*id)).collect();
        let slot = |unit: u32| index.unit(unit).map_or(u32::MAX, |unit| unit.slot);
        let priority = |slot: u32| slots.get(slot as usize).copied().unwrap_or(i64::MAX);
        Self {
            nodes: index.tree.greatest(slot, priority),
            index: Arc::clone(index),
            slots,
        }
    }
}

/// A match: of two the one with the higher priority is greater, then the one with the lower id.
type Match = (i64, Reverse<SubscriptionId>);

/// The best matches so far, the worst of them first.
#[derive(Debug, Default)]
pub(crate) struct Best {
    heap: BinaryHeap<Reverse<Match>>,
}

/// How many matches are wanted, by which priorities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Top<'s> {
    pub(crate) priorities: &'s Priorities,
    pub(crate) count: usize,
}

impl Best {
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Removes the worst.
    pub(crate) fn pop(&mut self) -> Option<SubscriptionId> {
        self.heap.pop().map(|Reverse((_, Reverse(id)))| id)
    }

    /// Whether an expression would be among the best if it matched.
    pub(crate) fn accepts(&self, top: Top<'_>, part: usize, slot: u32) -> bool {
        if self.heap.len() < top.count {
            return true;
        }
        let priority = top.priorities.of(part, slot);
        let is_better = |Reverse((worst, Reverse(id))): &Reverse<Match>| {
            priority > *worst || (priority == *worst && top.priorities.id(part, slot) < *id)
        };
        self.heap.peek().is_some_and(is_better)
    }

    /// Whether an expression in a node or below it can be among the best.
    pub(crate) fn accepts_node(&self, top: Top<'_>, part: usize, node: u32) -> bool {
        let most = top.priorities.of_node(part, node);
        let is_good = |Reverse((worst, _)): &Reverse<Match>| most >= *worst;
        self.heap.len() < top.count || self.heap.peek().is_some_and(is_good)
    }

    /// Keeps a match if it is among the best.
    pub(crate) fn offer(&mut self, top: Top<'_>, part: usize, slot: u32) {
        if !self.accepts(top, part, slot) {
            return;
        }
        if self.heap.len() >= top.count {
            self.heap.pop();
        }
        let (priority, id) = (top.priorities.of(part, slot), top.priorities.id(part, slot));
        self.heap.push(Reverse((priority, Reverse(id))));
    }
}
