//! A search that owns what it needs, for callers that cannot keep borrows: handles of other languages, queues.

use super::phase::Output;
use super::{Buffers, Paused, Search};
use crate::SubscriptionId;
use crate::budget::{Budget, Progress};
use crate::error::Result;
use crate::event::Event;
use crate::snapshot::Snapshot;

/// A [`Search`] that owns its snapshot, its event and its buffers.
///
/// It finds the same ids in the same number of reductions as a [`Search`]. Between steps it can move to another
/// thread, wait in a queue, or be dropped.
///
/// ```
/// use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, OwnedSearch, Progress};
/// use betree::{SubscriptionId, Undefined};
///
/// let mut tree = BeTree::new(Domain::parse("a|boolean|false\n")?, Undefined::False);
/// tree.insert(SubscriptionId(9), &Expression::parse("a")?, &Constants::default())?;
/// let snapshot = tree.snapshot();
/// let event = snapshot.event(r#"{"a": true}"#)?;
///
/// let mut search = OwnedSearch::new(snapshot, event, Buffers::new())?;
/// while search.step(Budget::reductions(2_000)) == Progress::Yielded {
///     // Other work of this thread.
/// }
/// assert_eq!(search.ids(), [SubscriptionId(9)]);
/// let (_event, _buffers) = search.into_parts();
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug)]
pub struct OwnedSearch {
    snapshot: Snapshot,
    event: Event,
    buffers: Buffers,
    paused: Paused,
}

impl OwnedSearch {
    /// A search of a snapshot for all subscriptions that match an event.
    ///
    /// # Errors
    /// An event that was read for another snapshot.
    pub fn new(snapshot: Snapshot, event: Event, mut buffers: Buffers) -> Result<Self> {
        let state = snapshot.state();
        let search = Search::new(state, &event, &mut buffers, Output::Ids, None, u64::MAX)?;
        let paused = search.pause();
        Ok(Self {
            snapshot,
            event,
            buffers,
            paused,
        })
    }

    /// Continues the search for about as many reductions as the budget has, at most
    /// [`OVERSHOOT_MAX`](crate::OVERSHOOT_MAX) more.
    pub fn step(&mut self, budget: Budget) -> Progress {
        let mut search = self.resumed();
        let progress = search.step(budget);
        self.paused = search.pause();
        progress
    }

    /// The ids that match, ascending. Complete after a step returned [`Progress::Done`].
    #[must_use]
    pub fn ids(&self) -> &[SubscriptionId] {
        self.buffers.ids()
    }

    /// Reductions so far, without those for clearing up after a dropped search, which budgets pay for too.
    #[must_use]
    pub fn reductions(&self) -> u64 {
        self.paused.reductions()
    }

    /// Expressions that matched so far.
    #[must_use]
    pub fn matched(&self) -> u64 {
        self.paused.matched()
    }

    /// Programs that were run so far.
    #[must_use]
    pub fn evaluated(&self) -> u64 {
        self.paused.evaluated()
    }

    /// What it searches.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Ends the search, finished or not, and returns the memory of its event and its buffers to be used again.
    #[must_use]
    pub fn into_parts(self) -> (Event, Buffers) {
        (self.event, self.buffers)
    }

    fn resumed(&mut self) -> Search<'_> {
        let state = self.snapshot.state();
        Search::resume(state, &self.event, &mut self.buffers, self.paused)
    }
}
