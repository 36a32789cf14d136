//! The tree over access clauses: a node divides its units by dimension, a part clusters them by key.
//!
//! Below the root, a long list of units is divided again where looking up an event's keys costs less than testing
//! the units. All edges are in one hash table, from (node, key) to a node. It holds whole keys, so an event visits
//! a unit only by a key that it has, and parts which that key implies need no test.
//!
//! Units with many keys are not in nodes. The root finds them by [`postings`]. Nor are units of several lists, which
//! are found by [`counted`].

use std::hash::{BuildHasher, Hasher, RandomState};

use super::access::{Clause, Clauses, Listed};
use super::cells::WORDS_MAX;
use super::cost::{ITEM_NS, PROGRAM_NS, best_guards, confirming};
use super::counted::Counted;
use super::dimension::{Dimension, Key};
use super::edges::{Edges, hash};
use super::item::{CONFIRMS, EXACT, Item, WANTS};
use super::postings::Postings;
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
    /// Units with many keys.
    postings: Postings,
    /// Units of several lists.
    counted: Counted,
    /// Random for each tree, so that an attacker cannot choose colliding values.
    seed: u64,
}

impl Tree {
    /// A node, or a list of postings as one.
    #[inline]
    pub(crate) fn node(&self, node: u32) -> Option<Node> {
        let found = self.nodes.get(node as usize).copied();
        found.or_else(|| {
            let items = self.postings.list(self.list(node)?)?;
            Some(Node {
                items,
                parts: (0, 0),
            })
        })
    }

    /// The number of the list of postings that a node is; `None` for any other node.
    #[inline]
    pub(crate) fn list(&self, node: u32) -> Option<u32> {
        node.checked_sub(self.nodes.len() as u32)
    }

    /// The items of a list of postings.
    #[inline]
    pub(crate) fn postings(&self, node: &Node) -> &[u32] {
        let (start, end) = node.items;
        self.postings.range(start, end)
    }

    /// The item of a posting.
    #[inline]
    pub(crate) fn posting(&self, posting: u32) -> Option<&Item> {
        self.postings.items.get(posting as usize)
    }

    /// The units that are found by counting.
    #[inline]
    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Whether a unit with many keys or several lists is found by them, and not by a node.
    pub(super) fn is_apart(&self, clauses: &Clauses, unit: u32) -> bool {
        match clauses.several(unit) {
            Some(_) => !self.counted.is_empty(),
            None => clauses.long(unit).is_some() && !self.postings.items.is_empty(),
        }
    }

    /// Whether a part of a node has postings.
    #[inline]
    pub(crate) fn has_postings(&self, node: u32, part: u32) -> bool {
        node == 0 && self.postings.has(part)
    }

    /// The list of postings for a value of a part of the root.
    #[inline]
    pub(crate) fn find_postings(&self, part: u32, value: u64) -> Option<u32> {
        let list = self.postings.find(part, value)?;
        Some(self.nodes.len() as u32 + list)
    }

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
        let listed = self.postings.items.iter().chain(&self.counted.items);
        self.items.iter().chain(listed).map(Item::target)
    }

    /// Lets items that the guards decide name the slot in place of the unit. Returns the bits that guards look at, by
    /// word.
    pub(crate) fn finish(&mut self, slot: impl Fn(u32) -> u32) -> [u64; WORDS_MAX] {
        let mut used = [0; WORDS_MAX];
        let listed = self
            .postings
            .items
            .iter_mut()
            .chain(&mut self.counted.items);
        for item in self.items.iter_mut().chain(listed) {
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
            + self.postings.bytes()
            + self.counted.bytes()
    }

    /// The node for a key, if there is one.
    #[inline]
    pub(crate) fn child(&self, node: u32, key: Key) -> Option<u32> {
        self.edges.find(hash(self.seed, node, key), node, key)
    }

    /// All patterns that are keys, some more than once. Those of postings are given once.
    pub(crate) fn take_patterns(&mut self) -> Vec<PatternKey> {
        let mut out = self.postings.take_patterns();
        let edges = self.edges.keys();
        out.extend(edges.filter_map(|(dimension, value)| Dimension::pattern(dimension, value)));
        out
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
        let listed = self.postings.items.iter().map(value).max();
        if let (Some(root), Some(listed)) = (greatest.first_mut(), listed) {
            *root = listed.max(*root);
        }
        // A node comes after its parent.
        for child in (1..greatest.len()).rev() {
            let parent = parents[child];
            greatest[parent] = greatest[parent].max(greatest[child]);
        }
        greatest
    }

    /// Builds the tree over all units.
    pub(crate) fn build(clauses: &mut Clauses) -> Self {
        let mut listed = std::mem::take(&mut clauses.listed);
        let counted = std::mem::take(&mut clauses.counted);
        let clauses = &*clauses;
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
        let has_lists = listed.are_worth_it();
        let has_counted = counted.are_worth_it();
        let is_apart = |unit: &u32| match clauses.several(*unit) {
            Some(_) => has_counted,
            None => has_lists && clauses.long(*unit).is_some(),
        };
        let all = (0..clauses.len() as u32)
            .filter(|unit| !is_apart(unit))
            .map(|unit| Work::new(unit, 0));
        builder.tree.nodes.push(Node::default());
        builder.due.push((0, all.collect(), Vec::new()));
        while let Some((node, work, used)) = builder.due.pop() {
            builder.node(node, work, &used);
        }
        if has_lists {
            builder.postings(&mut listed);
        }
        if has_counted {
            let items = counted.units.iter().map(|unit| builder.apart(*unit));
            let items = items.collect();
            builder.tree.counted = Counted::new(counted, items);
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

impl Work {
    fn new(unit: u32, implied: u64) -> Self {
        Self {
            unit,
            copies: 1,
            implied,
        }
    }
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

    /// The item of a unit that is in no node.
    fn apart(&self, unit: u32) -> Item {
        let implied = self.clauses.implied(unit);
        self.item(Work::new(unit, implied)).0
    }

    /// Lets the root find units with many keys. Its parts are then those with postings and those with edges.
    fn postings(&mut self, listed: &mut Listed) {
        let items = listed.units.iter().map(|unit| self.apart(*unit));
        let items = items.collect();
        let tree = &mut self.tree;
        let (start, end) = tree.nodes[0].parts;
        let mut parts = tree.parts[start as usize..end as usize].to_vec();
        let fresh = listed.keys.keys().filter(|one| !parts.contains(one));
        let fresh: Vec<Dimension> = fresh.copied().collect();
        parts.extend(fresh);
        tree.postings = Postings::new(tree.seed, items, &parts, &mut listed.keys);
        let start = tree.parts.len() as u32;
        tree.parts.extend(parts);
        tree.nodes[0].parts = (start, tree.parts.len() as u32);
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
        let all = self.clauses.guards(work.unit);
        let guards = best_guards(all, work.implied);
        let exact = guards.iter().filter(|(_, guard)| guard.is_exact);
        let decided = exact.fold(work.implied, |bits, (guard, _)| bits | guard);
        let parts = self.clauses.parts(work.unit);
        let is_exact = parts != 0 && decided & parts == parts;
        let guard = |at: usize| guards.get(at).map(|(_, guard)| guard);
        let word = |at| guard(at).map_or(0, |g| g.word | if g.wants { WANTS } else { 0 });
        let mut item = Item {
            masks: [0, 1].map(|at| guard(at).map_or(0, |guard| guard.mask)),
            words: [0, 1].map(word),
            target: work.unit | if is_exact { EXACT } else { 0 },
        };
        if !is_exact
            && parts != 0
            && guards.len() < 2
            && let Some((word, mask)) = confirming(all, parts & !decided)
        {
            (item.words[1], item.masks[1]) = (word | CONFIRMS, mask);
        }
        (item, guards.iter().map(|(_, guard)| guard.pass).product())
    }
}
