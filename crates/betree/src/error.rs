//! Errors: a kind, a message and a place in the input.

use std::fmt;

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An invalid line of a domains file, or an invalid domain.
    Domain,
    /// A syntax error in an expression.
    Syntax,
    /// An attribute that the domain does not have.
    UnknownAttribute,
    /// A value or an operator that does not fit the type of its attribute.
    Type,
    /// A value outside the bounds of its attribute.
    Bounds,
    /// A required attribute is undefined, or an expression tests a required attribute for null.
    Undefined,
    /// An invalid line of a constants file, or a missing constant that an expression needs.
    Constants,
    /// An event that is not JSON.
    Json,
    /// A subscription with an id that is taken.
    DuplicateId,
    /// A name that a subscription cannot have.
    Name,
    /// A subscription that does not exist.
    UnknownId,
    /// More than a tree can hold.
    TooLarge,
    /// An event that was read for another tree, or for an earlier state of this one.
    ForeignEvent,
    /// A file that is not a snapshot, or has another version.
    ForeignSnapshot,
    /// A truncated snapshot.
    TornSnapshot,
    /// A snapshot whose bytes were changed, or never were a valid snapshot.
    CorruptSnapshot,
}

/// Where in a text an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Not in a text.
    None,
    /// A line and a column, both from 1; columns count characters.
    Text {
        /// The line.
        line: u32,
        /// The column.
        column: u32,
    },
    /// A byte of an event or of a snapshot, from 0.
    Byte(usize),
}

/// An error with its place, and perhaps with a hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    place: Place,
    /// Whether the place is in a file, whose lines are always named.
    in_file: bool,
    hint: Option<Box<str>>,
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            place: Place::None,
            in_file: false,
            hint: None,
        }
    }

    /// The same error with what may help.
    pub(crate) fn help(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error at a line of a file: at the column that it has, or at the first.
    pub(crate) fn line(mut self, line: u32) -> Self {
        let column = match self.place {
            Place::Text { column, .. } => column,
            _ => 1,
        };
        self.place = Place::Text { line, column };
        self.in_file = true;
        self
    }

    /// Names the line even where it is the first.
    pub(crate) fn in_file(mut self) -> Self {
        self.in_file = true;
        self
    }

    /// The same error at a byte of a text, as line and column.
    pub(crate) fn at(mut self, text: &str, offset: usize) -> Self {
        let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let row = &before[start.map_or(0, |at| at + 1)..];
        // Bytes that begin a character.
        let columns = row.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.place = Place::Text {
            line: count(lines),
            column: count(columns),
        };
        self
    }

    /// The same error at a byte of an event or of a snapshot.
    pub(crate) fn byte(mut self, offset: usize) -> Self {
        self.place = Place::Byte(offset);
        self
    }

    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// What may help, as a sentence without a full stop: `did you mean 'country'?`.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.place {
            Place::Text { line, column } if self.in_file => {
                write!(f, " at line {line}, column {column}")
            }
            place => place.fmt(f),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Text { line: 1, column } => write!(f, " at column {column}"),
            Self::Text { line, column } => write!(f, " at line {line}, column {column}"),
            Self::Byte(offset) => write!(f, " at byte {offset}"),
        }
    }
}

/// A word of the input in quotes, cut to the length of a line.
pub(crate) fn quoted(word: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    let mut shown: String = word.chars().take(CHARACTERS_MAX).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let error = Error::new(ErrorKind::Syntax, "bad").at("é\nxéy", 6);
        assert_eq!(error.place(), Place::Text { line: 2, column: 3 });
        assert_eq!(error.to_string(), "bad at line 2, column 3");
        let error = Error::new(ErrorKind::Syntax, "bad").at("ab", 99);
        assert_eq!(error.to_string(), "bad at column 3");
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(quoted("a"), "'a'");
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 63);
    }
}
