//! What a test or a group over one attribute comes to for a value.

use crate::code::{Head, Op};
use crate::eval;
use crate::program::arena::Arena;

/// The outcome of a node over one scalar for a value; `None` when it does not depend on the value alone.
pub(crate) fn holds(
    arena: &Arena,
    node: u32,
    value: Option<u64>,
    values: &mut Vec<bool>,
) -> Option<bool> {
    let first = node as usize;
    let end = arena.end(node);
    values.clear();
    values.resize(end - first, false);
    for at in (first..end).rev() {
        let mut children = arena.children(at as u32).iter();
        let is = |child: &u32| values[*child as usize - first];
        values[at - first] = match arena.nodes[at].op {
            Op::And => children.all(is),
            Op::Or => children.any(is),
            Op::True => true,
            Op::False => false,
            _ => {
                let test = arena.test(at as u32);
                let head = Head(test[0]);
                let outcome = match value {
                    None if head.op() == Op::Defined => Some(false),
                    None => None,
                    Some(value) => Some(eval::of_value(head, &test[1..], value)?),
                };
                outcome.map_or(head.undefined(), |outcome| outcome != head.flag())
            }
        };
    }
    values.first().copied()
}
