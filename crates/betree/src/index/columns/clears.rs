//! Lists of members that a value excludes: for tests such as `not in` and `none of` over attributes with more
//! values than rows. The counters of frequency caps exclude those whose cap is reached, and entries of segments those
//! that ask for none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::edges::{Compared, Edges};
use crate::code::{Head, Op};
use crate::dictionary::Dictionary;
use crate::eval;
use crate::event::EventValues;
use crate::index::operands::points;
use crate::memory;

/// The most different tests of one counter or segment.
const TESTS_MAX: usize = 64;
/// By how many attributes that it needs a member is filed of which programs decide all parts.
const NEEDED_MAX: usize = 2;
/// What removing all members of a tile that need an attribute counts as.
const LACKING_ENTRIES: usize = 4;

/// What an event excludes members by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum By {
    /// The value of a scalar.
    #[default]
    Scalar,
    /// The elements of a list.
    Elements,
    /// Counters and segments, each with its moment, and so by the moment of the event.
    Counters,
    Segments,
}

/// The members that each value of an attribute excludes.
#[derive(Debug, Default)]
struct Excluded {
    attribute: u16,
    by: By,
    /// Values, ascending, with the range of their members; of counters and segments that of their tests.
    values: Vec<(u64, u32, u32)>,
    /// Members that need the attribute, one bit each; empty when none does.
    needed: Vec<u64>,
}

/// The members that values exclude, by attribute.
#[derive(Debug, Default)]
pub(crate) struct Clears {
    attributes: Vec<Excluded>,
    /// Tests of counters and segments: where their words begin, and the range of the members that need another outcome
    /// than that which the test has in an event without the counter or the segment.
    tests: Vec<(u32, u32, u32)>,
    words: Vec<u32>,
    /// Ascending for each value.
    members: Vec<u32>,
    /// The bounds of ranges inside of cells.
    edges: Edges,
}

/// What excludes members of an event, tile by tile.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cleared {
    /// A list of members, from one position to another.
    Listed(u32, u32),
    /// Bounds that the event's value is compared with.
    Compared(Compared),
    /// All members that need an attribute, which the event lacks, by its number here.
    Lacking(usize),
}

/// Collects the lists, member by member.
#[derive(Debug, Default)]
pub(super) struct ClearsBuilder {
    values: HashMap<(u16, u64), Vec<u32>>,
    needed: HashMap<u16, Vec<u32>>,
    kinds: BTreeMap<u16, By>,
    /// For each counter or segment of an attribute its tests, with their members.
    entries: BTreeMap<(u16, u32), Vec<Tested>>,
}

/// The words of a test, and members.
type Tested = (Box<[u32]>, Vec<u32>);

impl ClearsBuilder {
    /// Adds a test of a member. Returns false for a test that lists cannot decide.
    pub(super) fn add(&mut self, test: &[u32], member: u32) -> bool {
        let Some((head, operands)) = test.split_first() else {
            return false;
        };
        let head = Head(*head);
        let attribute = head.attribute() as u16;
        if is_of_entry(head) {
            return self.entry(test, member);
        }
        if !head.flag() {
            return false;
        }
        let values = match head.op() {
            Op::HasAny => {
                self.kinds.insert(attribute, By::Elements);
                operands.iter().map(|element| u64::from(*element)).collect()
            }
            Op::Equal32 | Op::Equal64 | Op::In | Op::InMany => {
                points(head, operands).unwrap_or_default()
            }
            _ => return false,
        };
        for value in values {
            let list = self.values.entry((attribute, value)).or_default();
            if list.last() != Some(&member) {
                list.push(member);
            }
        }
        if !head.undefined() {
            self.needed.entry(attribute).or_default().push(member);
        }
        true
    }

    /// Adds a member of which programs decide all parts, where it fails in an event without an attribute: of those that
    /// its tests need, a few that most members before it are filed by, so that there are few in all.
    pub(super) fn need<'t>(&mut self, tests: impl Iterator<Item = &'t [u32]>, member: u32) {
        let needed = tests.filter_map(|test| {
            let head = Head(*test.first()?);
            (is_of_scalar(head) && !head.undefined()).then_some(head.attribute() as u16)
        });
        let mut needed: Vec<u16> = needed.collect();
        needed.sort_unstable();
        needed.dedup();
        let filed = |attribute: &u16| self.needed.get(attribute).map_or(0, Vec::len);
        needed.sort_by_cached_key(|attribute| std::cmp::Reverse(filed(attribute)));
        for attribute in needed.into_iter().take(NEEDED_MAX) {
            self.needed.entry(attribute).or_default().push(member);
        }
    }

    /// Adds a test of a counter or a segment. Returns false when that has too many others.
    fn entry(&mut self, test: &[u32], member: u32) -> bool {
        let [head, slot, ..] = test else {
            return false;
        };
        let attribute = Head(*head).attribute() as u16;
        let by = match Head(*head).op() {
            Op::Cap => By::Counters,
            _ => By::Segments,
        };
        self.kinds.insert(attribute, by);
        let tests = self.entries.entry((attribute, *slot)).or_default();
        let is_full = tests.len() >= TESTS_MAX;
        match tests.iter_mut().find(|(words, _)| **words == *test) {
            Some((_, members)) if members.last() == Some(&member) => {}
            Some((_, members)) => members.push(member),
            None if is_full => return false,
            None => tests.push((test.into(), vec![member])),
        }
        if !Head(*head).undefined() {
            self.needed.entry(attribute).or_default().push(member);
        }
        true
    }

    /// The lists, with each member under its new number.
    pub(super) fn finish(self, edges: Edges, number: impl Fn(u32) -> u32, words: usize) -> Clears {
        let mut out = Clears {
            edges,
            ..Clears::default()
        };
        let mut values: Vec<_> = self.values.into_iter().collect();
        values.sort_unstable_by_key(|(key, _)| *key);
        let named = values.iter().map(|((attribute, _), _)| *attribute);
        let needed = self.needed.keys().chain(self.kinds.keys()).copied();
        let attributes: BTreeSet<u16> = named.chain(needed).collect();
        let mut values = values.into_iter().peekable();
        let mut entries = self.entries.into_iter().peekable();
        for attribute in attributes {
            let mut excluded = Excluded {
                attribute,
                by: self.kinds.get(&attribute).copied().unwrap_or_default(),
                ..Excluded::default()
            };
            while let Some(((_, value), members)) = values.next_if(|((at, _), _)| *at == attribute)
            {
                let (start, end) = out.list(&members, &number);
                excluded.values.push((value, start, end));
            }
            while let Some(((_, slot), tests)) = entries.next_if(|((at, _), _)| *at == attribute) {
                let first = out.tests.len() as u32;
                for (words, members) in tests {
                    let (start, end) = out.list(&members, &number);
                    out.tests.push((out.words.len() as u32, start, end));
                    out.words.extend_from_slice(&words);
                }
                let end = out.tests.len() as u32;
                excluded.values.push((u64::from(slot), first, end));
            }
            if let Some(needed) = self.needed.get(&attribute) {
                excluded.needed = vec![0; words];
                for member in needed {
                    let member = number(*member) as usize;
                    excluded.needed[member / 64] |= 1 << (member % 64);
                }
            }
            out.attributes.push(excluded);
        }
        out
    }
}

/// Whether a test compares the value of a scalar.
fn is_of_scalar(head: Head) -> bool {
    matches!(
        head.op(),
        Op::Bool
            | Op::Equal32
            | Op::Equal64
            | Op::In
            | Op::InMany
            | Op::Range32
            | Op::Range64
            | Op::FloatLess
            | Op::FloatLessEqual
            | Op::FloatGreater
            | Op::FloatGreaterEqual
            | Op::FloatEqual
    )
}

/// Whether a test is of a counter or a segment, and holds in an event without it.
fn is_of_entry(head: Head) -> bool {
    match head.op() {
        Op::Cap => !head.flag(),
        Op::SegmentWithin | Op::SegmentBefore => head.flag(),
        _ => false,
    }
}

/// Whether lists are likely to decide a test.
pub(super) fn may_decide(head: Head) -> bool {
    match head.op() {
        Op::HasAny | Op::Equal32 | Op::Equal64 | Op::In | Op::InMany => head.flag(),
        _ => is_of_entry(head),
    }
}

impl Excluded {
    /// Whether an event lacks what members need.
    fn is_missing(&self, event: &EventValues) -> bool {
        let needs_moment = matches!(self.by, By::Counters | By::Segments);
        let has_moment = !needs_moment || event.now().is_some();
        !(has_moment && event.is_defined(usize::from(self.attribute)))
    }

    fn find(&self, value: u64) -> Option<(u32, u32)> {
        let found = self
            .values
            .binary_search_by_key(&value, |(value, ..)| *value);
        let (_, start, end) = self.values.get(found.ok()?)?;
        Some((*start, *end))
    }
}

impl Clears {
    /// Adds a list of members, each under its new number. Returns where it is.
    fn list(&mut self, members: &[u32], number: impl Fn(u32) -> u32) -> (u32, u32) {
        let start = self.members.len();
        self.members
            .extend(members.iter().map(|member| number(*member)));
        self.members[start..].sort_unstable();
        (start as u32, self.members.len() as u32)
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|one| memory::of(&one.values) + memory::of(&one.needed));
        let numbers = memory::of(&self.members) + memory::of(&self.words);
        attributes.sum::<usize>() + numbers + memory::of(&self.tests) + self.edges.bytes()
    }

    /// How many attributes there are; one that has lists and bounds counts twice.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len() + self.edges.len()
    }

    /// Adds the lists of an event's values of one attribute, of at most `most` elements from `element` on. Returns
    /// the element to continue at, if any, and how many tests it evaluated.
    pub(crate) fn plan(
        &self,
        at: usize,
        (event, dictionary): (&EventValues, &Dictionary),
        element: usize,
        most: usize,
        out: &mut Vec<Cleared>,
    ) -> (Option<usize>, u64) {
        if let Some(edges) = at.checked_sub(self.attributes.len()) {
            out.extend(self.edges.plan(edges, event).map(Cleared::Compared));
            return (None, 0);
        }
        let Some(excluded) = self.attributes.get(at) else {
            return (None, 0);
        };
        if excluded.is_missing(event) {
            let is_needed = !excluded.needed.is_empty();
            out.extend(is_needed.then_some(Cleared::Lacking(at)));
            return (None, 0);
        }
        let attribute = usize::from(excluded.attribute);
        let add = |value: u64| {
            let found = excluded.find(value);
            out.extend(found.map(|(start, end)| Cleared::Listed(start, end)));
        };
        match excluded.by {
            By::Scalar => {
                [event.scalar(attribute)].into_iter().for_each(add);
                (None, 0)
            }
            By::Elements => {
                let elements = event.elements(attribute);
                let end = elements.len().min(element.saturating_add(most));
                let part = elements.get(element..end).unwrap_or(&[]);
                part.iter().map(|element| u64::from(*element)).for_each(add);
                ((end < elements.len()).then_some(end), 0)
            }
            By::Counters | By::Segments => {
                let entries = match excluded.by {
                    By::Counters => event.counters(),
                    _ => event.entered(),
                };
                let Some(slot) = entries.get(element) else {
                    return (None, 0);
                };
                let tests = excluded.find(u64::from(*slot)).unwrap_or((0, 0));
                self.plan_tests(tests, (event, dictionary), out);
                let next = Some(element + 1).filter(|next| *next < entries.len());
                (next, u64::from(tests.1 - tests.0))
            }
        }
    }

    /// Adds the lists of those tests of which an event has the outcome that excludes.
    fn plan_tests(
        &self,
        (first, end): (u32, u32),
        (event, dictionary): (&EventValues, &Dictionary),
        out: &mut Vec<Cleared>,
    ) {
        let tests = self.tests.get(first as usize..end as usize);
        for (word, start, end) in tests.unwrap_or(&[]) {
            let Some([head, operands @ ..]) = self.words.get(*word as usize..) else {
                continue;
            };
            let head = Head(*head);
            if eval::test(head, operands, event, dictionary) == Some(head.flag()) {
                out.push(Cleared::Listed(*start, *end));
            }
        }
    }

    /// Removes the members of a list from the bits of a tile, whose first member is `first`. The list goes on behind
    /// them. Returns how many entries it took, and whether the list may have more for the tile.
    pub(crate) fn apply(
        &self,
        list: &mut Cleared,
        first: usize,
        bits: &mut [u64],
    ) -> (usize, bool) {
        let (start, end) = match list {
            Cleared::Listed(start, end) => (start, *end),
            Cleared::Compared(part) => {
                return self.edges.apply(part, first, bits);
            }
            Cleared::Lacking(at) => {
                let excluded = self.attributes.get(*at);
                let needed = excluded.and_then(|one| one.needed.get(first / 64..));
                bits.iter_mut()
                    .zip(needed.unwrap_or(&[]))
                    .for_each(|(bits, needed)| *bits &= !needed);
                // As long as a few entries.
                return (LACKING_ENTRIES, false);
            }
        };
        let members = self
            .members
            .get(*start as usize..end as usize)
            .unwrap_or(&[]);
        let before = match members.first() {
            Some(member) if (*member as usize) < first => {
                members.partition_point(|member| (*member as usize) < first)
            }
            _ => 0,
        };
        let members = members.get(before..).unwrap_or(&[]);
        let mut taken = 0;
        for member in members {
            let Some(word) = bits.get_mut((*member as usize - first) / 64) else {
                break;
            };
            *word &= !(1 << (member % 64));
            taken += 1;
        }
        *start += (before + taken) as u32;
        (taken, false)
    }

    /// Whether an event whose lists are planned excludes a member.
    pub(crate) fn excludes(&self, lists: &[Cleared], member: usize) -> bool {
        lists.iter().any(|list| match list {
            Cleared::Listed(start, end) => {
                let members = self.members.get(*start as usize..*end as usize);
                let members = members.unwrap_or(&[]);
                members.binary_search(&(member as u32)).is_ok()
            }
            Cleared::Compared(part) => self.edges.excludes(part, member as u32),
            Cleared::Lacking(at) => {
                let excluded = self.attributes.get(*at);
                let word = excluded.and_then(|one| one.needed.get(member / 64));
                word.is_some_and(|word| word >> (member % 64) & 1 == 1)
            }
        })
    }
}
