//! Many events at once: lockstep expressions are evaluated for 2,048 events by each instruction, one bit per
//! event. Expressions that the index finds by access clauses are searched event by event.

mod compile;

use compile::Code;

use crate::SubscriptionId;
use crate::budget::{Budget, Progress};
use crate::code::Head;
use crate::error::{Error, ErrorKind, Result};
use crate::eval;
use crate::event::Event;
use crate::program::estimate::Estimates;
use crate::search::{Buffers, Output, Paused, Search};
use crate::simd::{self, EVENTS_MAX, Isa, LANES, Slice, WAITING, WORDS};
use crate::snapshot::Snapshot;
use crate::state::Part;

/// Reductions of one step of the code over all events.
const STEP_REDUCTIONS: u64 = 2;
/// Reductions of transposing the outcomes of a block, for 64 events.
const TURN_REDUCTIONS: u64 = 16;

/// Searches many events at once. Holds the memory for it: 256 bytes per expression and some 130 KiB.
///
/// ```
/// use betree::{BeTree, Budget, Constants, Domain, Expression, Progress, SubscriptionId, Undefined};
///
/// let mut tree = BeTree::new(Domain::parse("a|boolean|false\n")?, Undefined::False);
/// tree.insert(SubscriptionId(9), &Expression::parse("not a")?, &Constants::default())?;
/// let snapshot = tree.snapshot();
/// let events = [snapshot.event(r#"{"a":true}"#)?, snapshot.event(r#"{"a":false}"#)?];
///
/// let mut batch = snapshot.batch();
/// let mut search = batch.search(&events)?;
/// while search.step(Budget::reductions(2_000)) == Progress::Yielded {}
/// let mut ids = Vec::new();
/// batch.ids(1, &mut ids);
/// assert_eq!((batch.count(0), ids.as_slice()), (0, &[SubscriptionId(9)][..]));
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    snapshot: Snapshot,
    codes: Vec<Code>,
    /// For each test, and for its negation, the events for which it is true; then the rows that steps store.
    rows: Vec<Slice>,
    /// Outcomes of a block, by lane.
    block: Vec<Slice>,
    /// For each event the bits of all parts.
    found: Vec<u64>,
    /// Where the words of a part begin, and the words of an event.
    starts: Vec<usize>,
    words: usize,
    buffers: Buffers,
}

impl Snapshot {
    /// Prepares searches of many events at once. Takes about as long as compiling the lockstep expressions.
    #[must_use]
    pub fn batch(&self) -> Batch {
        self.batch_with(Isa::detect())
    }

    /// The same with a given instruction set; without it on this processor, plain code runs.
    #[must_use]
    pub fn batch_with(&self, isa: Isa) -> Batch {
        let state = self.state();
        let estimates = Estimates::new(&state.domain, &state.dictionary);
        let code = |part: &Part| Code::new(&part.index, &estimates);
        let codes: Vec<Code> = state.parts.iter().map(code).collect();
        let waiting = codes.iter().map(|code| code.waiting).max().unwrap_or(0);
        let mut starts = Vec::new();
        let mut words = 0;
        for part in &state.parts {
            starts.push(words);
            words += part.index.sources.len().div_ceil(64);
        }
        let none = Slice([0; WORDS]);
        Batch {
            snapshot: self.clone(),
            codes,
            rows: vec![none; WAITING + waiting],
            block: vec![none; LANES],
            found: Vec::new(),
            starts,
            words,
            buffers: Buffers::with_isa(isa),
        }
    }
}

impl Batch {
    /// The most events of one search.
    pub const EVENTS_MAX: usize = EVENTS_MAX;

    /// A search of these events, done in steps.
    ///
    /// # Errors
    /// More than [`EVENTS_MAX`](Self::EVENTS_MAX) events, or an event that was read for another snapshot.
    pub fn search<'b>(&'b mut self, events: &'b [Event]) -> Result<BatchSearch<'b>> {
        let generation = self.snapshot.state().dictionary.generation();
        if events.iter().any(|event| event.generation != generation) {
            let message =
                "an event was read for another tree or an earlier state of this one: read it again";
            return Err(Error::new(ErrorKind::ForeignEvent, message));
        }
        if events.len() > EVENTS_MAX {
            let message = format!(
                "a batch of {} events: at most {EVENTS_MAX} are allowed",
                events.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        self.found.clear();
        self.found.resize(self.words * events.len(), 0);
        Ok(BatchSearch {
            batch: self,
            events,
            phase: Phase::Part { part: 0 },
            paused: None,
            spent: 0,
        })
    }

    /// How many subscriptions match an event of the last search, by its position.
    #[must_use]
    pub fn count(&self, event: usize) -> u64 {
        let words = self.of(event).iter();
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// Appends the ids that match an event of the last search, ascending.
    pub fn ids(&self, event: usize, ids: &mut Vec<SubscriptionId>) {
        let parts = &self.snapshot.state().parts;
        let before = ids.len();
        for (part, start) in parts.iter().zip(&self.starts) {
            let all = &part.index.sources.ids;
            let words = self.of(event).get(*start..).unwrap_or(&[]);
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            let first = ids.len();
            // Writes whole vectors, the last one beyond the end.
            ids.resize(first + count as usize + LANES, SubscriptionId(0));
            let mut at = first;
            for (all, word) in all.chunks(64).zip(words) {
                at += simd::compress(self.buffers.isa(), all, *word, &mut ids[at..]);
            }
            ids.truncate(at);
        }
        if parts.len() > 1 {
            ids[before..].sort_unstable();
        }
    }

    /// The subscriptions that match an event of the last search: a bit for each of
    /// [`Snapshot::ids`], 64 a word, the lowest first.
    pub fn bitmap(&self, event: usize, bitmap: &mut Vec<u64>) {
        bitmap.clear();
        let state = self.snapshot.state();
        if state.is_plain() {
            bitmap.extend_from_slice(self.of(event));
            return;
        }
        let mut ids = Vec::new();
        self.ids(event, &mut ids);
        bitmap.resize(state.ids().len().div_ceil(64), 0);
        for at in ids
            .iter()
            .filter_map(|id| state.ids().binary_search(id).ok())
        {
            bitmap[at / 64] |= 1 << (at % 64);
        }
    }

    /// All bits of an event.
    fn of(&self, event: usize) -> &[u64] {
        let start = event.saturating_mul(self.words);
        self.found.get(start..start + self.words).unwrap_or(&[])
    }
}

/// The state of a search.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Part {
        part: usize,
    },
    /// Evaluating tests for all events.
    Tests {
        part: usize,
        family: usize,
        test: usize,
        event: usize,
    },
    /// Running the lanes of a block.
    Lanes {
        part: usize,
        family: usize,
        block: usize,
        lane: usize,
    },
    /// Transposing the outcomes of a block, 64 events at a time.
    Turn {
        part: usize,
        family: usize,
        block: usize,
        word: usize,
    },
    /// Searching events one by one.
    Rest {
        event: usize,
    },
    Done,
}

/// A search of many events, made by [`Batch::search`]. The batch has its results.
#[derive(Debug)]
pub struct BatchSearch<'b> {
    batch: &'b mut Batch,
    events: &'b [Event],
    phase: Phase,
    /// The unfinished search of one event.
    paused: Option<Paused>,
    spent: u64,
}

impl BatchSearch<'_> {
    /// Continues the search for about as many reductions as the budget has, at most
    /// [`OVERSHOOT_MAX`](crate::OVERSHOOT_MAX) more.
    pub fn step(&mut self, budget: Budget) -> Progress {
        let limit = self.spent.saturating_add(budget.left());
        while self.spent < limit {
            self.phase = match self.phase {
                Phase::Part { part } => self.part(part),
                Phase::Tests {
                    part,
                    family,
                    test,
                    event,
                } => self.tests((part, family), test, event, limit),
                Phase::Lanes {
                    part,
                    family,
                    block,
                    lane,
                } => self.lanes((part, family), block, lane, limit),
                Phase::Turn {
                    part,
                    family,
                    block,
                    word,
                } => self.turn((part, family), block, word),
                Phase::Rest { event } => self.rest(event, limit),
                Phase::Done => return Progress::Done,
            };
        }
        match self.phase {
            Phase::Done => Progress::Done,
            _ => Progress::Yielded,
        }
    }

    /// Reductions so far.
    #[must_use]
    pub fn reductions(&self) -> u64 {
        self.spent
    }

    fn part(&mut self, part: usize) -> Phase {
        self.spent += 1;
        match part < self.batch.codes.len() {
            true => Phase::Tests {
                part,
                family: 0,
                test: 0,
                event: 0,
            },
            false => Phase::Rest { event: 0 },
        }
    }

    fn tests(
        &mut self,
        (part, family): (usize, usize),
        mut test: usize,
        mut event: usize,
        limit: u64,
    ) -> Phase {
        let batch = &mut *self.batch;
        let state = batch.snapshot.state();
        let Some(found) = state.parts[part].index.lockstep.families.get(family) else {
            return Phase::Part { part: part + 1 };
        };
        let tests = found.tests();
        if (event, test) == (0, 0) {
            batch.rows[..2 * tests].fill(Slice([0; WORDS]));
        }
        // All tests of one event before the next event.
        while let Some(at) = self.events.get(event) {
            while test < tests {
                if self.spent >= limit {
                    return Phase::Tests {
                        part,
                        family,
                        test,
                        event,
                    };
                }
                let words = found.test(test);
                let head = Head(words.first().copied().unwrap_or(0));
                let operands = words.get(1..).unwrap_or(&[]);
                let truth = eval::truth(head, operands, at, &state.dictionary);
                let bit = u64::from(truth) << (event % 64);
                batch.rows[2 * test].0[event / 64] |= bit;
                self.spent += match head.is_expensive() {
                    true => eval::expensive_cost(head, at),
                    false => u64::from(eval::cost(head)),
                };
                test += 1;
            }
            (event, test) = (event + 1, 0);
        }
        self.spent += tests as u64;
        for pair in batch.rows[..2 * tests].chunks_exact_mut(2) {
            pair[1] = Slice(pair[0].0.map(|word| !word));
        }
        Phase::Lanes {
            part,
            family,
            block: found.blocks.start,
            lane: 0,
        }
    }

    fn lanes(
        &mut self,
        (part, family): (usize, usize),
        block: usize,
        mut lane: usize,
        limit: u64,
    ) -> Phase {
        let batch = &mut *self.batch;
        let state = batch.snapshot.state();
        let lockstep = &state.parts[part].index.lockstep;
        if block >= lockstep.families[family].blocks.end {
            return Phase::Tests {
                part,
                family: family + 1,
                test: 0,
                event: 0,
            };
        }
        let isa = batch.buffers.isa();
        while lane < lockstep.blocks[block].lanes.count_ones() as usize {
            if self.spent >= limit {
                return Phase::Lanes {
                    part,
                    family,
                    block,
                    lane,
                };
            }
            let code = batch.codes[part].of(block, lane);
            self.spent += code.len() as u64 * STEP_REDUCTIONS;
            batch.block[lane] = simd::sliced(isa, code, &mut batch.rows);
            lane += 1;
        }
        Phase::Turn {
            part,
            family,
            block,
            word: 0,
        }
    }

    /// Transposes outcomes by expression into outcomes by event.
    fn turn(&mut self, (part, family): (usize, usize), block: usize, word: usize) -> Phase {
        self.spent += TURN_REDUCTIONS;
        let batch = &mut *self.batch;
        let found = &batch.snapshot.state().parts[part];
        let lockstep = &found.index.lockstep;
        let at = &lockstep.blocks[block];
        let mut bits = [0; LANES];
        for (bits, row) in bits.iter_mut().zip(&batch.block) {
            *bits = row.0[word];
        }
        simd::transpose(&mut bits);
        let events = self.events.len().saturating_sub(word * 64).min(64);
        for (event, bits) in bits.iter().enumerate().take(events) {
            let start = (word * 64 + event) * batch.words + batch.starts[part];
            let mut left = bits & at.lanes;
            if let Some(base) = at.base() {
                let word = base as usize / 64;
                batch.found[start + word] |= left & !found.dead(word);
                continue;
            }
            while left != 0 {
                let slot = lockstep.slot(block, left.trailing_zeros() as usize);
                left &= left - 1;
                if found.is_alive(slot as usize) {
                    batch.found[start + slot as usize / 64] |= 1 << (slot % 64);
                }
            }
        }
        match (word + 1) * 64 < self.events.len() {
            true => Phase::Turn {
                part,
                family,
                block,
                word: word + 1,
            },
            false => Phase::Lanes {
                part,
                family,
                block: block + 1,
                lane: 0,
            },
        }
    }

    /// Searches the expressions that do not run in lockstep, for one event.
    fn rest(&mut self, at: usize, limit: u64) -> Phase {
        let batch = &mut *self.batch;
        let state = batch.snapshot.state();
        let all_in_lockstep = |part: &Part| part.index.is_all_lockstep();
        let Some(event) = self.events.get(at) else {
            return Phase::Done;
        };
        if state.parts.iter().all(all_in_lockstep) {
            return Phase::Done;
        }
        let buffers = &mut batch.buffers;
        let search = match self.paused.take() {
            Some(paused) => Ok(Search::resume(state, event, buffers, paused)),
            None => Search::new(state, event, buffers, Output::Rest, None, u64::MAX),
        };
        // The events were checked when the search was made.
        let Ok(mut search) = search else {
            return Phase::Done;
        };
        let before = search.reductions();
        let progress = search.step(Budget::reductions(limit - self.spent));
        self.spent += search.reductions() - before;
        if progress == Progress::Yielded {
            self.paused = Some(search.pause());
            return Phase::Rest { event: at };
        }
        let start = at * batch.words;
        let (found, starts) = (&mut batch.found, &batch.starts);
        batch.buffers.take_rest(|part, bits| {
            let words = found.iter_mut().skip(start + starts[part]);
            words.zip(bits).for_each(|(word, bits)| *word |= bits);
        });
        Phase::Rest { event: at + 1 }
    }
}
