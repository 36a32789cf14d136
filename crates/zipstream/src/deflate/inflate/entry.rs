//! Table entries of 32 bits, and the symbols that they stand for.
//!
//! | bits | literal | length, distance | link | end, invalid |
//! |---|---|---|---|---|
//! | 0..8 | bits of its code | and its extra bits | bits of the main table | bits of the code |
//! | 8..13 | | bits of the code alone | bits that the second table takes | the same |
//! | 8..16 | the byte | | | |
//! | 13 | | 0 | | set where it is the end |
//! | 14 | | 0 | set | |
//! | 15 | | 0 | set | set |
//! | 16..31 | 0 | the least value | where the second table starts | |
//! | 31 | set | 0 | 0 | 0 |
//!
//! In the table of packs an entry of literals has a layout of its own, and an entry of a length may have a literal
//! before it; the rest is the same.
//!
//! | bits | literals | a literal and a length |
//! |---|---|---|
//! | 0..6 | bits of their codes | and of extra bits |
//! | 6..8 | how many: 1 to 3 | 0 |
//! | 8..13 | | bits of the codes alone |
//! | 13..16 | | 14 is set |
//! | 16..24 | | the least length less 3 |
//! | 24..32 | | the byte |
//! | 8..32 | the bytes | |

use super::super::symbols::{
    DISTANCE_BASE, DISTANCES, DISTANCES_USED, END as END_SYMBOL, LENGTH_BASE, LITLENS,
    LITLENS_USED, MATCH_MIN, distance_extra, length_extra,
};

/// A literal of a table.
pub(super) const LITERAL: u32 = 1 << 31;
/// How many literals of a pack.
pub(super) const LITERALS: u32 = 3 << LITERALS_SHIFT;
const LITERALS_SHIFT: u32 = 6;
const ONE_LITERAL: u32 = 1 << LITERALS_SHIFT;
const BYTES_SHIFT: u32 = 8;
/// A literal before a length; a link if [`SPECIAL`] is set.
const PRECEDED_SHIFT: u32 = 14;
const LITERAL_BEFORE_SHIFT: u32 = 24;
/// Neither a length nor a distance, nor literals if there are none.
pub(super) const SPECIAL: u32 = 1 << 15;
pub(super) const LINK: u32 = 1 << 14;
pub(super) const END: u32 = 1 << 13;
const VALUE_SHIFT: u32 = 16;
/// Unassigned bits of an incomplete code.
pub(super) const NOTHING: u32 = SPECIAL | 1;

/// A symbol whose code has `bits` bits.
pub(super) const fn entry(symbol: u32, bits: u32) -> u32 {
    if symbol & LITERAL != 0 {
        symbol + bits
    } else {
        symbol + (bits << 8) + bits
    }
}

/// A pack of one literal, given its entry in the table.
#[inline(always)]
pub(super) const fn one_literal(entry: u32) -> u32 {
    entry - LITERAL + ONE_LITERAL
}

/// Two literals, given the pack of each.
#[inline(always)]
pub(super) const fn two_literals(first: u32, second: u32) -> u32 {
    let bytes = second & 0xff << BYTES_SHIFT;
    // The counts add up, and so do the bits.
    first + (bytes << 8) + (second & 0xff)
}

/// Three literals, given the pack of two, and of one.
#[inline(always)]
pub(super) const fn third_literal(two: u32, third: u32) -> u32 {
    let bytes = third & 0xff << BYTES_SHIFT;
    two + (bytes << 16) + (third & 0xff)
}

/// A literal and a length, given the pack of one and the entry of the other.
#[inline(always)]
pub(super) const fn literal_and_length(literal: u32, length: u32) -> u32 {
    let before = (literal & 0xff << BYTES_SHIFT) << (LITERAL_BEFORE_SHIFT - BYTES_SHIFT);
    let bits = bits(literal);
    length + (before | 1 << PRECEDED_SHIFT) + (bits << 8) + bits
}

/// A link to the table for the next `bits` bits after the first `main` ones.
pub(super) const fn link(start: usize, bits: u32, main: u32) -> u32 {
    (start as u32) << VALUE_SHIFT | SPECIAL | LINK | bits << 8 | main
}

/// Whether it leads to a second table.
#[inline(always)]
pub(super) const fn is_link(entry: u32) -> bool {
    entry & (LITERAL | SPECIAL | LINK) == SPECIAL | LINK
}

/// The byte of a literal.
#[inline(always)]
pub(super) const fn byte(entry: u32) -> u8 {
    (entry >> BYTES_SHIFT) as u8
}

/// The bytes of literals, and 0.
#[inline(always)]
pub(super) fn literals(entry: u32) -> [u8; 4] {
    (entry >> BYTES_SHIFT).to_le_bytes()
}

/// How many literals it stands for.
#[inline(always)]
pub(super) const fn literal_count(entry: u32) -> usize {
    (entry >> LITERALS_SHIFT & 3) as usize
}

/// The literal before a length, if there is one.
#[inline(always)]
pub(super) fn literal_before(entry: u32) -> u8 {
    (entry >> LITERAL_BEFORE_SHIFT) as u8
}

/// How many literals are before a length: 0 or 1.
#[inline(always)]
pub(super) fn count_before(entry: u32) -> usize {
    (entry >> PRECEDED_SHIFT & 1) as usize
}

/// The symbol of a code length.
#[inline(always)]
pub(super) fn code_length(entry: u32) -> u8 {
    (entry >> VALUE_SHIFT) as u8
}

/// Bits of code and value together.
#[inline(always)]
pub(super) const fn bits(entry: u32) -> u32 {
    entry & 63
}

/// The extra bits in `held`, which starts with the code.
#[inline(always)]
fn extra(entry: u32, held: u64) -> usize {
    let all = held & ((1 << (entry & 63)) - 1);
    // Bit 13 is not set, and 6 bits are what a shift takes.
    (all >> (entry >> 8 & 63)) as usize
}

/// The distance in `held`, which starts with its code.
#[inline(always)]
pub(super) fn distance(entry: u32, held: u64) -> usize {
    // The mask is for the compiler, which then knows that it is small.
    ((entry >> VALUE_SHIFT) as usize + extra(entry, held)) & 0xffff
}

/// The length in `held`, which starts with its code.
#[inline(always)]
pub(super) fn length(entry: u32, held: u64) -> usize {
    MATCH_MIN + (entry >> VALUE_SHIFT) as usize + extra(entry, held)
}

/// The same where there may be a literal before it, with whose code `held` starts.
#[inline(always)]
pub(super) fn length_after(entry: u32, held: u64) -> usize {
    length(entry & !(0xff << LITERAL_BEFORE_SHIFT), held)
}

/// The index into the second table, given `held` after the bits of the main table.
#[inline(always)]
pub(super) fn linked(entry: u32, held: u64) -> usize {
    let mask = (1_u64 << (entry >> 8 & 31)) - 1;
    (entry >> VALUE_SHIFT) as usize + (held & mask) as usize
}

/// Symbols of literals and lengths, without the bits of their codes.
pub(super) static LITLEN_SYMBOLS: [u32; LITLENS] = {
    let mut symbols = [SPECIAL; LITLENS];
    let mut symbol = 0;
    while symbol < LITLENS_USED {
        symbols[symbol] = if symbol < END_SYMBOL {
            LITERAL | (symbol as u32) << BYTES_SHIFT
        } else if symbol == END_SYMBOL {
            SPECIAL | END
        } else {
            let slot = symbol - END_SYMBOL - 1;
            (LENGTH_BASE[slot] as u32) << VALUE_SHIFT | length_extra(slot)
        };
        symbol += 1;
    }
    symbols
};

/// Symbols of distances.
pub(super) static DISTANCE_SYMBOLS: [u32; DISTANCES] = {
    let mut symbols = [SPECIAL; DISTANCES];
    let mut slot = 0;
    while slot < DISTANCES_USED {
        symbols[slot] = (DISTANCE_BASE[slot] as u32) << VALUE_SHIFT | distance_extra(slot);
        slot += 1;
    }
    symbols
};

/// Symbols of code lengths.
pub(super) static PRECODE_SYMBOLS: [u32; 19] = {
    let mut symbols = [0; 19];
    let mut symbol = 0;
    while symbol < 19 {
        symbols[symbol] = (symbol as u32) << VALUE_SHIFT;
        symbol += 1;
    }
    symbols
};
