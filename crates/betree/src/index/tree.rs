//! The tree over access clauses: a node partitions its expressions by attribute, a part clusters them by value.
//!
//! All edges are in one hash table, from (node, attribute, value) to a node. When two keys share a hash, a
//! search visits an expression in vain; no outcome depends on hashes.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::access::{Clause, Clauses, Key, SEVERAL};

/// A node with at most this many expressions is not divided.
const LEAF_MAX: usize = 12;
/// Below the root, a part with fewer expressions is not worth a lookup.
const PART_MIN: usize = 4;
/// Most attributes on a path from the root.
const DEPTH_MAX: usize = 6;
/// Most places of one expression.
const COPIES_MAX: u32 = 64;

/// An expression in a node, with two further clauses that an event must meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// The expression; later the place of its code.
    pub(crate) target: u32,
    pub(crate) attributes: [u16; 2],
    pub(crate) masks: [u64; 2],
}

/// A node: its items, and the attributes of its edges.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) items: (u32, u32),
    pub(crate) parts: (u32, u32),
}

/// The index of all expressions with a clause, and of those without in its root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) items: Vec<Item>,
    parts: Vec<u16>,
    edges: Edges,
    /// Random for each tree, so that an attacker cannot choose colliding values.
    seed: u64,
}

impl Tree {
    /// The attributes of a node's edges.
    #[inline]
    pub(crate) fn parts(&self, node: &Node) -> &[u16] {
        let (start, end) = node.parts;
        self.parts.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// The nodes for a value: one, unless hashes collide.
    #[inline]
    pub(crate) fn children(&self, node: u32, attribute: u16, value: u64, each: impl FnMut(u32)) {
        self.edges
            .find(hash(self.seed, node, (attribute, value)), each);
    }

    /// Builds the tree over expressions `0..clauses.len()`.
    pub(crate) fn build(clauses: &Clauses) -> Self {
        let mut builder = Builder {
            clauses,
            tree: Self {
                seed: RandomState::new().build_hasher().finish(),
                ..Self::default()
            },
            edges: Vec::new(),
            due: Vec::new(),
        };
        let all = (0..clauses.len() as u32).map(|expression| Work {
            expression,
            copies: 1,
        });
        builder.tree.nodes.push(Node::default());
        builder.due.push((0, all.collect(), Vec::new()));
        while let Some((node, work, used)) = builder.due.pop() {
            builder.node(node, work, &used);
        }
        let mut tree = builder.tree;
        tree.edges = Edges::new(&builder.edges);
        tree.items.shrink_to_fit();
        tree
    }
}

/// An expression on its way down.
#[derive(Debug, Clone, Copy)]
struct Work {
    expression: u32,
    /// Places that it is in so far.
    copies: u32,
}

struct Builder<'c> {
    clauses: &'c Clauses,
    tree: Tree,
    edges: Vec<(u64, u32)>,
    due: Vec<(u32, Vec<Work>, Vec<u16>)>,
}

impl Builder<'_> {
    fn node(&mut self, node: u32, work: Vec<Work>, used: &[u16]) {
        let mut here: Vec<Work> = Vec::new();
        let mut placed: Vec<(Key, Work)> = Vec::new();
        if work.len() <= LEAF_MAX || used.len() >= DEPTH_MAX {
            here = work;
        } else {
            for one in work {
                match self.best(one, used) {
                    None => here.push(one),
                    Some(clause) => {
                        let keys = self.clauses.keys(clause);
                        let copies = one.copies * keys.len() as u32;
                        let one = Work { copies, ..one };
                        placed.extend(keys.iter().map(|key| (*key, one)));
                    }
                }
            }
        }
        placed.sort_unstable_by_key(|(key, work)| (*key, work.expression));
        let parts = self.tree.parts.len() as u32;
        for part in placed.chunk_by(|a, b| a.0.0 == b.0.0) {
            let attribute = part[0].0.0;
            if part.len() < PART_MIN && !used.is_empty() {
                // An expression can be in a part several times, and in other parts.
                here.extend(part.iter().map(|(_, work)| *work));
                continue;
            }
            self.tree.parts.push(attribute);
            let mut used = used.to_vec();
            used.push(attribute);
            for cluster in part.chunk_by(|a, b| a.0 == b.0) {
                let child = self.tree.nodes.len() as u32;
                self.tree.nodes.push(Node::default());
                let hash = hash(self.tree.seed, node, cluster[0].0);
                self.edges.push((hash, child));
                let work = cluster.iter().map(|(_, work)| *work).collect();
                self.due.push((child, work, used.clone()));
            }
        }
        here.sort_unstable_by_key(|work| work.expression);
        here.dedup_by_key(|work| work.expression);
        let items = self.tree.items.len() as u32;
        for work in here {
            let item = self.item(work.expression, used);
            self.tree.items.push(item);
        }
        self.tree.nodes[node as usize] = Node {
            items: (items, self.tree.items.len() as u32),
            parts: (parts, self.tree.parts.len() as u32),
        };
    }

    /// The clause by which an expression is placed.
    fn best(&self, work: Work, used: &[u16]) -> Option<&Clause> {
        let fits = |clause: &&Clause| {
            let keys = self.clauses.keys(clause).len() as u32;
            let fresh = match clause.attribute {
                SEVERAL => used.is_empty(),
                attribute => !used.iter().any(|other| u32::from(*other) == attribute),
            };
            fresh && keys > 0 && work.copies * keys <= COPIES_MAX
        };
        let clauses = self.clauses.of(work.expression).iter().filter(fits);
        clauses.min_by(|a, b| a.probability.total_cmp(&b.probability))
    }

    /// An item with the two best clauses that its place does not imply.
    fn item(&self, expression: u32, used: &[u16]) -> Item {
        let mut guards: [Option<&Clause>; 2] = [None; 2];
        for clause in self.clauses.of(expression) {
            let known = used
                .iter()
                .any(|other| u32::from(*other) == clause.attribute);
            if clause.attribute == SEVERAL || known {
                continue;
            }
            let better = |other: &Option<&Clause>| {
                other.is_none_or(|other| clause.probability < other.probability)
            };
            if better(&guards[0]) {
                guards = [Some(clause), guards[0]];
            } else if better(&guards[1]) {
                guards[1] = Some(clause);
            }
        }
        Item {
            target: expression,
            attributes: guards.map(|guard| guard.map_or(0, |clause| clause.attribute as u16)),
            masks: guards.map(|guard| guard.map_or(0, |clause| clause.mask)),
        }
    }
}

fn hash(seed: u64, node: u32, (attribute, value): Key) -> u64 {
    let place = u64::from(node) << 16 | u64::from(attribute);
    let mut hash = (place ^ seed)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29);
    hash = (hash ^ value).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 29
}

/// A hash table that is filled once.
#[derive(Debug, Default)]
struct Edges {
    /// The upper half of the hash and the node; node 0, the root, has no parent.
    slots: Vec<(u32, u32)>,
    /// The longest distance of an entry from its slot.
    reach: u32,
}

impl Edges {
    fn new(edges: &[(u64, u32)]) -> Self {
        let size = (edges.len() * 2).next_power_of_two().max(2);
        let mut slots = vec![(0, 0); size];
        let mut reach = 0;
        for (hash, child) in edges {
            let mut at = *hash as usize & (size - 1);
            let mut way = 0;
            while slots[at].1 != 0 {
                at = (at + 1) & (size - 1);
                way += 1;
            }
            reach = reach.max(way);
            slots[at] = ((*hash >> 32) as u32, *child);
        }
        Self { slots, reach }
    }

    #[inline]
    fn find(&self, hash: u64, mut each: impl FnMut(u32)) {
        let mask = self.slots.len().wrapping_sub(1);
        let tag = (hash >> 32) as u32;
        for way in 0..=self.reach as usize {
            let at = (hash as usize).wrapping_add(way) & mask;
            let (found, child) = self.slots.get(at).copied().unwrap_or((0, 0));
            if child == 0 {
                return;
            }
            if found == tag {
                each(child);
            }
        }
    }
}
