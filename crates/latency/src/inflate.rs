//! A bounded zlib decoder, for histograms of unknown origin.
//!
//! The histogram crate inflates and allocates by what a header says; this module unpacks first, with
//! a limit, so that the header can be looked at before anything is believed (see `coding.rs`). It
//! is plain RFC 1950 and 1951, made for a few kilobytes at a time and for no other use.

/// Why the bytes were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InflateError {
    /// The stream ends early.
    Truncated,
    /// The stream breaks the format.
    Invalid,
    /// More than the limit comes out.
    TooLong,
}

const CODE_BITS_MAX: usize = 15;
const LENGTH_BASE: [u16; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
const LENGTH_EXTRA: [u8; 29] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA: [u8; 30] = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
];
const CODE_LENGTH_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Unpack a zlib stream of at most `limit` bytes of content; what follows it is ignored.
pub(crate) fn zlib(input: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let [cmf, flags, body @ ..] = input else {
        return Err(InflateError::Truncated);
    };
    let header = u16::from_be_bytes([*cmf, *flags]);
    // Deflate with a window of at most 32 KiB, the check bits right, no preset dictionary.
    if cmf & 0x0f != 8 || cmf >> 4 > 7 || header % 31 != 0 || flags & 0x20 != 0 {
        return Err(InflateError::Invalid);
    }
    let mut bits = Bits {
        input: body,
        at: 0,
        hold: 0,
        held: 0,
    };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, limit)?,
            1 => {
                let (literals, distances) = fixed_codes()?;
                coded(&mut bits, &mut out, limit, &literals, &distances)?;
            }
            2 => {
                let (literals, distances) = dynamic_codes(&mut bits)?;
                coded(&mut bits, &mut out, limit, &literals, &distances)?;
            }
            _ => return Err(InflateError::Invalid),
        }
        if last {
            break;
        }
    }
    bits.align();
    let stored_sum = u32::from_be_bytes([bits.byte()?, bits.byte()?, bits.byte()?, bits.byte()?]);
    if stored_sum == adler32(&out) {
        Ok(out)
    } else {
        Err(InflateError::Invalid)
    }
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    // 5552 bytes is the most whose sums cannot overflow 32 bits.
    for chunk in bytes.chunks(5552) {
        for byte in chunk {
            a += u32::from(*byte);
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    b << 16 | a
}

struct Bits<'a> {
    input: &'a [u8],
    at: usize,
    hold: u32,
    held: u32,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Result<u32, InflateError> {
        while self.held < count {
            let byte = self.input.get(self.at).ok_or(InflateError::Truncated)?;
            self.hold |= u32::from(*byte) << self.held;
            self.at += 1;
            self.held += 8;
        }
        let value = self.hold & ((1 << count) - 1);
        self.hold >>= count;
        self.held -= count;
        Ok(value)
    }

    /// Drop what is left of the current byte. At most seven bits are ever held between calls.
    fn align(&mut self) {
        self.hold = 0;
        self.held = 0;
    }

    fn byte(&mut self) -> Result<u8, InflateError> {
        Ok(self.take(8)? as u8)
    }
}

/// A canonical Huffman code: how many codes there are of each length, and the symbols in order.
struct Code {
    counts: [u16; CODE_BITS_MAX + 1],
    symbols: Vec<u16>,
}

impl Code {
    /// An over-full set of lengths is refused; one with gaps is let in, and a gap that is met later
    /// is an error then.
    fn new(lengths: &[u8]) -> Result<Self, InflateError> {
        let mut counts = [0u16; CODE_BITS_MAX + 1];
        for length in lengths {
            counts[usize::from(*length)] += 1;
        }
        counts[0] = 0;
        let mut left = 1i32;
        let mut offsets = [0usize; CODE_BITS_MAX + 2];
        for bits in 1..=CODE_BITS_MAX {
            left = (left << 1) - i32::from(counts[bits]);
            if left < 0 {
                return Err(InflateError::Invalid);
            }
            offsets[bits + 1] = offsets[bits] + usize::from(counts[bits]);
        }
        let mut symbols = vec![0u16; lengths.len()];
        for (symbol, length) in lengths.iter().enumerate() {
            if *length != 0 {
                let slot = &mut offsets[usize::from(*length)];
                symbols[*slot] = symbol as u16;
                *slot += 1;
            }
        }
        Ok(Self { counts, symbols })
    }

    fn decode(&self, bits: &mut Bits<'_>) -> Result<u16, InflateError> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for count in &self.counts[1..] {
            code |= bits.take(1)? as i32;
            let count = i32::from(*count);
            if code - count < first {
                let at = usize::try_from(index + (code - first)).ok();
                return at
                    .and_then(|at| self.symbols.get(at).copied())
                    .ok_or(InflateError::Invalid);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(InflateError::Invalid)
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, limit: usize) -> Result<(), InflateError> {
    bits.align();
    let length = u16::from_le_bytes([bits.byte()?, bits.byte()?]);
    let inverse = u16::from_le_bytes([bits.byte()?, bits.byte()?]);
    if length != !inverse {
        return Err(InflateError::Invalid);
    }
    let length = usize::from(length);
    let end = bits.at + length;
    let block = bits
        .input
        .get(bits.at..end)
        .ok_or(InflateError::Truncated)?;
    if out.len() + length > limit {
        return Err(InflateError::TooLong);
    }
    out.extend_from_slice(block);
    bits.at = end;
    Ok(())
}

fn fixed_codes() -> Result<(Code, Code), InflateError> {
    let mut lengths = [8u8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    Ok((Code::new(&lengths)?, Code::new(&[5; 30])?))
}

fn dynamic_codes(bits: &mut Bits<'_>) -> Result<(Code, Code), InflateError> {
    let literals = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let code_lengths = bits.take(4)? as usize + 4;
    if literals > 286 || distances > 30 {
        return Err(InflateError::Invalid);
    }
    let mut lengths = [0u8; 19];
    for slot in &CODE_LENGTH_ORDER[..code_lengths] {
        lengths[*slot] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths)?;
    let mut lengths = [0u8; 286 + 30];
    let mut at = 0;
    while at < literals + distances {
        let symbol = code.decode(bits)?;
        let (value, repeat) = match symbol {
            0..=15 => (symbol as u8, 1),
            16 if at == 0 => return Err(InflateError::Invalid),
            16 => (lengths[at - 1], 3 + bits.take(2)? as usize),
            17 => (0, 3 + bits.take(3)? as usize),
            _ => (0, 11 + bits.take(7)? as usize),
        };
        if at + repeat > literals + distances {
            return Err(InflateError::Invalid);
        }
        lengths[at..at + repeat].fill(value);
        at += repeat;
    }
    Ok((
        Code::new(&lengths[..literals])?,
        Code::new(&lengths[literals..literals + distances])?,
    ))
}

fn coded(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    limit: usize,
    literals: &Code,
    distances: &Code,
) -> Result<(), InflateError> {
    loop {
        let symbol = usize::from(literals.decode(bits)?);
        if symbol == 256 {
            return Ok(());
        }
        if symbol < 256 {
            if out.len() >= limit {
                return Err(InflateError::TooLong);
            }
            out.push(symbol as u8);
            continue;
        }
        let class = symbol - 257;
        let base = LENGTH_BASE.get(class).ok_or(InflateError::Invalid)?;
        let length = usize::from(*base) + bits.take(u32::from(LENGTH_EXTRA[class]))? as usize;
        let class = usize::from(distances.decode(bits)?);
        let base = DISTANCE_BASE.get(class).ok_or(InflateError::Invalid)?;
        let distance = usize::from(*base) + bits.take(u32::from(DISTANCE_EXTRA[class]))? as usize;
        if distance > out.len() {
            return Err(InflateError::Invalid);
        }
        if out.len() + length > limit {
            return Err(InflateError::TooLong);
        }
        let from = out.len() - distance;
        // The source may overlap what is being written, so byte by byte.
        for at in from..from + length {
            out.push(out[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // `python3 -c 'import zlib; …'`: a stored, a fixed and a dynamic stream.
    const STORED: &[u8] = b"\x78\x01\x01\x03\x00\xfc\xffabc\x02\x4d\x01\x27";
    const FIXED: &[u8] = b"\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27";

    #[test]
    fn stored_and_fixed_blocks() {
        assert_eq!(zlib(STORED, 3).unwrap(), b"abc");
        assert_eq!(zlib(FIXED, 3).unwrap(), b"abc");
    }

    #[test]
    fn limit_and_truncation_are_errors() {
        assert_eq!(zlib(STORED, 2), Err(InflateError::TooLong));
        assert_eq!(zlib(FIXED, 2), Err(InflateError::TooLong));
        for end in 0..FIXED.len() {
            assert!(zlib(&FIXED[..end], 100).is_err());
        }
    }

    #[test]
    fn wrong_checksum_is_an_error() {
        let mut broken = FIXED.to_vec();
        broken[10] ^= 1;
        assert_eq!(zlib(&broken, 3), Err(InflateError::Invalid));
    }

    proptest::proptest! {
        #[test]
        fn hostile_streams_stay_within_the_limit(bytes: Vec<u8>) {
            let mut stream = b"\x78\x9c".to_vec();
            stream.extend(bytes);
            if let Ok(out) = zlib(&stream, 64) {
                proptest::prop_assert!(out.len() <= 64);
            }
        }
    }
}
