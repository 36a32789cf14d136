//! Merges indexes apart from the tree that they are of, so that neither its writer nor its readers wait.
//!
//! When to merge and what becomes of expressions that were removed meanwhile is here; which state is searched
//! is in [`crate::BeTree`].

use std::ops::Range;
use std::sync::Arc;

use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::index::Sources;
use crate::program::estimate::Estimates;
use crate::renew::Renewed;
use crate::state::Part;

/// Indexes of a tree that are to become one. Made by [`BeTree::merge`](crate::BeTree::merge).
#[derive(Debug)]
pub struct Merge {
    parts: Vec<Part>,
    domain: Arc<Domain>,
    dictionary: Arc<Dictionary>,
    /// Whether names that no expression uses are dropped; then these are all indexes.
    renews: bool,
}

/// Indexes and their union, for [`BeTree::adopt`](crate::BeTree::adopt).
#[derive(Debug)]
pub struct Merged {
    parts: Vec<Part>,
    /// Without live expressions there is no index.
    pub(crate) union: Option<Part>,
    /// The names of the union, if they have other numbers than those of the tree.
    pub(crate) renewed: Option<Renewed>,
}

/// The next parts to merge: the last ones, as long as none is much larger than those after it together; or one
/// that has more dead than live expressions.
pub(crate) fn due(parts: &[Part], growth: usize) -> Option<Range<usize>> {
    let (mut from, mut sum) = (parts.len(), 0);
    for (at, part) in parts.iter().enumerate().rev() {
        if from < parts.len() && part.len() > growth * sum {
            break;
        }
        sum += part.len();
        from = at;
    }
    if parts.len() - from > 1 {
        return Some(from..parts.len());
    }
    let mostly_dead = |part: &Part| part.dead_count > part.len();
    let at = parts.iter().position(mostly_dead)?;
    Some(at..at + 1)
}

impl Merge {
    pub(crate) fn new(
        parts: &[Part],
        domain: Arc<Domain>,
        dictionary: Arc<Dictionary>,
        renews: bool,
    ) -> Self {
        Self {
            parts: parts.to_vec(),
            domain,
            dictionary,
            renews,
        }
    }

    /// How many expressions the union will have.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    /// Whether it will have none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Builds the union: about 10 microseconds per expression.
    #[must_use]
    pub fn run(self) -> Merged {
        let mut sources = Sources::default();
        for part in &self.parts {
            sources.append(&part.index.sources, |slot| part.is_alive(slot));
        }
        let mut sources = sources.sorted(|_| true);
        let renewed = self.renews.then(|| {
            let mut renewed = Renewed::new(&self.dictionary, &self.domain);
            renewed.renumber(&self.dictionary, &self.domain, sources.all_words_mut());
            renewed
        });
        let renewed_names = renewed.as_ref().map(Renewed::dictionary);
        let dictionary = renewed_names.unwrap_or(&self.dictionary);
        let union = (sources.len() > 0).then(|| {
            let estimates = Estimates::new(&self.domain, dictionary);
            Part::compile(sources, &self.domain, dictionary, &estimates)
        });
        Merged {
            parts: self.parts,
            union,
            renewed,
        }
    }
}

impl Merged {
    /// Puts the union in the place of its parts. Expressions that died meanwhile die in it, too.
    pub(crate) fn replace(self, parts: &mut Vec<Part>) -> bool {
        let Some(first) = self.parts.first() else {
            return false;
        };
        let same = |a: &Part, b: &Part| Arc::ptr_eq(&a.index, &b.index);
        let Some(from) = parts.iter().position(|part| same(part, first)) else {
            return false;
        };
        let to = from + self.parts.len();
        let now = parts.get(from..to).unwrap_or(&[]);
        if now.len() != self.parts.len() || !now.iter().zip(&self.parts).all(|(a, b)| same(a, b)) {
            return false;
        }
        let mut union = self.union;
        if let Some(union) = &mut union {
            for (now, then) in now.iter().zip(&self.parts) {
                for (word, bits) in now.dead.iter().enumerate() {
                    let mut died = bits & !then.dead(word);
                    while died != 0 {
                        let slot = word * 64 + died.trailing_zeros() as usize;
                        died &= died - 1;
                        let id = now.index.sources.ids.get(slot);
                        if let Some(slot) = id.and_then(|id| union.index.slot(*id)) {
                            union.kill(slot);
                        }
                    }
                }
            }
        }
        parts.splice(from..to, union);
        true
    }
}
