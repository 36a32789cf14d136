//! Decoding tables, built from code lengths.
//!
//! A main table is indexed by a fixed number of bits. Longer codes share second tables after it,
//! one per prefix.

use std::sync::OnceLock;

use super::super::symbols::{FIXED_DISTANCES, FIXED_LITLENS};
use super::entry::{DISTANCE_SYMBOLS, LITLEN_SYMBOLS, NOTHING, PRECODE_SYMBOLS, entry, link};

/// Index bits of a main table.
pub(super) const LITLEN_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 8;
/// Of the table of packs.
pub(super) const PACK_BITS: u32 = 12;
pub(super) const PRECODE_BITS: u32 = 7;
/// Slots of a table with its second tables: at most 2342 and 402 are used, the rest allows a mask
/// instead of a comparison.
pub(super) const LITLEN_PLACES: usize = 4096;
pub(super) const DISTANCE_PLACES: usize = 512;
/// Slots of the table of packs.
pub(super) const PACK_PLACES: usize = 1 << PACK_BITS;
/// The longest code.
pub(super) const BITS_MAX: usize = 15;

/// The tables of a block, which are copied in steps of lines of the cache while they are made.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Codes {
    pub(super) litlen: [u32; LITLEN_PLACES],
    pub(super) distance: [u32; DISTANCE_PLACES],
    /// Literals and lengths again, several of them in an entry, if the block had them
    /// made.
    pub(super) packs: [u32; PACK_PLACES],
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            litlen: [NOTHING; LITLEN_PLACES],
            distance: [NOTHING; DISTANCE_PLACES],
            packs: [NOTHING; PACK_PLACES],
        }
    }
}

impl Codes {
    /// The codes of fixed blocks.
    pub(super) fn fixed() -> &'static Self {
        static FIXED: OnceLock<Box<Codes>> = OnceLock::new();
        FIXED.get_or_init(|| {
            let mut codes = Box::<Self>::default();
            // The lengths are fixed by the format.
            let _ = codes.set_litlen(&FIXED_LITLENS) && codes.set_distance(&FIXED_DISTANCES);
            codes
        })
    }

    /// Builds the table of literals and lengths; `false` if the lengths are invalid.
    pub(super) fn set_litlen(&mut self, lengths: &[u8]) -> bool {
        build(&mut self.litlen, lengths, &LITLEN_SYMBOLS, LITLEN_BITS)
    }

    /// Builds the table of distances.
    pub(super) fn set_distance(&mut self, lengths: &[u8]) -> bool {
        build(
            &mut self.distance,
            lengths,
            &DISTANCE_SYMBOLS,
            DISTANCE_BITS,
        )
    }
}

/// Builds the table of code lengths, whose code must be complete.
pub(super) fn precode(table: &mut [u32; 1 << PRECODE_BITS], lengths: &[u8; 19]) -> bool {
    let used = lengths.iter().filter(|&&length| length > 0).count();
    // A code of one symbol is never complete.
    used > 1 && build(table, lengths, &PRECODE_SYMBOLS, PRECODE_BITS)
}

/// The number of codes of each length, and the symbols by code length.
pub(super) struct Sorted {
    pub(super) counts: [u16; BITS_MAX + 1],
    /// There are more places than symbols, so that a mask is enough.
    pub(super) symbols: [u16; SORTED_PLACES],
}

const SORTED_PLACES: usize = 512;

impl Sorted {
    pub(super) fn new(lengths: &[u8]) -> Self {
        // Several counts of each, as neighbours are often alike and one count has to wait for the one before.
        let mut all = [[0_u16; BITS_MAX + 1]; 4];
        let groups = lengths.chunks_exact(4);
        for &length in groups.remainder() {
            all[0][usize::from(length & 15)] += 1;
        }
        for group in groups {
            for (counts, &length) in all.iter_mut().zip(group) {
                counts[usize::from(length & 15)] += 1;
            }
        }
        let mut counts = [0_u16; BITS_MAX + 1];
        for part in all {
            counts
                .iter_mut()
                .zip(part)
                .for_each(|(all, some)| *all += some);
        }
        counts[0] = 0;
        let mut next = [0_u16; BITS_MAX + 1];
        for length in 1..BITS_MAX {
            next[length + 1] = next[length] + counts[length];
        }
        let mut symbols = [0; SORTED_PLACES];
        for (symbol, &length) in (0..).zip(lengths) {
            if length > 0 {
                let place = &mut next[usize::from(length & 15)];
                symbols[usize::from(*place) & (SORTED_PLACES - 1)] = symbol;
                *place += 1;
            }
        }
        Self { counts, symbols }
    }

    /// The unassigned part of the code space, in units of 2^-15; `None` if there are too many
    /// codes.
    fn left(&self) -> Option<u32> {
        let mut left = 1_u32;
        for &count in &self.counts[1..] {
            left = (left << 1).checked_sub(u32::from(count))?;
        }
        Some(left)
    }
}

/// Builds a table. `false` if there are too many codes, or too few: one code of one bit and no code
/// at all are allowed.
fn build<const N: usize>(
    table: &mut [u32; N],
    lengths: &[u8],
    values: &[u32],
    main_bits: u32,
) -> bool {
    let sorted = Sorted::new(lengths);
    match sorted.left() {
        Some(0) => {}
        Some(left) => {
            let none = left == 1 << BITS_MAX;
            let single = left == 1 << (BITS_MAX - 1) && sorted.counts[1] == 1;
            if !none && !single {
                return false;
            }
            table[..1 << main_bits].fill(NOTHING);
            if none {
                return true;
            }
        }
        None => return false,
    }
    let value = |symbol: u16| values.get(usize::from(symbol)).copied().unwrap_or(NOTHING);
    let mut symbols = sorted.symbols.iter().copied();
    // Codes are sent most significant bit first.
    let mut code = 0_u32;
    let mut size = 1_usize;
    let single = sorted.counts[1] == 1 && sorted.counts[2..].iter().all(|&count| count == 0);
    for bits in 1..=main_bits {
        if !single {
            // Entries for shorter prefixes apply to both longer ones.
            table.copy_within(..size, size);
        }
        size <<= 1;
        let count = usize::from(sorted.counts[bits as usize]);
        for symbol in symbols.by_ref().take(count) {
            table[code as usize & (N - 1)] = entry(value(symbol), bits);
            code = following(code, bits);
        }
    }
    if single {
        let only = table[0];
        table[..1 << main_bits]
            .iter_mut()
            .step_by(2)
            .for_each(|place| *place = only);
        return true;
    }
    build_second(table, &sorted, symbols, value, (code, main_bits));
    true
}

/// Builds second tables for the codes that are longer than the main index, from `code` on.
fn build_second<const N: usize>(
    table: &mut [u32; N],
    sorted: &Sorted,
    mut symbols: impl Iterator<Item = u16>,
    value: impl Fn(u16) -> u32,
    (mut code, main_bits): (u32, u32),
) {
    let main_mask = (1_u32 << main_bits) - 1;
    let mut beginning = u32::MAX;
    let (mut start, mut end) = (0_usize, 1_usize << main_bits);
    for bits in main_bits + 1..=BITS_MAX as u32 {
        let mut left = u32::from(sorted.counts[bits as usize]);
        while left > 0 {
            if code & main_mask != beginning {
                beginning = code & main_mask;
                start = end;
                let second_bits = second_bits(sorted, bits, left, main_bits);
                end = start + (1 << second_bits);
                table[beginning as usize] = link(start, second_bits, main_bits);
            }
            let Some(symbol) = symbols.next() else {
                return;
            };
            let filled = entry(value(symbol), bits - main_bits);
            let first = start + (code >> main_bits) as usize;
            let places = table.get_mut(first..end).unwrap_or_default();
            let step = 1 << (bits - main_bits);
            places
                .iter_mut()
                .step_by(step)
                .for_each(|place| *place = filled);
            code = following(code, bits);
            left -= 1;
        }
    }
}

/// Index bits of a second table whose first code has `bits` bits, with `left` codes left.
fn second_bits(sorted: &Sorted, bits: u32, left: u32, main_bits: u32) -> u32 {
    let mut second_bits = bits - main_bits;
    let mut used = left;
    while used < 1 << second_bits && main_bits + second_bits < BITS_MAX as u32 {
        second_bits += 1;
        let count = sorted.counts[(main_bits + second_bits) as usize];
        used = (used << 1) + u32::from(count);
    }
    second_bits
}

/// The next code of `bits` bits, bit-reversed; 0 after the last.
#[inline(always)]
pub(super) fn following(code: u32, bits: u32) -> u32 {
    let zeros = code ^ ((1 << bits) - 1);
    let Some(highest) = zeros.checked_ilog2() else {
        return 0;
    };
    code & ((1 << highest) - 1) | 1 << highest
}
