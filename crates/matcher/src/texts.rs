//! Expressions as they were written: a tree keeps only what they mean.

use std::collections::HashMap;

use betree::SubscriptionId;

use crate::change::{Change, Put};

/// Expressions as they were written, by their ids. Those of a snapshot file are not known.
#[derive(Debug, Clone, Default)]
pub struct Texts(HashMap<SubscriptionId, Put>);

impl Texts {
    /// Notes a change.
    pub fn note(&mut self, change: &Change) {
        match change {
            Change::Put(id, put) => drop(self.0.insert(*id, put.clone())),
            Change::Delete(id) => drop(self.0.remove(id)),
        }
    }

    /// An expression as it was written.
    #[must_use]
    pub fn get(&self, id: SubscriptionId) -> Option<&Put> {
        self.0.get(&id)
    }

    /// The priorities that are not 0.
    pub(crate) fn priorities(&self) -> HashMap<SubscriptionId, i64> {
        let all = self.0.iter().map(|(id, put)| (*id, put.priority));
        all.filter(|(_, priority)| *priority != 0).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SubscriptionId, &Put)> {
        self.0.iter()
    }
}
