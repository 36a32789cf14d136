//! How logs are compared.

use crate::{Accept, Filter, Separator};

/// Which messages of two logs belong together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Match {
    /// Those of a session (49, 56) with the same MsgSeqNum (34).
    #[default]
    Number,
    /// Those of a type and session with the same ClOrdID, OrigClOrdID, OrderID and ExecID.
    Order,
    /// Those that are the same but for the tags that are ignored.
    Whole,
}

/// How logs are compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    pub(super) by: Match,
    ignored: Vec<u32>,
    pub(super) window: usize,
    pub(super) separator: Separator,
    pub(super) filter: Filter,
    pub(super) accept: Accept,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// By number, SendingTime (52) and OrigSendingTime (122) ignored, 65,536 messages that may wait.
    #[must_use]
    pub fn new() -> Self {
        Self {
            by: Match::Number,
            ignored: vec![52, 122],
            window: 65_536,
            separator: Separator::Auto,
            filter: Filter::new(),
            accept: Accept::default(),
        }
    }

    /// Sets which messages belong together.
    #[must_use]
    pub fn by(mut self, by: Match) -> Self {
        self.by = by;
        self
    }

    /// Sets the tags that may differ. BodyLength (9) and CheckSum (10) always may, and MsgSeqNum (34)
    /// with [`Match::Order`].
    #[must_use]
    pub fn ignore(mut self, tags: &[u32]) -> Self {
        self.ignored = tags.to_vec();
        self
    }

    /// Sets how many messages of a log may wait for their like.
    #[must_use]
    pub fn window(mut self, messages: usize) -> Self {
        self.window = messages;
        self
    }

    /// Sets what stands between the fields of both logs.
    #[must_use]
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = separator;
        self
    }

    /// Compares only messages that this filter wants.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Compares also messages of which nothing else is wrong than this.
    #[must_use]
    pub fn accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// All tags that are ignored, sorted.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut ignored = self.ignored.clone();
        ignored.extend([9, 10]);
        if self.by == Match::Order {
            // Belonging together says nothing of the place in the session then.
            ignored.push(34);
        }
        ignored.sort_unstable();
        ignored
    }
}
