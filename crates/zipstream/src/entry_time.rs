//! When an entry was modified, as its archive states it.

/// When an entry was modified, as its archive states it.
///
/// The old fields of a ZIP archive have the time that a clock on the wall showed, to two seconds, and not
/// where. Extra fields have moments; of several, the finest counts: NTFS, then the extended timestamp, then
/// those of Unix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryTime {
    /// A moment.
    Utc {
        /// Seconds since 1970.
        seconds: i64,
        /// Nanoseconds after them, below 1,000,000,000.
        nanoseconds: u32,
    },
    /// What a clock showed, in a zone that is not stated.
    Local {
        /// Seconds from 1970-01-01 00:00:00 of that clock, as if each day had 86,400.
        seconds: i64,
    },
}

impl EntryTime {
    /// The moment in seconds since 1970. `to_utc` gives that of a local time: for seconds from
    /// 1970-01-01 00:00:00 of a clock, those since 1970 when it showed that.
    ///
    /// ```
    /// use zipstream::EntryTime;
    ///
    /// let one_hour_east = |local: i64| local - 3_600;
    /// let local = EntryTime::Local { seconds: 1_000_000_000 };
    /// assert_eq!(local.seconds_utc(one_hour_east), 999_996_400);
    /// ```
    pub fn seconds_utc(self, to_utc: impl FnOnce(i64) -> i64) -> i64 {
        match self {
            Self::Utc { seconds, .. } => seconds,
            Self::Local { seconds } => to_utc(seconds),
        }
    }

    /// Nanoseconds after the second.
    #[must_use]
    pub fn nanoseconds(self) -> u32 {
        match self {
            Self::Utc { nanoseconds, .. } => nanoseconds,
            Self::Local { .. } => 0,
        }
    }
}
