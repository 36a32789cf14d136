//! The fields of messages that were valid, in their order.
//!
//! Most messages of a session have the same fields in the same order as one before. What tags alone decide (sections,
//! required fields, fields that occur twice) is then known, and only the values are left to check. Messages with
//! groups are not kept: their counts are values.

use super::conditions::Pending;
use super::dictionary::Dictionary;
use super::field_check::{check_value, wrong};
use super::rules::Rules;
use crate::decoder::Message;
use crate::error::{ErrorKind, Result};

/// Shapes that are kept.
const SHAPES_MAX: usize = 4;
/// Messages with more fields are not kept.
const FIELDS_MAX: usize = 64;
/// After this many unknown shapes in a row only one of as many is kept: they may be all different.
const MISSES_MAX: u32 = 8;

/// What decides whether a shape is valid, other than the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) transport: u64,
    pub(super) dictionary: u64,
    pub(super) rules: Rules,
}

/// A field: its number in the dictionary of its section, if it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) number: Option<u32>,
    pub(super) of_transport: bool,
}

/// A shape that is valid.
#[derive(Debug)]
pub(super) struct Shape {
    key: Key,
    msg_type: Vec<u8>,
    tags: Vec<u32>,
    pub(super) fields: Vec<Known>,
    /// The conditions that its values decide.
    pub(super) pending: Vec<Pending>,
}

/// A few shapes.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    /// The place of the next one.
    next: usize,
    misses: u32,
}

impl Shapes {
    /// The shape of a message, if it is known to be valid.
    #[inline]
    pub(super) fn find(&mut self, key: Key, message: &Message<'_, '_>) -> Option<&Shape> {
        let (tags, msg_type) = (message.tags(), message.msg_type());
        let is_it =
            |shape: &&Shape| shape.tags == tags && shape.msg_type == msg_type && shape.key == key;
        let found = self.shapes.iter().find(is_it);
        self.misses = match found {
            Some(_) => 0,
            None => self.misses.wrapping_add(1),
        };
        found
    }

    /// Keeps the shape of a valid message without groups.
    pub(super) fn keep(
        &mut self,
        key: Key,
        message: &Message<'_, '_>,
        known: impl Fn(u32) -> Known,
        pending: Vec<Pending>,
    ) {
        let is_skipped = self.misses > MISSES_MAX && !self.misses.is_multiple_of(MISSES_MAX);
        if is_skipped || message.len() > FIELDS_MAX {
            return;
        }
        let shape = Shape {
            key,
            msg_type: message.msg_type().to_vec(),
            tags: message.tags().to_vec(),
            fields: message.tags().iter().map(|tag| known(*tag)).collect(),
            pending,
        };
        match self.shapes.get_mut(self.next) {
            Some(old) => *old = shape,
            None => self.shapes.push(shape),
        }
        self.next = (self.next + 1) % SHAPES_MAX;
    }
}

/// Checks the values of a message whose shape is known.
#[inline(always)]
pub(super) fn check_values(
    known: &[Known],
    (transport, dictionary): (&Dictionary, &Dictionary),
    rules: Rules,
    message: &Message<'_, '_>,
) -> Result<()> {
    for (field, known) in message.fields().zip(known) {
        let dictionary = match known.of_transport {
            true => transport,
            false => dictionary,
        };
        match known.number {
            Some(number) => check_value(dictionary, rules, number as usize, &field)?,
            None if field.value.is_empty() && !rules.empty => {
                return Err(wrong(ErrorKind::EmptyValue, &field));
            }
            None => {}
        }
    }
    Ok(())
}
