//! The memory of batches, and the results of the last search.

use super::compile::Code;
use crate::SubscriptionId;
use crate::program::estimate::Estimates;
use crate::search::Buffers;
use crate::simd::{self, EVENTS_MAX, Isa, LANES, Slice, WAITING, WORDS};
use crate::snapshot::Snapshot;
use crate::state::Part;

/// Searches many events at once. Holds the memory for it: 256 bytes per expression and some 130 KiB.
///
/// ```
/// use betree::{BeTree, Budget, Constants, Domain, Expression, Progress, SubscriptionId, Undefined};
///
/// let mut tree = BeTree::new(Domain::parse("a|boolean|false\n")?, Undefined::False);
/// tree.insert(SubscriptionId(9), &Expression::parse("not a")?, &Constants::default())?;
/// let snapshot = tree.snapshot();
/// let events = [snapshot.event(r#"{"a":true}"#)?, snapshot.event(r#"{"a":false}"#)?];
///
/// let mut batch = snapshot.batch();
/// let mut search = batch.search(&events)?;
/// while search.step(Budget::reductions(2_000)) == Progress::Yielded {}
/// let mut ids = Vec::new();
/// batch.ids(1, &mut ids);
/// assert_eq!((batch.count(0), ids.as_slice()), (0, &[SubscriptionId(9)][..]));
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    pub(super) snapshot: Snapshot,
    pub(super) codes: Vec<Code>,
    /// For each test, and for its negation, the events for which it is true; then the rows that steps store.
    pub(super) rows: Vec<Slice>,
    /// Outcomes of a block, by lane.
    pub(super) block: Vec<Slice>,
    /// For each event the bits of all parts.
    pub(super) found: Vec<u64>,
    /// Where the words of a part begin, and the words of an event.
    pub(super) starts: Vec<usize>,
    pub(super) words: usize,
    pub(super) buffers: Buffers,
}

impl Snapshot {
    /// Prepares searches of many events at once. Takes about as long as compiling the lockstep expressions.
    #[must_use]
    pub fn batch(&self) -> Batch {
        self.batch_with(Isa::detect())
    }

    /// The same with a given instruction set; without it on this processor, plain code runs.
    #[must_use]
    pub fn batch_with(&self, isa: Isa) -> Batch {
        let state = self.state();
        let estimates = Estimates::new(&state.domain, &state.dictionary);
        let code = |part: &Part| Code::new(&part.index, &estimates);
        let codes: Vec<Code> = state.parts.iter().map(code).collect();
        let waiting = codes.iter().map(|code| code.waiting).max().unwrap_or(0);
        let mut starts = Vec::new();
        let mut words = 0;
        for part in &state.parts {
            starts.push(words);
            words += part.index.sources.len().div_ceil(64);
        }
        let none = Slice([0; WORDS]);
        Batch {
            snapshot: self.clone(),
            codes,
            rows: vec![none; WAITING + waiting],
            block: vec![none; LANES],
            found: Vec::new(),
            starts,
            words,
            buffers: Buffers::with_isa(isa),
        }
    }
}

impl Batch {
    /// The most events of one search.
    pub const EVENTS_MAX: usize = EVENTS_MAX;

    /// How many subscriptions match an event of the last search, by its position.
    #[must_use]
    pub fn count(&self, event: usize) -> u64 {
        let words = self.of(event).iter();
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// Appends the ids that match an event of the last search, ascending.
    pub fn ids(&self, event: usize, ids: &mut Vec<SubscriptionId>) {
        let parts = &self.snapshot.state().parts;
        let before = ids.len();
        for (part, start) in parts.iter().zip(&self.starts) {
            let all = &part.index.sources.ids;
            let words = self.of(event).get(*start..).unwrap_or(&[]);
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            let first = ids.len();
            // Writes whole vectors, the last one beyond the end.
            ids.resize(first + count as usize + LANES, SubscriptionId(0));
            let mut at = first;
            for (all, word) in all.chunks(64).zip(words) {
                at += simd::compress(self.buffers.isa(), all, *word, &mut ids[at..]);
            }
            ids.truncate(at);
        }
        if parts.len() > 1 {
            ids[before..].sort_unstable();
        }
    }

    /// The subscriptions that match an event of the last search: one bit per id of
    /// [`Snapshot::ids`], 64 per word, lowest first.
    pub fn bitmap(&self, event: usize, bitmap: &mut Vec<u64>) {
        bitmap.clear();
        let state = self.snapshot.state();
        if state.is_plain() {
            bitmap.extend_from_slice(self.of(event));
            return;
        }
        let mut ids = Vec::new();
        self.ids(event, &mut ids);
        bitmap.resize(state.ids().len().div_ceil(64), 0);
        for at in ids
            .iter()
            .filter_map(|id| state.ids().binary_search(id).ok())
        {
            bitmap[at / 64] |= 1 << (at % 64);
        }
    }

    /// All bits of an event.
    fn of(&self, event: usize) -> &[u64] {
        let start = event.saturating_mul(self.words);
        self.found.get(start..start + self.words).unwrap_or(&[])
    }
}
