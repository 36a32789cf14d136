//! The values at which arithmetic, encodings and bounds change. Expressions and events draw from
//! these and from their neighbours.

use std::sync::Arc;

use super::Random;

/// Two to the 53rd: from here on not every integer is a float.
const EXACT: i64 = 1 << 53;

const INTEGERS: [i64; 30] = [
    i64::MIN,
    i64::MIN + 1,
    i64::MIN + 2,
    -EXACT - 1,
    -EXACT,
    i32::MIN as i64 - 1,
    i32::MIN as i64,
    i32::MIN as i64 + 1,
    -129,
    -2,
    -1,
    0,
    1,
    2,
    7,
    120,
    121,
    255,
    i32::MAX as i64 - 2,
    i32::MAX as i64 - 1,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    u32::MAX as i64 - 1,
    u32::MAX as i64,
    EXACT - 1,
    EXACT,
    EXACT + 1,
    i64::MAX - 2,
    i64::MAX - 1,
    i64::MAX,
];

/// The least float above zero.
const LEAST: f64 = 5e-324;

const FLOATS: [f64; 28] = [
    f64::MIN,
    -1e300,
    i64::MIN as f64,
    -9_007_199_254_740_993.0,
    -2.5,
    -1.0,
    -f64::MIN_POSITIVE,
    -2.0 * LEAST,
    -LEAST,
    -0.0,
    0.0,
    LEAST,
    2.0 * LEAST,
    // The greatest float that is subnormal, and the least that is not.
    2.225_073_858_507_201e-308,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    0.1,
    0.5,
    1.0,
    1.0 + f64::EPSILON,
    120.0,
    120.000_000_000_000_01,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    i64::MAX as f64,
    1e300,
    f64::MAX,
];

/// Texts that begin alike, are empty, are not ASCII, or hold what other formats escape.
const TEXTS: [&str; 23] = [
    "",
    "say \"a\"",
    "it's",
    "a",
    "aa",
    "aaa",
    "aab",
    "ab",
    "abc",
    "b",
    "bab",
    "é",
    "e\u{301}",
    "日本",
    "日本語",
    "😀",
    "😀😁",
    "\u{0}",
    "\u{1b}[31m",
    "\u{feff}a",
    "a\\nb",
    "\\",
    "\"it's\\\"",
];

/// The most bytes of a text of an event.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 16;

/// Latitudes and longitudes: poles, the antimeridian, their neighbours, and beyond. Of some the opposite
/// place, or the same one by other degrees, where rounding leaves the range of a sine.
pub(crate) const PLACES: [(f64, f64); 18] = [
    (0.0, 0.0),
    (-0.0, -0.0),
    (90.0, 0.0),
    (90.0, 123.0),
    (-90.0, -180.0),
    (0.0, 180.0),
    (0.0, -180.0),
    (0.0, 179.999),
    (0.0, -179.999),
    (48.8566, 2.3522),
    (-48.8566, -177.6478),
    (89.0, 0.0),
    (91.0, 180.0),
    (10.0, 540.0),
    (-82.0 / 7.0, -180.0),
    (82.0 / 7.0, 0.0),
    (-88.0, -179.9928),
    (268.0, -359.9928),
];

pub(crate) const RADII_KM: [f64; 12] = [
    -1.0,
    0.0,
    0.001,
    1.0,
    111.5,
    5_000.5,
    12_345.0,
    20_019.0,
    20_022.0,
    30_000.0,
    1e300,
    f64::MAX,
];

/// Moments and lengths in seconds.
const SECONDS: [i64; 14] = [
    i64::MIN,
    i64::MIN + 1,
    -9_223_372_036_854,
    -1,
    0,
    1,
    10,
    59,
    60,
    1_700_000_000,
    9_223_372_036_854,
    9_223_372_036_855,
    i64::MAX - 1,
    i64::MAX,
];

/// Moments in microseconds.
const MICROSECONDS: [i64; 12] = [
    i64::MIN,
    -1_000_001,
    -1_000_000,
    -999_999,
    0,
    999_999,
    1_000_000,
    9_999_999,
    10_000_000,
    60_000_001,
    1_700_000_000_000_000,
    i64::MAX,
];

pub(crate) fn integer(random: &mut Random) -> i64 {
    random.pick(&INTEGERS)
}

/// A value, or the one just below or above it where there is one.
pub(crate) fn near(random: &mut Random, value: i64) -> i64 {
    let found = match random.below(4) {
        0 => value.checked_sub(1),
        1 => value.checked_add(1),
        _ => None,
    };
    found.unwrap_or(value)
}

pub(crate) fn float(random: &mut Random) -> f64 {
    random.pick(&FLOATS)
}

/// A value or the float next to it.
pub(crate) fn near_float(random: &mut Random, value: f64) -> f64 {
    let found = match random.below(4) {
        0 => value.next_down(),
        1 => value.next_up(),
        _ => value,
    };
    if found.is_finite() { found } else { value }
}

/// A text, rarely one of about the maximum length. All of those share a prefix.
pub(crate) fn text(random: &mut Random) -> Arc<str> {
    if random.below(300) > 0 {
        return random.pick(&TEXTS).into();
    }
    let mut text = "a".repeat(TEXT_BYTES_MAX - 1);
    text.push_str(random.pick(&["", "a", "b"]));
    text.into()
}

pub(crate) fn seconds(random: &mut Random) -> i64 {
    let value = random.pick(&SECONDS);
    near(random, value)
}

pub(crate) fn microseconds(random: &mut Random) -> i64 {
    let value = random.pick(&MICROSECONDS);
    near(random, value)
}
