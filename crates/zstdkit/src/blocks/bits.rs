//! Bit streams that are read from their end to their start, as all entropy-coded data of a frame is.
//!
//! A place is the number of a bit in a buffer; the next bit to read is the one in front of it. Buffers begin
//! with [`PAD`] bytes, so that a reader may overrun the start of a stream by a few bits and notice it later.

/// Bytes in front of the data in each buffer: more than any reader reads before it checks its place.
pub(super) const PAD: usize = 32;

/// Where the bits of a stream are.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitStream {
    /// Its first bit, which is read last.
    pub(super) low: usize,
    /// The place of the reader. Below `low`: more was read than there is.
    pub(super) at: usize,
}

impl BitStream {
    /// The stream in these bytes of a buffer. The highest bit that is set in the last byte marks its end.
    pub(super) fn open(bytes: &[u8], start: usize, end: usize) -> Option<Self> {
        let stream = bytes.get(start..end)?;
        let last = *stream.last()?;
        let mark = last.checked_ilog2()? as usize;
        Some(Self {
            low: start * 8,
            at: (end - 1) * 8 + mark,
        })
    }

    /// Reads up to 57 bits.
    pub(super) fn take(&mut self, bytes: &[u8], count: u32) -> u64 {
        let value = top(word(bytes, self.at), u64::from(count));
        self.at -= count as usize;
        value
    }

    /// Whether more bits were read than there are.
    pub(super) fn is_overrun(&self) -> bool {
        self.at < self.low
    }
}

/// The bits in front of a place, the next one on top. At least 57 are valid.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    let end = (at + 7) >> 3;
    load(bytes, end) << ((end << 3) - at)
}

/// The eight bytes in front of a byte of the buffer.
#[inline(always)]
pub(super) fn load(bytes: &[u8], end: usize) -> u64 {
    let chunk = bytes
        .get(end.wrapping_sub(8)..)
        .and_then(|rest| rest.first_chunk::<8>());
    match chunk {
        Some(&chunk) => u64::from_le_bytes(chunk),
        None => 0,
    }
}

/// The top bits of a word. The count is below 64.
#[inline(always)]
pub(super) fn top(word: u64, count: u64) -> u64 {
    (word >> 1) >> (!count & 63)
}
