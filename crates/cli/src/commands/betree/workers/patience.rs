//! How long `join` waits without a word, and how long at all. It is given the time, and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Without an answer to the block that is due for this long, it is said.
const FIRST: Duration = Duration::from_secs(5);
/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(60);

/// What to do about a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    /// Say what is waited for.
    Say,
    /// Nothing that is wanted has come for too long.
    GiveUp,
}

/// A wait for answers.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Option<Duration>,
    /// When the block that was due had all its answers.
    moved: Instant,
    /// When an answer came that is wanted, to whichever block, or that was there at the start.
    heard: Instant,
    said: Option<Instant>,
}

impl Patience {
    pub(super) fn new(limit: Option<Duration>, now: Instant) -> Self {
        Self {
            limit,
            moved: now,
            heard: now,
            said: None,
        }
    }

    /// An answer has come.
    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    /// The next block is due.
    pub(super) fn go_on(&mut self, now: Instant) {
        (self.moved, self.said) = (now, None);
    }

    pub(super) fn look(&mut self, now: Instant) -> Next {
        if self
            .limit
            .is_some_and(|limit| now.duration_since(self.heard) >= limit)
        {
            return Next::GiveUp;
        }
        let is_due = match self.said {
            None => now.duration_since(self.moved) >= FIRST,
            Some(said) => now.duration_since(said) >= AGAIN,
        };
        if !is_due {
            return Next::Wait;
        }
        self.said = Some(now);
        Next::Say
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_said_and_ends_only_if_nothing_comes() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut waits = Patience::new(None, start);
        let mut said = Vec::new();
        for second in 0..200 {
            if second == 100 {
                waits.go_on(at(second));
            }
            match waits.look(at(second)) {
                Next::Wait => {}
                Next::Say => said.push(second),
                Next::GiveUp => panic!("it has no limit"),
            }
        }
        assert_eq!(said, [5, 65, 105, 165]);
        let mut waits = Patience::new(Some(Duration::from_secs(3)), start);
        assert_eq!(waits.look(at(2)), Next::Wait);
        // Answers to later blocks are something, and are said to be not enough.
        waits.hear(at(2));
        assert_eq!(waits.look(at(4)), Next::Wait);
        waits.hear(at(4));
        assert_eq!(waits.look(at(6)), Next::Say);
        assert_eq!(waits.look(at(7)), Next::GiveUp);
    }
}
