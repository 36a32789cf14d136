//! How distant matches are searched for.

use crate::bounds::{WINDOW_LOG_MAX, within};
use crate::error::Error;

/// The fewest entries of a hash table, as an exponent.
const HASH_LOG_MIN: i64 = 6;

/// Settings of the search for distant matches, which
/// [`EncoderOptions::long_distance`](crate::EncoderOptions::long_distance) switches on. `None` and 0 leave a setting
/// to libzstd. All logarithms are to base 2.
///
/// ```
/// use zstdkit::{EncoderOptions, LongDistance};
///
/// let longer = LongDistance::default().with_min_match(128).with_hash_log(22);
/// let options = EncoderOptions::default()
///     .with_long_distance(true)
///     .with_long_distance_parameters(longer);
/// assert!(options.validate().is_ok());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "ldm")]
pub struct LongDistance {
    /// Entries of the table, 6 to 30.
    pub hash_log: Option<u32>,
    /// The shortest match in bytes, 4 to 4096.
    pub min_match: Option<u32>,
    /// Entries with the same hash, 1 to 8.
    pub bucket_log: Option<u32>,
    /// How rarely a position enters the table, 0 to 25 (24 on 32-bit platforms): one in two to this power.
    pub hash_rate_log: Option<u32>,
}

/// Setters, one for each field.
impl LongDistance {
    /// Sets [`hash_log`](Self::hash_log).
    #[must_use]
    pub fn with_hash_log(mut self, hash_log: impl Into<Option<u32>>) -> Self {
        self.hash_log = hash_log.into();
        self
    }

    /// Sets [`min_match`](Self::min_match).
    #[must_use]
    pub fn with_min_match(mut self, min_match: impl Into<Option<u32>>) -> Self {
        self.min_match = min_match.into();
        self
    }

    /// Sets [`bucket_log`](Self::bucket_log).
    #[must_use]
    pub fn with_bucket_log(mut self, bucket_log: impl Into<Option<u32>>) -> Self {
        self.bucket_log = bucket_log.into();
        self
    }

    /// Sets [`hash_rate_log`](Self::hash_rate_log).
    #[must_use]
    pub fn with_hash_rate_log(mut self, hash_rate_log: impl Into<Option<u32>>) -> Self {
        self.hash_rate_log = hash_rate_log.into();
        self
    }
}

impl LongDistance {
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let rate_max = i64::from(WINDOW_LOG_MAX) - HASH_LOG_MIN;
        let bounds = [
            ("long_distance.hash_log", self.hash_log, HASH_LOG_MIN, 30),
            ("long_distance.min_match", self.min_match, 4, 4096),
            ("long_distance.bucket_log", self.bucket_log, 1, 8),
            (
                "long_distance.hash_rate_log",
                self.hash_rate_log,
                1,
                rate_max,
            ),
        ];
        for (option, value, low, high) in bounds {
            if let Some(value) = value.filter(|&value| value > 0) {
                within(option, value.into(), low, high)?;
            }
        }
        Ok(())
    }
}
