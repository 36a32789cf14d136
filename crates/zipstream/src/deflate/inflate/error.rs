//! What can be wrong with a stream, and at which bit.

use std::fmt;

/// What is wrong with a stream. More flaws may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InflateFlaw {
    /// A block of the reserved type.
    BlockType,
    /// The length of a stored block differs from its complement.
    StoredLength,
    /// A block describes codes of more symbols than exist.
    Symbols,
    /// The code of code lengths is over-subscribed or incomplete.
    PrecodeLengths,
    /// A repetition of code lengths without a previous length, or beyond the last.
    Repetition,
    /// A block without a code for its end.
    NoEnd,
    /// The code of literals and lengths is over-subscribed or incomplete.
    LitlenLengths,
    /// The code of distances is over-subscribed or incomplete.
    DistanceLengths,
    /// Bits that are neither a literal nor a length.
    Litlen,
    /// Bits that are not a distance.
    Distance,
    /// A distance that reaches before the start of the content.
    TooFar,
    /// The stream ends too early.
    Truncated,
    /// More content than there is room for.
    Room,
}

/// An error in a stream: the flaw and its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InflateError {
    flaw: InflateFlaw,
    bit: u64,
}

impl InflateError {
    pub(super) fn new(flaw: InflateFlaw, bit: u64) -> Self {
        Self { flaw, bit }
    }

    /// The flaw.
    pub fn flaw(&self) -> InflateFlaw {
        self.flaw
    }

    /// The byte of the stream in which the invalid item starts.
    pub fn offset(&self) -> u64 {
        self.bit / 8
    }

    /// The bit of that byte, 0 being the least significant.
    pub fn bit(&self) -> u32 {
        (self.bit % 8) as u32
    }

    /// The flaw in words, without its place.
    pub fn what(&self) -> &'static str {
        match self.flaw {
            InflateFlaw::BlockType => "a block of a reserved type",
            InflateFlaw::StoredLength => "a stored block that states two lengths",
            InflateFlaw::Symbols => "more symbols than there are",
            InflateFlaw::PrecodeLengths => "invalid lengths of the code of code lengths",
            InflateFlaw::Repetition => "a repetition of code lengths that does not fit",
            InflateFlaw::NoEnd => "a block that cannot end",
            InflateFlaw::LitlenLengths => "invalid lengths of the code of literals and lengths",
            InflateFlaw::DistanceLengths => "invalid lengths of the code of distances",
            InflateFlaw::Litlen => "an invalid literal or length",
            InflateFlaw::Distance => "an invalid distance",
            InflateFlaw::TooFar => "a distance beyond the start of the content",
            InflateFlaw::Truncated => "the end of the data before that of the stream",
            InflateFlaw::Room => "more content than there is room for",
        }
    }
}

impl fmt::Display for InflateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, byte, bit) = (self.what(), self.offset(), self.bit());
        write!(f, "{what} at byte {byte}, bit {bit} of the deflate stream")
    }
}

impl std::error::Error for InflateError {}
