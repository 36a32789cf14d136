//! The message that a decoder parsed last: the index of its fields, and for long messages a table of
//! tags that look-ups build step by step.

use std::cell::{Cell, RefCell};

use crate::scan::{Index, Scanner};

/// Tags below this have a row of their own.
const ROW_TAGS: u32 = 8192;
/// The number of look-ups in a long message that compare all tags, before a table is worth its cost.
const COMPARING_LOOKUPS: u32 = 8;
/// Each further one adds this part of the fields to the table, which takes as long as comparing all tags:
/// building it at once would make one look-up slow.
const STEP_PART: usize = 64;
/// The fewest fields that such a look-up adds.
const STEP_FIELDS: usize = 16;
/// The number of rows, from that of its hash on, in one of which a larger tag is if the table has it.
const PROBES: usize = 8;

/// The last message, by its fields.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) scanner: Scanner,
    pub(super) index: Index,
    /// The positions of tags in a long message.
    table: RefCell<Table>,
    /// How many look-ups there were that a table can answer.
    lookups: Cell<u32>,
}

impl Parsed {
    /// Another message was parsed.
    #[inline]
    pub(super) fn renew(&mut self) {
        self.lookups.set(0);
    }

    /// The position of the first field with a tag, in a message with many fields.
    #[inline(never)]
    pub(super) fn position_of_many(&self, tag: u32) -> Option<usize> {
        let (tags, lookups) = (self.index.tags(), self.lookups.get());
        self.lookups.set(lookups.saturating_add(1));
        if lookups < COMPARING_LOOKUPS {
            return self.scanner.find(tags, tag);
        }
        let mut table = self.table.borrow_mut();
        if lookups == COMPARING_LOOKUPS {
            table.start();
        }
        let (found, done) = table.find(tags, tag);
        let rest = tags.get(done..).filter(|_| found.is_none());
        found.or_else(|| Some(done + self.scanner.find(rest?, tag)?))
    }
}

/// The first position of each tag, for messages with many fields. Each look-up adds some fields, and
/// the caller compares those that are not in the table yet.
#[derive(Debug, Default)]
struct Table {
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
    fn start(&mut self) {
        self.message = self.message.wrapping_add(1);
        if self.rows.is_empty() || self.message == 0 {
            self.rows = vec![(0, 0); ROW_TAGS as usize];
            self.large.clear();
            self.message = 1;
        }
        self.done = 0;
    }

    /// The first field with a tag among those in the table, and how many these are.
    fn find(&mut self, tags: &[u32], tag: u32) -> (Option<usize>, usize) {
        let step = (tags.len() / STEP_PART).max(STEP_FIELDS);
        for field in self.done..tags.len().min(self.done + step) {
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
    let head_bytes = match HEAD_BYTES.get(tag as usize) {
        Some(bytes) => u32::from(*bytes),
        None if tag < 100_000 => 6,
        None => {
            let longer = [999_999, 9_999_999, 99_999_999].map(|most| u32::from(tag > most));
            7 + longer.iter().sum::<u32>()
        }
    };
    (start + head_bytes) as usize
}

/// By tag of up to four digits: how many bytes it has as text with its `=`. Messages have few tags that differ, so
/// they touch few lines of it.
static HEAD_BYTES: [u8; 10_000] = {
    let (mut rows, mut tag) = ([5; 10_000], 0);
    while tag < 1_000 {
        rows[tag] = 2 + (tag > 9) as u8 + (tag > 99) as u8;
        tag += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::value_start;

    #[test]
    fn a_value_begins_after_its_tag() {
        let powers = (0..9).map(|digit| 10_u32.pow(digit));
        let near = powers.flat_map(|power| [power - 1, power, power + 1]);
        for tag in (0..20_000).chain(near).chain([999_999_999]) {
            assert_eq!(value_start(7, tag), 7 + format!("{tag}=").len(), "{tag}");
        }
    }
}
