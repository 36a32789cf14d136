//! What a ResendRequest is answered with: a plan over the numbers that were sent, made step by step, so
//! that a long one is neither kept in memory nor written at once.

/// A part of the answer to a ResendRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayStep {
    /// A SequenceReset-GapFill with MsgSeqNum (34) `number` and NewSeqNo (36) `next`.
    Gap {
        /// The first number that it replaces.
        number: u64,
        /// The number after the last one that it replaces.
        next: u64,
    },
    /// The message that was sent with this number, again.
    Message(u64),
}

/// The answer to a ResendRequest for the numbers `begin` to `end`, where `next_out` is the number of the
/// next message to send. `is_resent` says whether the message of a number is sent again: administrative
/// and missing ones are not.
///
/// The steps cover each number from `begin` to `end`, as far as they were sent, exactly once and in
/// order; no NewSeqNo is greater than `next_out`, and nothing uses a number of its own. A `begin` of 0 is
/// 1, an `end` of 0 means all.
///
/// ```
/// use fixsession::{ReplayStep, plan_replay};
///
/// let is_application = |number| number == 3;
/// let plan = plan_replay(2, 0, 6, is_application);
/// assert_eq!(plan, [
///     ReplayStep::Gap { number: 2, next: 3 },
///     ReplayStep::Message(3),
///     ReplayStep::Gap { number: 4, next: 6 },
/// ]);
/// ```
#[must_use]
pub fn plan_replay(
    begin: u64,
    end: u64,
    next_out: u64,
    mut is_resent: impl FnMut(u64) -> bool,
) -> Vec<ReplayStep> {
    let mut plan = Vec::new();
    let mut replay = Replay::new(begin, end, next_out);
    while let Some(advance) = replay.advance(&mut is_resent, u64::MAX) {
        plan.extend(advance.gap);
        plan.extend(advance.message.map(ReplayStep::Message));
    }
    plan
}

/// A replay that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replay {
    /// The next number to look at.
    at: u64,
    /// The last number to answer for.
    end: u64,
    /// The first number of the gap that is not filled yet.
    gap: Option<u64>,
}

/// How far a replay got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Advance {
    /// A gap to fill first.
    pub(crate) gap: Option<ReplayStep>,
    /// Then the message with this number.
    pub(crate) message: Option<u64>,
}

impl Replay {
    /// A replay of these numbers, as far as they were sent.
    pub(crate) fn new(begin: u64, end: u64, next_out: u64) -> Self {
        let last = next_out.saturating_sub(1);
        Self {
            at: begin.max(1),
            end: match end {
                0 => last,
                end => end.min(last),
            },
            gap: None,
        }
    }

    /// The last number that this replay answers for.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Adds a second request.
    pub(crate) fn merge(&mut self, other: Self) {
        self.end = self.end.max(other.end);
        let at = self.gap.unwrap_or(self.at);
        if other.at < at {
            (self.at, self.gap) = (other.at, None);
        }
    }

    /// Goes on to the next message, or past this many numbers. `None` at the end.
    ///
    /// `is_resent` is called once for each number, and the message of a number that it accepts is the
    /// next step.
    pub(crate) fn advance(
        &mut self,
        mut is_resent: impl FnMut(u64) -> bool,
        numbers_max: u64,
    ) -> Option<Advance> {
        let mut looked = 0;
        while self.at <= self.end {
            if looked == numbers_max {
                return Some(Advance::default());
            }
            looked += 1;
            let number = self.at;
            self.at += 1;
            if is_resent(number) {
                return Some(Advance {
                    gap: self.filled(number),
                    message: Some(number),
                });
            }
            self.gap.get_or_insert(number);
        }
        let gap = self.filled(self.at)?;
        Some(Advance {
            gap: Some(gap),
            message: None,
        })
    }

    fn filled(&mut self, next: u64) -> Option<ReplayStep> {
        let number = self.gap.take()?;
        Some(ReplayStep::Gap { number, next })
    }
}
