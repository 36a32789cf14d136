//! One state of a tree, which any number of threads may search while the next is built.

use std::sync::{Arc, OnceLock};

use crate::SubscriptionId;
use crate::bind::Undefined;
use crate::budget::Budget;
use crate::dictionary::Dictionary;
use crate::domain::{Domain, Kind};
use crate::error::Result;
use crate::event::{Event, EventReader};
use crate::index::{Index, Sources};
use crate::program::estimate::Estimates;
use crate::search::{Buffers, Output, Search};

/// An index, and which of its slots no longer count.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) index: Arc<Index>,
    /// A bit a slot; empty when none is dead.
    pub(crate) dead: Arc<Vec<u64>>,
    pub(crate) dead_count: usize,
}

impl Part {
    /// Compiles expressions, all of which count.
    pub(crate) fn compile(sources: Sources, domain: &Domain, estimates: &Estimates) -> Self {
        Self {
            index: Arc::new(Index::build(sources, domain, estimates)),
            dead: Arc::default(),
            dead_count: 0,
        }
    }

    #[inline]
    pub(crate) fn dead(&self, word: usize) -> u64 {
        self.dead.get(word).copied().unwrap_or(0)
    }

    pub(crate) fn is_alive(&self, slot: usize) -> bool {
        self.dead(slot / 64) >> (slot % 64) & 1 == 0
    }

    pub(crate) fn kill(&mut self, slot: usize) {
        let words = self.index.sources.len().div_ceil(64);
        let dead = Arc::make_mut(&mut self.dead);
        dead.resize(words, 0);
        dead[slot / 64] |= 1 << (slot % 64);
        self.dead_count += 1;
    }

    /// Expressions that count.
    pub(crate) fn len(&self) -> usize {
        self.index.sources.len() - self.dead_count
    }
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) domain: Arc<Domain>,
    pub(crate) dictionary: Arc<Dictionary>,
    pub(crate) undefined: Undefined,
    pub(crate) parts: Vec<Part>,
    /// The ids of all that counts, once somebody asked and they are not those of the only part.
    pub(crate) ids: OnceLock<Vec<SubscriptionId>>,
}

impl Inner {
    /// Whether the slots of the only part are what counts, in order.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.parts.as_slice(), [part] if part.dead_count == 0)
    }

    /// The ids of all that counts, ascending.
    pub(crate) fn ids(&self) -> &[SubscriptionId] {
        if self.is_plain() {
            return &self.parts[0].index.sources.ids;
        }
        self.ids.get_or_init(|| {
            let alive = |part: &Part| -> Vec<SubscriptionId> {
                let ids = part.index.sources.ids.iter().enumerate();
                ids.filter(|(slot, _)| part.is_alive(*slot))
                    .map(|(_, id)| *id)
                    .collect()
            };
            let mut ids: Vec<SubscriptionId> = self.parts.iter().flat_map(alive).collect();
            ids.sort_unstable();
            ids
        })
    }

    /// The state of a tree with these expressions and no others.
    pub(crate) fn compiled(
        domain: Arc<Domain>,
        dictionary: Arc<Dictionary>,
        undefined: Undefined,
        sources: Sources,
    ) -> Self {
        let estimates = Estimates::new(&domain, &dictionary);
        let parts = match sources.len() {
            0 => Vec::new(),
            _ => vec![Part::compile(sources, &domain, &estimates)],
        };
        Self {
            domain,
            dictionary,
            undefined,
            parts,
            ids: OnceLock::new(),
        }
    }

    pub(crate) fn is_list(&self, attribute: usize) -> bool {
        let kind = self.domain.attributes().get(attribute);
        matches!(
            kind.map(crate::domain::Attribute::kind),
            Some(Kind::IntegerList { .. } | Kind::StringList { .. })
        )
    }
}

/// One state of a [`BeTree`](crate::BeTree). Cheap to clone, never changes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

impl Snapshot {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The attributes.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.inner.domain
    }

    /// What a test over an undefined attribute is.
    #[must_use]
    pub fn undefined(&self) -> Undefined {
        self.inner.undefined
    }

    /// The ids of all subscriptions, ascending.
    #[must_use]
    pub fn ids(&self) -> &[SubscriptionId] {
        self.inner.ids()
    }

    /// How many subscriptions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.parts.iter().map(Part::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many expressions run in lockstep; the others are found by their access clauses.
    #[must_use]
    pub fn lockstep_len(&self) -> usize {
        let lanes = |part: &Part| {
            let slots = part.index.lockstep.slots();
            slots.filter(|slot| part.is_alive(*slot as usize)).count()
        };
        self.inner.parts.iter().map(lanes).sum()
    }

    /// A reader of one event in JSON. `ignore_unknown`: attributes that the domain lacks are passed
    /// over rather than refused.
    #[must_use]
    pub fn event_reader<'j>(&self, json: &'j [u8], ignore_unknown: bool) -> EventReader<'j> {
        EventReader::new(
            Arc::clone(&self.inner.domain),
            Arc::clone(&self.inner.dictionary),
            json,
            ignore_unknown,
        )
    }

    /// Reads one event in JSON to its end.
    ///
    /// # Errors
    /// What is no event of this domain, with its byte.
    pub fn event(&self, json: &str) -> Result<Event> {
        let mut reader = self.event_reader(json.as_bytes(), false);
        reader.step(Budget::UNLIMITED)?;
        reader.finish()
    }

    /// The subscriptions that match, ascending, in one call without a budget.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search(&self, event: &Event) -> Result<Vec<SubscriptionId>> {
        let mut buffers = Buffers::new();
        let mut search = self.search_iterator(event, &mut buffers)?;
        search.step(Budget::UNLIMITED);
        Ok(buffers.into_ids())
    }

    /// A search that is done in steps.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search_iterator<'s>(
        &'s self,
        event: &'s Event,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.inner, event, buffers, Output::Ids, None, u64::MAX)
    }

    /// A search that is done in steps and gives a bit a subscription in place of a list of ids: see
    /// [`Search::bitmap`].
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search_bitmap<'s>(
        &'s self,
        event: &'s Event,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.inner, event, buffers, Output::Bitmap, None, u64::MAX)
    }

    /// A search for some `count` of the subscriptions that match: those that are found first.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn first_n<'s>(
        &'s self,
        event: &'s Event,
        count: u64,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.inner, event, buffers, Output::Ids, None, count)
    }

    /// Whether any subscription matches.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn exists(&self, event: &Event, buffers: &mut Buffers) -> Result<bool> {
        let mut search = self.first_n(event, 1, buffers)?;
        search.step(Budget::UNLIMITED);
        Ok(search.matched() > 0)
    }

    /// A search among some subscriptions only; ids that are not there do not match.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search_ids<'s>(
        &'s self,
        event: &'s Event,
        ids: &'s [SubscriptionId],
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(
            &self.inner,
            event,
            buffers,
            Output::Ids,
            Some(ids),
            u64::MAX,
        )
    }
}
