//! Evaluates a single test for an event.

use crate::bind::range_bounds;
use crate::code::{Head, Op, i64_at, u64_at};
use crate::dictionary::Dictionary;
use crate::event::EventValues;

/// Radius of the earth in kilometres, and π, with the digits of the C library: a place on the edge must be on
/// the same side of it.
const EARTH_KM: f64 = 6372.8;
#[allow(
    clippy::approx_constant,
    reason = "the digits that the C library computes with"
)]
const PI: f64 = 3.141_592_653_6;
/// Bytes of text that are searched for a pattern per reduction.
pub(crate) const TEXT_BYTES_PER_REDUCTION: usize = 64;

/// Reductions of a test, without the length of texts.
#[inline]
pub(crate) fn cost(head: Head) -> u32 {
    match head.op() {
        Op::In | Op::HasAny | Op::HasAll => 1 + head.len() as u32,
        Op::InMany => 8,
        // Four functions of angles and a root.
        Op::Geo => 60,
        _ => 1,
    }
}

/// Reductions of an expensive test for an event.
pub(crate) fn expensive_cost(head: Head, event: &EventValues) -> u64 {
    let text = event.text(head.attribute()).len();
    u64::from(cost(head)) + (text / TEXT_BYTES_PER_REDUCTION) as u64
}

/// The outcome of a test of a lockstep family, whose head states the outcome for an undefined attribute.
/// Booleans, which are frequent there, take a short path.
#[inline(always)]
pub(crate) fn truth(
    head: Head,
    operands: &[u32],
    event: &EventValues,
    dictionary: &Dictionary,
) -> bool {
    if head.op() == Op::Bool {
        let attribute = head.attribute();
        let value = event.scalar(attribute) != 0;
        return match event.is_defined(attribute) {
            true => value,
            false => head.undefined(),
        };
    }
    test(head, operands, event, dictionary).unwrap_or(head.undefined())
}

/// The outcome of a test without its negation; `None` for an undefined attribute.
#[inline]
pub(crate) fn test(
    head: Head,
    operands: &[u32],
    event: &EventValues,
    dictionary: &Dictionary,
) -> Option<bool> {
    let attribute = head.attribute();
    if !event.is_defined(attribute) {
        return (head.op() == Op::Defined).then_some(false);
    }
    let value = event.scalar(attribute);
    if let Some(outcome) = of_value(head, operands, value) {
        return Some(outcome);
    }
    Some(match head.op() {
        Op::HasAny => {
            let list = operands.get(..head.len()).unwrap_or(operands);
            list.iter()
                .fold(false, |found, element| found | event.has(*element))
        }
        Op::HasAll => {
            let list = operands.get(..head.len()).unwrap_or(operands);
            list.iter()
                .fold(true, |found, element| found & event.has(*element))
        }
        Op::Empty => value == 0,
        _ => return rare(head, operands, event, dictionary),
    })
}

/// The outcome of a test that depends only on the value of a scalar; `None` for any other test.
#[inline(always)]
pub(crate) fn of_value(head: Head, operands: &[u32], value: u64) -> Option<bool> {
    let operand = |at: usize| operands.get(at).copied().unwrap_or(0);
    let float = || (f64::from_bits(value), f64::from_bits(u64_at(operands, 0)));
    Some(match head.op() {
        Op::Bool => value != 0,
        Op::Equal32 => value as i64 == i64::from(operand(0) as i32),
        Op::Equal64 => value == u64_at(operands, 0),
        Op::Range32 => {
            let (low, high) = range_bounds(operand(0), operand(1));
            low <= value as i64 && value as i64 <= high
        }
        Op::Range64 => i64_at(operands, 0) <= value as i64 && value as i64 <= i64_at(operands, 2),
        Op::In => {
            let list = operands.get(..head.len()).unwrap_or(operands);
            // Compares every element: a mispredicted branch would cost more.
            list.iter().fold(false, |found, element| {
                found | (value as i64 == i64::from(*element as i32))
            })
        }
        Op::InMany => in_many(operands, value as i64),
        Op::FloatLess => float().0 < float().1,
        Op::FloatLessEqual => float().0 <= float().1,
        Op::FloatGreater => float().0 > float().1,
        Op::FloatGreaterEqual => float().0 >= float().1,
        #[allow(clippy::float_cmp, reason = "equality of the language is exact")]
        Op::FloatEqual => float().0 == float().1,
        Op::Defined => true,
        _ => return None,
    })
}

/// Rare or slow tests.
#[inline(never)]
fn rare(
    head: Head,
    operands: &[u32],
    event: &EventValues,
    dictionary: &Dictionary,
) -> Option<bool> {
    let attribute = head.attribute();
    let value = event.scalar(attribute);
    let operand = |at: usize| operands.get(at).copied().unwrap_or(0);
    Some(match head.op() {
        Op::Contains => event.text(attribute).contains(dictionary.text(operand(0))),
        Op::StartsWith => event
            .text(attribute)
            .starts_with(dictionary.text(operand(0))),
        Op::EndsWith => event.text(attribute).ends_with(dictionary.text(operand(0))),
        Op::Geo => return geo(operands, event, f64::from_bits(value)),
        Op::SegmentWithin | Op::SegmentBefore => {
            let now = event.now()?;
            let seconds = i128::from(i64_at(operands, 1));
            match event.segment(operand(0)) {
                Some(stamp) => {
                    (seconds_between(stamp, now) <= seconds) == (head.op() == Op::SegmentWithin)
                }
                None => false,
            }
        }
        Op::Cap => {
            let now = event.now()?;
            let (value, length) = (i64_at(operands, 1), i64_at(operands, 3));
            match event.cap(operand(0)) {
                Some((count, stamp)) => {
                    let expired = length > 0 && seconds_between(stamp, now) > i128::from(length);
                    expired || value > count
                }
                None => true,
            }
        }
        Op::True => true,
        _ => false,
    })
}

/// Seconds from one time to another, which may exceed 64 bits.
fn seconds_between(from: i64, to: i64) -> i128 {
    i128::from(to) - i128::from(from)
}

/// Whether a value is among many sorted ones.
fn in_many(operands: &[u32], value: i64) -> bool {
    let (mut low, mut high) = (0, operands.first().copied().unwrap_or(0) as usize);
    while low < high {
        let middle = low + (high - low) / 2;
        match i64_at(operands, 1 + 2 * middle).cmp(&value) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    false
}

fn geo(operands: &[u32], event: &EventValues, latitude: f64) -> Option<bool> {
    let longitude = operands.first().copied().unwrap_or(0) as usize;
    if !event.is_defined(longitude) {
        return None;
    }
    let longitude = f64::from_bits(event.scalar(longitude));
    let constant = |at| f64::from_bits(u64_at(operands, at));
    let distance = distance_km((latitude, longitude), (constant(1), constant(3)));
    Some(distance <= constant(5))
}

/// The distance of two places, given as latitude and longitude in degrees, along a great circle.
pub(crate) fn distance_km(from: (f64, f64), to: (f64, f64)) -> f64 {
    let radians = |degrees: f64| degrees * (PI / 180.0);
    let latitude = radians(to.0 - from.0) / 2.0;
    let longitude = radians(to.1 - from.1) / 2.0;
    let share = latitude.sin().powi(2)
        + radians(from.0).cos() * radians(to.0).cos() * longitude.sin().powi(2);
    // Rounding can push the share above 1 for opposite places, and below 0 for equal ones.
    2.0 * EARTH_KM * share.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_places_are_further_apart_than_half_the_way_round() {
        let half = PI * EARTH_KM;
        for step in 0..100_000 {
            let place = (
                f64::from(step % 181) - 90.0,
                f64::from(step) * 0.0036 - 180.0,
            );
            let opposite = (-place.0, place.1 + 180.0);
            let distance = distance_km(place, opposite);
            assert!((distance - half).abs() < 0.001, "{place:?}: {distance}");
            let again = (180.0 - place.0, place.1 - 180.0);
            let distance = distance_km(place, again);
            assert!((0.0..0.001).contains(&distance), "{place:?}: {distance}");
        }
    }
}
