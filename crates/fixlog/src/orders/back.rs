//! Where the order of a log, or of the numbers of a session, begins anew.

use std::collections::HashMap;

use super::event::Event;

/// A sender whose times go back as far, in one log, did not write it in this order.
const BACK_NS: i64 = 60_000_000_000;

/// Where the times of a sender go back by more than a minute within a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Back {
    /// Which log, counted from 0.
    pub log: usize,
    /// The byte of the log.
    pub offset: u64,
    /// The line of the log, counted from 1.
    pub line: Option<u64>,
    /// By how much, in nanoseconds.
    pub ns: i64,
    /// How often this happens in all logs.
    pub times: u64,
}

/// How often the numbers of each session began anew.
#[derive(Debug, Default)]
pub(super) struct Restarts(HashMap<[u32; 2], Restart>);

/// How often, and the Logon that said so last.
#[derive(Debug, Default)]
struct Restart {
    times: u32,
    parties: [u32; 2],
    sent_ns: Option<i64>,
}

impl Restarts {
    /// Numbers begin anew: what is rejected by number is of the new ones.
    pub(super) fn add(&mut self, parties: [u32; 2], sent_ns: Option<i64>) {
        if parties.contains(&u32::MAX) {
            return;
        }
        let last = self.0.entry(pair(parties)).or_default();
        // The same Logon may be in several logs.
        if last.times == 0 || (last.parties, last.sent_ns) != (parties, sent_ns) {
            *last = Restart {
                times: last.times.saturating_add(1),
                parties,
                sent_ns,
            };
        }
    }

    /// How often those of a session did.
    pub(super) fn of(&self, parties: [u32; 2]) -> u32 {
        if self.0.is_empty() {
            return 0;
        }
        self.0.get(&pair(parties)).map_or(0, |last| last.times)
    }
}

fn pair([one, other]: [u32; 2]) -> [u32; 2] {
    [one.min(other), one.max(other)]
}

/// The latest times of each sender in each log.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// By log and party.
    latest: Vec<Vec<i64>>,
    back: Option<Back>,
}

impl Times {
    /// Where times go back first.
    pub(super) fn back(&self) -> Option<&Back> {
        self.back.as_ref()
    }

    /// Adds the next message of a log.
    pub(super) fn add(&mut self, log: usize, sender: u32, event: &Event) {
        let Some(sent) = event.sent_ns else {
            return;
        };
        if self.latest.len() <= log {
            self.latest.resize_with(log + 1, Vec::new);
        }
        let Some(latest) = self.latest.get_mut(log) else {
            return;
        };
        if latest.len() <= sender as usize {
            latest.resize(sender as usize + 1, i64::MIN);
        }
        let Some(latest) = latest.get_mut(sender as usize) else {
            return;
        };
        let ns = latest.saturating_sub(sent);
        if *latest == i64::MIN || ns < BACK_NS {
            *latest = sent.max(*latest);
            return;
        }
        // From here on, it is another piece of log.
        *latest = sent;
        let back = self.back.get_or_insert(Back {
            log,
            offset: event.offset,
            line: event.line,
            ns,
            times: 0,
        });
        back.times += 1;
    }
}
