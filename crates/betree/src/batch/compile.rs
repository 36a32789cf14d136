//! The programs of lockstep blocks as steps over the rows of their family's tests.
//!
//! An `or` is the negated `and` of negations, so `and` is the only step.

use std::collections::HashMap;

use crate::code::{Head, Op};
use crate::index::Index;
use crate::lockstep::Family;
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;
use crate::simd::{LANES, NO_PROGRAM, Step, WAITING};

/// The code of all lanes of an index, by block and lane.
#[derive(Debug, Default)]
pub(super) struct Code {
    steps: Vec<Step>,
    ends: Vec<u32>,
    /// The most outcomes that wait at the same time.
    pub(super) waiting: usize,
}

impl Code {
    pub(super) fn new(index: &Index, estimates: &Estimates) -> Self {
        let mut out = Self::default();
        let mut arena = Arena::default();
        for family in &index.lockstep.families {
            let numbers = numbers(family);
            for block in family.blocks.clone() {
                for lane in 0..LANES {
                    let slot = index.lockstep.slot_in_order(block, lane);
                    if slot != NO_PROGRAM {
                        arena.load(index.sources.tree(slot as usize), estimates);
                        out.write(&arena, &numbers);
                    }
                    out.ends.push(out.steps.len() as u32);
                }
            }
        }
        out
    }

    /// The code of a lane.
    pub(super) fn of(&self, block: usize, lane: usize) -> &[Step] {
        let at = block * LANES + lane;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.steps[start as usize..self.ends[at] as usize]
    }

    fn write(&mut self, arena: &Arena, numbers: &HashMap<Vec<u32>, usize>) {
        /// What is still to be written, and whether it is negated.
        enum Due {
            Node(u32, bool),
            /// And with a test.
            Test(u32, bool),
            /// The last outcome waits for the next one.
            Wait,
            /// And with what waits.
            Join,
            Negate,
        }
        let is_group = |node: u32| matches!(arena.nodes[node as usize].op, Op::And | Op::Or);
        let row = |node: u32, negated: bool| {
            let mut words = arena.test(node).to_vec();
            let head = Head(words[0]);
            words[0] = head.with(false, head.undefined() != head.flag()).0;
            // Every test of a program has a number in its family.
            let number = numbers.get(&words).copied().unwrap_or(0);
            2 * number + usize::from(head.flag() != negated)
        };
        let mut due = vec![Due::Node(ROOT, false)];
        let mut waiting = 0;
        while let Some(next) = due.pop() {
            match next {
                Due::Test(node, negated) => self.steps.push(Step::and(row(node, negated))),
                Due::Wait => {
                    self.amend(|step| step.put(WAITING + waiting));
                    waiting += 1;
                    self.waiting = self.waiting.max(waiting);
                }
                Due::Join => {
                    waiting -= 1;
                    self.steps.push(Step::and(WAITING + waiting));
                }
                Due::Negate => self.amend(Step::negated),
                Due::Node(node, negated) if is_group(node) => {
                    let or = arena.nodes[node as usize].op == Op::Or;
                    let first = due.len();
                    // Groups come first, so that fewer outcomes wait.
                    let children = arena.children(node).iter().copied();
                    let (groups, leaves): (Vec<u32>, Vec<u32>) =
                        children.partition(|n| is_group(*n));
                    for child in groups.into_iter().chain(leaves) {
                        match (due.len() == first, is_group(child)) {
                            (true, _) => due.push(Due::Node(child, or)),
                            (false, true) => {
                                due.extend([Due::Wait, Due::Node(child, or), Due::Join]);
                            }
                            (false, false) => due.push(Due::Test(child, or)),
                        }
                    }
                    if or != negated {
                        due.push(Due::Negate);
                    }
                    due[first..].reverse();
                }
                Due::Node(leaf, negated) => self.steps.push(Step::begin(row(leaf, negated))),
            }
        }
    }

    /// Changes the last step.
    fn amend(&mut self, change: impl FnOnce(Step) -> Step) {
        if let Some(step) = self.steps.last_mut() {
            *step = change(*step);
        }
    }
}

/// The number of each test of a family.
fn numbers(family: &Family) -> HashMap<Vec<u32>, usize> {
    let one = |number: usize| {
        let words = family.test(number);
        let first = words.get(1).copied().unwrap_or(0);
        let operands = words.first().map_or(0, |word| Head(*word).operands(first));
        let words = words.get(..1 + operands).unwrap_or(words);
        (words.to_vec(), number)
    };
    (0..family.tests()).map(one).collect()
}
