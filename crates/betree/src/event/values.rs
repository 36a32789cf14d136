//! The values of an event, by attribute.

use super::order::Order;
use super::sparse::Sparse;
use crate::dictionary::Dictionary;

/// What an event has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventValues {
    /// The generation of the dictionary that it was read with.
    pub(crate) generation: u64,
    pub(super) defined: Vec<u64>,
    /// Attributes that were named, with null too.
    pub(super) seen: Vec<u64>,
    pub(super) order: Order,
    /// By attribute.
    values: Vec<Value>,
    /// The elements of lists that some expression uses.
    elements: Vec<u32>,
    /// One bit per element.
    has: Vec<u64>,
    text: String,
    /// The seconds at which segments were entered.
    segments: Sparse<i64>,
    /// Counts and seconds of counters.
    caps: Sparse<(i64, i64)>,
    pub(super) now: Option<i64>,
}

/// The value of an attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Value {
    /// A boolean, an integer, the bits of a float, the number of a string, the length of a list.
    scalar: u64,
    /// One bit per value, chosen by hash.
    signature: u64,
    /// The range of a list in `elements`.
    range: (u32, u32),
    /// The range of a text in `text`.
    text: (u32, u32),
}

/// The bit of a value in a signature.
#[inline]
pub(crate) fn signature(value: u64) -> u64 {
    1 << (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

impl EventValues {
    pub(crate) fn new(attributes: usize, dictionary: &Dictionary) -> Self {
        let (elements, segments, caps) = dictionary.sizes();
        Self {
            generation: dictionary.generation(),
            defined: vec![0; attributes.div_ceil(64)],
            seen: vec![0; attributes.div_ceil(64)],
            order: Order::default(),
            values: vec![Value::default(); attributes],
            elements: Vec::new(),
            has: vec![0; elements.div_ceil(64)],
            text: String::new(),
            segments: Sparse::new(segments),
            caps: Sparse::new(caps),
            now: None,
        }
    }

    /// Removes the values and keeps their memory, if it is of the same attributes and names. The work is in proportion to
    /// the values that there were.
    pub(super) fn clear(&mut self, attributes: usize, dictionary: &Dictionary) {
        if self.generation != dictionary.generation() || self.values.len() != attributes {
            *self = Self::new(attributes, dictionary);
            return;
        }
        for (at, word) in self.defined.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                let attribute = at * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.values[attribute] = Value::default();
            }
        }
        self.seen.fill(0);
        self.order.restart(attributes);
        for element in self.elements.drain(..) {
            self.has[element as usize / 64] = 0;
        }
        self.text.clear();
        self.segments.clear();
        self.caps.clear();
        self.now = None;
    }

    #[inline]
    pub(crate) fn is_defined(&self, attribute: usize) -> bool {
        let word = self.defined.get(attribute / 64).copied().unwrap_or(0);
        word >> (attribute % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn scalar(&self, attribute: usize) -> u64 {
        self.values.get(attribute).map_or(0, |value| value.scalar)
    }

    #[inline]
    pub(crate) fn signature(&self, attribute: usize) -> u64 {
        self.values
            .get(attribute)
            .map_or(0, |value| value.signature)
    }

    #[inline]
    pub(crate) fn has(&self, element: u32) -> bool {
        let word = self.has.get(element as usize / 64).copied().unwrap_or(0);
        word >> (element % 64) & 1 == 1
    }

    fn value(&self, attribute: usize) -> Value {
        self.values.get(attribute).copied().unwrap_or_default()
    }

    /// The elements of a list that some expression uses.
    pub(crate) fn elements(&self, attribute: usize) -> &[u32] {
        let (start, end) = self.value(attribute).range;
        self.elements
            .get(start as usize..end as usize)
            .unwrap_or(&[])
    }

    pub(crate) fn text(&self, attribute: usize) -> &str {
        let (start, end) = self.value(attribute).text;
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    pub(crate) fn segment(&self, slot: u32) -> Option<i64> {
        self.segments.get(slot)
    }

    /// The segments that were entered, by their slots.
    pub(crate) fn entered(&self) -> &[u32] {
        self.segments.numbers()
    }

    pub(super) fn enter_segment(&mut self, slot: u32, second: i64) {
        self.segments.insert(slot, second);
    }

    /// The counters that have a value, by their slots.
    pub(crate) fn counters(&self) -> &[u32] {
        self.caps.numbers()
    }

    /// Keeps the value of a counter and the second of its time. Of several values the first counts.
    pub(super) fn count(&mut self, slot: u32, value: i64, second: i64) {
        self.caps.insert(slot, (value, second));
    }

    pub(crate) fn cap(&self, slot: u32) -> Option<(i64, i64)> {
        self.caps.get(slot)
    }

    pub(crate) fn now(&self) -> Option<i64> {
        self.now
    }

    pub(super) fn is_seen(&self, attribute: usize) -> bool {
        let word = self.seen.get(attribute / 64).copied().unwrap_or(0);
        word >> (attribute % 64) & 1 == 1
    }

    /// Notes that an attribute was named. Returns false when it was named before.
    pub(super) fn see(&mut self, attribute: usize) -> bool {
        let word = &mut self.seen[attribute / 64];
        let bit = 1 << (attribute % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(super) fn define(&mut self, attribute: usize) {
        self.defined[attribute / 64] |= 1 << (attribute % 64);
    }

    pub(super) fn set_scalar(&mut self, attribute: usize, value: u64) {
        self.define(attribute);
        let place = &mut self.values[attribute];
        place.scalar = value;
        place.signature |= signature(value);
    }

    /// Keeps the text of an attribute. Returns false when all texts together are too long.
    pub(super) fn set_text(&mut self, attribute: usize, text: &str) -> bool {
        let start = u32::try_from(self.text.len());
        let end = u32::try_from(self.text.len() + text.len());
        let (Ok(start), Ok(end)) = (start, end) else {
            return false;
        };
        self.text.push_str(text);
        self.values[attribute].text = (start, end);
        true
    }

    pub(super) fn open_list(&mut self, attribute: usize) {
        self.define(attribute);
        let start = self.elements.len() as u32;
        self.values[attribute].range = (start, start);
    }

    /// Adds an element to the list that was opened last; `None` is one that no expression uses.
    pub(super) fn add_element(&mut self, attribute: usize, element: Option<u32>) {
        let place = &mut self.values[attribute];
        place.scalar += 1;
        let Some(element) = element else {
            return;
        };
        let Some(word) = self.has.get_mut(element as usize / 64) else {
            return;
        };
        let bit = 1 << (element % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.elements.push(element);
            place.range.1 += 1;
            place.signature |= signature(u64::from(element));
        }
    }
}
