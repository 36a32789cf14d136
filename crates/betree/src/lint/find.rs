//! Looks for what is odd, an expression at a time.

use std::collections::HashMap;

use super::conjunction::{Hull, Key};
use super::form::{Form, hash_of};
use crate::SubscriptionId;
use crate::budget::Progress;
use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Most values by which a conjunction is found.
const KEYS_MAX: usize = 64;
/// Most expressions that one is compared with.
const COMPARED_MAX: usize = 256;
/// Most expressions that one is compared with once another subsumes it, to find one that says more.
const TIGHTER_MAX: usize = 64;
/// Most expressions of a key that are looked at.
const LISTED_MAX: usize = 4_096;

/// What is odd about an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oddity {
    /// No event matches it.
    Never,
    /// Every event matches it.
    Always,
    /// It matches the same events as another.
    Duplicate(SubscriptionId),
    /// Every event that matches it matches another, too. Of several this is one that none of the others looked at is
    /// subsumed by.
    Subsumed(SubscriptionId),
}

/// An expression with an oddity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The expression.
    pub id: SubscriptionId,
    /// What is odd about it.
    pub oddity: Oddity,
}

/// A search for odd expressions of a snapshot, made by [`Snapshot::lint`].
///
/// Whatever it reports is so. It misses what takes more than 64 conjunctions to write out, some consequences of several
/// lists, and what segments and counters mean: tests of these are compared as they are written. Of patterns in texts and of
/// circles it knows what contradicts, not what subsumes.
#[derive(Debug)]
pub struct Lint<'s> {
    state: &'s State,
    /// The next expression: whether all were filed, its part and its slot.
    at: (bool, usize, usize),
    /// The first expression of each hash.
    hashes: HashMap<u64, (u32, u32)>,
    /// Expressions by a key of each of their conjunctions, with the conjunction's mask.
    filed: HashMap<Key, Vec<Filed>>,
    findings: Vec<Finding>,
    large: Vec<SubscriptionId>,
    uncompared: Vec<SubscriptionId>,
}

/// A conjunction under a key.
#[derive(Debug, Clone, Copy)]
struct Filed {
    /// The part and the slot of its expression.
    place: (u32, u32),
    mask: u64,
    hulls: [Option<Hull>; 2],
}

impl Snapshot {
    /// A search for expressions that never match, always match, are duplicates or are subsumed.
    ///
    /// ```
    /// use betree::{BeTree, Constants, Domain, Expression, Oddity, Progress, SubscriptionId, Undefined};
    ///
    /// let mut tree = BeTree::new(Domain::parse("age|integer|true")?, Undefined::False);
    /// for (id, text) in [(1, "age > 18"), (2, "age > 30 and age < 20"), (3, "age > 40")] {
    ///     let expression = Expression::parse(text)?;
    ///     tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
    /// }
    /// let snapshot = tree.snapshot();
    /// let mut lint = snapshot.lint();
    /// while lint.step(1_000) == Progress::Yielded {}
    /// let found: Vec<_> = lint.findings().iter().map(|found| (found.id.0, found.oddity)).collect();
    /// let subsumed = Oddity::Subsumed(SubscriptionId(1));
    /// assert_eq!(found, [(2, Oddity::Never), (3, subsumed)]);
    /// # Ok::<(), betree::Error>(())
    /// ```
    #[must_use]
    pub fn lint(&self) -> Lint<'_> {
        Lint {
            state: self.state(),
            at: (false, 0, 0),
            hashes: HashMap::new(),
            filed: HashMap::new(),
            findings: Vec::new(),
            large: Vec::new(),
            uncompared: Vec::new(),
        }
    }
}

impl Lint<'_> {
    /// Looks at this many expressions more. Each is looked at twice.
    pub fn step(&mut self, expressions: usize) -> Progress {
        for _ in 0..expressions {
            let (is_filed, part, slot) = self.at;
            let Some(found) = self.state.parts.get(part) else {
                if is_filed {
                    let by_id = |finding: &Finding| finding.id;
                    self.findings.sort_by_key(by_id);
                    self.large.sort_unstable();
                    self.uncompared.sort_unstable();
                    return Progress::Done;
                }
                self.at = (true, 0, 0);
                continue;
            };
            if slot >= found.index.sources.len() {
                self.at = (is_filed, part + 1, 0);
                continue;
            }
            self.at = (is_filed, part, slot + 1);
            if found.is_alive(slot) {
                match is_filed {
                    false => self.file(part, slot),
                    true => self.compare(part, slot),
                }
            }
        }
        Progress::Yielded
    }

    /// What was found so far; in the order of ids once a step returned [`Progress::Done`].
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Expressions that are too large to look into, of which only those that are written alike count as duplicates.
    #[must_use]
    pub fn too_large(&self) -> &[SubscriptionId] {
        &self.large
    }

    /// Expressions that were not compared with all that could subsume them, because these are many.
    #[must_use]
    pub fn not_compared(&self) -> &[SubscriptionId] {
        &self.uncompared
    }

    fn tree(&self, part: usize, slot: usize) -> &[u32] {
        let part = self.state.parts.get(part);
        part.map_or(&[], |part| part.index.sources.tree(slot))
    }

    fn known(&self) -> (&Domain, &Dictionary) {
        (&self.state.domain, &self.state.dictionary)
    }

    fn form(&self, part: usize, slot: usize) -> Option<Form> {
        Form::new(self.tree(part, slot), self.known(), false)
    }

    fn id(&self, part: usize, slot: usize) -> SubscriptionId {
        let ids = self
            .state
            .parts
            .get(part)
            .map(|part| &part.index.sources.ids);
        let id = ids.and_then(|ids| ids.get(slot)).copied();
        id.unwrap_or(SubscriptionId(0))
    }

    fn note(&mut self, part: usize, slot: usize, oddity: Oddity) {
        let id = self.id(part, slot);
        self.findings.push(Finding { id, oddity });
    }

    /// Finds what never or always matches, and files the rest.
    fn file(&mut self, part: usize, slot: usize) {
        let Some(form) = self.form(part, slot) else {
            let id = self.id(part, slot);
            self.large.push(id);
            return;
        };
        if form.is_never() {
            self.note(part, slot, Oddity::Never);
            return;
        }
        if self.is_always(part, slot, &form) {
            self.note(part, slot, Oddity::Always);
            return;
        }
        for conjunction in &form.conjunctions {
            let length = |key: &Key| self.filed.get(key).map_or(0, Vec::len);
            let one = Filed {
                place: (part as u32, slot as u32),
                mask: conjunction.mask(),
                hulls: conjunction.hulls(),
            };
            for key in conjunction.keys(KEYS_MAX, length) {
                self.filed.entry(key).or_default().push(one);
            }
        }
    }

    fn is_always(&self, part: usize, slot: usize, form: &Form) -> bool {
        form.conjunctions.iter().any(|one| one.is_empty())
            || Form::new(self.tree(part, slot), self.known(), true)
                .is_some_and(|opposite| opposite.is_never())
    }

    /// Finds a duplicate of an expression, or one that subsumes it.
    fn compare(&mut self, part: usize, slot: usize) {
        let form = self.form(part, slot);
        let hash = match &form {
            Some(form) if form.is_never() || self.is_always(part, slot, form) => return,
            Some(form) => form.hash(),
            None => hash_of(self.tree(part, slot)),
        };
        let own = (part as u32, slot as u32);
        let first = *self.hashes.entry(hash).or_insert(own);
        let (other_part, other) = (first.0 as usize, first.1 as usize);
        if first != own {
            let same = match &form {
                Some(form) => self.form(other_part, other).as_ref() == Some(form),
                None => self.tree(other_part, other) == self.tree(part, slot),
            };
            if same {
                let id = self.id(other_part, other);
                self.note(part, slot, Oddity::Duplicate(id));
                return;
            }
        }
        let Some(form) = form else { return };
        if let Some(by) = self.subsumer(&form, own) {
            self.note(part, slot, Oddity::Subsumed(by));
        }
    }

    /// An expression that subsumes another: of those that are looked at, one that no other of them is tighter than.
    fn subsumer(&mut self, form: &Form, own: (u32, u32)) -> Option<SubscriptionId> {
        let first = form.conjunctions.first()?;
        let mask = first.mask();
        let (mut compared, mut most) = (0, COMPARED_MAX);
        let mut tightest: Option<(Form, SubscriptionId)> = None;
        let mut is_cut = false;
        'probes: for probe in first.probes(KEYS_MAX) {
            let Some(listed) = self.filed.get(&probe) else {
                continue;
            };
            let fits = listed.iter().take(LISTED_MAX).filter(|one| {
                let mut hulls = one.hulls.iter().flatten();
                one.place != own
                    && one.mask & !mask == 0
                    && hulls.all(|hull| first.is_within(*hull))
            });
            for one in fits {
                if compared >= most {
                    is_cut = true;
                    break 'probes;
                }
                compared += 1;
                let (part, slot) = (one.place.0 as usize, one.place.1 as usize);
                let Some(other) = self.form(part, slot) else {
                    continue;
                };
                if *form == other || !form.implies(&other) {
                    continue;
                }
                let is_tighter = |(known, _): &(Form, _)| *known != other && other.implies(known);
                if tightest.as_ref().is_none_or(is_tighter) {
                    most = most.min(compared + TIGHTER_MAX);
                    tightest = Some((other, self.id(part, slot)));
                }
            }
            if listed.len() > LISTED_MAX {
                is_cut = true;
                break;
            }
        }
        if is_cut && tightest.is_none() {
            let id = self.id(own.0 as usize, own.1 as usize);
            self.uncompared.push(id);
        }
        tightest.map(|(_, id)| id)
    }
}
