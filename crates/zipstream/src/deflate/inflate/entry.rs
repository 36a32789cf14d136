//! Table entries of 32 bits, and the symbols that they stand for.
//!
//! | bits | literal | length, distance | link | end, invalid |
//! |---|---|---|---|---|
//! | 0..8 | bits of the code | and its extra bits | bits of the main table | bits of the code |
//! | 8..14 | the same | bits of the code alone | bits that the second table takes | the same |
//! | 13 | | | | set where it is the end |
//! | 14 | | | set | |
//! | 15 | | | set | set |
//! | 16..31 | the byte | the least value | where the second table starts | |
//! | 31 | set | | | |

use super::super::symbols::{
    DISTANCE_BASE, DISTANCES, DISTANCES_USED, END as END_SYMBOL, LENGTH_BASE, LITLENS,
    LITLENS_USED, MATCH_MIN, distance_extra, length_extra,
};

pub(super) const LITERAL: u32 = 1 << 31;
/// Neither a literal, nor a length, nor a distance.
pub(super) const SPECIAL: u32 = 1 << 15;
pub(super) const LINK: u32 = 1 << 14;
pub(super) const END: u32 = 1 << 13;
const VALUE_SHIFT: u32 = 16;
/// Unassigned bits of an incomplete code.
pub(super) const NOTHING: u32 = SPECIAL | 1;

/// A symbol whose code has `bits` bits.
pub(super) const fn entry(symbol: u32, bits: u32) -> u32 {
    symbol + (bits << 8) + bits
}

/// A link to the table for the next `bits` bits after the first `main` ones.
pub(super) const fn link(start: usize, bits: u32, main: u32) -> u32 {
    (start as u32) << VALUE_SHIFT | SPECIAL | LINK | bits << 8 | main
}

/// The byte of a literal, or the symbol of a code length.
#[inline(always)]
pub(super) fn byte(entry: u32) -> u8 {
    (entry >> VALUE_SHIFT) as u8
}

/// Bits of code and value together.
#[inline(always)]
pub(super) fn bits(entry: u32) -> u32 {
    entry & 0xff
}

/// The value in `held`, which starts with the code.
#[inline(always)]
pub(super) fn value(entry: u32, held: u64) -> usize {
    let all = held & ((1 << (entry & 63)) - 1);
    let extra = all >> (entry >> 8 & 63);
    (entry >> VALUE_SHIFT) as usize + extra as usize
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
            LITERAL | (symbol as u32) << VALUE_SHIFT
        } else if symbol == END_SYMBOL {
            SPECIAL | END
        } else {
            let slot = symbol - END_SYMBOL - 1;
            let length = MATCH_MIN as u32 + LENGTH_BASE[slot] as u32;
            length << VALUE_SHIFT | length_extra(slot)
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
