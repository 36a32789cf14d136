//! The phase that visits the tree: nodes, their items, and the edges for the event's values.

use super::{FETCH_REDUCTIONS, Phase, Search};
use crate::index::tree::{Item, Node};
use crate::program::run::Outcome;

/// Where in the tree a search is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    node: u32,
    /// Finished items of the node.
    items: u32,
    /// The position in the program of the next item.
    running: Option<u32>,
    /// Finished attributes of the node.
    parts: u32,
    /// Finished values of the next attribute.
    values: u32,
    /// Whether the visit itself was counted.
    entered: bool,
}

impl Place {
    pub(super) const ROOT: Self = Self::at(0);

    const fn at(node: u32) -> Self {
        Self {
            node,
            items: 0,
            running: None,
            parts: 0,
            values: 0,
            entered: false,
        }
    }
}

impl Search<'_> {
    pub(super) fn walk(&mut self, part: usize, mut at: Place, limit: u64) -> Phase {
        let index = &self.part(part).index;
        while let Some(node) = index.tree.nodes.get(at.node as usize) {
            if self.spent >= limit {
                return Phase::Walk { part, at };
            }
            self.spent += u64::from(!at.entered);
            at.entered = true;
            if !self.items(part, node, &mut at, limit) || !self.values(part, node, &mut at, limit) {
                return Phase::Walk { part, at };
            }
            if self.matched >= self.matches_max {
                return self.end();
            }
            match self.buffers.stack.pop() {
                Some(next) => at = Place::at(next),
                None => break,
            }
        }
        Phase::Enter { part: part + 1 }
    }

    /// Runs the items of a node. Returns false when the budget ends before.
    fn items(&mut self, part: usize, node: &Node, at: &mut Place, limit: u64) -> bool {
        let index = &self.part(part).index;
        let (start, end) = node.items;
        let items = index.tree.items.get(start as usize..end as usize);
        let items = items.unwrap_or(&[]);
        if at.items as usize == items.len() {
            return true;
        }
        while let Some(item) = items.get(at.items as usize) {
            if self.spent >= limit {
                break;
            }
            if at.running.is_none() {
                self.spent += 1;
                if !self.may_match(item) {
                    at.items += 1;
                    continue;
                }
                self.spent += FETCH_REDUCTIONS;
                self.evaluated += 1;
            }
            let (slot, from, to) = index.program(item.target);
            match self.run_code(part, (from, to), at.running.unwrap_or(0), limit) {
                Outcome::Accepted => self.hit(part, slot),
                Outcome::Rejected => {}
                Outcome::Paused(position) => {
                    at.running = Some(position);
                    break;
                }
            }
            at.running = None;
            at.items += 1;
        }
        at.items as usize == items.len()
    }

    /// Whether the event meets the clauses of an item.
    #[inline]
    fn may_match(&self, item: &Item) -> bool {
        let meets = |at: usize| {
            let mask = item.masks[at];
            let found = self.event.signature(usize::from(item.attributes[at]));
            mask == 0 || mask & found != 0
        };
        meets(0) && meets(1)
    }

    /// Finds the nodes for the values of the event. Returns false when the budget ends before.
    fn values(&mut self, part: usize, node: &Node, at: &mut Place, limit: u64) -> bool {
        let tree = &self.part(part).index.tree;
        let parts = tree.parts(node);
        while let Some(attribute) = parts.get(at.parts as usize) {
            let index = usize::from(*attribute);
            let lists = self.event.elements(index);
            let is_list = self.state.is_list(index);
            let count = match (self.event.is_defined(index), is_list) {
                (false, _) => 0,
                (true, true) => lists.len(),
                (true, false) => 1,
            };
            while (at.values as usize) < count {
                if self.spent >= limit {
                    return false;
                }
                self.spent += 1;
                let value = match is_list {
                    true => u64::from(lists[at.values as usize]),
                    false => self.event.scalar(index),
                };
                let stack = &mut self.buffers.stack;
                tree.children(at.node, *attribute, value, |child| stack.push(child));
                at.values += 1;
            }
            at.parts += 1;
            at.values = 0;
        }
        true
    }
}
