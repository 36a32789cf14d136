//! The orders that are not at their end, and what becomes of them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::back::{Back, Restarts, Times};
use super::batch::Merge;
use super::hop::{Hop, HopCount};
use super::open::Open;
use super::slots::Slots;
use super::wait::{Wait, Watch};
use super::window::{Unordered, Window};

/// Parties that are told apart.
const PARTIES_MAX: usize = 1 << 16;
/// Ended orders that were passed on stay known for what comes late, up to so many bytes.
const ENDED_BYTES_MAX: usize = 256 << 20;

/// Follows orders from their first message to the last: by ClOrdID (11), OrigClOrdID (41) and OrderID (37) on
/// each session, and from one session to the next, where the target of an order sends it on with the same
/// ClOrdID, or with that as SecondaryClOrdID (526).
///
/// Messages are held until 1,024 came after them, or one that is two seconds later: as far, what a log has in another
/// order than that in which it was sent is put in its place.
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
    pub(super) next: u64,
    pub(super) now_ns: i64,
    pub(super) ended: VecDeque<(i64, u32, u64)>,
    /// Ended orders that were passed on: place, number and how often.
    pub(super) told: VecDeque<(u32, u64, u32)>,
    pub(super) told_orders: usize,
    pub(super) told_bytes: usize,
    pub(super) told_bytes_max: usize,
    pub(super) forgotten: u64,
    pub(super) window: Window,
    pub(super) unordered: Unordered,
    pub(super) restarts: Restarts,
    pub(super) times: Times,
    pub(super) hops: BTreeMap<[u32; 2], Hop>,
    pub(super) early: BTreeMap<Wait, u64>,
    pub(super) messages: u64,
    pub(super) repeated: u64,
    pub(super) drop_copies: u64,
    pub(super) unfollowed: u64,
    pub(super) open_most: usize,
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

    /// How many executions are copies for another session (drop copies) of those of an order in the logs.
    #[must_use]
    pub fn drop_copies(&self) -> u64 {
        self.drop_copies
    }

    /// Where logs have messages in another order than that in which they were sent; `None` if that is nowhere.
    #[must_use]
    pub fn unordered(&self) -> Option<&Unordered> {
        let is_somewhere = self.unordered.moved + self.unordered.far > 0;
        is_somewhere.then_some(&self.unordered)
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

    /// The name of a party of a [`Step`](super::Step).
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
            self.arrive(batch, at, watch);
            if at + 1 == batch.part.events.len() {
                merge.sweep();
            }
        }
    }

    /// Passes on all orders that are left, in the order of their first messages.
    pub fn finish(&mut self, watch: &mut dyn Watch) {
        while let Some(held) = self.window.rest() {
            self.follow(held, true, watch);
        }
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
}
