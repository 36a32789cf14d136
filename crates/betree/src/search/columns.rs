//! The phases of the columns: a plan for the event's values, tiles of rows, and the programs of members that pass
//! the rows.

use super::top::PASS_REDUCTIONS;
use super::{FETCH_REDUCTIONS, Phase, Search};
use crate::index::columns::{Cleared, DECIDED, TILE};
use crate::program::run::Outcome;
use crate::simd;

/// Most elements of a list that are looked up at once, and the reductions of that.
const ELEMENTS: usize = 64;
const LOOK_UP_REDUCTIONS: u64 = 16;
/// Reductions of a row of a tile.
const ROW_REDUCTIONS: u64 = 3;
/// Entries of lists of excluded members per reduction.
const ENTRIES_PER_REDUCTION: usize = 2;
/// Reductions of recording the matches of a word.
const WORD_REDUCTIONS: u64 = 4;
/// Words of a program in one cache line.
const LINE_WORDS: usize = 16;

impl Search<'_> {
    pub(super) fn plan(
        &mut self,
        part: usize,
        mut column: usize,
        mut element: usize,
        limit: u64,
    ) -> Phase {
        let Some(found) = self.state.parts.get(part) else {
            return Phase::Named {
                at: 0,
                part: 0,
                units: 0,
                running: None,
            };
        };
        let columns = &found.index.columns;
        if (column, element) == (0, 0) {
            self.buffers.plans[part].clear();
            self.buffers.cleared[part].clear();
        }
        while let Some(at) = columns.columns().get(column) {
            if self.spent >= limit {
                return Phase::Plan {
                    part,
                    column,
                    element,
                };
            }
            self.spent += LOOK_UP_REDUCTIONS;
            let plan = &mut self.buffers.plans[part];
            match at.plan(self.event, element, ELEMENTS, plan) {
                Some(next) => element = next,
                None => (column, element) = (column + 1, 0),
            }
        }
        let clears = columns.clears();
        while let Some(at) = column
            .checked_sub(columns.columns().len())
            .filter(|at| *at < clears.len())
        {
            if self.spent >= limit {
                return Phase::Plan {
                    part,
                    column,
                    element,
                };
            }
            self.spent += LOOK_UP_REDUCTIONS;
            let lists = &mut self.buffers.cleared[part];
            let known = (self.event, &*self.state.dictionary);
            let (next, tests) = clears.plan(at, known, element, ELEMENTS, lists);
            self.spent += tests;
            match next {
                Some(next) => element = next,
                None => (column, element) = (column + 1, 0),
            }
        }
        match self.names {
            Some(_) => Phase::Plan {
                part: part + 1,
                column: 0,
                element: 0,
            },
            None => Phase::Scan { part, tile: 0 },
        }
    }

    pub(super) fn scan(&mut self, part: usize, mut tile: usize, limit: u64) -> Phase {
        let index = &self.part(part).index;
        let columns = &index.columns;
        while tile * TILE < columns.len() {
            if self.spent >= limit {
                return Phase::Scan { part, tile };
            }
            let buffers = &mut *self.buffers;
            let plan = &buffers.plans[part];
            let (left, rows) = simd::scan(buffers.isa, plan, columns.rows(), tile);
            self.spent += 1 + ROW_REDUCTIONS * rows as u64;
            buffers.left = left;
            let first = tile * TILE;
            for (word, left) in (first / 64..).zip(&mut buffers.left) {
                *left &= columns.present(word);
            }
            if buffers.left.iter().any(|left| *left != 0) {
                return Phase::Exclude {
                    part,
                    tile,
                    list: 0,
                };
            }
            tile += 1;
        }
        Phase::Cells { part, at: 0 }
    }

    /// Removes the members of a tile that values of the event exclude, and records those without a program.
    pub(super) fn exclude(
        &mut self,
        part: usize,
        tile: usize,
        mut list: usize,
        limit: u64,
    ) -> Phase {
        let index = &self.part(part).index;
        let columns = &index.columns;
        let buffers = &mut *self.buffers;
        let first = tile * TILE;
        while let Some(found) = buffers.cleared[part].get_mut(list) {
            if self.spent >= limit {
                return Phase::Exclude { part, tile, list };
            }
            let (taken, more) = columns.clears().apply(found, first, &mut buffers.left);
            self.spent += 1 + (taken / ENTRIES_PER_REDUCTION) as u64;
            list += usize::from(!more);
            if matches!(found, Cleared::Lacking(_)) && buffers.left.iter().all(|left| *left == 0) {
                return Phase::Scan {
                    part,
                    tile: tile + 1,
                };
            }
        }
        if columns.is_aligned() {
            for (at, word) in (first / 64..).enumerate().take(TILE / 64) {
                let found = self.buffers.left[at] & columns.decided(word);
                self.buffers.left[at] ^= found;
                if found != 0 {
                    self.spent += WORD_REDUCTIONS;
                    let alive = found & !self.state.parts[part].dead(word);
                    self.hit_word(part, word, alive);
                }
            }
        }
        let buffers = &mut *self.buffers;
        buffers.members.clear();
        for (bits, base) in buffers.left.into_iter().zip((first as u32..).step_by(64)) {
            let mut bits = bits;
            while bits != 0 {
                buffers.members.push(base + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        Phase::Members {
            part,
            tile,
            at: 0,
            running: None,
        }
    }

    pub(super) fn members(
        &mut self,
        (part, tile): (usize, usize),
        mut at: usize,
        mut running: Option<u32>,
        limit: u64,
    ) -> Phase {
        let index = &self.part(part).index;
        while let Some(member) = self.buffers.members.get(at).copied() {
            if self.spent >= limit {
                return Phase::Members {
                    part,
                    tile,
                    at,
                    running,
                };
            }
            if at.is_multiple_of(LINE_WORDS) && running.is_none() {
                self.touch(part, at);
            }
            let code = index.columns.code(member as usize);
            let (slot, outcome) = match code {
                DECIDED => {
                    self.spent += WORD_REDUCTIONS;
                    (index.columns.slot(member as usize), Outcome::Accepted)
                }
                code => {
                    if running.is_none() {
                        if !self.wants(part, index.columns.slot(member as usize)) {
                            self.spent += PASS_REDUCTIONS;
                            at += 1;
                            continue;
                        }
                        self.spent += FETCH_REDUCTIONS;
                        self.evaluated += 1;
                    }
                    let (slot, from, to) = index.program(code);
                    let position = running.unwrap_or(0);
                    (slot, self.run_code(part, (from, to), position, limit))
                }
            };
            match outcome {
                Outcome::Accepted => self.hit(part, slot),
                Outcome::Rejected => {}
                Outcome::Paused(position) => {
                    running = Some(position);
                    return Phase::Members {
                        part,
                        tile,
                        at,
                        running,
                    };
                }
            }
            running = None;
            at += 1;
        }
        if self.matched >= self.matches_max {
            return self.end();
        }
        Phase::Scan {
            part,
            tile: tile + 1,
        }
    }

    /// Reads the first words of the next programs, so that they come from memory together rather than one after the
    /// other.
    fn touch(&self, part: usize, at: usize) {
        let index = &self.part(part).index;
        let members = self.buffers.members.iter().skip(at).take(LINE_WORDS);
        for member in members {
            let code = index.columns.code(*member as usize);
            let first = index.code.get(code as usize);
            let second = index.code.get(code as usize + LINE_WORDS);
            std::hint::black_box((first.copied(), second.copied()));
        }
    }
}
