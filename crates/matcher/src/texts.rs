//! Expressions as they were written: a tree keeps only what they mean.

use std::collections::HashMap;

use betree::{BeTree, Expression, SubscriptionId};

use crate::change::{Change, Put};
use crate::store::First;

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

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SubscriptionId, &Put)> {
        self.0.iter()
    }
}

impl First {
    /// Makes a change. Returns whether the subscription is new.
    ///
    /// # Errors
    /// The tree refuses it; nothing changes then.
    pub(crate) fn apply(&mut self, change: &Change) -> betree::Result<bool> {
        let created = Self::change(&mut self.tree, change)?;
        self.texts.note(change);
        Ok(created)
    }

    /// The same of a tree alone.
    pub(crate) fn change(tree: &mut BeTree, change: &Change) -> betree::Result<bool> {
        match change {
            Change::Delete(id) => tree.delete(*id).map(|()| false),
            Change::Put(id, put) => {
                let expression = Expression::parse(&put.expression)?;
                let created = !tree.contains(*id);
                match created {
                    true => tree.insert(*id, &expression, &put.constants)?,
                    false => tree.update(*id, &expression, &put.constants)?,
                }
                Ok(created)
            }
        }
    }
}
