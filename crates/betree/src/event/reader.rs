//! Reads events from JSON, a token at a time, under a budget.

use std::sync::Arc;

use super::Event;
use super::json::{Lexer, Token};
use crate::budget::{Budget, Progress};
use crate::dictionary::{Dictionary, UNKNOWN};
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::expr::CapKind;

/// Deepest nesting of brackets in skipped values.
const DEPTH_MAX: u32 = 128;
/// Time stamps are in microseconds, times in seconds.
const STAMPS_PER_SECOND: i64 = 1_000_000;
/// Bytes of text that are one reduction.
const TEXT_BYTES_PER_REDUCTION: usize = 64;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// A name or the end; which of them may come.
    Name {
        end: bool,
        name: bool,
    },
    Colon,
    Value,
    /// A comma or the end of the object.
    Next,
    /// An element or the end of a list.
    Element {
        end: bool,
    },
    ElementNext,
    /// The fields of an entry: how many were read.
    Field {
        read: u8,
        nested: bool,
    },
    FieldNext {
        read: u8,
        nested: bool,
    },
    /// In a skipped value: open brackets, and what may come next.
    Skip {
        depth: u32,
        next: Skipped,
    },
    End,
    Done,
}

/// What may come next in a skipped value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skipped {
    /// A value; whether the list may end instead.
    Value {
        end: bool,
    },
    /// A name; whether the object may end instead.
    Name {
        end: bool,
    },
    Colon,
    /// A comma or the end of what is open.
    Comma,
}

/// The owner of the current value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Attribute(u16),
    Now,
    Nothing,
}

/// One entry of a list of segments or counters.
#[derive(Debug, Default)]
struct Entry {
    kind: Option<(CapKind, bool)>,
    namespace: Option<u32>,
    numbers: [i64; 3],
}

/// Reads one event from JSON, in steps.
///
/// Made by [`Snapshot::event_reader`](crate::Snapshot::event_reader).
#[derive(Debug)]
pub struct EventReader<'j> {
    domain: Arc<Domain>,
    dictionary: Arc<Dictionary>,
    ignore_unknown: bool,
    lexer: Lexer<'j>,
    state: State,
    target: Target,
    seen: Vec<u64>,
    seen_now: bool,
    /// The open brackets of a skipped value, one bit each: 1 for an object.
    brackets: u128,
    entry: Entry,
    event: Event,
    reductions: u64,
}

impl<'j> EventReader<'j> {
    pub(crate) fn new(
        domain: Arc<Domain>,
        dictionary: Arc<Dictionary>,
        json: &'j [u8],
        ignore_unknown: bool,
    ) -> Self {
        let attributes = domain.attributes().len();
        Self {
            event: Event::new(attributes, &dictionary),
            domain,
            dictionary,
            ignore_unknown,
            lexer: Lexer::new(json),
            state: State::Start,
            target: Target::Nothing,
            seen: vec![0; attributes.div_ceil(64)],
            seen_now: false,
            brackets: 0,
            entry: Entry::default(),
            reductions: 0,
        }
    }

    /// Continues to read for about as many reductions as the budget has, at most
    /// [`OVERSHOOT_MAX`](crate::OVERSHOOT_MAX) more.
    ///
    /// # Errors
    /// Bytes that are not an event of this domain, with their offset.
    pub fn step(&mut self, budget: Budget) -> Result<Progress> {
        let limit = self.reductions.saturating_add(budget.left());
        while self.state != State::Done {
            if self.reductions >= limit {
                return Ok(Progress::Yielded);
            }
            let (token, offset) = self.lexer.next()?;
            self.reductions += match &token {
                Token::Text(text) => 1 + (text.len() / TEXT_BYTES_PER_REDUCTION) as u64,
                _ => 1,
            };
            if token != Token::Blank {
                self.state = self.take(token).map_err(|error| error.byte(offset))?;
            }
        }
        Ok(Progress::Done)
    }

    /// Reductions so far.
    #[must_use]
    pub fn reductions(&self) -> u64 {
        self.reductions
    }

    /// The event.
    ///
    /// # Errors
    /// JSON that was not read to its end, or a required attribute that the event lacks.
    pub fn finish(self) -> Result<Event> {
        if self.state != State::Done {
            return Err(Error::new(
                ErrorKind::Json,
                "the event is incomplete: read until `Progress::Done`",
            ));
        }
        for (index, attribute) in self.domain.attributes().iter().enumerate() {
            if !attribute.allows_undefined() && !self.event.is_defined(index) {
                let message = format!(
                    "the event lacks the required attribute {}",
                    quoted(attribute.name())
                );
                return Err(Error::new(ErrorKind::Undefined, message));
            }
        }
        Ok(self.event)
    }

    /// The state after a token.
    fn take(&mut self, token: Token<'_>) -> Result<State> {
        match (self.state, &token) {
            (State::Start, Token::Sign(b'{')) => Ok(State::Name {
                end: true,
                name: true,
            }),
            (State::Name { end: true, .. }, Token::Sign(b'}')) => Ok(State::End),
            (State::Name { name: true, .. }, Token::Text(name)) => self.name(name),
            (State::Colon, Token::Sign(b':')) => Ok(State::Value),
            (State::Value, _) => self.value(token),
            (State::Next, Token::Sign(b',')) => Ok(State::Name {
                end: false,
                name: true,
            }),
            (State::Next, Token::Sign(b'}')) => Ok(State::End),
            (State::Element { end: true }, Token::Sign(b']')) => Ok(State::Next),
            (State::Element { .. }, _) => self.element(token),
            (State::ElementNext, Token::Sign(b',')) => Ok(State::Element { end: false }),
            (State::ElementNext, Token::Sign(b']')) => Ok(State::Next),
            (State::Field { read, nested }, _) => self.field(read, nested, token),
            (State::FieldNext { read, nested }, _) => self.field_next(read, nested, &token),
            (State::Skip { depth, next }, _) => self.skip(depth, next, &token),
            (State::End, Token::End) => Ok(State::Done),
            (state, token) => {
                let expected = match state {
                    State::Start => "an object",
                    State::Name { end: true, .. } => "a name or '}'",
                    State::Name { .. } => "a name",
                    State::Colon => "':'",
                    State::Next => "',' or '}'",
                    State::ElementNext => "',' or ']'",
                    _ => "the end",
                };
                Err(unexpected(expected, token))
            }
        }
    }

    fn name(&mut self, name: &str) -> Result<State> {
        let attribute = self.domain.attribute(name);
        self.target = match attribute {
            Some(id) => Target::Attribute(id.0),
            None if name == "now" => Target::Now,
            None if self.ignore_unknown => Target::Nothing,
            None => {
                let message = format!("unknown attribute {}", quoted(name));
                return Err(Error::new(ErrorKind::UnknownAttribute, message));
            }
        };
        let again = match (self.target, attribute) {
            (Target::Now, _) => std::mem::replace(&mut self.seen_now, true),
            (_, Some(id)) => {
                let word = &mut self.seen[id.index() / 64];
                let bit = 1 << (id.index() % 64);
                let again = *word & bit != 0;
                *word |= bit;
                again
            }
            _ => false,
        };
        if again {
            let message = format!("attribute {} appears twice", quoted(name));
            return Err(Error::new(ErrorKind::Json, message));
        }
        Ok(State::Colon)
    }

    fn value(&mut self, token: Token<'_>) -> Result<State> {
        let attribute = match self.target {
            Target::Nothing => return self.skip(0, Skipped::Value { end: false }, &token),
            Target::Now => {
                return match token {
                    Token::Null => Ok(State::Next),
                    Token::Integer(now) => {
                        self.event.now = Some(now);
                        Ok(State::Next)
                    }
                    token => {
                        let message =
                            format!("'now': expected integer, found {}", describe(&token));
                        Err(Error::new(ErrorKind::Type, message))
                    }
                };
            }
            Target::Attribute(attribute) => attribute,
        };
        let index = usize::from(attribute);
        let kind = self.domain.attributes()[index].kind();
        match (kind, &token) {
            (_, Token::Null) => {}
            (AttributeType::Boolean, Token::True | Token::False) => {
                let value = u64::from(token == Token::True);
                self.event.set_scalar(index, value);
            }
            (
                AttributeType::Integer { .. } | AttributeType::IntegerEnum { .. },
                Token::Integer(value),
            ) => {
                self.event.set_scalar(index, *value as u64);
                if self.domain.attributes()[index].name() == "now" {
                    self.event.now = Some(*value);
                }
            }
            (AttributeType::Float { .. }, Token::Float(value) | Token::Wide(value)) => {
                self.event.set_scalar(index, value.to_bits());
            }
            (AttributeType::Float { .. }, Token::Integer(value)) => {
                self.event.set_scalar(index, (*value as f64).to_bits());
            }
            (AttributeType::String { .. }, Token::Text(text)) => {
                let id = self.dictionary.find_string(text).unwrap_or(UNKNOWN);
                self.event.set_scalar(index, u64::from(id));
                if self.dictionary.wants_text(index) && !self.event.set_text(index, text) {
                    let message = "the strings of the event exceed 4 GiB";
                    return Err(Error::new(ErrorKind::TooLarge, message));
                }
            }
            (
                AttributeType::IntegerList { .. }
                | AttributeType::StringList { .. }
                | AttributeType::Segments
                | AttributeType::Frequency,
                Token::Sign(b'['),
            ) => {
                self.event.open_list(index);
                return Ok(State::Element { end: true });
            }
            _ => return Err(self.mistyped(&token)),
        }
        Ok(State::Next)
    }

    fn mistyped(&self, token: &Token<'_>) -> Error {
        let Target::Attribute(attribute) = self.target else {
            return unexpected("a value", token);
        };
        let attribute = &self.domain.attributes()[usize::from(attribute)];
        let message = format!(
            "attribute {}: expected {}, found {}",
            quoted(attribute.name()),
            attribute.kind().name(),
            describe(token)
        );
        Error::new(ErrorKind::Type, message)
    }

    fn element(&mut self, token: Token<'_>) -> Result<State> {
        let Target::Attribute(attribute) = self.target else {
            return Err(unexpected("a value", &token));
        };
        let index = usize::from(attribute);
        let found = match (self.domain.attributes()[index].kind(), &token) {
            (AttributeType::IntegerList { .. }, Token::Integer(value)) => {
                self.dictionary.find_element(attribute, *value as u64)
            }
            (AttributeType::StringList { .. }, Token::Text(text)) => self
                .dictionary
                .find_string(text)
                .and_then(|id| self.dictionary.find_element(attribute, u64::from(id))),
            (AttributeType::Segments | AttributeType::Frequency, Token::Sign(b'[')) => {
                self.entry = Entry::default();
                return Ok(State::Field {
                    read: 0,
                    nested: false,
                });
            }
            _ => return Err(self.mistyped(&token)),
        };
        self.event.add_element(index, found);
        Ok(State::ElementNext)
    }

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
    fn field(&mut self, read: u8, nested: bool, token: Token<'_>) -> Result<State> {
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
                self.entry.namespace = self.dictionary.find_string(text);
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

    fn field_next(&mut self, read: u8, nested: bool, token: &Token<'_>) -> Result<State> {
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
            // Of several entries with one key the first counts.
            Some((kind, by_address)) => {
                let slot = self
                    .entry
                    .namespace
                    .and_then(|name| self.dictionary.find_cap(&(kind, by_address, first, name)));
                if let Some(slot) = slot {
                    self.event.caps[slot as usize]
                        .get_or_insert((second, third / STAMPS_PER_SECOND));
                }
            }
            None => {
                if let Some(slot) = self.dictionary.find_segment(attribute, first) {
                    self.event.segments[slot as usize].get_or_insert(second / STAMPS_PER_SECOND);
                }
            }
        }
    }

    /// Skips a token of a value that no attribute needs.
    fn skip(&mut self, depth: u32, next: Skipped, token: &Token<'_>) -> Result<State> {
        let in_object = self.brackets & 1 == 1;
        let (depth, next) = match (next, token) {
            (Skipped::Value { .. }, Token::Sign(sign @ (b'[' | b'{'))) => {
                if depth == DEPTH_MAX {
                    let message = format!("brackets nest deeper than {DEPTH_MAX} levels");
                    return Err(Error::new(ErrorKind::Json, message));
                }
                let object = *sign == b'{';
                self.brackets = self.brackets << 1 | u128::from(object);
                let next = match object {
                    true => Skipped::Name { end: true },
                    false => Skipped::Value { end: true },
                };
                (depth + 1, next)
            }
            (Skipped::Value { end: true }, Token::Sign(b']'))
            | (Skipped::Name { end: true }, Token::Sign(b'}')) => self.close(depth),
            (Skipped::Comma, Token::Sign(b']')) if !in_object => self.close(depth),
            (Skipped::Comma, Token::Sign(b'}')) if in_object => self.close(depth),
            (Skipped::Comma, Token::Sign(b',')) if in_object => {
                (depth, Skipped::Name { end: false })
            }
            (Skipped::Comma, Token::Sign(b',')) => (depth, Skipped::Value { end: false }),
            (Skipped::Name { .. }, Token::Text(_)) => (depth, Skipped::Colon),
            (Skipped::Colon, Token::Sign(b':')) => (depth, Skipped::Value { end: false }),
            (Skipped::Value { .. }, Token::Sign(_) | Token::End) => {
                return Err(unexpected("a value", token));
            }
            (Skipped::Value { .. }, _) => (depth, Skipped::Comma),
            (Skipped::Name { .. }, _) => return Err(unexpected("a name", token)),
            (Skipped::Colon, _) => return Err(unexpected("':'", token)),
            (Skipped::Comma, _) if in_object => return Err(unexpected("',' or '}'", token)),
            (Skipped::Comma, _) => return Err(unexpected("',' or ']'", token)),
        };
        Ok(match depth {
            0 => State::Next,
            depth => State::Skip { depth, next },
        })
    }

    /// Closes the innermost bracket.
    fn close(&mut self, depth: u32) -> (u32, Skipped) {
        self.brackets >>= 1;
        (depth - 1, Skipped::Comma)
    }
}

fn describe(token: &Token<'_>) -> String {
    match token {
        Token::Sign(b'{') => "an object".to_owned(),
        Token::Sign(b'[') => "a list".to_owned(),
        Token::Sign(sign) => format!("'{}'", char::from(*sign)),
        Token::Text(_) => "a string".to_owned(),
        Token::Integer(_) => "an integer".to_owned(),
        Token::Wide(_) => "an integer that does not fit 64 bits".to_owned(),
        Token::Float(_) => "a float".to_owned(),
        Token::True | Token::False => "a boolean".to_owned(),
        Token::Null => "null".to_owned(),
        Token::Blank | Token::End => "the end".to_owned(),
    }
}

fn unexpected(expected: &str, token: &Token<'_>) -> Error {
    let message = format!("expected {expected}, found {}", describe(token));
    Error::new(ErrorKind::Json, message)
}
