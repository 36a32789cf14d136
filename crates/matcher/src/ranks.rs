//! The priorities of expressions, kept up with what searches see.

use std::collections::HashMap;
use std::sync::Arc;

use betree::{Priorities, Snapshot, SubscriptionId};

use crate::change::Change;
use crate::shared::Published;
use crate::texts::Texts;

/// Priorities of a tree that changes.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// Those that are not 0.
    by_id: HashMap<SubscriptionId, i64>,
    /// Those of the state that was published last.
    last: Option<Priorities>,
}

impl Ranks {
    /// The priorities of these expressions.
    pub(crate) fn new(texts: &Texts) -> Self {
        Self {
            by_id: texts.priorities(),
            last: None,
        }
    }

    /// Notes a change.
    pub(crate) fn note(&mut self, change: &Change) {
        match change {
            Change::Put(id, put) if put.priority != 0 => {
                self.by_id.insert(*id, put.priority);
            }
            Change::Put(id, _) | Change::Delete(id) => {
                self.by_id.remove(id);
            }
        }
    }

    /// What searches see, with all changes so far.
    pub(crate) fn publish(&mut self, snapshot: Snapshot) -> Published {
        let of = |id| self.by_id.get(&id).copied().unwrap_or(0);
        self.last = match (&self.last, self.by_id.is_empty()) {
            (_, true) => None,
            (None, false) => Some(snapshot.priorities(of)),
            (Some(last), false) => Some(snapshot.priorities_after(last, of)),
        };
        Published {
            snapshot: Arc::new(snapshot),
            priorities: self.last.clone(),
        }
    }
}
