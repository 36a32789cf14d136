//! Estimates how likely tests are to be true, from the values in expressions.
//!
//! All values of an attribute that expressions use count as equally likely. Estimates decide the order of tests
//! and the place in the index, never an outcome.

use crate::bind::range_bounds;
use crate::code::{Head, Op, i64_at};
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};

/// Assumed length of a list.
pub(crate) const LIST_ELEMENTS: f32 = 16.0;
/// Assumed number of values of an integer without bounds.
const INTEGERS: f32 = 1000.0;

/// The estimates for one domain and dictionary.
#[derive(Debug, Clone)]
pub(crate) struct Estimates {
    attributes: Vec<Guess>,
}

#[derive(Debug, Clone, Copy)]
struct Guess {
    /// The probability of one value or element.
    one: f32,
    bounds: Option<(f32, f32)>,
}

impl Estimates {
    pub(crate) fn new(domain: &Domain, dictionary: &Dictionary) -> Self {
        let guess = |(index, attribute): (usize, &crate::domain::Attribute)| {
            let distinct = (dictionary.distinct(index) as f32).max(1.0);
            let (one, bounds) = match attribute.kind() {
                AttributeType::Boolean => (0.5, None),
                AttributeType::Integer { min, max } => {
                    let bounded = min > i64::MIN && max < i64::MAX;
                    let span = if bounded {
                        (max as f32 - min as f32 + 1.0).max(1.0)
                    } else {
                        INTEGERS
                    };
                    (
                        1.0 / span.min(distinct.max(2.0) * 4.0),
                        bounded.then_some((min as f32, max as f32)),
                    )
                }
                AttributeType::Float { min, max } => {
                    let bounded = min.is_finite() && max.is_finite();
                    (0.001, bounded.then_some((min as f32, max as f32)))
                }
                AttributeType::String { .. } | AttributeType::IntegerEnum { .. } => {
                    (1.0 / (distinct + 1.0), None)
                }
                _ => ((LIST_ELEMENTS / distinct).min(0.3), None),
            };
            Guess { one, bounds }
        };
        Self {
            attributes: domain.attributes().iter().enumerate().map(guess).collect(),
        }
    }

    /// The share of events with one value of an attribute.
    pub(crate) fn value(&self, attribute: usize) -> f32 {
        self.attributes
            .get(attribute)
            .map_or(0.5, |guess| guess.one)
    }

    /// The share of events for which a test is true, without its negation.
    pub(crate) fn test(&self, head: Head, operands: &[u32]) -> f32 {
        let one = self.value(head.attribute());
        let probability = match head.op() {
            Op::Bool => 0.5,
            Op::Equal32 | Op::Equal64 => one,
            Op::Range32 => match operands {
                [low, high, ..] => {
                    let (low, high) = range_bounds(*low, *high);
                    self.between(head, low as f32, high as f32)
                }
                _ => 0.5,
            },
            Op::Range64 => {
                self.between(head, i64_at(operands, 0) as f32, i64_at(operands, 2) as f32)
            }
            Op::FloatLess | Op::FloatLessEqual => {
                let value = f64::from_bits(i64_at(operands, 0) as u64) as f32;
                self.between(head, f32::NEG_INFINITY, value)
            }
            Op::FloatGreater | Op::FloatGreaterEqual => {
                let value = f64::from_bits(i64_at(operands, 0) as u64) as f32;
                self.between(head, value, f32::INFINITY)
            }
            Op::FloatEqual => one,
            Op::In => one * head.len() as f32,
            Op::InMany => one * operands.first().copied().unwrap_or(0) as f32,
            Op::HasAny => 1.0 - (1.0 - one).powi(head.len() as i32),
            Op::HasAll => one.powi(head.len() as i32),
            Op::Defined => 0.9,
            Op::Empty | Op::Geo => 0.05,
            Op::Contains | Op::StartsWith | Op::EndsWith => 0.1,
            Op::SegmentWithin | Op::SegmentBefore => 0.1,
            Op::Cap => 0.7,
            _ => 0.5,
        };
        probability.clamp(0.0005, 0.9995)
    }

    fn between(&self, head: Head, low: f32, high: f32) -> f32 {
        match self.attributes.get(head.attribute()).and_then(|g| g.bounds) {
            Some((min, max)) => {
                let (low, high) = (low.max(min), high.min(max));
                ((high - low + 1.0) / (max - min + 1.0)).max(0.0)
            }
            None => 0.4,
        }
    }
}
