//! What `overwrite` remembers of each value that it wrote: its place, and which other values can be
//! written over it.
//!
//! A spot holds one kind of value. Its fields for the other kinds are in a state that no value matches:
//! no text has "no length", no timestamp has "no second", and no number is in an empty range. Bytes are
//! written in `overwrite.rs`.

use std::num::NonZeroUsize;

use super::digits_ifma::{ANY_FORM, Form};
use super::text::Second;

/// The length of a text, or "no text".
///
/// It holds the length plus one, which is never 0. So no length can mean "no text", and a comparison
/// takes one instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextLength(Option<NonZeroUsize>);

// The length of any slice plus one does not overflow.
const _: () = assert!(isize::MAX.unsigned_abs() < usize::MAX);

impl TextLength {
    /// The value is not a text.
    pub(super) const NO_TEXT: Self = Self(None);

    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        Self(NonZeroUsize::new(text.len().wrapping_add(1)))
    }

    /// Whether it is the length of this text.
    #[inline]
    pub(super) fn is_of(self, text: &[u8]) -> bool {
        // Compared as numbers, with 0 for none: comparing two `Option`s would branch.
        self.0.map_or(0, NonZeroUsize::get) == text.len().wrapping_add(1)
    }
}

/// A value in the buffer. Each kind of value compares fields that only this kind sets.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Spot {
    /// Its place in the buffer.
    pub(super) at: u32,
    /// Which of the values.
    pub(super) value: u32,
    /// Its length, if it is text.
    pub(super) text: TextLength,
    /// How many bytes were written, and a bit for each of the first 32.
    pub(super) written: u32,
    pub(super) mask: u32,
    /// The smallest number with as many digits, and how many such numbers there are: of integers and of
    /// decimals.
    pub(super) least: u64,
    pub(super) whole: u32,
    pub(super) decimals: u32,
    pub(super) scale: u8,
    /// The permutation from digits to text.
    pub(super) form: &'static Form,
    /// Its second, if it is a timestamp.
    pub(super) second: Option<Second>,
}

// One cache line each.
const _: () = assert!(size_of::<Spot>() == 64);

impl Spot {
    /// A spot that no value can be written over.
    pub(super) const NOTHING: Self = Self {
        at: 0,
        value: 0,
        text: TextLength::NO_TEXT,
        written: 0,
        mask: 0,
        least: 0,
        whole: 0,
        decimals: 0,
        scale: 0,
        form: ANY_FORM,
        second: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of no text was once 2^32 - 1, and a text may be that long.
    #[test]
    fn no_length_stands_for_no_text() {
        for shift in 0..usize::BITS - 1 {
            for length in [(1_usize << shift) - 1, 1 << shift, (1 << shift) + 1] {
                let length = NonZeroUsize::new(length.min(isize::MAX.unsigned_abs()) + 1);
                assert!(length.is_some());
                assert_ne!(length, TextLength::NO_TEXT.0);
            }
        }
        assert!(!TextLength::NO_TEXT.is_of(b""));
        assert!(!TextLength::NO_TEXT.is_of(b"a"));
        assert!(TextLength::of(b"ab").is_of(b"cd"));
        assert!(!TextLength::of(b"ab").is_of(b"a") && !TextLength::of(b"ab").is_of(b"abc"));
        assert!(!TextLength::of(b"a").is_of(b""));
    }
}
