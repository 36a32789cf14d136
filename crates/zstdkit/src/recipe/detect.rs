//! Detects the kind of content from a sample of the first block, and the recipe that `Auto` chooses for
//! it. Parameters are not known here.

use super::purpose::Recipe;

/// The kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// Too short to detect.
    TooShort,
    /// One long repeat.
    Constant,
    /// Already compressed, or random.
    Incompressible,
    /// Random digits in fields.
    RandomDigits,
    /// Short fields that repeat.
    Structured,
    /// Prose, markup, source code.
    Text,
    /// None of these.
    Binary,
}

/// Only this much of the content is examined: one block.
const FIRST_BYTES: usize = 128 << 10;
/// The number of pieces of the sample, which are spread evenly, and their size.
const PIECES: usize = 8;
const PIECE_BYTES: usize = 2 << 10;
/// Less content than this is too short to detect its kind.
const TELLING_BYTES: usize = 64;
/// Bits per byte from which the bytes themselves have no redundancy …
const INCOMPRESSIBLE_BITS: f64 = 7.8;
/// … if a smaller share of positions than this repeats four earlier bytes.
const INCOMPRESSIBLE_REPEATS: f64 = 0.1;
/// Structured content that repeats less than this is random digits: there is nothing to find.
const RANDOM_REPEATS: f64 = 0.25;
/// Bits per byte up to which the content is one long repeat, for which all recipes are alike.
const CONSTANT_BITS: f64 = 0.1;
const HASH_LOG: u32 = 13;
/// In text at most one byte in this many is a control character.
const STRAY: u32 = 512;

impl ContentKind {
    /// The recipe for this kind.
    pub(super) fn recipe(self) -> Recipe {
        match self {
            Self::TooShort | Self::Constant => Recipe::Balanced,
            Self::Incompressible | Self::RandomDigits => Recipe::Fast,
            Self::Structured => Recipe::StructuredData,
            Self::Text => Recipe::Text,
            Self::Binary => Recipe::Binary,
        }
    }

    /// The kind of content that starts with `first`.
    pub(super) fn of(first: &[u8], content_bytes: Option<u64>) -> Self {
        let content = content_bytes.map_or(usize::MAX, |bytes| {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        });
        let first = &first[..first.len().min(FIRST_BYTES).min(content)];
        if first.len() < TELLING_BYTES {
            return Self::TooShort;
        }
        let sample = Sample::take(first);
        let bits = sample.entropy_bits();
        if bits >= INCOMPRESSIBLE_BITS && sample.repeats_share() < INCOMPRESSIBLE_REPEATS {
            return Self::Incompressible;
        }
        if bits <= CONSTANT_BITS {
            return Self::Constant;
        }
        match (sample.is_text(), sample.is_structured()) {
            (true, true) if sample.repeats_share() < RANDOM_REPEATS => Self::RandomDigits,
            (true, true) => Self::Structured,
            (true, false) => Self::Text,
            (false, _) => Self::Binary,
        }
    }
}

/// Statistics of the sample.
struct Sample {
    bytes: usize,
    counts: [u32; 256],
    /// Positions whose next four bytes occurred earlier.
    repeats: usize,
    /// Whether every piece is UTF-8.
    utf8: bool,
}

impl Sample {
    fn take(first: &[u8]) -> Self {
        let mut sample = Self {
            bytes: 0,
            counts: [0; 256],
            repeats: 0,
            utf8: true,
        };
        let mut seen = vec![0_u32; 1 << HASH_LOG];
        if first.len() <= PIECES * PIECE_BYTES {
            sample.add(first, &mut seen);
            return sample;
        }
        let stride = (first.len() - PIECE_BYTES) / (PIECES - 1);
        for piece in 0..PIECES {
            sample.add(&first[piece * stride..][..PIECE_BYTES], &mut seen);
        }
        sample
    }

    fn add(&mut self, piece: &[u8], seen: &mut [u32]) {
        self.bytes += piece.len();
        // Four tables, because a run of equal bytes would stall on a single counter.
        let mut counts = [[0_u32; 256]; 4];
        let mut quads = piece.chunks_exact(4);
        for quad in &mut quads {
            for (count, &byte) in counts.iter_mut().zip(quad) {
                count[usize::from(byte)] += 1;
            }
        }
        for &byte in quads.remainder() {
            counts[0][usize::from(byte)] += 1;
        }
        for (byte, total) in self.counts.iter_mut().enumerate() {
            *total += counts.iter().map(|table| table[byte]).sum::<u32>();
        }
        for window in piece.windows(4) {
            let word = u32::from_le_bytes([window[0], window[1], window[2], window[3]]);
            let slot = (word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_LOG)) as usize;
            self.repeats += usize::from(seen[slot] == word);
            seen[slot] = word;
        }
        self.utf8 &= is_utf8(piece);
    }

    /// Order-0 entropy in bits per byte, corrected for the bias of a sample of this size.
    fn entropy_bits(&self) -> f64 {
        let bytes = self.bytes as f64;
        let mut bits = 0.0;
        let mut symbols = 0.0;
        for &count in self.counts.iter().filter(|&&count| count > 0) {
            let share = f64::from(count) / bytes;
            bits -= share * share.log2();
            symbols += 1.0;
        }
        bits + (symbols - 1.0) / (2.0 * bytes * std::f64::consts::LN_2)
    }

    fn repeats_share(&self) -> f64 {
        self.repeats as f64 / self.bytes as f64
    }

    fn share(&self, bytes: impl IntoIterator<Item = u8>) -> f64 {
        let count: u32 = bytes
            .into_iter()
            .map(|byte| self.counts[usize::from(byte)])
            .sum();
        f64::from(count) / self.bytes as f64
    }

    /// Almost no control characters, and UTF-8 or mostly ASCII.
    fn is_text(&self) -> bool {
        let controls = (0..=8)
            .chain([11])
            .chain(14..=26)
            .chain(28..=31)
            .chain([127]);
        self.share(controls) * f64::from(STRAY) <= 1.0
            && (self.utf8 || self.share(128..=255) < 0.15)
    }

    /// Fields instead of sentences or tags: mostly digits and separators, or quoted keys, or lines that
    /// repeat the previous one except for a number. Shares refer to the bytes that are not spaces.
    fn is_structured(&self) -> bool {
        let solid = (1.0 - self.share(*b" ")).max(f64::MIN_POSITIVE);
        let digits = self.share(b'0'..=b'9') / solid;
        let quotes = self.share(*b"\"") / solid;
        let fields = digits + quotes + self.share(*b"{}[],:;|\t=") / solid;
        let tags = self.share(*b"<>") / solid;
        // A small sample repeats less.
        let repeating = if self.bytes < PIECES * PIECE_BYTES / 2 {
            0.6
        } else {
            0.8
        };
        let lines = digits > 0.07 && self.repeats_share() > repeating;
        tags < 0.02 && (fields > 0.25 || quotes > 0.06 || lines)
    }
}

/// Whether a piece is UTF-8, even if its first or last character is cut.
fn is_utf8(piece: &[u8]) -> bool {
    let start = piece
        .iter()
        .take(3)
        .take_while(|&&byte| byte & 0xc0 == 0x80)
        .count();
    match std::str::from_utf8(&piece[start..]) {
        Ok(_) => true,
        // Only its last character is cut.
        Err(error) => error.error_len().is_none(),
    }
}
