//! From which peak memory on a run is known to have it.
//!
//! A child starts in a copy of this process, and the system counts the pages of the copy as the child's. A peak that is not
//! above it says nothing of the child.

use latency::Meter;

/// No peak below is known, however little this process takes: how much that is depends on which report is wanted, and the
/// verdict on a limit must not.
const LEAST_BYTES: u64 = 8 << 20;
/// The copy is made of more than the private pages: of the code that it runs until it is another program, too, which is
/// mapped 64 KiB at a time. 1.2 MiB were seen.
const MORE_BYTES: u64 = 2 << 20;

/// The memory that runs start in, as far as it was looked at while there were runs.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    most_bytes: u64,
}

impl Floor {
    /// Looks at this process as it is now.
    pub(crate) fn look(&mut self) {
        let copied = private_bytes().map(|bytes| bytes + MORE_BYTES);
        self.most_bytes = self.most_bytes.max(copied.unwrap_or_else(peak_bytes));
    }

    /// The greatest peak that may be that of the copy.
    pub(crate) fn bytes(&self) -> u64 {
        self.most_bytes.max(LEAST_BYTES)
    }
}

/// The private memory of this process, where the system tells.
fn private_bytes() -> Option<u64> {
    latency::environment::proc_bytes("/proc/self/status", "RssAnon:")
}

/// The most memory that this process had.
fn peak_bytes() -> u64 {
    let mut environment = latency::environment::capture();
    let resources = Meter::start().finish(&mut environment);
    resources.rss_max_bytes.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_most_that_was_seen_and_never_small() {
        let mut floor = Floor::default();
        floor.look();
        assert!(floor.bytes() >= LEAST_BYTES);
        floor.most_bytes = 3 * LEAST_BYTES;
        assert_eq!(floor.bytes(), 3 * LEAST_BYTES);
    }
}
