//! Spans of time as numbers.

use std::time::Instant;

/// From `start` to `end`; 0 when that is negative.
#[inline]
pub(crate) fn nanoseconds(start: Instant, end: Instant) -> u64 {
    let span = end.saturating_duration_since(start);
    span.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(span.subsec_nanos()))
}
