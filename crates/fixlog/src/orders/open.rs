//! An order that may go on, and what each message changes.

use super::life::{Life, State, Step, StepKind, number};
use super::wait::Wait;
use crate::no_id;

/// An order that may go on.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) life: Life,
    /// Under what it is found.
    pub(super) keys: Vec<u128>,
    pub(super) new_ns: Option<i64>,
    pub(super) answered: bool,
    pub(super) has_fill: bool,
    /// CumQty (14), as far as it is known.
    filled: f64,
    pub(super) cancel_ns: Option<i64>,
    pub(super) replace_ns: Option<i64>,
    /// Sender and target of the order.
    pub(super) parties: [u32; 2],
    /// Where the order was sent on.
    pub(super) downstream: Option<(u32, u64)>,
    pub(super) end_ns: Option<i64>,
    /// The number of the next order when it ended.
    pub(super) ended_before: u64,
    /// Whether the other side has given it an OrderID (37).
    pub(super) has_order_id: bool,
    /// Whether it was passed on after its end, and nothing came since.
    pub(super) is_told: bool,
    pub(super) times_told: u32,
    /// What it takes while it is kept after its end.
    pub(super) bytes: usize,
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
    /// Whether it is the message that the order began with, whose answers came before it.
    pub(super) begins: bool,
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
                may_be_forgotten: false,
                was_orphan: false,
                reused: 0,
                again: None,
            },
            keys: Vec::new(),
            new_ns: sent_ns.filter(|_| kind == StepKind::New),
            answered: !is_request,
            has_fill: false,
            filled: 0.0,
            cancel_ns: None,
            replace_ns: None,
            parties: match is_request {
                true => parties,
                false => [parties[1], parties[0]],
            },
            downstream: None,
            end_ns: None,
            ended_before: 0,
            has_order_id: false,
            is_told: false,
            times_told: 0,
            bytes: 0,
        }
    }

    /// About as many bytes it takes, with its keys.
    pub(super) fn bytes_of(&self) -> usize {
        /// A key here and among those of the book, and what an allocation takes.
        const KEY: usize = 64;
        const ALLOCATION: usize = 16;
        let steps = self.life.steps.iter();
        let fields: usize = steps.map(|step| step.fields.len() + ALLOCATION).sum();
        let steps = self.life.steps.capacity() * size_of::<Step>();
        size_of::<Self>() + fields + steps + self.keys.len() * KEY + 2 * ALLOCATION
    }

    /// Whether an answer says what was so before: what was lost is sent again after what came later.
    pub(super) fn is_late(&self, step: &Step) -> bool {
        let filled = step.get(14).and_then(number);
        let is_less = step.kind.is_trade() && filled.is_some_and(|filled| filled < self.filled);
        // Numbers may have begun anew since then.
        let is_later = |other: &Step| {
            let is_after = |ns| other.sent_ns.is_some_and(|sent| sent >= ns);
            other.sender == step.sender
                && other.number > step.number
                && step.original_ns.is_none_or(is_after)
        };
        let is_execution = matches!(step.kind, StepKind::Execution { .. });
        is_less || (is_execution && step.is_copy && self.life.steps.iter().any(is_later))
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
        let is_refused = matches!(kind, StepKind::Reject | StepKind::BusinessReject);
        // Whoever sent the order may refuse an answer.
        let is_new_rejected = is_refused && !self.answered && step.sender == self.parties[1];
        let begins = kind == StepKind::New && self.life.is_orphan;
        if begins {
            (self.life.is_orphan, self.life.may_be_forgotten) = (false, false);
            self.new_ns = sent;
        }
        let order_id = step.get(37).filter(|_| !kind.is_request() && !is_refused);
        self.has_order_id |= order_id.is_some_and(|id| !no_id::is_none(id));
        match kind {
            StepKind::Cancel => self.cancel_ns = sent,
            StepKind::Replace => self.replace_ns = sent,
            _ => {}
        }
        let is_first_answer = is_answer && !is_pending && !self.answered;
        self.answered |= is_answer && !is_pending;
        let is_fill = kind.is_trade();
        let filled = step.get(14).and_then(number);
        if !step.is_late {
            self.filled = filled.unwrap_or(self.filled);
        }
        let is_first_fill = is_fill && !self.has_fill;
        self.has_fill |= is_fill;
        let before = self.life.state;
        let status = kind.status().filter(|_| match kind {
            StepKind::Execution { .. } => true,
            // Of an order whose beginning is not known, this says what it is.
            _ => self.life.is_orphan,
        });
        let state = match status {
            Some(_) if step.is_late => before,
            Some(status) => self.state_of(status, filled, step),
            None if is_new_rejected => State::Rejected,
            None if is_answer && !is_refused && before == State::Unanswered => State::Open,
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
        // A second end, as after a trade was cancelled, is no time of the order.
        if state.is_end() && !before.is_end() && self.end_ns.is_none() {
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
            begins,
        }
    }

    /// What an OrdStatus (39) says, with CumQty (14) and the other quantities of the message.
    fn state_of(&self, status: u8, filled: Option<f64>, step: &Step) -> State {
        let quantity = |tag| step.get(tag).and_then(number);
        let is_whole = || {
            let ordered = quantity(38).or_else(|| self.life.current(38).and_then(number));
            filled.is_some_and(|filled| filled > 0.0)
                && filled == ordered
                && quantity(151).is_none_or(|left| left == 0.0)
        };
        let before = self.life.state;
        match status {
            b'1' => State::PartiallyFilled,
            b'2' => State::Filled,
            b'4' => State::Cancelled,
            b'8' => State::Rejected,
            // Done for the day, or calculated: there may be nothing left to do.
            b'3' | b'B' if is_whole() => State::Filled,
            b'B' if before.is_end() => before,
            b'3' | b'C' => State::Expired,
            // It has come to a gateway only.
            b'A' if before == State::Unanswered => before,
            // Replaced, pending, suspended, or a trade was cancelled: it goes on with what is filled.
            _ => match filled {
                Some(filled) if filled > 0.0 => State::PartiallyFilled,
                None if self.has_fill => State::PartiallyFilled,
                _ => State::Open,
            },
        }
    }
}
