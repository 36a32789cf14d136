//! The first half of decoding a block: its literals, and its sequences as numbers. It needs nothing of earlier
//! blocks but their tables, so any thread may do it in any order.

use std::sync::Arc;

use super::bits::{BitStream, top, word};
use super::block::{LiteralsKind, Sources, Stored};
use super::fse::SequenceTable;
use super::{Reason, TOO_MUCH};

/// Bytes behind the literals that may be read with them.
pub(super) const SLACK: usize = 32;

/// A block whose entropy coding is undone.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// The literals, with [`SLACK`] bytes behind them. The rest is left from earlier blocks.
    pub(super) literals: Vec<u8>,
    pub(super) literals_len: usize,
    /// One sequence each; see [`Sequence`].
    pub(super) sequences: Vec<Packed>,
    /// How much content it has.
    pub(super) content_len: usize,
}

/// A sequence in 64 bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Packed(u64);

impl Packed {
    const LENGTH_BITS: u32 = 18;
    const LENGTH_MASK: u64 = (1 << Self::LENGTH_BITS) - 1;
    /// Offsets have fewer bits than this.
    const OFFSET_BITS: u32 = 64 - 2 * Self::LENGTH_BITS;

    #[inline(always)]
    fn new(literals: u64, matched: u64, offset: u64) -> Self {
        Self(offset << (2 * Self::LENGTH_BITS) | matched << Self::LENGTH_BITS | literals)
    }

    #[inline(always)]
    pub(super) fn literals(self) -> usize {
        (self.0 & Self::LENGTH_MASK) as usize
    }

    #[inline(always)]
    pub(super) fn matched(self) -> usize {
        (self.0 >> Self::LENGTH_BITS & Self::LENGTH_MASK) as usize
    }

    /// 1 to 3 repeat an earlier offset, others are 3 larger than the offset.
    #[inline(always)]
    pub(super) fn offset(self) -> usize {
        (self.0 >> (2 * Self::LENGTH_BITS)) as usize
    }
}

/// Larger offsets than any window that is decoded here.
pub(crate) const OFFSET_TOO_LARGE: Reason = "offset is larger than the window";

impl Decoded {
    /// Decodes a block, of at most `max` bytes of content.
    pub(super) fn fill(
        &mut self,
        block: &Arc<Stored>,
        sources: &Sources,
        max: usize,
    ) -> Result<(), Reason> {
        let (layout, bytes) = (&block.layout, &block.bytes[..]);
        let own = block.own()?;
        self.literals_len = layout.literals_len;
        let room = layout.literals_len + SLACK;
        if self.literals.len() < room {
            self.literals.resize(room, 0);
        }
        let literals = &mut self.literals[..layout.literals_len];
        let (start, end) = (own.literals_start, layout.literals_end);
        match layout.literals {
            LiteralsKind::Raw => literals.copy_from_slice(&bytes[start..end]),
            LiteralsKind::Repeated => literals.fill(bytes[start]),
            _ if layout.four_streams => sources.tree()?.decode_four(bytes, start, end, literals)?,
            _ => sources.tree()?.decode_one(bytes, start, end, literals)?,
        }
        self.sequences.resize(layout.sequences, Packed::default());
        self.content_len = layout.literals_len;
        if layout.sequences > 0 {
            let tables = [sources.table(0)?, sources.table(1)?, sources.table(2)?];
            let (literals, matched) =
                decode_sequences(bytes, own.sequences_start, tables, &mut self.sequences)?;
            if literals > layout.literals_len as u64 {
                return Err("sequences use more literals than there are");
            }
            self.content_len += matched as usize;
        }
        match self.content_len > max {
            true => Err(TOO_MUCH),
            false => Ok(()),
        }
    }
}

/// Decodes sequences from the rest of a buffer. Returns the sums of their literals and matches.
fn decode_sequences(
    bytes: &[u8],
    start: usize,
    tables: [&SequenceTable; 3],
    sequences: &mut [Packed],
) -> Result<(u64, u64), Reason> {
    const NOT_AT_END: Reason = "sequences do not end with their bit stream";
    /// Extra bits that one word has in addition to those of all states.
    const EXTRA_BITS: u64 = 57 - (9 + 8 + 9);
    const MASK: usize = (1 << 9) - 1;
    let [literal_table, offset_table, match_table] = tables;
    let mut stream =
        BitStream::open(bytes, start, bytes.len()).ok_or("a bit stream without its end mark")?;
    let mut literal_state = stream.take(bytes, literal_table.log) as usize;
    let mut offset_state = stream.take(bytes, offset_table.log) as usize;
    let mut match_state = stream.take(bytes, match_table.log) as usize;
    let BitStream { low, mut at } = stream;
    let (mut literals_sum, mut match_sum, mut offsets) = (0, 0, 0);
    let last = sequences.len().wrapping_sub(1);
    for (number, sequence) in sequences.iter_mut().enumerate() {
        if at < low {
            return Err(NOT_AT_END);
        }
        let literal = literal_table.entries[literal_state & MASK];
        let offset = offset_table.entries[offset_state & MASK];
        let matching = match_table.entries[match_state & MASK];
        let bits = literal.wrapping_add(offset).wrapping_add(matching);
        let extra = bits & 0xff;
        // All places are computed from the entries, not from each other: this loop is bound by latency.
        let mut rest = word(bytes, at);
        let (offset_bits, match_bits) = (offset & 0xff, matching & 0xff);
        let offset_value = (offset >> 32) + top(rest, offset_bits);
        let match_value = (matching >> 32) + top(rest << offset_bits, match_bits);
        let mut before = extra;
        if extra > EXTRA_BITS {
            before = literal & 0xff;
            rest = word(bytes, at - (offset_bits + match_bits) as usize);
        }
        let states = rest << before;
        let literal_value =
            (literal >> 32) + top(rest << (before - (literal & 0xff)), literal & 0xff);
        literals_sum += literal_value;
        match_sum += match_value;
        offsets |= offset_value;
        *sequence = Packed::new(literal_value, match_value, offset_value);
        at -= extra as usize;
        if number < last {
            let (literal_bits, match_bits) = (literal >> 8 & 0xff, matching >> 8 & 0xff);
            let offset_bits = offset >> 8 & 0xff;
            literal_state = ((literal >> 16 & 0xffff) + top(states, literal_bits)) as usize;
            match_state =
                ((matching >> 16 & 0xffff) + top(states << literal_bits, match_bits)) as usize;
            offset_state = ((offset >> 16 & 0xffff)
                + top(states << (literal_bits + match_bits), offset_bits))
                as usize;
            at -= (bits >> 8 & 0xff) as usize;
        }
    }
    if at != low {
        return Err(NOT_AT_END);
    }
    if offsets >> Packed::OFFSET_BITS != 0 {
        return Err(OFFSET_TOO_LARGE);
    }
    Ok((literals_sum, match_sum))
}
