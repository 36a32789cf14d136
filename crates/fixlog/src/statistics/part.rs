//! What one block of a log says, gathered by any thread: counts, runs of sequence numbers, orders and
//! executions, in the order in which they stand there.
//!
//! Nothing here depends on what stands in other blocks; `total` adds up parts in the order of the log.

use std::collections::HashMap;

use fixcore::Message;
use fixcore::value::{date, time_of_day, unsigned};

use crate::GroupKey;
use crate::clock::TradeTime;
use crate::hash;
use crate::sessions::Sessions;
use crate::statistics::groups::Groups;
use crate::statistics::told::Told;

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

/// Numbers of one direction that follow each other without a hole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) kind: Kind,
    pub(super) first: u64,
    pub(super) count: u64,
    /// Where the first of them stands.
    pub(super) offset: u64,
    /// The place of its names.
    pub(super) names: u32,
    /// Whether the first of them is a Logon.
    pub(super) is_logon: bool,
    /// Whether they say that they are sent again (43=Y).
    pub(super) is_resent: bool,
}

/// An order or an execution, by the hash of its ClOrdID and of the parties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trade {
    pub(super) id: u128,
    /// SendingTime (52).
    pub(super) sent_ns: i64,
    /// The time that latencies are between, if the message has one.
    pub(super) at_ns: Option<i64>,
    pub(super) is_order: bool,
    /// The place of its names.
    pub(super) names: u32,
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
    pub(super) runs: Vec<Run>,
    pub(super) trades: Vec<Trade>,
    /// By the place of the names.
    pub(super) told: Told,
    pub(super) groups: Groups,
    /// Orders and executions without the time that latencies are between.
    pub(super) untimed: u64,
    /// By the byte of types of one byte: the place in `types`, and 1.
    short_types: Vec<u32>,
    long_types: HashMap<Vec<u8>, usize>,
    pub(super) names: Sessions<5>,
    /// The finest steps of the times of orders and of executions.
    pub(super) steps_ns: [Option<u64>; 2],
    /// The date that was read last, and what it is in nanoseconds.
    day: ([u8; 8], i64),
}

impl Default for Part {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            runs: Vec::new(),
            trades: Vec::new(),
            told: Told::default(),
            groups: Groups::default(),
            untimed: 0,
            short_types: vec![0; 256],
            long_types: HashMap::new(),
            names: Sessions::default(),
            steps_ns: [None; 2],
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
        self.runs.clear();
        self.trades.clear();
        self.told.clear();
        self.groups.clear();
        self.untimed = 0;
        self.steps_ns = [None; 2];
        self.short_types.fill(0);
        self.long_types.clear();
        self.names.clear();
    }

    /// Counts a message by these values.
    pub fn group(&mut self, by: &[GroupKey], message: &Message<'_, '_>) {
        self.groups.message(by, message);
    }

    /// Adds a message at this byte of the log.
    pub fn message(&mut self, offset: u64, message: &Message<'_, '_>) {
        self.message_at(offset, message, TradeTime::Sent);
    }

    /// Adds a message whose time, if it is an order or an execution, is this one.
    pub(crate) fn message_at(
        &mut self,
        offset: u64,
        message: &Message<'_, '_>,
        time: TradeTime<'_>,
    ) {
        let msg_type = message.msg_type();
        self.count(msg_type, message.bytes().len() as u64);
        let header = Header::of(message);
        let mut names = None;
        if let (Some(sender), Some(target)) = (header.sender, header.target) {
            let begin = message.begin_string();
            let [sub, target_sub] = header.subs;
            let (sub, target_sub) = (sub.unwrap_or_default(), target_sub.unwrap_or_default());
            let all = [begin, sender, target, sub, target_sub];
            let place = self.names.place(all);
            if place == self.told.len() {
                self.told.add(all);
            }
            names = Some(place);
        }
        if let Some(names) = names
            && let Some(number) = header.number.and_then(unsigned)
        {
            let kind = self.kind(message, &header, number);
            let run = Run {
                kind,
                first: number,
                count: 1,
                offset,
                names: names as u32,
                is_logon: msg_type == b"A",
                is_resent: header.is_resent,
            };
            self.number(run);
        }
        let is_order = msg_type == b"D";
        if (is_order || msg_type == b"8")
            && let Some(sent) = header.sent
            && let Some(sent_ns) = self.moment(sent)
            && let Some(id) = message.get(11)
        {
            let at = time.read(message, (sent, sent_ns));
            self.untimed += u64::from(at.is_none());
            if let Some((_, step)) = at {
                let known = &mut self.steps_ns[usize::from(!is_order)];
                *known = Some(known.map_or(step, |known| known.min(step)));
            }
            let told = names.and_then(|names| self.told.get_mut(names));
            let domain = told.map_or(0, |told| told.traded(is_order, sent_ns));
            self.trades.push(Trade {
                id: hash::of_id(u128::from(domain), id),
                sent_ns,
                at_ns: at.map(|(ns, _)| ns),
                is_order,
                names: names.map_or(u32::MAX, |names| names as u32),
            });
        }
    }

    /// What the number of a message belongs to.
    fn kind(&mut self, message: &Message<'_, '_>, header: &Header<'_>, number: u64) -> Kind {
        match message.msg_type() {
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

    /// Adds a message to the run that it goes on, or begins one.
    fn number(&mut self, new: Run) {
        let at = self.runs.len();
        let Some(last) = self.told.last_run(new.names as usize, new.is_logon) else {
            return;
        };
        let run = last.and_then(|last| self.runs.get_mut(last as usize));
        match run {
            Some(run)
                if matches!(new.kind, Kind::Plain | Kind::Resent)
                    && run.kind == new.kind
                    && run.first.checked_add(run.count) == Some(new.first) =>
            {
                run.count += 1;
            }
            _ => {
                self.runs.push(new);
                self.told.set_last_run(new.names as usize, at as u32);
            }
        }
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
