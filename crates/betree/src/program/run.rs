//! Runs one program over one event, to its end or until a budget is used up.

use crate::code::{Head, Op};
use crate::dictionary::Dictionary;
use crate::eval;
use crate::event::EventValues;
use crate::memory;
use crate::program::{ACCEPT, REJECT};

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Accepted,
    Rejected,
    /// The budget is used up; the position to continue at.
    Paused(u32),
}

/// Expensive tests, each once.
#[derive(Debug, Default)]
pub(crate) struct MemoTests {
    words: Vec<u32>,
    starts: Vec<u32>,
}

impl MemoTests {
    pub(crate) fn push(&mut self, test: &[u32]) -> u32 {
        self.starts.push(self.words.len() as u32);
        self.words.extend_from_slice(test);
        self.starts.len() as u32 - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        memory::of(&self.words) + memory::of(&self.starts)
    }

    /// The words of a test.
    pub(crate) fn get(&self, number: u32) -> &[u32] {
        let start = self
            .starts
            .get(number as usize)
            .map_or(0, |at| *at as usize);
        self.words.get(start..).unwrap_or(&[])
    }
}

/// The outcomes of expensive tests for one event.
#[derive(Debug, Default)]
pub(crate) struct Memos {
    /// The number of the event, and in the lowest two bits the outcome.
    outcomes: Vec<u32>,
    turn: u32,
    /// Outcomes that were used again, in all events.
    pub(crate) reused: u64,
}

impl Memos {
    /// Forgets the last event.
    pub(crate) fn begin(&mut self, count: usize) {
        self.turn = (self.turn + 1) & (u32::MAX >> 2);
        if self.outcomes.len() != count || self.turn == 0 {
            self.outcomes.clear();
            self.outcomes.resize(count, 0);
            self.turn = 1;
        }
    }

    fn get(&self, number: u32) -> Option<Option<bool>> {
        let found = self.outcomes.get(number as usize).copied().unwrap_or(0);
        (found >> 2 == self.turn).then_some(match found & 3 {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        })
    }

    fn set(&mut self, number: u32, outcome: Option<bool>) {
        if let Some(place) = self.outcomes.get_mut(number as usize) {
            *place = self.turn << 2 | outcome.map_or(2, u32::from);
        }
    }
}

/// What a run needs in addition to its program.
pub(crate) struct Context<'a> {
    pub(crate) event: &'a EventValues,
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) tests: &'a MemoTests,
    pub(crate) memos: &'a mut Memos,
    /// Reductions so far, and the number at which to stop.
    pub(crate) spent: u64,
    pub(crate) limit: u64,
}

impl Context<'_> {
    /// Runs a program from a position.
    #[inline]
    pub(crate) fn run(&mut self, program: &[u32], position: u32) -> Outcome {
        let mut at = position as usize;
        while let Some([word, jump, operands @ ..]) = program.get(at..) {
            if self.spent >= self.limit {
                return Outcome::Paused(at as u32);
            }
            let head = Head(*word);
            let first = operands.first().copied().unwrap_or(0);
            let outcome = if head.op() == Op::Memo {
                self.expensive(first)
            } else {
                self.spent += u64::from(eval::cost(head));
                eval::test(head, operands, self.event, self.dictionary)
            };
            if outcome.unwrap_or(head.undefined()) == head.flag() {
                at += 2 + head.operands(first);
            } else {
                match *jump {
                    ACCEPT => return Outcome::Accepted,
                    REJECT => return Outcome::Rejected,
                    next => at = next as usize,
                }
            }
        }
        Outcome::Accepted
    }

    #[inline(never)]
    fn expensive(&mut self, number: u32) -> Option<bool> {
        self.spent += 1;
        if let Some(outcome) = self.memos.get(number) {
            self.memos.reused += 1;
            return outcome;
        }
        let test = self.tests.get(number);
        let head = Head(test.first().copied().unwrap_or(0));
        self.spent += eval::expensive_cost(head, self.event);
        let operands = test.get(1..).unwrap_or(&[]);
        let outcome = eval::test(head, operands, self.event, self.dictionary);
        self.memos.set(number, outcome);
        outcome
    }
}
