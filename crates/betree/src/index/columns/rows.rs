//! Rows of bits and the plan of a search over them.

use super::{Clears, DECIDED};
use crate::event::EventValues;
use crate::index::positions::ordered;
use crate::memory;
use crate::simd::Join;

/// The rows of one attribute.
#[derive(Debug)]
pub(crate) struct Column {
    pub(super) attribute: usize,
    /// The row for events without the attribute; for lists, of the expressions without a test of the list.
    pub(super) base: u32,
    pub(super) values: Values,
}

#[derive(Debug)]
pub(super) enum Values {
    /// Intervals of a scalar: where they begin, and their rows.
    Scalar {
        starts: Vec<i64>,
        rows: Vec<u32>,
        is_float: bool,
    },
    /// Elements, any one of which has to be there, with their rows, ascending.
    Any(Vec<(u32, u32)>),
    /// Elements, none of which may be there.
    None(Vec<(u32, u32)>),
}

/// The expressions that are found by rows.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// The most selective first.
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<u64>>,
    /// The slot of each member, and where its program is in the code.
    pub(super) slots: Vec<u32>,
    pub(super) codes: Vec<u32>,
    /// One bit per member, and per member without a program.
    pub(super) present: Vec<u64>,
    pub(super) decided: Vec<u64>,
    /// Whether each member has the number of its slot; numbers of other slots are in no row.
    pub(super) is_aligned: bool,
    pub(super) clears: Clears,
}

impl Columns {
    /// Expressions in it.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = memory::of(&self.slots) + memory::of(&self.codes);
        let bits = self.rows.iter().chain([&self.present, &self.decided]);
        numbers + bits.map(memory::of).sum::<usize>() + self.clears.bytes()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether members have the numbers of their slots.
    pub(crate) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// The members of a word.
    #[inline]
    pub(crate) fn present(&self, word: usize) -> u64 {
        self.present.get(word).copied().unwrap_or(0)
    }

    /// The members of a word that have no program.
    #[inline]
    pub(crate) fn decided(&self, word: usize) -> u64 {
        self.decided.get(word).copied().unwrap_or(0)
    }

    pub(crate) fn clears(&self) -> &Clears {
        &self.clears
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }

    /// The slot of a member.
    pub(crate) fn slot(&self, member: usize) -> u32 {
        self.slots.get(member).copied().unwrap_or(u32::MAX)
    }

    /// Where the program of a member is, or [`DECIDED`].
    #[inline]
    pub(crate) fn code(&self, member: usize) -> u32 {
        self.codes.get(member).copied().unwrap_or(DECIDED)
    }

    /// Whether a member passes the rows of a plan.
    pub(crate) fn passes(&self, plan: &[Join], member: usize) -> bool {
        let bit = |row: u32| {
            let row = self.rows.get(row as usize);
            let word = row.and_then(|row| row.get(member / 64));
            word.is_some_and(|word| word >> (member % 64) & 1 == 1)
        };
        let mut any = false;
        plan.iter().all(|join| match *join {
            Join::And(row) => bit(row),
            Join::AndNot(row) => !bit(row),
            Join::Any(row) => {
                any = bit(row);
                true
            }
            Join::Or(row) => {
                any |= bit(row);
                true
            }
            Join::AndAny => any,
        })
    }
}

impl Column {
    /// Adds the steps for an event's value, or for its list elements from `element` on. Returns `None` when all
    /// are added, otherwise the element to continue at, after `most` elements.
    pub(crate) fn plan(
        &self,
        event: &EventValues,
        element: usize,
        most: usize,
        out: &mut Vec<Join>,
    ) -> Option<usize> {
        let is_defined = event.is_defined(self.attribute);
        let elements = event.elements(self.attribute);
        let end = elements.len().min(element.saturating_add(most));
        let part = elements.get(element..end).unwrap_or(&[]);
        let row = |rows: &[(u32, u32)], element: u32| {
            let found = rows.binary_search_by_key(&element, |(element, _)| *element);
            found.ok().map(|at| rows[at].1)
        };
        match &self.values {
            Values::Scalar {
                starts,
                rows,
                is_float,
            } => {
                let value = ordered(event.scalar(self.attribute), *is_float);
                let at = starts.partition_point(|start| *start <= value);
                let found = rows.get(at).copied().unwrap_or(self.base);
                out.push(Join::And(if is_defined { found } else { self.base }));
                return None;
            }
            Values::Any(rows) => {
                if element == 0 {
                    out.push(Join::Any(self.base));
                }
                out.extend(part.iter().filter_map(|e| row(rows, *e)).map(Join::Or));
                if end == elements.len() {
                    out.push(Join::AndAny);
                }
            }
            Values::None(rows) => {
                if element == 0 && !is_defined {
                    out.push(Join::And(self.base));
                }
                out.extend(part.iter().filter_map(|e| row(rows, *e)).map(Join::AndNot));
            }
        }
        (end < elements.len()).then_some(end)
    }
}
