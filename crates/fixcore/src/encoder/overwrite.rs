//! Writes a template's message over the previous one, by AVX-512 with VBMI and IFMA.
//!
//! Constant text stays in the buffer: while values keep their length, only values are written. From the
//! first value of another length on, the rest is written again and remembered. Everything unusual is
//! left to `scalar`, which reports errors.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores within a checked length"
)]

use std::arch::x86_64::{
    _bzhi_u32, _mm_cvtsi32_si128, _mm_mask_storeu_epi8, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_mask_storeu_epi8, _mm256_maskz_loadu_epi8, _mm256_storeu_si256,
};

use super::digits_ifma::{Alike, alike, digits};
use super::prefix::{BODY_BYTES_MAX, ROOM_BYTES};
use super::skeleton::{OVER_BYTES, PIECE_BYTES, Part, Skeleton, Slot};
use super::spot::{Spot, TextLength};
use super::sums::Sums;
use super::text::{Clock, MILLIS, MILLIS_AT, MOMENT_BYTES};
use crate::isa::Avx512Ifma;

/// The longest text that fits into a register.
const SHORT_BYTES: usize = 32;

/// The previous message.
#[derive(Debug, Clone, Default)]
pub(super) struct Previous {
    spots: Vec<Spot>,
    /// How many of the spots are still valid.
    known: usize,
    /// Where the message begins in the buffer, and where its body ends.
    start: usize,
    end: usize,
    /// The sum of all bytes except values and trailer.
    sum: u32,
}

impl Previous {
    /// Forgets the previous message, because another path writes into the buffer.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }
}

/// Writes a message. Returns where it begins, where its body ends, and the sum of all bytes except the
/// trailer; `None` leaves it to `scalar`.
#[inline]
pub(super) fn message(
    _: Avx512Ifma,
    skeleton: &mut Skeleton,
    previous: &mut Previous,
    values: &[Slot<'_>],
) -> Option<(usize, usize, u32)> {
    // SAFETY: an `Avx512Ifma` proves that the processor has all features that `write` is compiled for.
    let written = unsafe { write(skeleton, previous, values) };
    if written.is_none() {
        previous.forget();
    }
    written
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma,bmi1,bmi2,popcnt")]
fn write(
    skeleton: &mut Skeleton,
    previous: &mut Previous,
    values: &[Slot<'_>],
) -> Option<(usize, usize, u32)> {
    let mut sums = Sums::new();
    let Skeleton { buffer, clock, .. } = skeleton;
    let known = previous.spots.get(..previous.known)?;
    // All valid spots lie before `end`.
    let buffer = buffer.get_mut(..previous.end)?.as_mut_ptr();
    let mut same = 0;
    for spot in known {
        let value = values.get(spot.value as usize)?;
        // SAFETY: `known` spots are as `rewrite` wrote them, `end` lies after the last of them, and
        // the buffer was just checked to reach there.
        if unsafe { !over(buffer, spot, value, clock, &mut sums) } {
            break;
        }
        same += 1;
    }
    // A message without values has no spots that show whether it was written before.
    if same < skeleton.parts.len() || same == 0 {
        sums = rewrite(skeleton, previous, values, same, sums)?;
    }
    let sum = sums.total().wrapping_add(previous.sum);
    (sums.ends == 0).then_some((previous.start, previous.end, sum))
}

/// Writes a value over the previous one. Returns false if that has another length or kind.
///
/// # Safety
/// The spot is as `put` made it, and the bytes that `put` wrote there are within the buffer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma,bmi1,bmi2,popcnt")]
unsafe fn over(
    buffer: *mut u8,
    spot: &Spot,
    value: &Slot<'_>,
    clock: &mut Clock,
    sums: &mut Sums,
) -> bool {
    // SAFETY: within the buffer, by the contract of this function.
    let to = unsafe { buffer.add(spot.at as usize) };
    // If the spot is of another kind, none of the comparisons below matches.
    let number = match value {
        Slot::Bytes(bytes) => {
            if !spot.text.is_of(bytes) {
                return false;
            }
            if bytes.len() > SHORT_BYTES {
                // SAFETY: a text of this length was written there.
                sums.add(unsafe { long(bytes, to) });
                return true;
            }
            // SAFETY: a text of this length was written there, and the mask of its spot has a bit for
            // each of its bytes and no more: of the value's bytes, and of those in the buffer.
            unsafe {
                let some = _mm256_maskz_loadu_epi8(spot.mask, bytes.as_ptr().cast());
                sums.text(some);
                _mm256_mask_storeu_epi8(to.cast(), spot.mask, some);
            }
            return true;
        }
        Slot::Time(moment) => {
            let Some(millis) = clock.millis(*moment) else {
                return false;
            };
            if !clock.keeps(spot.second) {
                return false;
            }
            let word = MILLIS[millis];
            sums.short(_mm_cvtsi32_si128(word.cast_signed()));
            sums.number = sums.number.wrapping_add(clock.sum());
            // SAFETY: a timestamp was written there; these are its last four bytes.
            unsafe { to.add(MILLIS_AT).cast::<u32>().write_unaligned(word) };
            return true;
        }
        Slot::Unsigned(number) => {
            if number.wrapping_sub(spot.least) >= u64::from(spot.whole) {
                return false;
            }
            *number
        }
        Slot::Decimal(number) => {
            let mantissa = number.mantissa.cast_unsigned();
            let is_as_long = mantissa.wrapping_sub(spot.least) < u64::from(spot.decimals);
            if !is_as_long || number.scale != spot.scale {
                return false;
            }
            mantissa
        }
    };
    let text = digits(number, spot.form);
    sums.short(text);
    // SAFETY: a number was written there, and the mask has a bit for each of its bytes, 16 at most.
    unsafe { _mm_mask_storeu_epi8(to.cast(), spot.mask as u16, text) };
    true
}

/// Writes the message from a value on, and remembers it.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma,bmi1,bmi2,popcnt")]
fn rewrite(
    skeleton: &mut Skeleton,
    previous: &mut Previous,
    values: &[Slot<'_>],
    same: usize,
    mut sums: Sums,
) -> Option<Sums> {
    let Skeleton {
        prefix,
        text,
        parts,
        last,
        constant_sum,
        buffer,
        clock,
        ..
    } = skeleton;
    previous.known = 0;
    previous.spots.resize(parts.len(), Spot::NOTHING);
    let mut at = match previous.spots.get(same).filter(|_| same > 0) {
        Some(spot) => spot.at as usize,
        None => ROOM_BYTES,
    };
    let mut is_constant_there = same > 0;
    let spots = previous.spots.get_mut(same..)?.iter_mut();
    for (part, spot) in parts.get(same..)?.iter().zip(spots) {
        let value = values.get(part.value)?;
        let bytes = match value {
            Slot::Bytes(bytes) => bytes.len(),
            _ => SHORT_BYTES,
        };
        let room = at + part.length + bytes + OVER_BYTES;
        if bytes == 0 || bytes > BODY_BYTES_MAX || buffer.len() <= room {
            return None;
        }
        if !is_constant_there {
            // SAFETY: there is room for the part and 64 bytes more.
            unsafe { constant(text, part, buffer.as_mut_ptr().add(at)) };
            at += part.length;
        }
        is_constant_there = false;
        // SAFETY: there is room for 32 bytes.
        *spot = unsafe { put(value, buffer.as_mut_ptr().add(at), clock, &mut sums)? };
        (spot.at, spot.value) = (at as u32, part.value as u32);
        at += spot.written as usize;
    }
    if buffer.len() <= at + last.length + OVER_BYTES {
        return None;
    }
    // SAFETY: there is room for the part and 64 bytes more.
    unsafe { constant(text, last, buffer.as_mut_ptr().add(at)) };
    at += last.length;
    let (start, digits) = prefix.write(buffer, at - ROOM_BYTES)?;
    (previous.start, previous.end, previous.known) = (start, at, parts.len());
    previous.sum = constant_sum.wrapping_add(digits);
    Some(sums)
}

/// # Safety
/// There is room for the part and a piece more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn constant(text: &[u8], part: &Part, to: *mut u8) {
    let mut done = 0;
    // SAFETY: a piece follows the text of the last part.
    let from = unsafe { text.as_ptr().add(part.start) };
    loop {
        // SAFETY: `done` is within the part, and a piece follows it on both sides.
        unsafe {
            let piece = _mm256_loadu_si256(from.add(done).cast());
            _mm256_storeu_si256(to.add(done).cast(), piece);
        }
        done += PIECE_BYTES;
        if done >= part.length {
            break;
        }
    }
}

/// Writes a text of more than 32 bytes. Returns its sum and whether it contains the byte 1, both in
/// registers.
///
/// # Safety
/// There is room for it.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn long(bytes: &[u8], to: *mut u8) -> (u32, u32) {
    let mut sums = Sums::new();
    for (at, some) in bytes.chunks(SHORT_BYTES).enumerate() {
        let mask = _bzhi_u32(!0, some.len() as u32);
        // SAFETY: the mask has a bit for each byte and no more; there is room.
        unsafe {
            let some = _mm256_maskz_loadu_epi8(mask, some.as_ptr().cast());
            sums.text(some);
            _mm256_mask_storeu_epi8(to.add(at * SHORT_BYTES).cast(), mask, some);
        }
    }
    (sums.total(), sums.ends)
}

/// Writes a value, and describes it.
///
/// # Safety
/// There is room for 32 bytes and for the text.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma,bmi1,bmi2,popcnt")]
unsafe fn put(value: &Slot<'_>, to: *mut u8, clock: &mut Clock, sums: &mut Sums) -> Option<Spot> {
    let (number, scale) = match value {
        Slot::Bytes(bytes) => {
            let mask = match bytes.len() > SHORT_BYTES {
                // It does not fit into a register, so no mask is used.
                true => 0,
                false => _bzhi_u32(!0, bytes.len() as u32),
            };
            let spot = Spot {
                text: TextLength::of(bytes),
                written: bytes.len() as u32,
                mask,
                ..Spot::NOTHING
            };
            if bytes.len() > SHORT_BYTES {
                // SAFETY: there is room for all of it.
                sums.add(unsafe { long(bytes, to) });
                return Some(spot);
            }
            // SAFETY: the mask has a bit for each byte and no more; there is room.
            unsafe {
                let some = _mm256_maskz_loadu_epi8(mask, bytes.as_ptr().cast());
                sums.text(some);
                _mm256_storeu_si256(to.cast(), some);
            }
            return Some(spot);
        }
        Slot::Time(moment) => {
            let word = MILLIS[clock.millis(*moment)?];
            // SAFETY: 32 bytes; there is room.
            unsafe {
                let second = _mm256_loadu_si256(clock.text().as_ptr().cast());
                _mm256_storeu_si256(to.cast(), second);
                to.add(MILLIS_AT).cast::<u32>().write_unaligned(word);
            }
            sums.short(_mm_cvtsi32_si128(word.cast_signed()));
            sums.number = sums.number.wrapping_add(clock.sum());
            let (written, second) = (MOMENT_BYTES as u32, Some(clock.second()));
            return Some(Spot {
                written,
                second,
                ..Spot::NOTHING
            });
        }
        Slot::Unsigned(number) => (*number, 0),
        Slot::Decimal(number) => (number.mantissa.cast_unsigned(), number.scale),
    };
    let is_decimal = matches!(value, Slot::Decimal(_));
    if is_decimal != (scale > 0) {
        return None;
    }
    let Alike {
        form,
        least,
        count,
        digits: length,
    } = alike(number, scale)?;
    let text = digits(number, form);
    sums.short(text);
    // SAFETY: there is room.
    unsafe { _mm_storeu_si128(to.cast(), text) };
    let written = length + u32::from(is_decimal);
    let mask = _bzhi_u32(!0, written);
    let spot = Spot {
        written,
        mask,
        least,
        form,
        scale,
        ..Spot::NOTHING
    };
    Some(match is_decimal {
        true => Spot {
            decimals: count,
            ..spot
        },
        false => Spot {
            whole: count,
            ..spot
        },
    })
}
