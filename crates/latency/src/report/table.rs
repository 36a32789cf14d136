//! Tables of further results.

use serde::de::IgnoredAny;
use serde::ser::{SerializeMap as _, SerializeSeq as _, SerializeStruct as _};
use serde::{Deserialize, Serialize, Serializer};

use super::finite;

/// A table of further results. Its JSON form has the rows twice: as arrays, and as `records` that name
/// every value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Form")]
pub struct Table {
    /// Stable name of the table.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// The clock floor of the run that measured its times, where single operations were timed. Absent for what
    /// another tool measured, and where no column has times; 0 where other clocks told them, such as those of a log.
    pub clock_floor_ns: Option<u64>,
    /// Whether it is what the run was asked for, and not what it found besides: the CSV form of a report is such a table.
    pub asked_for: bool,
}

/// A table of further results.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Form {
    /// Stable name of the table.
    name: String,
    /// The columns.
    columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    rows: Vec<Vec<Cell>>,
    /// The clock floor of the run that measured its times, where single operations were timed. Absent for what
    /// another tool measured.
    #[serde(default)]
    clock_floor_ns: Option<u64>,
    /// Whether it is what the run was asked for, and not what it found besides: the CSV form of a report is such a table.
    /// Absent where it is not.
    #[serde(default)]
    asked_for: bool,
    /// The same rows as objects by the keys of the columns; absent in reports of older versions.
    #[serde(default, rename = "records")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<std::collections::BTreeMap<String, Cell>>")
    )]
    _records: IgnoredAny,
}

impl From<Form> for Table {
    fn from(form: Form) -> Self {
        Self {
            name: form.name,
            columns: form.columns,
            rows: form.rows,
            clock_floor_ns: form.clock_floor_ns,
            asked_for: form.asked_for,
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Table {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Table".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Form::json_schema(generator)
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 4 + usize::from(self.clock_floor_ns.is_some()) + usize::from(self.asked_for);
        let mut table = serializer.serialize_struct("Table", fields)?;
        table.serialize_field("name", &self.name)?;
        table.serialize_field("columns", &self.columns)?;
        table.serialize_field("rows", &self.rows)?;
        if let Some(ns) = self.clock_floor_ns {
            table.serialize_field("clock_floor_ns", &ns)?;
        }
        if self.asked_for {
            table.serialize_field("asked_for", &true)?;
        }
        table.serialize_field("records", &Records(self))?;
        table.end()
    }
}

/// The rows of a table as objects, written without a copy of them.
struct Records<'a>(&'a Table);

impl Serialize for Records<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.rows.len()))?;
        for row in &self.0.rows {
            rows.serialize_element(&Record(&self.0.columns, row))?;
        }
        rows.end()
    }
}

struct Record<'a>(&'a [Column], &'a [Cell]);

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            record.serialize_entry(&column.key, cell)?;
        }
        record.end()
    }
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
            clock_floor_ns: None,
            asked_for: false,
        }
    }

    /// Whether any column has times.
    #[must_use]
    pub fn has_times(&self) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|column| column.unit == Unit::Nanoseconds)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_in_json_and_read_back_with_and_without_their_names() {
        let mut table = Table::new("t", &[("codec", Unit::Text), ("ratio", Unit::Ratio)]);
        table.rows.push(vec!["zstd".into(), 2.5.into()]);
        table.rows.push(vec!["none".into(), Cell::Null]);
        let mut json = serde_json::to_value(&table).expect("JSON");
        let records = serde_json::json!([
            {"codec": "zstd", "ratio": 2.5},
            {"codec": "none", "ratio": null},
        ]);
        assert_eq!(json["records"], records);
        assert_eq!(json["rows"][0][1], 2.5);
        let back: Table = serde_json::from_value(json.clone()).expect("a table");
        assert_eq!(back, table);
        table.clock_floor_ns = Some(25);
        let floored = serde_json::to_value(&table).expect("JSON");
        let back: Table = serde_json::from_value(floored).expect("a table");
        assert_eq!(back, table);
        table.clock_floor_ns = None;
        // Reports of older versions have arrays alone.
        json.as_object_mut().expect("an object").remove("records");
        let old: Table = serde_json::from_value(json.clone()).expect("a table");
        assert_eq!(old, table);
        json["else"] = 1.into();
        assert!(serde_json::from_value::<Table>(json).is_err());
    }
}
