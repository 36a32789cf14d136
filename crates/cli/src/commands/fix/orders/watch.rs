//! What is gathered while orders are followed: counts, times, the slowest, and those that are asked for.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use files::output::Output;
use fixlog::health::without_digits;
use fixlog::orders::{Life, LifeLines, State, Wait, Watch};
use latency::Recorder;

use super::chains::Chains;
use super::flags::Listed;
use crate::commands::fix::conclude::write_out;
use crate::commands::stop::Stop;

/// Hops whose times are distributions of their own.
const HOPS_MAX: usize = 64;
/// Reasons of rejects that are told apart, and characters of each.
const REASONS_MAX: usize = 4096;
const REASON_CHARS_MAX: usize = 120;
/// Orders that are held because a later one may be the same order on another session.
const HELD: usize = 1 << 16;

/// What is written of orders.
pub(super) enum Wanted<'a> {
    Nothing,
    Listed(&'a [Listed]),
    /// The same over all sessions, with those of which some session is still to come.
    Chains(&'a [Listed], Box<Chains>),
    /// Those with an id: as timelines, or as lines of JSON of those that are listed.
    Ids(&'a [String], Option<Form<'a>>),
}

/// Lines of JSON of orders that were asked for.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) listed: &'a [Listed],
    /// A line per order over all sessions.
    pub(super) chains: bool,
}

/// One of the slowest orders.
pub(super) struct Slow {
    pub(super) ns: u64,
    pub(super) id: String,
    pub(super) sent_ns: Option<i64>,
    pub(super) log: usize,
    pub(super) line: Option<u64>,
}

/// Orders with a reason of a reject.
pub(super) struct Reason {
    pub(super) orders: u64,
    /// What the first of them says.
    pub(super) text: String,
    pub(super) id: String,
    pub(super) log: usize,
    pub(super) line: Option<u64>,
}

/// A recorder for times of an operation and a series.
type NewRecorder<'a> = Box<dyn Fn(&str, &str) -> Recorder + 'a>;

/// Gathers what the report has.
pub(super) struct Watcher<'a> {
    wanted: Wanted<'a>,
    /// How many orders are named as the slowest of each kind.
    named: usize,
    lines: LifeLines<'a>,
    text: Vec<u8>,
    out: Output,
    recorder: NewRecorder<'a>,
    pub(super) written: u64,
    /// On each session.
    pub(super) states: BTreeMap<State, u64>,
    /// On the first session: as whoever sent the order sees it.
    pub(super) first_states: BTreeMap<State, u64>,
    /// Orders of which messages came long after their end.
    pub(super) again: u64,
    pub(super) orphans: u64,
    pub(super) reused: u64,
    pub(super) relayed: u64,
    /// Whether the order was sent on from another session, too.
    pub(super) waits: BTreeMap<(bool, Wait), Recorder>,
    pub(super) hops: BTreeMap<(Vec<u8>, Vec<u8>, bool), Recorder>,
    pub(super) slowest: BTreeMap<(bool, Wait), Vec<Slow>>,
    /// By the text without its numbers.
    pub(super) reasons: HashMap<Vec<u8>, Reason>,
    /// Orders that were asked for, and those that may belong to them.
    found: Vec<Life>,
    found_numbers: HashSet<u64>,
    held: VecDeque<Life>,
    parties: Vec<Vec<u8>>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(
        wanted: Wanted<'a>,
        named: usize,
        lines: LifeLines<'a>,
        out: Output,
        recorder: impl Fn(&str, &str) -> Recorder + 'a,
    ) -> Self {
        Self {
            wanted,
            named,
            lines,
            text: Vec::new(),
            out,
            recorder: Box::new(recorder),
            written: 0,
            states: BTreeMap::new(),
            first_states: BTreeMap::new(),
            again: 0,
            orphans: 0,
            reused: 0,
            relayed: 0,
            waits: BTreeMap::new(),
            hops: BTreeMap::new(),
            slowest: BTreeMap::new(),
            reasons: HashMap::new(),
            found: Vec::new(),
            found_numbers: HashSet::new(),
            held: VecDeque::new(),
            parties: Vec::new(),
        }
    }

    /// Writes what there is.
    pub(super) fn flush(&mut self) -> Result<(), Stop> {
        if !self.text.is_empty() {
            self.written += write_out(&mut self.out, &self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes the orders of which something is missing, at the end.
    pub(super) fn rest(&mut self, parties: &[Vec<u8>]) {
        if let Wanted::Chains(listed, chains) = &mut self.wanted {
            while let Some(lives) = chains.rest() {
                let lives: Vec<_> = lives.iter().collect();
                chain(self.lines, listed, &lives, &mut self.text, parties);
            }
        }
    }

    /// Writes the orders that were asked for; how many of the ids were not found.
    pub(super) fn timelines(&mut self, clocks: &[i64]) -> Result<Vec<String>, Stop> {
        let Wanted::Ids(ids, form) = &self.wanted else {
            return Ok(Vec::new());
        };
        let (ids, form) = (*ids, *form);
        let mut missing = Vec::new();
        for id in ids {
            let mut numbers: HashSet<u64> = HashSet::new();
            for life in self.found.iter().filter(|life| life.has_id(id.as_bytes())) {
                numbers.insert(life.number);
            }
            let both = || self.found.iter().chain(&self.held);
            spread(&mut numbers, both);
            let all = self.found.iter().chain(&self.held);
            let mut lives: Vec<&Life> = all.filter(|life| numbers.contains(&life.number)).collect();
            lives.sort_by_key(|life| life.number);
            if lives.is_empty() {
                missing.push(id.clone());
            }
            // Different orders with one id: those that hang together are one timeline.
            while let Some(first) = lives.first().map(|life| life.number) {
                let mut chain = HashSet::from([first]);
                spread(&mut chain, || lives.iter().copied());
                let (one, rest): (Vec<_>, Vec<_>) = lives
                    .into_iter()
                    .partition(|life| chain.contains(&life.number));
                let (lines, text, parties) = (self.lines, &mut self.text, &self.parties);
                match form {
                    None => lines.timeline(text, &one, parties, clocks),
                    Some(form) => json(lines, form, &one, text, parties),
                }
                lives = rest;
            }
        }
        self.flush()?;
        Ok(missing)
    }
}

/// Writes an order, if it is listed.
fn chain(
    lines: LifeLines<'_>,
    listed: &[Listed],
    lives: &[&Life],
    text: &mut Vec<u8>,
    parties: &[Vec<u8>],
) {
    let is_listed = |first: &&Life| listed.iter().any(|listed| listed.has(first));
    if lives.first().is_some_and(is_listed) {
        lines.chain(text, lives, parties);
    }
}

/// Writes what is listed of an order that was asked for.
fn json(
    lines: LifeLines<'_>,
    form: Form<'_>,
    lives: &[&Life],
    text: &mut Vec<u8>,
    parties: &[Vec<u8>],
) {
    if form.chains {
        return chain(lines, form.listed, lives, text, parties);
    }
    for life in lives {
        if form.listed.iter().any(|listed| listed.has(life)) {
            lines.json(text, life, parties);
        }
    }
}

/// Adds the same orders on other sessions, up and down.
fn spread<'l, I: Iterator<Item = &'l Life>>(numbers: &mut HashSet<u64>, lives: impl Fn() -> I) {
    loop {
        let before = numbers.len();
        for life in lives() {
            let Some(above) = life.upstream else {
                continue;
            };
            if numbers.contains(&above) {
                numbers.insert(life.number);
            } else if numbers.contains(&life.number) {
                numbers.insert(above);
            }
        }
        if numbers.len() == before {
            return;
        }
    }
}

impl Watcher<'_> {
    /// Counts an order once, by what it is at last.
    fn count(&mut self, life: &Life) {
        let is_first = life.upstream.is_none();
        tally(&mut self.states, life);
        if is_first {
            tally(&mut self.first_states, life);
        }
        if life.again.is_none() {
            self.orphans += u64::from(life.is_orphan);
            self.reused += u64::from(life.reused > 0);
            self.relayed += u64::from(!is_first);
        }
        self.again += u64::from(life.again.is_some());
        if life.again.is_some() && life.was_orphan && !life.is_orphan {
            self.orphans = self.orphans.saturating_sub(1);
        }
        if life.state != State::Rejected || life.again == Some(State::Rejected) {
            return;
        }
        let Some(step) = life.steps.iter().rev().find(|step| !step.kind.is_request()) else {
            return;
        };
        let text = match (step.get(58).filter(|text| !text.is_empty()), step.reason()) {
            (Some(text), _) => String::from_utf8_lossy(text).into_owned(),
            (None, Some(reason)) => reason.to_string(),
            (None, None) => "(no text)".to_owned(),
        };
        let text = match text.char_indices().nth(REASON_CHARS_MAX) {
            Some((end, _)) => format!("{}\u{2026}", &text[..end]),
            None => text,
        };
        // The text of a code differs by the code; ids in what a party wrote differ from order to order.
        let is_written = step.get(58).is_some_and(|text| !text.is_empty());
        let key = match is_written {
            true => without_digits(text.as_bytes()),
            false => text.clone().into_bytes(),
        };
        let room = self.reasons.len() < REASONS_MAX;
        match self.reasons.get_mut(&key) {
            Some(reason) => reason.orders += 1,
            None if room => {
                let reason = Reason {
                    orders: 1,
                    text,
                    id: String::from_utf8_lossy(life.id()).into_owned(),
                    log: step.log,
                    line: step.line,
                };
                self.reasons.insert(key, reason);
            }
            None => {}
        }
    }
}

/// The name of a time, by whether the order was sent on from another session.
pub(super) fn wait_name((sent_on, wait): (bool, Wait)) -> String {
    match sent_on {
        false => wait.name().to_owned(),
        true => format!("{}, sent on", wait.name()),
    }
}

/// Counts the state of an order, in place of the one that it was counted with before.
fn tally(states: &mut BTreeMap<State, u64>, life: &Life) {
    *states.entry(life.state).or_default() += 1;
    if let Some(before) = life.again.and_then(|before| states.get_mut(&before)) {
        *before = before.saturating_sub(1);
    }
}

/// Puts an order in the place of what was known of it before.
fn renew<'l>(mut held: impl Iterator<Item = &'l mut Life>, life: &Life) -> bool {
    if life.again.is_none() {
        return false;
    }
    let before = held.find(|held| held.number == life.number);
    before.map(|before| *before = life.clone()).is_some()
}

impl Watch for Watcher<'_> {
    fn life(&mut self, life: &Life, parties: &[Vec<u8>]) {
        self.count(life);
        match &mut self.wanted {
            Wanted::Nothing => {}
            Wanted::Chains(listed, chains) => {
                if let Some(whole) = chains.add(life) {
                    let whole: Vec<_> = whole.iter().collect();
                    chain(self.lines, listed, &whole, &mut self.text, parties);
                }
            }
            Wanted::Listed(listed) => {
                // What was written before is corrected, whatever the order is now.
                let is_one = |listed: &Listed| {
                    listed.has(life)
                        || life.again.is_some_and(|state| listed.is(state))
                        || (life.was_orphan && *listed == Listed::Orphan)
                };
                if listed.iter().any(is_one) {
                    self.lines.json(&mut self.text, life, parties);
                }
            }
            Wanted::Ids(ids, _) => {
                let is_one = ids.iter().any(|id| life.has_id(id.as_bytes()));
                let is_below = life
                    .upstream
                    .is_some_and(|above| self.found_numbers.contains(&above));
                let both = self.found.iter_mut().chain(&mut self.held);
                if renew(both, life) {
                    return;
                }
                if is_one || is_below {
                    self.found_numbers.insert(life.number);
                    self.found.push(life.clone());
                    self.parties = parties.to_vec();
                    return;
                }
                if self.held.len() == HELD {
                    self.held.pop_front();
                }
                self.held.push_back(life.clone());
            }
        }
    }

    fn wait(&mut self, wait: Wait, ns: u64, life: &Life) {
        let recorder = &self.recorder;
        let key = (life.upstream.is_some(), wait);
        self.waits
            .entry(key)
            .or_insert_with(|| recorder("order", &wait_name(key)))
            .record_ns(ns);
        let slowest = self.slowest.entry(key).or_default();
        if slowest.len() >= self.named && slowest.last().is_some_and(|last| last.ns >= ns) {
            return;
        }
        let Some(step) = life.steps.first() else {
            return;
        };
        let at = slowest.partition_point(|slow| slow.ns >= ns);
        let slow = Slow {
            ns,
            id: String::from_utf8_lossy(life.id()).into_owned(),
            sent_ns: step.sent_ns,
            log: step.log,
            line: step.line,
        };
        slowest.insert(at, slow);
        slowest.truncate(self.named);
    }

    fn hop(&mut self, [from, to]: [&[u8]; 2], back: bool, ns: u64) {
        let key = (from.to_vec(), to.to_vec(), back);
        if self.hops.len() >= HOPS_MAX && !self.hops.contains_key(&key) {
            return;
        }
        let recorder = &self.recorder;
        let hop = self.hops.entry(key).or_insert_with(|| {
            let [from, to] = match back {
                false => [from, to],
                true => [to, from],
            };
            let series = format!("{} → {}", from.escape_ascii(), to.escape_ascii());
            recorder("message", &series)
        });
        hop.record_ns(ns);
    }
}
