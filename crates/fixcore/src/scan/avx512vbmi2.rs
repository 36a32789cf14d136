//! 64 bytes at a time by AVX-512 VBMI and VBMI2: positions are packed and tags read in registers.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores within a checked length"
)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _bzhi_u32, _bzhi_u64, _mm_srli_si128, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpgt_epu8_mask, _mm256_cvtepu8_epi32,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_max_epu8, _mm256_movemask_ps, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sllv_epi32,
    _mm256_srli_epi32, _mm256_storeu_si256, _mm256_xor_si256, _mm512_add_epi8, _mm512_add_epi64,
    _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_extracti64x4_epi64, _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_expand_epi32,
    _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_mov_epi8,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_reduce_add_epi64, _mm512_sad_epu8,
    _mm512_set1_epi8, _mm512_setzero_si512, _mm512_store_si512, _mm512_sub_epi8,
};

use super::block::{First, Found};
use super::index::{FRONT_TAGS, Index, Marks};
use super::watch::Watch;
use crate::frame::SOH;

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
/// For each group of four: the last four places of the first of two vectors.
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

/// Up to 64 bytes from `at` on, followed by zeros, and a bit for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8], at: usize) -> (__m512i, u64) {
    let left = bytes.len().saturating_sub(at).min(64);
    let mask = _bzhi_u64(!0, left as u32);
    // SAFETY: the mask has a bit for each remaining byte and no more; no other byte is read.
    let some = unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().wrapping_add(at).cast()) };
    (some, mask)
}

/// The lowest eight bytes as numbers, each added to `base`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn widened(packed: __m128i, base: __m256i) -> __m256i {
    _mm256_add_epi32(_mm256_cvtepu8_epi32(packed), base)
}

/// Writes the positions of the bits of a mask. Returns how many there are.
///
/// # Safety
/// There is room for as many numbers as the mask has bits, and 16 more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn put(mask: u64, count: __m512i, base: __m256i, to: *mut u32) -> usize {
    let packed = _mm512_maskz_compress_epi8(mask, count);
    let here = mask.count_ones() as usize;
    let low = _mm512_castsi512_si128(packed);
    // SAFETY: there is room for 16.
    unsafe {
        _mm256_storeu_si256(to.cast(), widened(low, base));
        if here > HALF {
            let high = widened(_mm_srli_si128(low, 8), base);
            _mm256_storeu_si256(to.add(HALF).cast(), high);
        }
    }
    if here > 2 * HALF {
        // SAFETY: by the contract of this function.
        unsafe { put_more(packed, base, here, to) };
    }
    here
}

/// Writes the positions after the first 16.
///
/// # Safety
/// There is room for `here` numbers, and 16 more.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn put_more(mut packed: __m512i, base: __m256i, here: usize, to: *mut u32) {
    let rotate = _mm512_add_epi8(constant(&COUNT), _mm512_set1_epi8(HALF as i8));
    let mut done = 0;
    while done < here {
        // SAFETY: `done` is below `here`, and there is room for 16 more.
        unsafe {
            let some = widened(_mm512_castsi512_si128(packed), base);
            _mm256_storeu_si256(to.add(done).cast(), some);
        }
        packed = _mm512_permutexvar_epi8(rotate, packed);
        done += HALF;
    }
}

/// Finds the separators. `None` if there may be more than `soh` holds.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    if soh.len() < bytes.len() + 16 {
        return None;
    }
    let (count, is) = (constant(&COUNT), _mm512_set1_epi8(SOH as i8));
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (mut base, mut found) = (_mm256_setzero_si256(), 0);
    for block in blocks {
        let mask = _mm512_cmpeq_epi8_mask(whole(block), is);
        // SAFETY: there are at most as many positions as bytes before the end of this block, and
        // `soh` has 16 elements more than there are bytes.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
        base = _mm256_add_epi32(base, _mm256_set1_epi32(64));
    }
    if !rest.is_empty() {
        let mask = _mm512_cmpeq_epi8_mask(load(rest, 0).0, is);
        // SAFETY: as above.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
    }
    Some(found)
}

/// Finds both kinds of separators, and the sum. `None` if there may be more than the slices hold.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    if soh.len().min(equals.len()) < bytes.len() + 16 {
        return None;
    }
    let (count, none) = (constant(&COUNT), _mm512_setzero_si512());
    let (mut base, mut sums, mut at) = (_mm256_setzero_si256(), none, 0);
    let (mut found, mut first) = (Found::default(), First::new());
    while at < bytes.len() {
        let (some, _) = load(bytes, at);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(some, none));
        let is_soh = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
        let is_equals = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8));
        let is_first = first.next(is_soh, is_equals);
        // SAFETY: there are at most as many of each as bytes before the end of this block, and both
        // slices have 16 elements more than there are bytes.
        unsafe {
            let to = (soh.as_mut_ptr(), equals.as_mut_ptr());
            found.soh += put(is_soh, count, base, to.0.add(found.soh));
            found.equals += put(is_first, count, base, to.1.add(found.equals));
        }
        base = _mm256_add_epi32(base, _mm256_set1_epi32(64));
        at += 64;
    }
    found.sum = _mm512_reduce_add_epi64(sums) as u32;
    Some(found)
}

/// The state that an index carries from block to block.
struct Indexing {
    sums: __m512i,
    /// The digits of tags in the previous block, zero elsewhere.
    digits_before: __m512i,
    /// Where the block begins.
    base: __m256i,
    /// The largest value of a byte where a digit should be.
    greatest: __m256i,
    n_ends: usize,
    n_tags: usize,
    /// Whether the block begins within a tag; the top bits of the previous block's masks.
    carry: u64,
    soh_top: u64,
    equals_top: u64,
    tag_before: u64,
    bad: u64,
    long: u64,
    watched: u32,
    /// The first tags.
    front: __m512i,
}

/// Where an index is written, and the watched tags.
struct Into<'a> {
    ends: &'a mut [u32],
    tags: &'a mut [u32],
    watch: (__m512i, __m512i),
}

/// How many positions and tags are stored at once. More are rare in 64 bytes, and a store of twice as
/// many always crosses a cache line.
const HALF: usize = 8;

/// Finds tags, ends, sum and marks of a message.
///
/// A valid field has at least four bytes, so 64 bytes hold the ends of at most 16 fields, and at most
/// as many `=` that follow a tag.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn index(bytes: &[u8], watch: &Watch, index: &mut Index) {
    index.reserve(bytes.len());
    let room = 16 * bytes.len().div_ceil(64);
    let (Some(ends), Some(tags)) = (index.ends.get_mut(..room), index.tags.get_mut(..room)) else {
        index.marks.bad = true;
        return;
    };
    // SAFETY: 128 bytes that are aligned to 64.
    let watch = unsafe {
        let from = watch.0.as_ptr();
        (
            _mm512_load_si512(from.cast()),
            _mm512_load_si512(from.add(64).cast()),
        )
    };
    let none = _mm512_setzero_si512();
    let mut state = Indexing {
        sums: none,
        digits_before: none,
        base: _mm256_setzero_si256(),
        greatest: _mm256_setzero_si256(),
        n_ends: 0,
        n_tags: 0,
        carry: 0,
        soh_top: 1,
        equals_top: 0,
        tag_before: 0,
        bad: 0,
        long: 0,
        watched: 0,
        front: none,
    };
    let mut into = Into { ends, tags, watch };
    let mut left = bytes;
    while !left.is_empty() {
        let ((some, there), rest) = match left.split_first_chunk() {
            Some((block, rest)) => ((whole(block), !0), rest),
            None => (load(left, 0), &[][..]),
        };
        // SAFETY: each previous block added at most 16 to either number, and there is room for 16 in
        // each block.
        if unsafe { !state.block(some, there, &mut into) } {
            break;
        }
        left = rest;
    }
    let above = _mm256_cmpgt_epu8_mask(state.greatest, _mm256_set1_epi8(9));
    // SAFETY: 64 bytes that are aligned to 64.
    unsafe { _mm512_store_si512((&raw mut index.front.0).cast(), state.front) };
    index.has_front = true;
    index.len = state.n_ends;
    index.sum = _mm512_reduce_add_epi64(state.sums) as u8;
    index.marks = Marks {
        bad: state.bad | u64::from(above) != 0 || state.n_ends != state.n_tags,
        long: state.long != 0,
        watched: state.watched != 0,
    };
}

impl Indexing {
    /// Adds the bytes of a block that a mask selects. Returns whether they can be part of a message.
    ///
    /// # Safety
    /// There is room for 16 more ends and tags.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    unsafe fn block(&mut self, some: __m512i, there: u64, into: &mut Into<'_>) -> bool {
        let sums = _mm512_sad_epu8(some, _mm512_setzero_si512());
        self.sums = _mm512_add_epi64(self.sums, sums);
        let soh = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
        let equals = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8));
        let zeros = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'0' as i8));
        let starts = soh << 1 | self.soh_top;
        let (sum, carried) = (!equals).overflowing_add(starts | self.carry);
        let first = sum & equals;
        let in_tag = !(equals | sum) & there;
        self.carry = u64::from(carried);

        // An empty tag, a leading zero, or an empty value.
        self.bad |= (zeros | first) & starts | soh & (first << 1 | self.equals_top);
        // Five bytes of one tag, one after the other, to stay in general registers.
        let second = in_tag << 2 | self.tag_before >> 62;
        let fifth = second << 3 | self.tag_before >> 59 & 7;
        self.long |= first & second & fifth;
        (self.soh_top, self.equals_top, self.tag_before) = (soh >> 63, first >> 63, in_tag);

        let count = constant(&COUNT);
        let ends = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(soh, count));
        // The digits of tags, zero elsewhere; for each tag the four bytes before its `=`.
        let digits = _mm512_sub_epi8(some, _mm512_set1_epi8(b'0' as i8));
        let digits = _mm512_maskz_mov_epi8(in_tag, digits);
        let places = _mm512_maskz_compress_epi8(first, count);
        let places = _mm512_permutexvar_epi8(constant(&FOURFOLD), places);
        let places = _mm512_add_epi8(places, constant(&BEFORE));
        let four = _mm512_permutex2var_epi8(self.digits_before, places, digits);
        self.digits_before = digits;

        let (here, tags_here) = (soh.count_ones() as usize, first.count_ones() as usize);
        // SAFETY: by the contract of this function.
        unsafe {
            let (ends_at, tags_at) = (
                into.ends.as_mut_ptr().add(self.n_ends),
                into.tags.as_mut_ptr().add(self.n_tags),
            );
            self.half(
                ends,
                _mm512_castsi512_si256(four),
                (tags_here, self.n_tags),
                (ends_at, tags_at),
                into.watch,
            );
            if here.max(tags_here) > HALF {
                if here.max(tags_here) > 2 * HALF {
                    self.bad = 1;
                    return false;
                }
                let (ends, four) = (_mm_srli_si128(ends, 8), _mm512_extracti64x4_epi64(four, 1));
                let left = tags_here.saturating_sub(HALF);
                self.half(
                    ends,
                    four,
                    (left, self.n_tags + HALF),
                    (ends_at.add(HALF), tags_at.add(HALF)),
                    into.watch,
                );
            }
        }
        self.base = _mm256_add_epi32(self.base, _mm256_set1_epi32(64));
        self.n_ends += here;
        self.n_tags += tags_here;
        true
    }

    /// Stores eight ends and eight tags, of which `count` are valid, after those before.
    ///
    /// # Safety
    /// There is room for them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    unsafe fn half(
        &mut self,
        ends: __m128i,
        four: __m256i,
        (count, at): (usize, usize),
        (ends_to, tags_to): (*mut u32, *mut u32),
        watch: (__m512i, __m512i),
    ) {
        let ends = widened(ends, self.base);
        self.greatest = _mm256_max_epu8(self.greatest, four);
        let pairs = _mm256_maddubs_epi16(four, _mm256_set1_epi16(0x010a));
        let tags = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
        if at < FRONT_TAGS {
            let behind = (u32::MAX << at) as u16;
            let tags = _mm512_castsi256_si512(tags);
            self.front = _mm512_mask_expand_epi32(self.front, behind, tags);
        }
        // SAFETY: by the contract of this function.
        unsafe {
            _mm256_storeu_si256(ends_to.cast(), ends);
            _mm256_storeu_si256(tags_to.cast(), tags);
        }
        let row = _mm512_permutex2var_epi8(watch.0, _mm512_castsi256_si512(tags), watch.1);
        // To the highest bit: 31 less the column.
        let column = _mm256_and_si256(_mm256_srli_epi32(tags, 7), _mm256_set1_epi32(7));
        let column = _mm256_xor_si256(column, _mm256_set1_epi32(31));
        let row = _mm256_sllv_epi32(_mm512_castsi512_si256(row), column);
        let is = _mm256_movemask_ps(_mm256_castsi256_ps(row));
        self.watched |= _bzhi_u32(is.cast_unsigned(), count as u32);
    }
}
