//! Times as text.

use fixcore::Timestamp;

/// Digits of nanoseconds within a millisecond.
const MILLI_NS: i64 = 1_000_000;

/// A time as FIX writes it, with as many digits as it needs, at least milliseconds.
#[must_use]
pub fn time(ns: i64) -> String {
    let millis = Timestamp(ns).to_millis();
    let mut text = String::from_utf8_lossy(&millis).into_owned();
    let rest = ns.rem_euclid(MILLI_NS);
    if rest > 0 {
        let digits = format!("{rest:06}");
        text.push_str(match digits.strip_suffix("000") {
            Some(micros) => micros,
            None => &digits,
        });
    }
    text
}
