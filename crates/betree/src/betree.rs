//! The mutable tree: subscriptions are added and removed here, searches run on its snapshots.
//!
//! New subscriptions wait in a list. A snapshot first builds an index of them, merged with the previous
//! indexes that are not much larger: there are never more than about log₂ n indexes, and each expression is
//! compiled about log₂ n times in all.

use std::collections::HashMap;
use std::sync::Arc;

use crate::SubscriptionId;
use crate::bind::{self, Undefined};
use crate::constants::Constants;
use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::error::{Error, ErrorKind, Result};
use crate::expr::Expression;
use crate::index::Sources;
use crate::merge::{self, Merge, Merged};
use crate::program::estimate::Estimates;
use crate::snapshot::Snapshot;
use crate::state::{Part, State};

/// Most words of all expressions of a tree.
pub(crate) const WORDS_MAX: usize = 1 << 28;
/// An index at most this many times as large as the new one is merged into it.
const GROWTH: usize = 2;

/// A set of boolean expressions to match against events.
///
/// ```
/// use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};
///
/// let domain = Domain::parse("country|string|true\nage|integer|true|0|120\n")?;
/// let mut tree = BeTree::new(domain, Undefined::False);
/// let adults = Expression::parse("age >= 18 and country in ('FR', 'DE')")?;
/// tree.insert(SubscriptionId(7), &adults, &Constants::default())?;
///
/// let snapshot = tree.snapshot();
/// let event = snapshot.event(r#"{"age": 30, "country": "FR"}"#)?;
/// assert_eq!(snapshot.search(&event)?, [SubscriptionId(7)]);
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug)]
pub struct BeTree {
    domain: Arc<Domain>,
    undefined: Undefined,
    dictionary: Arc<Dictionary>,
    parts: Vec<Part>,
    /// Expressions that are in no index yet, and the position of each id.
    pending: Sources,
    positions: HashMap<SubscriptionId, usize>,
    words: usize,
    /// Parts up to this one are being merged elsewhere, and stay where they are.
    merging: usize,
}

impl BeTree {
    /// A tree without subscriptions.
    #[must_use]
    pub fn new(domain: Domain, undefined: Undefined) -> Self {
        Self {
            dictionary: Arc::new(Dictionary::new(domain.attributes().len())),
            domain: Arc::new(domain),
            undefined,
            parts: Vec::new(),
            pending: Sources::default(),
            positions: HashMap::new(),
            words: 0,
            merging: 0,
        }
    }

    /// A tree that continues from a snapshot, without compiling again.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot) -> Self {
        let state = snapshot.state();
        let words = state.parts.iter().map(|part| part.index.sources.words());
        Self {
            domain: Arc::clone(&state.domain),
            undefined: state.undefined,
            dictionary: Arc::clone(&state.dictionary),
            words: words.sum(),
            parts: state.parts.clone(),
            pending: Sources::default(),
            positions: HashMap::new(),
            merging: 0,
        }
    }

    /// The attributes.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The attributes, whose bounds may change. Snapshots keep theirs.
    pub(crate) fn domain_mut(&mut self) -> &mut Domain {
        Arc::make_mut(&mut self.domain)
    }

    /// How many subscriptions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum::<usize>() + self.positions.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the tree has a subscription.
    #[must_use]
    pub fn contains(&self, id: SubscriptionId) -> bool {
        self.positions.contains_key(&id) || self.find(id).is_some()
    }

    /// The part and the slot of a live id.
    fn find(&self, id: SubscriptionId) -> Option<(usize, usize)> {
        self.parts.iter().enumerate().find_map(|(at, part)| {
            let slot = part.index.slot(id)?;
            part.is_alive(slot).then_some((at, slot))
        })
    }

    /// Adds a subscription.
    ///
    /// # Errors
    /// An id that is taken, or an expression that the domain does not allow, with its place. The tree is then
    /// unchanged.
    pub fn insert(
        &mut self,
        id: SubscriptionId,
        expression: &Expression<'_>,
        constants: &Constants,
    ) -> Result<()> {
        if self.contains(id) {
            let message = format!("subscription {} already exists", id.0);
            return Err(Error::new(ErrorKind::DuplicateId, message));
        }
        self.add(id, expression, constants)
    }

    fn add(
        &mut self,
        id: SubscriptionId,
        expression: &Expression<'_>,
        constants: &Constants,
    ) -> Result<()> {
        let before = self.pending.words();
        let room = WORDS_MAX.saturating_sub(self.words);
        // The exact size is known only after writing; this bounds it.
        let estimate = expression.text.len() + expression.nodes.len() * 4;
        if estimate > room {
            let message = "the tree is full: its expressions would take more than 2^28 words";
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let Self {
            domain,
            undefined,
            dictionary,
            pending,
            ..
        } = self;
        pending.add(id, |words| {
            bind::bind(domain, *undefined, constants, expression, dictionary, words)
        })?;
        self.words += self.pending.words() - before;
        self.positions.insert(id, self.pending.len() - 1);
        Ok(())
    }

    /// Replaces the expression of a subscription.
    ///
    /// # Errors
    /// As [`BeTree::insert`]; the subscription then keeps its expression. Also an id that does not exist.
    pub fn update(
        &mut self,
        id: SubscriptionId,
        expression: &Expression<'_>,
        constants: &Constants,
    ) -> Result<()> {
        let indexed = self.find(id);
        if indexed.is_none() && !self.positions.contains_key(&id) {
            return Err(unknown(id));
        }
        // The position of the new expression replaces that of a waiting old one.
        self.add(id, expression, constants)?;
        if let Some((part, slot)) = indexed {
            self.parts[part].kill(slot);
        }
        Ok(())
    }

    /// Removes a subscription.
    ///
    /// # Errors
    /// An id that does not exist.
    pub fn delete(&mut self, id: SubscriptionId) -> Result<()> {
        if self.positions.remove(&id).is_some() {
            return Ok(());
        }
        let (part, slot) = self.find(id).ok_or_else(|| unknown(id))?;
        self.parts[part].kill(slot);
        Ok(())
    }

    /// The current state, to be searched. Compiles the expressions that are new, together with all indexes that
    /// are not much larger: one call in many takes as long as building the whole tree.
    pub fn snapshot(&mut self) -> Snapshot {
        self.prompt_snapshot(usize::MAX)
    }

    /// The same, but an index of more than `merged_max` expressions is never built of others, so that the call
    /// stays short. Such indexes are left to [`BeTree::merge`]; until then searches visit more of them.
    ///
    /// ```
    /// # use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};
    /// # let domain = Domain::parse("a|boolean|false\n")?;
    /// # let mut tree = BeTree::new(domain, Undefined::False);
    /// # let text = Expression::parse("a")?;
    /// for id in 0..100 {
    ///     tree.insert(SubscriptionId(id), &text, &Constants::default())?;
    ///     let _for_readers = tree.prompt_snapshot(8);
    ///     // On any thread, while the tree goes on to change.
    ///     let merged = tree.merge().map(|merge| merge.run());
    ///     if let Some(merged) = merged {
    ///         tree.adopt(merged);
    ///     }
    /// }
    /// assert_eq!(tree.snapshot().len(), 100);
    /// # Ok::<(), betree::Error>(())
    /// ```
    pub fn prompt_snapshot(&mut self, merged_max: usize) -> Snapshot {
        self.compile(merged_max);
        Snapshot::new(State {
            domain: Arc::clone(&self.domain),
            dictionary: Arc::clone(&self.dictionary),
            undefined: self.undefined,
            parts: self.parts.clone(),
            ids: std::sync::OnceLock::new(),
        })
    }

    fn compile(&mut self, merged_max: usize) {
        let pending = std::mem::take(&mut self.pending);
        let positions = std::mem::take(&mut self.positions);
        if pending.len() == 0 {
            return;
        }
        if self.dictionary.has_many_recent() {
            Arc::make_mut(&mut self.dictionary).settle();
        }
        let counts = |slot: usize| positions.get(&pending.ids[slot]) == Some(&slot);
        let alive: Vec<bool> = (0..pending.len()).map(counts).collect();
        drop(positions);
        let mut sources = pending.sorted(|slot| alive[slot]);
        drop(alive);
        let mut merged = false;
        while self.parts.len() > self.merging
            && let Some(part) = self.parts.pop_if(|part| {
                part.len() <= GROWTH * sources.len() && part.len() + sources.len() <= merged_max
            })
        {
            sources.append(&part.index.sources, |slot| part.is_alive(slot));
            merged = true;
        }
        if merged {
            sources = sources.sorted(|_| true);
        }
        if sources.len() > 0 {
            let estimates = Estimates::new(&self.domain, &self.dictionary);
            self.parts.push(Part::compile(
                sources,
                &self.domain,
                &self.dictionary,
                &estimates,
            ));
        }
        self.count_words();
    }

    fn count_words(&mut self) {
        let words = self.parts.iter().map(|part| part.index.sources.words());
        self.words = words.sum::<usize>() + self.pending.words();
    }

    /// The next merge of indexes that is due, if there is one and none is under way. It shares the tree's
    /// indexes: [`Merge::run`] it on any thread, and hand the result to [`BeTree::adopt`]. The tree may change
    /// meanwhile.
    pub fn merge(&mut self) -> Option<Merge> {
        if self.merging > 0 {
            return None;
        }
        let range = merge::due(&self.parts, GROWTH)?;
        self.merging = range.end;
        Some(Merge::new(
            &self.parts[range],
            Arc::clone(&self.domain),
            Arc::clone(&self.dictionary),
        ))
    }

    /// Gives up a merge that was not run to its end, so that another may be due.
    pub fn abandon_merge(&mut self) {
        self.merging = 0;
    }

    /// Replaces the merged indexes by their union. Returns whether they were of this tree and still there; if
    /// not, nothing changes. The next snapshot has the union.
    pub fn adopt(&mut self, merged: Merged) -> bool {
        self.merging = 0;
        let adopted = merged.replace(&mut self.parts);
        self.count_words();
        adopted
    }
}

fn unknown(id: SubscriptionId) -> Error {
    let message = format!("subscription {} does not exist", id.0);
    Error::new(ErrorKind::UnknownId, message)
}
