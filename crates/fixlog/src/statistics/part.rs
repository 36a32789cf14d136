//! What one block of a log says, gathered by any thread: counts, runs of sequence numbers, orders and
//! executions, in the order in which they stand there.
//!
//! Nothing here depends on what stands in other blocks; `total` adds up parts in the order of the log.

use std::collections::HashMap;

use fixcore::value::{date, time_of_day, unsigned};
use fixcore::{Message, SOH};
use twox_hash::XxHash3_64;

use crate::hash;
use crate::sessions::Sessions;

/// Fields of the header are among so many at the beginning, where they are where they belong.
const HEADER_FIELDS: usize = 12;
const NS_PER_DAY: i64 = 86_400_000_000_000;

/// What a sequence number belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Sent again.
    Resent,
    /// A Logon or SequenceReset after which numbers begin anew, with this one if it says so.
    Begin(Option<u64>),
    /// A Logon with the number 1 and this time: numbers begin anew, as on another day, unless it is the same again.
    First(i64),
    /// A gap fill (SequenceReset with 123=Y): no message will come for the numbers before this one.
    Fill(u64),
    /// A request to send again from this number on.
    Request(u64),
}

/// Numbers that follow each other without a hole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) kind: Kind,
    pub(super) first: u64,
    pub(super) count: u64,
    /// Where the first of them stands.
    pub(super) offset: u64,
}

/// One direction of a session in this block.
#[derive(Debug)]
pub(super) struct SessionPart {
    /// Sender and target, with the byte 1 between them.
    pub(super) key: Vec<u8>,
    pub(super) runs: Vec<Run>,
    /// Seeds of ids, of orders in this direction and of what answers those of the other one.
    domains: [u64; 2],
}

/// An order or an execution, by the hash of its ClOrdID and of the parties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trade {
    pub(super) id: u128,
    pub(super) sent_ns: i64,
    pub(super) is_order: bool,
}

/// How many messages there are of a type.
#[derive(Debug)]
pub(super) struct TypePart {
    pub(super) msg_type: Vec<u8>,
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// The statistics of one block: the input of [`Statistics`](super::Statistics).
#[derive(Debug)]
pub struct Part {
    /// In the order in which they are first.
    pub(super) types: Vec<TypePart>,
    pub(super) sessions: Vec<SessionPart>,
    pub(super) trades: Vec<Trade>,
    /// By the byte of types of one byte: the place in `types`, and 1.
    short_types: Vec<u32>,
    long_types: HashMap<Vec<u8>, usize>,
    names: Sessions,
    /// The date that was read last, and what it is in nanoseconds.
    day: ([u8; 8], i64),
}

impl Default for Part {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            sessions: Vec::new(),
            trades: Vec::new(),
            short_types: vec![0; 256],
            long_types: HashMap::new(),
            names: Sessions::default(),
            day: Default::default(),
        }
    }
}

/// The fields of a header that statistics need.
#[derive(Default)]
pub(crate) struct Header<'m> {
    pub(crate) sender: Option<&'m [u8]>,
    pub(crate) target: Option<&'m [u8]>,
    pub(crate) number: Option<&'m [u8]>,
    pub(crate) sent: Option<&'m [u8]>,
    pub(crate) is_resent: bool,
    /// SenderSubID (50) and TargetSubID (57).
    pub(crate) subs: [Option<&'m [u8]>; 2],
}

impl<'m> Header<'m> {
    pub(crate) fn of(message: &Message<'_, 'm>) -> Self {
        let mut header = Self::default();
        for field in message.fields().skip(3).take(HEADER_FIELDS) {
            let slot = match field.tag {
                49 => &mut header.sender,
                56 => &mut header.target,
                34 => &mut header.number,
                52 => &mut header.sent,
                43 => {
                    header.is_resent = field.value == b"Y";
                    continue;
                }
                50 => &mut header.subs[0],
                57 => &mut header.subs[1],
                90 | 91 | 97 | 115 | 116 | 122 | 128 | 129 | 142..=145 => continue,
                369 | 347 | 212 | 213 | 627 | 1128 | 1129 | 1156 => continue,
                // The body begins.
                _ => break,
            };
            slot.get_or_insert(field.value);
        }
        let missing = [&header.sender, &header.target, &header.number, &header.sent]
            .into_iter()
            .any(|slot| slot.is_none());
        if missing {
            header.sender = message.get(49);
            header.target = message.get(56);
            header.number = message.get(34);
            header.sent = message.get(52);
            header.is_resent = message.get(43) == Some(b"Y");
            header.subs = [message.get(50), message.get(57)];
        }
        header
    }
}

impl Part {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.types.clear();
        self.sessions.clear();
        self.trades.clear();
        self.short_types.fill(0);
        self.long_types.clear();
        self.names.clear();
    }

    /// Adds a message at this byte of the log.
    pub fn message(&mut self, offset: u64, message: &Message<'_, '_>) {
        let msg_type = message.msg_type();
        self.count(msg_type, message.bytes().len() as u64);
        let header = Header::of(message);
        let mut place = None;
        if let (Some(sender), Some(target), Some(number)) = (
            header.sender,
            header.target,
            header.number.and_then(unsigned),
        ) {
            let kind = match msg_type {
                b"4" => match (message.get_u64(36).ok().flatten(), message.get(123)) {
                    (Some(next), Some(b"Y")) => Kind::Fill(next),
                    (next, _) => Kind::Begin(next),
                },
                b"A" if message.get(141) == Some(b"Y") => Kind::Begin(None),
                b"A" if number == 1 && !header.is_resent => {
                    let sent = header.sent.and_then(|sent| self.moment(sent));
                    Kind::First(sent.unwrap_or(i64::MIN))
                }
                _ if header.is_resent => Kind::Resent,
                b"2" => Kind::Request(message.get_u64(7).ok().flatten().unwrap_or(0)),
                _ => Kind::Plain,
            };
            place = Some(self.number(sender, target, number, kind, offset));
        }
        let is_order = msg_type == b"D";
        if (is_order || msg_type == b"8")
            && let Some(sent_ns) = header.sent.and_then(|sent| self.moment(sent))
            && let Some(id) = message.get(11)
        {
            if place.is_none()
                && let (Some(sender), Some(target)) = (header.sender, header.target)
            {
                place = Some(self.session(sender, target));
            }
            let session = place.and_then(|place| self.sessions.get(place));
            let domain = session.map_or(0, |session| session.domains[usize::from(!is_order)]);
            self.trades.push(Trade {
                id: hash::of_id(u128::from(domain), id),
                sent_ns,
                is_order,
            });
        }
    }

    fn count(&mut self, msg_type: &[u8], bytes: u64) {
        let known = match msg_type {
            [byte] => self.short_types.get(usize::from(*byte)).copied(),
            _ => self.long_types.get(msg_type).map(|at| *at as u32 + 1),
        };
        let known = known.and_then(|at| (at as usize).checked_sub(1));
        let at = known.unwrap_or_else(|| {
            let at = self.types.len();
            match msg_type {
                [byte] => self.short_types[usize::from(*byte)] = at as u32 + 1,
                _ => drop(self.long_types.insert(msg_type.to_vec(), at)),
            }
            self.types.push(TypePart {
                msg_type: msg_type.to_vec(),
                messages: 0,
                bytes: 0,
            });
            at
        });
        if let Some(found) = self.types.get_mut(at) {
            found.messages += 1;
            found.bytes += bytes;
        }
    }

    fn number(
        &mut self,
        sender: &[u8],
        target: &[u8],
        number: u64,
        kind: Kind,
        offset: u64,
    ) -> usize {
        let at = self.session(sender, target);
        let Some(session) = self.sessions.get_mut(at) else {
            return at;
        };
        let run = Run {
            kind,
            first: number,
            count: 1,
            offset,
        };
        match session.runs.last_mut() {
            Some(last)
                if matches!(kind, Kind::Plain | Kind::Resent)
                    && last.kind == kind
                    && last.first.checked_add(last.count) == Some(number) =>
            {
                last.count += 1;
            }
            _ => session.runs.push(run),
        }
        at
    }

    /// The place of a session.
    fn session(&mut self, sender: &[u8], target: &[u8]) -> usize {
        let at = self.names.place([sender, target]);
        if at == self.sessions.len() {
            let key = [sender, &[SOH], target].concat();
            let back = [target, &[SOH], sender].concat();
            let domains = [&key, &back].map(|key| XxHash3_64::oneshot(key));
            self.sessions.push(SessionPart {
                key,
                runs: Vec::new(),
                domains,
            });
        }
        at
    }

    /// A moment; most are of the same day as the one before.
    fn moment(&mut self, value: &[u8]) -> Option<i64> {
        let (day, rest) = value.split_first_chunk::<8>()?;
        let clock = time_of_day(rest.strip_prefix(b"-")?)?;
        if self.day.0 != *day {
            self.day = (*day, date(day)?.checked_mul(NS_PER_DAY)?);
        }
        self.day.1.checked_add(clock)
    }
}
