//! The state that a matcher starts from, and a change of it.

use betree::{BeTree, Expression};

use crate::change::Change;
use crate::texts::Texts;

/// The state that a matcher starts from.
#[derive(Debug)]
pub struct First {
    /// The tree.
    pub tree: BeTree,
    /// Its expressions as they were written, as far as known.
    pub texts: Texts,
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
