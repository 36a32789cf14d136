//! What a log says about its sessions: how many messages of which type, gaps and duplicates of
//! sequence numbers, and how long orders waited for their first execution.

use std::collections::HashMap;

use fixcore::{Message, SOH, Timestamp};
use latency::Recorder;
use latency::report::{Table, Unit};

/// Orders that wait for an execution, sessions and types that are told apart: what a log has beyond
/// these is counted, not kept.
const ORDERS_MAX: usize = 1 << 18;
const SESSIONS_MAX: usize = 1 << 14;
const TYPES_MAX: usize = 1 << 12;

/// The sequence numbers of one direction of a session.
#[derive(Debug, Default)]
struct Sequence {
    next: u64,
    messages: u64,
    gaps: u64,
    missing: u64,
    duplicates: u64,
    resends: u64,
}

/// What was seen so far.
pub(super) struct Stats {
    types: HashMap<Vec<u8>, (u64, u64)>,
    /// By sender and target, with the byte 1 between them.
    sessions: HashMap<Vec<u8>, Sequence>,
    key: Vec<u8>,
    orders: HashMap<Vec<u8>, Timestamp>,
    waits: Recorder,
    /// Beyond what is kept.
    unfollowed: u64,
}

impl Stats {
    pub(super) fn new(waits: Recorder) -> Self {
        Self {
            types: HashMap::new(),
            sessions: HashMap::new(),
            key: Vec::new(),
            orders: HashMap::new(),
            waits,
            unfollowed: 0,
        }
    }

    pub(super) fn message(&mut self, message: &Message<'_, '_>) {
        let msg_type = message.msg_type();
        let room = self.types.len() < TYPES_MAX;
        let bytes = message.bytes().len() as u64;
        match self.types.get_mut(msg_type) {
            Some(count) => {
                count.0 += 1;
                count.1 += bytes;
            }
            None if room => drop(self.types.insert(msg_type.to_vec(), (1, bytes))),
            None => self.unfollowed += 1,
        }
        self.sequence(message);
        match msg_type {
            b"D" => self.order(message),
            b"8" => self.execution(message),
            _ => {}
        }
    }

    fn sequence(&mut self, message: &Message<'_, '_>) {
        let (Some(sender), Some(target)) = (message.get(49), message.get(56)) else {
            return;
        };
        let Ok(Some(number)) = message.get_u64(34) else {
            return;
        };
        self.key.clear();
        self.key.extend_from_slice(sender);
        self.key.push(SOH);
        self.key.extend_from_slice(target);
        if !self.sessions.contains_key(&self.key) {
            if self.sessions.len() >= SESSIONS_MAX {
                self.unfollowed += 1;
                return;
            }
            self.sessions.insert(self.key.clone(), Sequence::default());
        }
        let Some(sequence) = self.sessions.get_mut(&self.key) else {
            return;
        };
        sequence.messages += 1;
        sequence.resends += u64::from(message.msg_type() == b"2");
        // A log may begin anywhere; a Logon with 141=Y and a SequenceReset begin anew.
        let begins = message.get(141) == Some(b"Y") || message.msg_type() == b"4";
        match number {
            _ if sequence.next == 0 || begins => {}
            number if number < sequence.next => {
                sequence.duplicates += 1;
                return;
            }
            number if number > sequence.next => {
                sequence.gaps += 1;
                sequence.missing += number - sequence.next;
            }
            _ => {}
        }
        let new = (message.msg_type() == b"4").then(|| message.get_u64(36).ok().flatten());
        sequence.next = new.flatten().unwrap_or(number.saturating_add(1));
    }

    fn order(&mut self, message: &Message<'_, '_>) {
        let (Some(id), Ok(Some(sent))) = (message.get(11), message.get_timestamp(52)) else {
            return;
        };
        if self.orders.len() < ORDERS_MAX {
            self.orders.entry(id.to_vec()).or_insert(sent);
        } else {
            self.unfollowed += 1;
        }
    }

    fn execution(&mut self, message: &Message<'_, '_>) {
        let (Some(id), Ok(Some(sent))) = (message.get(11), message.get_timestamp(52)) else {
            return;
        };
        if let Some(ordered) = self.orders.remove(id) {
            let ns = sent.0.saturating_sub(ordered.0);
            self.waits.record_ns(u64::try_from(ns).unwrap_or(0));
        }
    }

    /// The tables, and the distribution of the waits.
    pub(super) fn finish(self) -> (Vec<Table>, Recorder, u64) {
        let columns = [
            ("type", Unit::Text),
            ("messages", Unit::Count),
            ("bytes", Unit::Bytes),
        ];
        let mut mix = Table::new("messages", &columns);
        let mut types: Vec<_> = self.types.into_iter().collect();
        types.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (msg_type, (count, bytes)) in types {
            let name = msg_type.escape_ascii().to_string();
            mix.rows.push(vec![name.into(), count.into(), bytes.into()]);
        }
        let columns = [
            ("session", Unit::Text),
            ("messages", Unit::Count),
            ("gaps", Unit::Count),
            ("missing", Unit::Count),
            ("duplicates", Unit::Count),
            ("resend_requests", Unit::Count),
        ];
        let mut sessions = Table::new("sessions", &columns);
        let mut found: Vec<_> = self.sessions.into_iter().collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, sequence) in found {
            let names: Vec<_> = key.split(|byte| *byte == SOH).collect();
            let names: Vec<_> = names
                .iter()
                .map(|name| name.escape_ascii().to_string())
                .collect();
            let name = names.join(" → ");
            sessions.rows.push(vec![
                name.into(),
                sequence.messages.into(),
                sequence.gaps.into(),
                sequence.missing.into(),
                sequence.duplicates.into(),
                sequence.resends.into(),
            ]);
        }
        (vec![mix, sessions], self.waits, self.unfollowed)
    }
}
