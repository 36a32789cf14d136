//! Expressions that test each of many booleans, and events of fair random bits.

use std::fmt::Write as _;

use super::prng::Prng;

pub(super) fn domains(count: u16) -> String {
    let mut text = String::new();
    for number in 1..=count {
        let _ = writeln!(text, "par{number}|boolean|false");
    }
    text
}

/// Joins a forest of all parameters at random until one tree is left: in 40 % of steps two trees by `and`, in 40 %
/// by `or`; in 20 % one tree is negated.
pub(super) fn expression(count: u16, prng: &mut Prng, out: &mut String) {
    let mut forest: Vec<String> = (1..=count).map(|number| format!("par{number}")).collect();
    while forest.len() > 1 {
        let draw = prng.below(10);
        let first = prng.below(forest.len() as u64) as usize;
        if draw >= 8 {
            forest[first] = format!("not {}", forest[first]);
            continue;
        }
        let left = forest.swap_remove(first);
        let second = prng.below(forest.len() as u64) as usize;
        let word = if draw < 4 { "and" } else { "or" };
        let right = std::mem::take(&mut forest[second]);
        forest[second] = format!("({left} {word} {right})");
    }
    out.extend(forest);
}

/// The fair bits of an event.
pub(super) fn bits(count: u16, prng: &mut Prng) -> Vec<bool> {
    let mut word = 0;
    let bit = |at: u16| {
        if at.is_multiple_of(64) {
            word = prng.next();
        }
        word >> (at % 64) & 1 == 1
    };
    (0..count).map(bit).collect()
}

pub(super) fn event(count: u16, prng: &mut Prng, out: &mut String) {
    out.push('{');
    for (number, bit) in (1..).zip(bits(count, prng)) {
        let comma = if number == 1 { "" } else { "," };
        let _ = write!(out, "{comma}\"par{number}\":{bit}");
    }
    out.push('}');
}
