//! The message that a decoder parsed last: the index of its fields, and for long messages a table of
//! tags that is built at the first look-up.

use std::cell::{Cell, RefCell};

use crate::scan::{Index, Scanner, digits};

/// Tags below this have a row of their own.
const ROW_TAGS: u32 = 8192;
/// A look-up adds so many fields to the table: building it at once would make one look-up slow.
const STEP_FIELDS: usize = 128;
/// A larger tag is in one of so many rows after that of its hash, or not in the table.
const PROBES: usize = 8;

/// The last message, by its fields.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) scanner: Scanner,
    pub(super) index: Index,
    /// The positions of tags in a long message; built at the first look-up.
    pub(super) table: RefCell<Table>,
    pub(super) tabled: Cell<bool>,
}

/// The first position of each tag, for messages with many fields. Each look-up adds some fields, and
/// the caller compares those that are not in the table yet.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By tag: the number of the message, and of the field.
    rows: Vec<(u32, u32)>,
    /// Larger tags, by their hash.
    large: Vec<Large>,
    message: u32,
    /// How many fields of the message are in the table.
    done: usize,
}

/// The first field with a large tag, if the row is of this message.
#[derive(Debug, Default, Clone, Copy)]
struct Large {
    message: u32,
    tag: u32,
    field: u32,
}

impl Table {
    /// Forgets the message before.
    pub(super) fn start(&mut self) {
        self.message = self.message.wrapping_add(1);
        if self.rows.is_empty() || self.message == 0 {
            self.rows = vec![(0, 0); ROW_TAGS as usize];
            self.large.clear();
            self.message = 1;
        }
        self.done = 0;
    }

    /// The first field with a tag among those in the table, and how many these are.
    pub(super) fn find(&mut self, tags: &[u32], tag: u32) -> (Option<usize>, usize) {
        for field in self.done..tags.len().min(self.done + STEP_FIELDS) {
            if !self.add(tags, field) {
                break;
            }
            self.done = field + 1;
        }
        let row = match self.rows.get(tag as usize) {
            Some(row) => Some(*row),
            None => {
                let row = self.large_row(tag).and_then(|at| self.large.get(at));
                row.map(|row| (row.message, row.field))
            }
        };
        let found = row.filter(|row| row.0 == self.message);
        (found.map(|row| row.1 as usize), self.done)
    }

    /// Adds a field. Returns whether its tag has a row.
    fn add(&mut self, tags: &[u32], field: usize) -> bool {
        let Some(tag) = tags.get(field).copied() else {
            return false;
        };
        let message = self.message;
        if let Some(row) = self.rows.get_mut(tag as usize) {
            if row.0 != message {
                *row = (message, field as u32);
            }
            return true;
        }
        let rows = (2 * tags.len()).next_power_of_two();
        if self.large.len() < rows {
            // Before the first large tag of a message, or it would lose others of it.
            if self.large.iter().any(|row| row.message == message) {
                return false;
            }
            self.large = vec![Large::default(); rows];
        }
        let Some(row) = self.large_row(tag).and_then(|at| self.large.get_mut(at)) else {
            return false;
        };
        if row.message != message {
            let field = field as u32;
            *row = Large {
                message,
                tag,
                field,
            };
        }
        true
    }

    /// The row of a large tag, or the one that it would have.
    fn large_row(&self, tag: u32) -> Option<usize> {
        let mask = self.large.len().checked_sub(1)?;
        let hash = tag.wrapping_mul(0x9e37_79b1) as usize >> 8;
        let rows = (hash..hash + PROBES).map(|at| at & mask);
        let mut rows = rows.filter_map(|at| Some((at, self.large.get(at)?)));
        let own = rows.find(|(_, row)| row.message != self.message || row.tag == tag);
        own.map(|(at, _)| at)
    }
}

/// Where the value of a field begins, when the field begins at `start`.
#[inline]
pub(super) fn value_start(start: u32, tag: u32) -> usize {
    (start + digits(tag) + 1) as usize
}
