//! Which time of orders and executions latencies are between.

use fixcore::{Message, Timestamp};

use crate::Origin;
use crate::arrival::arrival;

/// Which time of orders and executions latencies are between.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// SendingTime (52): when each party sent its message, by its own clock.
    #[default]
    Sending,
    /// The time that the log has before the message, or of the packet in a capture: one clock for both parties.
    Log,
    /// TransactTime (60).
    Transact,
}

/// The time of an order or an execution.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TradeTime<'p> {
    /// SendingTime (52).
    Sent,
    /// TransactTime (60).
    Transact,
    /// That of a packet, in nanoseconds since 1970.
    Packet(Option<i64>),
    /// That in the text before the message.
    Before(&'p [u8]),
}

impl<'p> TradeTime<'p> {
    /// That of a message with this before it on its line, or in a packet.
    #[inline]
    pub(crate) fn of(clock: Clock, prefix: &'p [u8], origin: Option<&Origin>) -> Self {
        match (clock, origin) {
            (Clock::Sending, _) => Self::Sent,
            (Clock::Transact, _) => Self::Transact,
            (Clock::Log, Some(origin)) => Self::Packet(origin.time_ns),
            (Clock::Log, None) => Self::Before(prefix),
        }
    }

    /// The time in nanoseconds since 1970, if the message has one, and its step.
    #[inline]
    pub(crate) fn read(
        self,
        message: &Message<'_, '_>,
        (sent, sent_ns): (&[u8], i64),
    ) -> Option<(i64, u64)> {
        let logged_ns = match self {
            Self::Sent => return Some((sent_ns, step_of_text(sent))),
            Self::Transact => {
                let text = message.get(60)?;
                return Some((Timestamp::parse(text)?.0, step_of_text(text)));
            }
            Self::Packet(time_ns) => time_ns?,
            // The date may be missing there.
            Self::Before(prefix) => arrival(prefix, sent_ns)?.ns,
        };
        Some((logged_ns, step_of(logged_ns)))
    }
}

/// The step of a time as text with seconds: it may have milliseconds, microseconds or nanoseconds.
pub(crate) fn step_of_text(time: &[u8]) -> u64 {
    match time.len() {
        ..=17 => 1_000_000_000,
        18..=21 => 1_000_000,
        22..=24 => 1_000,
        _ => 1,
    }
}

/// The largest step that a time is a multiple of.
fn step_of(time_ns: i64) -> u64 {
    let steps = [1_000_000_000, 1_000_000, 1_000];
    let step = steps.into_iter().find(|step| time_ns % step == 0);
    step.unwrap_or(1).unsigned_abs()
}
