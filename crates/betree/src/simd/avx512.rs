//! Blocks by AVX-512: 64 lanes in a register, two blocks in turns to hide latency.

#![allow(unsafe_code, reason = "vector instructions on checked rows")]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask,
    _mm512_cmplt_epu8_mask, _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_max_epu8,
    _mm512_maskz_compress_epi64, _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_movm_epi8,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_storeu_si512, _mm512_xor_si512,
};

use super::blocks::{ACCEPTED, Block, CHECKED, LANES, REJECTED, Row, Truth};
use super::spread::{Spread, WORDS};
use crate::SubscriptionId;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn load(row: &Row) -> __m512i {
    // SAFETY: 64 bytes, and rows are aligned to 64.
    unsafe { _mm512_load_si512(row.0.as_ptr().cast()) }
}

/// Values that all blocks share.
#[derive(Clone, Copy)]
struct Common {
    tables: (__m512i, __m512i),
    one: __m512i,
}

/// One position of one block. `WIDE`: the family has more than 64 tests.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn step<const WIDE: bool>(
    common: &Common,
    rows: &[Row; 2],
    position: __m512i,
    state: __m512i,
) -> __m512i {
    let test = load(&rows[0]);
    let is = if WIDE {
        _mm512_permutex2var_epi8(common.tables.0, test, common.tables.1)
    } else {
        _mm512_permutexvar_epi8(test, common.tables.0)
    };
    // Instructions that depend on the state come last and are few, because the next position waits for them.
    // A jump leads forward, so the maximum of it and the state is right for a lane at this position; a jump to
    // 0 means no jump.
    let jumps = _mm512_movepi8_mask(_mm512_xor_si512(is, test));
    let jump = _mm512_maskz_mov_epi8(jumps, load(&rows[1]));
    let here = _mm512_cmple_epu8_mask(state, position);
    _mm512_mask_max_epu8(state, here, state, jump)
}

/// The lanes that did not reject.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn accepted(state: __m512i) -> u64 {
    !_mm512_cmpeq_epi8_mask(state, _mm512_set1_epi8(REJECTED as i8))
}

/// Whether all lanes have accepted or rejected.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn decided(state: __m512i) -> bool {
    _mm512_cmplt_epu8_mask(state, _mm512_set1_epi8(ACCEPTED as i8)) == 0
}

/// The rows of a block, two a position.
#[inline]
fn pairs<'r>(rows: &'r [Row], block: &Block) -> &'r [[Row; 2]] {
    let start = block.start as usize;
    let rows = rows.get(start..start + 2 * block.positions as usize);
    rows.unwrap_or(&[]).as_chunks().0
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn run<const WIDE: bool>(
    rows: &[Row],
    blocks: &[Block],
    truth: &Truth,
    matches: &mut [u64],
) {
    let mut tables = [Row([0; 64]); 2];
    for (table, half) in tables.iter_mut().zip(truth.0.chunks_exact(64)) {
        table.0.copy_from_slice(half);
    }
    let common = Common {
        tables: (load(&tables[0]), load(&tables[1])),
        one: _mm512_set1_epi8(1),
    };
    let mut blocks = blocks.chunks_exact(2);
    let mut matches = matches.chunks_mut(2);
    for (pair, found) in (&mut blocks).zip(&mut matches) {
        let states = two::<WIDE>(&common, pairs(rows, &pair[0]), pairs(rows, &pair[1]));
        for (found, state) in found.iter_mut().zip(states) {
            *found = accepted(state);
        }
    }
    if let ([block], Some([found, ..])) = (blocks.remainder(), matches.next()) {
        let none = _mm512_setzero_si512();
        let state = one::<WIDE>(&common, pairs(rows, block), none, none);
        *found = accepted(state);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn one<const WIDE: bool>(
    common: &Common,
    rows: &[[Row; 2]],
    mut position: __m512i,
    mut state: __m512i,
) -> __m512i {
    for rows in rows.chunks(CHECKED) {
        if decided(state) {
            break;
        }
        for pair in rows {
            state = step::<WIDE>(common, pair, position, state);
            position = _mm512_add_epi8(position, common.one);
        }
    }
    state
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn two<const WIDE: bool>(common: &Common, first: &[[Row; 2]], second: &[[Row; 2]]) -> [__m512i; 2] {
    let none = _mm512_setzero_si512();
    let (mut a, mut b, mut position) = (none, none, none);
    let both = first.len().min(second.len());
    let mut at = 0;
    while at < both && !decided(a) && !decided(b) {
        let end = both.min(at + CHECKED);
        for (left, right) in first[at..end].iter().zip(&second[at..end]) {
            a = step::<WIDE>(common, left, position, a);
            b = step::<WIDE>(common, right, position, b);
            position = _mm512_add_epi8(position, common.one);
        }
        at = end;
    }
    // An undecided block continues alone.
    [
        one::<WIDE>(common, &first[at..], position, a),
        one::<WIDE>(common, &second[at..], position, b),
    ]
}

/// Adds the bits of lanes to those of their slots.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn spread(lanes: &Spread, found: u64, words: &mut [u64; WORDS]) {
    let found = _mm512_movm_epi8(found);
    for ((row, own), word) in lanes.lanes.iter().zip(&lanes.own).zip(words) {
        let bits = _mm512_movepi8_mask(_mm512_permutexvar_epi8(load(row), found));
        *word |= bits & own;
    }
}

/// Ids of a vector.
const GROUP: usize = 8;

/// Writes the ids whose bit is set, in order, eight at a time as a vector whose end the next one overwrites.
/// Returns their number.
#[target_feature(enable = "avx512f")]
pub(super) fn compress(
    ids: &[SubscriptionId; LANES],
    bits: u64,
    out: &mut [SubscriptionId],
) -> usize {
    let mut at = 0;
    for (group, ids) in ids.as_chunks::<GROUP>().0.iter().enumerate() {
        let mask = (bits >> (GROUP * group)) as u8;
        let Some(place) = out.get_mut(at..at + GROUP) else {
            return at;
        };
        // SAFETY: eight ids of 64 bits each, there and here.
        unsafe {
            let ids = _mm512_loadu_si512(ids.as_ptr().cast());
            let ids = _mm512_maskz_compress_epi64(mask, ids);
            _mm512_storeu_si512(place.as_mut_ptr().cast(), ids);
        }
        at += mask.count_ones() as usize;
    }
    at
}
