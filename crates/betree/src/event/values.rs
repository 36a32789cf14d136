//! The values of an event, by attribute.

use crate::dictionary::Dictionary;

/// An event, read for one state of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The generation of the dictionary that it was read with.
    pub(crate) generation: u64,
    pub(super) defined: Vec<u64>,
    /// Booleans, integers, the bits of floats, numbers of strings, lengths of lists.
    pub(super) scalars: Vec<u64>,
    /// For each attribute one bit per value, chosen by hash.
    pub(super) signatures: Vec<u64>,
    /// The range of each list in `elements`.
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) elements: Vec<u32>,
    /// One bit per element.
    pub(super) has: Vec<u64>,
    pub(super) text: String,
    pub(super) texts: Vec<(u32, u32)>,
    /// The seconds at which segments were entered.
    pub(super) segments: Vec<Option<i64>>,
    /// The segments that were entered.
    pub(super) entered: Vec<u32>,
    /// Counts and seconds of counters.
    pub(super) caps: Vec<Option<(i64, i64)>>,
    pub(super) now: Option<i64>,
}

/// The bit of a value in a signature.
#[inline]
pub(crate) fn signature(value: u64) -> u64 {
    1 << (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

impl Event {
    pub(crate) fn new(attributes: usize, dictionary: &Dictionary) -> Self {
        let (elements, segments, caps) = dictionary.sizes();
        Self {
            generation: dictionary.generation(),
            defined: vec![0; attributes.div_ceil(64)],
            scalars: vec![0; attributes],
            signatures: vec![0; attributes],
            ranges: vec![(0, 0); attributes],
            elements: Vec::new(),
            has: vec![0; elements.div_ceil(64)],
            text: String::new(),
            texts: vec![(0, 0); attributes],
            segments: vec![None; segments],
            entered: Vec::new(),
            caps: vec![None; caps],
            now: None,
        }
    }

    #[inline]
    pub(crate) fn is_defined(&self, attribute: usize) -> bool {
        let word = self.defined.get(attribute / 64).copied().unwrap_or(0);
        word >> (attribute % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn scalar(&self, attribute: usize) -> u64 {
        self.scalars.get(attribute).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn signature(&self, attribute: usize) -> u64 {
        self.signatures.get(attribute).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn has(&self, element: u32) -> bool {
        let word = self.has.get(element as usize / 64).copied().unwrap_or(0);
        word >> (element % 64) & 1 == 1
    }

    /// The elements of a list that some expression uses.
    pub(crate) fn elements(&self, attribute: usize) -> &[u32] {
        let (start, end) = self.ranges.get(attribute).copied().unwrap_or((0, 0));
        self.elements
            .get(start as usize..end as usize)
            .unwrap_or(&[])
    }

    pub(crate) fn text(&self, attribute: usize) -> &str {
        let (start, end) = self.texts.get(attribute).copied().unwrap_or((0, 0));
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    pub(crate) fn segment(&self, slot: u32) -> Option<i64> {
        self.segments.get(slot as usize).copied().flatten()
    }

    /// The segments that were entered, by their slots.
    pub(crate) fn entered(&self) -> &[u32] {
        &self.entered
    }

    pub(super) fn enter_segment(&mut self, slot: u32, second: i64) {
        if let Some(place @ None) = self.segments.get_mut(slot as usize) {
            *place = Some(second);
            self.entered.push(slot);
        }
    }

    pub(crate) fn cap(&self, slot: u32) -> Option<(i64, i64)> {
        self.caps.get(slot as usize).copied().flatten()
    }

    pub(crate) fn now(&self) -> Option<i64> {
        self.now
    }

    pub(super) fn define(&mut self, attribute: usize) {
        self.defined[attribute / 64] |= 1 << (attribute % 64);
    }

    pub(super) fn set_scalar(&mut self, attribute: usize, value: u64) {
        self.define(attribute);
        self.scalars[attribute] = value;
        self.signatures[attribute] |= signature(value);
    }

    /// Keeps the text of an attribute. Returns false when all texts together are too long.
    pub(super) fn set_text(&mut self, attribute: usize, text: &str) -> bool {
        let start = u32::try_from(self.text.len());
        let end = u32::try_from(self.text.len() + text.len());
        let (Ok(start), Ok(end)) = (start, end) else {
            return false;
        };
        self.text.push_str(text);
        self.texts[attribute] = (start, end);
        true
    }

    pub(super) fn open_list(&mut self, attribute: usize) {
        self.define(attribute);
        let start = self.elements.len() as u32;
        self.ranges[attribute] = (start, start);
    }

    /// Adds an element to the list that was opened last; `None` is one that no expression uses.
    pub(super) fn add_element(&mut self, attribute: usize, element: Option<u32>) {
        self.scalars[attribute] += 1;
        let Some(element) = element.filter(|element| !self.has(*element)) else {
            return;
        };
        self.has[element as usize / 64] |= 1 << (element % 64);
        self.elements.push(element);
        self.ranges[attribute].1 += 1;
        self.signatures[attribute] |= signature(u64::from(element));
    }
}
