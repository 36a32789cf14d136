//! Compiles trees of words to programs: tests in a good order, each with a jump for when its outcome decides a
//! group.
//!
//! `run` runs one program; `lockstep` runs many at once.

pub(crate) mod arena;
pub(crate) mod estimate;
pub(crate) mod run;

use arena::{Arena, ROOT};

use crate::code::{Head, Op};

/// The jumps of a test whose outcome makes the expression true or false.
pub(crate) const ACCEPT: u32 = u32::MAX;
pub(crate) const REJECT: u32 = u32::MAX - 1;

/// One test of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The node of its arena.
    pub(crate) node: u32,
    /// The outcome of the test after which the next step follows.
    pub(crate) sense: bool,
    /// The step that follows after the other outcome, or [`ACCEPT`] or [`REJECT`].
    pub(crate) jump: u32,
}

/// The steps of an arena; passing the last step accepts. Returns the value of a constant, which needs no steps.
pub(crate) fn steps(arena: &Arena, out: &mut Vec<Step>) -> Option<bool> {
    steps_of(arena, ROOT, out)
}

/// The steps of one node of an arena, as [`steps`].
pub(crate) fn steps_of(arena: &Arena, node: u32, out: &mut Vec<Step>) -> Option<bool> {
    out.clear();
    let root = &arena.nodes[node as usize];
    match root.op {
        Op::True => return Some(true),
        Op::False => return Some(false),
        _ => {}
    }
    // A node, and where to go when it is true and when it is false.
    let mut due: Vec<(u32, u32, u32)> = vec![(node, ACCEPT, REJECT)];
    while let Some((index, on_true, on_false)) = due.pop() {
        let node = &arena.nodes[index as usize];
        if !matches!(node.op, Op::And | Op::Or) {
            out.push(step(arena, index, out.len() as u32 + 1, on_true, on_false));
            continue;
        }
        let children = arena.children(index);
        let first = due.len();
        let mut at = out.len() as u32;
        for (position, child) in children.iter().enumerate() {
            at += arena.nodes[*child as usize].size;
            let last = position + 1 == children.len();
            due.push(match (node.op, last) {
                (_, true) => (*child, on_true, on_false),
                (Op::And, false) => (*child, at, on_false),
                (_, false) => (*child, on_true, at),
            });
        }
        due[first..].reverse();
    }
    None
}

fn step(arena: &Arena, node: u32, next: u32, on_true: u32, on_false: u32) -> Step {
    let negated = Head(arena.words[arena.nodes[node as usize].word as usize]).flag();
    // The last step has no next one: passing the end accepts.
    let falls_true = on_true == next || (on_true == ACCEPT && on_false == REJECT);
    if falls_true {
        Step {
            node,
            sense: !negated,
            jump: on_false,
        }
    } else {
        Step {
            node,
            sense: negated,
            jump: on_true,
        }
    }
}

/// Appends the program of steps: for each step its head, its jump as a position in the program, and its operands.
/// `memo` numbers expensive tests.
pub(crate) fn emit(
    arena: &Arena,
    steps: &[Step],
    positions: &mut Vec<u32>,
    mut memo: impl FnMut(&[u32]) -> u32,
    code: &mut Vec<u32>,
) {
    let start = code.len();
    positions.clear();
    for step in steps {
        positions.push((code.len() - start) as u32);
        let test = arena.test(step.node);
        let head = Head(test[0]);
        // The outcome of the test itself for an undefined attribute.
        let undefined = head.undefined() != head.flag();
        if head.is_expensive() {
            let number = memo(test);
            let attribute = head.attribute() as u16;
            let head = Head::new(Op::Memo, attribute).with(step.sense, undefined);
            code.extend([head.0, step.jump, number]);
        } else {
            code.extend([head.with(step.sense, undefined).0, step.jump]);
            code.extend_from_slice(&test[1..]);
        }
    }
    let mut at = start;
    for step in steps {
        if step.jump < REJECT {
            code[at + 1] = positions[step.jump as usize];
        }
        let first = code.get(at + 2).copied().unwrap_or(0);
        at += 2 + Head(code[at]).operands(first);
    }
}
