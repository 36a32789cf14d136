//! Tables of further results.

use serde::{Deserialize, Serialize};

use super::finite;

/// A table of further results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Stable name of the table.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Stable key, unit last (`wall_ns`, `size_bytes`, `ratio`).
    pub key: String,
    /// Unit that text output scales the number by.
    pub unit: Unit,
}

/// Unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Text.
    Text,
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes a second.
    BytesPerSecond,
    /// Operations a second.
    PerSecond,
    /// A plain quotient, 1 is equal.
    Ratio,
    /// A share, 0 to 1, shown as a percentage.
    Share,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A fraction, finite.
    Number(f64),
    /// Text.
    Text(String),
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &str, columns: &[(&str, Unit)]) -> Self {
        let column = |(key, unit): &(&str, Unit)| Column {
            key: (*key).to_owned(),
            unit: *unit,
        };
        Self {
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }
}

impl From<u64> for Cell {
    /// A count, capped at `i64::MAX`.
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    /// A number, or no value when it is not finite.
    fn from(value: f64) -> Self {
        finite(value).map_or(Self::Null, Self::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
