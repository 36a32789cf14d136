//! What a unit costs in the tree, by which it is filed there or elsewhere.

use super::access::Clauses;
use super::guard::Guard;

/// Nanoseconds of testing an item and of running its program.
pub(super) const ITEM_NS: f32 = 6.0;
pub(super) const PROGRAM_NS: f32 = 60.0;

/// Nanoseconds that a unit costs in the tree, about: it is tested for the events that have one of its keys, and
/// run for those that pass its guards.
pub(super) fn of_unit(clauses: &Clauses, unit: u32) -> f32 {
    let best = clauses
        .of(unit)
        .iter()
        .min_by(|a, b| a.probability.total_cmp(&b.probability));
    let Some(best) = best else {
        return f32::MAX;
    };
    let guards = best_guards(clauses, unit, best.parts);
    let pass: f32 = guards.iter().map(|(_, guard)| guard.pass).product();
    best.probability * (ITEM_NS + pass * PROGRAM_NS)
}

/// The two guards of a unit that exclude most, without those of parts that are implied. Guards of one word are one.
pub(super) fn best_guards(clauses: &Clauses, unit: u32, implied: u64) -> Vec<(u64, Guard)> {
    let mut guards: Vec<(u64, Guard)> = Vec::new();
    for (bit, guard) in clauses.guards(unit) {
        if bit & implied != 0 {
            continue;
        }
        let same = |(_, other): &&mut (u64, Guard)| {
            !other.wants && !guard.wants && other.word == guard.word
        };
        match guards.iter_mut().find(same) {
            Some((bits, other)) => {
                *bits |= bit;
                other.mask |= guard.mask;
                other.is_exact &= guard.is_exact;
                other.pass *= guard.pass;
            }
            None => guards.push((*bit, *guard)),
        }
    }
    guards.sort_by(|a, b| a.1.pass.total_cmp(&b.1.pass));
    guards.truncate(2);
    guards
}
