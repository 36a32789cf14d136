//! One tree of words during compilation: groups and tests with probability and cost, in the best order of
//! evaluation.
//!
//! Nodes come before their children, so one backward pass sees children before parents.

use crate::code::{Head, Op, i64_at};
use crate::eval;
use crate::program::estimate::Estimates;

/// Most ranges of a group that are checked for a common attribute.
const RANGES_MAX: usize = 64;

/// A group or a test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) op: Op,
    /// The position after its last descendant.
    end: u32,
    /// The position of a test's head in the words.
    pub(crate) word: u32,
    /// The range of a group's children.
    children: (u32, u32),
    /// The share of events for which it is true.
    pub(crate) probability: f32,
    /// The average number of evaluated tests.
    pub(crate) cost: f32,
    /// Tests in it.
    pub(crate) size: u32,
    /// Merged into another node.
    gone: bool,
}

/// A tree during compilation; its memory is reused for the next one.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// The tree's words, then those of tests that were merged.
    pub(crate) words: Vec<u32>,
    pub(crate) nodes: Vec<Node>,
    children: Vec<u32>,
    open: Vec<Option<u32>>,
    ranges: Vec<(usize, u32)>,
}

/// The root of every arena.
pub(crate) const ROOT: u32 = 0;

impl Arena {
    /// Reads a tree.
    pub(crate) fn load(&mut self, tree: &[u32], estimates: &Estimates) {
        self.words.clear();
        self.words.extend_from_slice(tree);
        self.nodes.clear();
        self.children.clear();
        self.read();
        for index in (0..self.nodes.len()).rev() {
            match self.nodes[index].op {
                Op::And | Op::Or => self.weigh_group(index, estimates),
                _ => self.weigh_test(index, estimates),
            }
        }
    }

    fn node(op: Op, word: u32) -> Node {
        Node {
            op,
            end: 0,
            word,
            children: (0, 0),
            probability: 1.0,
            cost: 0.0,
            size: 0,
            gone: false,
        }
    }

    /// Reads nodes from words. A group inside a group of its kind does not become a node.
    fn read(&mut self) {
        self.open.clear();
        self.nodes.push(Self::node(Op::And, 0));
        let mut kinds = vec![Op::And];
        let mut at = 0;
        while let Some(word) = self.words.get(at).copied() {
            let head = Head(word);
            match head.op() {
                op @ (Op::And | Op::Or) => {
                    let same = kinds.last() == Some(&op);
                    let index = self.nodes.len() as u32;
                    self.open.push((!same).then_some(index));
                    if !same {
                        self.nodes.push(Self::node(op, 0));
                        kinds.push(op);
                    }
                }
                Op::Close => {
                    if let Some(Some(index)) = self.open.pop() {
                        self.nodes[index as usize].end = self.nodes.len() as u32;
                        kinds.pop();
                    }
                }
                op => {
                    let mut node = Self::node(op, at as u32);
                    node.end = self.nodes.len() as u32 + 1;
                    self.nodes.push(node);
                }
            }
            let first = self.words.get(at + 1).copied().unwrap_or(0);
            at += 1 + head.operands(first);
        }
        self.nodes[ROOT as usize].end = self.nodes.len() as u32;
    }

    fn weigh_test(&mut self, index: usize, estimates: &Estimates) {
        let node = self.nodes[index];
        let words = &self.words[node.word as usize..];
        let head = Head(words[0]);
        let node = &mut self.nodes[index];
        match node.op {
            Op::True => node.probability = 1.0,
            Op::False => node.probability = 0.0,
            _ => {
                let probability = estimates.test(head, &words[1..]);
                node.probability = if head.flag() {
                    1.0 - probability
                } else {
                    probability
                };
                node.cost = eval::cost(head) as f32;
                node.size = 1;
            }
        }
    }

    /// The children of a node, cheapest decision first.
    pub(crate) fn children(&self, index: u32) -> &[u32] {
        let (start, end) = self.nodes[index as usize].children;
        &self.children[start as usize..end as usize]
    }

    fn weigh_group(&mut self, index: usize, estimates: &Estimates) {
        let and = self.nodes[index].op == Op::And;
        if and {
            self.merge_ranges(index, estimates);
        }
        let start = self.children.len();
        let end = self.nodes[index].end;
        let mut at = index as u32 + 1;
        let mut decided = false;
        while at < end {
            let child = self.nodes[at as usize];
            match child.op {
                // A constant decides the group or cannot change it.
                Op::True => decided |= !and,
                Op::False => decided |= and,
                _ if child.gone => {}
                _ => self.children.push(at),
            }
            at = child.end;
        }
        if decided || self.children.len() == start {
            self.children.truncate(start);
            let value = decided != and;
            let node = &mut self.nodes[index];
            node.op = if value { Op::True } else { Op::False };
            node.probability = if value { 1.0 } else { 0.0 };
            return;
        }
        let end = self.children.len() as u32;
        self.nodes[index].children = (start as u32, end);
        self.order_group(index, |child, decides| child.cost / (decides + 1e-6));
    }

    /// Orders the children of a group by rank, which depends on the child and on the share of events for which it
    /// decides the group.
    fn order_group(&mut self, index: usize, rank: impl Fn(&Node, f32) -> f32) {
        let Self {
            nodes, children, ..
        } = self;
        let and = nodes[index].op == Op::And;
        let (start, end) = nodes[index].children;
        let rank = |index: &u32| {
            let node = &nodes[*index as usize];
            let decides = if and {
                1.0 - node.probability
            } else {
                node.probability
            };
            rank(node, decides)
        };
        let children = &mut children[start as usize..end as usize];
        children.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let (mut going_on, mut cost, mut size) = (1.0f32, 0.0f32, 0u32);
        for child in children.iter() {
            let child = &nodes[*child as usize];
            cost += going_on * child.cost;
            going_on *= if and {
                child.probability
            } else {
                1.0 - child.probability
            };
            size = size.saturating_add(child.size);
        }
        let node = &mut nodes[index];
        node.probability = if and { going_on } else { 1.0 - going_on };
        node.cost = cost;
        node.size = size;
    }

    /// Orders all children again for lockstep, which passes every position of a program: skipped tests cost as much
    /// as evaluated ones, so short groups come first.
    pub(crate) fn order_by_size(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            if matches!(node.op, Op::And | Op::Or) && node.children.0 < node.children.1 {
                self.order_group(index, |child, decides| {
                    child.size as f32 / (decides + 1e-6).sqrt()
                });
            }
        }
    }

    /// Merges two ranges of one integer, both of which must hold.
    fn merge_ranges(&mut self, index: usize, estimates: &Estimates) {
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.clear();
        let mut at = index as u32 + 1;
        while at < self.nodes[index].end && ranges.len() < RANGES_MAX {
            let node = self.nodes[at as usize];
            if matches!(node.op, Op::Range32 | Op::Range64) && !node.gone {
                let head = Head(self.words[node.word as usize]);
                // For an undefined attribute the two must agree with their conjunction.
                if !head.flag() && !head.undefined() {
                    let attribute = head.attribute();
                    match ranges.iter().find(|(other, _)| *other == attribute) {
                        Some((_, other)) => self.merge(*other, at, estimates),
                        None => ranges.push((attribute, at)),
                    }
                }
            }
            at = node.end;
        }
        self.ranges = ranges;
    }

    fn merge(&mut self, into: u32, other: u32, estimates: &Estimates) {
        let (low, high) = self.bounds(into);
        let (other_low, other_high) = self.bounds(other);
        let head = Head(self.words[self.nodes[into as usize].word as usize]);
        let attribute = head.attribute() as u16;
        let word = self.words.len() as u32;
        crate::bind::range_words(
            &mut self.words,
            |op| Head::new(op, attribute),
            low.max(other_low),
            high.min(other_high),
        );
        let node = &mut self.nodes[into as usize];
        node.word = word;
        node.op = Head(self.words[word as usize]).op();
        self.nodes[other as usize].gone = true;
        self.weigh_test(into as usize, estimates);
    }

    /// The bounds of a range test.
    pub(crate) fn bounds(&self, index: u32) -> (i64, i64) {
        let node = &self.nodes[index as usize];
        let operands = &self.words[node.word as usize + 1..];
        match (node.op, operands) {
            (Op::Range32, [low, high, ..]) => crate::bind::range_bounds(*low, *high),
            _ => (i64_at(operands, 0), i64_at(operands, 2)),
        }
    }

    /// The words of a test, head first.
    pub(crate) fn test(&self, index: u32) -> &[u32] {
        let words = &self.words[self.nodes[index as usize].word as usize..];
        let first = words.get(1).copied().unwrap_or(0);
        let operands = words.first().map_or(0, |word| Head(*word).operands(first));
        words.get(..1 + operands).unwrap_or(words)
    }

    /// The position after the last descendant of a node.
    pub(crate) fn end(&self, index: u32) -> usize {
        self.nodes[index as usize].end as usize
    }

    /// The attribute of all tests of a group, if there is only one and the group has few nodes.
    pub(crate) fn only_attribute(&self, index: u32, nodes_max: usize) -> Option<usize> {
        let inside = index as usize + 1..self.end(index);
        if inside.len() > nodes_max {
            return None;
        }
        let mut attribute = None;
        for at in inside {
            let node = &self.nodes[at];
            if node.gone || matches!(node.op, Op::And | Op::Or | Op::True | Op::False) {
                continue;
            }
            let found = Head(self.words[node.word as usize]).attribute();
            if *attribute.get_or_insert(found) != found {
                return None;
            }
        }
        attribute
    }

    /// Puts children of a node last, those whose bit is set, by their position. Returns how many tests come before them.
    pub(crate) fn put_last(&mut self, index: u32, last: u64) -> usize {
        let (start, end) = match self.nodes[index as usize].op {
            Op::And => self.nodes[index as usize].children,
            _ if last & 1 != 0 => return 0,
            _ => return self.nodes[index as usize].size as usize,
        };
        let children = &mut self.children[start as usize..end as usize];
        let is_last = |at: usize| at < u64::BITS as usize && last >> at & 1 == 1;
        let (after, before): (Vec<_>, Vec<_>) = children
            .iter()
            .enumerate()
            .partition(|(at, _)| is_last(*at));
        let before: Vec<u32> = before.into_iter().map(|(_, child)| *child).collect();
        let after: Vec<u32> = after.into_iter().map(|(_, child)| *child).collect();
        let (first, rest) = children.split_at_mut(before.len());
        first.copy_from_slice(&before);
        rest.copy_from_slice(&after);
        let size = |child: &u32| self.nodes[*child as usize].size as usize;
        before.iter().map(size).sum()
    }

    /// Removes children from the root; `dropped` is in their order.
    pub(crate) fn drop_children(&mut self, dropped: &[u32]) {
        let (start, end) = self.nodes[ROOT as usize].children;
        let mut dropped = dropped.iter().peekable();
        let (mut to, mut size) = (start, 0u32);
        for from in start..end {
            let child = self.children[from as usize];
            if dropped.next_if_eq(&&child).is_some() {
                continue;
            }
            size = size.saturating_add(self.nodes[child as usize].size);
            self.children[to as usize] = child;
            to += 1;
        }
        let root = &mut self.nodes[ROOT as usize];
        root.children = (start, to);
        root.size = size;
    }

    /// The share of events that continue with the next step.
    pub(crate) fn going_on(&self, step: &super::Step) -> f32 {
        let node = &self.nodes[step.node as usize];
        let negated = Head(self.words[node.word as usize]).flag();
        match step.sense != negated {
            true => node.probability,
            false => 1.0 - node.probability,
        }
    }

    /// The average number of evaluated tests.
    pub(crate) fn cost(&self) -> f32 {
        self.nodes[ROOT as usize].cost
    }
}
