//! What one block of a log says about orders, gathered by any thread, in the order of the block.

use fixcore::{Message, SOH, Timestamp};

use super::life::StepKind;

/// The fields of a message that the life of its order keeps.
const KEPT: [u32; 25] = [
    11, 41, 37, 526, 198, 17, 55, 54, 38, 40, 44, 99, 31, 32, 14, 151, 6, 39, 58, 103, 102, 373,
    380, 434, 59,
];
/// The highest of them, and 1.
const KEPT_END: usize = 527;
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
/// Values of one field that are kept are no longer than this.
const VALUE_BYTES_MAX: usize = 1024;

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
    /// Sender and target.
    pub(super) sessions: Vec<[Vec<u8>; 2]>,
    pub(super) text: Vec<u8>,
    last: usize,
}

impl OrderPart {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.events.clear();
        self.sessions.clear();
        self.text.clear();
        self.last = 0;
    }

    /// Adds a message at a byte and line of the log, if it is about an order. Returns whether it is.
    pub fn message(&mut self, offset: u64, line: Option<u64>, message: &Message<'_, '_>) -> bool {
        let kind = match message.msg_type() {
            b"D" | b"AB" => StepKind::New,
            b"G" | b"AC" => StepKind::Replace,
            b"F" => StepKind::Cancel,
            b"8" => StepKind::Execution {
                exec_type: first(message.get(150)),
                status: first(message.get(39)),
            },
            b"9" => StepKind::CancelReject {
                status: first(message.get(39)),
            },
            b"3" => StepKind::Reject,
            b"j" => StepKind::BusinessReject,
            _ => return false,
        };
        let (Some(sender), Some(target)) = (message.get(49), message.get(56)) else {
            return false;
        };
        let session = self.session(sender, target);
        let start = self.text.len() as u32;
        let is_business = kind == StepKind::BusinessReject;
        let mut ids = [Value::default(); 4];
        for field in message.fields() {
            let before = self.text.len() - start as usize;
            // BusinessRejectRefID (379) is the id of what is rejected.
            let tag = match field.tag {
                379 if is_business => {
                    self.text.extend_from_slice(b"11=");
                    self.text.extend_from_slice(field.value);
                    self.text.push(SOH);
                    11
                }
                tag if IS_KEPT.get(tag as usize) == Some(&true)
                    && field.value.len() <= VALUE_BYTES_MAX =>
                {
                    // With the `=`, and the byte 1 behind.
                    let end = field.value.len() + 2;
                    let range = field.offset..field.offset + crate::line::digits(tag) + end;
                    let bytes = message.bytes().get(range);
                    self.text.extend_from_slice(bytes.unwrap_or(&[]));
                    tag
                }
                _ => continue,
            };
            let place = match tag {
                11 => CL_ORD_ID,
                41 => ORIG_CL_ORD_ID,
                37 => ORDER_ID,
                526 => SECONDARY_CL_ORD_ID,
                _ => continue,
            };
            // The first one counts.
            if ids[place].bytes == 0 {
                let digits = crate::line::digits(tag);
                ids[place] = Value {
                    at: (before + digits + 1) as u32,
                    bytes: field.value.len() as u32,
                };
            }
        }
        self.events.push(Event {
            kind,
            sent_ns: message
                .get(52)
                .and_then(Timestamp::parse)
                .map(|time| time.0),
            offset,
            line,
            number: message.get_u64(34).ok().flatten().unwrap_or(0),
            about: message.get_u64(45).ok().flatten(),
            session,
            start,
            end: self.text.len() as u32,
            ids,
        });
        true
    }

    fn session(&mut self, sender: &[u8], target: &[u8]) -> u32 {
        let is = |session: &[Vec<u8>; 2]| session[0] == sender && session[1] == target;
        for at in [self.last, self.last ^ 1] {
            if self.sessions.get(at).is_some_and(is) {
                self.last = at;
                return at as u32;
            }
        }
        let at = self.sessions.iter().position(is).unwrap_or_else(|| {
            self.sessions.push([sender.to_vec(), target.to_vec()]);
            self.sessions.len() - 1
        });
        self.last = at;
        at as u32
    }

    /// The kept fields of an event, each with the byte 1 behind it.
    pub(super) fn fields(&self, event: &Event) -> &[u8] {
        let range = event.start as usize..event.end as usize;
        self.text.get(range).unwrap_or(&[])
    }
}

/// A value of one character.
fn first(value: Option<&[u8]>) -> u8 {
    match value {
        Some([byte]) => *byte,
        _ => b'?',
    }
}
