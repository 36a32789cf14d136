//! The header of a block: its type and its code lengths.

use super::super::symbols::{DISTANCES_USED, END, LITLENS_USED, PRECODE_ORDER};
use super::entry::{bits, code_length};
use super::error::InflateFlaw;
use super::source::Source;
use super::table::{Codes, PRECODE_BITS, precode};

/// The longest repetition, which may begin at the last length.
const REPEAT_MAX: usize = 138;

/// The description of the codes, as far as it was read.
pub(super) struct Head {
    litlens: usize,
    distances: usize,
    precodes: usize,
    /// Code lengths of the precode that were read.
    ordered: usize,
    /// Lengths of both codes that were read.
    read: usize,
    precode_lengths: [u8; 19],
    precode: [u32; 1 << PRECODE_BITS],
    lengths: [u8; LITLENS_USED + DISTANCES_USED + REPEAT_MAX],
}

impl Default for Head {
    fn default() -> Self {
        Self {
            litlens: 0,
            distances: 0,
            precodes: 0,
            ordered: 0,
            read: 0,
            precode_lengths: [0; 19],
            precode: [0; 1 << PRECODE_BITS],
            lengths: [0; LITLENS_USED + DISTANCES_USED + REPEAT_MAX],
        }
    }
}

impl Head {
    /// Starts a description with its counts.
    pub(super) fn counts(&mut self, stated: u32) -> Result<(), InflateFlaw> {
        self.litlens = (stated & 31) as usize + 257;
        self.distances = (stated >> 5 & 31) as usize + 1;
        self.precodes = (stated >> 10 & 15) as usize + 4;
        (self.ordered, self.read) = (0, 0);
        self.precode_lengths = [0; 19];
        if self.litlens > LITLENS_USED || self.distances > DISTANCES_USED {
            return Err(InflateFlaw::Symbols);
        }
        Ok(())
    }

    /// Reads the code of code lengths; `false` if the input ends.
    pub(super) fn precode(&mut self, source: &mut Source<'_>) -> Result<bool, InflateFlaw> {
        while self.ordered < self.precodes {
            if !source.need(3) {
                return Ok(false);
            }
            let symbol = PRECODE_ORDER[self.ordered % PRECODE_ORDER.len()];
            self.precode_lengths[usize::from(symbol)] = source.take(3) as u8;
            self.ordered += 1;
        }
        if !precode(&mut self.precode, &self.precode_lengths) {
            return Err(InflateFlaw::PrecodeLengths);
        }
        Ok(true)
    }

    /// Reads the lengths; `false` if the input ends.
    pub(super) fn lengths(&mut self, source: &mut Source<'_>) -> Result<bool, InflateFlaw> {
        let all = self.litlens + self.distances;
        let mut read = self.read;
        while read < all {
            if source.count < PRECODE_BITS + 7 {
                source.refill();
            }
            let entry = self.precode[source.held as usize & ((1 << PRECODE_BITS) - 1)];
            let (symbol, code_bits) = (code_length(entry), bits(entry));
            let extra_bits = match symbol {
                ..=15 => 0,
                16 => 2,
                17 => 3,
                _ => 7,
            };
            if source.count < code_bits + extra_bits {
                self.read = read;
                return Ok(false);
            }
            if symbol < 16 {
                source.drop(code_bits);
                self.lengths[read] = symbol;
                read += 1;
                continue;
            }
            if symbol == 16 && read == 0 {
                return Err(InflateFlaw::Repetition);
            }
            let extra = source.held >> code_bits & ((1 << extra_bits) - 1);
            let (length, least) = match symbol {
                16 => (self.lengths[read - 1], 3),
                17 => (0, 3),
                _ => (0, 11),
            };
            let end = read + least + extra as usize;
            if end > all {
                return Err(InflateFlaw::Repetition);
            }
            source.drop(code_bits + extra_bits);
            self.lengths[read..end].fill(length);
            read = end;
        }
        self.read = read;
        Ok(true)
    }

    /// Builds the tables of the described codes.
    pub(super) fn codes(&self, codes: &mut Codes) -> Result<(), InflateFlaw> {
        let (litlens, rest) = self.lengths.split_at(self.litlens);
        if litlens[END] == 0 {
            return Err(InflateFlaw::NoEnd);
        }
        if !codes.set_litlen(litlens) {
            return Err(InflateFlaw::LitlenLengths);
        }
        if !codes.set_distance(&rest[..self.distances]) {
            return Err(InflateFlaw::DistanceLengths);
        }
        Ok(())
    }

    /// Lengths of the codes of literals and lengths.
    pub(super) fn litlen_lengths(&self) -> &[u8] {
        &self.lengths[..self.litlens]
    }
}
