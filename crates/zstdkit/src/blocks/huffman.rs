//! Huffman-coded literals (RFC 8878, section 4.2).

use super::Reason;
use super::bits::{BitStream, load, word};
use super::fse::decode_weights;

/// The longest code that libzstd decodes. Encoders use up to 11 bits.
const LOG_MAX: u32 = 12;
/// Tables of shorter codes are made as large as this.
const LOG_USUAL: u32 = 11;
const ENTRIES: usize = 1 << LOG_MAX;

const UNEVEN: Reason = "Huffman tree is not complete";
/// Where libzstd may be more tolerant, depending on the machine.
pub(crate) const NOT_AT_END: Reason = "Huffman-coded literals do not end with their bit stream";

/// A decoding table: for each possible next bits, the length of the code and its symbol above it.
pub(super) struct Huffman {
    log: u32,
    table: [u16; ENTRIES],
}

impl Huffman {
    /// Reads a tree between two bytes of a buffer. Returns the length of its description too.
    pub(super) fn read(
        bytes: &[u8],
        start: usize,
        end: usize,
    ) -> Result<(Box<Self>, usize), Reason> {
        let input = bytes.get(start..end).unwrap_or(&[]);
        let mut weights = [0_u8; 256];
        let (&first, rest) = input.split_first().ok_or("Huffman tree is cut short")?;
        let (count, length) = if first >= 128 {
            let count = usize::from(first) - 127;
            let length = count.div_ceil(2);
            let packed = rest.get(..length).ok_or("Huffman tree is cut short")?;
            for (pair, byte) in weights.chunks_exact_mut(2).zip(packed) {
                pair[0] = byte >> 4;
                pair[1] = byte & 15;
            }
            (count, length)
        } else {
            let length = usize::from(first);
            if length > rest.len() {
                return Err("Huffman tree is cut short");
            }
            let start = start + 1;
            let count = decode_weights(bytes, start, start + length, &mut weights)?;
            (count, length)
        };
        Ok((Self::new(&mut weights, count)?, 1 + length))
    }

    /// Completes the weights with the last one, which is implied, and makes the table.
    fn new(weights: &mut [u8; 256], count: usize) -> Result<Box<Self>, Reason> {
        let mut ranks = [0_usize; LOG_MAX as usize + 1];
        let mut total = 0_u32;
        for &weight in &weights[..count] {
            *ranks.get_mut(usize::from(weight)).ok_or(UNEVEN)? += 1;
            total += (1 << weight) >> 1;
        }
        let tree_log = total.checked_ilog2().ok_or(UNEVEN)? + 1;
        if tree_log > LOG_MAX || count > 255 {
            return Err(UNEVEN);
        }
        let rest = (1 << tree_log) - total;
        if !rest.is_power_of_two() {
            return Err(UNEVEN);
        }
        let last = rest.ilog2() + 1;
        weights[count] = last as u8;
        ranks[last as usize] += 1;
        if ranks[1] < 2 || ranks[1] % 2 != 0 {
            return Err(UNEVEN);
        }
        let log = tree_log.max(LOG_USUAL);
        // How many entries a symbol of each weight takes, and where the next such symbol begins.
        let span = |weight: usize| (1_usize << weight >> 1) << (log - tree_log);
        let mut starts = [0; LOG_MAX as usize + 2];
        for weight in 1..=LOG_MAX as usize {
            starts[weight + 1] = starts[weight] + ranks[weight] * span(weight);
        }
        let mut tree = Box::new(Self {
            log,
            table: [0; ENTRIES],
        });
        for (symbol, &weight) in weights[..=count].iter().enumerate() {
            if weight > 0 {
                let weight = usize::from(weight);
                let bits = tree_log as usize + 1 - weight;
                let end = starts[weight] + span(weight);
                tree.table[starts[weight]..end].fill((bits | symbol << 8) as u16);
                starts[weight] = end;
            }
        }
        Ok(tree)
    }

    /// Decodes a single stream.
    pub(super) fn decode_one(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        output: &mut [u8],
    ) -> Result<(), Reason> {
        let stream = open(bytes, start, end)?;
        self.finish(bytes, stream, output)
    }

    /// Decodes four streams, each of a quarter of the output.
    pub(super) fn decode_four(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        output: &mut [u8],
    ) -> Result<(), Reason> {
        const LENGTHS: usize = 6;
        let input = bytes.get(start..end).unwrap_or(&[]);
        if input.len() < LENGTHS + 4 {
            return Err("literals are cut short");
        }
        let mut ends = [start + LENGTHS; 4];
        for (at, pair) in input[..LENGTHS].chunks_exact(2).enumerate() {
            ends[at + 1] = ends[at] + usize::from(u16::from_le_bytes([pair[0], pair[1]]));
        }
        if ends[3] > end {
            return Err("literals are cut short");
        }
        let streams = [
            open(bytes, ends[0], ends[1])?,
            open(bytes, ends[1], ends[2])?,
            open(bytes, ends[2], ends[3])?,
            open(bytes, ends[3], end)?,
        ];
        let quarter = output.len().div_ceil(4);
        let (first, rest) = output.split_at_mut(quarter.min(output.len()));
        let (second, rest) = rest.split_at_mut(quarter.min(rest.len()));
        let (third, fourth) = rest.split_at_mut(quarter.min(rest.len()));
        if third.len() < quarter {
            return Err("too few literals for four streams");
        }
        let outputs = [first, second, third, fourth];
        let (streams, rest) = match self.log {
            LOG_USUAL => lockstep::<LOG_USUAL, 5>(&self.table, bytes, streams, outputs),
            _ => lockstep::<LOG_MAX, 4>(&self.table, bytes, streams, outputs),
        };
        for (stream, rest) in streams.into_iter().zip(rest) {
            self.finish(bytes, stream, rest)?;
        }
        Ok(())
    }

    /// Decodes the rest of a stream, which must end with its output.
    fn finish(&self, bytes: &[u8], mut stream: BitStream, output: &mut [u8]) -> Result<(), Reason> {
        let shift = 64 - self.log;
        for symbol in output {
            let entry = self.table[(word(bytes, stream.at) >> shift) as usize & (ENTRIES - 1)];
            *symbol = (entry >> 8) as u8;
            stream.at -= usize::from(entry & 0xff);
            if stream.is_overrun() {
                return Err(NOT_AT_END);
            }
        }
        match stream.at == stream.low {
            true => Ok(()),
            false => Err(NOT_AT_END),
        }
    }
}

fn open(bytes: &[u8], start: usize, end: usize) -> Result<BitStream, Reason> {
    BitStream::open(bytes, start, end).ok_or(NOT_AT_END)
}

/// Decodes four streams side by side, `N` symbols of each at a time, as long as all have enough bits. Returns what
/// is left.
#[inline(always)]
fn lockstep<'a, const LOG: u32, const N: usize>(
    table: &[u16; ENTRIES],
    bytes: &[u8],
    mut streams: [BitStream; 4],
    mut outputs: [&'a mut [u8]; 4],
) -> ([BitStream; 4], [&'a mut [u8]; 4]) {
    loop {
        let most = LOG as usize * N;
        let by_bits = streams.iter().map(|one| (one.at - one.low) / most).min();
        let by_output = outputs.iter().map(|one| one.len() / N).min();
        let rounds = by_bits.min(by_output).unwrap_or(0);
        if rounds == 0 {
            return (streams, outputs);
        }
        let [a, b, c, d] = outputs.map(|one| one.split_at_mut(rounds * N));
        let all = a.0.chunks_exact_mut(N).zip(b.0.chunks_exact_mut(N));
        let all = all.zip(c.0.chunks_exact_mut(N).zip(d.0.chunks_exact_mut(N)));
        for ((a, b), (c, d)) in all {
            let mut ends = [0; 4];
            let mut words = [0; 4];
            for at in 0..4 {
                ends[at] = (streams[at].at + 7) >> 3;
                // The lowest bit is not reached. Set, it counts the bits that are shifted out.
                words[at] = (load(bytes, ends[at]) | 1) << ((ends[at] << 3) - streams[at].at);
            }
            for symbol in 0..N {
                for (at, output) in [&mut *a, &mut *b, &mut *c, &mut *d].into_iter().enumerate() {
                    let entry = table[(words[at] >> (64 - LOG)) as usize];
                    words[at] <<= entry & 63;
                    output[symbol] = (entry >> 8) as u8;
                }
            }
            for at in 0..4 {
                streams[at].at = (ends[at] << 3) - words[at].trailing_zeros() as usize;
            }
        }
        outputs = [a.1, b.1, c.1, d.1];
    }
}
