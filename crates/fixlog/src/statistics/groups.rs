//! Messages counted by type, session, fields, or the time they were sent at: one row for each combination of values.

use std::collections::HashMap;

use fixcore::Message;

use crate::GroupKey;

/// The messages that have the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupCount {
    /// One for each [`GroupKey`]; `None` where messages have no such field. What is behind the first 256 bytes of a
    /// value is left out, with `…` in its place.
    pub values: Vec<Option<Vec<u8>>>,
    /// The log, counted from 0; of logs that are one, the first.
    pub log: usize,
    /// How many messages.
    pub messages: u64,
    /// How many bytes they have together.
    pub bytes: u64,
}

#[derive(Debug)]
struct Row {
    key: Vec<u8>,
    log: usize,
    messages: u64,
    bytes: u64,
}

/// Rows in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Groups {
    rows: Vec<Row>,
    /// By log and key.
    places: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Adds a message of a block.
    pub(super) fn message(&mut self, by: &[GroupKey], message: &Message<'_, '_>) {
        let mut key = std::mem::take(&mut self.key);
        GroupKey::write(by, message, &mut key);
        self.count(&key, 0, (1, message.bytes().len() as u64), usize::MAX);
        self.key = key;
    }

    /// Adds those of a block of a log; how many messages have no row, because there are `rows_max` others.
    pub(super) fn add(&mut self, part: &Self, log: usize, rows_max: usize) -> u64 {
        let mut key = std::mem::take(&mut self.key);
        let mut lost = 0;
        for row in &part.rows {
            key.clear();
            key.extend_from_slice(&row.key);
            key.extend_from_slice(&log.to_le_bytes());
            if !self.count(&key, log, (row.messages, row.bytes), rows_max) {
                lost += row.messages;
            }
        }
        self.key = key;
        lost
    }

    /// Adds messages and their bytes to the row of a key; whether it has one.
    fn count(&mut self, key: &[u8], log: usize, of: (u64, u64), rows_max: usize) -> bool {
        let at = match self.places.get(key) {
            Some(at) => *at,
            None if self.rows.len() >= rows_max => return false,
            None => {
                self.places.insert(key.to_vec(), self.rows.len());
                self.rows.push(Row {
                    key: key.to_vec(),
                    log,
                    messages: 0,
                    bytes: 0,
                });
                self.rows.len() - 1
            }
        };
        if let Some(row) = self.rows.get_mut(at) {
            row.messages += of.0;
            row.bytes += of.1;
        }
        true
    }

    /// All, those with the most messages first.
    pub(super) fn counts(&self, by: &[GroupKey]) -> Vec<GroupCount> {
        let mut counts: Vec<_> = self.rows.iter().map(|row| row.count(by)).collect();
        counts.sort_by(|a, b| {
            let most = b.messages.cmp(&a.messages);
            most.then_with(|| (&a.values, a.log).cmp(&(&b.values, b.log)))
        });
        counts
    }
}

impl Row {
    fn count(&self, by: &[GroupKey]) -> GroupCount {
        GroupCount {
            values: GroupKey::values(by, &self.key),
            log: self.log,
            messages: self.messages,
            bytes: self.bytes,
        }
    }
}
