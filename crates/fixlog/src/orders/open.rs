//! An order that may go on, and what each message changes.

use super::life::{Life, State, Step, StepKind};
use super::wait::Wait;

/// An order that may go on.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) life: Life,
    /// Under what it is found.
    pub(super) keys: Vec<u128>,
    pub(super) new_ns: Option<i64>,
    pub(super) answered: bool,
    pub(super) has_fill: bool,
    pub(super) cancel_ns: Option<i64>,
    pub(super) replace_ns: Option<i64>,
    /// Sender and target of the order.
    pub(super) parties: [u32; 2],
    /// Where the order was sent on.
    pub(super) downstream: Option<(u32, u64)>,
    pub(super) end_ns: Option<i64>,
}

/// What a message said of an order.
#[derive(Debug)]
pub(super) struct Told {
    /// Times, which are negative where clocks differ.
    pub(super) waits: Vec<(Wait, i64)>,
    /// Whether it is the first answer.
    pub(super) is_first_answer: bool,
    /// Whether the order ended with it.
    pub(super) ends: bool,
}

impl Open {
    /// An order that begins with a message of some kind between these parties.
    pub(super) fn new(
        number: u64,
        kind: StepKind,
        sent_ns: Option<i64>,
        parties: [u32; 2],
    ) -> Self {
        let is_request = kind.is_request();
        Self {
            life: Life {
                number,
                upstream: None,
                downstream: None,
                steps: Vec::new(),
                left_out: 0,
                state: State::Unanswered,
                is_orphan: kind != StepKind::New,
                reused: 0,
            },
            keys: Vec::new(),
            new_ns: sent_ns.filter(|_| kind == StepKind::New),
            answered: !is_request,
            has_fill: false,
            cancel_ns: None,
            replace_ns: None,
            parties: match is_request {
                true => parties,
                false => [parties[1], parties[0]],
            },
            downstream: None,
            end_ns: None,
        }
    }

    /// Takes in what a message says, before it is among the steps.
    pub(super) fn tell(&mut self, step: &Step) -> Told {
        let sent = step.sent_ns;
        let kind = step.kind;
        let is_answer = !kind.is_request();
        let is_pending = matches!(
            kind,
            StepKind::Execution {
                exec_type: b'A' | b'6' | b'E',
                ..
            }
        );
        let is_new_rejected =
            matches!(kind, StepKind::Reject | StepKind::BusinessReject) && !self.answered;
        match kind {
            StepKind::Cancel => self.cancel_ns = sent,
            StepKind::Replace => self.replace_ns = sent,
            _ => {}
        }
        let is_first_answer = is_answer && !is_pending && !self.answered;
        self.answered |= is_answer && !is_pending;
        let is_fill = matches!(
            kind,
            StepKind::Execution {
                exec_type: b'F' | b'1' | b'2',
                ..
            }
        );
        let is_first_fill = is_fill && !self.has_fill;
        self.has_fill |= is_fill;
        let before = self.life.state;
        let state = match kind
            .status()
            .filter(|_| matches!(kind, StepKind::Execution { .. }))
        {
            Some(b'1') => State::PartiallyFilled,
            Some(b'2') => State::Filled,
            Some(b'4') => State::Cancelled,
            Some(b'8') => State::Rejected,
            Some(b'3' | b'C') => State::Expired,
            // Replaced, pending, suspended: it goes on as it was.
            Some(_) if self.has_fill => State::PartiallyFilled,
            Some(_) => State::Open,
            None if is_new_rejected => State::Rejected,
            None if is_answer && before == State::Unanswered => State::Open,
            None => before,
        };
        self.life.state = state;
        let mut waits = Vec::new();
        let mut wait = |wait: Wait, from: Option<i64>| {
            if let (Some(from), Some(to)) = (from, sent) {
                waits.push((wait, to.saturating_sub(from)));
            }
        };
        if is_first_answer {
            wait(Wait::Answer, self.new_ns);
        }
        if is_first_fill {
            wait(Wait::Fill, self.new_ns);
        }
        if state.is_end() && !before.is_end() {
            wait(Wait::End, self.new_ns);
        }
        let refused = matches!(kind, StepKind::CancelReject { .. });
        let id = step.get(11);
        let is_about = |request: StepKind| {
            let mut requests = self.life.steps.iter().rev();
            requests.any(|before| before.kind == request && before.get(11) == id)
        };
        let cancelled = matches!(
            kind,
            StepKind::Execution {
                exec_type: b'4',
                ..
            }
        );
        let replaced = matches!(
            kind,
            StepKind::Execution {
                exec_type: b'5',
                ..
            }
        );
        if (cancelled || refused) && self.cancel_ns.is_some() && is_about(StepKind::Cancel) {
            wait(Wait::Cancel, self.cancel_ns.take());
        }
        if (replaced || refused) && self.replace_ns.is_some() && is_about(StepKind::Replace) {
            wait(Wait::Replace, self.replace_ns.take());
        }
        Told {
            waits,
            is_first_answer,
            ends: state.is_end() && !before.is_end(),
        }
    }
}
