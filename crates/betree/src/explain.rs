//! Explains why an expression matches an event or not: its tests as text, each with its outcome.

mod event;
mod words;

use crate::SubscriptionId;
use crate::code::{HAS_MAX, Head, Op};
use crate::domain::Attribute;
use crate::error::{Error, ErrorKind, Result};
use crate::eval;
use crate::event::{Event, EventValues};
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Why an expression matches an event, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether it matches.
    pub matched: bool,
    /// Its tests, in the order in which they are evaluated.
    pub tests: Vec<ExplainedTest>,
    /// Its structure as it is evaluated: each group before what it holds. Negations stand at the tests. A group of
    /// one part is left out.
    pub nodes: Vec<ExplainedNode>,
    /// For an expression that does not match, the attribute that the C library reports as its last reason: that
    /// of the test that decides an evaluation from left to right. If that test is undefined because the event lacks
    /// something else, the name of that: `now`, or the longitude.
    pub last_reason: Option<String>,
}

/// One test of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedTest {
    /// The test in the language of expressions.
    pub text: String,
    /// Its outcome; `None` for an undefined attribute.
    pub outcome: Option<bool>,
    /// What the event has for it, as `the event has 1`.
    pub event: String,
    /// Whether this test, perhaps with others, is why the expression does not match.
    pub failing: bool,
    /// Whether this test, perhaps with others, is why the expression matches: of a group of which one is enough,
    /// only the first that is true.
    pub holding: bool,
}

/// A group, a test or a constant of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedNode {
    /// In how many groups it stands.
    pub depth: usize,
    /// What it is.
    pub kind: ExplainedKind,
    /// Whether it counts as true. A test of an undefined attribute has no outcome, but counts as true or false.
    pub value: bool,
}

/// What a node of an expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainedKind {
    /// A group that is true if all of it is.
    And,
    /// A group that is true if any of it is.
    Or,
    /// The test of this position among the tests.
    Test(usize),
    /// `true` or `false`.
    Constant,
}

impl Explanation {
    /// The tests that make the expression match; none if it does not, or if it tests nothing.
    pub fn because(&self) -> impl Iterator<Item = &ExplainedTest> {
        self.tests.iter().filter(|test| test.holding)
    }
}

impl Snapshot {
    /// Explains a subscription's result for an event, test by test. Takes time in proportion to the expression.
    ///
    /// # Errors
    /// An id that does not exist, or an event that was read for another snapshot.
    pub fn explain(&self, event: &Event, id: SubscriptionId) -> Result<Explanation> {
        let state = self.state();
        if event.0.generation != state.dictionary.generation() {
            let message = "the event was read for another tree or an earlier state of this one: read it again";
            return Err(Error::new(ErrorKind::ForeignEvent, message));
        }
        let tree = state.parts.iter().find_map(|part| {
            let slot = part.index.slot(id).filter(|slot| part.is_alive(*slot))?;
            Some(part.index.sources.tree(slot))
        });
        let tree = tree.ok_or_else(|| {
            let message = format!("subscription {} does not exist", id.0);
            Error::new(ErrorKind::UnknownId, message)
        })?;
        let mut arena = Arena::default();
        arena.load(tree, &Estimates::new(&state.domain, &state.dictionary));
        Ok(explain(state, &event.0, &arena))
    }
}

fn explain(state: &State, event: &EventValues, arena: &Arena) -> Explanation {
    let count = arena.nodes.len();
    let mut values = vec![false; count];
    let mut outcomes = vec![None; count];
    for index in (0..count as u32).rev() {
        let at = index as usize;
        let mut children = arena.children(index).iter();
        values[at] = match arena.nodes[at].op {
            Op::And => children.all(|child| values[*child as usize]),
            Op::Or => children.any(|child| values[*child as usize]),
            Op::True => true,
            Op::False => false,
            _ => {
                let test = arena.test(index);
                let head = Head(test[0]);
                let found = eval::test(head, &test[1..], event, &state.dictionary);
                outcomes[at] = found.map(|found| found != head.flag());
                outcomes[at].unwrap_or(head.undefined())
            }
        };
    }
    let last_reason = match values[ROOT as usize] {
        true => None,
        false => last_reason(state, event, arena, &values),
    };
    let mut found = Explanation {
        matched: values[ROOT as usize],
        tests: Vec::new(),
        nodes: Vec::new(),
        last_reason,
    };
    let mut due = vec![Due {
        test: Joined::one(ROOT),
        depth: 0,
        failing: !found.matched,
        holding: found.matched,
    }];
    while let Some(node) = due.pop() {
        let index = node.test.first;
        let value = values[index as usize];
        let op = arena.nodes[index as usize].op;
        let kind = match op {
            Op::And | Op::Or => {
                let parts = joined(arena, index, &mut values);
                let is_shown = parts.len() != 1;
                // One is enough for a disjunction.
                let value = |part: &Joined| values[part.first as usize];
                let first = parts.iter().position(value);
                due.extend(parts.iter().enumerate().rev().map(|(at, part)| Due {
                    test: *part,
                    depth: node.depth + usize::from(is_shown),
                    failing: node.failing && !value(part),
                    holding: node.holding && (op == Op::And || first == Some(at)),
                }));
                match (is_shown, op) {
                    (false, _) => continue,
                    (true, Op::And) => ExplainedKind::And,
                    (true, _) => ExplainedKind::Or,
                }
            }
            Op::True | Op::False => ExplainedKind::Constant,
            _ => {
                let (head, operands) = node.test.words(arena);
                found.tests.push(ExplainedTest {
                    text: words::describe(state, head, &operands),
                    outcome: outcomes[index as usize].map(|_| value),
                    event: event::has(state, head, &operands, event),
                    failing: node.failing,
                    holding: node.holding,
                });
                ExplainedKind::Test(found.tests.len() - 1)
            }
        };
        found.nodes.push(ExplainedNode {
            depth: node.depth,
            kind,
            value,
        });
    }
    found
}

/// Parts of a group that were one test when it was written: long lists are cut, and lists of floats are tests of
/// equality.
#[derive(Debug, Clone, Copy)]
struct Joined {
    first: u32,
    count: u32,
}

impl Joined {
    fn one(index: u32) -> Self {
        Self {
            first: index,
            count: 1,
        }
    }

    /// The head of the first, and the operands of all.
    fn words(self, arena: &Arena) -> (Head, Vec<u32>) {
        let tests = (self.first..self.first + self.count).map(|index| arena.test(index));
        let operands = tests.flat_map(|test| test[1..].iter().copied());
        (Head(arena.test(self.first)[0]), operands.collect())
    }
}

/// The parts of a group in the order of their evaluation. The value of several that are one test is left at the first
/// of them.
fn joined(arena: &Arena, group: u32, values: &mut [bool]) -> Vec<Joined> {
    let is_and = arena.nodes[group as usize].op == Op::And;
    let children = arena.children(group);
    let mut written = children.to_vec();
    written.sort_unstable();
    let mut parts: Vec<Joined> = Vec::new();
    for index in written {
        match parts.last_mut() {
            Some(part) if is_continued(arena, is_and, part.first + part.count - 1, index) => {
                part.count += 1;
                let (first, value) = (part.first as usize, values[index as usize]);
                values[first] = match is_and {
                    true => values[first] && value,
                    false => values[first] || value,
                };
            }
            _ => parts.push(Joined::one(index)),
        }
    }
    let find = |index: &u32| parts.binary_search_by_key(index, |part| part.first).ok();
    children
        .iter()
        .filter_map(find)
        .map(|at| parts[at])
        .collect()
}

/// Whether a test of a group continues the list of the test before it.
fn is_continued(arena: &Arena, is_and: bool, before: u32, index: u32) -> bool {
    let is_test = |index: u32| {
        let op = arena.nodes[index as usize].op;
        matches!(op, Op::HasAny | Op::HasAll | Op::FloatEqual)
    };
    if index != before + 1 || !is_test(before) || !is_test(index) {
        return false;
    }
    let (test, next) = (arena.test(before), arena.test(index));
    let head = Head(test[0]);
    let is_same = head.uncounted() == Head(next[0]).uncounted();
    // Negation turns `any` to `all`.
    let is_all = (head.op() == Op::HasAll) != head.flag();
    let is_cut = head.op() == Op::FloatEqual
        || (head.len() == HAS_MAX && test.last().zip(next.get(1)).is_some_and(|(a, b)| a < b));
    is_same && is_cut && is_all == is_and
}

/// A node that is still to be explained.
struct Due {
    test: Joined,
    depth: usize,
    /// Whether everything above it fails because of it.
    failing: bool,
    /// Whether everything above it holds because of it.
    holding: bool,
}

/// What the deciding test lacks, or its attribute, when tests are evaluated as written.
fn last_reason(
    state: &State,
    event: &EventValues,
    arena: &Arena,
    values: &[bool],
) -> Option<String> {
    let mut at = ROOT;
    loop {
        // Trees are stored from right to left.
        let children = arena.children(at).iter().copied();
        at = match arena.nodes[at as usize].op {
            // The first that fails decides a conjunction, the last a disjunction.
            Op::And => children.filter(|child| !values[*child as usize]).max()?,
            Op::Or => children.min()?,
            Op::True | Op::False => return None,
            _ => {
                let test = arena.test(at);
                let head = Head(test[0]);
                let lacking = event::lacks(state, head, &test[1..], event);
                let attribute = || state.domain.attributes().get(head.attribute());
                let name = lacking.or_else(|| attribute().map(Attribute::name));
                return name.map(str::to_owned);
            }
        };
    }
}
