//! The state of a tree as data: its indexes, and which of their expressions are still live.
//!
//! Searches, batches, files and explanations read it; [`crate::Snapshot`] shares it.

use std::sync::{Arc, OnceLock};

use crate::SubscriptionId;
use crate::bind::Undefined;
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};
use crate::index::{Index, Sources};
use crate::program::estimate::Estimates;

/// An index, and which of its slots are dead.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) index: Arc<Index>,
    /// One bit per slot; empty when none is dead.
    pub(crate) dead: Arc<Vec<u64>>,
    pub(crate) dead_count: usize,
}

impl Part {
    /// Compiles expressions, all of which are live.
    pub(crate) fn compile(
        sources: Sources,
        domain: &Domain,
        dictionary: &Dictionary,
        estimates: &Estimates,
    ) -> Self {
        Self {
            index: Arc::new(Index::build(sources, domain, dictionary, estimates)),
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

    /// Live expressions.
    pub(crate) fn len(&self) -> usize {
        self.index.sources.len() - self.dead_count
    }
}

/// One state of a tree: what a snapshot shares and a search reads.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) domain: Arc<Domain>,
    pub(crate) dictionary: Arc<Dictionary>,
    pub(crate) undefined: Undefined,
    pub(crate) parts: Vec<Part>,
    /// The ids of all live expressions; made on demand, where they are not those of the only part.
    pub(crate) ids: OnceLock<Vec<SubscriptionId>>,
}

impl State {
    /// Whether there is one part and all its slots are live.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.parts.as_slice(), [part] if part.dead_count == 0)
    }

    /// The ids of all live expressions, ascending.
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

    /// The state of a tree with exactly these expressions.
    pub(crate) fn compiled(
        domain: Arc<Domain>,
        dictionary: Arc<Dictionary>,
        undefined: Undefined,
        sources: Sources,
    ) -> Self {
        let estimates = Estimates::new(&domain, &dictionary);
        let parts = match sources.len() {
            0 => Vec::new(),
            _ => vec![Part::compile(sources, &domain, &dictionary, &estimates)],
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
            Some(AttributeType::IntegerList { .. } | AttributeType::StringList { .. })
        )
    }
}
