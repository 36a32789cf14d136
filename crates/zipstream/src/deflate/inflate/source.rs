//! The input of a stream in bits, the least significant first.

use super::super::bytes::load64;

/// Bits held after [`Source::refill`], if the input has them.
pub(super) const REFILLED_BITS: u32 = 56;

/// Bits taken from the input but not used, between calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bits {
    /// The bits; those above `count` are 0 between calls.
    pub(super) held: u64,
    pub(super) count: u32,
}

/// The input of a call and its held bits.
pub(super) struct Source<'a> {
    pub(super) input: &'a [u8],
    /// The first byte without a held bit.
    pub(super) at: usize,
    /// Bits above `count` are those that follow in the input, or 0.
    pub(super) held: u64,
    pub(super) count: u32,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: &'a [u8], bits: Bits) -> Self {
        Self {
            input,
            at: 0,
            held: bits.held,
            count: bits.count,
        }
    }

    /// Holds at least [`REFILLED_BITS`], or all bits left.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        if self.input.len().saturating_sub(self.at) >= 8 {
            self.held |= load64(self.input, self.at) << self.count;
            self.at += ((63 - self.count) >> 3) as usize;
            self.count |= REFILLED_BITS;
            return;
        }
        while self.count < REFILLED_BITS {
            let Some(&byte) = self.input.get(self.at) else {
                return;
            };
            self.held |= u64::from(byte) << self.count;
            self.at += 1;
            self.count += 8;
        }
    }

    /// Holds at least `bits` bits; `false` if there are fewer.
    #[inline(always)]
    pub(super) fn need(&mut self, bits: u32) -> bool {
        if self.count < bits {
            self.refill();
        }
        self.count >= bits
    }

    /// Uses the first bits.
    #[inline(always)]
    pub(super) fn drop(&mut self, bits: u32) {
        self.held >>= bits & 63;
        self.count -= bits;
    }

    /// Uses and returns the first bits.
    #[inline(always)]
    pub(super) fn take(&mut self, bits: u32) -> u32 {
        let taken = self.held & ((1 << bits) - 1);
        self.drop(bits);
        taken as u32
    }

    /// Returns whole held bytes to the input.
    pub(super) fn give_back(&mut self) {
        let bytes = self.at.min(self.count as usize / 8);
        self.at -= bytes;
        self.count -= 8 * bytes as u32;
        self.held &= (1 << self.count) - 1;
    }

    /// The bits kept for the next call.
    pub(super) fn bits(&self) -> Bits {
        Bits {
            held: self.held,
            count: self.count,
        }
    }
}
