//! What the versions of the session protocol have and do.

/// A version of the session protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Fix40,
    Fix41,
    Fix42,
    Fix43,
    Fix44,
    Fixt11,
}

impl Protocol {
    /// The protocol of a BeginString; for an unknown one the newest.
    pub(crate) fn of(begin_string: &str) -> Self {
        match begin_string {
            "FIX.4.0" => Self::Fix40,
            "FIX.4.1" => Self::Fix41,
            "FIX.4.2" => Self::Fix42,
            "FIX.4.3" => Self::Fix43,
            "FIX.4.4" => Self::Fix44,
            _ => Self::Fixt11,
        }
    }

    /// Whether versions of messages are stated by 1137 and 1128.
    pub(crate) fn is_fixt(self) -> bool {
        self == Self::Fixt11
    }

    /// Whether times have fractions of seconds.
    pub(crate) fn has_fractions(self) -> bool {
        self >= Self::Fix42
    }

    /// EndSeqNo (16) for "all that you have".
    pub(crate) fn open_end(self) -> u64 {
        match self {
            Self::Fix40 | Self::Fix41 => 999_999,
            _ => 0,
        }
    }

    /// Whether EndSeqNo asks for everything.
    pub(crate) fn is_open_end(self, end: u64) -> bool {
        end == 0 || (end == 999_999 && self <= Self::Fix42)
    }

    /// Whether a Reject has RefTagID (371) and RefMsgType (372).
    pub(crate) fn has_references(self) -> bool {
        self >= Self::Fix42
    }

    /// Whether a Reject may state this SessionRejectReason (373).
    pub(crate) fn has_reason(self, reason: u32) -> bool {
        match self {
            Self::Fix40 | Self::Fix41 => false,
            Self::Fix42 => reason <= 11,
            _ => true,
        }
    }

    /// Whether there is a BusinessMessageReject (35=j).
    pub(crate) fn has_business_reject(self) -> bool {
        self >= Self::Fix42
    }

    /// Whether there is a ResetSeqNumFlag (141).
    pub(crate) fn has_reset(self) -> bool {
        self >= Self::Fix41
    }

    /// Whether a Logon may reset an established session.
    pub(crate) fn resets_in_session(self) -> bool {
        self >= Self::Fix44
    }

    /// Whether there are OnBehalfOfLocationID (144), DeliverToLocationID (145) and their like.
    pub(crate) fn has_locations(self) -> bool {
        self >= Self::Fix41
    }

    /// Whether the counts of groups are checked.
    pub(crate) fn checks_counts(self) -> bool {
        self >= Self::Fix42
    }

    /// Whether there are MaxMessageSize (383) and LastMsgSeqNumProcessed (369).
    pub(crate) fn has_sizes(self) -> bool {
        self >= Self::Fix42
    }

    /// Whether there is a TestMessageIndicator (464).
    pub(crate) fn has_test_indicator(self) -> bool {
        self >= Self::Fix43
    }

    /// Whether there is a NextExpectedMsgSeqNum (789).
    pub(crate) fn has_next_expected(self) -> bool {
        self >= Self::Fix44
    }
}
