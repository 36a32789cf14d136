//! What a unit costs in the tree, by which it is filed there or elsewhere.

use super::asks::Asks;
use super::guard::Guard;
use crate::code::{Head, Op};
use crate::eval;
use crate::program::arena::Arena;

/// Nanoseconds of testing an item and of running its program.
pub(super) const ITEM_NS: f32 = 6.0;
pub(super) const PROGRAM_NS: f32 = 60.0;
/// Nanoseconds of marking a list that has an element of the event, and of a reduction of a program.
pub(super) const MARK_NS: f32 = 1.5;
pub(super) const TESTED_NS: f32 = 1.5;
/// Nanoseconds of a match that needs no program.
pub(super) const HIT_NS: f32 = 4.0;
/// Nanoseconds of a reduction of a test that lockstep evaluates for each event, and the most of a test.
const REDUCTION_NS: f32 = 4.0;
const TEST_NS: f32 = 50.0;

/// Nanoseconds that an expression costs in lockstep, about: its tests are evaluated for each event, once for all
/// expressions of a family.
pub(super) fn of_lockstep(arena: &Arena, asks: &Asks) -> f32 {
    let tests = arena
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| !matches!(node.op, Op::And | Op::Or | Op::True | Op::False));
    let ns = tests.map(|(at, _)| {
        let head = Head(arena.test(at as u32)[0]);
        let ns = (eval::cost(head) as f32 * REDUCTION_NS).min(TEST_NS);
        ns * asks.distinct(head.attribute())
    });
    ns.sum()
}

/// Nanoseconds that a unit costs which is found for a share of all events, where some of its parts are implied, and of
/// which `left` reductions are left.
pub(super) fn of_found(guards: &[(u64, Guard)], (share, implied): (f32, u64), left: f32) -> f32 {
    let guards = best_guards(guards, implied);
    let pass: f32 = guards.iter().map(|(_, guard)| guard.pass).product();
    share * (ITEM_NS + pass * of_program(left))
}

/// Nanoseconds of a program by its reductions on average: of most, fetching it is what takes time.
pub(super) fn of_program(reductions: f32) -> f32 {
    PROGRAM_NS.max(reductions * TESTED_NS)
}

/// The two guards of a unit that exclude most, without those of parts that are implied. Guards of one word are one.
pub(super) fn best_guards(all: &[(u64, Guard)], implied: u64) -> Vec<(u64, Guard)> {
    let mut guards: Vec<(u64, Guard)> = Vec::new();
    for (bit, guard) in all {
        if bit & implied != 0 || guard.confirms {
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

/// The word and the mask of one guard that confirms all of some parts, if there is one.
pub(super) fn confirming(all: &[(u64, Guard)], parts: u64) -> Option<(u16, u64)> {
    let wanted = |(bit, guard): &&(u64, Guard)| guard.confirms && bit & parts != 0;
    let (mut found, mut mask, mut word) = (0, 0, None);
    for (bit, guard) in all.iter().filter(wanted) {
        if *word.get_or_insert(guard.word) != guard.word {
            return None;
        }
        found |= bit;
        mask |= guard.mask;
    }
    word.filter(|_| found == parts).map(|word| (word, mask))
}
