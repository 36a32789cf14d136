//! A search as a machine of phases: one step runs phases until the budget is used up.

use super::Buffers;
use super::phase::{Output, Phase};
use crate::SubscriptionId;
use crate::budget::{Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventValues};
use crate::priorities::Top;
use crate::program::run::{Context, Outcome};
use crate::state::{Part, State};

/// Reductions of clearing the marks of 4,096 units.
const MARKS_REDUCTIONS: u64 = 32;

/// A search without its event and its buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paused {
    phase: Phase,
    output: Output,
    counts: [u64; 4],
}

impl Paused {
    /// Reductions without those of clearing.
    pub(super) fn reductions(&self) -> u64 {
        let [_, _, spent, cleared] = self.counts;
        spent - cleared
    }

    pub(super) fn matched(&self) -> u64 {
        self.counts[0]
    }

    pub(super) fn evaluated(&self) -> u64 {
        self.counts[1]
    }
}

/// A search of a snapshot for what matches an event.
///
/// Made by [`Snapshot::search_iterator`](crate::Snapshot::search_iterator) and similar methods. Between steps it
/// can move to another thread, or be dropped.
#[derive(Debug)]
pub struct Search<'s> {
    pub(super) state: &'s State,
    pub(super) event: &'s EventValues,
    pub(super) buffers: &'s mut Buffers,
    pub(super) phase: Phase,
    pub(super) output: Output,
    /// The only ids that may match.
    pub(super) names: Option<&'s [SubscriptionId]>,
    /// The number of matches to stop after.
    pub(super) matches_max: u64,
    /// How many of the best are wanted, if not all.
    pub(super) top: Option<Top<'s>>,
    pub(super) matched: u64,
    pub(super) evaluated: u64,
    pub(super) spent: u64,
    /// Reductions of clearing, which belong to an earlier search.
    pub(super) cleared: u64,
}

impl<'s> Search<'s> {
    pub(crate) fn new(
        state: &'s State,
        event: &'s Event,
        buffers: &'s mut Buffers,
        output: Output,
        names: Option<&'s [SubscriptionId]>,
        matches_max: u64,
    ) -> Result<Self> {
        if event.0.generation != state.dictionary.generation() {
            let message = "the event was read for another tree or an earlier state of this one: read it again";
            return Err(Error::new(ErrorKind::ForeignEvent, message));
        }
        let clean = buffers.begin(state);
        Ok(Self {
            state,
            event: &event.0,
            buffers,
            output,
            phase: match clean {
                true => Phase::Enter { part: 0 },
                false => Phase::Clear { part: 0, word: 0 },
            },
            names,
            matches_max,
            top: None,
            matched: 0,
            evaluated: 0,
            spent: 0,
            cleared: 0,
        })
    }

    /// A search for the best matches.
    pub(crate) fn best_of(
        state: &'s State,
        event: &'s Event,
        buffers: &'s mut Buffers,
        top: Top<'s>,
    ) -> Result<Self> {
        if !top.priorities.is_of(state) {
            let message = "the priorities are of another snapshot: make them from this one";
            return Err(Error::new(ErrorKind::ForeignEvent, message));
        }
        let matches_max = if top.count == 0 { 0 } else { u64::MAX };
        let search = Self::new(state, event, buffers, Output::Top, None, matches_max)?;
        Ok(Self {
            top: Some(top),
            ..search
        })
    }

    /// The state to continue from later, with the same event and buffers.
    pub(crate) fn pause(&self) -> Paused {
        Paused {
            phase: self.phase,
            output: self.output,
            counts: [self.matched, self.evaluated, self.spent, self.cleared],
        }
    }

    /// Continues a paused search of all expressions for all matches.
    pub(crate) fn resume(
        state: &'s State,
        event: &'s Event,
        buffers: &'s mut Buffers,
        paused: Paused,
    ) -> Self {
        let [matched, evaluated, spent, cleared] = paused.counts;
        Self {
            state,
            event: &event.0,
            buffers,
            output: paused.output,
            phase: paused.phase,
            names: None,
            matches_max: u64::MAX,
            top: None,
            matched,
            evaluated,
            spent,
            cleared,
        }
    }

    /// Continues the search for about as many reductions as the budget has, at most
    /// [`OVERSHOOT_MAX`](crate::OVERSHOOT_MAX) more.
    pub fn step(&mut self, budget: Budget) -> Progress {
        let limit = self.spent.saturating_add(budget.left());
        while self.spent < limit {
            self.phase = match self.phase {
                Phase::Clear { part, word } => self.clear(part, word),
                Phase::Enter { part } => self.enter(part, limit),
                Phase::Tests { part, family, test } => self.tests(part, family, test, limit),
                Phase::Blocks {
                    part,
                    family,
                    block,
                } => self.blocks(part, family, block, limit),
                Phase::Always { part, at } => self.always(part, at, limit),
                Phase::Plan {
                    part,
                    column,
                    element,
                } => self.plan(part, column, element, limit),
                Phase::Scan { part, tile } => self.scan(part, tile, limit),
                Phase::Exclude { part, tile, list } => self.exclude(part, tile, list, limit),
                Phase::Members {
                    part,
                    tile,
                    at,
                    running,
                } => self.members((part, tile), at, running, limit),
                Phase::Cells { part, at } => self.cells(part, at, limit),
                Phase::Texts {
                    part,
                    lane,
                    at,
                    one_by_one,
                } => self.texts(part, (lane, at), one_by_one, limit),
                Phase::Walk { part, at } => match at.block() {
                    None => self.walk(part, at, limit),
                    Some(block) => self.gather(part, block, limit),
                },
                Phase::Count { part, at } => self.count(part, at, limit),
                Phase::Units {
                    part,
                    at,
                    unit,
                    running,
                } => self.units((part, at), unit, running, limit),
                Phase::Named {
                    at,
                    part,
                    units,
                    running,
                } => self.named((at, part), units, running, limit),
                Phase::Write { word } => self.write(word, limit),
                Phase::Merge => self.merge(limit),
                Phase::Words => self.words(limit),
                Phase::Best { part, group } => self.best(part, group, limit),
                Phase::Order { left } => self.order(left, limit),
                Phase::Rank { at } => self.rank(at, limit),
                Phase::Done => return Progress::Done,
            };
        }
        match self.phase {
            Phase::Done => Progress::Done,
            _ => Progress::Yielded,
        }
    }

    /// Searches to the end in steps of `budget`, and calls `between` after each step but the last.
    /// Returns the ids that match, ascending.
    pub fn run_to_end(&mut self, budget: Budget, mut between: impl FnMut()) -> &[SubscriptionId] {
        while self.step(budget) == Progress::Yielded {
            between();
        }
        self.ids()
    }

    /// [`Search::step`], under the name that users of the Erlang be-tree know.
    pub fn search_next(&mut self, budget: Budget) -> Progress {
        self.step(budget)
    }

    /// [`Search::run_to_end`], under the name that users of the Erlang be-tree know.
    pub fn search_all(&mut self, budget: Budget, between: impl FnMut()) -> &[SubscriptionId] {
        self.run_to_end(budget, between)
    }

    /// The ids that match, ascending. Complete after a step returned [`Progress::Done`].
    #[must_use]
    pub fn ids(&self) -> &[SubscriptionId] {
        self.buffers.ids()
    }

    /// The matches of a [`search_bitmap`](crate::Snapshot::search_bitmap): one bit for each of
    /// [`Snapshot::ids`](crate::Snapshot::ids), 64 per word, the lowest first. Complete after a step returned
    /// [`Progress::Done`].
    #[must_use]
    pub fn bitmap(&self) -> &[u64] {
        &self.buffers.bitmap
    }

    /// Reductions so far, without those for clearing up after a dropped search, which budgets pay for too.
    #[must_use]
    pub fn reductions(&self) -> u64 {
        self.spent - self.cleared
    }

    /// Expressions that matched so far.
    #[must_use]
    pub fn matched(&self) -> u64 {
        self.matched.min(self.matches_max)
    }

    /// Programs that were run so far.
    #[must_use]
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    fn clear(&mut self, part: usize, word: usize) -> Phase {
        self.spent += 1;
        self.cleared += 1;
        let Some(bits) = self.buffers.bits.get_mut(part) else {
            if word >= self.buffers.marks.groups() {
                return Phase::Enter { part: 0 };
            }
            self.buffers.marks.clear_group(word);
            self.spent += MARKS_REDUCTIONS;
            self.cleared += MARKS_REDUCTIONS;
            return Phase::Clear {
                part,
                word: word + 1,
            };
        };
        if word >= bits.groups() {
            return Phase::Clear {
                part: part + 1,
                word: 0,
            };
        }
        bits.clear_group(word);
        Phase::Clear {
            part,
            word: word + 1,
        }
    }

    /// What follows directly is called from here: in a search of a few look-ups the way from phase to phase is most of
    /// the time.
    fn enter(&mut self, part: usize, limit: u64) -> Phase {
        self.spent += 1;
        if self.names.is_some() {
            return Phase::Plan {
                part: 0,
                column: 0,
                element: 0,
            };
        }
        let next = match self.state.parts.get(part) {
            Some(found) if self.output == Output::Rest || found.index.lockstep.is_empty() => {
                self.after_lockstep(part)
            }
            Some(_) => Phase::Tests {
                part,
                family: 0,
                test: 0,
            },
            None => self.end(),
        };
        match next {
            Phase::Cells { part, at } if self.spent < limit => self.cells(part, at, limit),
            Phase::Write { word } if self.spent < limit => self.write(word, limit),
            next => next,
        }
    }

    /// The phase after lockstep: the next one that has anything to do.
    pub(super) fn after_lockstep(&self, part: usize) -> Phase {
        match self.part(part).index.always.is_empty() {
            false => Phase::Always { part, at: 0 },
            true => self.after_always(part),
        }
    }

    /// The phase after expressions that always match.
    pub(super) fn after_always(&self, part: usize) -> Phase {
        match self.part(part).index.columns.is_empty() {
            false => Phase::Plan {
                part,
                column: 0,
                element: 0,
            },
            true => Phase::Cells { part, at: 0 },
        }
    }

    /// All matches are known; they remain to be written.
    pub(super) fn end(&mut self) -> Phase {
        match self.output {
            Output::Ids if self.matched == 0 => return self.done(),
            Output::Ids => {}
            Output::Bitmap if self.state.is_plain() => return Phase::Words,
            Output::Bitmap => {
                self.buffers.reserve(self.matched as usize);
                return Phase::Merge;
            }
            Output::Rest => return Phase::Done,
            Output::Top => return Phase::Best { part: 0, group: 0 },
        }
        self.buffers.reserve(self.matched as usize);
        match self.state.parts.len() {
            1 => Phase::Write { word: 0 },
            _ => Phase::Merge,
        }
    }

    /// Records a match.
    #[inline]
    pub(super) fn hit(&mut self, part: usize, slot: u32) {
        let (word, bit) = (slot as usize / 64, 1u64 << (slot % 64));
        if self.state.parts[part].dead(word) & bit != 0 {
            return;
        }
        self.hit_word(part, word, bit);
    }

    /// Runs a program of a part from a position.
    pub(super) fn run_code(
        &mut self,
        part: usize,
        (from, to): (usize, usize),
        position: u32,
        limit: u64,
    ) -> Outcome {
        let index = &self.part(part).index;
        let mut context = Context {
            event: self.event,
            dictionary: &self.state.dictionary,
            tests: &index.tests,
            memos: &mut self.buffers.memos[part],
            spent: self.spent,
            limit,
        };
        let outcome = context.run(index.code.get(from..to).unwrap_or(&[]), position);
        self.spent = context.spent;
        outcome
    }

    /// Everything is written.
    pub(super) fn done(&mut self) -> Phase {
        self.buffers.dirty = false;
        if self.output == Output::Bitmap {
            return Phase::Rank { at: 0 };
        }
        let most = usize::try_from(self.matches_max).unwrap_or(usize::MAX);
        self.buffers.found = self.buffers.found.min(most);
        Phase::Done
    }

    pub(super) fn part(&self, part: usize) -> &'s Part {
        &self.state.parts[part]
    }
}
