//! What `Auto` comes to: a look at a sample of the first block. Nothing here knows parameters.

use super::Recipe;

/// Only this much of the content is looked at, one block.
const FIRST_BYTES: usize = 128 << 10;
/// The sample: so many pieces of so many bytes, spread evenly.
const PIECES: usize = 8;
const PIECE_BYTES: usize = 2 << 10;
/// Less than this says nothing about its kind.
const TELLING_BYTES: usize = 64;
/// Bits a byte from which the bytes themselves hold no redundancy.
const INCOMPRESSIBLE_BITS: f64 = 7.85;
/// Bits a byte up to which everything is one long repeat, and all recipes come to the same.
const CONSTANT_BITS: f64 = 0.1;
const HASH_LOG: u32 = 12;

pub(super) fn choose(first: &[u8], content_bytes: Option<u64>) -> Recipe {
    let content = content_bytes.map_or(usize::MAX, |bytes| {
        usize::try_from(bytes).unwrap_or(usize::MAX)
    });
    let first = &first[..first.len().min(FIRST_BYTES).min(content)];
    if first.len() < TELLING_BYTES {
        return Recipe::Balanced;
    }
    let sample = Sample::take(first);
    let bits = sample.entropy_bits();
    if bits >= INCOMPRESSIBLE_BITS && sample.repeats_share() < 0.05 {
        return Recipe::Fast;
    }
    if bits <= CONSTANT_BITS {
        return Recipe::Balanced;
    }
    match sample.text {
        true if sample.is_structured() => Recipe::StructuredData,
        true => Recipe::Text,
        false => Recipe::Binary,
    }
}

/// What was counted.
struct Sample {
    bytes: usize,
    counts: [u32; 256],
    /// Positions whose next four bytes were seen before.
    repeats: usize,
    /// Whether every piece is UTF-8 without control characters.
    text: bool,
}

impl Sample {
    fn take(first: &[u8]) -> Self {
        let mut sample = Self {
            bytes: 0,
            counts: [0; 256],
            repeats: 0,
            text: true,
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
        // Four tables: a run of one byte would otherwise wait for itself at each step.
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
        let mut controls = 0;
        for byte in 0..256 {
            let count = counts.iter().map(|table| table[byte]).sum::<u32>();
            self.counts[byte] += count;
            if matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31 | 127) {
                controls += count;
            }
        }
        for window in piece.windows(4) {
            let word = u32::from_le_bytes([window[0], window[1], window[2], window[3]]);
            let slot = (word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_LOG)) as usize;
            self.repeats += usize::from(seen[slot] == word);
            seen[slot] = word;
        }
        self.text &= controls == 0 && is_utf8(piece);
    }

    /// Order-0 entropy in bits a byte, with what a sample of this size shows too little of it.
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

    /// Fields rather than sentences: digits and separators, and no tags.
    fn is_structured(&self) -> bool {
        let fields = self.share(b'0'..=b'9') + self.share(*b"\"{}[],:;|\t=");
        let tags = self.share(*b"<>");
        fields > 0.12 && tags < 0.02
    }
}

/// Whether a piece that was cut anywhere is UTF-8.
fn is_utf8(piece: &[u8]) -> bool {
    let start = piece
        .iter()
        .take(3)
        .take_while(|&&byte| byte & 0xc0 == 0x80)
        .count();
    match std::str::from_utf8(&piece[start..]) {
        Ok(_) => true,
        // Cut in the middle of its last character.
        Err(error) => error.error_len().is_none(),
    }
}
