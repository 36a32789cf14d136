//! The message that a decoder parsed last: the index of its fields, and for long messages a table of
//! tags that is built at the first look-up.

use std::cell::{Cell, RefCell};

use crate::scan::{Index, Scanner, digits};

/// Tags below this have a row of the table.
const TABLE_TAGS: u32 = 8192;

/// The last message, by its fields.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) scanner: Scanner,
    pub(super) index: Index,
    /// The positions of tags in a long message; built at the first look-up.
    pub(super) table: RefCell<Table>,
    pub(super) tabled: Cell<bool>,
}

/// The first position of each tag, for messages with many fields.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By tag: the number of the message, and of the field.
    rows: Vec<(u32, u32)>,
    message: u32,
    /// Other tags, sorted, each with its first field.
    others: Vec<(u32, u32)>,
}

impl Table {
    pub(super) fn build(&mut self, tags: &[u32]) {
        self.message = self.message.wrapping_add(1);
        if self.rows.is_empty() || self.message == 0 {
            self.rows.clear();
            self.rows.resize(TABLE_TAGS as usize, (0, 0));
            self.message = 1;
        }
        self.others.clear();
        for (field, tag) in (0..).zip(tags) {
            match self.rows.get_mut(*tag as usize) {
                Some(row) if row.0 != self.message => *row = (self.message, field),
                Some(_) => {}
                None => self.others.push((*tag, field)),
            }
        }
        self.others.sort_unstable();
        self.others.dedup_by_key(|other| other.0);
    }

    pub(super) fn find(&self, tag: u32) -> Option<usize> {
        if let Some(row) = self.rows.get(tag as usize) {
            return (row.0 == self.message).then_some(row.1 as usize);
        }
        let at = self
            .others
            .binary_search_by_key(&tag, |other| other.0)
            .ok()?;
        self.others.get(at).map(|other| other.1 as usize)
    }
}

/// Where the value of a field begins, when the field begins at `start`.
#[inline]
pub(super) fn value_start(start: u32, tag: u32) -> usize {
    (start + digits(tag) + 1) as usize
}
