//! What `overwrite` remembers of a value that it wrote: where it stands, and which other values may be
//! written over it.
//!
//! A spot holds one kind of value. For the other kinds it is in a state that no value matches: no
//! text has "no length", no moment has "no second", and no number is among none. Bytes are written in
//! `overwrite.rs`.

use std::num::NonZeroUsize;

use super::digits_ifma::{ANY_FORM, Form};
use super::text::Second;

/// The length of a text, or that there is no text.
///
/// One more than the length is kept, which is never 0: so that no length stands for "no text", and
/// comparing takes one instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextLength(Option<NonZeroUsize>);

// One more than the length of any slice is a number.
const _: () = assert!(isize::MAX.unsigned_abs() < usize::MAX);

impl TextLength {
    /// The value is no text.
    pub(super) const NO_TEXT: Self = Self(None);

    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        Self(NonZeroUsize::new(text.len().wrapping_add(1)))
    }

    /// Whether it is the length of this text.
    #[inline]
    pub(super) fn is_of(self, text: &[u8]) -> bool {
        // As numbers, of which 0 is none: two `Option`s would be looked into first.
        self.0.map_or(0, NonZeroUsize::get) == text.len().wrapping_add(1)
    }
}

/// A value that stands in the buffer. Each kind of value looks at what only it sets.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Spot {
    /// Where in the buffer.
    pub(super) at: u32,
    /// Which of the values.
    pub(super) value: u32,
    /// Its length, if it is text.
    pub(super) text: TextLength,
    /// How many bytes were written, and a bit for each of the first 32.
    pub(super) written: u32,
    pub(super) mask: u32,
    /// The least number that has as many digits, and how many numbers have: whole ones, decimals.
    pub(super) least: u64,
    pub(super) whole: u32,
    pub(super) decimals: u32,
    pub(super) scale: u8,
    /// How digits become text.
    pub(super) form: &'static Form,
    /// Its second, if it is a moment.
    pub(super) second: Option<Second>,
}

// One cache line each.
const _: () = assert!(size_of::<Spot>() == 64);

impl Spot {
    /// What no value can be written over.
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
