//! Fields by AVX-512 VBMI and VBMI2: tags are read in registers, block by block.

#![allow(
    unsafe_code,
    reason = "aligned loads and stores of whole arrays, stores within a checked length"
)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _bzhi_u32, _mm_srli_si128, _mm256_add_epi32, _mm256_cmpgt_epu8_mask,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_maskz_mov_epi32, _mm256_mullo_epi32,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_test_epi32_mask, _mm512_add_epi8, _mm512_castsi256_si512, _mm512_castsi512_si128,
    _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask, _mm512_extracti64x4_epi64, _mm512_load_si512,
    _mm512_mask_expand_epi32, _mm512_maskz_compress_epi8, _mm512_maskz_permutex2var_epi8,
    _mm512_maskz_sub_epi8, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_store_si512, _mm512_sub_epi8, _pext_u64,
};

use super::{BEFORE, COUNT, FOURFOLD, HALF, constant, load, whole, widened};
use crate::frame::SOH;
use crate::scan::avx512bw::sum;
use crate::scan::fields::{BLOCK_FIELDS, Before, Fields, Marks};
use crate::scan::index::{FRONT_TAGS, Index};
use crate::scan::scalar::Ends;
use crate::scan::singly::{Blocks, Singly};
use crate::scan::tags::{settle, tag_at};
use crate::scan::watch::{Classes, Watch};

/// What a scan of fields carries from block to block.
struct State {
    low: (__m512i, __m512i),
    high: (__m512i, __m512i),
    /// Where the block begins.
    base: __m256i,
    /// The first tags of the message.
    front: __m512i,
}

/// The bytes before each `=` of a block.
struct Tags {
    /// The digits of tags in the previous block and in this one, zero elsewhere.
    digits: (__m512i, __m512i),
    /// For each `=` the places of the four bytes before it.
    places: __m512i,
    /// Which tags have more than four digits, and which have nine, as bits.
    long: u32,
    nine: u32,
}

/// Adds fields from the start of one on. Returns where it stopped: at the end, or at the start of a
/// field that is watched or not well-formed.
///
/// A valid field has at least four bytes, so 64 bytes hold the ends of at most 16 fields, and at most
/// as many `=` that follow a tag.
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(in crate::scan) fn fields(
    bytes: &[u8],
    from: usize,
    watch: &Watch,
    index: &mut Index,
) -> usize {
    let room = index.ends.len().min(index.tags.len());
    let (none, count) = (_mm512_setzero_si512(), constant(&COUNT));
    let mut state = State {
        low: classes(&watch.low),
        high: classes(&watch.high),
        base: _mm256_set1_epi32((from as u32).cast_signed()),
        front: none,
    };
    let (is_first, mut has_front) = (index.len == 0, true);
    let (mut n_ends, mut n_tags) = (index.len, index.len);
    let mut before = Before::field();
    let (mut digits_before, mut sums) = (none, none);
    let mut skipped_sum = 0;
    let mut at = from;
    let mut stopped = false;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if n_ends + BLOCK_FIELDS + 1 > room {
            break;
        }
        let some = match rest.first_chunk() {
            Some(block) => whole(block),
            None => load(rest, 0).0,
        };
        sums = _mm512_add_epi8(sums, some);
        at += rest.len().min(64);
        let is = Marks {
            soh: _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8)),
            equals: _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8)),
            zeros: _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'0' as i8)),
        };
        let in_tag_before = before.in_tag;
        let mut found = before.next(is);
        let mut soh = is.soh;
        if found.bad != 0 {
            let good = (found.bad & found.bad.wrapping_neg()) - 1;
            soh &= good;
            found.equals &= good;
            found.long &= good;
            stopped = true;
        }
        let ends = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(soh, count));
        let digits = _mm512_maskz_sub_epi8(found.in_tag, some, _mm512_set1_epi8(b'0' as i8));
        let places = _mm512_maskz_compress_epi8(found.equals, count);
        let places = _mm512_permutexvar_epi8(constant(&FOURFOLD), places);
        let mut tags = Tags {
            digits: (digits_before, digits),
            places: _mm512_add_epi8(places, constant(&BEFORE)),
            long: 0,
            nine: 0,
        };
        let mut unusual = [0; 2];
        if found.long != 0 {
            tags.long = _pext_u64(found.long, found.equals) as u32;
            let nine = nine_digits(found, in_tag_before);
            tags.nine = _pext_u64(nine, found.equals) as u32;
            let ten = nine & (found.in_tag << 10 | in_tag_before >> 54) != 0;
            unusual[0] = u64::from(ten || watch.has_long());
        }
        digits_before = digits;
        let here = soh.count_ones() as usize;
        let tags_here = found.equals.count_ones() as usize;
        // SAFETY: there is room for 16 after `n_ends`, and for one more tag: of a field that has not
        // ended.
        unsafe {
            let to = (
                index.ends.as_mut_ptr().add(n_ends),
                index.tags.as_mut_ptr().add(n_tags),
            );
            unusual[0] |= state.half(ends, &tags, (tags_here, n_tags), to);
            if here.max(tags_here) > HALF {
                let ends = _mm_srli_si128(ends, 8);
                tags.places = _mm512_castsi256_si512(_mm512_extracti64x4_epi64(tags.places, 1));
                (tags.long, tags.nine) = (tags.long >> HALF, tags.nine >> HALF);
                let to = (to.0.add(HALF), to.1.add(HALF));
                let left = (tags_here.saturating_sub(HALF), n_tags + HALF);
                unusual[1] = state.half(ends, &tags, left, to);
            }
        }
        state.base = _mm256_add_epi32(state.base, _mm256_set1_epi32(64));
        if unusual != [0; 2] {
            index.len = n_ends + here;
            let first = n_tags + first_lane(unusual);
            stopped |= settle(bytes, first, watch, index);
            if !stopped && n_tags + tags_here > index.len {
                stopped = open_tag(bytes, watch, index);
            }
            n_ends = index.len;
        } else {
            n_ends += here;
        }
        if stopped {
            break;
        }
        n_tags += tags_here;
        if is.soh == 0 && before.is_value() {
            index.len = n_ends;
            let start = index.start_of(n_ends);
            let singly = singly();
            let next = match singly.is_long(bytes, start) {
                true => singly.fields(bytes, start, watch, index, 0),
                false => start,
            };
            if next == start {
                break;
            }
            skipped_sum += sum(bytes.get(at..next).unwrap_or(&[]));
            has_front &= n_ends >= FRONT_TAGS;
            (n_ends, n_tags, at) = (index.len, index.len, next);
            (before, digits_before) = (Before::field(), none);
            state.base = _mm256_set1_epi32((at as u32).cast_signed());
        }
    }
    index.len = n_ends;
    if is_first {
        // SAFETY: 64 bytes that are aligned to 64.
        unsafe { _mm512_store_si512((&raw mut index.front.0).cast(), state.front) };
        index.has_front = has_front;
    }
    let end = index.start_of(n_ends);
    if from == 0 && end == bytes.len() {
        let sums = _mm512_reduce_add_epi64(_mm512_sad_epu8(sums, none)) as u32;
        index.sum = skipped_sum.wrapping_add(sums) as u8;
        index.summed = end;
    } else if end == bytes.len() {
        index.finish(bytes, |bytes| sum(bytes));
    }
    end
}

/// Adds fields behind a data field that so many fields after another one precede, if that is close.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(in crate::scan) fn near_fields(
    bytes: &[u8],
    from: usize,
    watch: &Watch,
    index: &mut Index,
    gap: usize,
) -> usize {
    let singly = singly();
    match gap <= singly.near {
        true => singly.fields(bytes, from, watch, index, singly.most()),
        false => from,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn singly() -> Singly<impl Fn(&[u8; 64]) -> u64, impl Ends> {
    let soh = |block: &[u8; 64]| _mm512_cmpeq_epi8_mask(whole(block), _mm512_set1_epi8(SOH as i8));
    Singly {
        soh,
        ends: Blocks { soh, most: 6 },
        worth: 40,
        near: 4,
    }
}

/// The `=` of tags with more than eight digits.
#[inline(always)]
fn nine_digits(found: Fields, in_tag_before: u64) -> u64 {
    let sixth = found.in_tag << 6 | in_tag_before >> 58;
    let ninth = found.in_tag << 9 | in_tag_before >> 55;
    found.long & sixth & ninth
}

/// The first tag that has something other than digits or may be watched: see [`State::half`].
#[cold]
fn first_lane(unusual: [u64; 2]) -> usize {
    let lane = |half: u64| {
        let (not_digits, near) = (half as u32, (half >> 32) as u32);
        (not_digits.trailing_zeros() / 4).min(near.trailing_zeros()) as usize
    };
    match unusual {
        [0, high] => HALF + lane(high),
        [low, _] => lane(low),
    }
}

/// Reads the tag of the field after the last one, of which the end is not known. Returns whether it is
/// watched or not valid.
#[cold]
fn open_tag(bytes: &[u8], watch: &Watch, index: &mut Index) -> bool {
    let tag = tag_at(bytes, index.start_of(index.len)).0;
    if let Some(to) = index.tags.get_mut(index.len) {
        *to = tag;
    }
    tag == 0 || watch.has(tag)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn classes(of: &Classes) -> (__m512i, __m512i) {
    let from = of.0.as_ptr();
    // SAFETY: 128 bytes that are aligned to 64.
    unsafe {
        (
            _mm512_load_si512(from.cast()),
            _mm512_load_si512(from.add(64).cast()),
        )
    }
}

impl State {
    /// Stores eight ends and eight tags, of which `count` are valid, after those before. Returns a bit
    /// for each byte of a tag that is not a digit, and above them a bit for each tag that passes the near test of
    /// watched ones.
    ///
    /// # Safety
    /// There is room for them.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
    )]
    unsafe fn half(
        &mut self,
        ends: __m128i,
        tags: &Tags,
        (count, at): (usize, usize),
        (ends_to, tags_to): (*mut u32, *mut u32),
    ) -> u64 {
        let ends = widened(ends, self.base);
        let nine = _mm256_set1_epi8(9);
        let weights = (_mm256_set1_epi16(0x010a), _mm256_set1_epi32(0x0001_0064));
        let four = _mm512_permutex2var_epi8(tags.digits.0, tags.places, tags.digits.1);
        let four = _mm512_castsi512_si256(four);
        let mut not_digits = _mm256_cmpgt_epu8_mask(four, nine);
        // In each quarter of 32 bits: the first two digits, and the last two.
        let pairs = _mm256_maddubs_epi16(four, weights.0);
        let mut numbers = _mm256_madd_epi16(pairs, weights.1);
        let wide = _mm512_castsi256_si512(pairs);
        let lowest = 0x1111_1111_1111_1111;
        let high = _mm512_maskz_permutex2var_epi8(lowest, self.high.0, wide, self.high.1);
        let low = _mm512_permutex2var_epi8(self.low.0, wide, self.low.1);
        let low = _mm256_srli_epi32(_mm512_castsi512_si256(low), 16);
        let near = _mm256_test_epi32_mask(_mm512_castsi512_si256(high), low);
        let mut near = _bzhi_u32(u32::from(near), count as u32);
        if tags.long & 0xff != 0 {
            // The four bytes before those.
            let places = _mm512_sub_epi8(tags.places, _mm512_set1_epi8(4));
            let four = _mm512_permutex2var_epi8(tags.digits.0, places, tags.digits.1);
            let four = _mm256_maskz_mov_epi32(tags.long as u8, _mm512_castsi512_si256(four));
            not_digits |= _mm256_cmpgt_epu8_mask(four, nine);
            let upper = _mm256_madd_epi16(_mm256_maddubs_epi16(four, weights.0), weights.1);
            let upper = _mm256_mullo_epi32(upper, _mm256_set1_epi32(10_000));
            numbers = _mm256_add_epi32(numbers, upper);
            near &= !tags.long;
            if tags.nine & 0xff != 0 {
                // The byte before those.
                let places = _mm512_sub_epi8(places, _mm512_set1_epi8(4));
                let four = _mm512_permutex2var_epi8(tags.digits.0, places, tags.digits.1);
                let one = _mm256_srli_epi32(_mm512_castsi512_si256(four), 24);
                let one = _mm256_maskz_mov_epi32(tags.nine as u8, one);
                not_digits |= _mm256_cmpgt_epu8_mask(one, nine);
                let top = _mm256_mullo_epi32(one, _mm256_set1_epi32(100_000_000));
                numbers = _mm256_add_epi32(numbers, top);
            }
        }
        if at < FRONT_TAGS {
            let behind = (u32::MAX << at) as u16;
            let tags = _mm512_castsi256_si512(numbers);
            self.front = _mm512_mask_expand_epi32(self.front, behind, tags);
        }
        // SAFETY: by the contract of this function.
        unsafe {
            _mm256_storeu_si256(ends_to.cast(), ends);
            _mm256_storeu_si256(tags_to.cast(), numbers);
        }
        u64::from(not_digits) | u64::from(near) << 32
    }
}
