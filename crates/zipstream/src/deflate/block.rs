//! Sequences as one block: stored, with the fixed code, or with its own code, whichever is
//! shortest.

use super::bits::{BitWriter, Stretch};
use super::bytes::load32;
use super::huffman;
use super::sequences::{Freqs, Sequence};
use super::symbols::{
    DISTANCE_BASE, DISTANCES, DISTANCES_USED, END, FIXED_DISTANCES, FIXED_LITLENS, LENGTH_BASE,
    LITLENS, LITLENS_USED, MATCH_MAX, MATCH_MIN, PRECODE_ORDER, distance_extra, length_extra,
};

/// Four literals and seven bits fit into 64 bits.
const LITLEN_LIMIT: usize = 14;
const DISTANCE_LIMIT: usize = 15;
const PRECODE_LIMIT: usize = 7;
/// The largest content of a stored block.
const STORED_BYTES: usize = 65_535;
const STORED_HEADER_BYTES: u64 = 5;

/// One block of a stream.
pub(super) struct Block<'a> {
    pub(super) content: &'a [u8],
    pub(super) sequences: &'a [u64],
    pub(super) freqs: &'a Freqs,
    /// Whether it is the last block of the stream.
    pub(super) last: bool,
}

/// The code lengths of a block.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    pub(super) litlens: [u8; LITLENS],
    pub(super) distances: [u8; DISTANCES],
}

impl Lengths {
    pub(super) const FIXED: Self = Self {
        litlens: FIXED_LITLENS,
        distances: FIXED_DISTANCES,
    };

    /// The optimal lengths for these frequencies.
    pub(super) fn of(freqs: &Freqs) -> Self {
        let mut own = Self {
            litlens: [0; LITLENS],
            distances: [0; DISTANCES],
        };
        let (litlens, distances) = (LITLENS_USED, DISTANCES_USED);
        huffman::lengths(
            &freqs.litlens[..litlens],
            LITLEN_LIMIT,
            &mut own.litlens[..litlens],
        );
        huffman::lengths(
            &freqs.distances[..distances],
            DISTANCE_LIMIT,
            &mut own.distances[..distances],
        );
        own
    }

    /// Bits of the header of a block with these lengths.
    pub(super) fn header_bits(&self) -> u64 {
        Table::of(self).bits
    }

    /// Bits of all symbols, without extra bits.
    pub(super) fn bits(&self, freqs: &Freqs) -> u64 {
        // A block has fewer than 2^18 symbols of at most 15 bits each.
        let cost = |(freq, length): (&u32, &u8)| freq * u32::from(*length);
        let litlens = freqs.litlens.iter().zip(&self.litlens).map(cost);
        let distances = freqs.distances.iter().zip(&self.distances).map(cost);
        u64::from(litlens.sum::<u32>() + distances.sum::<u32>())
    }
}

/// Bits of the symbols of a block with the code that suits it better, and of its header.
pub(super) fn coded_bits(freqs: &Freqs) -> u64 {
    let own = Lengths::of(freqs);
    let own_bits = own.header_bits() + own.bits(freqs);
    own_bits.min(Lengths::FIXED.bits(freqs)) + freqs.extra_bits()
}

/// Appends a block; returns whether it was stored, so that the stream is at a byte boundary.
pub(super) fn write(writer: &mut BitWriter, block: &Block<'_>, out: &mut Vec<u8>) -> bool {
    let own = Lengths::of(block.freqs);
    let table = Table::of(&own);
    let extra = block.freqs.extra_bits();
    let own_bits = 3 + table.bits + own.bits(block.freqs) + extra;
    let fixed_bits = 3 + Lengths::FIXED.bits(block.freqs) + extra;
    let stored = stored_bytes(block.content.len() as u64);
    let stored_bits = stored * 8 - 5 + u64::from(8 - (writer.pending() + 3) % 8) % 8;
    if stored_bits <= own_bits.min(fixed_bits) {
        store(writer, block.content, block.last, out);
        return true;
    }
    let kind = if own_bits < fixed_bits { 2 } else { 1 };
    writer.stretch(out, own_bits.min(fixed_bits), |stretch| {
        stretch.put(u64::from(block.last) | kind << 1, 3);
        if kind == 2 {
            table.write(stretch);
        }
        let words = Words::of(if kind == 2 { &own } else { &Lengths::FIXED });
        stretch.in_registers(|stretch| put_all(stretch, &words, block));
    });
    false
}

/// The size of stored content with its block headers.
pub(super) const fn stored_bytes(content: u64) -> u64 {
    let blocks = content.div_ceil(STORED_BYTES as u64);
    content + STORED_HEADER_BYTES * if blocks == 0 { 1 } else { blocks }
}

/// Appends stored content.
pub(super) fn store(writer: &mut BitWriter, content: &[u8], last: bool, out: &mut Vec<u8>) {
    let count = content.len().div_ceil(STORED_BYTES).max(1);
    for index in 0..count {
        let rest = content.get(index * STORED_BYTES..).unwrap_or_default();
        let part = &rest[..rest.len().min(STORED_BYTES)];
        let length = part.len() as u16;
        writer.stretch(out, 3, |stretch| {
            stretch.put(u64::from(last && index + 1 == count), 3);
        });
        writer.align(out);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(part);
    }
}

/// Appends an empty block that ends the stream.
pub(super) fn end(writer: &mut BitWriter, out: &mut Vec<u8>) {
    writer.stretch(out, 10, |stretch| stretch.put(3, 10));
    writer.align(out);
}

/// The header of a dynamic block: its code lengths, run-length encoded and Huffman coded.
struct Table {
    litlens: usize,
    distances: usize,
    precodes: usize,
    precode: [u8; 19],
    /// Symbols, with their extra bits above the lowest 5 bits.
    items: [u16; LITLENS + DISTANCES],
    count: usize,
    bits: u64,
}

impl Table {
    fn of(lengths: &Lengths) -> Self {
        let used = |lengths: &[u8], least: usize| {
            let last = lengths.iter().rposition(|length| *length > 0);
            last.map_or(least, |last| least.max(last + 1))
        };
        let litlens = used(&lengths.litlens, END + 1);
        let distances = used(&lengths.distances, 1);
        let mut all = [0; LITLENS + DISTANCES];
        all[..litlens].copy_from_slice(&lengths.litlens[..litlens]);
        all[litlens..litlens + distances].copy_from_slice(&lengths.distances[..distances]);
        let mut table = Self {
            litlens,
            distances,
            precodes: 4,
            precode: [0; 19],
            items: [0; LITLENS + DISTANCES],
            count: 0,
            bits: 0,
        };
        let freqs = table.run_lengths(&all[..litlens + distances]);
        huffman::lengths(&freqs, PRECODE_LIMIT, &mut table.precode);
        let sent = |symbol: &u8| table.precode[usize::from(*symbol)] > 0;
        table.precodes = PRECODE_ORDER
            .iter()
            .rposition(sent)
            .map_or(4, |last| 4.max(last + 1));
        let symbols: u64 = (freqs.iter().zip(table.precode))
            .map(|(freq, length)| u64::from(*freq) * u64::from(length))
            .sum();
        let extra = 2 * freqs[16] + 3 * freqs[17] + 7 * freqs[18];
        table.bits = 14 + 3 * table.precodes as u64 + symbols + u64::from(extra);
        table
    }

    /// Run-length encodes the lengths; returns the frequency of each symbol.
    fn run_lengths(&mut self, mut lengths: &[u8]) -> [u32; 19] {
        let mut freqs = [0; 19];
        let mut item = |symbol: u16, extra: usize| {
            freqs[usize::from(symbol)] += 1;
            self.items[self.count] = symbol | (extra as u16) << 5;
            self.count += 1;
        };
        while let Some(&length) = lengths.first() {
            let run = lengths.iter().take_while(|other| **other == length).count();
            let mut left = run;
            if length == 0 {
                while left >= 11 {
                    let part = left.min(138);
                    item(18, part - 11);
                    left -= part;
                }
                if left >= 3 {
                    item(17, left - 3);
                    left = 0;
                }
            } else if left >= 4 {
                item(u16::from(length), 0);
                left -= 1;
                while left >= 3 {
                    let part = left.min(6);
                    item(16, part - 3);
                    left -= part;
                }
            }
            for _ in 0..left {
                item(u16::from(length), 0);
            }
            lengths = &lengths[run..];
        }
        freqs
    }

    fn write(&self, stretch: &mut Stretch<'_>) {
        stretch.put((self.litlens - 257) as u64, 5);
        stretch.put((self.distances - 1) as u64, 5);
        stretch.put((self.precodes - 4) as u64, 4);
        stretch.flush();
        for &symbol in &PRECODE_ORDER[..self.precodes] {
            stretch.put(u64::from(self.precode[usize::from(symbol)]), 3);
            stretch.flush();
        }
        let mut words = [0; 19];
        huffman::words(&self.precode, &mut words);
        for &item in &self.items[..self.count] {
            let symbol = usize::from(item & 31);
            put_word(stretch, words[symbol]);
            let extra = match symbol {
                16 => 2,
                17 => 3,
                18 => 7,
                _ => 0,
            };
            stretch.put(u64::from(item >> 5), extra);
            stretch.flush();
        }
    }
}

#[inline(always)]
fn put_word(stretch: &mut Stretch<'_>, word: u32) {
    stretch.put(u64::from(word & 0xff_ffff), word >> 24);
}

/// The code words of a block; those of lengths include the extra bits.
struct Words {
    litlens: [u32; LITLENS],
    lengths: [u32; 256],
    /// The code word of a slot, its length with extra bits, its own length, and the smallest
    /// distance.
    distances: [u64; DISTANCES],
}

impl Words {
    fn of(lengths: &Lengths) -> Self {
        let mut words = Self {
            litlens: [0; LITLENS],
            lengths: [0; 256],
            distances: [0; DISTANCES],
        };
        huffman::words(&lengths.litlens, &mut words.litlens);
        let mut distances = [0; DISTANCES];
        huffman::words(&lengths.distances, &mut distances);
        for (slot, word) in words.distances.iter_mut().enumerate().take(DISTANCES_USED) {
            let all = u64::from(distances[slot]) + (u64::from(distance_extra(slot)) << 24);
            *word =
                all | u64::from(distances[slot] >> 24) << 32 | u64::from(DISTANCE_BASE[slot]) << 40;
        }
        for (slot, base) in LENGTH_BASE.iter().enumerate() {
            let symbol = words.litlens[END + 1 + slot];
            let extra = length_extra(slot);
            let base = usize::from(*base);
            let mut word = symbol + (extra << 24);
            // The last length of slot 27 has its own slot.
            let most = words.lengths.len().min(base + (1 << extra));
            for place in &mut words.lengths[base..most] {
                *place = word;
                word += 1 << (symbol >> 24);
            }
        }
        words
    }
}

/// Writes the content of a block and its end symbol.
#[inline(always)]
fn put_all(stretch: &mut Stretch<'_>, words: &Words, block: &Block<'_>) {
    let mut rest = block.content;
    for &sequence in block.sequences {
        let Sequence {
            literals,
            length,
            distance,
            slot,
        } = Sequence::of(sequence);
        let (run, behind) = rest.split_at(literals);
        if rest.len() >= 8 {
            put_four(stretch, words, rest, literals);
            if literals > 4 {
                put_literals(stretch, words, &run[4..]);
            }
        } else {
            put_literals(stretch, words, run);
        }
        if length > MATCH_MAX {
            put_long(stretch, words, length, distance, slot);
        } else if length > 0 {
            put_match(stretch, words, length, distance, slot);
        }
        rest = &behind[length..];
    }
    put_word(stretch, words.litlens[END]);
    stretch.flush();
}

/// Writes the first four literals, or as many as there are, without a branch per literal. Needs
/// eight bytes of content.
#[inline(always)]
fn put_four(stretch: &mut Stretch<'_>, words: &Words, rest: &[u8], literals: usize) {
    let bytes = load32(rest, 0);
    for index in 0..4 {
        let word = words.litlens[(bytes >> (8 * index) & 255) as usize];
        let is_one = u32::from((index as usize) < literals);
        put_word(stretch, word & is_one.wrapping_neg());
    }
    stretch.flush();
}

#[inline(always)]
fn put_literals(stretch: &mut Stretch<'_>, words: &Words, run: &[u8]) {
    let mut fours = run.chunks_exact(4);
    for four in &mut fours {
        for &byte in four {
            put_word(stretch, words.litlens[usize::from(byte)]);
        }
        stretch.flush();
    }
    let rest = fours.remainder();
    if !rest.is_empty() {
        for &byte in rest {
            put_word(stretch, words.litlens[usize::from(byte)]);
        }
        stretch.flush();
    }
}

#[inline(always)]
fn put_match(
    stretch: &mut Stretch<'_>,
    words: &Words,
    length: usize,
    distance: usize,
    slot: usize,
) {
    put_word(stretch, words.lengths[(length - MATCH_MIN) & 255]);
    let word = words.distances[slot & (DISTANCES - 1)];
    let extra = distance as u64 - (word >> 40);
    stretch.put(
        word & 0xff_ffff | extra << (word >> 32 & 15),
        (word >> 24) as u32 & 63,
    );
    stretch.flush();
}

/// Writes a match that is longer than one symbol can express.
#[cold]
fn put_long(stretch: &mut Stretch<'_>, words: &Words, length: usize, distance: usize, slot: usize) {
    let mut left = length;
    while left > MATCH_MAX {
        put_match(stretch, words, MATCH_MAX, distance, slot);
        left -= MATCH_MAX;
    }
    put_match(stretch, words, left, distance, slot);
}
