//! Finite-state entropy: tables of counts, and decoding tables made from them (RFC 8878, section 4.1).

use super::Reason;
use super::bits::BitStream;

/// The largest table of a sequences section.
const ENTRIES: usize = 1 << 9;
/// The least accuracy that a table of counts can state.
const LOG_MIN: u32 = 5;
/// The most accuracy that a table of counts can state.
const LOG_MAX: u32 = 15;

/// How often each symbol occurs in a table of `1 << log` states. -1: less than once.
#[derive(Debug)]
pub(super) struct Counts {
    counts: [i16; 256],
    symbols: usize,
    pub(super) log: u32,
    /// The length of its description.
    pub(super) bytes: usize,
}

impl Counts {
    /// Reads a table of counts for symbols up to `symbol_max`. This follows libzstd closely, because it decides
    /// what libzstd accepts when a description ends with its input.
    pub(super) fn read(input: &[u8], symbol_max: usize) -> Result<Self, Reason> {
        let mut padded = [0; 8];
        if input.len() >= padded.len() {
            return Self::read_long(input, symbol_max);
        }
        padded[..input.len()].copy_from_slice(input);
        let counts = Self::read_long(&padded, symbol_max)?;
        if counts.bytes > input.len() {
            return Err("entropy table is cut short");
        }
        Ok(counts)
    }

    fn read_long(input: &[u8], symbol_max: usize) -> Result<Self, Reason> {
        let end = input.len();
        let bits_at = |at: usize| -> u32 {
            let chunk = input.get(at..).and_then(|rest| rest.first_chunk::<4>());
            chunk.map_or(0, |&chunk| u32::from_le_bytes(chunk))
        };
        let mut counts = [0_i16; 256];
        let mut at = 0_usize;
        let mut bits = bits_at(at);
        let log = (bits & 0xf) + LOG_MIN;
        if log > LOG_MAX {
            return Err("entropy table too large");
        }
        bits >>= 4;
        let mut used = 4_usize;
        let mut remaining = (1_i32 << log) + 1;
        let mut threshold = 1_i32 << log;
        let mut width = log + 1;
        let mut symbol = 0_usize;
        let mut after_zero = false;
        let advance = |at: &mut usize, used: &mut usize| {
            if *at + 7 <= end || *at + (*used >> 3) + 4 <= end {
                *at += *used >> 3;
                *used &= 7;
            } else {
                *used = used.wrapping_sub(8 * (end - 4 - *at)) & 31;
                *at = end - 4;
            }
        };
        loop {
            if after_zero {
                let mut repeats = ((!bits | 0x8000_0000).trailing_zeros() >> 1) as usize;
                while repeats >= 12 {
                    symbol += 3 * 12;
                    if at + 7 <= end {
                        at += 3;
                    } else {
                        // `at` may be behind `end - 7` by up to three bytes.
                        used =
                            used.wrapping_sub((8 * (end as isize - 7 - at as isize)) as usize) & 31;
                        at = end - 4;
                    }
                    bits = bits_at(at) >> used;
                    repeats = ((!bits | 0x8000_0000).trailing_zeros() >> 1) as usize;
                }
                symbol += 3 * repeats;
                bits >>= 2 * repeats;
                used += 2 * repeats;
                symbol += (bits & 3) as usize;
                used += 2;
                if symbol > symbol_max {
                    break;
                }
                advance(&mut at, &mut used);
                bits = bits_at(at) >> used;
            }
            let max = 2 * threshold - 1 - remaining;
            let low = (bits & (threshold as u32 - 1)) as i32;
            let mut count = low;
            if low < max {
                used += width as usize - 1;
            } else {
                count = (bits & (2 * threshold as u32 - 1)) as i32;
                if count >= threshold {
                    count -= max;
                }
                used += width as usize;
            }
            count -= 1;
            remaining -= count.abs();
            counts[symbol] = count as i16;
            symbol += 1;
            after_zero = count == 0;
            if remaining < threshold {
                if remaining <= 1 {
                    break;
                }
                width = remaining.ilog2() + 1;
                threshold = 1 << (width - 1);
            }
            if symbol > symbol_max {
                break;
            }
            advance(&mut at, &mut used);
            bits = bits_at(at) >> used;
        }
        if remaining != 1 || used > 32 {
            return Err("entropy table does not add up");
        }
        if symbol > symbol_max + 1 {
            return Err("entropy table with wrong symbols");
        }
        Ok(Self {
            counts,
            symbols: symbol,
            log,
            bytes: at + used.div_ceil(8),
        })
    }

    fn fixed(log: u32, given: &[i16]) -> Self {
        let mut counts = [0; 256];
        counts[..given.len()].copy_from_slice(given);
        Self {
            counts,
            symbols: given.len(),
            log,
            bytes: 0,
        }
    }

    /// Calls `entry` for each state with its symbol, the bits to read, and the base of the next state.
    pub(super) fn states(&self, mut entry: impl FnMut(usize, u8, u32, u32)) {
        let size = 1_usize << self.log;
        let mask = size - 1;
        let step = (size >> 1) + (size >> 3) + 3;
        let mut symbols = [0_u8; ENTRIES];
        let mut next = [0_u16; 256];
        let mut high = size;
        for (symbol, &count) in self.counts[..self.symbols].iter().enumerate() {
            next[symbol] = count.unsigned_abs();
            if count == -1 {
                high -= 1;
                symbols[high & (ENTRIES - 1)] = symbol as u8;
            }
        }
        let mut at = 0;
        for (symbol, &count) in self.counts[..self.symbols].iter().enumerate() {
            for _ in 0..count.max(0) {
                symbols[at & (ENTRIES - 1)] = symbol as u8;
                at = (at + step) & mask;
                while at >= high {
                    at = (at + step) & mask;
                }
            }
        }
        for (state, &symbol) in symbols[..size].iter().enumerate() {
            let from = u32::from(next[usize::from(symbol)]);
            next[usize::from(symbol)] += 1;
            let bits = self.log - from.max(1).ilog2();
            entry(state, symbol, bits, (from << bits) - size as u32);
        }
    }
}

/// What the symbols of a table stand for.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) log_max: u32,
    pub(super) symbol_max: usize,
    log: u32,
    /// The counts of the table that needs no description.
    counts: &'static [i16],
    /// The value that a symbol begins at, and how many extra bits are added to it.
    values: fn(usize) -> (u32, u8),
}

/// The lengths of literals.
pub(super) const LITERALS: Code = Code {
    log_max: 9,
    symbol_max: 35,
    log: 6,
    counts: &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1,
        1, 1, -1, -1, -1, -1,
    ],
    values: |symbol| match LITERAL_VALUES.get(symbol.wrapping_sub(16)) {
        Some(&value) => value,
        None => (symbol as u32, 0),
    },
};

const LITERAL_VALUES: [(u32, u8); 20] = [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
    (512, 9),
    (1024, 10),
    (2048, 11),
    (4096, 12),
    (8192, 13),
    (16384, 14),
    (32768, 15),
    (65536, 16),
];

/// The lengths of matches.
pub(super) const MATCHES: Code = Code {
    log_max: 9,
    symbol_max: 52,
    log: 6,
    counts: &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
    values: |symbol| match MATCH_VALUES.get(symbol.wrapping_sub(32)) {
        Some(&value) => value,
        None => (symbol as u32 + 3, 0),
    },
};

const MATCH_VALUES: [(u32, u8); 21] = [
    (35, 1),
    (37, 1),
    (39, 1),
    (41, 1),
    (43, 2),
    (47, 2),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 5),
    (131, 7),
    (259, 8),
    (515, 9),
    (1027, 10),
    (2051, 11),
    (4099, 12),
    (8195, 13),
    (16387, 14),
    (32771, 15),
    (65539, 16),
];

/// Offsets: 1 to 3 repeat an earlier one, others are 3 larger than the distance.
pub(super) const OFFSETS: Code = Code {
    log_max: 8,
    symbol_max: 31,
    log: 5,
    counts: &[
        1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
    ],
    values: |symbol| (1 << symbol, symbol as u8),
};

/// A decoding table of a sequences section.
///
/// An entry has, from its lowest bit: the number of extra bits of the value (8), the number of bits of the next
/// state (8), the base of the next state (16), the base of the value (32). The sum of three entries has the sums of
/// the bits.
pub(super) struct SequenceTable {
    pub(super) log: u32,
    pub(super) entries: [u64; ENTRIES],
}

impl SequenceTable {
    pub(super) fn new(counts: &Counts, code: &Code) -> Box<Self> {
        let mut table = Box::new(Self {
            log: counts.log,
            entries: [0; ENTRIES],
        });
        counts.states(|state, symbol, bits, next| {
            let (base, extra) = (code.values)(symbol.into());
            table.entries[state] = entry(base, extra, bits, next);
        });
        table
    }

    /// The table that needs no description.
    pub(super) fn predefined(code: &Code) -> Box<Self> {
        Self::new(&Counts::fixed(code.log, code.counts), code)
    }

    /// The table of a single symbol.
    pub(super) fn single(symbol: u8, code: &Code) -> Result<Box<Self>, Reason> {
        if usize::from(symbol) > code.symbol_max {
            return Err("entropy table with wrong symbols");
        }
        let (base, extra) = (code.values)(symbol.into());
        let mut entries = [0; ENTRIES];
        entries[0] = entry(base, extra, 0, 0);
        Ok(Box::new(Self { log: 0, entries }))
    }

    /// Reads a table. Returns the length of its description too.
    pub(super) fn read(input: &[u8], code: &Code) -> Result<(Box<Self>, usize), Reason> {
        let counts = Counts::read(input, code.symbol_max)?;
        if counts.log > code.log_max {
            return Err("entropy table too large");
        }
        Ok((Self::new(&counts, code), counts.bytes))
    }
}

fn entry(base: u32, extra: u8, bits: u32, next: u32) -> u64 {
    u64::from(extra) | u64::from(bits) << 8 | u64::from(next) << 16 | u64::from(base) << 32
}

/// Decodes the weights of a Huffman tree. Returns how many there are.
pub(super) fn decode_weights(
    bytes: &[u8],
    start: usize,
    end: usize,
    weights: &mut [u8; 256],
) -> Result<usize, Reason> {
    /// Tables of weights have at most this accuracy.
    const WEIGHTS_LOG_MAX: u32 = 6;
    const WEIGHTS_MAX: usize = 255;
    let input = bytes.get(start..end).unwrap_or(&[]);
    let counts = Counts::read(input, 255)?;
    if counts.log > WEIGHTS_LOG_MAX {
        return Err("entropy table too large");
    }
    let mut table = [(0_u8, 0_u8, 0_u8); 1 << WEIGHTS_LOG_MAX];
    counts.states(|state, symbol, bits, next| table[state] = (symbol, bits as u8, next as u8));
    let mut stream = BitStream::open(bytes, start + counts.bytes, end)
        .ok_or("a bit stream without its end mark")?;
    let mut states = [0; 2];
    for state in &mut states {
        *state = stream.take(bytes, counts.log) as usize;
    }
    if stream.is_overrun() {
        return Err("Huffman tree is cut short");
    }
    let mut count = 0;
    loop {
        for turn in 0..2 {
            if count > WEIGHTS_MAX - 2 {
                return Err("Huffman tree of too many symbols");
            }
            let (symbol, bits, next) = table[states[turn] & 63];
            weights[count] = symbol;
            count += 1;
            states[turn] = usize::from(next) + stream.take(bytes, bits.into()) as usize;
            if stream.is_overrun() {
                weights[count] = table[states[1 - turn] & 63].0;
                return Ok(count + 1);
            }
        }
    }
}
