//! The sequence numbers of one direction of a session, counted.

use super::holes::Holes;
use super::part::{Kind, Run};

/// As many requests for the same number, one after the other, are a storm.
const STORM_REQUESTS: u64 = 3;

/// The sequence numbers of one direction of a session.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) next: u64,
    pub(super) messages: u64,
    pub(super) gaps: u64,
    /// Numbers that were left out and have not come since.
    pub(super) missing: u64,
    /// Numbers that came after higher ones, in messages that do not say that they are sent again.
    pub(super) late: u64,
    pub(super) duplicates: u64,
    pub(super) resent: u64,
    pub(super) requests: u64,
    pub(super) storms: u64,
    /// The number that was last asked for, and how often one after the other.
    asked: (u64, u64),
    pub(super) storm_longest: u64,
    /// When the last Logon with the number 1 was sent.
    began: Option<i64>,
    holes: Holes,
}

impl Sequence {
    /// Adds numbers that follow each other; whether there is a hole in front of them.
    pub(super) fn add(&mut self, run: &Run) -> bool {
        let mut end = run.first.saturating_add(run.count);
        self.messages += run.count;
        if run.is_resent {
            self.resent += run.count;
        }
        match run.kind {
            // The first one of all is no restart, and a log may begin anywhere.
            Kind::First(sent) if self.began.replace(sent) != Some(sent) => {
                self.next = end;
                self.holes.clear();
                return false;
            }
            Kind::Begin(next) => {
                self.next = next.unwrap_or(end);
                // What was missing before the restart does not come any more.
                self.holes.clear();
                return false;
            }
            Kind::Fill(next) => end = end.max(next),
            Kind::Request(from) => self.request(from),
            Kind::Resent | Kind::Plain | Kind::First(_) => {}
        }
        // A log may begin anywhere.
        if self.next == 0 {
            self.next = end;
            return false;
        }
        let again = end.min(self.next).saturating_sub(run.first);
        if again > 0 {
            let filled = self.holes.fill(run.first, end);
            self.missing = self.missing.saturating_sub(filled);
            if !matches!(run.kind, Kind::Resent | Kind::Fill(_)) {
                self.late += filled;
                self.duplicates += again - filled;
            }
        }
        let hole = run.first.saturating_sub(self.next);
        if hole > 0 {
            self.gaps += 1;
            self.missing = self.missing.saturating_add(hole);
            self.holes.add(self.next, run.first);
        }
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
            names: 0,
            is_logon: false,
            is_resent: kind == Kind::Resent,
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

    fn run_of(kind: Kind, first: u64, count: u64) -> Run {
        Run {
            kind,
            first,
            count,
            offset: 0,
            names: 0,
            is_logon: false,
            is_resent: kind == Kind::Resent,
        }
    }

    /// Of these runs: gaps, missing, late, duplicates, resent.
    fn counts(runs: &[Run]) -> [u64; 5] {
        let mut all = Sequence::default();
        for run in runs {
            all.add(run);
        }
        let Sequence {
            gaps,
            missing,
            late,
            duplicates,
            resent,
            ..
        } = all;
        [gaps, missing, late, duplicates, resent]
    }

    #[test]
    fn a_late_number_is_neither_missing_nor_a_duplicate_until_it_comes_again() {
        let plain = |first, count| run_of(Kind::Plain, first, count);
        assert_eq!(counts(&[plain(1, 2), plain(5, 3)]), [1, 2, 0, 0, 0]);
        let mut runs = vec![plain(1, 2), plain(5, 3), plain(4, 1)];
        assert_eq!(counts(&runs), [1, 1, 1, 0, 0]);
        runs.push(plain(4, 1));
        assert_eq!(counts(&runs), [1, 1, 1, 1, 0], "the second time");
        runs.push(plain(2, 4));
        assert_eq!(counts(&runs), [1, 0, 2, 4, 0], "3 is late; 2, 4 and 5 came");
        // Two neighbours that changed places, again and again.
        let swapped: Vec<_> = (1..100)
            .flat_map(|n| [plain(2 * n + 1, 1), plain(2 * n, 1)])
            .collect();
        assert_eq!(counts(&swapped), [98, 0, 98, 1, 0]);
    }

    #[test]
    fn a_resend_or_a_gap_fill_fills_a_hole_and_a_reset_leaves_it() {
        let plain = |first, count| run_of(Kind::Plain, first, count);
        let torn = [plain(1, 2), plain(10, 5)];
        let then = |more: &[Run]| counts(&[&torn[..], more].concat());
        assert_eq!(then(&[]), [1, 7, 0, 0, 0]);
        assert_eq!(then(&[run_of(Kind::Resent, 3, 7)]), [1, 0, 0, 0, 7]);
        assert_eq!(then(&[run_of(Kind::Resent, 3, 12)]), [1, 0, 0, 0, 12]);
        // 3 and 4 are sent again, 5 to 9 were none of the counterparty's business.
        let fill = [
            run_of(Kind::Resent, 3, 2),
            run_of(Kind::Fill(10), 5, 1),
            plain(15, 1),
        ];
        assert_eq!(then(&fill), [1, 0, 0, 0, 2], "the next number stays");
        // A gap fill beyond what came.
        let beyond = [run_of(Kind::Fill(40), 15, 1), plain(40, 1)];
        assert_eq!(then(&beyond), [1, 7, 0, 0, 0]);
        let reset = [run_of(Kind::Begin(None), 1, 1), plain(2, 8)];
        assert_eq!(then(&reset), [1, 7, 0, 0, 0], "3 to 9 of another count");
    }

    #[test]
    fn numbers_in_any_order_are_counted_as_a_set_of_them_would() {
        let mut random = 7_u64;
        let mut below = move |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        for _ in 0..500 {
            let mut all = Sequence::default();
            let mut seen = std::collections::HashSet::new();
            let (first, mut next) = (100, 100);
            let (mut late, mut duplicates) = (0, 0);
            for step in 0..60 {
                let number = match step {
                    0 => first,
                    _ => first + below(40),
                };
                all.add(&run_of(Kind::Plain, number, 1));
                match (number < next, seen.insert(number)) {
                    (true, true) => late += 1,
                    (true, false) => duplicates += 1,
                    (false, _) => next = number + 1,
                }
                let missing = next - first - seen.len() as u64;
                assert_eq!(
                    [all.missing, all.late, all.duplicates],
                    [missing, late, duplicates]
                );
            }
        }
    }

    #[test]
    fn a_logon_with_the_first_number_begins_anew_unless_it_is_the_same_again() {
        let plain = |first, count| run_of(Kind::Plain, first, count);
        let logon = |sent| run_of(Kind::First(sent), 1, 1);
        let day = [logon(10), plain(2, 6)];
        let then = |more: &[Run]| counts(&[&day[..], more].concat());
        assert_eq!(then(&[logon(20), plain(2, 3)]), [0; 5], "the next evening");
        assert_eq!(
            then(&[logon(10), plain(8, 3)]),
            [0, 0, 0, 1, 0],
            "the line twice"
        );
        // A log that begins in the middle of a day.
        assert_eq!(counts(&[plain(5, 3), logon(20), plain(2, 3)]), [0; 5]);
        assert_eq!(
            counts(&[plain(5, 3), plain(1, 1)]),
            [0, 0, 0, 1, 0],
            "no Logon"
        );
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
                names: 0,
                is_logon: false,
                is_resent: false,
            });
        }
        assert_eq!(sequence.requests, 10);
        assert_eq!((sequence.storms, sequence.storm_longest), (2, 5));
    }
}
