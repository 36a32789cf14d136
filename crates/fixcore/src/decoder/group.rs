//! Repeating groups: entries are found by the tags that they may hold. Each call reads one level.

use super::{Field, Fields, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::value;

/// A range of a message's fields: the whole message, or one entry of a group.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a, 'd, 'm> {
    message: &'a Message<'d, 'm>,
    from: usize,
    to: usize,
}

impl<'m> Message<'_, 'm> {
    /// All fields of the message, to read groups from.
    #[must_use]
    pub fn whole(&self) -> Entry<'_, '_, 'm> {
        Entry {
            message: self,
            from: 0,
            to: self.len(),
        }
    }
}

impl<'a, 'd, 'm> Entry<'a, 'd, 'm> {
    /// Its fields in order.
    #[must_use]
    pub fn fields(&self) -> Fields<'a, 'm> {
        self.message.fields_in(self.from, self.to)
    }

    /// The first field with a tag in this range.
    #[must_use]
    pub fn field(&self, tag: u32) -> Option<Field<'m>> {
        let tags = self.message.tags().get(self.from..self.to)?;
        let at = tags.iter().position(|other| *other == tag)?;
        self.message.field(self.from + at)
    }

    /// The value of the first field with a tag in this range.
    #[must_use]
    pub fn get(&self, tag: u32) -> Option<&'m [u8]> {
        self.field(tag).map(|field| field.value)
    }

    /// The entries of a repeating group.
    ///
    /// `count` is the tag of the field that states the number of entries, `first` the tag that begins
    /// each entry, and `is_member` says which tags belong to the group or to groups inside it. Without
    /// the count field there are no entries.
    ///
    /// # Errors
    /// The count is not a number ([`ErrorKind::Value`]) or differs from the number of entries found
    /// ([`ErrorKind::GroupCount`]).
    #[doc(alias = "repeating group")]
    pub fn group(
        &self,
        count: u32,
        first: u32,
        is_member: impl Fn(u32) -> bool,
    ) -> Result<Entries<'a, 'd, 'm>> {
        let tags = self.message.tags();
        let tags = tags.get(self.from..self.to).unwrap_or(&[]);
        let none = Entries {
            message: self.message,
            first,
            at: 0,
            to: 0,
            left: 0,
        };
        let Some(at) = tags.iter().position(|tag| *tag == count) else {
            return Ok(none);
        };
        let field = self.message.field(self.from + at);
        let offset = field.map_or(0, |field| field.offset);
        let stated = field.and_then(|field| value::unsigned(field.value));
        let stated = stated.ok_or(Error::new(ErrorKind::Value, offset).tag_is(count))?;
        let rest = &tags[at + 1..];
        let length = match rest.first() == Some(&first) {
            true => rest
                .iter()
                .position(|tag| *tag != first && !is_member(*tag)),
            false => Some(0),
        };
        let rest = &rest[..length.unwrap_or(rest.len())];
        let found = rest.iter().filter(|tag| **tag == first).count() as u64;
        if found != stated {
            return Err(Error::group_count(offset, count, stated, found));
        }
        Ok(Entries {
            at: self.from + at + 1,
            to: self.from + at + 1 + rest.len(),
            left: found,
            ..none
        })
    }
}

/// The entries of a group in order.
#[derive(Debug, Clone)]
pub struct Entries<'a, 'd, 'm> {
    message: &'a Message<'d, 'm>,
    first: u32,
    at: usize,
    to: usize,
    left: u64,
}

impl<'a, 'd, 'm> Iterator for Entries<'a, 'd, 'm> {
    type Item = Entry<'a, 'd, 'm>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.message.tags().get(self.at..self.to)?;
        if rest.is_empty() {
            return None;
        }
        let next = rest.iter().skip(1).position(|tag| *tag == self.first);
        let from = self.at;
        self.at = next.map_or(self.to, |next| from + 1 + next);
        self.left -= 1;
        Some(Entry {
            message: self.message,
            from,
            to: self.at,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left as usize;
        (left, Some(left))
    }
}
