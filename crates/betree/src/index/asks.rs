//! What expressions ask: which values of which attributes, and how often.
//!
//! Everything that an index chooses by frequency rests on these counts. They decide where an expression is filed,
//! never whether it matches. A large set of expressions is sampled.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashMap;

use super::Sources;
use super::positions::ordered;
use super::texts::position;
use super::windows::PatternKey;
use crate::bind::range_bounds;
use crate::code::{Head, Op, heads, i64_at, u64_at};
use crate::expr::Position;

/// The most expressions that are counted; of more, every second, third and so on.
const SAMPLE_MAX: usize = 1 << 15;
/// The most bounds that are kept of an attribute.
const CUTS_MAX: usize = 1 << 14;
/// The most tests of an attribute that are told from each other.
const TESTS_MAX: u32 = 1 << 14;
/// The first words of a test, by which it is told from others.
const WORDS_MAX: usize = 16;

/// Tests of an attribute's texts from which on patterns are keys.
const TEXT_TESTS_MIN: u32 = 8;
/// The share of texts that have a pattern anywhere, by its length from 1 on; and that of longer ones.
const TEXT_SHARES: [f32; 4] = [0.3, 0.1, 0.05, 0.02];
const TEXT_SHARE_MIN: f32 = 0.01;

/// What the tests of one attribute ask.
#[derive(Debug, Default, Clone)]
pub(crate) struct Asked {
    /// Tests of values, and of ranges.
    pub(crate) tests: u32,
    /// Tests of ranges.
    pub(crate) ranges: u32,
    /// Distinct values with the number of tests that name them, in ascending order.
    pub(crate) points: Vec<(u64, u32)>,
    /// Positions at which an outcome can change, in ascending order, with repetition.
    pub(crate) cuts: Vec<i64>,
    /// All values that tests name, with repetition.
    named: u32,
    /// Some values were left out.
    pub(crate) is_partial: bool,
    /// Tests of patterns in texts.
    pub(crate) text_tests: u32,
}

/// What all expressions ask, by attribute.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    attributes: Vec<Asked>,
    /// How many tests ask for a pattern.
    patterns: HashMap<PatternKey, u32>,
    /// By attribute all tests, and the different ones.
    tests: Vec<(u32, HashSet<u64>)>,
    /// Expressions that were counted.
    pub(crate) sampled: usize,
}

impl Asks {
    pub(crate) fn new(sources: &Sources, attributes: usize) -> Self {
        let mut counts: HashMap<(u16, u64), u32> = HashMap::new();
        let mut out = Self {
            attributes: vec![Asked::default(); attributes],
            patterns: HashMap::new(),
            tests: vec![Default::default(); attributes],
            sampled: 0,
        };
        let state = RandomState::new();
        let step = sources.len().div_ceil(SAMPLE_MAX).max(1);
        for slot in (0..sources.len()).step_by(step) {
            out.sampled += 1;
            for (head, operands) in heads(sources.tree(slot)) {
                out.add(head, operands, &mut counts);
                out.count(head, operands, &state);
            }
        }
        for ((attribute, value), count) in counts {
            let asked = &mut out.attributes[usize::from(attribute)];
            asked.points.push((value, count));
            asked.named += count;
        }
        for asked in &mut out.attributes {
            asked.points.sort_unstable();
            asked.cuts.sort_unstable();
            asked.is_partial |= step > 1;
        }
        out
    }

    /// Counts a test, and whether it is like an earlier one of its attribute.
    fn count(&mut self, head: Head, operands: &[u32], state: &RandomState) {
        if matches!(
            head.op(),
            Op::And | Op::Or | Op::Close | Op::True | Op::False
        ) {
            return;
        }
        let tests = self.tests.get_mut(head.attribute());
        let Some((tests, distinct)) = tests.filter(|(tests, _)| *tests < TESTS_MAX) else {
            return;
        };
        *tests += 1;
        let first = operands.get(..WORDS_MAX).unwrap_or(operands);
        distinct.insert(state.hash_one((head.0, operands.len(), first)));
    }

    fn add(&mut self, head: Head, operands: &[u32], counts: &mut HashMap<(u16, u64), u32>) {
        let attribute = head.attribute() as u16;
        let Some(asked) = self.attributes.get_mut(head.attribute()) else {
            return;
        };
        if let Some(position) = position(head.op()) {
            let string = operands.first().copied().unwrap_or(0);
            *self
                .patterns
                .entry((attribute, position, string))
                .or_default() += 1;
            asked.text_tests += 1;
            return;
        }
        let narrow = |value: &u32| i64::from(*value as i32) as u64;
        let mut point = |value: u64| *counts.entry((attribute, value)).or_default() += 1;
        let mut cut = |at: Option<i64>| match at {
            Some(at) if asked.cuts.len() < CUTS_MAX => asked.cuts.push(at),
            Some(_) => asked.is_partial = true,
            None => {}
        };
        let float = || ordered(u64_at(operands, 0), true);
        match head.op() {
            Op::Bool => point(1),
            Op::Equal32 | Op::In => operands.iter().for_each(|value| point(narrow(value))),
            Op::Equal64 => point(i64_at(operands, 0) as u64),
            Op::InMany => {
                let values = (1..operands.len()).step_by(2);
                values.for_each(|at| point(i64_at(operands, at) as u64));
            }
            Op::HasAny | Op::HasAll => operands.iter().for_each(|e| point(u64::from(*e))),
            Op::Range32 | Op::Range64 => {
                let (low, high) = match (head.op(), operands) {
                    (Op::Range32, [low, high, ..]) => range_bounds(*low, *high),
                    _ => (i64_at(operands, 0), i64_at(operands, 2)),
                };
                cut((low > i64::MIN).then_some(low));
                cut(high.checked_add(1));
            }
            Op::FloatLess | Op::FloatGreaterEqual => cut(Some(float())),
            Op::FloatLessEqual | Op::FloatGreater => cut(float().checked_add(1)),
            Op::FloatEqual => {
                cut(Some(float()));
                cut(float().checked_add(1));
            }
            _ => return,
        }
        asked.ranges += u32::from(matches!(
            head.op(),
            Op::Range32
                | Op::Range64
                | Op::FloatLess
                | Op::FloatLessEqual
                | Op::FloatGreater
                | Op::FloatGreaterEqual
        ));
        asked.tests += 1;
    }

    /// The share of events of which a text has a pattern of this length, by the length and by how often expressions ask
    /// for it. `None` when every text has it, or when so few tests are of texts that reading each event's text costs
    /// more.
    pub(crate) fn pattern(&self, key: PatternKey, length: usize) -> Option<f32> {
        let all = self.of(usize::from(key.0))?.text_tests;
        if length == 0 || all < TEXT_TESTS_MIN {
            return None;
        }
        let by_length = TEXT_SHARES.get(length - 1).copied();
        let by_length = by_length.unwrap_or(TEXT_SHARE_MIN);
        let anchored = match key.1 {
            Position::Anywhere => 1.0,
            Position::Start | Position::End => 0.25,
        };
        let asked = self.patterns.get(&key).copied().unwrap_or(0);
        Some(by_length * anchored + asked as f32 / all as f32 / 2.0)
    }

    /// The share of an attribute's tests that no earlier one equals.
    pub(crate) fn distinct(&self, attribute: usize) -> f32 {
        let tests = self.tests.get(attribute);
        tests.map_or(1.0, |(all, distinct)| {
            distinct.len() as f32 / (*all).max(1) as f32
        })
    }

    /// The tests of an attribute for each expression, if there are fewer than many.
    pub(crate) fn share(&self, attribute: usize) -> f32 {
        let tests = self.tests.get(attribute).map_or(0, |(tests, _)| *tests);
        tests as f32 / self.sampled.max(1) as f32
    }

    /// What is asked of an attribute.
    pub(crate) fn of(&self, attribute: usize) -> Option<&Asked> {
        self.attributes.get(attribute)
    }
}

impl Asked {
    /// The share of all named values that are one of these. Each is looked for from the one before it on, so that
    /// ascending values are found in few steps.
    pub(crate) fn share(&self, values: impl IntoIterator<Item = u64>) -> f32 {
        let (mut at, mut count) = (0, 0u64);
        for value in values {
            at = self.seek(at, value);
            if let Some((_, tests)) = self.points.get(at).filter(|(found, _)| *found == value) {
                count += u64::from(*tests);
            }
        }
        count as f32 / self.named.max(1) as f32
    }

    /// The first value that is not below one, looked for from a place on.
    fn seek(&self, from: usize, value: u64) -> usize {
        let is_below = |at: usize| self.points.get(at).is_some_and(|(found, _)| *found < value);
        let from = from.checked_sub(1).filter(|before| is_below(*before));
        let mut low = from.map_or(0, |before| before + 1);
        // Without a place to begin at, the whole is divided at once.
        let mut step = if from.is_some() { 1 } else { self.points.len() };
        while is_below(low + step.saturating_sub(1)) {
            low += step;
            step *= 2;
        }
        let end = self.points.len().min(low + step);
        let rest = self.points.get(low..end).unwrap_or(&[]);
        low + rest.partition_point(|(found, _)| *found < value)
    }

    /// At most `count` positions that divide the bounds of all ranges in parts of about the same number, ascending.
    pub(crate) fn quantiles(&self, count: usize) -> Vec<i64> {
        let mut distinct = self.cuts.clone();
        distinct.dedup();
        if distinct.len() <= count {
            return distinct;
        }
        let mut out: Vec<i64> = (0..count)
            .filter_map(|at| self.cuts.get(self.cuts.len() * at / count).copied())
            .collect();
        out.dedup();
        out
    }
}
