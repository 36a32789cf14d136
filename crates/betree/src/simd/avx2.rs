//! Blocks by AVX2: two halves of 32 lanes.
//!
//! The truth of 128 tests is 16 bytes of bits, so that one shuffle fetches a test's byte and another its bit.

#![allow(unsafe_code, reason = "vector instructions on checked rows")]

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_load_si256,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setr_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_xor_si256,
};

use super::blocks::{ACCEPTED, Block, CHECKED, REJECTED, Row, Truth};

/// Half of a row.
#[inline]
#[target_feature(enable = "avx2")]
fn half(row: &Row, index: usize) -> __m256i {
    let bytes = &row.0[index * 32..index * 32 + 32];
    // SAFETY: 32 bytes, and rows are aligned to 64.
    unsafe { _mm256_load_si256(bytes.as_ptr().cast()) }
}

/// Values that all positions share.
struct Common {
    bits: __m256i,
    select: __m256i,
    low3: __m256i,
    low4: __m256i,
}

impl Common {
    #[target_feature(enable = "avx2")]
    fn new(truth: &Truth) -> Self {
        let mut bits = [0u8; 16];
        for (index, byte) in truth.0.iter().enumerate() {
            bits[index / 8] |= (byte >> 7) << (index % 8);
        }
        // SAFETY: 16 bytes.
        let bits = unsafe { _mm_loadu_si128(bits.as_ptr().cast()) };
        Self {
            bits: _mm256_broadcastsi128_si256(bits),
            select: _mm256_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64,
                -128, 1, 2, 4, 8, 16, 32, 64, -128,
            ),
            low3: _mm256_set1_epi8(7),
            low4: _mm256_set1_epi8(15),
        }
    }

    /// One position of 32 lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn step(&self, test: __m256i, jump: __m256i, position: __m256i, state: __m256i) -> __m256i {
        let byte = _mm256_and_si256(_mm256_srli_epi16::<3>(test), self.low4);
        let bit = _mm256_shuffle_epi8(self.select, _mm256_and_si256(test, self.low3));
        let is = _mm256_and_si256(_mm256_shuffle_epi8(self.bits, byte), bit);
        let is = _mm256_cmpeq_epi8(is, bit);
        let sense = _mm256_cmpgt_epi8(_mm256_setzero_si256(), test);
        let jumps = _mm256_xor_si256(is, sense);
        let here = _mm256_cmpeq_epi8(_mm256_min_epu8(state, position), state);
        _mm256_blendv_epi8(state, jump, _mm256_and_si256(here, jumps))
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn run(rows: &[Row], blocks: &[Block], truth: &Truth, matches: &mut [u64]) {
    let common = Common::new(truth);
    let one = _mm256_set1_epi8(1);
    let rejected = _mm256_set1_epi8(REJECTED as i8);
    let accepted = _mm256_set1_epi8(ACCEPTED as i8);
    for (block, found) in blocks.iter().zip(matches) {
        let start = block.start as usize;
        let rows = rows.get(start..start + 2 * block.positions as usize);
        let none = _mm256_setzero_si256();
        let (mut low, mut high, mut position) = (none, none, none);
        for rows in rows.unwrap_or(&[]).chunks(2 * CHECKED) {
            for pair in rows.chunks_exact(2) {
                low = common.step(half(&pair[0], 0), half(&pair[1], 0), position, low);
                high = common.step(half(&pair[0], 1), half(&pair[1], 1), position, high);
                position = _mm256_add_epi8(position, one);
            }
            // Lanes that accepted or rejected have the greatest values.
            let least = _mm256_min_epu8(low, high);
            let done = _mm256_cmpeq_epi8(_mm256_min_epu8(least, accepted), accepted);
            if _mm256_movemask_epi8(done) == -1 {
                break;
            }
        }
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, rejected)) as u32;
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, rejected)) as u32;
        *found = !(u64::from(low) | u64::from(high) << 32);
    }
}
