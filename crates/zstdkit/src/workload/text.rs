//! Words, names and numbers as bytes, shared by the kinds that are text.

use super::prng::{Prng, Zipf};

const ONSETS: [&str; 20] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "ch", "pl",
    "br", "sp",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "ai"];
const CODAS: [&str; 12] = ["", "", "", "n", "r", "s", "t", "l", "d", "nt", "st", "ng"];
const COMMON: [&str; 48] = [
    "the", "of", "and", "a", "to", "in", "is", "that", "for", "it", "as", "with", "be", "this",
    "by", "are", "or", "an", "from", "not", "which", "at", "value", "if", "returns", "when", "can",
    "will", "type", "has", "must", "been", "any", "all", "one", "than", "after", "before", "may",
    "only", "same", "each", "other", "first", "into", "does", "no", "its",
];

/// A vocabulary in which early words are used far more often than late ones.
pub(super) struct Words {
    words: Vec<String>,
    zipf: Zipf,
}

impl Words {
    /// `invented` words made up by the generator.
    pub(super) fn invent(prng: &mut Prng, invented: usize) -> Self {
        Self::from((0..invented).map(|_| word(prng)).collect())
    }

    /// The commonest English words followed by invented ones.
    pub(super) fn prose(prng: &mut Prng, invented: usize) -> Self {
        let common = COMMON.iter().map(|word| (*word).to_owned());
        Self::from(common.chain((0..invented).map(|_| word(prng))).collect())
    }

    fn from(words: Vec<String>) -> Self {
        let zipf = Zipf::new(words.len());
        Self { words, zipf }
    }

    pub(super) fn pick(&self, prng: &mut Prng) -> &str {
        &self.words[self.zipf.pick(prng)]
    }

    /// Appends `count` words with blanks between them.
    pub(super) fn phrase(&self, prng: &mut Prng, count: u64, out: &mut Vec<u8>) {
        for at in 0..count {
            if at > 0 {
                out.push(b' ');
            }
            put(out, self.pick(prng));
        }
    }

    /// Appends a sentence: a capital, a comma now and then, a full stop.
    pub(super) fn sentence(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        let start = out.len();
        let count = prng.range(5, 17);
        for at in 0..count {
            if at > 0 {
                put(out, if prng.chance(6) { ", " } else { " " });
            }
            put(out, self.pick(prng));
        }
        out[start].make_ascii_uppercase();
        out.push(b'.');
    }
}

/// A pronounceable word of one to four syllables.
pub(super) fn word(prng: &mut Prng) -> String {
    let mut word = String::new();
    for _ in 0..prng.range(1, 5) {
        word.push_str(prng.pick(&ONSETS));
        word.push_str(prng.pick(&VOWELS));
        word.push_str(prng.pick(&CODAS));
    }
    word
}

pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// The last `width` digits, with leading zeros.
pub(super) fn padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let start = out.len();
    out.resize(start + width, b'0');
    let mut value = value;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// The last `width` hexadecimal digits.
pub(super) fn hex(out: &mut Vec<u8>, value: u64, width: u32) {
    for digit in (0..width).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * digit) & 0xf) as usize]);
    }
}

/// A random version 4 UUID.
pub(super) fn uuid(prng: &mut Prng, out: &mut Vec<u8>) {
    let (high, low) = (prng.next(), prng.next());
    hex(out, high >> 32, 8);
    out.push(b'-');
    hex(out, high >> 16, 4);
    put(out, "-4");
    hex(out, high, 3);
    out.push(b'-');
    hex(out, 0x8000 | (low >> 50), 4);
    out.push(b'-');
    hex(out, low, 12);
}

/// A clock that moves forward from the start of 2026 and never past its month's end: a month is
/// long enough for any test, and spares a calendar.
pub(super) struct Clock {
    millis: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            millis: 9 * 3_600_000,
        }
    }

    pub(super) fn advance(&mut self, millis: u64) {
        self.millis = (self.millis + millis) % (28 * 86_400_000);
    }

    pub(super) fn day(&self) -> u64 {
        self.millis / 86_400_000 + 1
    }

    pub(super) fn time_of_day(&self, out: &mut Vec<u8>) {
        let seconds = self.millis / 1000;
        padded(out, seconds / 3600 % 24, 2);
        out.push(b':');
        padded(out, seconds / 60 % 60, 2);
        out.push(b':');
        padded(out, seconds % 60, 2);
    }

    pub(super) fn millis(&self) -> u64 {
        self.millis % 1000
    }
}
