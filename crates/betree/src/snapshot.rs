//! One state of a tree, which any number of threads can search while the next is built.

use std::sync::Arc;

use crate::SubscriptionId;
use crate::bind::Undefined;
use crate::budget::Budget;
use crate::domain::Domain;
use crate::error::Result;
use crate::event::{Event, EventReader};
use crate::memory;
use crate::priorities::{Priorities, Top};
use crate::search::{Buffers, Output, Search};
use crate::state::{Part, State};

/// One state of a [`BeTree`](crate::BeTree). Cheap to clone, never changes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    state: Arc<State>,
}

impl Snapshot {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Arc::new(state),
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The attributes.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.state.domain
    }

    /// The outcome of tests of undefined attributes.
    #[must_use]
    pub fn undefined(&self) -> Undefined {
        self.state.undefined
    }

    /// The ids of all subscriptions, ascending.
    #[must_use]
    pub fn ids(&self) -> &[SubscriptionId] {
        self.state.ids()
    }

    /// The first ids after one, ascending, or the first of all: at most `count`.
    ///
    /// ```
    /// # use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};
    /// # let mut tree = BeTree::new(Domain::parse("a|boolean|true")?, Undefined::False);
    /// # for id in [3, 5, 9] {
    /// #     tree.insert(SubscriptionId(id), &Expression::parse("a")?, &Constants::default())?;
    /// # }
    /// let snapshot = tree.snapshot();
    /// let first = snapshot.ids_after(None, 2);
    /// assert_eq!(first, [3, 5].map(SubscriptionId));
    /// assert_eq!(snapshot.ids_after(first.last().copied(), 2), [SubscriptionId(9)]);
    /// # Ok::<(), betree::Error>(())
    /// ```
    #[must_use]
    pub fn ids_after(&self, after: Option<SubscriptionId>, count: usize) -> Vec<SubscriptionId> {
        let mut out = Vec::new();
        for part in &self.state.parts {
            let ids = &part.index.sources.ids;
            let first = after.map_or(0, |after| ids.partition_point(|id| *id <= after));
            let alive = (first..ids.len()).filter(|slot| part.is_alive(*slot));
            out.extend(alive.take(count).map(|slot| ids[slot]));
        }
        out.sort_unstable();
        out.truncate(count);
        out
    }

    /// Whether there is a subscription.
    #[must_use]
    pub fn contains(&self, id: SubscriptionId) -> bool {
        let alive = |part: &Part| part.index.slot(id).is_some_and(|slot| part.is_alive(slot));
        self.state.parts.iter().any(alive)
    }

    /// How many subscriptions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.parts.iter().map(Part::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About the memory that the snapshot takes, which it shares with its tree and with other snapshots.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let parts = self.state.parts.iter();
        let parts = parts.map(|part| part.index.bytes() + memory::of(&*part.dead));
        parts.sum::<usize>() + self.state.dictionary.bytes()
    }

    /// How many expressions run in lockstep; the index finds the others.
    #[must_use]
    pub fn lockstep_len(&self) -> usize {
        let lanes = |part: &Part| {
            let slots = part.index.lockstep.slots();
            slots.filter(|slot| part.is_alive(*slot as usize)).count()
        };
        self.state.parts.iter().map(lanes).sum()
    }

    /// A reader of one event in JSON. With `ignore_unknown`, attributes that are not in the domain are skipped
    /// rather than refused.
    #[must_use]
    pub fn event_reader<'j>(&self, json: &'j [u8], ignore_unknown: bool) -> EventReader<'j> {
        EventReader::new(
            Arc::clone(&self.state.domain),
            Arc::clone(&self.state.dictionary),
            json,
            ignore_unknown,
            None,
        )
    }

    /// [`Snapshot::event_reader`] in the memory of an event that is no longer needed. It is for whoever reads many
    /// events: allocating the memory takes longer than reading a short event. The memory also keeps the order of an
    /// event's attributes, which is tried first on the next.
    #[must_use]
    pub fn event_reader_reusing<'j>(
        &self,
        json: &'j [u8],
        ignore_unknown: bool,
        old: Event,
    ) -> EventReader<'j> {
        EventReader::new(
            Arc::clone(&self.state.domain),
            Arc::clone(&self.state.dictionary),
            json,
            ignore_unknown,
            Some(old),
        )
    }

    /// Reads one event in JSON to its end.
    ///
    /// # Errors
    /// Bytes that are not an event of this domain, with their offset.
    pub fn event(&self, json: &str) -> Result<Event> {
        let mut reader = self.event_reader(json.as_bytes(), false);
        reader.step(Budget::UNLIMITED)?;
        reader.finish()
    }

    /// The ids of matching subscriptions, ascending, in one call without a budget.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search(&self, event: &Event) -> Result<Vec<SubscriptionId>> {
        let mut buffers = Buffers::new();
        let mut search = self.search_iterator(event, &mut buffers)?;
        search.step(Budget::UNLIMITED);
        Ok(buffers.into_ids())
    }

    /// A search in steps.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search_iterator<'s>(
        &'s self,
        event: &'s Event,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.state, event, buffers, Output::Ids, None, u64::MAX)
    }

    /// A search in steps whose result is one bit per subscription: see [`Search::bitmap`].
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn search_bitmap<'s>(
        &'s self,
        event: &'s Event,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.state, event, buffers, Output::Bitmap, None, u64::MAX)
    }

    /// A search that stops after the first `count` matches it finds.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn first_n<'s>(
        &'s self,
        event: &'s Event,
        count: u64,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::new(&self.state, event, buffers, Output::Ids, None, count)
    }

    /// Priorities of all subscriptions, for [`Snapshot::top_k`]. Calls `of` once for each of them.
    #[must_use]
    pub fn priorities(&self, of: impl Fn(SubscriptionId) -> i64) -> Priorities {
        Priorities::new(&self.state, None, of)
    }

    /// The same after changes of the tree, from the priorities of an earlier snapshot. Calls `of` only for
    /// subscriptions whose index is new: one that was inserted, updated or merged since. A priority that changes without
    /// its expression may not be seen.
    #[must_use]
    pub fn priorities_after(
        &self,
        earlier: &Priorities,
        of: impl Fn(SubscriptionId) -> i64,
    ) -> Priorities {
        Priorities::new(&self.state, Some(earlier), of)
    }

    /// A search for the `count` matches with the highest priorities, of equal ones those with the lowest ids. Its
    /// [`ids`](Search::ids) are in this order. It leaves out expressions that could not be among them, so that
    /// [`matched`](Search::matched) counts the matches that it found on its way.
    ///
    /// ```
    /// use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, Progress};
    /// use betree::{SubscriptionId, Undefined};
    ///
    /// let mut tree = BeTree::new(Domain::parse("country|string|true")?, Undefined::False);
    /// for id in 1..=100 {
    ///     let expression = Expression::parse("country = 'FR'")?;
    ///     tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
    /// }
    /// let snapshot = tree.snapshot();
    /// let bids = snapshot.priorities(|id| (id.0 % 10) as i64);
    /// let event = snapshot.event(r#"{"country": "FR"}"#)?;
    /// let mut buffers = Buffers::new();
    /// let mut auction = snapshot.top_k(&event, 3, &bids, &mut buffers)?;
    /// while auction.step(Budget::reductions(2_000)) == Progress::Yielded {}
    /// assert_eq!(auction.ids(), [9, 19, 29].map(SubscriptionId));
    /// # Ok::<(), betree::Error>(())
    /// ```
    ///
    /// # Errors
    /// An event that was read for another snapshot, or priorities of another snapshot.
    pub fn top_k<'s>(
        &'s self,
        event: &'s Event,
        count: usize,
        priorities: &'s Priorities,
        buffers: &'s mut Buffers,
    ) -> Result<Search<'s>> {
        Search::best_of(&self.state, event, buffers, Top { priorities, count })
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

    /// A search among these subscriptions only; ids that do not exist do not match.
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
            &self.state,
            event,
            buffers,
            Output::Ids,
            Some(ids),
            u64::MAX,
        )
    }
}
