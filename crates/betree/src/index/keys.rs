//! Keys of tests and groups: which of them an event must have, and the share of events that do.

use super::dimension::{Dimension, Key};
use super::geo;
use super::known::Known;
use super::operands::points;
use super::ranges::{Cells, collect_range, range, ranges};
use super::texts::position;
use crate::code::{HAS_MAX, Head, Op};
use crate::domain::AttributeType;
use crate::expr::Position;
use crate::program::arena::{Arena, ROOT};

/// The most keys of a clause in the nodes of the tree.
pub(super) const KEYS_MAX: usize = 64;
/// Many keys are taken in place of few only if that many times less events have one.
pub(super) const MANY_WEIGHT: f32 = 2.0;

/// The candidate clause of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) probability: f32,
    keys: u32,
    /// The child of a conjunction that it comes from.
    pick: u32,
}

/// The clauses that the nodes of an arena would give.
#[derive(Debug, Default)]
pub(super) struct Found {
    nodes: Vec<Option<Access>>,
}

impl Found {
    /// What a node would give.
    pub(super) fn of(&self, node: u32) -> Option<Access> {
        self.nodes.get(node as usize).copied().flatten()
    }

    /// Computes what each node of an arena would give.
    pub(super) fn weigh(&mut self, arena: &Arena, known: &Known<'_>) {
        self.nodes.clear();
        self.nodes.resize(arena.nodes.len(), None);
        for index in (0..arena.nodes.len() as u32).rev() {
            let children = || arena.children(index).iter();
            self.nodes[index as usize] = match arena.nodes[index as usize].op {
                Op::And => {
                    // The ranges of a whole expression are clauses of their own.
                    let is_inner = index != ROOT;
                    let ranges = is_inner.then(|| ranges(arena, arena.children(index), known));
                    let ranged = ranges.into_iter().flatten().filter_map(|range| {
                        let cells = known.cells_of(range.attribute, range.interval)?;
                        Some((Access::of_cells(&cells), range.node))
                    });
                    children()
                        .filter_map(|child| Some((self.of(*child)?, *child)))
                        .chain(ranged)
                        .min_by(|a, b| a.0.weight().total_cmp(&b.0.weight()))
                        .map(|(access, pick)| Access { pick, ..access })
                }
                Op::Or => children().try_fold(Access::NONE, |sum, child| {
                    let ranged = || {
                        let (attribute, interval) = range(arena, *child, known)?;
                        Some(Access::of_cells(&known.cells_of(attribute, interval)?))
                    };
                    let access = self.of(*child).or_else(ranged)?;
                    Some(sum.plus(access))
                }),
                Op::True | Op::False => None,
                _ => leaf(arena, index, known),
            };
        }
    }

    /// The keys of a node, each with whether it implies the node.
    pub(super) fn collect(
        &self,
        arena: &Arena,
        node: u32,
        known: &Known<'_>,
        out: &mut Vec<(Key, bool)>,
    ) {
        // A key says nothing about the other parts of a conjunction.
        let mut due = vec![(node, true)];
        while let Some((index, implies)) = due.pop() {
            match arena.nodes[index as usize].op {
                Op::And => {
                    let pick = self.of(index).map(|access| access.pick);
                    let Some(pick) = pick else {
                        continue;
                    };
                    match range(arena, pick, known) {
                        None => due.push((pick, false)),
                        Some((attribute, _)) => {
                            let all = ranges(arena, arena.children(index), known);
                            let same = all.into_iter().find(|range| range.attribute == attribute);
                            let interval = same.map(|range| range.interval);
                            collect_range(known, attribute, interval, false, out);
                        }
                    }
                }
                Op::Or => due.extend(arena.children(index).iter().map(|child| (*child, implies))),
                _ => match range(arena, index, known) {
                    None => collect_leaf(arena, index, implies, known, out),
                    Some((attribute, interval)) => {
                        collect_range(known, attribute, Some(interval), implies, out);
                    }
                },
            }
        }
    }

    /// Whether a node holds as soon as the event has one of some elements of lists.
    pub(super) fn is_list(&self, arena: &Arena, node: u32) -> bool {
        let first = node as usize;
        self.of(node).is_some()
            && (first..arena.end(node)).all(|at| match arena.nodes[at].op {
                Op::Or => true,
                Op::And => false,
                _ => leaf_elements(arena, at as u32).is_some(),
            })
    }

    /// These elements, each with its attribute.
    pub(super) fn elements(arena: &Arena, node: u32, mut add: impl FnMut(u16, u32)) {
        for at in node..arena.end(node) as u32 {
            if let Some((attribute, elements)) = leaf_elements(arena, at) {
                elements.iter().for_each(|element| add(attribute, *element));
            }
        }
    }

    /// Whether any key of a node implies it.
    pub(super) fn implies(&self, arena: &Arena, node: u32) -> bool {
        let mut due = vec![node];
        while let Some(index) = due.pop() {
            match arena.nodes[index as usize].op {
                Op::Or => due.extend_from_slice(arena.children(index)),
                Op::And => return false,
                _ if !leaf_implies(arena, index) => return false,
                _ => {}
            }
        }
        true
    }
}

/// The list attribute and the elements of a test that holds as soon as the event has one of them.
fn leaf_elements(arena: &Arena, index: u32) -> Option<(u16, &[u32])> {
    let [head, operands @ ..] = arena.test(index) else {
        return None;
    };
    let head = Head(*head);
    let is_any = match head.op() {
        Op::HasAny => true,
        Op::HasAll => head.len() == 1,
        _ => false,
    };
    (is_any && !head.flag()).then_some((head.attribute() as u16, operands))
}

/// Whether each key of a test implies it.
fn leaf_implies(arena: &Arena, index: u32) -> bool {
    let head = Head(arena.test(index)[0]);
    match head.op() {
        Op::HasAll => head.len() == 1,
        Op::Geo | Op::SegmentWithin | Op::SegmentBefore => false,
        // A cell may reach beyond a range.
        Op::Range32 | Op::Range64 => false,
        Op::FloatLess | Op::FloatLessEqual | Op::FloatGreater => false,
        Op::FloatGreaterEqual | Op::FloatEqual => false,
        _ => true,
    }
}

/// Appends the keys of a test.
fn collect_leaf(
    arena: &Arena,
    index: u32,
    implies: bool,
    known: &Known<'_>,
    out: &mut Vec<(Key, bool)>,
) {
    let implies = implies && leaf_implies(arena, index);
    let test = arena.test(index);
    let (head, operands) = (Head(test[0]), &test[1..]);
    let attribute = head.attribute() as u16;
    let dimension = Dimension::Value(attribute);
    match head.op() {
        // All elements must be there, so any one of them is enough as a key.
        Op::HasAll => {
            let share = |e: &&u32| known.key(head.attribute(), u64::from(**e));
            let rarest = operands.iter().min_by(|a, b| share(a).total_cmp(&share(b)));
            let element = rarest.copied().unwrap_or(0);
            out.push(((dimension, u64::from(element)), implies));
        }
        Op::HasAny => {
            let keys = operands
                .iter()
                .map(|e| ((dimension, u64::from(*e)), implies));
            out.extend(keys);
        }
        Op::Geo => {
            let (level, cells) = geo::cells(operands).unwrap_or_default();
            let keys = cells
                .iter()
                .map(|cell| ((Dimension::Place(level), *cell), implies));
            out.extend(keys);
            // A place that is not on the map meets every radius here.
            out.push(((Dimension::Place(level), geo::ANYWHERE), implies));
        }
        Op::SegmentWithin | Op::SegmentBefore => {
            let slot = operands.first().copied().unwrap_or(0);
            out.push(((Dimension::Segment, u64::from(slot)), implies));
        }
        Op::Contains | Op::StartsWith | Op::EndsWith => {
            let at = position(head.op()).unwrap_or(Position::Anywhere);
            let string = operands.first().copied().unwrap_or(0);
            out.push(((Dimension::Text(attribute, at), u64::from(string)), implies));
        }
        _ => {
            let points = points(head, operands).unwrap_or_default();
            let keys = points
                .into_iter()
                .map(|value| ((dimension, value), implies));
            out.extend(keys);
        }
    }
}

impl Access {
    const NONE: Self = Self {
        probability: 0.0,
        keys: 0,
        pick: 0,
    };

    /// This number of keys, one of which this share of events has.
    pub(super) fn new(probability: f32, keys: usize) -> Self {
        Self {
            probability,
            keys: keys as u32,
            pick: 0,
        }
    }

    /// The keys of a range.
    fn of_cells(cells: &Cells) -> Self {
        Self::new(cells.share, cells.cells.len())
    }

    /// A group has few keys for each of its words, so keys need no bound.
    fn plus(self, other: Self) -> Self {
        Self {
            probability: self.probability + other.probability,
            keys: self.keys.saturating_add(other.keys),
            pick: 0,
        }
    }

    /// Whether these are too many keys for the nodes of the tree.
    pub(super) fn is_long(&self) -> bool {
        self.keys as usize > KEYS_MAX
    }

    /// The share of events, more for many keys.
    pub(super) fn weight(&self) -> f32 {
        self.probability * if self.is_long() { MANY_WEIGHT } else { 1.0 }
    }

    /// How many keys there are.
    pub(super) fn keys(&self) -> usize {
        self.keys as usize
    }
}

impl Known<'_> {
    /// The share of events that have a value of an attribute: half from how many values there are, half from how
    /// often expressions ask for it, because what is asked for often is frequent.
    fn key(&self, attribute: usize, value: u64) -> f32 {
        self.keys(attribute, [value])
    }

    /// The sum of that over several values.
    fn keys<V: IntoIterator<Item = u64>>(&self, attribute: usize, values: V) -> f32
    where
        V::IntoIter: ExactSizeIterator,
    {
        let values = values.into_iter();
        let uniform = self.estimates.value(attribute) * values.len() as f32;
        let asked = self.asks.of(attribute);
        let asked = asked.map_or(0.0, |asked| asked.share(values));
        let several = match self.domain.attributes().get(attribute).map(|a| a.kind()) {
            Some(AttributeType::IntegerList { .. } | AttributeType::StringList { .. }) => {
                crate::program::estimate::LIST_ELEMENTS
            }
            _ => 1.0,
        };
        (uniform + several * asked) / 2.0
    }
}

/// The clause of a test. A test that is true for an undefined attribute has none.
fn leaf(arena: &Arena, index: u32, known: &Known<'_>) -> Option<Access> {
    let test = arena.test(index);
    let (head, operands) = (Head(*test.first()?), &test[1..]);
    if head.flag() || head.undefined() {
        return None;
    }
    let attribute = head.attribute();
    let (keys, probability) = match head.op() {
        Op::Bool => (1, 0.5),
        Op::HasAll => {
            let elements = operands.iter().map(|e| u64::from(*e));
            (
                1,
                elements
                    .map(|e| known.key(attribute, e))
                    .fold(1.0, f32::min),
            )
        }
        Op::HasAny => {
            let count = head.len().min(HAS_MAX);
            let elements = operands.iter().map(|e| u64::from(*e));
            (count, known.keys(attribute, elements))
        }
        Op::Equal32 | Op::Equal64 | Op::In | Op::InMany => {
            let points = points(head, operands)?;
            (points.len(), known.keys(attribute, points))
        }
        Op::Geo => {
            let (level, cells) = geo::cells(operands)?;
            (cells.len() + 1, geo::share(level, cells.len()))
        }
        Op::SegmentWithin | Op::SegmentBefore => (1, 0.02),
        op => {
            let at = position(op)?;
            let string = *operands.first()?;
            let length = known.dictionary.text(string).len();
            let key = (attribute as u16, at, string);
            (1, known.asks.pattern(key, length)?)
        }
    };
    Some(Access {
        probability: probability.min(1.0),
        keys: keys as u32,
        pick: 0,
    })
}
