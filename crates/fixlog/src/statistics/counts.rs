//! What is counted: the rows of statistics.

use crate::parties::title;

/// A hole in the numbers of one direction of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// SenderSubID (50) and TargetSubID (57), where the Logons of its parties have different ones.
    pub subs: [Vec<u8>; 2],
    /// Which log, counted from 0.
    pub log: usize,
    /// The byte of the log where the message behind the gap begins.
    pub offset: u64,
    /// The number that should have come.
    pub expected: u64,
    /// The number that came.
    pub got: u64,
}

/// The messages of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeCount {
    /// MsgType (35).
    pub msg_type: Vec<u8>,
    /// How many messages.
    pub messages: u64,
    /// How many bytes they have together.
    pub bytes: u64,
}

/// Executions whose SendingTime (52) is before that of their order: the two clocks differ by more than the
/// order waited.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Early {
    /// How many.
    pub executions: u64,
    /// The largest difference, in nanoseconds.
    pub most_ns: u64,
}

/// The sequence numbers of one direction of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCount {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// SenderSubID (50) and TargetSubID (57), where the Logons of its parties have different ones.
    pub subs: [Vec<u8>; 2],
    /// BeginString (8).
    pub begin: Vec<u8>,
    /// The log that has its first message, counted from 0.
    pub log: usize,
    /// How many messages.
    pub messages: u64,
    /// How often numbers were left out.
    pub gaps: u64,
    /// How many numbers were left out and did not come later, neither late, nor sent again, nor passed
    /// over by a gap fill.
    pub missing: u64,
    /// How many numbers came after higher ones, in messages that do not say that they are sent again.
    pub late: u64,
    /// How many numbers came a second time in messages that do not say that they are sent again.
    pub duplicates: u64,
    /// How many messages say that they are sent again (43=Y).
    pub resent: u64,
    /// How many ResendRequests.
    pub requests: u64,
    /// How often three or more ResendRequests in a row asked for the same number.
    pub storms: u64,
    /// How many ResendRequests the longest of these had.
    pub storm_longest: u64,
}

impl SessionCount {
    /// Sender and target as text: `A → B`, or `A/DESK → B` with SubIDs.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.session, &self.subs)
    }
}

impl Gap {
    /// Sender and target as text: `A → B`, or `A/DESK → B` with SubIDs.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.session, &self.subs)
    }
}
