//! Values that no attribute needs: checked for being JSON, and skipped.

use super::{EventReader, State, unexpected};
use crate::error::{Error, ErrorKind, Result};
use crate::event::json::Token;

/// Deepest nesting of brackets in skipped values.
const DEPTH_MAX: u32 = 128;

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
    pub(super) fn skip(&mut self, depth: u32, next: Skipped, token: &Token<'_>) -> Result<State> {
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
