//! Converts up to eight digits of a number at once, by AVX-512 with IFMA and VBMI: two multiplications
//! for all digits, and a permutation that drops leading zeros and inserts a point.
//!
//! The number of digits selects the permutation. Longer numbers are left to `text`.

#![allow(unsafe_code, reason = "vector loads of constants")]

use std::arch::x86_64::{
    __m128i, _mm_load_si128, _mm512_castsi128_si512, _mm512_castsi512_si128,
    _mm512_cmpge_epu64_mask, _mm512_load_si512, _mm512_loadu_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_permutexvar_epi8, _mm512_set1_epi64,
};

/// The most digits that are converted here.
const DIGITS_MAX: usize = 8;

/// Some form, for values that are not numbers.
pub(super) const ANY_FORM: &Form = &FORMS[1][0];

/// Selects the bytes of the text from eight digits, one in each quadword.
#[derive(Debug)]
#[repr(align(16))]
pub(super) struct Form([u8; 16]);

/// By the number of digits, and the number of digits after the point, which is smaller.
static FORMS: [[Form; DIGITS_MAX]; DIGITS_MAX + 1] = {
    // In each quadword the second byte is a point and the third is zero.
    let mut forms = [const { [const { Form([2; 16]) }; DIGITS_MAX] }; DIGITS_MAX + 1];
    let mut digits = 1;
    while digits <= DIGITS_MAX {
        let mut scale = 0;
        while scale < digits {
            let (mut digit, mut at) = (0, 0);
            while digit < digits {
                if scale > 0 && digit == digits - scale {
                    forms[digits][scale].0[at] = 1;
                    at += 1;
                }
                forms[digits][scale].0[at] = (8 * (DIGITS_MAX - digits + digit)) as u8;
                digit += 1;
                at += 1;
            }
            scale += 1;
        }
        digits += 1;
    }
    forms
};

/// The smallest number with this many digits; a single digit may be 0.
static LEAST: [u64; DIGITS_MAX + 2] = {
    let mut least = [0; DIGITS_MAX + 2];
    let (mut digits, mut power) = (2, 10);
    while digits < least.len() {
        least[digits] = power;
        power *= 10;
        digits += 1;
    }
    least
};

#[repr(align(64))]
struct Words([u64; 8]);

/// 2^52 divided by the powers of ten. Times a number, the lower 52 bits are the fraction that holds its
/// lower digits. The division rounds down, which adding the fraction once more makes up for: up to
/// 10^8 the error is less than the last digit.
static FRACTIONS: Words = {
    let (mut words, mut at, mut power) = ([0; 8], 8, 1);
    while at > 0 {
        at -= 1;
        power *= 10;
        words[at] = (1 << 52) / power;
    }
    Words(words)
};

/// The text of a number of up to eight digits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512ifma,bmi1,bmi2,popcnt")]
pub(super) fn digits(number: u64, form: &Form) -> __m128i {
    // SAFETY: 64 bytes that are aligned to 64, and 16 that are aligned to 16.
    let (fractions, form) = unsafe {
        (
            _mm512_load_si512((&raw const FRACTIONS.0).cast()),
            _mm_load_si128((&raw const form.0).cast()),
        )
    };
    let number = _mm512_set1_epi64(number.cast_signed());
    let behind = _mm512_madd52lo_epu64(fractions, number, fractions);
    let zero_and_point = _mm512_set1_epi64(i64::from(b'0') | i64::from(b'.') << 8);
    let digits = _mm512_madd52hi_epu64(zero_and_point, behind, _mm512_set1_epi64(10));
    let text = _mm512_permutexvar_epi8(_mm512_castsi128_si512(form), digits);
    _mm512_castsi512_si128(text)
}

/// A range of numbers with the same number of digits.
pub(super) struct Alike {
    pub(super) form: &'static Form,
    /// The smallest of them, and how many there are.
    pub(super) least: u64,
    pub(super) count: u32,
    pub(super) digits: u32,
}

/// The range of numbers that have as many digits as this one, with `scale` digits after the point and
/// at least one before it. `None` if it has too many digits.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn alike(number: u64, scale: u8) -> Option<Alike> {
    let least_digits = usize::from(scale) + 1;
    // SAFETY: eight words from the third on.
    let least = unsafe { _mm512_loadu_si512(LEAST.as_ptr().add(2).cast()) };
    let reached = _mm512_cmpge_epu64_mask(_mm512_set1_epi64(number.cast_signed()), least);
    let digits = (reached.count_ones() as usize + 1).max(least_digits);
    let form = FORMS.get(digits)?.get(usize::from(scale))?;
    let least = match digits == least_digits {
        true => 0,
        false => LEAST[digits],
    };
    Some(Alike {
        form,
        least,
        count: (LEAST[digits + 1] - least) as u32,
        digits: digits as u32,
    })
}
