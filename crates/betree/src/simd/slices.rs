//! One expression over 2,048 events at once: one bit per event, one row of bits per test.
//!
//! No branch depends on an event, and none on an expression except for its length.

use super::blocks::TESTS_MAX;

/// Events of a row.
pub(crate) const EVENTS_MAX: usize = 2048;
/// Words of a row.
pub(crate) const WORDS: usize = EVENTS_MAX / 64;

/// One bit per event.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Slice(pub(crate) [u64; WORDS]);

/// One step: keep or restart the accumulator, combine it with a row, negate it or not, and store it as another
/// row. All steps have this form, so no branch can be mispredicted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step(u32);

impl Step {
    const NEW: u32 = 1 << 30;
    const NEGATE: u32 = 1 << 31;
    /// Bits of a row number.
    const ROW_BITS: u32 = 12;
    const ROW: u32 = (1 << Self::ROW_BITS) - 1;

    /// Combines with a row by `and`.
    pub(crate) fn and(row: usize) -> Self {
        Self(row as u32 & Self::ROW).put(WASTE)
    }

    /// Starts with a row.
    pub(crate) fn begin(row: usize) -> Self {
        Self(Self::and(row).0 | Self::NEW)
    }

    /// The same step with its outcome negated.
    pub(crate) fn negated(self) -> Self {
        Self(self.0 ^ Self::NEGATE)
    }

    /// The same step with its outcome stored as a row.
    pub(crate) fn put(self, row: usize) -> Self {
        let rest = self.0 & !(Self::ROW << Self::ROW_BITS);
        Self(rest | (row as u32 & Self::ROW) << Self::ROW_BITS)
    }
}

/// The row for outcomes that nothing reads, after the rows of tests and their negations.
pub(crate) const WASTE: usize = 2 * TESTS_MAX;
/// The first row of outcomes that wait.
pub(crate) const WAITING: usize = WASTE + 1;

/// The outcome of the last step.
#[inline(always)]
fn run(code: &[Step], rows: &mut [Slice]) -> Slice {
    let mut top = Slice([0; WORDS]);
    for Step(step) in code {
        let from = (step & Step::ROW) as usize;
        let to = (step >> Step::ROW_BITS & Step::ROW) as usize;
        let begun = 0u64.wrapping_sub(u64::from(step & Step::NEW != 0));
        let negate = 0u64.wrapping_sub(u64::from(step & Step::NEGATE != 0));
        let Some(row) = rows.get(from) else {
            continue;
        };
        for (top, row) in top.0.iter_mut().zip(&row.0) {
            *top = ((*top | begun) & row) ^ negate;
        }
        if let Some(row) = rows.get_mut(to) {
            *row = top;
        }
    }
    top
}

pub(crate) fn scalar(code: &[Step], rows: &mut [Slice]) -> Slice {
    run(code, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(crate) fn avx2(code: &[Step], rows: &mut [Slice]) -> Slice {
    run(code, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(crate) fn avx512(code: &[Step], rows: &mut [Slice]) -> Slice {
    run(code, rows)
}

/// Turns 64 rows of 64 bits into their columns.
pub(crate) fn transpose(bits: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while width > 0 {
        let mut at = 0;
        while at < 64 {
            for low in at..at + width {
                let swapped = (bits[low] >> width ^ bits[low + width]) & mask;
                bits[low + width] ^= swapped;
                bits[low] ^= swapped << width;
            }
            at += 2 * width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        let mut bits = [0; 64];
        for (at, row) in bits.iter_mut().enumerate() {
            *row = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let before = bits;
        transpose(&mut bits);
        for (column, row_before) in before.iter().enumerate() {
            for (row, found) in bits.iter().enumerate() {
                assert_eq!(found >> column & 1, row_before >> row & 1);
            }
        }
    }
}
