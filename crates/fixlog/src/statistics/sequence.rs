//! The sequence numbers of one direction of a session, counted.

use super::part::{Kind, Run};

/// As many requests for the same number, one after the other, are a storm.
const STORM_REQUESTS: u64 = 3;

/// The sequence numbers of one direction of a session.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) next: u64,
    pub(super) messages: u64,
    pub(super) gaps: u64,
    pub(super) missing: u64,
    pub(super) duplicates: u64,
    pub(super) resent: u64,
    pub(super) requests: u64,
    pub(super) storms: u64,
    /// The number that was last asked for, and how often one after the other.
    asked: (u64, u64),
    pub(super) storm_longest: u64,
}

impl Sequence {
    /// Adds numbers that follow each other; whether there is a hole in front of them.
    pub(super) fn add(&mut self, run: &Run) -> bool {
        let end = run.first.saturating_add(run.count);
        self.messages += run.count;
        match run.kind {
            Kind::Begin(next) => {
                self.next = next.unwrap_or(end);
                return false;
            }
            Kind::Request(from) => self.request(from),
            Kind::Resent => self.resent += run.count,
            Kind::Plain => {}
        }
        // A log may begin anywhere.
        if self.next == 0 {
            self.next = end;
            return false;
        }
        let again = end.min(self.next).saturating_sub(run.first);
        if run.kind != Kind::Resent {
            self.duplicates += again;
        }
        let hole = run.first.saturating_sub(self.next);
        self.gaps += u64::from(hole > 0);
        self.missing = self.missing.saturating_add(hole);
        self.next = self.next.max(end);
        hole > 0
    }

    fn request(&mut self, from: u64) {
        self.requests += 1;
        let times = if self.requests > 1 && self.asked.0 == from {
            self.asked.1 + 1
        } else {
            1
        };
        self.asked = (from, times);
        self.storms += u64::from(times == STORM_REQUESTS);
        if times >= STORM_REQUESTS {
            self.storm_longest = self.storm_longest.max(times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_counts_as_its_numbers_one_by_one() {
        let run = |kind, first, count| Run {
            kind,
            first,
            count,
            offset: 0,
        };
        let runs = [
            run(Kind::Plain, 5, 10),
            run(Kind::Plain, 12, 6),
            run(Kind::Resent, 9, 20),
            run(Kind::Plain, 40, 3),
            run(Kind::Plain, 1, 2),
            run(Kind::Begin(Some(3)), 7, 1),
            run(Kind::Plain, 3, 1),
        ];
        let (mut whole, mut single) = (Sequence::default(), Sequence::default());
        for run in runs {
            whole.add(&run);
            for number in run.first..run.first + run.count {
                single.add(&Run {
                    first: number,
                    count: 1,
                    ..run
                });
            }
        }
        assert_eq!(format!("{whole:?}"), format!("{single:?}"));
        assert_eq!((whole.gaps, whole.missing), (1, 11));
        assert_eq!((whole.duplicates, whole.resent), (5, 20));
    }

    #[test]
    fn requests_for_the_same_number_are_a_storm() {
        let mut sequence = Sequence::default();
        for (number, from) in [7, 7, 9, 9, 9, 9, 9, 7, 7, 7].into_iter().enumerate() {
            sequence.add(&Run {
                kind: Kind::Request(from),
                first: number as u64 + 1,
                count: 1,
                offset: 0,
            });
        }
        assert_eq!(sequence.requests, 10);
        assert_eq!((sequence.storms, sequence.storm_longest), (2, 5));
    }
}
