//! Trees of words as conjunctions, joined by `or`.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::conjunction::Conjunction;
use super::tests::Test;
use crate::code::{Head, Op};
use crate::dictionary::Dictionary;
use crate::domain::Domain;

/// Most conjunctions of an expression, and most tests in all of them: what has more is not looked into.
const CONJUNCTIONS_MAX: usize = 64;
const TESTS_MAX: usize = 2_048;

/// An expression as conjunctions, any of which makes it match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub(super) conjunctions: Vec<Conjunction>,
}

impl Form {
    /// The form of a tree, or of its opposite. `None` when it is too large.
    pub(super) fn new(
        tree: &[u32],
        (domain, dictionary): (&Domain, &Dictionary),
        opposite: bool,
    ) -> Option<Self> {
        let allows = |attribute: u16| {
            let attribute = domain.attributes().get(usize::from(attribute));
            attribute.is_none_or(|attribute| attribute.allows_undefined())
        };
        let mut kept: Vec<Conjunction> = Vec::new();
        for tests in expand(tree, opposite)? {
            let Some(fresh) = Conjunction::new(&tests, dictionary, allows) else {
                continue;
            };
            if !kept.iter().any(|known| fresh.implies(known)) {
                kept.retain(|known| !known.implies(&fresh));
                kept.push(fresh);
            }
        }
        kept.sort_by_cached_key(hash_of);
        Some(Self { conjunctions: kept })
    }

    /// Whether no event matches.
    pub(super) fn is_never(&self) -> bool {
        self.conjunctions.is_empty()
    }

    pub(super) fn implies(&self, other: &Self) -> bool {
        let implied = |own: &Conjunction| other.conjunctions.iter().any(|one| own.implies(one));
        self.conjunctions.iter().all(implied)
    }

    pub(super) fn hash(&self) -> u64 {
        hash_of(self)
    }
}

/// A hash, the same in each run.
pub(super) fn hash_of<T: Hash + ?Sized>(what: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// An open group: whether all of its parts must hold, and the conjunctions of those so far.
struct Group {
    all: bool,
    sums: Vec<Vec<Test>>,
}

impl Group {
    fn new(all: bool) -> Self {
        Self {
            all,
            sums: if all { vec![Vec::new()] } else { Vec::new() },
        }
    }

    /// Adds a part. Returns false when it gets too large.
    fn add(&mut self, part: Vec<Vec<Test>>) -> bool {
        if !self.all {
            self.sums.extend(part);
        } else if let [only] = part.as_slice() {
            for sum in &mut self.sums {
                sum.extend_from_slice(only);
            }
        } else {
            if self.sums.len() * part.len() > CONJUNCTIONS_MAX {
                return false;
            }
            let pairs = self
                .sums
                .iter()
                .flat_map(|sum| part.iter().map(|more| [&sum[..], more].concat()));
            self.sums = pairs.collect();
        }
        self.sums.len() <= CONJUNCTIONS_MAX
            && self.sums.iter().map(Vec::len).sum::<usize>() <= TESTS_MAX
    }
}

fn expand(tree: &[u32], opposite: bool) -> Option<Vec<Vec<Test>>> {
    let mut groups = vec![Group::new(!opposite)];
    let mut at = 0;
    while let Some(word) = tree.get(at) {
        let head = Head(*word);
        let operands = tree.get(at + 1..).unwrap_or(&[]);
        let count = head.operands(operands.first().copied().unwrap_or(0));
        let operands = operands.get(..count).unwrap_or(operands);
        at += 1 + count;
        let part = match head.op() {
            Op::And | Op::Or => {
                groups.push(Group::new((head.op() == Op::And) != opposite));
                continue;
            }
            Op::Close => match groups.pop() {
                Some(group) => group.sums,
                None => continue,
            },
            Op::True | Op::False => match (head.op() == Op::True) != opposite {
                true => vec![Vec::new()],
                false => Vec::new(),
            },
            _ => {
                let test = Test::new(head, operands);
                vec![vec![if opposite { test.opposite() } else { test }]]
            }
        };
        if !groups.last_mut()?.add(part) {
            return None;
        }
    }
    groups.pop().map(|group| group.sums)
}
