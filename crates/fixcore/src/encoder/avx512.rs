//! Writes the body of a template's message by AVX-512: bytes are summed in registers while they are
//! written, and neither read again nor handled one by one.
//!
//! Everything unusual (an empty or invalid value, a number of more than eight digits, no room) is left
//! to `scalar`, which reports errors.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores within a checked length"
)]

use std::arch::x86_64::{
    __m256i, _bzhi_u32, _bzhi_u64, _mm_add_epi64, _mm_cvtsi64_si128, _mm_cvtsi128_si64,
    _mm_set_epi64x, _mm_storeu_si128, _mm_unpackhi_epi64, _mm256_add_epi64, _mm256_castsi256_si128,
    _mm256_cmpeq_epi8_mask, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_maskz_loadu_epi8,
    _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_storeu_si256,
    _mm256_zextsi128_si256, _mm512_cmpeq_epi8_mask, _mm512_maskz_loadu_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_storeu_si512,
};

use super::prefix::ROOM_BYTES;
use super::skeleton::{OVER_BYTES, PIECE_BYTES, Part, Skeleton, Slot, short_decimal};
use super::text::digits;
use crate::frame::SOH;
use crate::isa::Avx512;

/// Smaller numbers have at most eight digits.
const SHORT_NUMBERS: u64 = 100_000_000;

/// Writes the body. Returns its end and the sum of the values; `None` leaves it to `scalar`.
#[inline]
pub(super) fn body(
    _: Avx512,
    skeleton: &mut Skeleton,
    values: &[Slot<'_>],
) -> Option<(usize, u32)> {
    // SAFETY: an `Avx512` proves that the processor has all features that `write` is compiled for.
    unsafe { write(skeleton, values) }
}

/// Copies up to 64 bytes; what follows them is overwritten with zeros. Returns a bit for each byte 1.
#[inline]
pub(super) fn copy(_: Avx512, bytes: &[u8], to: &mut [u8; 64]) -> u64 {
    // SAFETY: an `Avx512` proves that the processor has all features that `copied` is compiled for.
    unsafe { copied(bytes, to) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
fn copied(bytes: &[u8], to: &mut [u8; 64]) -> u64 {
    let mask = _bzhi_u64(!0, bytes.len().min(64) as u32);
    // SAFETY: the mask has a bit for each of the first 64 bytes and no more; there is room for 64.
    let some = unsafe {
        let some = _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast());
        _mm512_storeu_si512(to.as_mut_ptr().cast(), some);
        some
    };
    _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8))
}

/// Where the next byte goes, the sum of the values, and whether one contains the byte 1.
struct Pen {
    to: *mut u8,
    end: *mut u8,
    sums: __m256i,
    ends: u64,
}

impl Pen {
    /// Whether there is room for this many bytes and those written beyond them.
    #[inline]
    fn has_room(&self, bytes: usize) -> bool {
        (self.end as usize - self.to as usize) > bytes + OVER_BYTES
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    fn add(&mut self, some: __m256i) {
        let sums = _mm256_sad_epu8(some, _mm256_setzero_si256());
        self.sums = _mm256_add_epi64(self.sums, sums);
    }

    /// # Safety
    /// There is room for the part and a piece more, and a piece of text follows the part.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn constant(&mut self, text: *const u8, part: &Part) {
        let mut done = 0;
        loop {
            // SAFETY: `done` is within the part, and a piece follows it on both sides.
            unsafe {
                let piece = _mm256_loadu_si256(text.add(part.start + done).cast());
                _mm256_storeu_si256(self.to.add(done).cast(), piece);
            }
            done += PIECE_BYTES;
            if done >= part.length {
                break;
            }
        }
        // SAFETY: there is room for the part.
        self.to = unsafe { self.to.add(part.length) };
    }

    /// # Safety
    /// There is room for the bytes, and 64 more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn bytes(&mut self, bytes: &[u8]) {
        let length = bytes.len();
        if length <= 32 {
            let mask = _bzhi_u32(!0, length as u32);
            // SAFETY: the mask has a bit for each byte and no more; there is room.
            unsafe {
                let some = _mm256_maskz_loadu_epi8(mask, bytes.as_ptr().cast());
                self.ends |= u64::from(_mm256_cmpeq_epi8_mask(some, _mm256_set1_epi8(SOH as i8)));
                self.add(some);
                _mm256_storeu_si256(self.to.cast(), some);
                self.to = self.to.add(length);
            }
            return;
        }
        // The pen stays in registers, because its address is not passed on.
        let (mut to, mut sum, mut ends) = (self.to, 0, 0);
        for some in bytes.chunks(64) {
            // SAFETY: as above.
            let written = unsafe { long(some, to) };
            (sum, ends) = (sum + written.0, ends | written.1);
            // SAFETY: as above.
            to = unsafe { to.add(some.len()) };
        }
        self.to = to;
        self.ends |= ends;
        let sum = _mm256_zextsi128_si256(_mm_cvtsi64_si128(sum));
        self.sums = _mm256_add_epi64(self.sums, sum);
    }

    /// Writes up to 16 bytes in two words, padded with zeros.
    ///
    /// # Safety
    /// There is room for 16 bytes, and `length` is at most 16.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn words(&mut self, words: [u64; 2], length: usize) {
        let [low, high] = words.map(u64::cast_signed);
        let both = _mm_set_epi64x(high, low);
        self.add(_mm256_zextsi128_si256(both));
        // SAFETY: there is room.
        unsafe {
            _mm_storeu_si128(self.to.cast(), both);
            self.to = self.to.add(length);
        }
    }
}

/// Copies up to 64 bytes. Returns their sum, and a bit for each byte 1.
///
/// # Safety
/// There is room for 64 bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn long(bytes: &[u8], to: *mut u8) -> (i64, u64) {
    let mask = _bzhi_u64(!0, bytes.len() as u32);
    // SAFETY: the mask has a bit for each byte and no more; there is room.
    let some = unsafe {
        let some = _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast());
        _mm512_storeu_si512(to.cast(), some);
        some
    };
    let sums = _mm512_sad_epu8(some, _mm512_setzero_si512());
    let ends = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
    (_mm512_reduce_add_epi64(sums), ends)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
fn write(skeleton: &mut Skeleton, values: &[Slot<'_>]) -> Option<(usize, u32)> {
    let room = skeleton.buffer.get_mut(ROOM_BYTES..)?;
    let range = room.as_mut_ptr_range();
    let text = skeleton.text.as_ptr();
    let mut pen = Pen {
        to: range.start,
        end: range.end,
        sums: _mm256_setzero_si256(),
        ends: 0,
    };
    for part in &skeleton.parts {
        let value = values.get(part.value)?;
        let length = match value {
            Slot::Bytes(bytes) => bytes.len(),
            _ => 32,
        };
        if length == 0 || !pen.has_room(part.length + length) {
            return None;
        }
        // SAFETY: there is room for the part and the value, and 64 bytes more; a piece follows the
        // text of the last part.
        unsafe {
            pen.constant(text, part);
            match value {
                Slot::Bytes(bytes) => pen.bytes(bytes),
                Slot::Unsigned(number) if *number < SHORT_NUMBERS => {
                    let digits = digits(*number as u32);
                    pen.words([digits.left(), 0], digits.length);
                }
                Slot::Unsigned(_) => return None,
                Slot::Decimal(number) => {
                    let (words, length) = short_decimal(*number)?;
                    pen.words(words, length);
                }
                Slot::Time(moment) => pen.bytes(&skeleton.clock.moment(*moment)),
            }
        }
    }
    if pen.ends != 0 || !pen.has_room(skeleton.last.length) {
        return None;
    }
    // SAFETY: there is room, as above.
    unsafe { pen.constant(text, &skeleton.last) };
    let sums = _mm_add_epi64(
        _mm256_castsi256_si128(pen.sums),
        _mm256_extracti128_si256(pen.sums, 1),
    );
    let sum = _mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums)));
    Some((
        pen.to as usize - range.start as usize + ROOM_BYTES,
        sum as u32,
    ))
}
