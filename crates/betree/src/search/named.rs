//! The phase that evaluates only named expressions, without the index.

use super::{Phase, Search};
use crate::index::columns::DECIDED;
use crate::index::{NEVER, Place};
use crate::program::run::Outcome;
use crate::simd::{ACCEPTED, REJECTED};

impl Search<'_> {
    /// `units`: finished units of the current expression; `running`: the position in its program, once it was
    /// found.
    pub(super) fn named(
        &mut self,
        (mut at, mut part): (usize, usize),
        mut units: u32,
        mut running: Option<u32>,
        limit: u64,
    ) -> Phase {
        let state = self.state;
        while let Some(id) = self.names.and_then(|names| names.get(at)) {
            let Some(found) = state.parts.get(part) else {
                (at, part) = (at + 1, 0);
                continue;
            };
            if self.spent >= limit {
                return Phase::Named {
                    at,
                    part,
                    units,
                    running,
                };
            }
            self.spent += u64::from(running.is_none());
            let slot = found.index.slot(*id).filter(|slot| found.is_alive(*slot));
            let Some(slot) = slot else {
                part += 1;
                continue;
            };
            match self.run_place(part, (slot, units), running, limit) {
                Outcome::Paused(position) => {
                    running = Some(position);
                    return Phase::Named {
                        at,
                        part,
                        units,
                        running,
                    };
                }
                Outcome::Accepted => self.hit(part, slot as u32),
                Outcome::Rejected if self.has_more(part, slot, units) => {
                    (units, running) = (units + 1, None);
                    continue;
                }
                Outcome::Rejected => {}
            }
            self.evaluated += 1;
            (units, running) = (0, None);
            if self.matched >= self.matches_max {
                break;
            }
            (at, part) = (at + 1, 0);
        }
        self.end()
    }

    /// Whether an expression has units after some of them.
    fn has_more(&self, part: usize, slot: usize, units: u32) -> bool {
        let index = &self.part(part).index;
        let Place::Units(first) = index.place(slot) else {
            return false;
        };
        let next = index.unit(first + units + 1);
        next.is_some_and(|unit| unit.slot as usize == slot)
    }

    fn run_place(
        &mut self,
        part: usize,
        (slot, units): (usize, u32),
        running: Option<u32>,
        limit: u64,
    ) -> Outcome {
        let position = running.unwrap_or(0);
        let index = &self.part(part).index;
        match index.place(slot) {
            Place::Constant(true) => Outcome::Accepted,
            Place::Constant(false) => Outcome::Rejected,
            Place::Lane(block, lane) => self.run_lane(part, (block, lane), position, limit),
            Place::Member(member) => self.run_member(part, member, running, limit),
            Place::Units(first) => {
                match index.unit(first + units).map_or(NEVER, |unit| unit.code) {
                    NEVER => Outcome::Rejected,
                    code => {
                        let (_, from, to) = index.program(code);
                        self.run_code(part, (from, to), position, limit)
                    }
                }
            }
        }
    }

    fn run_member(
        &mut self,
        part: usize,
        member: usize,
        running: Option<u32>,
        limit: u64,
    ) -> Outcome {
        let index = &self.part(part).index;
        let plan = &self.buffers.plans[part];
        if running.is_none() {
            self.spent += plan.len() as u64;
            let lists = &self.buffers.cleared[part];
            self.spent += lists.len() as u64;
            let clears = index.columns.clears();
            if !index.columns.passes(plan, member) || clears.excludes(lists, member) {
                return Outcome::Rejected;
            }
        }
        match index.columns.code(member) {
            DECIDED => Outcome::Accepted,
            code => {
                let (_, from, to) = index.program(code);
                self.run_code(part, (from, to), running.unwrap_or(0), limit)
            }
        }
    }

    /// Runs one lane alone, evaluating only the tests that it reaches.
    fn run_lane(
        &mut self,
        part: usize,
        (block, lane): (usize, usize),
        position: u32,
        limit: u64,
    ) -> Outcome {
        let lockstep = &self.part(part).index.lockstep;
        let Some(family) = lockstep.families.get(lockstep.family(block)) else {
            return Outcome::Rejected;
        };
        let mut position = position as u8;
        while let Some((test, [on_true, on_false])) = lockstep.step(block, lane, position) {
            if self.spent >= limit {
                return Outcome::Paused(u32::from(position));
            }
            position = match self.truth(family, usize::from(test)) {
                true => on_true,
                false => on_false,
            };
            match position {
                ACCEPTED => return Outcome::Accepted,
                REJECTED => return Outcome::Rejected,
                _ => {}
            }
        }
        Outcome::Accepted
    }
}
