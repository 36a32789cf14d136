//! Values that no attribute needs: checked for being JSON, and skipped.

use super::{EventReader, State, unexpected};
use crate::error::{Error, ErrorKind, Result};
use crate::event::json::Token;

/// Deepest nesting of brackets in skipped values.
const DEPTH_MAX: usize = 1 << 16;

/// The open brackets of a skipped value, one bit each: 1 for an object.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    bits: Vec<u64>,
    depth: usize,
}

impl Brackets {
    /// Opens a bracket. Returns false, and does nothing, where too many are open.
    fn open(&mut self, object: bool) -> bool {
        if self.depth == DEPTH_MAX {
            return false;
        }
        if self.depth.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last = *last << 1 | u64::from(object);
        }
        self.depth += 1;
        true
    }

    /// Closes the innermost.
    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth.is_multiple_of(64) {
            self.bits.pop();
        } else if let Some(last) = self.bits.last_mut() {
            *last >>= 1;
        }
    }

    fn in_object(&self) -> bool {
        self.bits.last().is_some_and(|last| last & 1 == 1)
    }
}

/// What may come next in a skipped value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skipped {
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

impl EventReader<'_> {
    /// Skips a token of a value that no attribute needs.
    pub(super) fn skip(&mut self, next: Skipped, token: &Token<'_>) -> Result<State> {
        let in_object = self.brackets.in_object();
        let next = match (next, token) {
            (Skipped::Value { .. }, Token::Sign(sign @ (b'[' | b'{'))) => {
                let object = *sign == b'{';
                if !self.brackets.open(object) {
                    let message = format!("brackets nest deeper than {DEPTH_MAX} levels");
                    return Err(Error::new(ErrorKind::Json, message));
                }
                match object {
                    true => Skipped::Name { end: true },
                    false => Skipped::Value { end: true },
                }
            }
            (Skipped::Value { end: true }, Token::Sign(b']'))
            | (Skipped::Name { end: true }, Token::Sign(b'}')) => self.close(),
            (Skipped::Comma, Token::Sign(b']')) if !in_object => self.close(),
            (Skipped::Comma, Token::Sign(b'}')) if in_object => self.close(),
            (Skipped::Comma, Token::Sign(b',')) if in_object => Skipped::Name { end: false },
            (Skipped::Comma, Token::Sign(b',')) => Skipped::Value { end: false },
            (Skipped::Name { .. }, Token::Text(_)) => Skipped::Colon,
            (Skipped::Colon, Token::Sign(b':')) => Skipped::Value { end: false },
            (Skipped::Value { .. }, Token::Sign(_) | Token::End) => {
                return Err(unexpected("a value", token));
            }
            (Skipped::Value { .. }, _) => Skipped::Comma,
            (Skipped::Name { .. }, _) => return Err(unexpected("a name", token)),
            (Skipped::Colon, _) => return Err(unexpected("':'", token)),
            (Skipped::Comma, _) if in_object => return Err(unexpected("',' or '}'", token)),
            (Skipped::Comma, _) => return Err(unexpected("',' or ']'", token)),
        };
        Ok(match self.brackets.depth {
            0 => State::Next,
            _ => State::Skip(next),
        })
    }

    /// Closes the innermost bracket.
    fn close(&mut self) -> Skipped {
        self.brackets.close();
        Skipped::Comma
    }
}
