//! Numbers of a session that begin anew: which of two messages with the same number belong together.
//!
//! After a restart, a number that was used before belongs to a new message. Each log counts its restarts by itself,
//! and pairs say which restart of one log is which of the other. A message that one log lost leaves its
//! like waiting in the other one; after the next restart that must not be taken for the message that has
//! its number then.

/// A number that is lower by no more than this was logged late, and so was one behind fewer messages.
const LATE_MAX: u64 = 64;
const LATE_FIRST_MAX: u64 = 8;

/// What a log said of a number.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Count {
    /// Restarts so far, this one included.
    era: u64,
    number: u64,
    /// Whether all numbers of the era were lower.
    is_highest: bool,
    /// The highest number of the era before.
    before: u64,
}

/// The numbers of a session in one log.
#[derive(Debug, Default)]
pub(super) struct Log {
    era: u64,
    /// Messages of the era, and their highest number.
    messages: u64,
    highest: u64,
    /// The highest number of the era before.
    before: u64,
}

impl Log {
    /// The next number.
    pub(super) fn next(&mut self, number: u64) -> Count {
        let again = match number {
            1 => self.messages > LATE_FIRST_MAX,
            _ => self.messages > LATE_MAX && number.saturating_add(LATE_MAX) < self.highest,
        };
        if again {
            self.era += 1;
            self.messages = 0;
            self.before = std::mem::take(&mut self.highest);
        }
        self.messages += 1;
        let is_highest = number > self.highest;
        self.highest = self.highest.max(number);
        Count {
            era: self.era,
            number,
            is_highest,
            before: self.before,
        }
    }
}

/// The numbers of a session in both logs.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) logs: [Log; 2],
    /// The eras of the last pair.
    paired: [u64; 2],
    /// The eras that began with the last restart that both logs have.
    begun: [u64; 2],
}

impl Session {
    /// Whether the message that waits in the other log is of an era before that of a message of log `at`
    /// that came just now.
    pub(super) fn is_over(&self, at: usize, new: &Count, waits: &Count) -> bool {
        let [ours, theirs] = [self.paired[at], self.paired[1 - at]];
        // The other log comes to the restart later.
        let is_ahead = new.era > ours && waits.era == theirs;
        waits.era < self.begun[1 - at]
            || (is_ahead && waits.is_highest && waits.number <= new.before)
    }

    /// Remembers a pair.
    pub(super) fn paired(&mut self, at: usize, new: &Count, waits: &Count) {
        let mut eras = [new.era; 2];
        eras[1 - at] = waits.era;
        if eras[0] > self.paired[0] && eras[1] > self.paired[1] {
            self.begun = eras;
        }
        self.paired = eras;
    }
}
