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
pub(crate) enum TradeTime {
    /// SendingTime (52).
    Sent,
    /// Another, in nanoseconds since 1970, if the message has one, and its step.
    Other(Option<(i64, u64)>),
}

impl TradeTime {
    /// That of a message with this before it on its line, or in a packet.
    #[inline]
    pub(crate) fn of(
        clock: Clock,
        message: &Message<'_, '_>,
        prefix: &[u8],
        origin: Option<&Origin>,
    ) -> Self {
        let parsed = |tag| {
            let text = message.get(tag)?;
            Some((Timestamp::parse(text)?.0, step_of_text(text)))
        };
        match clock {
            Clock::Sending => Self::Sent,
            _ if !matches!(message.msg_type(), b"D" | b"8") => Self::Sent,
            Clock::Transact => Self::Other(parsed(60)),
            Clock::Log => {
                let logged_ns = match origin {
                    Some(origin) => origin.time_ns,
                    // The date may be missing there.
                    None => parsed(52)
                        .and_then(|(sent_ns, _)| arrival(prefix, sent_ns))
                        .map(|logged| logged.ns),
                };
                Self::Other(logged_ns.map(|ns| (ns, step_of(ns))))
            }
        }
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
