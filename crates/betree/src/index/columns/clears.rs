//! Lists of members that a value excludes: for tests such as `not in` and `none of` over attributes with more
//! values than rows.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::code::{Head, Op};
use crate::event::EventValues;
use crate::index::operands::points;
use crate::memory;

/// The members that each value of an attribute excludes.
#[derive(Debug, Default)]
struct Excluded {
    attribute: u16,
    is_list: bool,
    /// Values, ascending, with the range of their members.
    values: Vec<(u64, u32, u32)>,
    /// Members that need the attribute, one bit each; empty when none does.
    needed: Vec<u64>,
}

/// The members that values exclude, by attribute.
#[derive(Debug, Default)]
pub(crate) struct Clears {
    attributes: Vec<Excluded>,
    /// Ascending for each value.
    members: Vec<u32>,
}

/// A list of members that an event excludes: from one position to another.
pub(crate) type Cleared = (u32, u32);

/// Collects the lists, member by member.
#[derive(Debug, Default)]
pub(super) struct ClearsBuilder {
    values: HashMap<(u16, u64), Vec<u32>>,
    needed: HashMap<u16, Vec<u32>>,
    lists: HashSet<u16>,
}

impl ClearsBuilder {
    /// Adds a test of a member. Returns false for a test that lists cannot decide.
    pub(super) fn add(&mut self, test: &[u32], member: u32) -> bool {
        let Some((head, operands)) = test.split_first() else {
            return false;
        };
        let head = Head(*head);
        let attribute = head.attribute() as u16;
        if !head.flag() {
            return false;
        }
        let values = match head.op() {
            Op::HasAny => {
                self.lists.insert(attribute);
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

    /// The lists, with each member under its new number.
    pub(super) fn finish(self, number: impl Fn(u32) -> u32, words: usize) -> Clears {
        let mut out = Clears::default();
        let mut values: Vec<_> = self.values.into_iter().collect();
        values.sort_unstable_by_key(|(key, _)| *key);
        let named = values.iter().map(|((attribute, _), _)| *attribute);
        let attributes: BTreeSet<u16> = named.chain(self.needed.keys().copied()).collect();
        let mut values = values.into_iter().peekable();
        for attribute in attributes {
            let mut excluded = Excluded {
                attribute,
                is_list: self.lists.contains(&attribute),
                ..Excluded::default()
            };
            while let Some(((_, value), members)) = values.next_if(|((at, _), _)| *at == attribute)
            {
                let start = out.members.len();
                out.members
                    .extend(members.iter().map(|member| number(*member)));
                out.members[start..].sort_unstable();
                let start = start as u32;
                excluded
                    .values
                    .push((value, start, out.members.len() as u32));
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

impl Clears {
    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|one| memory::of(&one.values) + memory::of(&one.needed));
        attributes.sum::<usize>() + memory::of(&self.members)
    }

    /// How many attributes there are.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Adds the lists of an event's values of one attribute, of at most `most` elements from `element` on. Returns
    /// the element to continue at, if any.
    pub(crate) fn plan(
        &self,
        at: usize,
        event: &EventValues,
        element: usize,
        most: usize,
        out: &mut Vec<Cleared>,
    ) -> Option<usize> {
        let excluded = self.attributes.get(at)?;
        let attribute = usize::from(excluded.attribute);
        if !event.is_defined(attribute) {
            return None;
        }
        let mut add = |value: u64| {
            let found = excluded
                .values
                .binary_search_by_key(&value, |(value, ..)| *value);
            if let Some((_, start, end)) = found.ok().and_then(|at| excluded.values.get(at)) {
                out.push((*start, *end));
            }
        };
        if !excluded.is_list {
            add(event.scalar(attribute));
            return None;
        }
        let elements = event.elements(attribute);
        let end = elements.len().min(element.saturating_add(most));
        for element in elements.get(element..end).unwrap_or(&[]) {
            add(u64::from(*element));
        }
        (end < elements.len()).then_some(end)
    }

    /// Removes members that need an attribute which the event lacks from the bits of a tile, whose first member is
    /// `first`. Returns how many words it took.
    pub(crate) fn apply_needs(&self, event: &EventValues, first: usize, bits: &mut [u64]) -> usize {
        let mut taken = 0;
        for excluded in &self.attributes {
            let missing = !event.is_defined(usize::from(excluded.attribute));
            if missing && !excluded.needed.is_empty() {
                let needed = excluded.needed.get(first / 64..).unwrap_or(&[]);
                bits.iter_mut()
                    .zip(needed)
                    .for_each(|(bits, needed)| *bits &= !needed);
                taken += bits.len();
            }
        }
        taken
    }

    /// Removes the members of a list from the bits of a tile, whose first member is `first`. The list goes on behind
    /// them. Returns how many entries it took.
    pub(crate) fn apply(&self, list: &mut Cleared, first: usize, bits: &mut [u64]) -> usize {
        let members = self
            .members
            .get(list.0 as usize..list.1 as usize)
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
        list.0 += (before + taken) as u32;
        taken
    }

    /// Whether an event whose lists are planned excludes a member.
    pub(crate) fn excludes(&self, event: &EventValues, lists: &[Cleared], member: usize) -> bool {
        let listed = lists.iter().any(|(start, end)| {
            let members = self
                .members
                .get(*start as usize..*end as usize)
                .unwrap_or(&[]);
            members.binary_search(&(member as u32)).is_ok()
        });
        listed
            || self.attributes.iter().any(|excluded| {
                let word = excluded.needed.get(member / 64).copied().unwrap_or(0);
                let needs = word >> (member % 64) & 1 == 1;
                needs && !event.is_defined(usize::from(excluded.attribute))
            })
    }
}
