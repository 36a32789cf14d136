//! The bodies of ExecutionReport (35=8) and OrderCancelReject (35=9), by version.

use fixcore::dict::Dictionary;
use fixcore::{Message, Timestamp};

use super::book::{Order, State};
use crate::body::push_route;
use crate::id::SessionId;
use crate::version::Protocol;
use crate::writer::push_field;

/// What is said of a ClOrdID (11) that was there before.
pub(super) const DUPLICATE: &str = "Duplicate ClOrdID";

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) version: Protocol,
    /// The message that is answered.
    pub(super) message: &'a Message<'a, 'a>,
    /// ExecID (17).
    pub(super) exec_id: &'a [u8],
    /// TransactTime (60).
    pub(super) time: Timestamp,
}

/// The version of the application messages of a session, as far as fields differ: all of FIX 5.0 is one.
pub(super) fn version(
    id: &SessionId,
    message: &Message<'_, '_>,
    dictionary: Option<&Dictionary>,
) -> Protocol {
    if id.begin_string != "FIXT.1.1" {
        return Protocol::of(&id.begin_string);
    }
    match message.get(1128) {
        Some(b"2") => Protocol::Fix40,
        Some(b"3") => Protocol::Fix41,
        Some(b"4") => Protocol::Fix42,
        Some(b"5") => Protocol::Fix43,
        Some(b"6") => Protocol::Fix44,
        Some(_) => Protocol::Fixt11,
        None => Protocol::of(dictionary.map_or("", Dictionary::begin_string)),
    }
}

/// The header fields of an answer: its route, and its version if the message states one.
fn head(message: &Message<'_, '_>, out: &mut Vec<u8>) {
    push_route(message, out);
    if let Some(version) = message.get(1128) {
        push_field(out, 1128, version);
    }
}

/// The kind of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Execution<'a> {
    /// The order is accepted.
    New,
    /// It is filled, in part or whole.
    Fill,
    /// It is canceled.
    Canceled,
    /// It is not accepted: OrdRejReason (103), and why.
    Rejected(&'a [u8], &'a str),
}

/// ExecType (150).
fn exec_type(execution: Execution<'_>, version: Protocol, state: State) -> &'static [u8] {
    match execution {
        Execution::New => b"0",
        Execution::Fill if version >= Protocol::Fix43 => b"F",
        Execution::Fill => state.ord_status(),
        Execution::Canceled => b"4",
        Execution::Rejected(..) => b"8",
    }
}

/// Writes an ExecutionReport about an order that now is in this state.
pub(super) fn execution_report(
    answer: Answer<'_>,
    order: &Order,
    execution: Execution<'_>,
    out: &mut Vec<u8>,
) {
    let Answer {
        version, message, ..
    } = answer;
    let is_new = execution == Execution::New;
    // New comes before its fill.
    let (state, filled) = match is_new {
        true => (State::New, zero(order)),
        false => (order.state, order.filled.to_string()),
    };
    let leaves = match is_new {
        true => order.quantity.to_string(),
        false => order.leaves().to_string(),
    };
    let is_priced = !is_new && order.filled.mantissa > 0;
    let average = match is_priced {
        true => order.price.to_string(),
        false => "0".to_owned(),
    };
    head(message, out);
    push_field(out, 37, &order.id);
    if let Some(id) = message.get(11) {
        push_field(out, 11, id);
    }
    if execution == Execution::Canceled
        && let Some(id) = message.get(41).filter(|_| version >= Protocol::Fix41)
    {
        push_field(out, 41, id);
    }
    push_field(out, 17, answer.exec_id);
    if version <= Protocol::Fix42 {
        push_field(out, 20, b"0");
    }
    if version >= Protocol::Fix41 {
        push_field(out, 150, exec_type(execution, version, state));
    }
    push_field(out, 39, state.ord_status());
    if let Execution::Rejected(reason, text) = execution {
        push_field(out, 103, reason);
        push_field(out, 58, text.as_bytes());
    }
    push_field(out, 55, &order.symbol);
    push_field(out, 54, &order.side);
    push_field(out, 38, order.quantity.to_string().as_bytes());
    for (tag, value) in &order.stated {
        push_field(out, *tag, value);
    }
    let digits = if version >= Protocol::Fix42 { 3 } else { 0 };
    let mut time = Vec::new();
    crate::times::write(answer.time, digits, &mut time);
    push_field(out, 60, &time);
    match execution {
        Execution::Fill => {
            push_field(out, 32, order.filled.to_string().as_bytes());
            push_field(out, 31, order.price.to_string().as_bytes());
        }
        // These versions require them.
        _ if version <= Protocol::Fix41 => {
            push_field(out, 32, b"0");
            push_field(out, 31, b"0");
        }
        _ => {}
    }
    if version >= Protocol::Fix41 {
        push_field(out, 151, leaves.as_bytes());
    }
    push_field(out, 14, filled.as_bytes());
    push_field(out, 6, average.as_bytes());
}

fn zero(order: &Order) -> String {
    fixcore::Decimal {
        mantissa: 0,
        scale: order.quantity.scale,
    }
    .to_string()
}

/// Why an order is not canceled.
#[derive(Debug, Clone, Copy)]
pub(super) enum NotCanceled {
    /// There is no such order, or the fields describe a different one.
    Unknown(&'static str),
    /// It is no longer open.
    TooLate,
    /// The ClOrdID (11) of the request is that of an order.
    Duplicate,
}

/// Writes an OrderCancelReject about this order, if it is known.
pub(super) fn cancel_reject(
    version: Protocol,
    message: &Message<'_, '_>,
    (order, why): (Option<&Order>, NotCanceled),
    out: &mut Vec<u8>,
) {
    head(message, out);
    push_field(out, 37, order.map_or(b"NONE", |order| &order.id));
    if let Some(id) = message.get(11) {
        push_field(out, 11, id);
    }
    if version >= Protocol::Fix41 {
        if let Some(id) = message.get(41) {
            push_field(out, 41, id);
        }
        let state = order.map_or(State::Rejected, |order| order.state);
        push_field(out, 39, state.ord_status());
    }
    if version >= Protocol::Fix42 {
        push_field(out, 434, b"1");
    }
    let (reason, text): (&[u8], &str) = match why {
        NotCanceled::TooLate => (b"0", "Too late to cancel"),
        NotCanceled::Unknown(text) => (b"1", text),
        // The reason of its own came with FIX 4.3, and that of the broker with 4.2.
        NotCanceled::Duplicate if version >= Protocol::Fix43 => (b"6", DUPLICATE),
        NotCanceled::Duplicate if version == Protocol::Fix42 => (b"2", DUPLICATE),
        NotCanceled::Duplicate => (b"1", DUPLICATE),
    };
    push_field(out, 102, reason);
    push_field(out, 58, text.as_bytes());
}
