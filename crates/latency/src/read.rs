//! Reading untrusted input: the error type of all readers, and the JSON report.
//!
//! Readers never panic and never allocate more than a constant plus a multiple of their input. The text
//! formats are read in [`crate::hgrm`] and [`crate::hlog`], the histogram coding in `coding.rs`; all of them
//! fail with [`ReadError`].

use std::fmt;

use serde::Deserialize;

use crate::report::{Report, SCHEMA};

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

/// Only what distinguishes a report from other JSON.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// Reads a JSON report.
///
/// Checks the schema name first, so that the error for a foreign file is not about its first unknown field.
/// Then checks every row against its histogram, and orders and ranges, so that a truncated or edited report
/// does not pass for a measurement.
///
/// # Errors
/// When the bytes are not JSON, have no schema name or another one, have unknown or missing fields, or
/// contradict themselves; in the last case [`ReadError::place`] is the row and field.
pub fn read_json(bytes: &[u8]) -> Result<Report, ReadError> {
    let head: Head = serde_json::from_slice(bytes)?;
    match head.schema {
        Some(serde_json::Value::String(name)) if name == SCHEMA => {}
        Some(serde_json::Value::String(name)) => {
            let shown: String = name.chars().take(60).collect();
            let message = format!("unsupported schema: stated `{shown}`, supported `{SCHEMA}`");
            return Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Whole,
                message,
            ));
        }
        _ => {
            let message =
                format!("not a perfkit report: no `\"schema\": \"{SCHEMA}\"` in this JSON");
            return Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Whole,
                message,
            ));
        }
    }
    let report = serde_json::from_slice(bytes)?;
    crate::check::check(&report)?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_json_is_called_foreign() {
        let error = read_json(br#"{"results": [1, 2]}"#).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Foreign);
        let error = read_json(br#"{"schema": "perfkit.report/9", "x": 1}"#).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Foreign);
        assert!(error.to_string().contains("perfkit.report/9"), "{error}");
    }

    #[test]
    fn broken_json_names_line_and_column() {
        let error = read_json(b"{\n  \"schema\": \"perfkit.report/1\",\n  \"complete\": maybe\n}")
            .unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Malformed);
        assert!(
            matches!(error.place(), Place::Line { line: 3, .. }),
            "{error}"
        );
        assert_eq!(error.to_string().matches("line 3").count(), 1, "{error}");
    }

    #[test]
    fn unknown_fields_are_refused() {
        let error = read_json(br#"{"schema": "perfkit.report/1", "surprise": 1}"#).unwrap_err();
        assert!(error.message().contains("surprise"), "{error}");
    }

    #[test]
    fn errors_are_one_bearable_line() {
        let name = "x\\n".repeat(5_000);
        let text = format!("{{\"schema\": \"perfkit.report/1\", \"{name}\": 1}}");
        let message = read_json(text.as_bytes()).unwrap_err().to_string();
        assert!(message.len() < 1_500 && !message.contains('\n'));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let mut hostile = b"{\"schema\":".to_vec();
        hostile.extend(std::iter::repeat_n(b'[', 1 << 16));
        assert!(read_json(&hostile).is_err());
    }

    #[test]
    fn a_report_comes_back_to_the_last_bit() {
        let mut recorder = crate::Recorder::new(
            crate::Spec::new(crate::LatencyName::Hold, "call"),
            std::time::Instant::now(),
        );
        (0..1_000u64).for_each(|i| recorder.record_ns(i * i * 7_919 % 1_000_003));
        let mut report = crate::testing::report(vec![recorder.finish().latency()]);
        report.environment.load_before = Some(0.1 + 0.2);
        let text = serde_json::to_vec(&report).unwrap();
        assert_eq!(read_json(&text).unwrap(), report);
    }

    #[test]
    #[cfg(feature = "schema")]
    fn the_schema_knows_every_key_of_a_report() {
        let schema = crate::report::schema();
        let report = serde_json::to_value(crate::testing::report(Vec::new())).unwrap();
        for key in report.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{key}");
        }
        assert_eq!(schema["additionalProperties"], false);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = read_json(&bytes);
        }
    }
}
