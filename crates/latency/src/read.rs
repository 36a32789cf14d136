//! Reading untrusted input: the error type of all readers.
//!
//! Readers never panic and never allocate more than a constant plus a multiple of their input. The text
//! formats are read in [`crate::hgrm`] and [`crate::hlog`], the JSON report in `report/read.rs`, the histogram coding in `coding.rs`; all of them
//! fail with [`ReadError`].

use std::fmt;

/// Longest message.
const MESSAGE_CHARS_MAX: usize = 300;

/// Where in the input reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The input as a whole.
    Whole,
    /// A line and a column of text, both from 1.
    Line {
        /// The line.
        line: u64,
        /// The column, 0 when the line as a whole is meant.
        column: u64,
    },
    /// A byte, from 0.
    Byte(u64),
    /// A field of a report.
    Field {
        /// The list that the row is in.
        list: &'static str,
        /// The row, from 0 as in `jq`.
        index: u64,
        /// The field of the row, empty when the row as a whole is meant.
        field: &'static str,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("input"),
            Self::Line { line, column: 0 } => write!(f, "line {line}"),
            Self::Line { line, column } => write!(f, "line {line}, column {column}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Field {
                list,
                index,
                field: "",
            } => write!(f, "{list}[{index}]"),
            Self::Field { list, index, field } => write!(f, "{list}[{index}].{field}"),
        }
    }
}

/// What kind of thing is wrong with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// It is something else: another format, schema or version.
    Foreign,
    /// It does not follow the format.
    Malformed,
    /// It is larger than this reader allows.
    TooLarge,
}

/// Why some input could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    kind: ReadErrorKind,
    place: Place,
    message: String,
}

impl std::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Whole => f.write_str(&self.message),
            place => write!(f, "{} at {place}", self.message),
        }
    }
}

impl ReadError {
    /// Messages quote the input; they are kept to one line of limited length.
    pub(crate) fn new(kind: ReadErrorKind, place: Place, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.len() > MESSAGE_CHARS_MAX || message.contains(char::is_control) {
            let escape = |c: char| if c.is_control() { '\u{fffd}' } else { c };
            message = message
                .chars()
                .take(MESSAGE_CHARS_MAX)
                .map(escape)
                .collect();
        }
        Self {
            kind,
            place,
            message,
        }
    }

    pub(crate) fn malformed(place: Place, message: impl Into<String>) -> Self {
        Self::new(ReadErrorKind::Malformed, place, message)
    }

    /// The same error at a place of an outer input (a line of a log that holds a histogram).
    pub(crate) fn at(self, place: Place) -> Self {
        let message = match self.place {
            Place::Whole => self.message,
            inner => format!("{} (histogram {inner})", self.message),
        };
        Self {
            kind: self.kind,
            place,
            message,
        }
    }

    /// What kind of thing is wrong.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// Where it is wrong.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let place = Place::Line {
            line: error.line() as u64,
            column: error.column() as u64,
        };
        let text = error.to_string();
        // serde_json states the place at the end of its message; `Display` states it here.
        let message = match text.rfind(" at line ") {
            Some(end) => text[..end].to_owned(),
            None => text,
        };
        Self::malformed(place, message)
    }
}
