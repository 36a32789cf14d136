//! A parsed message: its fields by position and by tag, as bytes and as values.

use std::fmt;

use super::fields::{Field, Fields};
use super::parsed::{Parsed, value_start};
use crate::error::{Error, ErrorKind, Result};
use crate::scan::FRONT_TAGS;
use crate::value::{self, Decimal, Timestamp};

/// Messages with more fields are looked up by a table, shorter ones by comparing tags.
const COMPARED_MAX: usize = 256;

/// A valid message: borrowed bytes, and the decoder's index of their fields.
pub struct Message<'d, 'm> {
    pub(super) parsed: &'d Parsed,
    pub(super) bytes: &'m [u8],
    /// Where its fields end.
    pub(super) ends: &'d [u32],
    /// The first tags, if they can be compared at once; elements after the last tag are old values.
    pub(super) front: Option<&'d [u32; FRONT_TAGS]>,
}

impl fmt::Debug for Message<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        f.debug_map()
            .entries(fields.map(|field| (field.tag, field.value.escape_ascii().to_string())))
            .finish()
    }
}

impl<'m> Message<'_, 'm> {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// How many fields it has: at least four.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a message is never empty")]
    pub fn len(&self) -> usize {
        self.parsed.index.len
    }

    /// The tags of its fields.
    #[inline]
    #[must_use]
    pub fn tags(&self) -> &[u32] {
        self.parsed.index.tags()
    }

    /// A field by its position, from 0.
    #[inline]
    #[must_use]
    pub fn field(&self, at: usize) -> Option<Field<'m>> {
        self.field_of(at, *self.parsed.index.tags().get(at)?)
    }

    #[inline]
    fn field_of(&self, at: usize, tag: u32) -> Option<Field<'m>> {
        let end = *self.ends.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => self.ends.get(before)? + 1,
            None => 0,
        };
        Some(Field {
            tag,
            value: self.bytes.get(value_start(start, tag)..end as usize)?,
            offset: start as usize,
        })
    }

    /// All fields in order.
    #[inline]
    #[must_use]
    pub fn fields(&self) -> Fields<'_, 'm> {
        self.fields_in(0, self.len())
    }

    #[inline]
    pub(crate) fn fields_in(&self, from: usize, to: usize) -> Fields<'_, 'm> {
        let start = from.checked_sub(1).and_then(|before| self.ends.get(before));
        Fields::new(
            self.bytes,
            start.map_or(0, |end| end + 1),
            self.tags().get(from..to).unwrap_or(&[]),
            self.ends.get(from..to).unwrap_or(&[]),
        )
    }

    /// The position of the first field with a tag.
    #[inline]
    #[must_use]
    pub fn position(&self, tag: u32) -> Option<usize> {
        // Most look-ups are for the first fields.
        let found = self
            .front
            .and_then(|front| self.parsed.scanner.find_in_front(front, tag));
        match found {
            Some(at) => (at < self.ends.len()).then_some(at),
            None => self.position_behind(tag),
        }
    }

    fn position_behind(&self, tag: u32) -> Option<usize> {
        let tags = self.tags();
        if tags.len() > COMPARED_MAX {
            return self.parsed.position_of_many(tag);
        }
        let passed = self.front.map_or(0, |front| front.len());
        let found = self.parsed.scanner.find(tags.get(passed..)?, tag)?;
        Some(passed + found)
    }

    /// The value of the first field with a tag. For fields in groups see [`whole`](Self::whole).
    #[inline]
    #[must_use]
    pub fn get(&self, tag: u32) -> Option<&'m [u8]> {
        self.field_of(self.position(tag)?, tag)
            .map(|field| field.value)
    }

    /// BeginString (8).
    #[must_use]
    pub fn begin_string(&self) -> &'m [u8] {
        self.field(0).map_or(&[], |field| field.value)
    }

    /// MsgType (35).
    #[must_use]
    pub fn msg_type(&self) -> &'m [u8] {
        self.field(2).map_or(&[], |field| field.value)
    }

    fn typed<T>(&self, tag: u32, read: impl FnOnce(&'m [u8]) -> Option<T>) -> Result<Option<T>> {
        let Some(field) = self.position(tag).and_then(|at| self.field(at)) else {
            return Ok(None);
        };
        match read(field.value) {
            Some(value) => Ok(Some(value)),
            None => Err(Error::new(ErrorKind::Value, field.offset).tag_is(tag)),
        }
    }

    /// The value of a field as an unsigned integer; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is something else.
    pub fn get_u64(&self, tag: u32) -> Result<Option<u64>> {
        self.typed(tag, value::unsigned)
    }

    /// The value of a field as an integer; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is something else.
    pub fn get_i64(&self, tag: u32) -> Result<Option<i64>> {
        self.typed(tag, value::signed)
    }

    /// The value of a field as an exact decimal number; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is something else or has too many digits.
    pub fn get_decimal(&self, tag: u32) -> Result<Option<Decimal>> {
        self.typed(tag, Decimal::parse)
    }

    /// The value of a field as `Y` or `N`; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is something else.
    pub fn get_bool(&self, tag: u32) -> Result<Option<bool>> {
        self.typed(tag, value::boolean)
    }

    /// The value of a field as one byte; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is longer.
    pub fn get_char(&self, tag: u32) -> Result<Option<u8>> {
        self.typed(tag, value::character)
    }

    /// The value of a field as a UTC timestamp; `None` without the field.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] if the value is something else.
    pub fn get_timestamp(&self, tag: u32) -> Result<Option<Timestamp>> {
        self.typed(tag, Timestamp::parse)
    }
}
