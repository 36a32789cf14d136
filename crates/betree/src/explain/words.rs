//! Tests in the language of expressions.

use crate::bind::{Undefined, range_bounds};
use crate::code::{Head, Op, i64_at, u64_at};
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};
use crate::expr::escaped;
use crate::state::State;

/// Most constants of a list that are shown.
const LIST_MAX: usize = 20;
/// The operands of one float.
const FLOAT_WORDS: usize = 2;

/// A test as text.
pub(super) fn describe(state: &State, head: Head, operands: &[u32]) -> String {
    let words = Words::new(state, head, operands);
    if head.op() == Op::Defined {
        let word = if head.flag() {
            "is null"
        } else {
            "is not null"
        };
        return format!("{} {word}", words.name());
    }
    // Where an undefined attribute makes a test false, `a <> 1` and `not (a = 1)` differ: under an odd number of `not`s
    // it is true. Else they are the same.
    let has_opposite = words.opposite(head).is_some();
    let negated = match state.undefined {
        Undefined::False => head.undefined(),
        Undefined::Unknown => head.flag() && !has_opposite,
    };
    let text = match head.flag() != negated {
        false => words.test(head),
        true => words
            .opposite(head)
            .unwrap_or_else(|| format!("not ({})", words.test(head))),
    };
    match negated {
        false => text,
        true => format!("not ({text})"),
    }
}

/// What a test is about.
pub(super) struct Words<'a> {
    domain: &'a Domain,
    dictionary: &'a Dictionary,
    attribute: usize,
    operands: &'a [u32],
}

impl<'a> Words<'a> {
    pub(super) fn new(state: &'a State, head: Head, operands: &'a [u32]) -> Self {
        Self {
            domain: &state.domain,
            dictionary: &state.dictionary,
            attribute: head.attribute(),
            operands,
        }
    }

    fn name(&self) -> &str {
        let attribute = self.domain.attributes().get(self.attribute);
        attribute.map_or("", |attribute| attribute.name())
    }

    fn operand(&self, at: usize) -> u32 {
        self.operands.get(at).copied().unwrap_or(0)
    }

    fn float(&self, at: usize) -> f64 {
        f64::from_bits(u64_at(self.operands, at))
    }

    /// A value of the attribute.
    pub(super) fn value(&self, value: i64) -> String {
        let kind = self
            .domain
            .attributes()
            .get(self.attribute)
            .map(|a| a.kind());
        match kind {
            Some(AttributeType::String { .. } | AttributeType::StringList { .. }) => {
                escaped(self.dictionary.text(value as u32))
            }
            _ => value.to_string(),
        }
    }

    pub(super) fn list(&self, values: impl ExactSizeIterator<Item = i64>) -> String {
        listed(values.map(|value| self.value(value)))
    }

    /// Elements of a list, by their numbers.
    pub(super) fn elements(&self, elements: &[u32]) -> String {
        let value = |element: &u32| {
            let found = self.dictionary.element(*element);
            found.map_or(0, |(_, value)| value as i64)
        };
        self.list(elements.iter().map(value))
    }

    /// Whether it is a list of floats, each of which is a test of its own in a tree.
    fn has_floats(&self) -> bool {
        self.operands.len() > FLOAT_WORDS
    }

    /// The test whose outcome is the opposite for each value, if the language has one.
    fn opposite(&self, head: Head) -> Option<String> {
        let (word, other) = match head.op() {
            Op::FloatEqual if self.has_floats() => (" in ", " not in "),
            Op::Equal32 | Op::Equal64 | Op::FloatEqual => (" = ", " <> "),
            Op::In | Op::InMany => (" in ", " not in "),
            Op::HasAny => (" one of ", " none of "),
            _ => return None,
        };
        Some(self.test(head).replacen(word, other, 1))
    }

    fn test(&self, head: Head) -> String {
        let name = self.name();
        let compare = |sign: &str| format!("{name} {sign} {}", float(self.float(0)));
        match head.op() {
            Op::Bool => name.to_owned(),
            Op::Equal32 => format!("{name} = {}", self.value(i64::from(self.operand(0) as i32))),
            Op::Equal64 => format!("{name} = {}", self.value(i64_at(self.operands, 0))),
            Op::Range32 => {
                let (low, high) = range_bounds(self.operand(0), self.operand(1));
                self.range(low, high)
            }
            Op::Range64 => self.range(i64_at(self.operands, 0), i64_at(self.operands, 2)),
            Op::FloatLess => compare("<"),
            Op::FloatLessEqual => compare("<="),
            Op::FloatGreater => compare(">"),
            Op::FloatGreaterEqual => compare(">="),
            Op::FloatEqual if self.has_floats() => {
                let values = (0..self.operands.len() / FLOAT_WORDS)
                    .map(|at| float(self.float(FLOAT_WORDS * at)));
                format!("{name} in {}", listed(values))
            }
            Op::FloatEqual => compare("="),
            Op::In => {
                let values = self.operands.iter().map(|value| i64::from(*value as i32));
                format!("{name} in {}", self.list(values))
            }
            Op::InMany => {
                let count = self.operand(0) as usize;
                let values = (0..count).map(|at| i64_at(self.operands, 1 + 2 * at));
                format!("{name} in {}", self.list(values))
            }
            Op::HasAny => format!("{name} one of {}", self.elements(self.operands)),
            Op::HasAll => format!("{name} all of {}", self.elements(self.operands)),
            Op::Defined => format!("{name} is not null"),
            Op::Empty => format!("{name} is empty"),
            _ => self.special(head),
        }
    }

    fn special(&self, head: Head) -> String {
        let name = self.name();
        let pattern = escaped(self.dictionary.text(self.operand(0)));
        let segment = |word: &str| {
            let id = self
                .dictionary
                .segment(self.operand(0))
                .map_or(0, |key| key.1);
            format!("segment_{word}({name}, {id}, {})", i64_at(self.operands, 1))
        };
        match head.op() {
            Op::Contains => format!("contains({name}, {pattern})"),
            Op::StartsWith => format!("starts_with({name}, {pattern})"),
            Op::EndsWith => format!("ends_with({name}, {pattern})"),
            Op::Geo => format!(
                "geo_within_radius({}, {}, {})",
                float(self.float(1)),
                float(self.float(3)),
                float(self.float(5))
            ),
            Op::SegmentWithin => segment("within"),
            Op::SegmentBefore => segment("before"),
            Op::Cap => {
                let key = self.dictionary.cap(self.operand(0));
                let (kind, name) = key.map_or((String::new(), ""), |(kind, ip, _, name)| {
                    (kind.word(ip), self.dictionary.text(name))
                });
                format!(
                    "within_frequency_cap(\"{kind}\", {}, {}, {})",
                    escaped(name),
                    i64_at(self.operands, 1),
                    i64_at(self.operands, 3)
                )
            }
            _ => String::new(),
        }
    }

    fn range(&self, low: i64, high: i64) -> String {
        let name = self.name();
        match (low, high) {
            (i64::MIN, high) => format!("{name} <= {high}"),
            (low, i64::MAX) => format!("{name} >= {low}"),
            (low, high) if low > high => format!("{name} in an empty range"),
            (low, high) => format!("{name} >= {low} and {name} <= {high}"),
        }
    }
}

/// A float in digits that the language reads back as the same value.
pub(super) fn float(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-5..1e16 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// A list of constants, cut to what a line can show.
fn listed(values: impl ExactSizeIterator<Item = String>) -> String {
    let rest = values.len().saturating_sub(LIST_MAX);
    let mut texts: Vec<String> = values.take(LIST_MAX).collect();
    if rest > 0 {
        texts.push(format!("… {rest} more"));
    }
    format!("({})", texts.join(", "))
}
