//! Words of an event that guards test: one bit per cell, where a cell is a set of values of an attribute.
//!
//! A scalar sets one bit, that of the cell of its value, or the one for events without the attribute; scalars
//! with few cells share a word. A list sets the bits of its elements in one word and has the inverse of them in
//! the next. Counters set bits of several words. A guard names a word and a mask: either one of its bits must be set, or
//! none. Cells of scalars and lists of which expressions name few values are exact; others hold several values, and a
//! guard then only excludes, or only confirms: that of a negated test, or of a cap, which holds for an event without the
//! counter.

use super::asks::{Asked, Asks};
use super::columns::{Scalar, holds};
use super::counters::Counters;
use super::guard::Guard;
use super::operands::{interval, points};
use super::positions::ordered;
use crate::code::{Head, Op};
use crate::domain::{AttributeId, AttributeType, Domain};
use crate::event::{EventValues, signature};
use crate::program::arena::Arena;

/// Bits of a word.
const BITS: u32 = 64;
/// The bit of a list's word for events without the list.
const ABSENT: u64 = 1 << (BITS - 1);
/// An attribute has cells only if one in this many expressions or more test it.
const SHARE_MIN: usize = 400;
/// The most words; a power of two, so that the number of a word needs no check.
pub(crate) const WORDS_MAX: usize = 1 << 12;
/// The most nodes of a group that is evaluated for each cell.
const NODES_MAX: usize = 32;

/// The cells of an attribute.
#[derive(Debug)]
enum Cells {
    /// Each named value or interval has its own; whether all that expressions name were counted.
    Exact(Scalar, bool),
    /// Intervals between these positions.
    Between { starts: Vec<i64>, is_float: bool },
    /// By hash.
    Hashed,
    /// The elements of a list, ascending, each with its own bit.
    Elements(Vec<u32>),
    /// Elements by hash.
    HashedElements,
}

/// The place of an attribute's cells.
#[derive(Debug)]
struct Layout {
    attribute: usize,
    word: u16,
    shift: u32,
    /// How many, with the one for events without the attribute.
    count: u32,
    cells: Cells,
}

/// The words of an index.
#[derive(Debug, Default)]
pub(crate) struct CellWords {
    layouts: Vec<Layout>,
    by_attribute: Vec<Option<u32>>,
    counters: Option<Counters>,
    words: usize,
}

impl CellWords {
    /// The words for what expressions ask. `counters`: how many counters they name.
    pub(crate) fn new(asks: &Asks, domain: &Domain, counters: usize) -> Self {
        let attributes = domain.attributes();
        let mut out = Self {
            by_attribute: vec![None; attributes.len()],
            // The first word is always 0.
            words: 1,
            ..Self::default()
        };
        let tests = |at: &usize| asks.of(*at).map_or(0, |asked| asked.tests);
        let mut order: Vec<usize> = (0..attributes.len())
            .filter(|at| tests(at) > 0 && tests(at) as usize * SHARE_MIN >= asks.sampled)
            .collect();
        order.sort_by_key(|at| std::cmp::Reverse(tests(at)));
        // Words that scalars share, with the bits that are taken.
        let mut shared: Vec<(u16, u32)> = Vec::new();
        for attribute in order {
            let Some(asked) = asks.of(attribute) else {
                continue;
            };
            let kind = attributes[attribute].kind();
            let Some((cells, count)) = cells(attribute, &kind, asked) else {
                continue;
            };
            let is_list = matches!(cells, Cells::Elements(_) | Cells::HashedElements);
            let fits = |(_, taken): &&mut (u16, u32)| taken.saturating_add(count) <= BITS;
            let (word, shift) = match shared.iter_mut().find(fits).filter(|_| !is_list) {
                Some((word, taken)) => {
                    let shift = *taken;
                    *taken += count;
                    (*word, shift)
                }
                None if out.words + 2 > WORDS_MAX => continue,
                None => {
                    let word = out.words as u16;
                    out.words += if is_list { 2 } else { 1 };
                    if !is_list {
                        shared.push((word, count));
                    }
                    (word, 0)
                }
            };
            out.by_attribute[attribute] = Some(out.layouts.len() as u32);
            out.layouts.push(Layout {
                attribute,
                word,
                shift,
                count,
                cells,
            });
        }
        // The attribute that all caps ask.
        let frequency = domain.attribute("frequency_caps").map(AttributeId::index);
        if let Some(attribute) = frequency.filter(|at| asks.share(*at) * SHARE_MIN as f32 >= 1.0) {
            out.counters = Counters::new(attribute, counters, out.words..WORDS_MAX);
            out.words += out.counters.as_ref().map_or(0, Counters::len);
        }
        out
    }

    /// Keeps only attributes of which guards look at some bits, which are given by word.
    pub(super) fn keep(&mut self, used: &[u64; WORDS_MAX]) {
        self.layouts.retain(|layout| {
            let word = usize::from(layout.word);
            let own = used.get(word).copied().unwrap_or(0) & layout.all();
            let next = used.get(word + 1).copied().unwrap_or(0);
            own != 0 || layout.is_list() && next != 0
        });
        self.by_attribute = Vec::new();
        self.counters.take_if(|counters| !counters.is_used(used));
        let last = self.layouts.iter().map(|layout| usize::from(layout.word));
        // A list has two words.
        let last = last.max().map_or(1, |last| (last + 2).min(WORDS_MAX));
        let counters = self.counters.as_ref().map_or(0, Counters::end);
        self.words = last.max(counters);
    }

    /// How many words there are.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// In how many steps the bits of an event are set: one for each attribute, and one for some counters each.
    pub(crate) fn steps(&self, event: &EventValues) -> usize {
        let counters = self.counters.as_ref();
        self.layouts.len() + counters.map_or(0, |counters| counters.steps(event))
    }

    /// Sets the bits of a step; `words` are 0 before the first. Returns the reductions that it takes beyond those of a
    /// short one.
    pub(crate) fn set(&self, at: usize, event: &EventValues, words: &mut [u64]) -> u64 {
        let Some(layout) = self.layouts.get(at) else {
            let counters = self.counters.as_ref();
            let step = at - self.layouts.len();
            return counters.map_or(0, |counters| counters.set(step, event, words));
        };
        let bits = layout.bits(event);
        if let Some(word) = words.get_mut(usize::from(layout.word)) {
            *word |= bits;
        }
        if layout.is_list()
            && let Some(word) = words.get_mut(usize::from(layout.word) + 1)
        {
            *word = !bits;
        }
        0
    }

    /// The guard of a test or a group over one attribute.
    pub(crate) fn guard(&self, arena: &Arena, node: u32) -> Option<Guard> {
        let is_group = matches!(arena.nodes[node as usize].op, Op::And | Op::Or);
        if arena.nodes[node as usize].op == Op::Cap {
            return self.counters.as_ref()?.guard(arena.test(node));
        }
        let attribute = match is_group {
            true => arena.only_attribute(node, NODES_MAX)?,
            false => Head(*arena.test(node).first()?).attribute(),
        };
        let layout = self
            .layouts
            .get(self.by_attribute.get(attribute)?.as_ref().copied()? as usize)?;
        match (&layout.cells, is_group) {
            (Cells::Exact(scalar, complete), _) => {
                let leaf = (!is_group).then(|| arena.test(node));
                layout.exact((scalar, *complete), leaf, arena, node)
            }
            (_, true) => None,
            (Cells::Between { starts, is_float }, false) => {
                layout.between(starts, *is_float, arena, node)
            }
            (Cells::Hashed, false) => layout.hashed(arena, node),
            (Cells::Elements(elements), false) => layout.elements(Some(elements), arena, node),
            (Cells::HashedElements, false) => layout.elements(None, arena, node),
        }
    }
}

/// The cells of an attribute, and how many bits they take.
fn cells(attribute: usize, kind: &AttributeType, asked: &Asked) -> Option<(Cells, u32)> {
    let is_float = match kind {
        AttributeType::Float { .. } => true,
        AttributeType::Boolean
        | AttributeType::Integer { .. }
        | AttributeType::IntegerEnum { .. }
        | AttributeType::String { .. } => false,
        AttributeType::IntegerList { .. } | AttributeType::StringList { .. } => {
            let few = asked.points.len() < BITS as usize && !asked.is_partial;
            let elements = || {
                asked
                    .points
                    .iter()
                    .map(|(value, _)| *value as u32)
                    .collect()
            };
            let cells = match few {
                true => Cells::Elements(elements()),
                false => Cells::HashedElements,
            };
            return Some((cells, BITS));
        }
        AttributeType::Segments | AttributeType::Frequency => return None,
    };
    let points: Vec<i64> = asked
        .points
        .iter()
        .map(|(value, _)| *value as i64)
        .collect();
    let exact = Scalar::of(attribute, is_float, &points, &asked.cuts);
    let count = exact.cells() as u32 + 1;
    if count <= BITS {
        return Some((Cells::Exact(exact, !asked.is_partial), count));
    }
    if asked.cuts.is_empty() {
        // With fewer cells a guard excludes less, and with more it shares its word with no other.
        return Some((Cells::Hashed, BITS));
    }
    let starts = asked.quantiles(BITS as usize - 2);
    let count = starts.len() as u32 + 2;
    Some((Cells::Between { starts, is_float }, count))
}

impl Layout {
    /// The bits of an event.
    fn bits(&self, event: &EventValues) -> u64 {
        let attribute = self.attribute;
        if !event.is_defined(attribute) {
            return 1 << (self.shift + self.count - 1);
        }
        let value = event.scalar(attribute);
        match &self.cells {
            Cells::Exact(scalar, _) => 1 << (self.shift + scalar.cell(value) as u32),
            Cells::Between { starts, is_float } => {
                let value = ordered(value, *is_float);
                1 << (self.shift + starts.partition_point(|start| *start <= value) as u32)
            }
            Cells::Hashed => fold(signature(value)),
            Cells::HashedElements => fold(event.signature(attribute)),
            Cells::Elements(elements) => {
                // However long the list of the event is.
                let all = elements.iter().enumerate();
                all.fold(0, |bits, (at, element)| {
                    bits | u64::from(event.has(*element)) << at
                })
            }
        }
    }

    fn is_list(&self) -> bool {
        matches!(self.cells, Cells::Elements(_) | Cells::HashedElements)
    }

    /// All bits of the attribute.
    fn all(&self) -> u64 {
        (u64::MAX >> (BITS - self.count)) << self.shift
    }

    /// A guard that allows these cells, counted from the attribute's first.
    fn allows(&self, cells: u64, over_undefined: bool, is_exact: bool) -> Option<Guard> {
        let absent = u64::from(over_undefined) << (self.count - 1);
        let allowed = (cells | absent) << self.shift;
        let mask = self.all() & !allowed;
        Some(Guard {
            word: self.word,
            wants: false,
            mask,
            is_exact,
            confirms: false,
            pass: 1.0 - mask.count_ones() as f32 / self.count as f32,
        })
    }

    /// A guard that confirms a test which holds for events without these bits.
    fn confirms(&self, bits: u64, over_undefined: bool) -> Option<Guard> {
        let absent = u64::from(!over_undefined) << (self.count - 1);
        Some(Guard {
            word: self.word,
            wants: false,
            mask: (bits | absent) << self.shift,
            is_exact: false,
            confirms: true,
            pass: 1.0,
        })
    }

    /// All cells but the one for events without the attribute.
    fn defined(&self) -> u64 {
        (1 << (self.count - 1)) - 1
    }

    fn exact(
        &self,
        (scalar, complete): (&Scalar, bool),
        leaf: Option<&[u32]>,
        arena: &Arena,
        node: u32,
    ) -> Option<Guard> {
        if let Some([head, operands @ ..]) = leaf {
            let head = Head(*head);
            if let Some(cells) = exact_cells(scalar, head, operands) {
                let negated = self.defined() & !cells;
                let cells = if head.flag() { negated } else { cells };
                return self.allows(cells, head.undefined(), true);
            }
        }
        // A value that was not counted shares its cell with others, so the outcome for one of them says nothing.
        if !complete {
            return None;
        }
        let mut values = Vec::new();
        let mut cells = 0;
        for (at, value) in scalar.values().enumerate() {
            let Some(value) = value else {
                continue;
            };
            cells |= u64::from(holds(arena, node, Some(value), &mut values)?) << at;
        }
        let over_undefined = holds(arena, node, None, &mut values)?;
        self.allows(cells, over_undefined, true)
    }

    fn between(&self, starts: &[i64], is_float: bool, arena: &Arena, node: u32) -> Option<Guard> {
        let test = arena.test(node);
        let head = Head(*test.first()?);
        if head.flag() {
            return None;
        }
        let cell = |value: i64| starts.partition_point(|start| *start <= value);
        let begins = |value: i64| starts.binary_search(&value).is_ok();
        let (cells, is_exact) = match interval(head, &test[1..], is_float) {
            Some((low, high)) if low > high => (0, true),
            Some((low, high)) => {
                let from = low == i64::MIN || begins(low);
                let to = high.checked_add(1).is_none_or(begins);
                (run(cell(low), cell(high)), from && to)
            }
            None => {
                let points = points(head, &test[1..])?;
                let cells = points.iter().fold(0, |cells, value| {
                    cells | 1 << cell(ordered(*value, is_float))
                });
                (cells, false)
            }
        };
        self.allows(cells, head.undefined(), is_exact)
    }

    fn hashed(&self, arena: &Arena, node: u32) -> Option<Guard> {
        let test = arena.test(node);
        let head = Head(*test.first()?);
        let points = points(head, &test[1..])?;
        let cells = points
            .iter()
            .fold(0, |cells, value| cells | fold(signature(*value)));
        match head.flag() {
            false => self.allows(cells, head.undefined(), false),
            true => self.confirms(cells, head.undefined()),
        }
    }

    /// The guard of a test of a list; without `elements` they are hashed.
    fn elements(&self, elements: Option<&[u32]>, arena: &Arena, node: u32) -> Option<Guard> {
        let test = arena.test(node);
        let head = Head(*test.first()?);
        let mut mask = 0;
        for element in &test[1..] {
            mask |= match elements {
                Some(elements) => 1 << elements.binary_search(element).ok()?,
                None => fold(signature(u64::from(*element))),
            };
        }
        let is_exact = elements.is_some();
        let count = mask.count_ones() as f32;
        // The share of bits that an event has.
        let set = 0.2f32;
        let absent = if head.undefined() { ABSENT } else { 0 };
        match (head.op(), head.flag()) {
            (Op::HasAny, false) => Some(Guard {
                word: self.word,
                wants: true,
                mask: mask | absent,
                is_exact,
                confirms: false,
                pass: 1.0 - (1.0 - set).powf(count),
            }),
            // Elements share bits.
            (Op::HasAny, true) if !is_exact => self.confirms(mask, head.undefined()),
            // Without the list it is true only if undefined says so.
            (Op::HasAny, true) => Some(Guard {
                word: self.word,
                wants: false,
                mask: mask | (ABSENT ^ absent),
                is_exact,
                confirms: false,
                pass: (1.0 - set).powf(count),
            }),
            // An event without the list lacks all elements.
            (Op::HasAll, false) if !head.undefined() => Some(Guard {
                word: self.word + 1,
                wants: false,
                mask,
                is_exact,
                confirms: false,
                pass: set.powf(count),
            }),
            _ => None,
        }
    }
}

/// A signature without the bit for events without the list.
fn fold(bits: u64) -> u64 {
    (bits & !ABSENT) | (bits & ABSENT) >> 1
}

/// The bits from one position to another, both included.
fn run(first: usize, last: usize) -> u64 {
    (u64::MAX >> (63 - last.min(63))) & (u64::MAX << first.min(63))
}

/// The cells of a test for values or a range, without its negation; `None` for any other test.
fn exact_cells(scalar: &Scalar, head: Head, operands: &[u32]) -> Option<u64> {
    if let Some((low, high)) = interval(head, operands, scalar.is_float()) {
        return match low <= high {
            false => Some(0),
            true => scalar.run(low, high),
        };
    }
    let points = points(head, operands)?;
    let mut cells = points.iter().map(|value| scalar.point(*value));
    cells.try_fold(0, |cells, cell| Some(cells | 1 << cell?))
}
