//! Explains why an expression matches an event or not: its tests as text, each with its outcome.

use crate::SubscriptionId;
use crate::bind::{Undefined, range_bounds};
use crate::code::{Head, Op, i64_at, u64_at};
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result};
use crate::eval;
use crate::event::{Event, EventValues};
use crate::expr::escaped;
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Most constants of a list that are shown.
const LIST_MAX: usize = 20;

/// Why an expression matches an event, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether it matches.
    pub matched: bool,
    /// Its tests, in the order in which they are evaluated.
    pub tests: Vec<ExplainedTest>,
    /// Its structure as it is evaluated: each group before what it holds. Negations stand at the tests.
    pub nodes: Vec<ExplainedNode>,
    /// For an expression that does not match, the attribute that the C library reports as its last reason: that
    /// of the test that decides an evaluation from left to right.
    pub last_reason: Option<String>,
}

/// One test of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedTest {
    /// The test in the language of expressions.
    pub text: String,
    /// Its outcome; `None` for an undefined attribute.
    pub outcome: Option<bool>,
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
    let mut tests = Vec::new();
    let mut nodes = Vec::new();
    let mut due = vec![Due {
        index: ROOT,
        depth: 0,
        failing: !values[ROOT as usize],
        holding: values[ROOT as usize],
    }];
    while let Some(node) = due.pop() {
        let at = node.index as usize;
        let children = arena.children(node.index);
        let value = |child: u32| values[child as usize];
        // One is enough for a disjunction.
        let first = children.iter().copied().find(|child| value(*child));
        let op = arena.nodes[at].op;
        let kind = match op {
            Op::And => ExplainedKind::And,
            Op::Or => ExplainedKind::Or,
            Op::True | Op::False => ExplainedKind::Constant,
            _ => {
                tests.push(ExplainedTest {
                    text: describe(state, arena.test(node.index)),
                    outcome: outcomes[at],
                    failing: node.failing,
                    holding: node.holding,
                });
                ExplainedKind::Test(tests.len() - 1)
            }
        };
        nodes.push(ExplainedNode {
            depth: node.depth,
            kind,
            value: values[at],
        });
        if matches!(op, Op::And | Op::Or) {
            due.extend(children.iter().rev().map(|child| Due {
                index: *child,
                depth: node.depth + 1,
                failing: node.failing && !value(*child),
                holding: node.holding && (op == Op::And || first == Some(*child)),
            }));
        }
    }
    let matched = values[ROOT as usize];
    Explanation {
        matched,
        tests,
        nodes,
        last_reason: match matched {
            true => None,
            false => last_reason(state, arena, &values),
        },
    }
}

/// A node that is still to be explained.
struct Due {
    index: u32,
    depth: usize,
    /// Whether everything above it fails because of it.
    failing: bool,
    /// Whether everything above it holds because of it.
    holding: bool,
}

/// The attribute of the deciding test when tests are evaluated as written.
fn last_reason(state: &State, arena: &Arena, values: &[bool]) -> Option<String> {
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
                let attribute = Head(arena.test(at)[0]).attribute();
                let attributes = state.domain.attributes();
                return attributes
                    .get(attribute)
                    .map(|found| found.name().to_owned());
            }
        };
    }
}

/// A test as text.
fn describe(state: &State, test: &[u32]) -> String {
    let (head, operands) = (Head(test[0]), &test[1..]);
    let words = Words {
        domain: &state.domain,
        dictionary: &state.dictionary,
        attribute: head.attribute(),
        operands,
    };
    if head.op() == Op::Defined {
        let word = if head.flag() {
            "is null"
        } else {
            "is not null"
        };
        return format!("{} {word}", words.name());
    }
    // Where an undefined attribute makes a test false, `a <> 1` and `not (a = 1)` differ: under an odd number of `not`s
    // it is true. Else they are the same.
    let has_opposite = words.opposite(head).is_some();
    let negated = match state.undefined {
        Undefined::False => head.undefined(),
        Undefined::Unknown => head.flag() && !has_opposite,
    };
    let text = match head.flag() != negated {
        false => words.test(head),
        true => words
            .opposite(head)
            .unwrap_or_else(|| format!("not ({})", words.test(head))),
    };
    match negated {
        false => text,
        true => format!("not ({text})"),
    }
}

struct Words<'a> {
    domain: &'a Domain,
    dictionary: &'a Dictionary,
    attribute: usize,
    operands: &'a [u32],
}

impl Words<'_> {
    fn name(&self) -> &str {
        let attribute = self.domain.attributes().get(self.attribute);
        attribute.map_or("", |attribute| attribute.name())
    }

    fn operand(&self, at: usize) -> u32 {
        self.operands.get(at).copied().unwrap_or(0)
    }

    fn float(&self, at: usize) -> f64 {
        f64::from_bits(u64_at(self.operands, at))
    }

    /// A value of the attribute.
    fn value(&self, value: i64) -> String {
        let kind = self
            .domain
            .attributes()
            .get(self.attribute)
            .map(|a| a.kind());
        match kind {
            Some(AttributeType::String { .. } | AttributeType::StringList { .. }) => {
                escaped(self.dictionary.text(value as u32))
            }
            _ => value.to_string(),
        }
    }

    fn list(&self, values: impl ExactSizeIterator<Item = i64>) -> String {
        let rest = values.len().saturating_sub(LIST_MAX);
        let mut texts: Vec<String> = values
            .take(LIST_MAX)
            .map(|value| self.value(value))
            .collect();
        if rest > 0 {
            texts.push(format!("… {rest} more"));
        }
        format!("({})", texts.join(", "))
    }

    fn elements(&self) -> String {
        let value = |element: &u32| {
            let found = self.dictionary.element(*element);
            found.map_or(0, |(_, value)| value as i64)
        };
        self.list(self.operands.iter().map(value))
    }

    /// The test whose outcome is the opposite for each value, if the language has one.
    fn opposite(&self, head: Head) -> Option<String> {
        let (word, other) = match head.op() {
            Op::Equal32 | Op::Equal64 | Op::FloatEqual => (" = ", " <> "),
            Op::In | Op::InMany => (" in ", " not in "),
            Op::HasAny => (" one of ", " none of "),
            _ => return None,
        };
        Some(self.test(head).replacen(word, other, 1))
    }

    fn test(&self, head: Head) -> String {
        let name = self.name();
        let compare = |sign: &str| format!("{name} {sign} {}", float(self.float(0)));
        match head.op() {
            Op::Bool => name.to_owned(),
            Op::Equal32 => format!("{name} = {}", self.value(i64::from(self.operand(0) as i32))),
            Op::Equal64 => format!("{name} = {}", self.value(i64_at(self.operands, 0))),
            Op::Range32 => {
                let (low, high) = range_bounds(self.operand(0), self.operand(1));
                self.range(low, high)
            }
            Op::Range64 => self.range(i64_at(self.operands, 0), i64_at(self.operands, 2)),
            Op::FloatLess => compare("<"),
            Op::FloatLessEqual => compare("<="),
            Op::FloatGreater => compare(">"),
            Op::FloatGreaterEqual => compare(">="),
            Op::FloatEqual => compare("="),
            Op::In => {
                let values = self.operands.iter().map(|value| i64::from(*value as i32));
                format!("{name} in {}", self.list(values))
            }
            Op::InMany => {
                let count = self.operand(0) as usize;
                let values = (0..count).map(|at| i64_at(self.operands, 1 + 2 * at));
                format!("{name} in {}", self.list(values))
            }
            Op::HasAny => format!("{name} one of {}", self.elements()),
            Op::HasAll => format!("{name} all of {}", self.elements()),
            Op::Defined => format!("{name} is not null"),
            Op::Empty => format!("{name} is empty"),
            _ => self.special(head),
        }
    }

    fn special(&self, head: Head) -> String {
        let name = self.name();
        let pattern = escaped(self.dictionary.text(self.operand(0)));
        let segment = |word: &str| {
            let id = self
                .dictionary
                .segment(self.operand(0))
                .map_or(0, |key| key.1);
            format!("segment_{word}({name}, {id}, {})", i64_at(self.operands, 1))
        };
        match head.op() {
            Op::Contains => format!("contains({name}, {pattern})"),
            Op::StartsWith => format!("starts_with({name}, {pattern})"),
            Op::EndsWith => format!("ends_with({name}, {pattern})"),
            Op::Geo => format!(
                "geo_within_radius({}, {}, {})",
                float(self.float(1)),
                float(self.float(3)),
                float(self.float(5))
            ),
            Op::SegmentWithin => segment("within"),
            Op::SegmentBefore => segment("before"),
            Op::Cap => {
                let key = self.dictionary.cap(self.operand(0));
                let (kind, name) = key.map_or((String::new(), ""), |(kind, ip, _, name)| {
                    (kind.word(ip), self.dictionary.text(name))
                });
                format!(
                    "within_frequency_cap(\"{kind}\", {}, {}, {})",
                    escaped(name),
                    i64_at(self.operands, 1),
                    i64_at(self.operands, 3)
                )
            }
            _ => String::new(),
        }
    }

    fn range(&self, low: i64, high: i64) -> String {
        let name = self.name();
        match (low, high) {
            (i64::MIN, high) => format!("{name} <= {high}"),
            (low, i64::MAX) => format!("{name} >= {low}"),
            (low, high) if low > high => format!("{name} in an empty range"),
            (low, high) => format!("{name} >= {low} and {name} <= {high}"),
        }
    }
}

/// A float in digits that the language reads back as the same value.
fn float(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-5..1e16 => value.to_string(),
        _ => format!("{value:e}"),
    }
}
