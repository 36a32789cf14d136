//! What an event has for a test, in words.

use super::words::{Words, float};
use crate::code::{Head, Op, i64_at, u64_at};
use crate::domain::{Attribute, AttributeType};
use crate::eval;
use crate::event::EventValues;
use crate::expr::escaped;
use crate::state::State;

/// Most characters of a text that are shown.
const TEXT_MAX: usize = 60;
/// What caps and segments are compared with.
const NOW: &str = "now";

/// The name of what the event lacks for a test to be defined, if it lacks anything.
pub(super) fn lacks<'s>(
    state: &'s State,
    head: Head,
    operands: &[u32],
    event: &EventValues,
) -> Option<&'s str> {
    let name = |attribute: usize| {
        state
            .domain
            .attributes()
            .get(attribute)
            .map(Attribute::name)
    };
    let attribute = head.attribute();
    if !event.is_defined(attribute) {
        return name(attribute);
    }
    match head.op() {
        Op::SegmentWithin | Op::SegmentBefore | Op::Cap if event.now().is_none() => Some(NOW),
        Op::Geo => {
            let longitude = operands.first().copied().unwrap_or(0) as usize;
            let is_missing = !event.is_defined(longitude);
            is_missing.then(|| name(longitude)).flatten()
        }
        _ => None,
    }
}

/// What the event has for a test.
pub(super) fn has(state: &State, head: Head, operands: &[u32], event: &EventValues) -> String {
    if let Some(name) = lacks(state, head, operands, event) {
        return format!("the event lacks {name}");
    }
    let asked = Asked {
        state,
        words: Words::new(state, head, operands),
        operands,
        attribute: head.attribute(),
        event,
    };
    match head.op() {
        Op::HasAny | Op::HasAll => asked.elements(head.op()),
        Op::Geo => asked.distance(),
        Op::SegmentWithin | Op::SegmentBefore => asked.segment(),
        Op::Cap => asked.counter(),
        _ => format!("the event has {}", asked.value()),
    }
}

struct Asked<'a> {
    state: &'a State,
    words: Words<'a>,
    operands: &'a [u32],
    attribute: usize,
    event: &'a EventValues,
}

impl Asked<'_> {
    /// The value of the attribute.
    fn value(&self) -> String {
        let scalar = self.event.scalar(self.attribute);
        let attribute = self.state.domain.attributes().get(self.attribute);
        match attribute.map(Attribute::kind) {
            Some(AttributeType::Boolean) => (scalar != 0).to_string(),
            Some(AttributeType::Float { .. }) => float(f64::from_bits(scalar)),
            Some(AttributeType::String { .. }) => self.text(scalar),
            Some(AttributeType::IntegerList { .. } | AttributeType::StringList { .. }) => {
                self.list()
            }
            Some(AttributeType::Segments | AttributeType::Frequency) => match scalar {
                1 => "1 entry".to_owned(),
                count => format!("{count} entries"),
            },
            _ => self.words.value(scalar as i64),
        }
    }

    fn text(&self, number: u64) -> String {
        let dictionary = &self.state.dictionary;
        let text = match dictionary.wants_text(self.attribute) {
            true => self.event.text(self.attribute),
            // An event keeps no text that is only compared with others.
            false if number >= dictionary.strings_len() as u64 => {
                return "a string that no expression has".to_owned();
            }
            false => dictionary.text(number as u32),
        };
        let mut shown: String = text.chars().take(TEXT_MAX).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        escaped(&shown)
    }

    /// The list of the event. Of elements that no expression has it keeps only their number.
    fn list(&self) -> String {
        let known = self.event.elements(self.attribute);
        match (self.event.scalar(self.attribute), known) {
            (0, _) => "an empty list".to_owned(),
            (_, []) => "only elements that no expression has".to_owned(),
            (count, known) if count == known.len() as u64 => self.words.elements(known),
            (count, known) => format!("{} among {count} elements", self.words.elements(known)),
        }
    }

    /// The elements that decide whether the event has any, or all, of some.
    fn elements(&self, op: Op) -> String {
        let some = |wanted: bool| -> Vec<u32> {
            let elements = self.operands.iter().copied();
            elements
                .filter(|element| self.event.has(*element) == wanted)
                .collect()
        };
        let (found, missing) = (some(true), some(false));
        match op {
            Op::HasAll if !missing.is_empty() => {
                format!("the event lacks {}", self.words.elements(&missing))
            }
            _ if !found.is_empty() => format!("the event has {}", self.words.elements(&found)),
            _ => format!("the event has {}", self.list()),
        }
    }

    fn distance(&self) -> String {
        let longitude = self.operands.first().copied().unwrap_or(0) as usize;
        let own = [self.attribute, longitude].map(|at| f64::from_bits(self.event.scalar(at)));
        let center = [1, 3].map(|at| f64::from_bits(u64_at(self.operands, at)));
        let distance = eval::distance_km((own[0], own[1]), (center[0], center[1]));
        let [latitude, longitude] = own.map(float);
        format!("the event is at {latitude}, {longitude}: {distance:.3} km away")
    }

    fn segment(&self) -> String {
        let slot = self.operands.first().copied().unwrap_or(0);
        match self.event.segment(slot) {
            Some(stamp) => format!("the event entered it {}", self.age(stamp)),
            None => "the event lacks the segment".to_owned(),
        }
    }

    fn counter(&self) -> String {
        let slot = self.operands.first().copied().unwrap_or(0);
        match self.event.cap(slot) {
            Some((count, stamp)) => {
                let cap = i64_at(self.operands, 1);
                format!("the event counts {count} of {cap}, {}", self.age(stamp))
            }
            None => "the event lacks the counter".to_owned(),
        }
    }

    /// How long before the event a second was.
    fn age(&self, second: i64) -> String {
        let now = i128::from(self.event.now().unwrap_or(second));
        match now - i128::from(second) {
            seconds @ ..0 => format!("{} s after now", -seconds),
            seconds => format!("{seconds} s before now"),
        }
    }
}
