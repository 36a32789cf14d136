//! A conjunction of tests, by attribute: whether an event can meet it, and whether it implies another.

use std::collections::BTreeMap;

use super::meaning::contradict;
use super::sets::Set;
use super::tests::{Says, Test};
use crate::dictionary::Dictionary;

/// What a conjunction asks of each attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Conjunction {
    asks: BTreeMap<u16, Ask>,
}

/// What a conjunction asks of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Ask {
    /// Whether an event without the attribute meets it.
    undefined: bool,
    /// Whether an event with it can meet it.
    defined: bool,
    scalar: Set,
    /// Lists of which an event has an element each.
    any: Vec<Vec<u32>>,
    /// Elements that it has, and those that it lacks.
    has: Vec<u32>,
    lacks: Vec<u32>,
    /// Lists of which it lacks an element each.
    not_all: Vec<Vec<u32>>,
    empty: Option<bool>,
    /// Other tests, and whether each holds.
    others: Vec<(Vec<u32>, bool, bool)>,
}

impl Conjunction {
    /// The conjunction of tests. `allows` tells whether an event may lack an attribute. `None` when no event meets it.
    pub(super) fn new(
        tests: &[Test],
        dictionary: &Dictionary,
        allows: impl Fn(u16) -> bool,
    ) -> Option<Self> {
        let mut asks: BTreeMap<u16, Ask> = BTreeMap::new();
        for test in tests {
            let ask = asks.entry(test.attribute);
            ask.or_insert_with(|| Ask::new(allows(test.attribute)))
                .add(test);
        }
        for ask in asks.values_mut() {
            ask.defined &= !contradict(&ask.others, &ask.scalar, dictionary);
            if !ask.settle() {
                return None;
            }
        }
        asks.retain(|attribute, ask| !ask.is_trivial(allows(*attribute)));
        Some(Self { asks })
    }

    /// Whether every event that meets it meets the other.
    pub(super) fn implies(&self, other: &Self) -> bool {
        let implied = |(attribute, asked): (&u16, &Ask)| {
            self.asks
                .get(attribute)
                .is_some_and(|own| own.implies(asked))
        };
        other.asks.iter().all(implied)
    }

    /// Whether it asks nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    /// One bit for each attribute that it asks for, by its number modulo 64. What it implies has no other bits.
    pub(super) fn mask(&self) -> u64 {
        let bits = self.asks.keys().map(|attribute| 1 << (attribute % 64));
        bits.fold(0, |mask, bit: u64| mask | bit)
    }

    /// Hulls of what it asks of two scalar attributes: what implies it asks no more of them.
    pub(super) fn hulls(&self) -> [Option<Hull>; 2] {
        let mut hulls = self.asks.iter().filter_map(|(attribute, ask)| {
            let (low, high) = ask.scalar.hull()?;
            let is_bounded = ask.defined && !ask.undefined && (low > i64::MIN || high < i64::MAX);
            is_bounded.then_some((*attribute, low, high))
        });
        [hulls.next(), hulls.next()]
    }

    /// Whether it may imply a conjunction with a hull.
    pub(super) fn is_within(&self, (attribute, low, high): Hull) -> bool {
        let own = self.asks.get(&attribute).and_then(|ask| ask.scalar.hull());
        own.is_none_or(|(least, most)| low <= least && most <= high)
    }

    /// Keys of which one is among the [`Conjunction::probes`] of each conjunction that implies this one: of several such
    /// sets that with the fewest conjunctions in the longest list, whose length `listed` tells.
    pub(super) fn keys(&self, most: usize, listed: impl Fn(&Key) -> usize) -> Vec<Key> {
        let keys = self.asks.iter().map(|(attribute, ask)| {
            let of = |values: Vec<u64>| values.into_iter().map(|value| (*attribute, Some(value)));
            match ask.values(most) {
                Some(values) => of(values).collect(),
                None => vec![(*attribute, None)],
            }
        });
        let longest = |keys: &Vec<Key>| keys.iter().map(&listed).max();
        keys.min_by_key(|keys: &Vec<Key>| {
            let is_general = keys.iter().any(|key| key.1.is_none());
            (is_general, longest(keys), keys.len())
        })
        .unwrap_or_default()
    }

    /// The keys by which what this conjunction implies is found.
    pub(super) fn probes(&self, most: usize) -> Vec<Key> {
        let mut probes = Vec::new();
        for (attribute, ask) in &self.asks {
            probes.push((*attribute, None));
            let values = ask.probe(most).into_iter();
            probes.extend(values.map(|value| (*attribute, Some(value))));
        }
        probes
    }
}

/// An attribute, and a value that a conjunction asks for.
pub(super) type Key = (u16, Option<u64>);

/// An attribute, and the least and the greatest value that a conjunction allows.
pub(super) type Hull = (u16, i64, i64);

impl Ask {
    fn new(allows: bool) -> Self {
        Self {
            undefined: allows,
            defined: true,
            scalar: Set::all(),
            any: Vec::new(),
            has: Vec::new(),
            lacks: Vec::new(),
            not_all: Vec::new(),
            empty: None,
            others: Vec::new(),
        }
    }

    fn add(&mut self, test: &Test) {
        self.undefined &= test.undefined;
        match &test.says {
            Says::Scalar(set) => self.scalar = self.scalar.intersection(set),
            Says::Any(true, list) => self.any.push(list.clone()),
            Says::Any(false, list) => self.lacks.extend(list),
            Says::All(true, list) => self.has.extend(list),
            Says::All(false, list) => self.not_all.push(list.clone()),
            Says::Empty(holds) => {
                self.defined &= self.empty != Some(!holds);
                self.empty = Some(*holds);
            }
            Says::Fixed(holds) => self.defined &= holds,
            Says::Other(holds, words) => {
                // A test and its opposite both hold only where an attribute is not defined that it needs.
                let opposite = (words.clone(), !holds, test.undefined);
                let is_opposite = |known: &(Vec<u32>, bool, bool)| {
                    (&known.0, known.1) == (&opposite.0, opposite.1) && !(known.2 && test.undefined)
                };
                self.defined &= !self.others.iter().any(is_opposite);
                self.others.push((words.clone(), *holds, test.undefined));
            }
        }
    }

    /// Brings it to one form. Returns false when no event meets it.
    fn settle(&mut self) -> bool {
        self.lists();
        self.defined &= !self.scalar.is_empty();
        if !self.defined {
            // What it asks of defined attributes does not matter.
            let undefined = self.undefined;
            *self = Self {
                undefined,
                defined: false,
                ..Self::new(undefined)
            };
        }
        self.others.sort_unstable();
        self.others.dedup();
        self.undefined || self.defined
    }

    /// Draws what follows from each other of what it asks of lists.
    fn lists(&mut self) {
        loop {
            sort(&mut self.has);
            sort(&mut self.lacks);
            let before = (self.has.len(), self.lacks.len());
            let (has, lacks) = (&mut self.has, &mut self.lacks);
            self.any
                .retain(|list| !list.iter().any(|element| has.contains(element)));
            for list in &mut self.any {
                list.retain(|element| !lacks.contains(element));
                if let [only] = list.as_slice() {
                    has.push(*only);
                }
            }
            self.not_all
                .retain(|list| !list.iter().any(|element| lacks.contains(element)));
            for list in &mut self.not_all {
                list.retain(|element| !has.contains(element));
                if let [only] = list.as_slice() {
                    lacks.push(*only);
                }
            }
            sort(has);
            sort(lacks);
            if (has.len(), lacks.len()) == before {
                break;
            }
        }
        let clash = self.has.iter().any(|element| self.lacks.contains(element));
        let none_left = self.any.iter().chain(&self.not_all).any(Vec::is_empty);
        let asks_elements = !self.has.is_empty() || !self.any.is_empty();
        let is_odd = self.empty == Some(true) && asks_elements;
        self.defined &= !(clash || none_left || is_odd);
        if self.empty == Some(false) && asks_elements {
            self.empty = None;
        }
        if self.empty == Some(true) {
            self.lacks.clear();
            self.not_all.clear();
        }
        for lists in [&mut self.any, &mut self.not_all] {
            lists.sort_unstable();
            lists.dedup();
            let all = lists.clone();
            lists.retain(|list| {
                let is_within = |other: &Vec<u32>| other != list && is_part(other, list);
                !all.iter().any(is_within)
            });
        }
    }

    /// Whether every event meets it.
    fn is_trivial(&self, allows: bool) -> bool {
        *self == Self::new(allows)
    }

    fn implies(&self, other: &Self) -> bool {
        let lists = |own: &[Vec<u32>], elements: &[u32], asked: &Vec<u32>| {
            own.iter().any(|list| is_part(list, asked))
                || asked.iter().any(|element| elements.contains(element))
        };
        let is_empty = self.empty == Some(true);
        let has_any = !self.has.is_empty() || !self.any.is_empty();
        let empty = match other.empty {
            None => true,
            Some(true) => is_empty,
            Some(false) => self.empty == Some(false) || has_any,
        };
        let defined = || {
            other.defined
                && self.scalar.is_subset(&other.scalar)
                && other
                    .any
                    .iter()
                    .all(|asked| lists(&self.any, &self.has, asked))
                && is_part(&other.has, &self.has)
                && (is_empty || is_part(&other.lacks, &self.lacks))
                && (is_empty
                    || other
                        .not_all
                        .iter()
                        .all(|asked| lists(&self.not_all, &self.lacks, asked)))
                && empty
                && other.others.iter().all(|asked| self.others.contains(asked))
        };
        (other.undefined || !self.undefined) && (!self.defined || defined())
    }

    /// The values of which an event has one, if it must and if they are few.
    fn values(&self, most: usize) -> Option<Vec<u64>> {
        if self.undefined {
            return None;
        }
        let element = |element: &u32| u64::from(*element);
        if let Some(first) = self.has.first() {
            return Some(vec![element(first)]);
        }
        if let Some(list) = self.any.iter().min_by_key(|list| list.len()) {
            return Some(list.iter().map(element).collect());
        }
        let values = self.scalar.few(most).filter(|values| !values.is_empty());
        values.map(|values| values.into_iter().map(|value| value as u64).collect())
    }

    /// Values of which one is among the [`Ask::values`] of what this implies, if that has any.
    fn probe(&self, most: usize) -> Vec<u64> {
        if self.undefined {
            return Vec::new();
        }
        let mut values: Vec<u64> = self.has.iter().map(|element| u64::from(*element)).collect();
        for list in &self.any {
            values.extend(list.iter().map(|element| u64::from(*element)).take(1));
        }
        let scalar = self.scalar.few(most).unwrap_or_default();
        values.extend(scalar.first().map(|value| *value as u64));
        values
    }
}

fn sort(elements: &mut Vec<u32>) {
    elements.sort_unstable();
    elements.dedup();
}

/// Whether all elements are among others.
fn is_part(elements: &[u32], all: &[u32]) -> bool {
    elements.iter().all(|element| all.contains(element))
}
