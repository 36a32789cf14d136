//! A field, and going through the fields of a parsed message, from both ends. What the index keeps is a tag and an end for
//! each field: where a value begins follows from the tag.

use std::iter::{FusedIterator, Zip};
use std::slice::Iter;

use super::parsed::value_start;

/// One field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'m> {
    /// Its tag.
    pub tag: u32,
    /// Its value: at least one byte.
    pub value: &'m [u8],
    /// Where in the message the field begins.
    pub offset: usize,
}

/// Fields in the order of the message.
#[derive(Debug, Clone)]
pub struct Fields<'i, 'm> {
    bytes: &'m [u8],
    /// The tags and ends of those that are left.
    left: Zip<Iter<'i, u32>, Iter<'i, u32>>,
    /// Where the first of them begins.
    start: u32,
    /// The tags and ends of those that were not taken from the back.
    tags: &'i [u32],
    ends: &'i [u32],
}

impl<'i, 'm> Fields<'i, 'm> {
    /// The fields with these tags and ends, of which the first begins at `start`.
    pub(super) fn new(bytes: &'m [u8], start: u32, tags: &'i [u32], ends: &'i [u32]) -> Self {
        Self {
            bytes,
            left: tags.iter().zip(ends),
            start,
            tags,
            ends,
        }
    }

    /// Passes `count` fields at the front: at most those that are left.
    fn pass(&mut self, count: usize) {
        let passed = self.ends.len() - self.left.len() + count;
        if let Some(end) = passed.checked_sub(1).and_then(|at| self.ends.get(at)) {
            self.start = end + 1;
        }
        let tags = self.tags.get(passed..).unwrap_or(&[]);
        self.left = tags.iter().zip(self.ends.get(passed..).unwrap_or(&[]));
    }

    /// Passes `count` fields at the back: at most those that are left.
    fn pass_back(&mut self, count: usize) {
        let passed = self.ends.len() - self.left.len();
        let left = self.ends.len() - count;
        self.tags = self.tags.get(..left).unwrap_or(&[]);
        self.ends = self.ends.get(..left).unwrap_or(&[]);
        let tags = self.tags.get(passed..).unwrap_or(&[]);
        self.left = tags.iter().zip(self.ends.get(passed..).unwrap_or(&[]));
    }

    #[inline]
    fn field(bytes: &'m [u8], tag: u32, start: u32, end: u32) -> Option<Field<'m>> {
        Some(Field {
            tag,
            value: bytes.get(value_start(start, tag)..end as usize)?,
            offset: start as usize,
        })
    }
}

impl<'m> Iterator for Fields<'_, 'm> {
    type Item = Field<'m>;

    #[inline]
    fn next(&mut self) -> Option<Field<'m>> {
        let (tag, end) = self.left.next()?;
        let start = std::mem::replace(&mut self.start, end + 1);
        Self::field(self.bytes, *tag, start, *end)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }

    #[inline]
    fn count(self) -> usize {
        self.left.len()
    }

    #[inline]
    fn last(mut self) -> Option<Field<'m>> {
        self.next_back()
    }

    #[inline]
    fn nth(&mut self, count: usize) -> Option<Field<'m>> {
        self.pass(count.min(self.left.len()));
        self.next()
    }
}

impl<'m> DoubleEndedIterator for Fields<'_, 'm> {
    #[inline]
    fn next_back(&mut self) -> Option<Field<'m>> {
        let (tag, end) = self.left.next_back()?;
        let (_, before) = self.ends.split_last()?;
        self.ends = before;
        self.tags = self.tags.get(..before.len())?;
        let start = match before.last() {
            Some(before) if self.left.len() > 0 => before + 1,
            _ => self.start,
        };
        Self::field(self.bytes, *tag, start, *end)
    }

    #[inline]
    fn nth_back(&mut self, count: usize) -> Option<Field<'m>> {
        self.pass_back(count.min(self.left.len()));
        self.next_back()
    }
}

impl ExactSizeIterator for Fields<'_, '_> {}

impl FusedIterator for Fields<'_, '_> {}
