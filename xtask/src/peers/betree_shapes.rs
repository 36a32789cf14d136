//! Compares betree with a simple inverted index and with the crate a-tree over shapes of workloads: records the
//! tables of the program in `bench-peers/betree`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Body;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BetreeShapes {
    /// Shapes at numbers of expressions: how many were asked for, and how many were measured before the time was up.
    cases: u64,
    measured: u64,
    /// Answers that were compared.
    answers: u64,
    cliffs: u64,
    /// Shapes that a-tree answers otherwise.
    otherwise: Vec<String>,
    seconds: u64,
    tables: Vec<Table>,
}

/// A table as reports have it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Table {
    name: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Column {
    key: String,
    unit: String,
}

impl Body for BetreeShapes {
    fn write(&self, out: &mut String) -> Result<()> {
        let minutes = self.seconds.div_ceil(60);
        writeln!(
            out,
            "One thread, events already parsed, ids as a list. {} of {} shapes in {minutes} minutes, {} answers equal, \
             {} cliffs. Sides search in turns of random order, an event at a time. *ratio* is betree over the simple \
             index, the worst first; a-tree takes part up to 10,000 expressions, where its language has the tests of \
             a shape and where it is built within 4 s, and searches as many events as it can in 0.6 s a turn. \
             *insert* is an insert and the snapshot after it, *hold* one step of 2,000 reductions.",
            self.measured, self.cases, self.answers, self.cliffs
        )?;
        if !self.otherwise.is_empty() {
            let names = self.otherwise.join("; ");
            writeln!(
                out,
                "\na-tree answers otherwise, and takes no part: {names}."
            )?;
        }
        for table in &self.tables {
            table.write(out)?;
        }
        Ok(())
    }
}

impl Table {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n## {}\n", self.name)?;
        let names = self.columns.iter().map(Column::name);
        writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(self.columns.len()))?;
        for row in &self.rows {
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(column, value)| column.cell(value));
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
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
            "nanoseconds" if number < 1e6 => format!("{:.2} µs", number / 1e3),
            "nanoseconds" if number < 1e9 => format!("{:.2} ms", number / 1e6),
            "nanoseconds" => format!("{:.2} s", number / 1e9),
            "share" => format!("{:.3} %", number * 100.0),
            "ratio" => format!("{number:.2}"),
            "bytes" => format!("{number:.0} B"),
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
        assert_eq!(ns.cell(&Value::from(2_500_000_000_u64)), "2.50 s");
        assert_eq!(ns.cell(&Value::Null), "–");
        assert_eq!(column("ratio", "ratio").cell(&Value::from(0.5)), "0.50");
        assert_eq!(
            column("matched", "share").cell(&Value::from(0.12)),
            "12.000 %"
        );
        assert_eq!(column("shape", "text").cell(&Value::from("a | b")), "a → b");
    }
}
