//! Words of compiled expressions: how a test of an attribute is written in 32-bit words.
//!
//! A test is a head and its operands. In a *tree* (made by `bind`) heads are in groups, which open with
//! [`Op::And`] or [`Op::Or`] and close with [`Op::Close`]. In a *program* a jump follows each head. `eval`
//! evaluates tests.

/// The operation of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Op {
    /// A boolean is true.
    Bool,
    /// A scalar equals one 32-bit value.
    Equal32,
    /// The same with 64 bits.
    Equal64,
    /// An integer lies between two 32-bit values, both inclusive.
    Range32,
    /// The same with 64 bits.
    Range64,
    /// A float compares with a constant.
    FloatLess,
    FloatLessEqual,
    FloatGreater,
    FloatGreaterEqual,
    FloatEqual,
    /// A scalar is one of a few sorted 32-bit values.
    In,
    /// A scalar is one of many sorted 64-bit values; the first operand is their number.
    InMany,
    /// A list has any of some elements.
    HasAny,
    /// A list has all of some elements.
    HasAll,
    /// An attribute is defined.
    Defined,
    /// A list has no elements.
    Empty,
    /// A text has a pattern in it, at its start, at its end.
    Contains,
    StartsWith,
    EndsWith,
    /// A place is within a radius. The attribute is the latitude, the first operand the longitude's.
    Geo,
    /// A segment was entered in the last seconds, or before.
    SegmentWithin,
    SegmentBefore,
    /// A counter is below a cap.
    Cap,
    /// An expensive test, evaluated once per event: its number.
    Memo,
    /// Always true, always false.
    True,
    False,
    /// A group begins, a group ends.
    And,
    Or,
    Close,
}

const OPS: [Op; 29] = [
    Op::Bool,
    Op::Equal32,
    Op::Equal64,
    Op::Range32,
    Op::Range64,
    Op::FloatLess,
    Op::FloatLessEqual,
    Op::FloatGreater,
    Op::FloatGreaterEqual,
    Op::FloatEqual,
    Op::In,
    Op::InMany,
    Op::HasAny,
    Op::HasAll,
    Op::Defined,
    Op::Empty,
    Op::Contains,
    Op::StartsWith,
    Op::EndsWith,
    Op::Geo,
    Op::SegmentWithin,
    Op::SegmentBefore,
    Op::Cap,
    Op::Memo,
    Op::True,
    Op::False,
    Op::And,
    Op::Or,
    Op::Close,
];

/// The most elements of [`Op::In`].
pub(crate) const IN_MAX: usize = 16;
/// The most elements of [`Op::HasAny`] and [`Op::HasAll`]: longer lists become groups of several.
pub(crate) const HAS_MAX: usize = 32;

/// The first word of a test.
///
/// Bits 0 to 7 are the [`Op`], 10 to 15 the length of a list, 16 to 31 the attribute. Bit 8 in a tree: the
/// test is negated; in a program: the outcome that falls through. Bit 9 in a tree: the outcome of the test for
/// an undefined attribute, including negation; in a program: the same before negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Head(pub(crate) u32);

impl Head {
    const FLAG: u32 = 1 << 8;
    const UNDEFINED: u32 = 1 << 9;

    pub(crate) fn new(op: Op, attribute: u16) -> Self {
        Self(op as u32 | u32::from(attribute) << 16)
    }

    /// With the length of a list, below 64.
    pub(crate) fn count(self, count: usize) -> Self {
        Self(self.0 | (count as u32 & 63) << 10)
    }

    /// Without the length of a list.
    pub(crate) fn uncounted(self) -> Self {
        Self(self.0 & !(63 << 10))
    }

    pub(crate) fn with(self, flag: bool, undefined: bool) -> Self {
        let bits = self.0 & !(Self::FLAG | Self::UNDEFINED);
        Self(bits | u32::from(flag) << 8 | u32::from(undefined) << 9)
    }

    #[inline]
    pub(crate) fn op(self) -> Op {
        // The words are this crate's own; an unknown op reads as a test that is false.
        OPS.get((self.0 & 0xff) as usize)
            .copied()
            .unwrap_or(Op::False)
    }

    #[inline]
    pub(crate) fn attribute(self) -> usize {
        (self.0 >> 16) as usize
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.0 >> 10 & 63) as usize
    }

    /// Negated in a tree; the outcome that falls through in a program.
    #[inline]
    pub(crate) fn flag(self) -> bool {
        self.0 & Self::FLAG != 0
    }

    #[inline]
    pub(crate) fn undefined(self) -> bool {
        self.0 & Self::UNDEFINED != 0
    }

    /// How many operands follow, the first of which is `first`.
    #[inline]
    pub(crate) fn operands(self, first: u32) -> usize {
        match self.op() {
            Op::Bool | Op::Defined | Op::Empty => 0,
            Op::True | Op::False | Op::And | Op::Or | Op::Close => 0,
            Op::Equal32 | Op::Contains | Op::StartsWith | Op::EndsWith | Op::Memo => 1,
            Op::Equal64 | Op::Range32 => 2,
            Op::FloatLess | Op::FloatLessEqual | Op::FloatGreater => 2,
            Op::FloatGreaterEqual | Op::FloatEqual => 2,
            Op::SegmentWithin | Op::SegmentBefore => 3,
            Op::Range64 => 4,
            Op::Cap => 5,
            Op::Geo => 7,
            Op::In | Op::HasAny | Op::HasAll => self.len(),
            Op::InMany => 1 + 2 * first as usize,
        }
    }

    /// Whether the outcome is known wherever the head's own attribute is defined.
    pub(crate) fn asks_one_attribute(self) -> bool {
        !matches!(
            self.op(),
            Op::Geo | Op::SegmentWithin | Op::SegmentBefore | Op::Cap
        )
    }

    /// Whether the test is expensive enough to keep its outcome for other programs.
    pub(crate) fn is_expensive(self) -> bool {
        matches!(
            self.op(),
            Op::Contains | Op::StartsWith | Op::EndsWith | Op::Geo
        )
    }
}

/// Appends a 64-bit value, the lower half first.
pub(crate) fn push_u64(words: &mut Vec<u32>, value: u64) {
    words.extend([value as u32, (value >> 32) as u32]);
}

/// The 64-bit value at a position; 0 beyond the end.
#[inline]
pub(crate) fn u64_at(words: &[u32], at: usize) -> u64 {
    match words.get(at..at + 2) {
        Some([low, high]) => u64::from(*low) | u64::from(*high) << 32,
        _ => 0,
    }
}

#[inline]
pub(crate) fn i64_at(words: &[u32], at: usize) -> i64 {
    u64_at(words, at) as i64
}

/// The heads of a code with their operands, in their order. One whose operands are cut off is the last, and has none.
pub(crate) fn heads(code: &[u32]) -> impl Iterator<Item = (Head, &[u32])> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let (word, behind) = rest.split_first()?;
        let head = Head(*word);
        let count = head.operands(behind.first().copied().unwrap_or(0));
        let (operands, next) = behind.split_at_checked(count).unwrap_or_default();
        rest = next;
        Some((head, operands))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_keep_what_is_put_in() {
        for (index, op) in OPS.into_iter().enumerate() {
            assert_eq!(op as usize, index);
            let head = Head::new(op, 0xfedc).count(33).with(true, false);
            assert_eq!((head.op(), head.attribute(), head.len()), (op, 0xfedc, 33));
            assert!(head.flag() && !head.undefined());
            let head = head.with(false, true);
            assert!(!head.flag() && head.undefined());
        }
        assert_eq!(Head::new(Op::InMany, 0).operands(5), 11);
    }

    #[test]
    fn halves_make_the_whole() {
        let mut words = vec![7];
        push_u64(&mut words, (-5i64) as u64);
        assert_eq!(i64_at(&words, 1), -5);
        assert_eq!(u64_at(&words, 2), 0);
    }
}
