//! The life of an order on one session: the messages about it, and what became of it.

use fixcore::SOH;

/// What a message says about an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// NewOrderSingle (D) or NewOrderMultileg (AB).
    New,
    /// OrderCancelReplaceRequest (G) or MultilegOrderCancelReplace (AC).
    Replace,
    /// OrderCancelRequest (F).
    Cancel,
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
        matches!(self, Self::New | Self::Replace | Self::Cancel)
    }

    /// The status of the order that it states.
    #[must_use]
    pub fn status(self) -> Option<u8> {
        match self {
            Self::Execution { status, .. } | Self::CancelReject { status } => Some(status),
            _ => None,
        }
    }

    /// A word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replace => "replace request",
            Self::Cancel => "cancel request",
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
    /// No answer came.
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
            Self::PartiallyFilled => "partially filled",
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
    let mut name = [0; 12];
    let digits = crate::line::digits(tag);
    let mut rest = tag;
    for at in (0..digits).rev() {
        name[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    name[digits] = b'=';
    let name = &name[..=digits];
    let mut fields = fields.split(|byte| *byte == SOH);
    fields.find_map(|field| field.strip_prefix(name))
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
    /// How often its ClOrdID was used for another new order while it was not at its end.
    pub reused: u64,
}

impl Life {
    /// The ClOrdID (11) that it began with; of an orphan, the first one that was seen.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        let mut steps = self.steps.iter();
        steps.find_map(|step| step.get(11)).unwrap_or_default()
    }

    /// The last value of a field about the order.
    #[must_use]
    pub fn last(&self, tag: u32) -> Option<&[u8]> {
        self.steps.iter().rev().find_map(|step| step.get(tag))
    }

    /// The first value of a field about the order.
    #[must_use]
    pub fn first(&self, tag: u32) -> Option<&[u8]> {
        self.steps.iter().find_map(|step| step.get(tag))
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
