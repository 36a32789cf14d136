//! The orders that are not at their end, and what becomes of them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::batch::{Batch, Merge};
use super::event::Event;
use super::hop::{Hop, HopCount};
use super::keys::{Keys, RELAY, SENT, key};
use super::life::{Step, StepKind, value};
use super::open::Open;
use super::wait::{Wait, Watch};
use crate::hash::OwnHash;

/// Orders that are followed at once: beyond them, new ones are only counted.
const LIVES_MAX: usize = 1 << 22;
/// Parties that are told apart.
const PARTIES_MAX: usize = 1 << 16;
/// Messages of an order that are kept.
const STEPS_MAX: usize = 256;
/// How long an order stays known after its end, for what comes late and for other logs.
const KEPT_NS: i64 = 60_000_000_000;

type Slots = HashMap<u128, u32, OwnHash>;

/// Follows orders from their first message to the last: by ClOrdID (11), OrigClOrdID (41) and OrderID (37) on
/// each session, and from one session to the next, where the target of an order sends it on with the same
/// ClOrdID, or with that as SecondaryClOrdID (526).
///
/// Memory grows with the orders that are open or ended within the last minute of the logs, not with the logs.
///
/// ```
/// use fixlog::orders::{Batch, Book, Life, Merge, OrderPart, State, Wait, Watch};
///
/// #[derive(Default)]
/// struct Seen(Vec<(String, State)>, Vec<(Wait, u64)>);
///
/// impl Watch for Seen {
///     fn life(&mut self, life: &Life, _: &[Vec<u8>]) {
///         self.0.push((String::from_utf8_lossy(life.id()).into_owned(), life.state));
///     }
///     fn wait(&mut self, wait: Wait, ns: u64, _: &Life) {
///         self.1.push((wait, ns));
///     }
///     fn hop(&mut self, _: [&[u8]; 2], _: bool, _: u64) {}
/// }
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let log = [
///     message("35=D|49=DESK|56=MARKET|34=1|52=20260305-14:15:16.000|11=A|38=100|"),
///     message("35=8|49=MARKET|56=DESK|34=1|52=20260305-14:15:16.003|11=A|37=7|150=8|39=8|58=No|"),
/// ];
/// let (mut decoder, mut part) = (fixcore::Decoder::new(), OrderPart::default());
/// for bytes in &log {
///     part.message(0, None, &decoder.parse(bytes)?);
/// }
/// let (mut book, mut merge, mut seen) = (Book::new(), Merge::new(1), Seen::default());
/// merge.push(Batch::new(0, part));
/// merge.end(0);
/// book.take(&mut merge, &mut seen);
/// book.finish(&mut seen);
/// assert_eq!(seen.0, [("A".to_owned(), State::Rejected)]);
/// assert_eq!(seen.1, [(Wait::Answer, 3_000_000), (Wait::End, 3_000_000)]);
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Book {
    parties: Vec<Vec<u8>>,
    party_places: HashMap<Vec<u8>, u32>,
    lives: Vec<Option<Open>>,
    free: Vec<u32>,
    slots: Slots,
    next: u64,
    now_ns: i64,
    ended: VecDeque<(i64, u32, u64)>,
    hops: BTreeMap<[u32; 2], Hop>,
    early: BTreeMap<Wait, u64>,
    messages: u64,
    repeated: u64,
    unfollowed: u64,
    open_most: usize,
}

impl Book {
    /// No orders.
    #[must_use]
    pub fn new() -> Self {
        Self {
            now_ns: i64::MIN,
            ..Self::default()
        }
    }

    /// How many messages are about orders.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How many messages were in the logs before: in another log, or sent again.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How many messages were not followed because there are too many orders or parties.
    #[must_use]
    pub fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// The most orders that were known at once.
    #[must_use]
    pub fn most(&self) -> usize {
        self.open_most
    }

    /// How many times of each kind are negative: clocks differ.
    #[must_use]
    pub fn early(&self) -> &BTreeMap<Wait, u64> {
        &self.early
    }

    /// What is known of hops, by the names of parties.
    #[must_use]
    pub fn hops(&self) -> Vec<HopCount> {
        let hops = self.hops.iter();
        let mut hops: Vec<_> = hops
            .map(|([from, to], hop)| hop.count(self.party(*from), self.party(*to)))
            .collect();
        hops.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        hops
    }

    /// How much the clock of each party is ahead of that of the first one that it has to do with, in nanoseconds, as
    /// far as that is known: for the order of what parties stamped.
    #[must_use]
    pub fn clocks(&self) -> Vec<i64> {
        let mut clocks = vec![None; self.parties.len()];
        for first in 0..clocks.len() {
            if clocks[first].is_some() {
                continue;
            }
            clocks[first] = Some(0);
            let mut reached = vec![first];
            while let Some(party) = reached.pop() {
                let own: i64 = clocks[party].unwrap_or(0);
                for ([from, to], hop) in &self.hops {
                    let (other, ahead) = match (*from as usize == party, *to as usize == party) {
                        (true, false) => (*to as usize, hop.ahead_ns()),
                        (false, true) => (*from as usize, hop.ahead_ns().saturating_neg()),
                        _ => continue,
                    };
                    if let Some(slot @ None) = clocks.get_mut(other) {
                        *slot = Some(own.saturating_add(ahead));
                        reached.push(other);
                    }
                }
            }
        }
        clocks.into_iter().map(|ahead| ahead.unwrap_or(0)).collect()
    }

    /// The names of all parties.
    #[must_use]
    pub fn parties(&self) -> &[Vec<u8>] {
        &self.parties
    }

    /// The name of a party of a [`Step`].
    #[must_use]
    pub fn party(&self, party: u32) -> &[u8] {
        self.parties.get(party as usize).map_or(&[], Vec::as_slice)
    }

    /// Takes what can be given out, in the order of time.
    pub fn take(&mut self, merge: &mut Merge, watch: &mut dyn Watch) {
        while let Some((batch, at)) = merge.next() {
            if batch.parties.is_empty() {
                let sessions = batch.part.sessions.iter();
                batch.parties = sessions.map(|names| self.intern(names)).collect();
            }
            self.event(batch, at, watch);
            if at + 1 == batch.part.events.len() {
                merge.sweep();
            }
        }
    }

    /// Passes on all orders that are left, in the order of their first messages.
    pub fn finish(&mut self, watch: &mut dyn Watch) {
        let mut left: Vec<_> = self.lives.drain(..).flatten().collect();
        left.sort_by_key(|open| open.life.number);
        for open in left {
            watch.life(&open.life, &self.parties);
        }
        self.slots.clear();
        self.free.clear();
        self.ended.clear();
        for ([from, to], hop) in &mut self.hops {
            let names = [from, to].map(|party| {
                self.parties
                    .get(*party as usize)
                    .map_or(&b""[..], Vec::as_slice)
            });
            hop.settle(&mut |back, ns| watch.hop(names, back, ns));
        }
    }

    fn intern(&mut self, names: &[Vec<u8>; 2]) -> [u32; 2] {
        [&names[0], &names[1]].map(|name| {
            if let Some(at) = self.party_places.get(name) {
                return *at;
            }
            if self.parties.len() >= PARTIES_MAX {
                return u32::MAX;
            }
            let at = self.parties.len() as u32;
            self.parties.push(name.clone());
            self.party_places.insert(name.clone(), at);
            at
        })
    }

    fn event(&mut self, batch: &Batch, at: usize, watch: &mut dyn Watch) {
        let Some(event) = batch.part.events.get(at) else {
            return;
        };
        let parties = batch.parties.get(event.session as usize).copied();
        let parties = parties.unwrap_or([u32::MAX; 2]);
        self.messages += 1;
        if let Some(sent) = event.sent_ns {
            self.now_ns = self.now_ns.max(sent);
        }
        self.let_go(watch);
        if parties.contains(&u32::MAX) {
            self.unfollowed += 1;
            return;
        }
        let fields = batch.part.fields(event);
        let keys = Keys::of(parties, event, fields);
        let Some(slot) = self.slot_of(&keys, event, parties, fields, watch) else {
            return;
        };
        let step = Step {
            kind: event.kind,
            sent_ns: event.sent_ns,
            sender: parties[0],
            target: parties[1],
            number: event.number,
            log: batch.log,
            offset: event.offset,
            line: event.line,
            fields: fields.into(),
        };
        self.step(slot, step, watch);
    }

    /// The order that a message is about; a new one, if it begins one or is about none that is known.
    fn slot_of(
        &mut self,
        keys: &Keys,
        event: &Event,
        parties: [u32; 2],
        fields: &[u8],
        watch: &mut dyn Watch,
    ) -> Option<u32> {
        let is_reject = matches!(event.kind, StepKind::Reject | StepKind::BusinessReject);
        let known = keys.known().find_map(|key| self.slots.get(&key).copied());
        if let Some(slot) = known {
            let open = self.lives.get_mut(slot as usize)?.as_mut()?;
            let is_same = |step: &Step| {
                event.number > 0
                    && step.number == event.number
                    && [step.sender, step.target] == parties
                    && step.kind == event.kind
            };
            if open.life.steps.iter().any(is_same) {
                self.repeated += 1;
                return None;
            }
            if event.kind == StepKind::New {
                // An id of an order that has ended is free again.
                if open.life.state.is_end() {
                    self.remove(slot, watch);
                    return self.create(keys, event, parties, fields, watch);
                }
                open.life.reused += 1;
            }
            self.find_under(slot, keys);
            return Some(slot);
        }
        // A reject may be of a message of any other kind.
        if is_reject {
            return None;
        }
        self.create(keys, event, parties, fields, watch)
    }

    fn create(
        &mut self,
        keys: &Keys,
        event: &Event,
        parties: [u32; 2],
        fields: &[u8],
        watch: &mut dyn Watch,
    ) -> Option<u32> {
        let used = self.lives.len() - self.free.len();
        if used >= LIVES_MAX {
            self.unfollowed += 1;
            return None;
        }
        self.open_most = self.open_most.max(used + 1);
        let number = self.next;
        self.next += 1;
        let mut open = Open::new(number, event.kind, event.sent_ns, parties);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.lives.push(None);
            self.lives.len() as u32 - 1
        });
        if event.kind == StepKind::New {
            let relayed = [11, 526].into_iter().find_map(|tag| {
                let id = value(fields, tag)?;
                self.slots.get(&key(RELAY, [parties[0]; 2], id)).copied()
            });
            if let Some(above) = relayed
                && above != slot
                && let Some(Some(upstream)) = self.lives.get_mut(above as usize)
            {
                open.life.upstream = Some(upstream.life.number);
                upstream.downstream = Some((slot, number));
                upstream.life.downstream = Some(number);
                if let (Some(there), Some(here)) = (upstream.new_ns, open.new_ns) {
                    let parties = upstream.parties;
                    self.hop(parties, false, here.saturating_sub(there), watch);
                }
            }
        }
        // A log whose clock is ahead may have told of the session below before.
        let below = value(fields, 11)
            .filter(|_| event.kind == StepKind::New)
            .and_then(|id| self.slots.get(&key(SENT, [parties[1]; 2], id)).copied());
        if let Some(below) = below
            && let Some(Some(downstream)) = self.lives.get_mut(below as usize)
            && downstream.life.upstream.is_none()
            && downstream.parties[0] == parties[1]
        {
            downstream.life.upstream = Some(number);
            open.downstream = Some((below, downstream.life.number));
            open.life.downstream = Some(downstream.life.number);
            if let (Some(there), Some(here)) = (open.new_ns, downstream.new_ns) {
                self.hop(parties, false, here.saturating_sub(there), watch);
            }
        }
        if let Some(place) = self.lives.get_mut(slot as usize) {
            *place = Some(open);
        }
        self.find_under(slot, keys);
        Some(slot)
    }

    /// Makes an order be found under further keys.
    fn find_under(&mut self, slot: u32, keys: &Keys) {
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        for key in keys.all() {
            // What another order is found under stays with it.
            let mut is_new = false;
            self.slots.entry(key).or_insert_with(|| {
                is_new = true;
                slot
            });
            if is_new {
                open.keys.push(key);
            }
        }
    }

    fn step(&mut self, slot: u32, step: Step, watch: &mut dyn Watch) {
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        let told = open.tell(&step);
        let sent = step.sent_ns;
        // The party below answers first; what is sent up is because of that.
        let (parties, below, new_ns) = (open.parties, open.downstream, open.new_ns);
        let number = open.life.number;
        let cause = below.and_then(|below| self.cause(below, &step));
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        if open.life.steps.len() >= STEPS_MAX {
            open.life.steps.pop();
            open.life.left_out += 1;
        }
        open.life.steps.push(step);
        for (wait, ns) in told.waits {
            match u64::try_from(ns) {
                Ok(ns) => watch.wait(wait, ns, &open.life),
                Err(_) => *self.early.entry(wait).or_default() += 1,
            }
        }
        if told.ends {
            let end_ns = sent.unwrap_or(self.now_ns).max(self.now_ns);
            open.end_ns = Some(end_ns);
            self.ended.push_back((end_ns, slot, number));
        }
        match (below, cause, new_ns, sent) {
            (None, _, Some(from), Some(to)) if told.is_first_answer => {
                self.hop(parties, false, to.saturating_sub(from), watch);
            }
            (_, Some((hop, from)), _, Some(to)) => {
                self.hop(hop, true, to.saturating_sub(from), watch);
            }
            _ => {}
        }
    }

    /// The message of the session below that an execution was sent up for: the hop and its time.
    fn cause(&self, (slot, number): (u32, u64), step: &Step) -> Option<([u32; 2], i64)> {
        let below = self.lives.get(slot as usize)?.as_ref()?;
        if below.life.number != number || step.kind.is_request() {
            return None;
        }
        let id = step.get(17);
        let is_same = |other: &&Step| match id {
            Some(id) => other.get(17) == Some(id),
            None => other.kind == step.kind && other.get(14) == step.get(14),
        };
        let mut steps = below.life.steps.iter().rev();
        let found = steps.find(|other| !other.kind.is_request() && is_same(other))?;
        Some((below.parties, found.sent_ns?))
    }

    fn hop(&mut self, parties: [u32; 2], back: bool, ns: i64, watch: &mut dyn Watch) {
        let names = parties.map(|party| {
            self.parties
                .get(party as usize)
                .map_or(&b""[..], Vec::as_slice)
        });
        let hop = self.hops.entry(parties).or_default();
        hop.add(back, ns, &mut |back, ns| watch.hop(names, back, ns));
    }

    /// Passes on the orders that ended long enough ago.
    fn let_go(&mut self, watch: &mut dyn Watch) {
        while let Some((end_ns, slot, number)) = self.ended.front().copied()
            && end_ns.saturating_add(KEPT_NS) <= self.now_ns
        {
            self.ended.pop_front();
            let open = self.lives.get(slot as usize).and_then(Option::as_ref);
            let is_it = open.is_some_and(|open| {
                open.life.number == number
                    && open.end_ns == Some(end_ns)
                    && open.life.state.is_end()
            });
            if is_it {
                self.remove(slot, watch);
            }
        }
    }

    fn remove(&mut self, slot: u32, watch: &mut dyn Watch) {
        let open = self.lives.get_mut(slot as usize).and_then(Option::take);
        let Some(open) = open else {
            return;
        };
        for key in &open.keys {
            self.slots.remove(key);
        }
        self.free.push(slot);
        watch.life(&open.life, &self.parties);
    }
}
