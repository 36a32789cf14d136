//! Reads events from JSON, a token at a time, under a budget.

mod entries;
mod event_id;
mod members;
mod skip;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use entries::Entry;
use event_id::TakesId;
use skip::{Brackets, Skipped};

pub use event_id::EventId;

use super::json::{Lexer, Token};
use super::{Event, EventValues};
use crate::budget::{Budget, Progress};
use crate::dictionary::{Dictionary, UNKNOWN};
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};

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
    /// In a skipped value: what may come next.
    Skip(Skipped),
    End,
    Done,
}

/// The owner of the current value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Attribute(u16),
    Now,
    Nothing,
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
    seen_now: bool,
    brackets: Brackets,
    entry: Entry,
    event_id: TakesId<'j>,
    event: Box<EventValues>,
    reductions: u64,
}

impl<'j> EventReader<'j> {
    pub(crate) fn new(
        domain: Arc<Domain>,
        dictionary: Arc<Dictionary>,
        json: &'j [u8],
        ignore_unknown: bool,
        old: Option<Event>,
    ) -> Self {
        let attributes = domain.attributes().len();
        Self {
            event: match old {
                Some(Event(mut old)) => {
                    old.clear(attributes, &dictionary);
                    old
                }
                None => Box::new(EventValues::new(attributes, &dictionary)),
            },
            domain,
            dictionary,
            ignore_unknown,
            lexer: Lexer::new(json),
            state: State::Start,
            target: Target::Nothing,
            seen_now: false,
            brackets: Brackets::default(),
            entry: Entry::default(),
            event_id: TakesId::default(),
            reductions: 0,
        }
    }

    /// Continues to read for about as many reductions as the budget has, at most
    /// [`OVERSHOOT_MAX`](crate::OVERSHOOT_MAX) more.
    ///
    /// # Errors
    /// Bytes that are not an event of this domain, with their offset.
    pub fn step(&mut self, budget: Budget) -> Result<Progress> {
        self.read(budget, true)
    }

    /// Reads, with or without what [`members`] reads at once.
    fn read(&mut self, budget: Budget, at_once: bool) -> Result<Progress> {
        let limit = self.reductions.saturating_add(budget.left());
        while self.state != State::Done {
            if self.reductions >= limit {
                return Ok(Progress::Yielded);
            }
            if at_once && self.usual(limit) {
                continue;
            }
            let (token, offset) = self.lexer.next()?;
            self.reductions += match &token {
                Token::Text(text) => 1 + (text.len() / TEXT_BYTES_PER_REDUCTION) as u64,
                _ => 1,
            };
            if token != Token::Blank {
                if self.event_id.is_next && self.state == State::Value {
                    let json = self.lexer.json().get(offset..self.lexer.at());
                    self.event_id
                        .take(&token, json.unwrap_or_default(), offset)?;
                }
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
        if let Some(attribute) = self.domain.missing(&self.event.defined) {
            let message = format!(
                "the event lacks the required attribute {}",
                quoted(attribute.name())
            );
            return Err(Error::new(ErrorKind::Undefined, message));
        }
        Ok(Event(self.event))
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
            (State::Skip(next), _) => self.skip(next, &token),
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
        let is_id = self.event_id.meet(name)?;
        self.target = match attribute {
            Some(id) => Target::Attribute(id.0),
            None if name == "now" => Target::Now,
            None if self.ignore_unknown || is_id => Target::Nothing,
            None => {
                let message = format!("unknown attribute {}", quoted(name));
                return Err(Error::new(ErrorKind::UnknownAttribute, message));
            }
        };
        let again = match (self.target, attribute) {
            (Target::Now, _) => std::mem::replace(&mut self.seen_now, true),
            (_, Some(id)) => !self.event.see(id.index()),
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
            Target::Nothing => return self.skip(Skipped::Value { end: false }, &token),
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
                let id = self
                    .dictionary
                    .find_string(text.as_bytes())
                    .unwrap_or(UNKNOWN);
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
                .find_string(text.as_bytes())
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
