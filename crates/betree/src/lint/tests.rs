//! Tests as what they say of one attribute.

use super::sets::{Set, float};
use crate::bind::range_bounds;
use crate::code::{Head, Op, i64_at, u64_at};

/// A test, or the opposite of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Test {
    pub(super) attribute: u16,
    /// Whether it holds where the attribute is not defined.
    pub(super) undefined: bool,
    pub(super) says: Says,
}

/// What a test says of a defined attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Says {
    /// A scalar is in a set.
    Scalar(Set),
    /// A list has any of some elements, or none of them.
    Any(bool, Vec<u32>),
    /// A list has all of some elements, or not all of them.
    All(bool, Vec<u32>),
    /// A list is empty, or is not.
    Empty(bool),
    /// Anything, or nothing.
    Fixed(bool),
    /// A test that is compared only with itself: its words, and whether it holds.
    Other(bool, Vec<u32>),
}

impl Test {
    /// A test of a tree, from its head and operands.
    pub(super) fn new(head: Head, operands: &[u32]) -> Self {
        let operand = |at: usize| operands.get(at).copied().unwrap_or(0);
        let value = || float(f64::from_bits(u64_at(operands, 0)));
        let listed = || operands.get(..head.len()).unwrap_or(operands);
        let holds = !head.flag();
        let set = match head.op() {
            Op::Bool => Set::range(0, 0).complement(),
            Op::Equal32 => Set::points([i64::from(operand(0) as i32)]),
            Op::Equal64 => Set::points([u64_at(operands, 0) as i64]),
            Op::Range32 => {
                let (low, high) = range_bounds(operand(0), operand(1));
                Set::range(low, high)
            }
            Op::Range64 => Set::range(i64_at(operands, 0), i64_at(operands, 2)),
            Op::In => Set::points(listed().iter().map(|value| i64::from(*value as i32))),
            Op::InMany => {
                let count = operand(0) as usize;
                Set::points((0..count).map(|at| i64_at(operands, 1 + 2 * at)))
            }
            Op::FloatLess => value()
                .checked_sub(1)
                .map_or_else(Set::default, |high| Set::range(i64::MIN, high)),
            Op::FloatLessEqual => Set::range(i64::MIN, value()),
            Op::FloatGreater => value()
                .checked_add(1)
                .map_or_else(Set::default, |low| Set::range(low, i64::MAX)),
            Op::FloatGreaterEqual => Set::range(value(), i64::MAX),
            Op::FloatEqual => Set::points([value()]),
            op => {
                let says = match op {
                    Op::HasAny => Says::Any(holds, listed().to_vec()),
                    Op::HasAll => Says::All(holds, listed().to_vec()),
                    Op::Empty => Says::Empty(holds),
                    Op::Defined => Says::Fixed(holds),
                    _ => {
                        let words = std::iter::once(head.with(false, false).0);
                        Says::Other(holds, words.chain(operands.iter().copied()).collect())
                    }
                };
                return Self {
                    attribute: head.attribute() as u16,
                    undefined: head.undefined(),
                    says,
                };
            }
        };
        Self {
            attribute: head.attribute() as u16,
            undefined: head.undefined(),
            says: Says::Scalar(if holds { set } else { set.complement() }),
        }
    }

    /// The test that holds exactly where this one does not.
    pub(super) fn opposite(&self) -> Self {
        Self {
            attribute: self.attribute,
            undefined: !self.undefined,
            says: match &self.says {
                Says::Scalar(set) => Says::Scalar(set.complement()),
                Says::Any(holds, list) => Says::Any(!holds, list.clone()),
                Says::All(holds, list) => Says::All(!holds, list.clone()),
                Says::Empty(holds) => Says::Empty(!holds),
                Says::Fixed(holds) => Says::Fixed(!holds),
                Says::Other(holds, words) => Says::Other(!holds, words.clone()),
            },
        }
    }
}
