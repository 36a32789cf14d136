//! Up to eight digits of a number at once, by AVX-512 with IFMA and VBMI: two multiplications for all
//! of them, and a permutation that leaves out zeros and puts a point in.
//!
//! Numbers are told by how many digits they have. Longer ones are left to `text`.

#![allow(unsafe_code, reason = "vector loads of constants")]

use std::arch::x86_64::{
    __m128i, _mm_load_si128, _mm512_castsi128_si512, _mm512_castsi512_si128,
    _mm512_cmpge_epu64_mask, _mm512_load_si512, _mm512_loadu_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_permutexvar_epi8, _mm512_set1_epi64,
};

/// Numbers of more digits are not for here.
const DIGITS_MAX: usize = 8;

/// Any form.
pub(super) const ANY_FORM: &Form = &FORMS[1][0];

/// Which bytes of eight digits with a quadword each are text.
#[derive(Debug)]
#[repr(align(16))]
pub(super) struct Form([u8; 16]);

/// By digits and digits behind the point, of which there are fewer.
static FORMS: [[Form; DIGITS_MAX]; DIGITS_MAX + 1] = {
    // The second byte of a digit is a point, the third is zero.
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

/// The powers of ten that numbers of so many digits are not below; one digit may be 0.
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

/// 2^52 by the powers of ten: times a number, what is behind the point are its lower digits. Cut
/// off, and so made good by one number more: it errs by less than the last digit up to 10^8.
static FRACTIONS: Words = {
    let (mut words, mut at, mut power) = ([0; 8], 8, 1);
    while at > 0 {
        at -= 1;
        power *= 10;
        words[at] = (1 << 52) / power;
    }
    Words(words)
};

/// The text of eight digits.
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

/// Numbers that are written alike.
pub(super) struct Alike {
    pub(super) form: &'static Form,
    /// The least of them, and how many there are.
    pub(super) least: u64,
    pub(super) count: u32,
    pub(super) digits: u32,
}

/// The numbers that are written like one with so many digits behind the point: one digit at least is
/// in front of it. `None`: it has too many.
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
