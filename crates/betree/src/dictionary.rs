//! Numbers for names: the strings, list elements, segments and counters that expressions use.
//!
//! An event keeps only values in the dictionary. Other values cannot change any outcome, so they are neither
//! stored nor sorted.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::expr::CapKind;
use crate::numbers::Numbers;
use crate::text::{Text, is_same};

/// What a counter counts: kind, whether by address, id, namespace.
pub(crate) type CapKey = (CapKind, bool, i64, u32);

/// A string that no expression uses.
pub(crate) const UNKNOWN: u32 = i32::MAX as u32;
/// Most strings with a number of their own.
pub(crate) const STRINGS_MAX: usize = UNKNOWN as usize - 1;

/// A value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value(u16, u64);

impl Hash for Value {
    /// All of it at once.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.1 ^ u64::from(self.0).rotate_right(16));
    }
}

impl Value {
    fn parts(self) -> (u16, u64) {
        (self.0, self.1)
    }
}

/// Numbers by attribute and value, where the values are integers that lie close together: most ids do.
#[derive(Debug, Default)]
struct Dense {
    /// For each attribute the least value, and the numbers of it and of those after it.
    attributes: Vec<(u64, Vec<u32>)>,
}

/// A number that a dense table does not have.
const ABSENT: u32 = u32::MAX;
/// Places of a dense table for each value in it, at most.
const PLACES_PER_VALUE: usize = 8;
const PLACES_MIN: usize = 64;

impl Dense {
    fn new(values: &Numbers<Value>, attributes: usize) -> Self {
        let mut ranges = vec![(i64::MAX, i64::MIN, 0); attributes];
        for Value(attribute, value) in values.iter() {
            if let Some((least, most, count)) = ranges.get_mut(usize::from(*attribute)) {
                *least = (*least).min(*value as i64);
                *most = (*most).max(*value as i64);
                *count += 1;
            }
        }
        let table = |(least, most, count): &(i64, i64, usize)| {
            let places = usize::try_from(most.wrapping_sub(*least))
                .map_or(usize::MAX, |last| last.saturating_add(1));
            let most = (count * PLACES_PER_VALUE).max(PLACES_MIN);
            match *count > 0 && places <= most {
                true => (*least as u64, vec![ABSENT; places]),
                false => (0, Vec::new()),
            }
        };
        let mut attributes: Vec<_> = ranges.iter().map(table).collect();
        for (number, Value(attribute, value)) in values.iter().enumerate() {
            let place = attributes
                .get_mut(usize::from(*attribute))
                .and_then(|(least, numbers)| numbers.get_mut(value.wrapping_sub(*least) as usize));
            if let Some(place) = place {
                *place = number as u32;
            }
        }
        Self { attributes }
    }

    fn bytes(&self) -> usize {
        let places = self.attributes.iter().map(|(_, numbers)| numbers.len());
        places.sum::<usize>() * size_of::<u32>()
    }

    #[inline]
    fn find(&self, attribute: u16, value: u64) -> Option<u32> {
        let (least, numbers) = self.attributes.get(usize::from(attribute))?;
        let number = numbers.get(value.wrapping_sub(*least) as usize).copied();
        number.filter(|number| *number != ABSENT)
    }
}

/// The numbers of all names that expressions use.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    /// Changes with every addition, and never equals that of another dictionary.
    generation: u64,
    strings: Numbers<Text>,
    elements: Numbers<Value>,
    dense_elements: Arc<Dense>,
    segments: Numbers<Value>,
    dense_segments: Arc<Dense>,
    caps: Numbers<CapKey>,
    /// Values that scalars are compared with, for the bounds on their number.
    values: Numbers<Value>,
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
            strings: Numbers::default(),
            elements: Numbers::default(),
            dense_elements: Arc::default(),
            segments: Numbers::default(),
            dense_segments: Arc::default(),
            caps: Numbers::default(),
            values: Numbers::default(),
            distinct: vec![0; attributes],
            wants_text: vec![false; attributes],
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// About the memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.strings.iter().map(Text::allocated);
        texts.sum::<usize>()
            + self.strings.bytes()
            + self.elements.bytes()
            + self.segments.bytes()
            + self.caps.bytes()
            + self.values.bytes()
            + self.dense_elements.bytes()
            + self.dense_segments.bytes()
    }

    /// Whether [`Dictionary::settle`] would change anything.
    pub(crate) fn has_many_recent(&self) -> bool {
        self.strings.has_many_recent()
            || self.elements.has_many_recent()
            || self.segments.has_many_recent()
            || self.caps.has_many_recent()
            || self.values.has_many_recent()
    }

    /// Makes names that were added lately as quick to find as others, once there are enough of them. What events are read
    /// with stays the same.
    pub(crate) fn settle(&mut self) {
        self.strings.settle();
        let attributes = self.distinct.len();
        if self.elements.has_many_recent() {
            self.elements.settle();
            self.dense_elements = Arc::new(Dense::new(&self.elements, attributes));
        }
        if self.segments.has_many_recent() {
            self.segments.settle();
            self.dense_segments = Arc::new(Dense::new(&self.segments, attributes));
        }
        self.caps.settle();
        self.values.settle();
    }

    fn changed(&mut self) {
        self.generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of a string; `None` when no expression uses it.
    pub(crate) fn find_string(&self, text: &[u8]) -> Option<u32> {
        self.strings
            .find_by(text, |known| is_same(known.bytes(), text))
    }

    /// The string of a number.
    pub(crate) fn text(&self, id: u32) -> &str {
        self.strings.get(id).map_or("", Text::as_str)
    }

    /// How many strings there are.
    pub(crate) fn strings_len(&self) -> usize {
        self.strings.len()
    }

    /// All strings, by their numbers.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &str> {
        self.strings.iter().map(Text::as_str)
    }

    pub(crate) fn intern_string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.find_string(text.as_bytes()) {
            return id;
        }
        // Beyond two thousand million strings, all further ones would share a number; memory ends before.
        let id = self.strings.add(text.into());
        self.changed();
        id.min(UNKNOWN - 1)
    }

    pub(crate) fn find_element(&self, attribute: u16, value: u64) -> Option<u32> {
        self.dense_elements
            .find(attribute, value)
            .or_else(|| self.elements.find(&Value(attribute, value)))
    }

    pub(crate) fn element(&self, id: u32) -> Option<(u16, u64)> {
        self.elements.get(id).copied().map(Value::parts)
    }

    pub(crate) fn intern_element(&mut self, attribute: u16, value: u64) -> u32 {
        if let Some(id) = self.elements.find(&Value(attribute, value)) {
            return id;
        }
        let id = self.elements.add(Value(attribute, value));
        self.count(attribute);
        self.changed();
        id
    }

    /// Whether a scalar is already compared with this value.
    pub(crate) fn has_value(&self, attribute: u16, value: u64) -> bool {
        self.values.find(&Value(attribute, value)).is_some()
    }

    /// Notes that a scalar is compared with this value. This does not change how events are read.
    pub(crate) fn note_value(&mut self, attribute: u16, value: u64) {
        if !self.has_value(attribute, value) {
            self.values.add(Value(attribute, value));
            self.count(attribute);
        }
    }

    /// All values that scalars are compared with, in order.
    pub(crate) fn values(&self) -> Vec<(u16, u64)> {
        let mut values: Vec<_> = self.values.iter().copied().map(Value::parts).collect();
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
        self.dense_segments
            .find(attribute, id as u64)
            .or_else(|| self.segments.find(&Value(attribute, id as u64)))
    }

    pub(crate) fn segment(&self, slot: u32) -> Option<(u16, i64)> {
        self.segments
            .get(slot)
            .map(|known| (known.0, known.1 as i64))
    }

    pub(crate) fn intern_segment(&mut self, attribute: u16, id: i64) -> u32 {
        if let Some(slot) = self.segments.find(&Value(attribute, id as u64)) {
            return slot;
        }
        let slot = self.segments.add(Value(attribute, id as u64));
        self.changed();
        slot
    }

    pub(crate) fn find_cap(&self, key: &CapKey) -> Option<u32> {
        self.caps.find(key)
    }

    pub(crate) fn cap(&self, slot: u32) -> Option<CapKey> {
        self.caps.get(slot).copied()
    }

    pub(crate) fn intern_cap(&mut self, key: CapKey) -> u32 {
        if let Some(slot) = self.caps.find(&key) {
            return slot;
        }
        let slot = self.caps.add(key);
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

    /// How many names and values there are.
    pub(crate) fn names(&self) -> usize {
        let (elements, segments, caps) = self.sizes();
        self.strings.len() + elements + segments + caps + self.values.len()
    }

    /// How many elements, segments and counters there are.
    pub(crate) fn sizes(&self) -> (usize, usize, usize) {
        (self.elements.len(), self.segments.len(), self.caps.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_close_together_far_apart_and_added_later() {
        let mut dictionary = Dictionary::new(4);
        let edges = [i64::MIN, -1, 0, 1, i64::MAX].map(|value| value as u64);
        let close = (1_000..2_000).chain([3_000]);
        let far = (0..100).map(|at| at * 1_000_003);
        let all: Vec<(u16, u64)> = edges
            .map(|value| (0, value))
            .into_iter()
            .chain(close.map(|value| (1, value)))
            .chain(far.map(|value| (2, value)))
            .collect();
        for (number, (attribute, value)) in all.iter().enumerate() {
            assert_eq!(dictionary.find_element(*attribute, *value), None);
            let element = dictionary.intern_element(*attribute, *value);
            let segment = dictionary.intern_segment(*attribute, *value as i64);
            assert_eq!((element, segment), (number as u32, number as u32));
            if number % 7 == 0 {
                dictionary.settle();
            }
        }
        for (number, (attribute, value)) in all.iter().enumerate() {
            let found = Some(number as u32);
            assert_eq!(dictionary.find_element(*attribute, *value), found);
            assert_eq!(dictionary.find_segment(*attribute, *value as i64), found);
        }
        for (attribute, value) in [
            (0, 2),
            (1, 999),
            (1, 2_000),
            (1, 3_001),
            (2, 1),
            (3, 0),
            (9, 0),
        ] {
            assert_eq!(dictionary.find_element(attribute, value), None);
            assert_eq!(dictionary.find_segment(attribute, value as i64), None);
        }
    }
}
