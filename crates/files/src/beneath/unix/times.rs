//! Times of files as the system has them.

use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};

/// Only the time of modification.
pub(super) fn timestamps(modified: SystemTime) -> Timestamps {
    let (seconds, nanoseconds) = match modified.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => (i128::from(since.as_secs()), since.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let seconds = -i128::from(before.as_secs());
            match before.subsec_nanos() {
                0 => (seconds, 0),
                nanoseconds => (seconds - 1, 1_000_000_000 - nanoseconds),
            }
        }
    };
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT as _,
        },
        last_modification: Timespec {
            tv_sec: seconds as _,
            tv_nsec: nanoseconds as _,
        },
    }
}

/// When it was modified.
pub(super) fn time_of(found: &rustix::fs::Stat) -> SystemTime {
    // The types of the fields differ between systems.
    let (seconds, nanoseconds) = (i128::from(found.st_mtime), i128::from(found.st_mtime_nsec));
    let whole = Duration::from_secs(u64::try_from(seconds.abs()).unwrap_or(u64::MAX));
    let start = match seconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(whole),
        false => SystemTime::UNIX_EPOCH.checked_add(whole),
    };
    let part = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    start
        .and_then(|start| start.checked_add(part))
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
