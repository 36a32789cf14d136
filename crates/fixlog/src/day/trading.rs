//! The day: orders as they come, messages in the order of time, and what each party logs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::fate::Story;
use super::files::DayLog;
use super::post::{Letter, Numbers, Party, bytes};
use super::truth::{Outage, Truth};

/// When trading opens and closes.
const OPEN_NS: u64 = 8 * 3_600_000_000_000;
const CLOSE_NS: u64 = 16 * 3_600_000_000_000 + 1_800_000_000_000;
/// The connection between gateway and router is gone for a while from 14:02 on.
const OUTAGE_NS: u64 = 14 * 3_600_000_000_000 + 120_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// What happens at some time.
#[derive(Debug)]
enum Happening {
    /// A client sends the next order.
    Order,
    Sent(Letter),
    /// A message arrives, whose bytes are logged.
    There(Party, Vec<u8>),
    /// The connection that was gone comes back.
    Back,
}

/// A trading day: the same seed gives the same bytes everywhere.
///
/// ```
/// use fixlog::day::Day;
///
/// let (mut lines, mut states) = (0, Vec::new());
/// Day::new(7, 50).run(
///     |_, line| {
///         assert!(line.ends_with(b"\n"));
///         lines += 1;
///         Ok::<(), std::io::Error>(())
///     },
///     |truth| {
///         states.push(truth.state);
///         Ok(())
///     },
/// )?;
/// assert_eq!(states.len(), 50);
/// assert!(lines > 500 && states.contains(&"filled"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Day {
    random: SplitMix64,
    orders: u64,
    clients: u32,
}

/// What is still to come of a day, by time.
#[derive(Debug, Default)]
struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    slots: std::collections::HashMap<u64, Happening>,
    next: u64,
}

impl Agenda {
    fn push(&mut self, at_ns: u64, happening: Happening) {
        // Of equal times, what was put there first comes first.
        self.heap.push(Reverse((at_ns, self.next)));
        self.slots.insert(self.next, happening);
        self.next += 1;
    }

    fn pop(&mut self) -> Option<(u64, Happening)> {
        let Reverse((at_ns, number)) = self.heap.pop()?;
        Some((at_ns, self.slots.remove(&number)?))
    }
}

impl Day {
    /// A day of this many orders of 12 clients.
    #[must_use]
    pub fn new(seed: u64, orders: u64) -> Self {
        Self {
            random: SplitMix64::seed_from_u64(seed),
            orders,
            clients: 12,
        }
    }

    /// Writes the day: `line` gets each line of each log, with a time before the message, and `truth` what
    /// becomes of each order.
    ///
    /// # Errors
    /// Those of `line` and `truth`.
    pub fn run<E>(
        mut self,
        mut line: impl FnMut(DayLog, &[u8]) -> Result<(), E>,
        mut truth: impl FnMut(&Truth) -> Result<(), E>,
    ) -> Result<(), E> {
        let outage = Outage {
            from_ns: OUTAGE_NS,
            to_ns: OUTAGE_NS + 5 * SECOND_NS,
            resent_ns: OUTAGE_NS + 6 * SECOND_NS,
        };
        let (mut agenda, mut numbers) = (Agenda::default(), Numbers::default());
        let apart = (CLOSE_NS - OPEN_NS) / self.orders.max(1);
        let (mut order, mut text) = (0, Vec::new());
        let mut lost: Vec<(u64, u64, Letter)> = Vec::new();
        let mut log = |party: Party, at_ns: u64, bytes: &[u8]| {
            let Some(log) = party.log() else {
                return Ok(());
            };
            text.clear();
            text.extend_from_slice(party.time(at_ns).as_bytes());
            text.extend_from_slice(b" : ");
            text.extend_from_slice(bytes);
            text.push(b'\n');
            line(log, &text)
        };
        if self.orders > 0 {
            agenda.push(OPEN_NS, Happening::Order);
        }
        agenda.push(outage.resent_ns - SECOND_NS / 2, Happening::Back);
        while let Some((at_ns, happening)) = agenda.pop() {
            match happening {
                Happening::Order => {
                    let (letters, told) = Story::tell(
                        &mut self.random,
                        outage,
                        order,
                        self.clients,
                        at_ns,
                        CLOSE_NS,
                    );
                    truth(&told)?;
                    for (at_ns, letter) in letters {
                        agenda.push(at_ns, Happening::Sent(letter));
                    }
                    order += 1;
                    if order < self.orders {
                        let next = self.random.next_u64() % (2 * apart).max(1);
                        agenda.push((at_ns + next).min(CLOSE_NS - 1), Happening::Order);
                    }
                }
                Happening::Sent(letter) => {
                    let (number, bytes) = numbers.write(&letter, at_ns);
                    log(letter.from, at_ns, &bytes)?;
                    match letter.is_lost {
                        true => lost.push((number, at_ns, letter)),
                        false => agenda.push(letter.there_ns, Happening::There(letter.to, bytes)),
                    }
                }
                Happening::There(party, bytes) => log(party, at_ns, &bytes)?,
                Happening::Back => {
                    // Both log on, ask for what they lack, and send it again.
                    for (from, to) in [(Party::Gate, Party::Router), (Party::Router, Party::Gate)] {
                        let plain = |msg_type, body: String, there_ns| Letter {
                            from,
                            to,
                            msg_type,
                            body,
                            there_ns,
                            is_lost: false,
                        };
                        let way = 200_000;
                        let logon = plain("A", "98=0\x01108=30\x01".to_owned(), at_ns + way);
                        agenda.push(at_ns, Happening::Sent(logon));
                        let of_other = |lost: &&(u64, u64, Letter)| lost.2.from == to;
                        let first = lost.iter().find(of_other).map(|lost| lost.0);
                        if let Some(first) = first {
                            let body =
                                format!("7={first}\x0116={}\x01", numbers.next(to, from) - 1);
                            let asked = at_ns + SECOND_NS / 10;
                            let request = plain("2", body, asked + way);
                            agenda.push(asked, Happening::Sent(request));
                        }
                    }
                    for (number, before, letter) in lost.drain(..) {
                        let again = bytes(&letter, number, outage.resent_ns, Some(before));
                        // The sender logs what it sends, the target what it gets.
                        agenda.push(
                            outage.resent_ns,
                            Happening::There(letter.from, again.clone()),
                        );
                        agenda.push(letter.there_ns, Happening::There(letter.to, again));
                    }
                }
            }
        }
        Ok(())
    }
}
