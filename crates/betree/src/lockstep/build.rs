//! Arranges programs in families and blocks.

use std::collections::HashMap;

use super::{Family, Lockstep};
use crate::code::Head;
use crate::program::arena::Arena;
use crate::program::{ACCEPT, REJECT, Step};
use crate::simd::{
    ACCEPTED, Block, GROUP_WORDS, LANES, NO_PROGRAM, Place, REJECTED, Row, Spread, TESTS_MAX,
};

/// Most steps of a program: the two greatest bytes mark the ends.
const STEPS_MAX: usize = 250;
/// Most reductions of one block; two blocks run together.
const CHARGE_MAX: f32 = 540.0;
/// Programs whose blocks are made together.
const GROUP: usize = LANES * GROUP_WORDS;
/// The share of events for which a program may go further than its estimated reach. With 64 lanes, one lane then
/// goes further for most events, and a block waits for its last lane.
const BEYOND: f32 = 0.02;

/// A program that waits for a block.
#[derive(Debug)]
struct Waiting {
    slot: u32,
    cost: f32,
    /// The position that it rarely goes beyond.
    reach: usize,
    /// Tests and jumps of its steps.
    steps: Vec<(u8, u8)>,
}

/// Builds families from programs, which come in the order of their slots.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    out: Lockstep,
    family: Family,
    numbers: HashMap<Box<[u32]>, u8>,
    waiting: Vec<Waiting>,
    fresh: Vec<Box<[u32]>>,
    words: Vec<u32>,
    shares: Vec<f32>,
    /// Slots of programs that do not fit here after all.
    refused: Vec<u32>,
}

impl Builder {
    /// Adds a program. Returns false when it has too many steps or tests.
    pub(crate) fn add(&mut self, slot: u32, arena: &Arena, steps: &[Step]) -> bool {
        if steps.len() > STEPS_MAX {
            return false;
        }
        let mut coded = self.encode(arena, steps);
        if coded.is_none() {
            self.close_family();
            coded = self.encode(arena, steps);
        }
        let Some(coded) = coded else {
            return false;
        };
        let reach = self.reach(arena, steps);
        self.waiting.push(Waiting {
            slot,
            cost: arena.cost(),
            reach,
            steps: coded,
        });
        if self.waiting.len() == GROUP {
            self.close_group();
        }
        true
    }

    /// The position that a program goes beyond for a share of [`BEYOND`] of all events.
    fn reach(&mut self, arena: &Arena, steps: &[Step]) -> usize {
        let shares = &mut self.shares;
        shares.clear();
        shares.resize(steps.len() + 1, 0.0);
        shares[0] = 1.0;
        let mut going_on = 1.0;
        for (position, step) in steps.iter().enumerate() {
            let here = shares[position];
            let jumping = here * (1.0 - arena.going_on(step));
            shares[position + 1] += here - jumping;
            match step.jump {
                ACCEPT | REJECT => going_on -= jumping,
                next => shares[next as usize] += jumping,
            }
            if going_on < BEYOND {
                return position;
            }
        }
        steps.len()
    }

    /// The steps over the tests of the current family; `None` when it would have too many tests.
    fn encode(&mut self, arena: &Arena, steps: &[Step]) -> Option<Vec<(u8, u8)>> {
        self.fresh.clear();
        let known = self.family.tests();
        let mut coded = Vec::with_capacity(steps.len());
        for step in steps {
            self.words.clear();
            self.words.extend_from_slice(arena.test(step.node));
            let head = Head(self.words[0]);
            self.words[0] = head.with(false, head.undefined() != head.flag()).0;
            let number = match self.numbers.get(self.words.as_slice()) {
                Some(number) => *number,
                None => {
                    let number = known + self.fresh.len();
                    if number >= TESTS_MAX {
                        for words in self.fresh.drain(..) {
                            self.numbers.remove(&words);
                        }
                        return None;
                    }
                    let words: Box<[u32]> = self.words.as_slice().into();
                    self.numbers.insert(words.clone(), number as u8);
                    self.fresh.push(words);
                    number as u8
                }
            };
            let jump = match step.jump {
                ACCEPT => ACCEPTED,
                REJECT => REJECTED,
                position => position as u8,
            };
            coded.push((number | u8::from(step.sense) << 7, jump));
        }
        for words in self.fresh.drain(..) {
            self.family.starts.push(self.family.words.len() as u32);
            self.family.words.extend_from_slice(&words);
        }
        Some(coded)
    }

    fn close_family(&mut self) {
        self.close_group();
        let mut family = std::mem::take(&mut self.family);
        self.numbers.clear();
        let first = self.out.families.last().map_or(0, |last| last.blocks.end);
        family.blocks = first..self.out.blocks.len();
        if family.blocks.is_empty() {
            return;
        }
        let programs: u32 = self.out.blocks[first..]
            .iter()
            .map(|block| block.lanes.count_ones())
            .sum();
        if (programs as usize) < family.tests() {
            self.dissolve(first);
        } else {
            self.out.families.push(family);
        }
    }

    /// Removes the blocks from `first` on: few programs over many tests are faster one by one.
    fn dissolve(&mut self, first: usize) {
        let blocks = self.out.blocks.get(first..).unwrap_or(&[]);
        if let Some(block) = blocks.first() {
            self.out.rows.truncate(block.start as usize);
        }
        if let Some(group) = blocks.iter().find_map(|block| block.group) {
            self.out.spreads.truncate(group.spread as usize);
        }
        self.out.blocks.truncate(first);
        let slots = self.out.slots.drain(first * LANES..);
        self.refused
            .extend(slots.filter(|slot| *slot != NO_PROGRAM));
    }

    /// Makes blocks of the waiting programs. Programs of similar reach share a block, because a block waits for its
    /// last lane.
    fn close_group(&mut self) {
        let mut programs = std::mem::take(&mut self.waiting);
        let Some(base) = programs.first().map(|first| first.slot) else {
            return;
        };
        let follows = |(at, program): (usize, &Waiting)| program.slot == base + at as u32;
        let in_a_row = base % LANES as u32 == 0 && programs.iter().enumerate().all(follows);
        if programs.len() > LANES {
            programs.sort_by_key(|program| program.reach);
        }
        for (word, lanes) in programs.chunks(LANES).enumerate() {
            let group = in_a_row.then(|| {
                let slots = lanes.iter().map(|program| program.slot);
                self.out.spreads.push(Spread::new(base, slots));
                Place {
                    base,
                    word: word as u32,
                    spread: self.out.spreads.len() as u32 - 1,
                }
            });
            self.block(lanes, group);
        }
    }

    fn block(&mut self, programs: &[Waiting], group: Option<Place>) {
        let positions = programs.iter().map(|p| p.steps.len()).max().unwrap_or(0);
        let cost: f32 = programs.iter().map(|program| program.cost).sum();
        self.out.blocks.push(Block {
            start: self.out.rows.len() as u32,
            positions: positions as u32,
            lanes: u64::MAX >> (LANES - programs.len()),
            charge: cost.clamp(1.0, CHARGE_MAX) as u32,
            group,
        });
        for position in 0..positions {
            let mut rows = [Row([0; LANES]); 2];
            for lane in 0..LANES {
                let steps = programs.get(lane).map_or(&[][..], |p| p.steps.as_slice());
                let beyond = position.saturating_sub(steps.len());
                // A lane that passes its last step accepts, whatever the first test is, so that it counts as
                // done.
                let end = (u8::from(beyond % 2 == 1) << 7, ACCEPTED);
                let (test, jump) = steps.get(position).copied().unwrap_or(end);
                rows[0].0[lane] = test;
                rows[1].0[lane] = jump;
            }
            self.out.rows.extend(rows);
        }
        let slots = programs.iter().map(|program| program.slot);
        let rest = std::iter::repeat(NO_PROGRAM);
        self.out.slots.extend(slots.chain(rest).take(LANES));
    }

    /// The result, and the slots of programs that run better elsewhere.
    pub(crate) fn finish(mut self) -> (Lockstep, Vec<u32>) {
        self.close_family();
        self.out.rows.shrink_to_fit();
        self.out.spreads.shrink_to_fit();
        (self.out, self.refused)
    }
}
