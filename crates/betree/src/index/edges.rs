//! The edges of the tree: one hash table from a node and a key to a node.

use super::dimension::Key;

pub(super) fn hash(seed: u64, node: u32, (dimension, value): Key) -> u64 {
    let place = u64::from(node) << 32 | u64::from(dimension.code());
    let mut hash = (place ^ seed)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29);
    hash = (hash ^ value).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 29
}

/// An edge, whole, so that no two keys are taken for each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edge {
    value: u64,
    pub(super) node: u32,
    dimension: u32,
    /// The node that it leads to; 0, the root, has no parent.
    pub(super) child: u32,
}

/// A hash table that is filled once.
#[derive(Debug, Default)]
pub(super) struct Edges {
    pub(super) slots: Vec<Edge>,
    /// The longest distance of an entry from its slot.
    reach: u32,
}

impl Edges {
    pub(super) fn new(seed: u64, edges: Vec<(u32, Key, u32)>) -> Self {
        let size = (edges.len() * 3 / 2).next_power_of_two().max(2);
        let mut slots = vec![Edge::default(); size];
        let mut reach = 0;
        for (node, key, child) in edges {
            let mut at = hash(seed, node, key) as usize & (size - 1);
            let mut way = 0;
            while slots[at].child != 0 {
                at = (at + 1) & (size - 1);
                way += 1;
            }
            reach = reach.max(way);
            slots[at] = Edge {
                value: key.1,
                node,
                dimension: key.0.code(),
                child,
            };
        }
        Self { slots, reach }
    }

    /// The codes of dimensions and the values of all edges.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let filled = self.slots.iter().filter(|edge| edge.child != 0);
        filled.map(|edge| (edge.dimension, edge.value))
    }

    #[inline]
    pub(super) fn find(&self, hash: u64, node: u32, (dimension, value): Key) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        for way in 0..=self.reach as usize {
            let at = (hash as usize).wrapping_add(way) & mask;
            let edge = self.slots.get(at)?;
            if edge.child == 0 {
                return None;
            }
            if edge.value == value && edge.node == node && edge.dimension == dimension.code() {
                return Some(edge.child);
            }
        }
        None
    }
}
