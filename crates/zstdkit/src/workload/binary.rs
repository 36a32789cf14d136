//! Data as in object files and column stores: code, relocations, string tables, and columns of numbers
//! that drift, repeat or are random.

use super::prng::{Prng, Zipf};
use super::text::{Words, put};

/// Instructions are drawn from this many patterns of two to seven bytes.
const PATTERNS: usize = 600;
const ROWS: u64 = 512;

pub(super) struct Binary {
    patterns: Vec<Vec<u8>>,
    pattern: Zipf,
    symbols: Words,
    address: u64,
    time: u64,
}

impl Binary {
    pub(super) fn new(prng: &mut Prng) -> Self {
        let patterns = (0..PATTERNS)
            .map(|_| {
                let length = prng.range(2, 8);
                (0..length).map(|_| prng.skewed(8) as u8).collect()
            })
            .collect();
        Self {
            patterns,
            pattern: Zipf::new(PATTERNS),
            symbols: Words::invent(prng, 4000),
            address: 0x40_1000,
            time: 1_767_225_600_000,
        }
    }

    pub(super) fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        match prng.below(10) {
            0..5 => self.code(prng, out),
            5 => self.relocations(prng, out),
            6 => self.strings(prng, out),
            7 => self.times(prng, out),
            8 => Self::measures(prng, out),
            _ => Self::categories(prng, out),
        }
        // Sections start on sixteen bytes.
        while out.len() % 16 != 0 {
            out.push(0);
        }
    }

    fn code(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        for _ in 0..ROWS {
            out.extend_from_slice(&self.patterns[self.pattern.pick(prng)]);
            match prng.below(8) {
                0 => out.extend_from_slice(&(prng.skewed(20) as u32).to_le_bytes()),
                1 | 2 => out.push(prng.skewed(7) as u8),
                _ => {}
            }
        }
    }

    /// Address, kind and symbol, 24 bytes each, addresses rising.
    fn relocations(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        for _ in 0..ROWS / 4 {
            self.address += 4 * prng.range(1, 64);
            out.extend_from_slice(&self.address.to_le_bytes());
            out.extend_from_slice(&(prng.skewed(3) as u32).to_le_bytes());
            out.extend_from_slice(&(prng.skewed(14) as u32).to_le_bytes());
            out.extend_from_slice(&(prng.skewed(10) as i64 - 4).to_le_bytes());
        }
    }

    fn strings(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        for _ in 0..ROWS / 4 {
            put(out, "_ZN");
            put(out, self.symbols.pick(prng));
            put(out, self.symbols.pick(prng));
            put(out, "17h");
            out.push(0);
        }
    }

    /// Timestamps in milliseconds with small steps.
    fn times(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        for _ in 0..ROWS {
            self.time += prng.skewed(11);
            out.extend_from_slice(&self.time.to_le_bytes());
        }
    }

    /// Sixteen-bit samples around a level that wanders.
    fn measures(prng: &mut Prng, out: &mut Vec<u8>) {
        let mut level = 20_000_i32 + prng.below(5000) as i32;
        for _ in 0..ROWS {
            level += prng.below(65) as i32 - 32;
            out.extend_from_slice(&(level as i16).to_le_bytes());
        }
    }

    /// A dictionary-coded column: few values, in runs.
    fn categories(prng: &mut Prng, out: &mut Vec<u8>) {
        let mut left = ROWS * 2;
        while left > 0 {
            let run = (1 + prng.skewed(6)).min(left);
            let value = prng.skewed(5) as u16;
            (0..run).for_each(|_| out.extend_from_slice(&value.to_le_bytes()));
            left -= run;
        }
    }
}
