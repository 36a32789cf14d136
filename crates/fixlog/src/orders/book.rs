//! The orders that are not at their end, and what becomes of them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::back::{Back, Restarts, Times};
use super::batch::{Batch, Merge};
use super::hop::{Hop, HopCount};
use super::keys::Keys;
use super::life::{Step, StepKind};
use super::open::Open;
use super::slots::Slots;
use super::wait::{Wait, Watch};

/// Orders that are followed at once: beyond them, new ones are only counted.
const LIVES_MAX: usize = 1 << 22;
/// Parties that are told apart.
const PARTIES_MAX: usize = 1 << 16;
/// Ended orders that were passed on stay known for what comes late, up to so many bytes.
const ENDED_BYTES_MAX: usize = 256 << 20;
/// Messages of an order that are kept.
const STEPS_MAX: usize = 256;

/// Follows orders from their first message to the last: by ClOrdID (11), OrigClOrdID (41) and OrderID (37) on
/// each session, and from one session to the next, where the target of an order sends it on with the same
/// ClOrdID, or with that as SecondaryClOrdID (526).
///
/// An order is passed on a minute of the logs after its end. It stays known for messages that come later, such as the
/// cancel of a trade: then it is passed on once more, as [`Life::again`](super::Life::again) says. So many ended orders
/// stay known as 256 MiB hold. Beyond them, memory grows with the orders that are open, not with the logs.
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
    pub(super) parties: Vec<Vec<u8>>,
    party_places: HashMap<Vec<u8>, u32>,
    pub(super) lives: Vec<Option<Open>>,
    pub(super) free: Vec<u32>,
    pub(super) slots: Slots,
    next: u64,
    pub(super) now_ns: i64,
    pub(super) ended: VecDeque<(i64, u32, u64)>,
    /// Ended orders that were passed on: place, number and how often.
    pub(super) told: VecDeque<(u32, u64, u32)>,
    pub(super) told_orders: usize,
    pub(super) told_bytes: usize,
    pub(super) told_bytes_max: usize,
    pub(super) forgotten: u64,
    restarts: Restarts,
    times: Times,
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
            told_bytes_max: ENDED_BYTES_MAX,
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

    /// How many ended orders are no longer known, because there were too many: what comes late cannot reach them.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Where times go back first: a log that was put together in another order than that of time, or twice.
    #[must_use]
    pub fn back(&self) -> Option<&Back> {
        self.times.back()
    }

    /// The most orders that were open, or ended within a minute, at once.
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
                let sessions = batch.part.sessions.names().iter();
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
        let left = self.lives.drain(..).flatten();
        let mut left: Vec<_> = left.filter(|open| !open.is_told).collect();
        left.sort_by_key(|open| open.life.number);
        for open in left {
            watch.life(&open.life, &self.parties);
        }
        self.slots.clear();
        self.free.clear();
        self.ended.clear();
        self.told.clear();
        (self.told_orders, self.told_bytes) = (0, 0);
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
        if event.restarts {
            return self.restarts.add(parties, event.sent_ns);
        }
        self.messages += 1;
        if let Some(sent) = event.sent_ns {
            self.now_ns = self.now_ns.max(sent);
        }
        self.let_go(watch);
        if parties.contains(&u32::MAX) {
            self.unfollowed += 1;
            return;
        }
        self.times.add(batch.log, parties[0], event);
        let fields = batch.part.fields(event);
        let keys = Keys::of(parties, event, fields, self.restarts.of(parties));
        let step = Step {
            kind: event.kind,
            sent_ns: event.sent_ns,
            sender: parties[0],
            target: parties[1],
            number: event.number,
            log: batch.log,
            offset: event.offset,
            line: event.line,
            is_copy: event.is_copy,
            original_ns: event.original_ns,
            is_late: false,
            fields: fields.into(),
        };
        if self.is_repeated(&keys, &step) {
            self.repeated += 1;
            return;
        }
        match event.kind {
            StepKind::Reject | StepKind::BusinessReject => {
                for slot in self.rejected(&keys, event.about, &step) {
                    self.step(slot, step.clone(), watch);
                }
            }
            kind => {
                let found = match kind {
                    StepKind::New => self.begun(&keys, &step),
                    kind if kind.is_request() => self.requested(&keys, kind),
                    _ => self.answered(&keys, &step),
                };
                let names = kind.is_request() || found.is_none();
                let may_begin = !matches!(kind, StepKind::StatusRequest | StepKind::DontKnow);
                let slot = match found {
                    None if may_begin => self.create(&keys, &step, watch),
                    found => found,
                };
                if let Some(slot) = slot {
                    self.slots.share(slot, &mut self.lives, &keys, names);
                    self.step(slot, step, watch);
                }
            }
        }
    }

    fn create(&mut self, keys: &Keys, step: &Step, watch: &mut dyn Watch) -> Option<u32> {
        let used = self.lives.len() - self.free.len() - self.told_orders;
        if used >= LIVES_MAX {
            self.unfollowed += 1;
            return None;
        }
        self.open_most = self.open_most.max(used + 1);
        let number = self.next;
        self.next += 1;
        let mut open = Open::new(number, step.kind, step.sent_ns, [step.sender, step.target]);
        open.life.may_be_forgotten = open.life.is_orphan && self.forgotten > 0;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.lives.push(None);
            self.lives.len() as u32 - 1
        });
        if step.kind == StepKind::New {
            self.link_above(slot, &mut open, step, watch);
            // A log whose clock is ahead may have told of the session below before.
            self.link_below(&mut open, keys, step, watch);
        }
        if let Some(place) = self.lives.get_mut(slot as usize) {
            *place = Some(open);
        }
        Some(slot)
    }

    fn step(&mut self, slot: u32, mut step: Step, watch: &mut dyn Watch) {
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        step.is_late = open.is_late(&step);
        let was_told = open.is_told;
        if was_told {
            open.life.again = Some(open.life.state);
            open.is_told = false;
            self.told_orders -= 1;
            self.told_bytes -= std::mem::take(&mut open.bytes);
        }
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
        match told.begins {
            // The log of another party had the answers first.
            true => open.life.steps.insert(0, step),
            false => open.life.steps.push(step),
        }
        for (wait, ns) in told.waits {
            match u64::try_from(ns) {
                Ok(ns) => watch.wait(wait, ns, &open.life),
                Err(_) => *self.early.entry(wait).or_default() += 1,
            }
        }
        if told.ends || (was_told && open.life.state.is_end()) {
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

    pub(super) fn hop(&mut self, parties: [u32; 2], back: bool, ns: i64, watch: &mut dyn Watch) {
        let names = parties.map(|party| {
            self.parties
                .get(party as usize)
                .map_or(&b""[..], Vec::as_slice)
        });
        let hop = self.hops.entry(parties).or_default();
        hop.add(back, ns, &mut |back, ns| watch.hop(names, back, ns));
    }
}
