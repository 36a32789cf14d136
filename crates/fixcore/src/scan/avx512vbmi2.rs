//! 64 bytes at a time by AVX-512 VBMI and VBMI2: positions are packed and tags read in registers.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores within a checked length"
)]

use std::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_add_epi8, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask, _mm512_cvtepu8_epi32, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_mask_cmpeq_epi8_mask,
    _mm512_mask_cmpgt_epu8_mask, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8,
    _mm512_maskz_mov_epi8, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_srli_epi32, _mm512_srlv_epi32,
    _mm512_storeu_si512, _mm512_sub_epi8, _mm512_test_epi32_mask,
};

use super::block::{First, Found};
use super::index::{Index, Marks};
use super::{SOH, Watch};

/// A constant of 64 bytes.
#[repr(align(64))]
struct Bytes([u8; 64]);

/// 0, 1, 2, …
static COUNT: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8;
        at += 1;
    }
    Bytes(bytes)
};
/// 0, 0, 0, 0, 1, 1, 1, 1, …
static FOURFOLD: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8 / 4;
        at += 1;
    }
    Bytes(bytes)
};
/// The four places before a place of the second of two vectors.
static BEFORE: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = 60 + at as u8 % 4;
        at += 1;
    }
    Bytes(bytes)
};

#[inline]
#[target_feature(enable = "avx512f")]
fn constant(bytes: &Bytes) -> __m512i {
    // SAFETY: 64 bytes that are aligned to 64.
    unsafe { _mm512_load_si512(bytes.0.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn whole(block: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The bytes from `at` on, up to 64 of them, with zeros behind them, and a bit for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8], at: usize) -> (__m512i, u64) {
    let left = bytes.len().saturating_sub(at).min(64);
    let mask = _bzhi_u64(!0, left as u32);
    // SAFETY: the mask has a bit for each byte that is left and no more; others are not read.
    let some = unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().wrapping_add(at).cast()) };
    (some, mask)
}

/// The lowest 16 bytes as numbers from those of `base` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn widened(packed: __m512i, base: __m512i) -> __m512i {
    let numbers = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
    _mm512_add_epi32(numbers, base)
}

/// Writes where the bits of a mask are; how many there are.
///
/// # Safety
/// There is room for as many numbers as the mask has bits, and 16 more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn put(mask: u64, count: __m512i, base: __m512i, to: *mut u32) -> usize {
    let packed = _mm512_maskz_compress_epi8(mask, count);
    let here = mask.count_ones() as usize;
    // SAFETY: there is room for 16.
    unsafe { _mm512_storeu_si512(to.cast(), widened(packed, base)) };
    if here > 16 {
        // SAFETY: as of this function.
        unsafe { put_more(packed, base, here, to) };
    }
    here
}

/// What is behind the first 16.
///
/// # Safety
/// There is room for `here` numbers, and 16 more.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn put_more(mut packed: __m512i, base: __m512i, here: usize, to: *mut u32) {
    let rotate = _mm512_add_epi8(constant(&COUNT), _mm512_set1_epi8(16));
    let mut done = 16;
    while done < here {
        packed = _mm512_permutexvar_epi8(rotate, packed);
        // SAFETY: `done` is below `here`, and there is room for 16 more.
        unsafe { _mm512_storeu_si512(to.add(done).cast(), widened(packed, base)) };
        done += 16;
    }
}

/// Where the bytes 1 are. `None`: there may be more than `soh` holds.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    if soh.len() < bytes.len() + 16 {
        return None;
    }
    let (count, is) = (constant(&COUNT), _mm512_set1_epi8(SOH as i8));
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (mut base, mut found) = (_mm512_setzero_si512(), 0);
    for block in blocks {
        let mask = _mm512_cmpeq_epi8_mask(whole(block), is);
        // SAFETY: there are at most as many as bytes before the end of this block, and `soh` is
        // longer than all of them by 16.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
        base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
    }
    if !rest.is_empty() {
        let mask = _mm512_cmpeq_epi8_mask(load(rest, 0).0, is);
        // SAFETY: as above.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
    }
    Some(found)
}

/// Both kinds of separators, and the sum. `None`: there may be more than the slices hold.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    if soh.len().min(equals.len()) < bytes.len() + 16 {
        return None;
    }
    let (count, none) = (constant(&COUNT), _mm512_setzero_si512());
    let (mut base, mut sums, mut at) = (none, none, 0);
    let (mut found, mut first) = (Found::default(), First::new());
    while at < bytes.len() {
        let (some, _) = load(bytes, at);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(some, none));
        let is_soh = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
        let is_equals = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8));
        let is_first = first.next(is_soh, is_equals);
        // SAFETY: there are at most as many of each as bytes before the end of this block, and the
        // slices are longer than all of them by 16.
        unsafe {
            let to = (soh.as_mut_ptr(), equals.as_mut_ptr());
            found.soh += put(is_soh, count, base, to.0.add(found.soh));
            found.equals += put(is_first, count, base, to.1.add(found.equals));
        }
        base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
        at += 64;
    }
    found.sum = _mm512_reduce_add_epi64(sums) as u32;
    Some(found)
}

/// Tags, ends, sum and marks of a message.
///
/// A valid field has four bytes or more, so that 64 bytes hold the ends of at most 16, and the `=`
/// that follow a tag are not more: one store of 16 numbers for each.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn index(bytes: &[u8], watch: &Watch, index: &mut Index) {
    index.reserve(bytes.len());
    let room = 16 * bytes.len().div_ceil(64);
    let (Some(ends), Some(tags)) = (index.ends.get_mut(..room), index.tags.get_mut(..room)) else {
        index.marks.bad = true;
        return;
    };
    let (count, fourfold, before) = (constant(&COUNT), constant(&FOURFOLD), constant(&BEFORE));
    // SAFETY: 128 bytes that are aligned to 64.
    let watched = unsafe {
        let from = watch.0.as_ptr();
        (
            _mm512_load_si512(from.cast()),
            _mm512_load_si512(from.add(64).cast()),
        )
    };
    let none = _mm512_setzero_si512();
    let (mut sums, mut digits_before, mut base) = (none, none, none);
    let (mut at, mut n_ends, mut n_tags) = (0, 0, 0);
    // Whether the block begins in a tag; the top bits of masks of the block before.
    let (mut carry, mut soh_top, mut equals_top, mut tag_before) = (1_u64, 1_u64, 0_u64, 0_u64);
    let (mut bad, mut long, mut watched_tags) = (0_u64, 0_u64, 0_u32);
    while at < bytes.len() {
        let (some, there) = load(bytes, at);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(some, none));
        let soh = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
        let equals = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8));
        let (sum, carried) = (!equals).overflowing_add(soh << 1 | carry);
        let first = sum & equals;
        let in_tag = !equals & !sum & there;
        carry = u64::from(carried) | soh >> 63;

        let starts = soh << 1 | soh_top;
        let digits = _mm512_sub_epi8(some, _mm512_set1_epi8(b'0' as i8));
        bad |= _mm512_mask_cmpgt_epu8_mask(in_tag, digits, _mm512_set1_epi8(9));
        bad |= _mm512_mask_cmpeq_epi8_mask(starts, some, _mm512_set1_epi8(b'0' as i8));
        // An empty tag, an empty value.
        bad |= first & !(in_tag << 1 | tag_before >> 63);
        bad |= soh & (first << 1 | equals_top);
        long |= first & (in_tag << 5 | tag_before >> 59) & (in_tag << 2 | tag_before >> 62);
        (soh_top, equals_top, tag_before) = (soh >> 63, first >> 63, in_tag);

        let (here, tags_here) = (soh.count_ones() as usize, first.count_ones() as usize);
        if here.max(tags_here) > 16 {
            bad = 1;
            break;
        }
        let packed = widened(_mm512_maskz_compress_epi8(soh, count), base);
        base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
        // The digits of tags, zero elsewhere; of each tag the four before its `=`.
        let digits = _mm512_maskz_mov_epi8(in_tag, digits);
        let places = _mm512_maskz_compress_epi8(first, count);
        let places = _mm512_add_epi8(_mm512_permutexvar_epi8(fourfold, places), before);
        let four = _mm512_permutex2var_epi8(digits_before, places, digits);
        let pairs = _mm512_maddubs_epi16(four, _mm512_set1_epi16(0x010a));
        let read = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
        digits_before = digits;
        // SAFETY: each block before this one added at most 16 to either number, and there is room
        // for 16 a block.
        unsafe {
            _mm512_storeu_si512(ends.as_mut_ptr().add(n_ends).cast(), packed);
            _mm512_storeu_si512(tags.as_mut_ptr().add(n_tags).cast(), read);
        }
        let row = _mm512_permutex2var_epi8(watched.0, read, watched.1);
        let column = _mm512_and_si512(_mm512_srli_epi32(read, 7), _mm512_set1_epi32(7));
        let is = _mm512_test_epi32_mask(_mm512_srlv_epi32(row, column), _mm512_set1_epi32(1));
        watched_tags |= u32::from(is) & ((1 << tags_here) - 1);
        n_ends += here;
        n_tags += tags_here;
        at += 64;
    }
    index.len = n_ends;
    index.sum = _mm512_reduce_add_epi64(sums) as u8;
    index.marks = Marks {
        bad: bad != 0 || n_ends != n_tags,
        long: long != 0,
        watched: watched_tags != 0,
    };
}
