//! Drops the names that no expression uses any more, when all expressions are compiled again.
//!
//! A dictionary only grows while a tree changes, for its numbers stand in the words of expressions and in indexes. Here
//! the words of expressions get the numbers of a new dictionary, which has only the names that they use.

use crate::code::{Head, Op, u64_at};
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};

/// A name without a new number yet.
const NONE: u32 = u32::MAX;

/// A new dictionary, and the new numbers of names by those of an old one.
#[derive(Debug)]
pub(crate) struct Renewed {
    dictionary: Dictionary,
    strings: Vec<u32>,
    elements: Vec<u32>,
    segments: Vec<u32>,
    counters: Vec<u32>,
}

impl Renewed {
    /// Without any names but those that [`Renewed::keep`] keeps.
    pub(crate) fn new(old: &Dictionary, domain: &Domain) -> Self {
        let mut out = Self {
            dictionary: Dictionary::new(domain.attributes().len()),
            strings: Vec::new(),
            elements: Vec::new(),
            segments: Vec::new(),
            counters: Vec::new(),
        };
        out.keep(old, domain);
        out
    }

    /// Keeps all names of attributes that may have a bounded number of values: which expressions are refused must not
    /// depend on when names were dropped.
    pub(crate) fn keep(&mut self, old: &Dictionary, domain: &Domain) {
        let all = domain.attributes().iter();
        let bounded: Vec<bool> = all.map(|one| is_bounded(&one.kind())).collect();
        if !bounded.contains(&true) {
            return;
        }
        let is_kept = |attribute: u16| bounded.get(usize::from(attribute)) == Some(&true);
        let (elements, ..) = old.sizes();
        for number in 0..elements as u32 {
            if old.element(number).is_some_and(|(of, _)| is_kept(of)) {
                self.element(old, domain, number);
            }
        }
        let values = old.values().into_iter();
        for (attribute, value) in values.filter(|(attribute, _)| is_kept(*attribute)) {
            let value = match is_text(domain, usize::from(attribute)) {
                true => u64::from(self.string(old, value as u32)),
                false => value,
            };
            self.dictionary.note_value(attribute, value);
        }
    }

    /// The new dictionary.
    pub(crate) fn into_dictionary(mut self) -> Dictionary {
        self.dictionary.settle();
        self.dictionary
    }

    /// The new dictionary so far.
    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Gives new numbers to all names in the words of trees.
    pub(crate) fn renumber(&mut self, old: &Dictionary, domain: &Domain, words: &mut [u32]) {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let head = Head(*word);
            let first = words.get(at + 1).copied().unwrap_or(0);
            let end = at + 1 + head.operands(first);
            if let Some(operands) = words.get_mut(at + 1..end) {
                self.test(old, domain, head, operands);
            }
            at = end;
        }
    }

    fn test(&mut self, old: &Dictionary, domain: &Domain, head: Head, operands: &mut [u32]) {
        let attribute = head.attribute();
        match head.op() {
            Op::Equal32 | Op::In => {
                if is_text(domain, attribute) {
                    for number in &mut *operands {
                        *number = self.string(old, *number);
                    }
                    operands.sort_unstable();
                }
                for value in operands {
                    let value = i64::from(*value as i32) as u64;
                    self.dictionary.note_value(attribute as u16, value);
                }
            }
            Op::Equal64 => {
                let value = u64_at(operands, 0);
                self.dictionary.note_value(attribute as u16, value);
            }
            Op::InMany => {
                let (values, _) = operands
                    .get_mut(1..)
                    .unwrap_or(&mut [])
                    .as_chunks_mut::<2>();
                if is_text(domain, attribute) {
                    // Numbers of texts have 32 bits.
                    for [number, _] in &mut *values {
                        *number = self.string(old, *number);
                    }
                    values.sort_unstable();
                }
                for value in values {
                    let value = u64_at(value, 0);
                    self.dictionary.note_value(attribute as u16, value);
                }
            }
            Op::HasAny | Op::HasAll => {
                for number in &mut *operands {
                    *number = self.element(old, domain, *number);
                }
                operands.sort_unstable();
            }
            Op::Contains | Op::StartsWith | Op::EndsWith => {
                self.dictionary.want_text(attribute as u16);
                if let Some(number) = operands.first_mut() {
                    *number = self.string(old, *number);
                }
            }
            Op::SegmentWithin | Op::SegmentBefore => {
                if let Some(number) = operands.first_mut() {
                    *number = self.segment(old, *number);
                }
            }
            Op::Cap => {
                if let Some(number) = operands.first_mut() {
                    *number = self.counter(old, *number);
                }
            }
            _ => {}
        }
    }

    fn string(&mut self, old: &Dictionary, number: u32) -> u32 {
        let known = place(&mut self.strings, number);
        if *known == NONE {
            *known = self.dictionary.intern_string(old.text(number));
        }
        *known
    }

    fn element(&mut self, old: &Dictionary, domain: &Domain, number: u32) -> u32 {
        let known = *place(&mut self.elements, number);
        if known != NONE {
            return known;
        }
        let (attribute, value) = old.element(number).unwrap_or_default();
        let value = match is_text(domain, usize::from(attribute)) {
            true => u64::from(self.string(old, value as u32)),
            false => value,
        };
        let fresh = self.dictionary.intern_element(attribute, value);
        *place(&mut self.elements, number) = fresh;
        fresh
    }

    fn segment(&mut self, old: &Dictionary, number: u32) -> u32 {
        let known = place(&mut self.segments, number);
        if *known == NONE {
            let (attribute, id) = old.segment(number).unwrap_or_default();
            *known = self.dictionary.intern_segment(attribute, id);
        }
        *known
    }

    fn counter(&mut self, old: &Dictionary, number: u32) -> u32 {
        let known = *place(&mut self.counters, number);
        let Some((kind, by_address, id, namespace)) = old.cap(number).filter(|_| known == NONE)
        else {
            return known;
        };
        let namespace = self.string(old, namespace);
        let key = (kind, by_address, id, namespace);
        let fresh = self.dictionary.intern_cap(key);
        *place(&mut self.counters, number) = fresh;
        fresh
    }
}

fn is_bounded(kind: &AttributeType) -> bool {
    match kind {
        AttributeType::String { distinct_max }
        | AttributeType::StringList { distinct_max }
        | AttributeType::IntegerEnum { distinct_max } => *distinct_max < u64::MAX,
        _ => false,
    }
}

/// Whether values of an attribute are numbers of texts.
fn is_text(domain: &Domain, attribute: usize) -> bool {
    let kind = domain.attributes().get(attribute).map(|one| one.kind());
    matches!(
        kind,
        Some(AttributeType::String { .. } | AttributeType::StringList { .. })
    )
}

/// The place of a number, made where there is none yet.
fn place(numbers: &mut Vec<u32>, number: u32) -> &mut u32 {
    let at = number as usize;
    if numbers.len() <= at {
        numbers.resize(at + 1, NONE);
    }
    &mut numbers[at]
}
