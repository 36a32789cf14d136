//! The life of an order on one session: the messages about it, and what became of it.

use fixcore::SOH;

use crate::no_id;

/// What a message says about an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// NewOrderSingle (D) or NewOrderMultileg (AB), or one of a list (E) or of a cross (s).
    New,
    /// OrderCancelReplaceRequest (G), MultilegOrderCancelReplace (AC) or one of a cross (t).
    Replace,
    /// OrderCancelRequest (F), or one of a cross (u).
    Cancel,
    /// OrderStatusRequest (H).
    StatusRequest,
    /// DontKnowTrade (Q): an execution is not accepted.
    DontKnow,
    /// ExecutionReport (8), with ExecType (150) and OrdStatus (39), `?` if there is none.
    Execution {
        /// ExecType.
        exec_type: u8,
        /// OrdStatus.
        status: u8,
    },
    /// OrderCancelReject (9), with OrdStatus (39).
    CancelReject {
        /// OrdStatus.
        status: u8,
    },
    /// Reject (3) of a message about the order.
    Reject,
    /// BusinessMessageReject (j) of a message about the order.
    BusinessReject,
}

impl StepKind {
    /// Whether it comes from whoever sent the order.
    #[must_use]
    pub fn is_request(self) -> bool {
        matches!(
            self,
            Self::New | Self::Replace | Self::Cancel | Self::StatusRequest | Self::DontKnow
        )
    }

    /// The status of the order that it states.
    #[must_use]
    pub fn status(self) -> Option<u8> {
        match self {
            Self::Execution { status, .. } | Self::CancelReject { status } => Some(status),
            _ => None,
        }
    }

    /// Whether messages of a type (35) say it.
    #[must_use]
    pub fn is_type(self, msg_type: &[u8]) -> bool {
        match self {
            Self::New => matches!(msg_type, b"D" | b"AB" | b"E" | b"s"),
            Self::Replace => matches!(msg_type, b"G" | b"AC" | b"t"),
            Self::Cancel => matches!(msg_type, b"F" | b"u"),
            Self::StatusRequest => msg_type == b"H",
            Self::DontKnow => msg_type == b"Q",
            Self::Execution { .. } => msg_type == b"8",
            Self::CancelReject { .. } => msg_type == b"9",
            Self::Reject => msg_type == b"3",
            Self::BusinessReject => msg_type == b"j",
        }
    }

    /// Whether it is a fill, partial or the last one.
    #[must_use]
    pub fn is_trade(self) -> bool {
        matches!(
            self,
            Self::Execution {
                exec_type: b'F' | b'1' | b'2',
                ..
            }
        )
    }

    /// A word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replace => "replace request",
            Self::Cancel => "cancel request",
            Self::StatusRequest => "status request",
            Self::DontKnow => "trade not accepted",
            Self::CancelReject { .. } => "cancel reject",
            Self::Reject => "session reject",
            Self::BusinessReject => "business reject",
            Self::Execution { exec_type, status } => match (exec_type, status) {
                (b'A', _) => "pending new",
                (b'0', _) => "acknowledged",
                (b'F' | b'1' | b'2', b'2') => "filled",
                (b'F' | b'1' | b'2', _) => "partial fill",
                (b'3', _) => "done for day",
                (b'4', _) => "cancelled",
                (b'5', _) => "replaced",
                (b'6', _) => "pending cancel",
                (b'7', _) => "stopped",
                (b'8', _) => "rejected",
                (b'9', _) => "suspended",
                (b'B', _) => "calculated",
                (b'C', _) => "expired",
                (b'D', _) => "restated",
                (b'E', _) => "pending replace",
                (b'G', _) => "trade corrected",
                (b'H', _) => "trade cancelled",
                (b'I', _) => "status",
                _ => "execution report",
            },
        }
    }
}

/// What became of an order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum State {
    /// No answer came, or "pending new" only.
    #[default]
    Unanswered,
    /// It was answered, and has neither fills nor an end.
    Open,
    /// It has fills, and no end.
    PartiallyFilled,
    /// Filled.
    Filled,
    /// Cancelled.
    Cancelled,
    /// Rejected, by an execution or by a reject of its message.
    Rejected,
    /// Expired, or done for the day.
    Expired,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Unanswered,
        Self::Open,
        Self::PartiallyFilled,
        Self::Filled,
        Self::Cancelled,
        Self::Rejected,
        Self::Expired,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::Open => "open",
            Self::PartiallyFilled => "partially-filled",
            Self::Filled => "filled",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
        }
    }

    /// Whether nothing more is expected.
    #[must_use]
    pub fn is_end(self) -> bool {
        self > Self::PartiallyFilled
    }
}

/// A message in the life of an order.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it says.
    pub kind: StepKind,
    /// SendingTime (52), in nanoseconds since 1970.
    pub sent_ns: Option<i64>,
    /// SenderCompID (49).
    pub sender: u32,
    /// TargetCompID (56).
    pub target: u32,
    /// MsgSeqNum (34).
    pub number: u64,
    /// Which log, counted from 0.
    pub log: usize,
    /// Its byte in the log.
    pub offset: u64,
    /// Its line in the log, counted from 1.
    pub line: Option<u64>,
    /// Whether it says that it was sent before (43=Y).
    pub is_copy: bool,
    /// OrigSendingTime (122) of such a message, in nanoseconds since 1970.
    pub original_ns: Option<i64>,
    /// Whether it says what was so before: an execution that is sent again after later ones, or a trade with a smaller
    /// CumQty (14) than was known before. It changes no state.
    pub is_late: bool,
    /// The fields about the order, each with the byte 1 behind it.
    pub fields: Box<[u8]>,
}

impl Step {
    /// The value of a field about the order, such as ClOrdID (11) or Text (58).
    #[must_use]
    pub fn get(&self, tag: u32) -> Option<&[u8]> {
        value(&self.fields, tag)
    }
}

/// The value of a field among fields that the byte 1 ends.
pub(super) fn value(fields: &[u8], tag: u32) -> Option<&[u8]> {
    let (name, digits) = tag_name(tag);
    let name = &name[..=digits];
    let mut fields = fields.split(|byte| *byte == SOH);
    fields.find_map(|field| field.strip_prefix(name))
}

/// A tag with `=` behind it, and how many digits it has.
pub(super) fn tag_name(tag: u32) -> ([u8; 12], usize) {
    let mut name = [0; 12];
    let digits = crate::line::digits(tag);
    let mut rest = tag;
    for at in (0..digits).rev() {
        name[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    name[digits] = b'=';
    (name, digits)
}

/// The life of an order on one session.
#[derive(Debug, Default, Clone)]
pub struct Life {
    /// A number of its own, from 0, in the order of the first messages.
    pub number: u64,
    /// The number of the life of the same order on the session before, if this one was sent on.
    pub upstream: Option<u64>,
    /// The number of the life of the same order on the session behind, if it was sent on.
    pub downstream: Option<u64>,
    /// The messages, in the order of the logs; of one with very many, the first and the last ones.
    pub steps: Vec<Step>,
    /// How many messages are left out of `steps`.
    pub left_out: u64,
    /// What became of it.
    pub state: State,
    /// Whether the message that it began with is missing: the log begins later, or lacks it.
    pub is_orphan: bool,
    /// Whether it may also have ended too long ago to be remembered.
    pub may_be_forgotten: bool,
    /// Whether it was passed on as an orphan before, and the message that it began with came later.
    pub was_orphan: bool,
    /// How often its ClOrdID was used for another new order while it was not at its end.
    pub reused: u64,
    /// The state that it was passed on with before, if messages came after its end.
    pub again: Option<State>,
}

impl Life {
    /// The ClOrdID (11) that it began with; of an orphan, the first one that was seen.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        let mut steps = self.steps.iter();
        steps.find_map(|step| step.get(11)).unwrap_or_default()
    }

    /// The last value of a field about the order. Of its status and of what is filled (6, 14, 39, 150, 151), what came late
    /// says nothing.
    #[must_use]
    pub fn last(&self, tag: u32) -> Option<&[u8]> {
        let changes = matches!(tag, 6 | 14 | 39 | 150 | 151);
        let steps = self.steps.iter().rev();
        let mut steps = steps.filter(|step| !(changes && step.is_late));
        steps.find_map(|step| step.get(tag))
    }

    /// The first value of a field about the order.
    #[must_use]
    pub fn first(&self, tag: u32) -> Option<&[u8]> {
        self.steps.iter().find_map(|step| step.get(tag))
    }

    /// The value of a field as it is now: that of the order, or of the last replace that was accepted, such as
    /// OrderQty (38) or Price (44).
    #[must_use]
    pub fn current(&self, tag: u32) -> Option<&[u8]> {
        let mut current = None;
        for (at, step) in self.steps.iter().enumerate() {
            let own = step.get(tag);
            let said = match step.kind {
                StepKind::New => own,
                StepKind::Execution {
                    exec_type: b'5', ..
                } => own.or_else(|| {
                    let mut before = self.steps[..at].iter().rev();
                    before
                        .find(|request| {
                            request.kind == StepKind::Replace && request.get(11) == step.get(11)
                        })
                        .and_then(|request| request.get(tag))
                }),
                // Pending and rejected ones may repeat what was asked for.
                StepKind::Execution {
                    exec_type: b'A' | b'E' | b'6' | b'8' | b'H' | b'G',
                    ..
                } => own.filter(|_| current.is_none()),
                StepKind::Execution { .. } => own,
                StepKind::Replace => own.filter(|_| current.is_none()),
                _ => None,
            };
            current = said.or(current);
        }
        current
    }

    /// Whether a message is an execution whose ExecID (17) another one had before.
    #[must_use]
    pub fn repeats_exec_id(&self, at: usize) -> bool {
        let told = |step: &Step| {
            !matches!(
                step.kind,
                StepKind::Execution {
                    exec_type: b'I',
                    ..
                }
            ) && !step.kind.is_request()
        };
        let (before, rest) = self.steps.split_at(at.min(self.steps.len()));
        let Some(id) = rest
            .first()
            .filter(|step| told(step))
            .and_then(|step| step.get(17))
        else {
            return false;
        };
        let mut before = before.iter();
        !no_id::is_none(id) && before.any(|step| told(step) && step.get(17) == Some(id))
    }

    /// Whether any message has this value as ClOrdID (11), OrigClOrdID (41), OrderID (37) or
    /// SecondaryClOrdID (526).
    #[must_use]
    pub fn has_id(&self, id: &[u8]) -> bool {
        let has = |step: &Step| {
            [11, 41, 37, 526]
                .into_iter()
                .any(|tag| step.get(tag) == Some(id))
        };
        self.steps.iter().any(has)
    }
}

/// A quantity.
pub(super) fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
