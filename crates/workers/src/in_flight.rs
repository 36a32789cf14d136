//! How many blocks a worker has at a time: the more, the sooner each is done.
//!
//! A block that takes a microsecond and a millisecond to get here leaves its thread idle unless a thousand are on their
//! way. One that takes a second needs no other behind it, which somebody else could answer.

use std::time::Duration;

/// The most bytes of blocks and answers that more blocks than the least may have.
const BYTES_MAX: usize = 4 << 20;
/// First deliveries after a repeated one until more blocks are taken again. A repeated block may have ended the worker that had
/// it: the fewer others are here, the fewer are lost with this one.
const CAREFUL: u32 = 64;

/// What bounds the number of blocks at a time: those that are asked for, matched, published.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The number that is always allowed, whatever they take.
    pub least: usize,
    /// The most, however soon each is done, and however small.
    pub most: usize,
    /// The time that a thread may take for all that there are, where they are more than the least.
    pub ahead: Duration,
    /// The part of all blocks for which there has to be room before the broker is asked for more, where one request brings
    /// many: half of them for 2; 0 counts as 1.
    pub asked_part: usize,
}

/// What blocks take, and so how many there may be.
pub(crate) struct InFlight {
    bounds: Bounds,
    /// What a block takes; none if none was answered.
    typical: Option<Typical>,
    careful: u32,
}

#[derive(Clone, Copy)]
struct Typical {
    took: Duration,
    bytes: usize,
}

impl InFlight {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            typical: None,
            careful: 0,
        }
    }

    /// A block was given out, not for the first time if `is_again`.
    pub(crate) fn taken(&mut self, is_again: bool) {
        self.careful = match is_again {
            true => CAREFUL,
            false => self.careful.saturating_sub(1),
        };
    }

    /// A thread was busy with a block for `took`; the block and its answer have `bytes`.
    pub(crate) fn answered(&mut self, took: Duration, bytes: usize) {
        // A block that takes longer counts at once, those that take less little by little.
        let typical = self.typical.unwrap_or(Typical { took, bytes });
        self.typical = Some(Typical {
            took: took.max((typical.took * 7 + took) / 8),
            bytes: bytes.max((typical.bytes * 7 + bytes) / 8),
        });
    }

    /// The most blocks at a time.
    pub(crate) fn limit(&self) -> usize {
        let least = self.bounds.least;
        let Some(typical) = self.typical.filter(|_| self.careful == 0) else {
            return least;
        };
        let by_time = self.bounds.ahead.as_nanos() / typical.took.as_nanos().max(1);
        let by_bytes = BYTES_MAX / typical.bytes.max(1);
        let most = self.bounds.most.max(least);
        usize::try_from(by_time)
            .unwrap_or(usize::MAX)
            .min(by_bytes)
            .clamp(least, most)
    }

    /// For how many blocks there has to be room before the broker is asked for more.
    pub(crate) fn asked_min(&self) -> usize {
        (self.limit() / self.bounds.asked_part.max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        least: 6,
        most: 256,
        ahead: Duration::from_millis(20),
        asked_part: 2,
    };

    fn limit_after(took: Duration, bytes: usize) -> usize {
        let mut in_flight = InFlight::new(BOUNDS);
        in_flight.answered(took, bytes);
        in_flight.limit()
    }

    #[test]
    fn what_is_soon_done_has_more_behind_it() {
        assert_eq!(limit_after(Duration::from_millis(2), 100), 10);
        assert_eq!(limit_after(Duration::from_micros(100), 100), 200);
        assert_eq!(limit_after(Duration::ZERO, 0), 256);
        assert_eq!(limit_after(Duration::from_secs(1), 100), 6);
        // Their bytes are bounded, too.
        assert_eq!(limit_after(Duration::ZERO, 64 << 10), 64);
        assert_eq!(limit_after(Duration::ZERO, usize::MAX / 16), 6);
    }

    #[test]
    fn a_slow_block_counts_at_once_and_quick_ones_little_by_little() {
        let mut in_flight = InFlight::new(BOUNDS);
        assert_eq!((in_flight.limit(), in_flight.asked_min()), (6, 3));
        in_flight.answered(Duration::from_micros(10), 10);
        assert_eq!((in_flight.limit(), in_flight.asked_min()), (256, 128));
        in_flight.answered(Duration::from_millis(500), 10);
        assert_eq!(in_flight.limit(), 6);
        let quick = (1..).find(|_| {
            in_flight.answered(Duration::from_micros(10), 10);
            in_flight.limit() == 256
        });
        assert!(
            quick.is_some_and(|count| (20..80).contains(&count)),
            "{quick:?}"
        );
    }

    #[test]
    fn blocks_that_are_given_out_again_are_few_at_a_time() {
        let mut in_flight = InFlight::new(BOUNDS);
        in_flight.answered(Duration::from_micros(10), 10);
        in_flight.taken(true);
        for _ in 0..CAREFUL {
            assert_eq!(in_flight.limit(), 6);
            in_flight.taken(false);
        }
        assert_eq!(in_flight.limit(), 256);
    }
}
