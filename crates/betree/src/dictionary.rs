//! Numbers for names: the strings, list elements, segments and counters that expressions use.
//!
//! An event keeps only values in the dictionary. Other values cannot change any outcome, so they are neither
//! stored nor sorted.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::expr::CapKind;

/// What a counter counts: kind, whether by address, id, namespace.
pub(crate) type CapKey = (CapKind, bool, i64, u32);

/// A string that no expression uses.
pub(crate) const UNKNOWN: u32 = i32::MAX as u32;
/// Most strings with a number of their own.
pub(crate) const STRINGS_MAX: usize = UNKNOWN as usize - 1;

/// The numbers of all names that expressions use.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    /// Changes with every addition, and never equals that of another dictionary.
    generation: u64,
    strings: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    elements: HashMap<(u16, u64), u32>,
    element_keys: Vec<(u16, u64)>,
    segments: HashMap<(u16, i64), u32>,
    segment_keys: Vec<(u16, i64)>,
    caps: HashMap<CapKey, u32>,
    cap_keys: Vec<CapKey>,
    /// Values that scalars are compared with, for the bounds on their number.
    values: HashSet<(u16, u64)>,
    /// How many values and elements each attribute has.
    distinct: Vec<u32>,
    /// Attributes whose whole text is needed.
    wants_text: Vec<bool>,
}

static GENERATIONS: AtomicU64 = AtomicU64::new(1);

impl Dictionary {
    pub(crate) fn new(attributes: usize) -> Self {
        Self {
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            strings: HashMap::new(),
            texts: Vec::new(),
            elements: HashMap::new(),
            element_keys: Vec::new(),
            segments: HashMap::new(),
            segment_keys: Vec::new(),
            caps: HashMap::new(),
            cap_keys: Vec::new(),
            values: HashSet::new(),
            distinct: vec![0; attributes],
            wants_text: vec![false; attributes],
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    fn changed(&mut self) {
        self.generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of a string; `None` when no expression uses it.
    pub(crate) fn find_string(&self, text: &str) -> Option<u32> {
        self.strings.get(text).copied()
    }

    /// The string of a number.
    pub(crate) fn text(&self, id: u32) -> &str {
        self.texts.get(id as usize).map_or("", |text| text)
    }

    /// All strings, by their numbers.
    pub(crate) fn strings(&self) -> &[Box<str>] {
        &self.texts
    }

    pub(crate) fn intern_string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        // Beyond two thousand million strings, all further ones would share a number; memory ends before.
        let id = (self.texts.len() as u32).min(UNKNOWN - 1);
        self.strings.insert(text.into(), id);
        self.texts.push(text.into());
        self.changed();
        id
    }

    pub(crate) fn find_element(&self, attribute: u16, value: u64) -> Option<u32> {
        self.elements.get(&(attribute, value)).copied()
    }

    pub(crate) fn element(&self, id: u32) -> Option<(u16, u64)> {
        self.element_keys.get(id as usize).copied()
    }

    pub(crate) fn intern_element(&mut self, attribute: u16, value: u64) -> u32 {
        if let Some(id) = self.elements.get(&(attribute, value)) {
            return *id;
        }
        let id = self.element_keys.len() as u32;
        self.elements.insert((attribute, value), id);
        self.element_keys.push((attribute, value));
        self.count(attribute);
        self.changed();
        id
    }

    /// Whether a scalar is already compared with this value.
    pub(crate) fn has_value(&self, attribute: u16, value: u64) -> bool {
        self.values.contains(&(attribute, value))
    }

    /// Notes that a scalar is compared with this value. This does not change how events are read.
    pub(crate) fn note_value(&mut self, attribute: u16, value: u64) {
        if self.values.insert((attribute, value)) {
            self.count(attribute);
        }
    }

    /// All values that scalars are compared with, in order.
    pub(crate) fn values(&self) -> Vec<(u16, u64)> {
        let mut values: Vec<_> = self.values.iter().copied().collect();
        values.sort_unstable();
        values
    }

    fn count(&mut self, attribute: u16) {
        if let Some(count) = self.distinct.get_mut(usize::from(attribute)) {
            *count += 1;
        }
    }

    /// How many distinct values expressions use.
    pub(crate) fn distinct(&self, attribute: usize) -> u32 {
        self.distinct.get(attribute).copied().unwrap_or(0)
    }

    pub(crate) fn find_segment(&self, attribute: u16, id: i64) -> Option<u32> {
        self.segments.get(&(attribute, id)).copied()
    }

    pub(crate) fn segment(&self, slot: u32) -> Option<(u16, i64)> {
        self.segment_keys.get(slot as usize).copied()
    }

    pub(crate) fn intern_segment(&mut self, attribute: u16, id: i64) -> u32 {
        if let Some(slot) = self.segments.get(&(attribute, id)) {
            return *slot;
        }
        let slot = self.segment_keys.len() as u32;
        self.segments.insert((attribute, id), slot);
        self.segment_keys.push((attribute, id));
        self.changed();
        slot
    }

    pub(crate) fn find_cap(&self, key: &CapKey) -> Option<u32> {
        self.caps.get(key).copied()
    }

    pub(crate) fn cap(&self, slot: u32) -> Option<CapKey> {
        self.cap_keys.get(slot as usize).copied()
    }

    pub(crate) fn intern_cap(&mut self, key: CapKey) -> u32 {
        if let Some(slot) = self.caps.get(&key) {
            return *slot;
        }
        let slot = self.cap_keys.len() as u32;
        self.caps.insert(key, slot);
        self.cap_keys.push(key);
        self.changed();
        slot
    }

    /// Whether the whole text of an attribute is needed.
    pub(crate) fn wants_text(&self, attribute: usize) -> bool {
        self.wants_text.get(attribute).copied().unwrap_or(false)
    }

    pub(crate) fn want_text(&mut self, attribute: u16) {
        if let Some(wanted) = self.wants_text.get_mut(usize::from(attribute))
            && !*wanted
        {
            *wanted = true;
            self.changed();
        }
    }

    /// How many elements, segments and counters there are.
    pub(crate) fn sizes(&self) -> (usize, usize, usize) {
        (
            self.element_keys.len(),
            self.segment_keys.len(),
            self.cap_keys.len(),
        )
    }
}
