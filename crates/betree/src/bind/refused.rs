//! Why a test is refused, and which of its constants is wrong.

use crate::error::Error;
use crate::expr::constant_offset;

/// A test that the domain does not allow.
#[derive(Debug)]
pub(super) struct Refused {
    error: Error,
    /// The constant of the test that is wrong, by its position, where one is.
    constant: Option<usize>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self {
            error,
            constant: None,
        }
    }
}

impl Refused {
    pub(super) fn constant(error: Error, position: usize) -> Self {
        Self {
            error,
            constant: Some(position),
        }
    }

    /// The error at the constant, or at the test, which begins at a byte.
    pub(super) fn at(self, text: &str, offset: usize) -> Error {
        let place = self
            .constant
            .map(|position| constant_offset(text, offset, position));
        self.error.at(text, place.unwrap_or(offset))
    }
}
