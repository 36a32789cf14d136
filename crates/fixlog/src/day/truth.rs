//! What truly happened.

/// When the connection between gateway and router is gone, and when what was lost is sent again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) resent_ns: u64,
}

impl Outage {
    /// Whether a message is lost that is sent and would be there at these times.
    pub(super) fn has(self, sent_ns: u64, there_ns: u64) -> bool {
        there_ns >= self.from_ns && sent_ns < self.to_ns
    }
}

/// What became of an order. Times are differences of SendingTime (52), as the client's session has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// ClOrdID (11) of the client.
    pub id: String,
    /// CompID of the client.
    pub client: String,
    /// The state, by the names of [`State`](crate::orders::State).
    pub state: &'static str,
    /// Text (58) of the reject.
    pub reason: &'static str,
    /// OrderQty (38) at last.
    pub quantity: u64,
    /// CumQty (14) at last.
    pub filled: u64,
    /// How many messages there are about it, each counted once.
    pub messages: u64,
    /// From the order to its first answer.
    pub answer_ns: Option<i64>,
    /// From the order to its first fill.
    pub fill_ns: Option<i64>,
    /// From the order to its end.
    pub end_ns: Option<i64>,
}

impl Truth {
    pub(super) fn end(
        &mut self,
        state: &'static str,
        reason: &'static str,
        answer_ns: Option<i64>,
        fill_ns: Option<i64>,
        end_ns: Option<i64>,
    ) {
        (self.state, self.reason) = (state, reason);
        (self.answer_ns, self.fill_ns, self.end_ns) = (answer_ns, fill_ns, end_ns);
    }
}
