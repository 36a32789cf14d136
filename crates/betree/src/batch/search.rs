//! The search of a batch: phases over all events, then the rest event by event.

use super::Batch;
use crate::budget::{Budget, Progress};
use crate::code::Head;
use crate::error::{Error, ErrorKind, Result};
use crate::eval;
use crate::event::Event;
use crate::search::{Output, Paused, Search};
use crate::simd::{self, EVENTS_MAX, LANES, Slice, WORDS};
use crate::state::Part;

/// Reductions of one step of the code over all events.
const STEP_REDUCTIONS: u64 = 2;
/// Reductions of transposing the outcomes of a block, for 64 events.
const TURN_REDUCTIONS: u64 = 16;

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

impl Batch {
    /// A search of these events, done in steps.
    ///
    /// # Errors
    /// More than [`EVENTS_MAX`](Self::EVENTS_MAX) events, or an event that was read for another snapshot.
    pub fn search<'b>(&'b mut self, events: &'b [Event]) -> Result<BatchSearch<'b>> {
        let generation = self.snapshot.state().dictionary.generation();
        if events.iter().any(|event| event.0.generation != generation) {
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
        Ok(BatchSearch::new(self, events))
    }
}

impl<'b> BatchSearch<'b> {
    pub(super) fn new(batch: &'b mut Batch, events: &'b [Event]) -> Self {
        Self {
            batch,
            events,
            phase: Phase::Part { part: 0 },
            paused: None,
            spent: 0,
        }
    }

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
        while let Some(Event(at)) = self.events.get(event) {
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
