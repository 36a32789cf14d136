//! Hops between two parties: how far their clocks are apart, and how long messages took.

/// Samples before the offset of two clocks is fixed.
const SAMPLES: usize = 4096;

/// The time between a message of one party and what the next one sent because of it, in both directions.
///
/// Each party stamps its messages by its own clock. If the shortest way there and the shortest way back take the
/// same time, the difference of their halves is the offset of the clocks; the error is at most half the
/// difference of these ways. Where neither is negative, clocks that are equal explain all, and the offset is 0. It is fixed after 4,096 samples of each direction, or at the end.
#[derive(Debug, Default)]
pub struct Hop {
    /// Differences by the two clocks, until the offset is fixed.
    waiting: [Vec<i64>; 2],
    least: [Option<i64>; 2],
    /// Of the times there, by the two clocks.
    stamped_sum_ns: i128,
    offset_ns: Option<i64>,
    samples: [u64; 2],
    early: [u64; 2],
}

/// What is known of a hop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HopCount {
    /// The party that sends orders.
    pub from: Vec<u8>,
    /// The party that gets them.
    pub to: Vec<u8>,
    /// How much the clock of `to` is ahead of that of `from`, in nanoseconds; `None` if messages went one way only.
    pub offset_ns: Option<i64>,
    /// How much it is ahead at most, where messages went there: none is there before it was sent. Below 0 it is behind
    /// by that at least.
    pub ahead_at_most_ns: Option<i64>,
    /// The mean of the times there by the two clocks as they are; `None` if there is none.
    pub stamped_mean_ns: Option<i64>,
    /// Samples there and back.
    pub samples: [u64; 2],
    /// Samples there and back that are negative even so, and are no latencies.
    pub early: [u64; 2],
}

impl Hop {
    /// Adds a time there (`back` is false) or back. `out` gets the direction and nanoseconds of samples whose
    /// offset is known.
    pub(super) fn add(&mut self, back: bool, ns: i64, out: &mut dyn FnMut(bool, u64)) {
        let at = usize::from(back);
        self.samples[at] += 1;
        if !back {
            self.stamped_sum_ns += i128::from(ns);
        }
        if let Some(offset) = self.offset_ns {
            return self.pass(back, ns, offset, out);
        }
        let least = self.least[at].get_or_insert(ns);
        *least = (*least).min(ns);
        self.waiting[at].push(ns);
        let enough = |waiting: &Vec<i64>| waiting.len() >= SAMPLES;
        // One direction alone does not wait for ever.
        if self.waiting.iter().all(enough) || self.waiting[at].len() >= 8 * SAMPLES {
            self.settle(out);
        }
    }

    /// Fixes the offset, and passes on what waited for it.
    pub(super) fn settle(&mut self, out: &mut dyn FnMut(bool, u64)) {
        let offset = match self.least {
            // Nothing says that clocks differ where no message is there before it was sent: what is longer one way
            // may be the time that an answer took.
            [Some(there), Some(back)] if there < 0 || back < 0 => there.saturating_sub(back) / 2,
            _ => 0,
        };
        self.offset_ns = Some(offset);
        for back in [false, true] {
            for ns in std::mem::take(&mut self.waiting[usize::from(back)]) {
                self.pass(back, ns, offset, out);
            }
        }
    }

    fn pass(&mut self, back: bool, ns: i64, offset: i64, out: &mut dyn FnMut(bool, u64)) {
        let ns = match back {
            false => ns.saturating_sub(offset),
            true => ns.saturating_add(offset),
        };
        match u64::try_from(ns) {
            Ok(ns) => out(back, ns),
            Err(_) => self.early[usize::from(back)] += 1,
        }
    }

    /// How much the clock of the second party is ahead, or at most is: where messages go one way only, none is there
    /// before it was sent.
    pub(super) fn ahead_ns(&self) -> i64 {
        match (self.least, self.offset_ns) {
            ([Some(_), Some(_)], Some(offset)) => offset,
            ([Some(there), None], _) => there.min(0),
            _ => 0,
        }
    }

    /// What is known.
    pub(super) fn count(&self, from: &[u8], to: &[u8]) -> HopCount {
        let both = self.least.iter().all(Option::is_some);
        HopCount {
            from: from.to_vec(),
            to: to.to_vec(),
            offset_ns: self.offset_ns.filter(|_| both),
            ahead_at_most_ns: self.least[0],
            stamped_mean_ns: self
                .stamped_sum_ns
                .checked_div(self.samples[0].into())
                .and_then(|mean| mean.try_into().ok()),
            samples: self.samples,
            early: self.early,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_of_clocks_comes_out_of_the_shortest_ways() {
        for offset in [0_i64, 1_500_000, -3_600_000_000_000] {
            for samples in [1_usize, 10, SAMPLES, SAMPLES + 1, 3 * SAMPLES] {
                let mut hop = Hop::default();
                let mut found = [Vec::new(), Vec::new()];
                let mut expected = [Vec::new(), Vec::new()];
                let mut out = |back: bool, ns| found[usize::from(back)].push(ns);
                for at in 0..samples {
                    let (there, back) = (100 + (at as i64 * 7) % 50, 100 + (at as i64 * 11) % 90);
                    expected[0].push(there as u64);
                    expected[1].push(back as u64);
                    hop.add(false, there + offset, &mut out);
                    hop.add(true, back - offset, &mut out);
                }
                hop.settle(&mut out);
                let count = hop.count(b"A", b"B");
                assert_eq!(count.offset_ns, Some(offset), "{samples}");
                assert_eq!(found, expected);
                assert_eq!((count.samples, count.early), ([samples as u64; 2], [0, 0]));
            }
        }
    }

    #[test]
    fn one_direction_has_no_offset_and_what_is_negative_is_counted() {
        let mut hop = Hop::default();
        let mut found = Vec::new();
        let mut out = |_, ns| found.push(ns);
        for ns in [5, -3, 7] {
            hop.add(false, ns, &mut out);
        }
        hop.settle(&mut out);
        let count = hop.count(b"A", b"B");
        assert_eq!(
            (count.offset_ns, count.samples, count.early),
            (None, [3, 0], [1, 0])
        );
        assert_eq!(
            (count.ahead_at_most_ns, count.stamped_mean_ns),
            (Some(-3), Some(3))
        );
        assert_eq!(found, [5, 7]);
    }
}
