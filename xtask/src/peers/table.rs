//! Tables of reports as the programs of comparisons print them, in Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A table as reports have it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Table {
    name: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Column {
    key: String,
    unit: String,
}

impl Table {
    pub(super) fn write(&self, out: &mut String) -> std::fmt::Result {
        self.write_first(out, &[], usize::MAX)
    }

    /// Writes at most so many rows, the first ones, of those that are equal in these columns.
    pub(super) fn write_first(
        &self,
        out: &mut String,
        by: &[&str],
        most: usize,
    ) -> std::fmt::Result {
        writeln!(out, "\n## {}\n", self.name)?;
        let names = self.columns.iter().map(Column::name);
        writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(self.columns.len()))?;
        let keys: Vec<usize> = (0..)
            .zip(&self.columns)
            .filter_map(|(at, column)| by.contains(&&*column.key).then_some(at))
            .collect();
        let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
        let mut left = 0;
        for row in &self.rows {
            let key = keys.iter().filter_map(|at| row.get(*at));
            let count = counts
                .entry(key.map(Value::to_string).collect())
                .or_default();
            *count += 1;
            if *count > most {
                left += 1;
                continue;
            }
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(column, value)| column.cell(value));
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
        }
        if left > 0 {
            writeln!(out, "\n{left} rows more are in the record's JSON.")?;
        }
        Ok(())
    }
}

impl Column {
    fn name(&self) -> String {
        let name = self.key.trim_end_matches("_ns").trim_end_matches("_bytes");
        name.replace('_', " ")
    }

    fn cell(&self, value: &Value) -> String {
        let Some(number) = value.as_f64() else {
            return value.as_str().unwrap_or("–").replace('|', "→");
        };
        match self.unit.as_str() {
            "nanoseconds" if number < 1e3 && number.fract() != 0.0 => format!("{number:.2} ns"),
            "nanoseconds" if number < 1e6 => format!("{:.2} µs", number / 1e3),
            "nanoseconds" if number < 1e9 => format!("{:.2} ms", number / 1e6),
            "nanoseconds" => format!("{:.2} s", number / 1e9),
            "share" => format!("{:.3} %", number * 100.0),
            "ratio" => format!("{number:.2}"),
            "bytes" => format!("{number:.0} B"),
            // Of measured rates more digits say nothing.
            "per_second" if number >= 100.0 => format!("{number:.0}"),
            "per_second" => format!("{number:.2}"),
            _ => format!("{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_their_units() {
        let column = |key: &str, unit: &str| Column {
            key: key.to_owned(),
            unit: unit.to_owned(),
        };
        let ns = column("betree_p50_ns", "nanoseconds");
        assert_eq!(ns.name(), "betree p50");
        assert_eq!(ns.cell(&Value::from(1_500)), "1.50 µs");
        assert_eq!(ns.cell(&Value::from(12.345)), "12.35 ns");
        assert_eq!(ns.cell(&Value::from(2_500_000_000_u64)), "2.50 s");
        assert_eq!(ns.cell(&Value::Null), "–");
        assert_eq!(column("ratio", "ratio").cell(&Value::from(0.5)), "0.50");
        assert_eq!(
            column("matched", "share").cell(&Value::from(0.12)),
            "12.000 %"
        );
        let rate = column("messages_per_s", "per_second");
        assert_eq!(rate.cell(&Value::from(107_243.219)), "107243");
        assert_eq!(rate.cell(&Value::from(99.987)), "99.99");
        assert_eq!(column("shape", "text").cell(&Value::from("a | b")), "a → b");
    }
}
