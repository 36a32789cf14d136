//! What is found about sessions.

/// Where something was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spot {
    /// SenderCompID (49) and TargetCompID (56) of the direction, or of who began.
    pub session: [Vec<u8>; 2],
    /// SenderSubID (50) and TargetSubID (57) of the direction, where the Logons of its parties have different ones.
    pub subs: [Vec<u8>; 2],
    /// BeginString (8).
    pub begin: Vec<u8>,
    /// Which log, counted from 0.
    pub log: usize,
    /// The byte of the message in its log.
    pub offset: u64,
    /// Its line, counted from 1, where it is known.
    pub line: Option<u64>,
}

/// Numbers of one direction that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The message that shows the gap.
    pub spot: Spot,
    /// The number that should have come.
    pub expected: u64,
    /// The number that came.
    pub got: u64,
    /// When the last message before the gap was sent.
    pub before_ns: Option<i64>,
    /// When the message was sent that shows it.
    pub start_ns: Option<i64>,
    /// When the last missing number came or was passed over.
    pub end_ns: Option<i64>,
    /// How many numbers were sent again (43=Y), passed over by a gap fill, and came late without 43=Y.
    pub filled: [u64; 3],
    /// Why it ended: `resent`, `gap fill`, `resent and gap fill`, `late`, `reset`, or `never`.
    pub how: &'static str,
}

/// A ResendRequest (35=2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The request.
    pub spot: Spot,
    /// BeginSeqNo (7).
    pub from: u64,
    /// EndSeqNo (16); 0 is all.
    pub to: u64,
    /// When it was sent.
    pub start_ns: Option<i64>,
    /// When the first answer was sent, by the clock of the other side.
    pub end_ns: Option<i64>,
    /// The first answer: `resent`, `gap fill` or `never`.
    pub how: &'static str,
}

/// Three or more ResendRequests in a row for the same number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Storm {
    /// The first request.
    pub spot: Spot,
    /// The number that they ask for.
    pub from: u64,
    /// How many.
    pub requests: u64,
    /// When the first was sent.
    pub start_ns: Option<i64>,
    /// When the last was sent.
    pub end_ns: Option<i64>,
}

/// A connection of a session, from its Logon to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// The Logon, or the first message if it was before the log.
    pub spot: Spot,
    /// When the Logon was sent.
    pub start_ns: Option<i64>,
    /// When the answer was sent, by the clock of the other side.
    pub answered_ns: Option<i64>,
    /// When the last message was sent, by the clock that is ahead.
    pub end_ns: Option<i64>,
    /// How long it was: by the times that the log has before messages, if it has them, and SendingTime else.
    pub took_ns: Option<u64>,
    /// HeartBtInt (108) of the Logon and of the answer, in seconds.
    pub heartbeat_s: [Option<u64>; 2],
    /// How often numbers began anew with Logons (141=Y) within it.
    pub resets: u64,
    /// How long the session had been away before.
    pub down_ns: Option<u64>,
    /// How many messages it had, in both directions.
    pub messages: u64,
    /// How it ended: `logout`, `logout not confirmed`, `no logout` (another Logon came without one), `logon not
    /// answered`, `logon refused`, or `end of log`.
    pub how: &'static str,
    /// Who sent the first Logout.
    pub by: Vec<u8>,
    /// Text (58) of the Logout.
    pub text: Vec<u8>,
}

/// A TestRequest (35=1) that no Heartbeat with its TestReqID (112) answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// The request.
    pub spot: Spot,
    /// When it was sent.
    pub start_ns: Option<i64>,
    /// TestReqID (112).
    pub id: Vec<u8>,
}

/// Nothing was sent for more than 1.2 times HeartBtInt (108).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// The last message before.
    pub spot: Spot,
    /// When it was sent.
    pub start_ns: Option<i64>,
    /// When the next message of the direction was sent, or else the last one of the other direction.
    pub end_ns: Option<i64>,
    /// How long it was.
    pub took_ns: u64,
    /// The interval of Heartbeats, in seconds.
    pub heartbeat_s: u64,
    /// How it ended: `resumed`, or `never` within the connection.
    pub how: &'static str,
}

/// A number that came again without 43=Y.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Duplicate {
    /// The message that came again.
    pub spot: Spot,
    /// MsgSeqNum (34).
    pub number: u64,
    /// When it was sent.
    pub start_ns: Option<i64>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Numbers that were left out.
    Gap(Gap),
    /// A ResendRequest.
    Request(Request),
    /// Many of them.
    Storm(Storm),
    /// A connection.
    Connection(Connection),
    /// A TestRequest without an answer.
    Test(Test),
    /// Nothing was sent for too long.
    Silence(Silence),
    /// A number that came again.
    Duplicate(Duplicate),
}

/// One direction of a session, added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Direction {
    /// SenderCompID (49) and TargetCompID (56).
    pub session: [Vec<u8>; 2],
    /// SenderSubID (50) and TargetSubID (57), where the Logons of its parties have different ones.
    pub subs: [Vec<u8>; 2],
    /// BeginString (8).
    pub begin: Vec<u8>,
    /// The log, counted from 0, in which it was first.
    pub log: usize,
    /// How many messages.
    pub messages: u64,
    /// How often numbers were left out.
    pub gaps: u64,
    /// How many numbers never came.
    pub missing: u64,
    /// How many came again without 43=Y.
    pub duplicates: u64,
    /// How many say that they are sent again (43=Y).
    pub resent: u64,
    /// How many ResendRequests it has.
    pub requests: u64,
    /// How many storms of them.
    pub storms: u64,
    /// How many Heartbeats that answer no TestRequest.
    pub heartbeats: u64,
    /// The interval of Heartbeats in seconds: HeartBtInt (108) of a Logon, or else what Heartbeats show.
    pub heartbeat_s: Option<u64>,
    /// Whether the interval is what Heartbeats show, because the log has no Logon.
    pub is_heartbeat_inferred: bool,
    /// How often nothing was sent for more than 1.2 times this interval; 0 if it is 0 or not known.
    pub overdue: u64,
    /// The longest time between two messages of a connection, by SendingTime, or from the last one to the last of
    /// the other direction.
    pub silence_ns: u64,
    /// How many TestRequests it has.
    pub tests: u64,
    /// How many of them were not answered.
    pub unanswered: u64,
    /// The times from SendingTime (52) to what the log has before messages.
    pub skew: Option<Skew>,
}

/// The times from SendingTime (52) to what a log has before messages, less the zone of the log. They are negative
/// where the clocks differ by more than a message took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skew {
    /// How many.
    pub messages: u64,
    /// How far the times of the log are ahead of UTC, in nanoseconds; where that changed, the first. 0 where the
    /// log states the zone.
    pub zone_ns: i64,
    /// The least, in nanoseconds.
    pub least_ns: i64,
    /// The largest, in nanoseconds.
    pub largest_ns: i64,
    /// All of them together, in nanoseconds.
    pub sum_ns: i128,
    /// Whether all times of the log are whole seconds: the differences are up to a second too small.
    pub is_whole_seconds: bool,
}

/// Rejects with the same reason and text, but for digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejects {
    /// MsgType (35): `3`, `j`, `8` or `9`.
    pub msg_type: u8,
    /// SessionRejectReason (373), BusinessRejectReason (380), OrdRejReason (103) or CxlRejReason (102).
    pub tag: u32,
    /// Its value; empty if the message has none.
    pub reason: Vec<u8>,
    /// How many.
    pub count: u64,
    /// Text (58) of the first.
    pub text: Vec<u8>,
    /// The first.
    pub spot: Spot,
    /// When the first was sent.
    pub start_ns: Option<i64>,
}
