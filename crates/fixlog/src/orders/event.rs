//! What one block of a log says about orders, gathered by any thread, in the order of the block.

use std::io::Write as _;

use fixcore::{Message, SOH, Timestamp};

use super::life::{StepKind, tag_name};
use crate::sessions::Sessions;

/// The fields of a message that the life of its order keeps.
const KEPT: [u32; 40] = [
    11, 41, 37, 526, 198, 17, 55, 54, 38, 40, 44, 99, 31, 32, 14, 151, 6, 39, 58, 103, 102, 373,
    380, 434, 59, 19, 20, 66, 97, 127, 372, 50, 57, 115, 116, 128, 129, 142, 143, 797,
];
/// Those that are ids: what is beyond the limit tells them apart as well.
const IDS: [u32; 8] = [11, 41, 37, 526, 198, 17, 19, 66];
/// The highest of them, and 1.
const KEPT_END: usize = 798;
/// Whether a tag is one of them.
const IS_KEPT: [bool; KEPT_END] = {
    let mut is_kept = [false; KEPT_END];
    let mut at = 0;
    while at < KEPT.len() {
        is_kept[KEPT[at] as usize] = true;
        at += 1;
    }
    is_kept
};
/// Those of each side of a cross (s, t and u).
const OF_SIDES: [u32; 6] = [11, 38, 41, 54, 58, 526];
/// Sides of a cross that are followed: the standard has two.
const SIDES_MAX: usize = 4;
/// As much of one value is kept; longer ones end with a mark.
const VALUE_BYTES_MAX: usize = 1024;
/// What a value that was cut ends with; an id also has a hash of all of it.
const CUT: &str = "\u{2026}";

/// A message about an order.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) kind: StepKind,
    /// SendingTime (52).
    pub(super) sent_ns: Option<i64>,
    pub(super) offset: u64,
    pub(super) line: Option<u64>,
    /// MsgSeqNum (34).
    pub(super) number: u64,
    /// RefSeqNum (45).
    pub(super) about: Option<u64>,
    /// The place in the sessions of the part.
    pub(super) session: u32,
    /// Whether it says that it was sent before (43=Y).
    pub(super) is_copy: bool,
    /// OrigSendingTime (122) of such a message.
    pub(super) original_ns: Option<i64>,
    /// Whether it is no message about an order, but a Logon with which sequence numbers begin anew.
    pub(super) restarts: bool,
    /// Where in the text its fields are.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where among its fields the values of ClOrdID, OrigClOrdID, OrderID and SecondaryClOrdID are.
    pub(super) ids: [Value; 4],
}

/// A value among the fields of an event; empty if there is none.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Value {
    at: u32,
    bytes: u32,
}

impl Value {
    /// The value among the fields.
    pub(super) fn of(self, fields: &[u8]) -> Option<&[u8]> {
        let at = self.at as usize;
        fields
            .get(at..at + self.bytes as usize)
            .filter(|value| !value.is_empty())
    }
}

/// Tags of ids that orders are found by, as [`Event::ids`] has them.
pub(super) const CL_ORD_ID: usize = 0;
pub(super) const ORIG_CL_ORD_ID: usize = 1;
pub(super) const ORDER_ID: usize = 2;
pub(super) const SECONDARY_CL_ORD_ID: usize = 3;

/// The messages about orders of one block: the input of [`Book`](super::Book).
#[derive(Debug, Default, Clone)]
pub struct OrderPart {
    pub(super) events: Vec<Event>,
    pub(super) sessions: Sessions,
    pub(super) text: Vec<u8>,
}

impl OrderPart {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.events.clear();
        self.sessions.clear();
        self.text.clear();
    }

    /// Adds a message at a byte and line of the log, if it is about an order. Returns whether it is.
    pub fn message(&mut self, offset: u64, line: Option<u64>, message: &Message<'_, '_>) -> bool {
        let kind = match message.msg_type() {
            b"D" | b"AB" | b"E" | b"s" => StepKind::New,
            b"G" | b"AC" | b"t" => StepKind::Replace,
            b"F" | b"u" => StepKind::Cancel,
            b"H" => StepKind::StatusRequest,
            b"Q" => StepKind::DontKnow,
            b"8" => execution(message),
            b"9" => StepKind::CancelReject {
                status: first(message.get(39)),
            },
            b"3" => StepKind::Reject,
            b"j" => StepKind::BusinessReject,
            b"A" if restarts(message) => StepKind::Reject,
            _ => return false,
        };
        let (Some(sender), Some(target)) = (message.get(49), message.get(56)) else {
            return false;
        };
        let session = self.session(sender, target);
        let start = self.text.len() as u32;
        let time = |tag| message.get(tag).and_then(Timestamp::parse);
        let is_copy = message.get(43) == Some(b"Y");
        let mut event = Event {
            kind,
            sent_ns: time(52).map(|time| time.0),
            offset,
            line,
            number: message.get_u64(34).ok().flatten().unwrap_or(0),
            about: None,
            session,
            is_copy,
            original_ns: time(122).filter(|_| is_copy).map(|time| time.0),
            restarts: message.msg_type() == b"A",
            start,
            end: start,
            ids: [Value::default(); 4],
        };
        if event.restarts {
            self.events.push(event);
            return false;
        }
        let is_reject = matches!(kind, StepKind::Reject | StepKind::BusinessReject);
        if is_reject {
            event.about = message.get_u64(45).ok().flatten();
        }
        if matches!(message.msg_type(), b"s" | b"t" | b"u") {
            return self.sides(event, message);
        }
        let is_list = message.msg_type() == b"E";
        let mut head = start..start;
        let mut orders = 0;
        for field in message.fields() {
            // BusinessRejectRefID (379) is the id of what is rejected.
            let tag = match field.tag {
                379 if kind == StepKind::BusinessReject => 11,
                tag if IS_KEPT.get(tag as usize) == Some(&true) => tag,
                _ => continue,
            };
            // Each order of a list begins with its ClOrdID; what stands before the first one is of all.
            if is_list && tag == 11 {
                if orders == 0 {
                    head.end = self.text.len() as u32;
                } else {
                    self.end_event(event.clone());
                    event.start = self.text.len() as u32;
                    event.ids = [Value::default(); 4];
                    let head = head.start as usize..head.end as usize;
                    self.text.extend_from_within(head);
                }
                orders += 1;
            }
            self.field(&mut event, tag, field.value);
        }
        // A list without orders.
        if is_list && orders == 0 {
            self.text.truncate(start as usize);
            return false;
        }
        self.end_event(event);
        true
    }

    /// Adds the orders of a cross: one for each side. What is not of a side is of all.
    fn sides(&mut self, mut event: Event, message: &Message<'_, '_>) -> bool {
        let is_head = |field: &fixcore::Field<'_>| field.tag != 552;
        // NoSides; each side begins with the field behind it.
        let Some(begin) = message.fields().skip_while(is_head).nth(1) else {
            return false;
        };
        let is_begin = |field: &fixcore::Field<'_>| field.tag == begin.tag;
        let sides = message.fields().filter(is_begin).count().min(SIDES_MAX);
        for side in 1..=sides {
            event.start = self.text.len() as u32;
            event.ids = [Value::default(); 4];
            let mut at = 0;
            for field in message.fields() {
                at += usize::from(is_begin(&field));
                let is_kept = IS_KEPT.get(field.tag as usize) == Some(&true);
                let is_its = !OF_SIDES.contains(&field.tag) || at == side;
                if is_kept && is_its {
                    self.field(&mut event, field.tag, field.value);
                }
            }
            self.end_event(event.clone());
        }
        sides > 0
    }

    fn end_event(&mut self, mut event: Event) {
        event.end = self.text.len() as u32;
        self.events.push(event);
    }

    /// Keeps a value, or its beginning.
    fn field(&mut self, event: &mut Event, tag: u32, value: &[u8]) {
        let (name, digits) = tag_name(tag);
        self.text.extend_from_slice(&name[..=digits]);
        let before = self.text.len();
        match value.get(..VALUE_BYTES_MAX) {
            Some(begin) if value.len() > VALUE_BYTES_MAX => {
                // No character is cut in two.
                let end = match std::str::from_utf8(begin) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => begin.len(),
                };
                self.text.extend_from_slice(&begin[..end]);
                self.text.extend_from_slice(CUT.as_bytes());
                if IDS.contains(&tag) {
                    let hash = twox_hash::XxHash3_64::oneshot(value);
                    // Writing into memory does not fail.
                    let _ = write!(self.text, "{hash:016x}");
                }
            }
            _ => self.text.extend_from_slice(value),
        }
        let place = match tag {
            11 => Some(CL_ORD_ID),
            41 => Some(ORIG_CL_ORD_ID),
            37 => Some(ORDER_ID),
            526 => Some(SECONDARY_CL_ORD_ID),
            _ => None,
        };
        // The first one counts.
        if let Some(id) = place.and_then(|place| event.ids.get_mut(place))
            && id.bytes == 0
        {
            *id = Value {
                at: (before - event.start as usize) as u32,
                bytes: (self.text.len() - before) as u32,
            };
        }
        self.text.push(SOH);
    }

    fn session(&mut self, sender: &[u8], target: &[u8]) -> u32 {
        self.sessions.place([sender, target]) as u32
    }

    /// The kept fields of an event, each with the byte 1 behind it.
    pub(super) fn fields(&self, event: &Event) -> &[u8] {
        let range = event.start as usize..event.end as usize;
        self.text.get(range).unwrap_or(&[])
    }
}

/// What an execution says. In FIX 4.2, ExecTransType (20) says that it cancels or corrects another one, or is a
/// status only; before that, there is no ExecType (150), and OrdStatus (39) says it all.
fn execution(message: &Message<'_, '_>) -> StepKind {
    let status = first(message.get(39));
    let exec_type = match (message.get(20), message.get(150)) {
        (Some(b"1"), _) => b'H',
        (Some(b"2"), _) => b'G',
        (Some(b"3"), _) => b'I',
        (_, None) => status,
        (_, stated) => first(stated),
    };
    StepKind::Execution { exec_type, status }
}

/// Whether sequence numbers begin anew with a Logon.
fn restarts(message: &Message<'_, '_>) -> bool {
    message.get(141) == Some(b"Y") || message.get(34) == Some(b"1")
}

/// A value of one character.
fn first(value: Option<&[u8]>) -> u8 {
    match value {
        Some([byte]) => *byte,
        _ => b'?',
    }
}
