//! Checks option values against their bounds. Has the bounds that several modules share.

use crate::error::{Error, Repr};

/// The largest window exponent that libzstd can use on this platform.
pub(crate) const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") {
    31
} else {
    30
};
/// The smallest window exponent of the format.
pub(crate) const WINDOW_LOG_MIN: u32 = 10;

/// Refuses a value outside `low..=high`.
pub(crate) fn within(option: &'static str, value: i64, low: i64, high: i64) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(Repr::Parameter {
            option,
            value,
            low,
            high,
        }
        .into())
    }
}

/// Refuses a dictionary together with a prefix.
pub(crate) fn not_both(dictionary: bool, prefix: bool) -> Result<(), Error> {
    match dictionary && prefix {
        true => Err(Repr::Conflict {
            one: "a dictionary",
            other: "a prefix",
        }
        .into()),
        false => Ok(()),
    }
}

/// The window exponent whose window holds this much.
pub(crate) fn log_to_cover(bytes: u64) -> u32 {
    let log = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX)
}

/// A size as the number that [`within`] compares.
pub(crate) fn saturate(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
