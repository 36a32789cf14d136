//! A table whose entries stand for up to three literals, or for a literal and a length, where the codes of
//! all of them fit into its index. It is made for blocks that are long enough to gain by it.

use super::super::symbols::{END, LITLENS};
use super::entry::{
    LITLEN_SYMBOLS, entry, literal_and_length, one_literal, third_literal, two_literals,
};
use super::table::{BITS_MAX, Codes, LITLEN_BITS, PACK_BITS, PACK_PLACES, Sorted, following};

const MAIN_MASK: usize = (1 << LITLEN_BITS) - 1;
/// Input of a block before its table is made, if nothing says how long it is.
const WAIT_BYTES: usize = 2 << 10;
/// How many of all indexes have to stand for more than one symbol, as reading packs takes more, too.
const SHARE_MIN: u32 = PACK_PLACES as u32 * 28 / 100;
/// The least product of them and of the bytes to come: what making the table takes.
const GAIN_MIN: u64 = 8 << 20;

/// Whether a block has packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Packing {
    /// It is decided after so many bytes of input.
    Wait(usize),
    /// The table is that of the block.
    Done,
    /// They would not pay.
    #[default]
    None,
}

impl Packing {
    /// At the start of a block, by the bytes of the one before, if there was one: they are often alike.
    pub(super) fn start(before: Option<usize>) -> Self {
        match before {
            None => Self::Wait(WAIT_BYTES),
            Some(bytes) if PACK_PLACES as u64 * bytes as u64 <= GAIN_MIN => Self::None,
            Some(_) => Self::Wait(0),
        }
    }

    /// Counts input; whether it is time to decide.
    pub(super) fn waited(&mut self, bytes: usize) -> bool {
        let Self::Wait(left) = self else {
            return false;
        };
        *left = left.saturating_sub(bytes);
        *left == 0
    }

    /// Makes the table for codes of these lengths, which are complete, if it pays in about this many bytes to
    /// come.
    pub(super) fn decide(ahead: usize, codes: &mut Codes, lengths: &[u8]) -> Self {
        if !pay(lengths, ahead) {
            return Self::None;
        }
        build(codes, lengths);
        Self::Done
    }
}

/// Makes the table for codes of these lengths, which are complete.
#[inline(never)]
fn build(codes: &mut Codes, lengths: &[u8]) {
    let all = Symbols::new(codes, lengths);
    let table = &mut codes.packs;
    for bits in 1..=PACK_BITS {
        // Entries for shorter codes apply to both longer indexes.
        let half = 1 << (bits - 1);
        table.copy_within(..half, half);
        for group in [&all.literals, &all.lengths, &all.others] {
            for one in group.of(bits) {
                put(table, one.code, one.entry);
            }
        }
        pairs(table, &all, bits);
        triples(table, &all, bits);
    }
    for bits in PACK_BITS + 1..=BITS_MAX as u32 {
        for one in all.others.of(bits) {
            put(table, one.code, one.entry);
        }
    }
}

/// Whether entries for several symbols are asked for often enough in this many bytes.
fn pay(lengths: &[u8], ahead: usize) -> bool {
    let mut literals = [0_u32; BITS_MAX + 1];
    let mut symbols = [0_u32; BITS_MAX + 1];
    for (symbol, &bits) in lengths.iter().enumerate() {
        let bits = usize::from(bits & 15);
        literals[bits] += u32::from(symbol < END);
        symbols[bits] += u32::from(symbol != END);
    }
    let mut share = 0;
    for first in 1..PACK_BITS {
        for second in 1..=PACK_BITS - first {
            let both = literals[first as usize] * symbols[second as usize];
            share += both << (PACK_BITS - first - second);
        }
    }
    share >= SHARE_MIN && u64::from(share) * ahead as u64 >= GAIN_MIN
}

/// Has `code` stand for `entry`; only the bits of an index count.
#[inline(always)]
fn put(table: &mut [u32; PACK_PLACES], code: u16, entry: u32) {
    table[usize::from(code) & (PACK_PLACES - 1)] = entry;
}

/// A literal, then a literal or a length, whose codes have `bits` bits together.
fn pairs(table: &mut [u32; PACK_PLACES], all: &Symbols, bits: u32) {
    for first_bits in 1..bits {
        let (literals, lengths) = (&all.literals, &all.lengths);
        for first in literals.of(first_bits) {
            for second in literals.of(bits - first_bits) {
                let code = first.code | second.code << first_bits;
                put(table, code, two_literals(first.entry, second.entry));
            }
            for length in lengths.of(bits - first_bits) {
                let code = first.code | length.code << first_bits;
                put(table, code, literal_and_length(first.entry, length.entry));
            }
        }
    }
}

/// Three literals whose codes have `bits` bits together.
fn triples(table: &mut [u32; PACK_PLACES], all: &Symbols, bits: u32) {
    let literals = &all.literals;
    for first_bits in 1..bits.saturating_sub(1) {
        for second_bits in 1..bits - first_bits {
            let both_bits = first_bits + second_bits;
            let thirds = literals.of(bits - both_bits);
            if thirds.is_empty() {
                continue;
            }
            for first in literals.of(first_bits) {
                for second in literals.of(second_bits) {
                    let both = first.code | second.code << first_bits;
                    let entry = two_literals(first.entry, second.entry);
                    for third in thirds {
                        let code = both | third.code << both_bits;
                        put(table, code, third_literal(entry, third.entry));
                    }
                }
            }
        }
    }
}

/// A code and its entry.
#[derive(Debug, Clone, Copy, Default)]
struct Coded {
    code: u16,
    entry: u32,
}

/// Symbols by the lengths of their codes.
struct Group {
    coded: [Coded; LITLENS],
    /// Where the symbols of each length end.
    ends: [usize; BITS_MAX + 1],
}

impl Default for Group {
    fn default() -> Self {
        Self {
            coded: [Coded::default(); LITLENS],
            ends: [0; BITS_MAX + 1],
        }
    }
}

impl Group {
    /// Adds a symbol; none of those before has a longer code.
    fn push(&mut self, bits: usize, one: Coded) {
        let end = self.ends[bits];
        if let Some(place) = self.coded.get_mut(end) {
            *place = one;
        }
        self.ends[bits..].fill(end + 1);
    }

    /// Those whose codes have so many bits.
    #[inline]
    fn of(&self, bits: u32) -> &[Coded] {
        let bits = bits as usize & BITS_MAX;
        let start = self.ends[bits.saturating_sub(1)];
        self.coded.get(start..self.ends[bits]).unwrap_or_default()
    }
}

/// The symbols of a block.
#[derive(Default)]
struct Symbols {
    literals: Group,
    lengths: Group,
    /// The end, and links for codes that are longer than an index.
    others: Group,
}

impl Symbols {
    fn new(codes: &Codes, lengths: &[u8]) -> Self {
        let mut all = Self::default();
        let sorted = Sorted::new(lengths);
        let mut symbols = sorted.symbols.iter();
        let mut code = 0;
        for bits in 1..=BITS_MAX {
            for &symbol in symbols.by_ref().take(usize::from(sorted.counts[bits])) {
                let symbol = usize::from(symbol);
                let group = match symbol {
                    _ if bits > PACK_BITS as usize => &mut all.others,
                    END => &mut all.others,
                    ..END => &mut all.literals,
                    _ => &mut all.lengths,
                };
                let entry = match bits > PACK_BITS as usize {
                    true => codes.litlen[code as usize & MAIN_MASK],
                    false => entry(LITLEN_SYMBOLS[symbol % LITLENS], bits as u32),
                };
                let entry = match symbol {
                    ..END if bits <= PACK_BITS as usize => one_literal(entry),
                    _ => entry,
                };
                group.push(
                    bits,
                    Coded {
                        code: code as u16,
                        entry,
                    },
                );
                code = following(code, bits as u32);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{
        LITERAL, LITERALS, SPECIAL, bits, byte, count_before, is_link, length, length_after,
        linked, literal_before, literal_count, literals,
    };
    use super::super::table::LITLEN_PLACES;
    use super::*;

    /// Code lengths of `symbols` symbols, from a number: complete, and all at most 15.
    fn lengths(mut random: u64, symbols: usize) -> Vec<u8> {
        let mut next = |below: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as usize % below
        };
        // Leaves of a tree that grows where the numbers say.
        let mut leaves = vec![0_u8];
        while leaves.len() < symbols {
            let at = next(leaves.len());
            if leaves[at] < 15 {
                leaves[at] += 1;
                leaves.push(leaves[at]);
            }
        }
        let mut lengths = vec![0; 286];
        lengths[END] = leaves[0];
        for &bits in &leaves[1..] {
            loop {
                let symbol = next(286);
                if lengths[symbol] == 0 {
                    lengths[symbol] = bits;
                    break;
                }
            }
        }
        lengths
    }

    /// The symbols at the start of `held`, one at a time, as bytes, or as a length and 1000.
    fn one_by_one(codes: &Codes, mut held: u64, most: usize) -> (Vec<usize>, u32) {
        let (mut all, mut used) = (Vec::new(), 0);
        while all.len() < most {
            let mut entry = codes.litlen[held as usize & MAIN_MASK];
            let mut main = 0;
            if is_link(entry) {
                main = LITLEN_BITS;
                entry = codes.litlen[linked(entry, held >> main) & (LITLEN_PLACES - 1)];
            }
            if entry & LITERAL != 0 {
                all.push(usize::from(byte(entry)));
            } else {
                all.push(1000 + length(entry, held >> main));
            }
            used += main + bits(entry);
            held >>= main + bits(entry);
        }
        (all, used)
    }

    #[test]
    fn entries_stand_for_what_symbols_one_by_one_say() {
        for seed in 0..60 {
            let lengths = lengths(seed, 3 + 4 * seed as usize);
            let mut codes = Codes::default();
            assert!(codes.set_litlen(&lengths));
            build(&mut codes, &lengths);
            for index in 0..PACK_PLACES {
                // Extra bits are above.
                let held = index as u64 | 0x15a_a5a5 << PACK_BITS;
                let entry = codes.packs[index];
                if entry & (LITERALS | SPECIAL) == SPECIAL {
                    assert_eq!(entry, codes.litlen[index & MAIN_MASK], "{index}");
                    continue;
                }
                let mut found: Vec<usize> = (literals(entry).iter())
                    .take(literal_count(entry))
                    .map(|byte| usize::from(*byte))
                    .collect();
                if found.is_empty() {
                    found.extend(
                        (count_before(entry) > 0).then(|| usize::from(literal_before(entry))),
                    );
                    found.push(1000 + length_after(entry, held));
                }
                let expected = one_by_one(&codes, held, found.len());
                assert_eq!((found, bits(entry)), expected, "{seed}, {index:012b}");
            }
        }
    }

    #[test]
    fn packs_are_for_short_codes() {
        assert!(pay(&[4; 16], 1 << 20));
        assert!(!pay(&[8; 256], 1 << 20));
        assert!(!pay(&[4; 16], 100));
    }
}
