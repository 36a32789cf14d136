//! The bodies of Reject (35=3) and BusinessMessageReject (35=j).

use fixcore::Message;

use crate::version::Protocol;
use crate::writer::{push_field, push_number_field};

/// The text of a SessionRejectReason (373).
pub(crate) fn session_text(reason: u32) -> &'static str {
    match reason {
        0 => "Invalid tag number",
        1 => "Required tag missing",
        2 => "Tag not defined for this message type",
        3 => "Undefined tag",
        4 => "Tag specified without a value",
        5 => "Value is incorrect (out of range) for this tag",
        6 => "Incorrect data format for value",
        7 => "Decryption problem",
        8 => "Signature problem",
        9 => "CompID problem",
        10 => "SendingTime accuracy problem",
        11 => "Invalid MsgType",
        12 => "XML validation error",
        13 => "Tag appears more than once",
        14 => "Tag specified out of required order",
        15 => "Repeating group fields out of order",
        16 => "Incorrect NumInGroup count for repeating group",
        17 => "Non \"Data\" value includes field delimiter",
        18 => "Invalid or unsupported application version",
        _ => "Other",
    }
}

/// The text of a BusinessRejectReason (380).
pub(crate) fn business_text(reason: u32) -> &'static str {
    match reason {
        1 => "Unknown ID",
        2 => "Unknown Security",
        3 => "Unsupported Message Type",
        4 => "Application not available",
        5 => "Conditionally Required Field Missing",
        6 => "Not Authorized",
        7 => "DeliverTo firm not available at this time",
        _ => "Other",
    }
}

/// Why a message is rejected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Why<'a> {
    /// SessionRejectReason (373); `None` for a text only.
    pub(crate) reason: Option<u32>,
    /// RefTagID (371).
    pub(crate) tag: Option<i64>,
    pub(crate) text: &'a str,
}

impl Why<'static> {
    pub(crate) fn of(reason: u32, tag: Option<i64>) -> Self {
        Self {
            reason: Some(reason),
            tag,
            text: session_text(reason),
        }
    }
}

/// Header fields that lead the answer back to where a message came from: empty ones are left out.
pub(crate) fn reverse_route(message: &Message<'_, '_>, protocol: Protocol, out: &mut Vec<u8>) {
    for (to, from) in [
        (115, 128),
        (116, 129),
        (128, 115),
        (129, 116),
        (144, 145),
        (145, 144),
    ] {
        let value = message.get(from).filter(|value| !value.is_empty());
        if let Some(value) = value.filter(|_| to < 144 || protocol.has_locations()) {
            push_field(out, to, value);
        }
    }
}

/// Appends the body of a Reject, with the header fields of its route.
pub(crate) fn session_body(
    message: &Message<'_, '_>,
    why: &Why<'_>,
    protocol: Protocol,
    out: &mut Vec<u8>,
) {
    reverse_route(message, protocol, out);
    let present = |tag| message.get(tag).filter(|value| !value.is_empty());
    if let Some(number) = present(34) {
        push_field(out, 45, number);
    }
    match why.tag {
        Some(tag) if !protocol.has_references() => {
            push_field(out, 58, format!("{} ({tag})", why.text).as_bytes());
        }
        _ => push_field(out, 58, why.text.as_bytes()),
    }
    if !protocol.has_references() {
        return;
    }
    if let Some(tag) = why.tag {
        push_field(out, 371, tag.to_string().as_bytes());
    }
    if let Some(msg_type) = present(35) {
        push_field(out, 372, msg_type);
    }
    if let Some(reason) = why.reason.filter(|reason| protocol.has_reason(*reason)) {
        push_number_field(out, 373, u64::from(reason));
    }
}

/// Appends the body of a BusinessMessageReject, with the header fields of its route.
pub(crate) fn business_body(
    message: &Message<'_, '_>,
    (reason, text, reference): (u32, &str, Option<&str>),
    (protocol, version): (Protocol, Option<&[u8]>),
    out: &mut Vec<u8>,
) {
    reverse_route(message, protocol, out);
    if let Some(number) = message.get(34) {
        push_field(out, 45, number);
    }
    push_field(out, 58, text.as_bytes());
    push_field(out, 372, message.msg_type());
    if let Some(reference) = reference {
        push_field(out, 379, reference.as_bytes());
    }
    push_number_field(out, 380, u64::from(reason));
    // Not in the dictionary of this message, but counterparties with QuickFIX write and expect it.
    if let Some(version) = version {
        push_field(out, 1137, version);
    }
}
