//! The sum of values in vector registers while they are written, for `overwrite`.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_sad_epu8, _mm_setzero_si128,
    _mm_unpackhi_epi64, _mm256_add_epi64, _mm256_castsi256_si128, _mm256_cmpeq_epi8_mask,
    _mm256_extracti128_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_zextsi128_si256,
};

use crate::frame::SOH;

/// The sum of the values, and whether one contains the byte 1.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    vector: __m256i,
    pub(super) number: u32,
    pub(super) ends: u32,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    pub(super) fn new() -> Self {
        Self {
            vector: _mm256_setzero_si256(),
            number: 0,
            ends: 0,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, (sum, ends): (u32, u32)) {
        self.number = self.number.wrapping_add(sum);
        self.ends |= ends;
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    pub(super) fn text(&mut self, some: __m256i) {
        self.ends |= _mm256_cmpeq_epi8_mask(some, _mm256_set1_epi8(SOH as i8));
        let sums = _mm256_sad_epu8(some, _mm256_setzero_si256());
        self.vector = _mm256_add_epi64(self.vector, sums);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    pub(super) fn short(&mut self, some: __m128i) {
        let sums = _mm_sad_epu8(some, _mm_setzero_si128());
        self.vector = _mm256_add_epi64(self.vector, _mm256_zextsi128_si256(sums));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    pub(super) fn total(self) -> u32 {
        let low = _mm256_castsi256_si128(self.vector);
        let sums = _mm_add_epi64(low, _mm256_extracti128_si256(self.vector, 1));
        let sum = _mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums)));
        (sum as u32).wrapping_add(self.number)
    }
}
