//! Entries of segments and frequency caps: lists of numbers and names inside a list.

use super::{EventReader, State, Target};
use crate::domain::AttributeType;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::event::json::Token;
use crate::expr::CapKind;

/// Time stamps are in microseconds, times in seconds.
const STAMPS_PER_SECOND: i64 = 1_000_000;

/// The second in which a time stamp lies, also before 1970.
pub(super) fn second_of(stamp: i64) -> i64 {
    stamp.div_euclid(STAMPS_PER_SECOND)
}

/// One entry of a list of segments or counters.
#[derive(Debug, Default)]
pub(super) struct Entry {
    kind: Option<(CapKind, bool)>,
    namespace: Option<u32>,
    numbers: [i64; 3],
}

impl EventReader<'_> {
    fn is_frequency(&self) -> bool {
        match self.target {
            Target::Attribute(attribute) => {
                self.domain.attributes()[usize::from(attribute)].kind() == AttributeType::Frequency
            }
            _ => false,
        }
    }

    /// A field of an entry: `id, stamp` of a segment, or `type, id, namespace, value, stamp` of a counter, whose
    /// first three may be in their own brackets.
    pub(super) fn field(&mut self, read: u8, nested: bool, token: Token<'_>) -> Result<State> {
        let next = Ok(State::FieldNext {
            read: read + 1,
            nested,
        });
        match (self.is_frequency(), read, &token) {
            (true, 0, Token::Sign(b'[')) if !nested => Ok(State::Field { read, nested: true }),
            (true, 0, Token::Text(word)) => {
                self.entry.kind = Some(CapKind::parse(word).ok_or_else(|| {
                    let message = format!("{} is not a type of frequency cap", quoted(word));
                    Error::new(ErrorKind::Type, message)
                })?);
                next
            }
            (true, 2, Token::Text(text)) => {
                self.entry.namespace = self.dictionary.find_string(text.as_bytes());
                next
            }
            (true, 1 | 3 | 4, Token::Integer(value)) => {
                let at = if read == 1 { 0 } else { usize::from(read) - 2 };
                self.entry.numbers[at] = *value;
                next
            }
            (false, 0 | 1, Token::Integer(value)) => {
                self.entry.numbers[usize::from(read)] = *value;
                next
            }
            _ => Err(self.mistyped(&token)),
        }
    }

    pub(super) fn field_next(
        &mut self,
        read: u8,
        nested: bool,
        token: &Token<'_>,
    ) -> Result<State> {
        let last = if self.is_frequency() { 5 } else { 2 };
        match token {
            Token::Sign(b']') if nested && read == 3 => Ok(State::FieldNext {
                read,
                nested: false,
            }),
            Token::Sign(b',') if read < last && !(nested && read == 3) => {
                Ok(State::Field { read, nested })
            }
            Token::Sign(b']') if read == last => {
                self.end_entry();
                Ok(State::ElementNext)
            }
            _ => Err(self.mistyped(token)),
        }
    }

    fn end_entry(&mut self) {
        let Target::Attribute(attribute) = self.target else {
            return;
        };
        self.event.add_element(usize::from(attribute), None);
        let [first, second, third] = self.entry.numbers;
        match self.entry.kind {
            Some((kind, by_address)) => {
                let slot = self
                    .entry
                    .namespace
                    .and_then(|name| self.dictionary.find_cap(&(kind, by_address, first, name)));
                if let Some(slot) = slot {
                    self.event.count(slot, second, second_of(third));
                }
            }
            None => {
                if let Some(slot) = self.dictionary.find_segment(attribute, first) {
                    self.event.enter_segment(slot, second_of(second));
                }
            }
        }
    }
}
