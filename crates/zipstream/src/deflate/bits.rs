//! A bit writer, least significant bit first.

/// Writes bits into a buffer that grows by the announced size.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    /// Bits that are not in the output yet, and their number: fewer than 8 between calls.
    bits: u64,
    count: u32,
}

/// A part of the output whose size is known before it is written.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    room: &'a mut [u8],
    at: usize,
    bits: u64,
    count: u32,
}

/// A store of 8 bytes may go this far beyond the used part.
const SLACK_BYTES: usize = 8;

impl BitWriter {
    /// Writes exactly `bits` bits by calling `write`.
    pub(super) fn stretch(
        &mut self,
        out: &mut Vec<u8>,
        bits: u64,
        write: impl FnOnce(&mut Stretch<'_>),
    ) {
        let start = out.len();
        let all = bits + u64::from(self.count);
        out.resize(start + all.div_ceil(8) as usize + SLACK_BYTES, 0);
        let mut stretch = Stretch {
            room: &mut out[start..],
            at: 0,
            bits: self.bits,
            count: self.count,
        };
        write(&mut stretch);
        stretch.flush();
        (self.bits, self.count) = (stretch.bits, stretch.count);
        let used = stretch.at;
        debug_assert_eq!(used as u64, all / 8, "announced {bits} bits");
        out.truncate(start + used);
    }

    /// Bits that do not fill a byte yet.
    pub(super) fn pending(&self) -> u32 {
        self.count
    }

    /// Fills the last byte with zeros.
    pub(super) fn align(&mut self, out: &mut Vec<u8>) {
        if self.count > 0 {
            out.push(self.bits as u8);
        }
        (self.bits, self.count) = (0, 0);
    }
}

impl Stretch<'_> {
    /// Calls `write` with a copy that the compiler can keep in registers.
    #[inline(always)]
    pub(super) fn in_registers(&mut self, write: impl FnOnce(&mut Stretch<'_>)) {
        let mut own = Stretch {
            room: self.room,
            at: self.at,
            bits: self.bits,
            count: self.count,
        };
        write(&mut own);
        (self.at, self.bits, self.count) = (own.at, own.bits, own.count);
    }

    /// Adds bits: at most 57 between flushes.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(self.count + count <= 64 && (count == 64 || bits >> count == 0));
        self.bits |= bits << self.count;
        self.count += count;
    }

    /// Writes all whole bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        // A 32-bit index needs only one comparison.
        let at = self.at as u32 as usize;
        self.room[at..at + 8].copy_from_slice(&self.bits.to_le_bytes());
        let bytes = self.count >> 3;
        self.at += bytes as usize;
        // At most 63 bits are pending.
        self.bits >>= bytes << 3;
        self.count &= 7;
    }
}
