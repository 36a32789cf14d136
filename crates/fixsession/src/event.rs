//! What happens in a session, for its event log. The texts are those that QuickFIX users know.

use std::fmt;

use fixcore::Error;

use crate::store::StoreFailure;

/// Something that happened in a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An initiator sent its Logon.
    LogonSent,
    /// An acceptor received a Logon.
    LogonReceived,
    /// The answer to our Logon came.
    LogonAnswered,
    /// A Logon cannot be accepted; the connection ends.
    LogonRefused(&'a str),
    /// Both numbers became 1.
    Reset,
    /// We sent a Logout; the text may be empty.
    LogoutSent(&'a str),
    /// A Logout came; the text may be empty.
    LogoutReceived(&'a str),
    /// The connection ends, for this reason.
    Disconnecting(&'a str),
    /// The connection ended.
    Disconnected,
    /// No answer came in time: to what.
    TimedOut(&'a str),
    /// A TestRequest was sent because nothing came for a while.
    TestRequestSent,
    /// A gap in what came.
    TooHigh {
        /// The number that comes next.
        expected: u64,
        /// The number that came.
        received: u64,
    },
    /// Its number is too low.
    TooLow {
        /// The number that comes next.
        expected: u64,
        /// The number that came.
        received: u64,
    },
    /// A ResendRequest was sent. The last number is 0 for all.
    ResendRequested {
        /// BeginSeqNo (7).
        begin: u64,
        /// EndSeqNo (16).
        end: u64,
    },
    /// A gap, but a ResendRequest for it is not answered yet.
    ResendPending {
        /// The first number of that gap.
        begin: u64,
        /// The last number of that gap.
        end: u64,
    },
    /// A ResendRequest came.
    ResendAsked {
        /// BeginSeqNo (7).
        begin: u64,
        /// EndSeqNo (16).
        end: u64,
    },
    /// A message is sent again.
    Resent(u64),
    /// A gap fill was sent.
    GapFilled {
        /// Its MsgSeqNum (34).
        number: u64,
        /// Its NewSeqNo (36).
        next: u64,
    },
    /// A SequenceReset came.
    SequenceReset {
        /// The number that came next until now.
        from: u64,
        /// NewSeqNo (36).
        to: u64,
    },
    /// A message that waited behind a gap is handled.
    Unqueued(u64),
    /// The queue behind a gap is full: this message was dropped, and will be asked for again.
    QueueFull(u64),
    /// A message was rejected.
    Rejected {
        /// Its MsgSeqNum (34), as it states it.
        number: &'a [u8],
        /// Why.
        text: &'a str,
        /// The tag that is wrong.
        tag: Option<i64>,
    },
    /// A message is ignored because it is garbled.
    Garbled(&'a Error),
    /// A message is longer than this limit in bytes.
    TooLong(usize),
    /// The store failed.
    Store(&'a StoreFailure),
    /// A message could not be sent.
    NotSent(&'a str),
    /// Anything else.
    Text(&'a str),
}

impl Event<'_> {
    /// Whether an operator has to know: something was refused, lost, or ended for a reason.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        match self {
            Self::LogoutSent(why) | Self::LogoutReceived(why) | Self::Disconnecting(why) => {
                !why.is_empty()
            }
            Self::LogonRefused(_)
            | Self::TimedOut(_)
            | Self::TooLow { .. }
            | Self::QueueFull(_)
            | Self::Rejected { .. }
            | Self::Garbled(_)
            | Self::TooLong(_)
            | Self::Store(_)
            | Self::NotSent(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LogonSent => f.write_str("Initiated logon request"),
            Self::LogonReceived => f.write_str("Received logon request"),
            Self::LogonAnswered => f.write_str("Received logon response"),
            Self::LogonRefused(why) => write!(f, "Logon refused: {why}"),
            Self::Reset => f.write_str("Sequence numbers reset to 1"),
            Self::LogoutSent("") => f.write_str("Sent logout"),
            Self::LogoutSent(text) => write!(f, "Sent logout: {text}"),
            Self::LogoutReceived("") => f.write_str("Received logout"),
            Self::LogoutReceived(text) => write!(f, "Received logout: {text}"),
            Self::Disconnecting("") => f.write_str("Disconnecting"),
            Self::Disconnecting(why) => write!(f, "Disconnecting: {why}"),
            Self::Disconnected => f.write_str("Disconnected"),
            Self::TimedOut(what) => write!(f, "Timed out waiting for {what}"),
            Self::TestRequestSent => f.write_str("Sent test request TEST"),
            Self::TooHigh { expected, received } => write!(
                f,
                "MsgSeqNum too high, expecting {expected} but received {received}"
            ),
            Self::TooLow { expected, received } => write!(
                f,
                "MsgSeqNum too low, expecting {expected} but received {received}"
            ),
            Self::ResendRequested { begin, end } => {
                write!(f, "Sent ResendRequest FROM: {begin} TO: {end}")
            }
            Self::ResendPending { begin, end } => write!(
                f,
                "Already sent ResendRequest FROM: {begin} TO: {end}. Not sending another."
            ),
            Self::ResendAsked { begin, end } => {
                write!(f, "Received ResendRequest FROM: {begin} TO: {end}")
            }
            Self::Resent(number) => write!(f, "Resending Message: {number}"),
            Self::GapFilled { number, next } => {
                write!(f, "Sent SequenceReset FROM: {number} TO: {next}")
            }
            Self::SequenceReset { from, to } => {
                write!(f, "Received SequenceReset FROM: {from} TO: {to}")
            }
            Self::Unqueued(number) => write!(f, "Processing QUEUED message: {number}"),
            Self::QueueFull(number) => {
                write!(
                    f,
                    "Queue is full, dropped message {number} until it is resent"
                )
            }
            Self::Rejected { number, text, tag } => {
                write!(f, "Message {} Rejected: {text}", number.escape_ascii())?;
                tag.map_or(Ok(()), |tag| write!(f, ":{tag}"))
            }
            Self::Garbled(error) => write!(f, "Garbled message ignored: {error}"),
            Self::TooLong(limit) => write!(f, "Message longer than {limit} bytes"),
            Self::Store(failure) => write!(f, "Store: {failure}"),
            Self::NotSent(why) => write!(f, "Message not sent: {why}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
