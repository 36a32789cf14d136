//! What patterns of texts and circles mean together: whether no text has all that is asked of it, or no place is in two
//! circles.

use super::sets::Set;
use crate::code::{Head, Op, u64_at};
use crate::dictionary::Dictionary;
use crate::eval::distance_km;

/// Most tests of an attribute that are compared with each other, and most values that patterns are looked for in.
const COMPARED_MAX: usize = 64;
const VALUES_MAX: usize = 256;
/// Kilometres by which circles must be apart: more than the rounding of a distance.
const APART_KM: f64 = 0.01;

/// Tests of one attribute that are compared as they are written: their words, whether each holds, and whether it does
/// where the attribute is not defined.
pub(super) type Others = [(Vec<u32>, bool, bool)];

/// A pattern of a text, and where it is.
type Pattern<'d> = (Op, &'d str);

/// Whether nothing that has an attribute meets all of these tests. `scalar` are the values that it may have.
pub(super) fn contradict(others: &Others, scalar: &Set, dictionary: &Dictionary) -> bool {
    let others = others.get(..COMPARED_MAX).unwrap_or(others);
    let patterns = |wanted: bool| {
        let own = others.iter().filter(move |(_, holds, _)| *holds == wanted);
        own.filter_map(|(words, ..)| pattern(words, dictionary))
    };
    let has: Vec<Pattern<'_>> = patterns(true).collect();
    let lacks: Vec<Pattern<'_>> = patterns(false).collect();
    let pairs = |one: &Pattern<'_>| has.iter().any(|other| exclude(*one, *other));
    let implied = |one: &Pattern<'_>| lacks.iter().any(|other| implies(*one, *other));
    if has.iter().any(|one| pairs(one) || implied(one)) || apart(others) {
        return true;
    }
    if has.is_empty() && lacks.is_empty() {
        return false;
    }
    let fits = |value: &i64| {
        let text = dictionary.text(*value as u32);
        has.iter().all(|pattern| is_in(*pattern, text))
            && !lacks.iter().any(|pattern| is_in(*pattern, text))
    };
    let values = scalar.few(VALUES_MAX);
    values.is_some_and(|values| !values.iter().any(fits))
}

fn pattern<'d>(words: &[u32], dictionary: &'d Dictionary) -> Option<Pattern<'d>> {
    let [head, string, ..] = words else {
        return None;
    };
    let op = Head(*head).op();
    let is_pattern = matches!(op, Op::Contains | Op::StartsWith | Op::EndsWith);
    is_pattern.then(|| (op, dictionary.text(*string)))
}

/// Whether a text has a pattern.
fn is_in((op, pattern): Pattern<'_>, text: &str) -> bool {
    match op {
        Op::StartsWith => text.starts_with(pattern),
        Op::EndsWith => text.ends_with(pattern),
        _ => text.contains(pattern),
    }
}

/// Whether no text has two patterns: both begin it, or both end it, and neither goes on where the other ends.
fn exclude((one, a): Pattern<'_>, (other, b): Pattern<'_>) -> bool {
    match (one, other) {
        (Op::StartsWith, Op::StartsWith) => !a.starts_with(b) && !b.starts_with(a),
        (Op::EndsWith, Op::EndsWith) => !a.ends_with(b) && !b.ends_with(a),
        _ => false,
    }
}

/// Whether each text that has a pattern has another.
fn implies((one, a): Pattern<'_>, other: Pattern<'_>) -> bool {
    other.0 == one && is_in(other, a) || other.0 == Op::Contains && a.contains(other.1)
}

/// Whether two circles do not touch, and neither holds where no place is known.
fn apart(others: &Others) -> bool {
    let circle = |(words, holds, undefined): &(Vec<u32>, bool, bool)| {
        let [head, operands @ ..] = words.as_slice() else {
            return None;
        };
        let is_circle = *holds && !undefined && Head(*head).op() == Op::Geo;
        let of = |at| f64::from_bits(u64_at(operands, at));
        is_circle.then(|| ((of(1), of(3)), of(5)))
    };
    let circles: Vec<_> = others.iter().filter_map(circle).collect();
    circles.iter().enumerate().any(|(at, (place, radius))| {
        let mut before = circles.iter().take(at);
        before.any(|(other, reach)| distance_km(*place, *other) > radius + reach + APART_KM)
    })
}
