//! What the operands of a test of a scalar name: values, or a range.

use super::positions::ordered;
use crate::bind::range_bounds;
use crate::code::{Head, Op, i64_at, u64_at};

/// The values that a scalar test names; `None` for a test that is not for values.
pub(super) fn points(head: Head, operands: &[u32]) -> Option<Vec<u64>> {
    let narrow = |value: &u32| i64::from(*value as i32) as u64;
    Some(match head.op() {
        Op::Bool => vec![1],
        Op::Equal32 | Op::In => operands.iter().map(narrow).collect(),
        Op::Equal64 => vec![i64_at(operands, 0) as u64],
        Op::InMany => {
            let values = (1..operands.len()).step_by(2);
            values.map(|at| i64_at(operands, at) as u64).collect()
        }
        _ => return None,
    })
}

/// The first and the last position of a range test; `None` for any other test.
pub(super) fn interval(head: Head, operands: &[u32], is_float: bool) -> Option<(i64, i64)> {
    let float = || ordered(u64_at(operands, 0), true);
    Some(match (head.op(), operands) {
        (Op::Range32, [low, high, ..]) => range_bounds(*low, *high),
        (Op::Range64, _) => (i64_at(operands, 0), i64_at(operands, 2)),
        _ if !is_float => return None,
        (Op::FloatLess, _) => (i64::MIN, float().saturating_sub(1)),
        (Op::FloatLessEqual, _) => (i64::MIN, float()),
        (Op::FloatGreater, _) => (float().saturating_add(1), i64::MAX),
        (Op::FloatGreaterEqual, _) => (float(), i64::MAX),
        (Op::FloatEqual, _) => (float(), float()),
        _ => return None,
    })
}
