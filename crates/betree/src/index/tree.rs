//! The tree over access clauses: a node divides its units by dimension, a part clusters them by key.
//!
//! Below the root, a long list of units is divided again where looking up an event's keys costs less than testing
//! the units. All edges are in one hash table, from (node, key) to a node. It holds whole keys, so an event visits
//! a unit only by a key that it has, and parts which that key implies need no test.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::access::{Clause, Clauses};
use super::cells::WORDS_MAX;
use super::cost::{ITEM_NS, PROGRAM_NS, best_guards};
use super::dimension::{Dimension, Key};
use super::windows::PatternKey;
use crate::memory;

/// A node with at most this many units is not divided.
const LEAF_MAX: usize = 128;
/// Most dimensions on a path from the root.
const DEPTH_MAX: usize = 4;
/// Most places of one unit.
const COPIES_MAX: u32 = 64;
/// Nanoseconds of a look-up, and how many look-ups a list takes.
const PROBE_NS: f32 = 120.0;
const LIST_PROBES: f32 = 16.0;
/// The same of the patterns that a text has.
const TEXT_PROBES: f32 = 4.0;

/// Items that match as soon as their guards pass.
const EXACT: u32 = 1 << 31;
/// The bit of a guard's word that says that a bit must be set.
const WANTS: u16 = 1 << 15;

/// A unit in a node, with two guards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    masks: [u64; 2],
    words: [u16; 2],
    /// The unit, or the slot of one that the guards decide; and whether they do.
    target: u32,
}

impl Item {
    /// Whether the guards pass.
    #[inline(always)]
    pub(crate) fn passes(&self, words: &[u64; WORDS_MAX]) -> bool {
        let one = |at: usize| {
            let word = words[usize::from(self.words[at]) % WORDS_MAX];
            let found = word & self.masks[at] != 0;
            found == (self.words[at] & WANTS != 0)
        };
        one(0) & one(1)
    }

    /// The unit; the slot of its expression, if the guards decide it.
    #[inline(always)]
    pub(crate) fn target(&self) -> u32 {
        self.target & !EXACT
    }

    /// The words that the guards test, with the bits that they look at.
    fn guards(&self) -> impl Iterator<Item = (usize, u64)> {
        let words = self.words.map(|word| usize::from(word) % WORDS_MAX);
        words.into_iter().zip(self.masks)
    }

    /// Whether guards that pass decide that the unit holds.
    #[inline(always)]
    pub(crate) fn is_exact(&self) -> bool {
        self.target & EXACT != 0
    }
}

/// A node: its items, and the dimensions of its edges.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) items: (u32, u32),
    pub(crate) parts: (u32, u32),
}

/// The index of all units with a clause.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) items: Vec<Item>,
    parts: Vec<Dimension>,
    edges: Edges,
    /// Random for each tree, so that an attacker cannot choose colliding values.
    seed: u64,
}

impl Tree {
    /// The dimensions of a node's edges.
    #[inline]
    pub(crate) fn parts(&self, node: &Node) -> &[Dimension] {
        let (start, end) = node.parts;
        self.parts.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// The items of a node.
    #[inline]
    pub(crate) fn items(&self, node: &Node) -> &[Item] {
        let (start, end) = node.items;
        self.items.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// The units of all items, in the order of nodes, before [`Tree::finish`].
    pub(crate) fn units(&self) -> impl Iterator<Item = u32> {
        self.items.iter().map(Item::target)
    }

    /// Lets items that the guards decide name the slot in place of the unit. Returns the bits that guards look at, by
    /// word.
    pub(crate) fn finish(&mut self, slot: impl Fn(u32) -> u32) -> [u64; WORDS_MAX] {
        let mut used = [0; WORDS_MAX];
        for item in &mut self.items {
            item.guards().for_each(|(word, mask)| used[word] |= mask);
            if item.is_exact() {
                item.target = slot(item.target()) | EXACT;
            }
        }
        used
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        memory::of(&self.nodes)
            + memory::of(&self.items)
            + memory::of(&self.parts)
            + memory::of(&self.edges.slots)
    }

    /// The node for a key, if there is one.
    #[inline]
    pub(crate) fn child(&self, node: u32, key: Key) -> Option<u32> {
        self.edges.find(hash(self.seed, node, key), node, key)
    }

    /// All patterns that are keys, some more than once.
    pub(crate) fn patterns(&self) -> Vec<PatternKey> {
        let edges = self.edges.slots.iter().filter(|edge| edge.child != 0);
        edges
            .filter_map(|edge| Dimension::pattern(edge.dimension, edge.value))
            .collect()
    }

    /// For each node the greatest value of its expressions and of those below it, by the slots of units and by the
    /// values of slots.
    pub(crate) fn greatest(&self, slot: impl Fn(u32) -> u32, of: impl Fn(u32) -> i64) -> Vec<i64> {
        let value = |item: &Item| match item.is_exact() {
            true => of(item.target()),
            false => of(slot(item.target())),
        };
        let own = |node: &Node| {
            let items = self.items(node).iter();
            items.map(value).max().unwrap_or(i64::MIN)
        };
        let mut greatest: Vec<i64> = self.nodes.iter().map(own).collect();
        let mut parents = vec![0; self.nodes.len()];
        for edge in self.edges.slots.iter().filter(|edge| edge.child != 0) {
            if let Some(parent) = parents.get_mut(edge.child as usize) {
                *parent = edge.node as usize;
            }
        }
        // A node comes after its parent.
        for child in (1..greatest.len()).rev() {
            let parent = parents[child];
            greatest[parent] = greatest[parent].max(greatest[child]);
        }
        greatest
    }

    /// Builds the tree over all units.
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
        if clauses.len() == 0 {
            return builder.tree;
        }
        let all = (0..clauses.len() as u32).map(|unit| Work {
            unit,
            copies: 1,
            implied: 0,
        });
        builder.tree.nodes.push(Node::default());
        builder.due.push((0, all.collect(), Vec::new()));
        while let Some((node, work, used)) = builder.due.pop() {
            builder.node(node, work, &used);
        }
        let mut tree = builder.tree;
        tree.edges = Edges::new(tree.seed, builder.edges);
        tree.items.shrink_to_fit();
        tree.nodes.shrink_to_fit();
        tree.parts.shrink_to_fit();
        tree
    }
}

/// A unit on its way down.
#[derive(Debug, Clone, Copy)]
struct Work {
    unit: u32,
    /// Places that it is in so far.
    copies: u32,
    /// Parts that the way implies.
    implied: u64,
}

struct Builder<'c> {
    clauses: &'c Clauses,
    tree: Tree,
    edges: Vec<(u32, Key, u32)>,
    due: Vec<(u32, Vec<Work>, Vec<Dimension>)>,
}

impl Builder<'_> {
    fn node(&mut self, node: u32, work: Vec<Work>, used: &[Dimension]) {
        let is_root = used.is_empty();
        let mut here: Vec<Work> = Vec::new();
        // The dimension of each part; units with keys of several come by each of them.
        let mut placed: Vec<(Key, Work)> = Vec::new();
        if !is_root && (work.len() <= LEAF_MAX || used.len() >= DEPTH_MAX) {
            here = work;
        } else {
            let mut wanted: Vec<(Option<Dimension>, Work, Clause)> = Vec::new();
            for one in work {
                match self.best(one, used) {
                    None => here.push(one),
                    Some(clause) => wanted.push((clause.dimension, one, *clause)),
                }
            }
            wanted.sort_by_key(|(dimension, work, _)| (*dimension, work.unit));
            for part in wanted.chunk_by(|a, b| a.0 == b.0) {
                if !is_root && !self.is_worth_it(part) {
                    here.extend(part.iter().map(|(_, work, _)| *work));
                    continue;
                }
                for (_, work, clause) in part {
                    let keys = self.clauses.keys(clause);
                    let copies = work.copies * keys.len() as u32;
                    placed.extend(keys.iter().map(|(key, implies)| {
                        let implied = if *implies { clause.parts } else { 0 };
                        let implied = work.implied | implied;
                        let work = Work {
                            copies,
                            implied,
                            ..*work
                        };
                        (*key, work)
                    }));
                }
            }
        }
        placed.sort_unstable_by_key(|(key, work)| (*key, work.unit));
        let parts = self.tree.parts.len() as u32;
        for part in placed.chunk_by(|a, b| a.0.0 == b.0.0) {
            let dimension = part[0].0.0;
            self.tree.parts.push(dimension);
            let mut used = used.to_vec();
            used.push(dimension);
            for cluster in part.chunk_by(|a, b| a.0 == b.0) {
                let child = self.tree.nodes.len() as u32;
                self.tree.nodes.push(Node::default());
                self.edges.push((node, cluster[0].0, child));
                let work = cluster.iter().map(|(_, work)| *work).collect();
                self.due.push((child, work, used.clone()));
            }
        }
        let items = self.tree.items.len() as u32;
        for work in here {
            let (item, _) = self.item(work);
            self.tree.items.push(item);
        }
        self.tree.nodes[node as usize] = Node {
            items: (items, self.tree.items.len() as u32),
            parts: (parts, self.tree.parts.len() as u32),
        };
    }

    /// Whether looking up keys costs less than testing the units of a part.
    fn is_worth_it(&self, part: &[(Option<Dimension>, Work, Clause)]) -> bool {
        let probes = match part.first().and_then(|(dimension, ..)| *dimension) {
            Some(Dimension::Value(_) | Dimension::Segment) => LIST_PROBES,
            Some(Dimension::Text(..)) => TEXT_PROBES,
            _ => 1.0,
        };
        let saved = part.iter().map(|(_, work, clause)| {
            let (_, pass) = self.item(*work);
            (1.0 - clause.probability) * (ITEM_NS + pass * PROGRAM_NS / 4.0)
        });
        saved.sum::<f32>() > probes * PROBE_NS
    }

    /// The clause by which a unit is placed.
    fn best(&self, work: Work, used: &[Dimension]) -> Option<&Clause> {
        let fits = |clause: &&Clause| {
            let keys = self.clauses.keys(clause).len() as u32;
            let fresh = match clause.dimension {
                None => used.is_empty(),
                Some(dimension) => !used.contains(&dimension),
            };
            fresh && (used.is_empty() || work.copies * keys <= COPIES_MAX)
        };
        let clauses = self.clauses.of(work.unit).iter().filter(fits);
        clauses.min_by(|a, b| a.probability.total_cmp(&b.probability))
    }

    /// An item with the two best guards that its place does not imply, and the share of events that pass them.
    fn item(&self, work: Work) -> (Item, f32) {
        let guards = best_guards(self.clauses, work.unit, work.implied);
        let exact = guards.iter().filter(|(_, guard)| guard.is_exact);
        let decided = exact.fold(work.implied, |bits, (guard, _)| bits | guard);
        let parts = self.clauses.parts(work.unit);
        let is_exact = parts != 0 && decided & parts == parts;
        let guard = |at: usize| guards.get(at).map(|(_, guard)| guard);
        let word = |at| guard(at).map_or(0, |g| g.word | if g.wants { WANTS } else { 0 });
        let item = Item {
            masks: [0, 1].map(|at| guard(at).map_or(0, |guard| guard.mask)),
            words: [0, 1].map(word),
            target: work.unit | if is_exact { EXACT } else { 0 },
        };
        (item, guards.iter().map(|(_, guard)| guard.pass).product())
    }
}

fn hash(seed: u64, node: u32, (dimension, value): Key) -> u64 {
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
struct Edge {
    value: u64,
    node: u32,
    dimension: u32,
    /// The node that it leads to; 0, the root, has no parent.
    child: u32,
}

/// A hash table that is filled once.
#[derive(Debug, Default)]
struct Edges {
    slots: Vec<Edge>,
    /// The longest distance of an entry from its slot.
    reach: u32,
}

impl Edges {
    fn new(seed: u64, edges: Vec<(u32, Key, u32)>) -> Self {
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

    #[inline]
    fn find(&self, hash: u64, node: u32, (dimension, value): Key) -> Option<u32> {
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
