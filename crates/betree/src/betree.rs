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
use crate::renew::Renewed;
use crate::snapshot::Snapshot;
use crate::state::{Part, State};

/// Most words of all expressions of a tree.
pub(crate) const WORDS_MAX: usize = 1 << 28;
/// An index at most this many times as large as the new one is merged into it.
const GROWTH: usize = 2;
/// Names that no expression uses are dropped when there are this many times as many names as when that was done last, and
/// some more, and expressions were removed that may have had as many as a share of them.
const NAMES_GROWTH: usize = 2;
const GONE_SHARE: usize = 2;
const NAMES_MORE: usize = 256;

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
    /// With more names, those that no expression uses are dropped.
    names_max: usize,
    /// The words of expressions that were removed since: they had no more names.
    gone: usize,
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
            names_max: NAMES_MORE,
            gone: 0,
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
            // How many of its names are used is not known.
            names_max: state.dictionary.names() * 5 / 4 + NAMES_MORE,
            gone: state.dictionary.names(),
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
        let waiting = self.positions.get(&id).copied();
        if indexed.is_none() && waiting.is_none() {
            return Err(unknown(id));
        }
        // The position of the new expression replaces that of a waiting old one.
        self.add(id, expression, constants)?;
        self.gone += waiting.map_or(0, |at| self.pending.tree(at).len());
        if let Some((part, slot)) = indexed {
            self.kill(part, slot);
        }
        Ok(())
    }

    /// Removes a subscription.
    ///
    /// # Errors
    /// An id that does not exist.
    pub fn delete(&mut self, id: SubscriptionId) -> Result<()> {
        if let Some(at) = self.positions.remove(&id) {
            self.gone += self.pending.tree(at).len();
            return Ok(());
        }
        let (part, slot) = self.find(id).ok_or_else(|| unknown(id))?;
        self.kill(part, slot);
        Ok(())
    }

    fn kill(&mut self, part: usize, slot: usize) {
        let part = &mut self.parts[part];
        self.gone += part.index.sources.tree(slot).len();
        part.kill(slot);
    }

    /// Whether enough names may be unused to drop them.
    fn has_many_unused(&self) -> bool {
        let names = self.dictionary.names();
        names > self.names_max && self.gone >= names / GONE_SHARE
    }

    /// The current state, to be searched. Compiles the expressions that are new, together with all indexes that
    /// are not much larger: one call in many takes as long as building the whole tree.
    pub fn snapshot(&mut self) -> Snapshot {
        self.compile(usize::MAX);
        while let Some(merge) = self.merge() {
            self.adopt(merge.run());
        }
        self.state()
    }

    /// The same, but an index of more than `merged_max` expressions is never built of others, so that the call
    /// stays short. Such indexes are left to [`BeTree::merge`]; until then searches visit more of them, and the memory of
    /// expressions that were removed and of their names is not given back.
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
        self.state()
    }

    fn state(&self) -> Snapshot {
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
        self.push_part(sources);
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
        let mut renews = self.has_many_unused();
        if renews && self.parts.is_empty() {
            self.renew(Renewed::new(&self.dictionary, &self.domain), 0);
            renews = false;
        }
        let range = match renews {
            true => 0..self.parts.len(),
            false => merge::due(&self.parts, GROWTH)?,
        };
        self.merging = range.end;
        Some(Merge::new(
            &self.parts[range],
            Arc::clone(&self.domain),
            Arc::clone(&self.dictionary),
            renews,
        ))
    }

    /// Gives up a merge that was not run to its end, so that another may be due.
    pub fn abandon_merge(&mut self) {
        self.merging = 0;
    }

    /// Replaces the merged indexes by their union. Returns whether they were of this tree and still there; if
    /// not, nothing changes. The next snapshot has the union.
    ///
    /// Now and then a merge also drops the names that no expression uses any more. Expressions that were added since it
    /// began are then compiled again, and events have to be read again.
    pub fn adopt(&mut self, mut merged: Merged) -> bool {
        self.merging = 0;
        let renewed = merged.renewed.take();
        let union = usize::from(merged.union.is_some());
        let adopted = merged.replace(&mut self.parts);
        if let Some(renewed) = renewed.filter(|_| adopted) {
            self.renew(renewed, union);
        }
        self.count_words();
        adopted
    }

    /// Takes a new dictionary, of which the first indexes are already.
    fn renew(&mut self, mut renewed: Renewed, already: usize) {
        let mut sources = Sources::default();
        for part in self.parts.drain(already..) {
            sources.append(&part.index.sources, |slot| part.is_alive(slot));
        }
        let mut sources = sources.sorted(|_| true);
        renewed.keep(&self.dictionary, &self.domain);
        for sources in [&mut sources, &mut self.pending] {
            renewed.renumber(&self.dictionary, &self.domain, sources.all_words_mut());
        }
        self.dictionary = Arc::new(renewed.into_dictionary());
        self.names_max = self.dictionary.names() * NAMES_GROWTH + NAMES_MORE;
        self.gone = 0;
        self.push_part(sources);
    }

    /// Adds an index of expressions, if there are any.
    fn push_part(&mut self, sources: Sources) {
        if sources.len() > 0 {
            let estimates = Estimates::new(&self.domain, &self.dictionary);
            self.parts.push(Part::compile(
                sources,
                &self.domain,
                &self.dictionary,
                &estimates,
            ));
        }
    }
}

fn unknown(id: SubscriptionId) -> Error {
    let message = format!("subscription {} does not exist", id.0);
    Error::new(ErrorKind::UnknownId, message)
}
