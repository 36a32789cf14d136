//! The results as tables.

use serde_json::{Value, json};

use crate::measure::Measured;

/// A cell, and what its sides took: the median of the rounds, the worst of the stalls.
pub(crate) struct Row {
    name: String,
    bytes: usize,
    sides: Vec<Measured>,
}

impl Row {
    pub(crate) fn new(name: String, bytes: usize, sides: &[Vec<Measured>]) -> Self {
        Self {
            name,
            bytes,
            sides: sides.iter().map(|rounds| median(rounds)).collect(),
        }
    }

    /// The first side over the best of the others.
    fn over(&self, value: impl Fn(&Measured) -> f64) -> f64 {
        let best = self.sides[1..]
            .iter()
            .map(&value)
            .fold(f64::INFINITY, f64::min);
        value(&self.sides[0]) / best.max(1.0)
    }

    fn worst(&self) -> f64 {
        self.over(|side| side.wall_ns)
            .max(self.over(|side| side.cpu_ns))
    }

    pub(crate) fn line(&self) -> String {
        let walls: Vec<_> = self
            .sides
            .iter()
            .map(|side| format!("{:.2}", side.wall_ns / 1e6))
            .collect();
        let stalls: Vec<_> = self
            .sides
            .iter()
            .map(|side| {
                format!(
                    "{:.2}/{:.2}",
                    side.stall_p99_ns as f64 / 1e6,
                    side.stall_max_ns as f64 / 1e6
                )
            })
            .collect();
        let memory: Vec<_> = self
            .sides
            .iter()
            .map(|side| format!("{:.1}", side.memory_bytes as f64 / 1048576.0))
            .collect();
        format!(
            "{:<62} wall {:.2} cpu {:.2} | ms {} | stall {} | MiB {} | {} MB",
            self.name,
            self.over(|side| side.wall_ns),
            self.over(|side| side.cpu_ns),
            walls.join(" "),
            stalls.join(" "),
            memory.join(" "),
            self.bytes >> 20,
        )
    }
}

/// The medians of the rounds, and the worst stall of all.
fn median(rounds: &[Measured]) -> Measured {
    let middle = |value: &dyn Fn(&Measured) -> f64| {
        let mut values: Vec<_> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    Measured {
        wall_ns: middle(&|one| one.wall_ns),
        cpu_ns: middle(&|one| one.cpu_ns),
        memory_bytes: middle(&|one| one.memory_bytes as f64) as u64,
        compressed_bytes: middle(&|one| one.compressed_bytes as f64) as u64,
        stall_p50_ns: middle(&|one| one.stall_p50_ns as f64) as u64,
        stall_p99_ns: middle(&|one| one.stall_p99_ns as f64) as u64,
        stall_max_ns: rounds.iter().map(|one| one.stall_max_ns).max().unwrap_or(0),
    }
}

/// All rows, the worst first, with the names of their sides and of what they are about.
pub(crate) fn report(mut rows: Vec<Row>, sides: &[&str], about: &str) -> Value {
    rows.sort_by(|a, b| b.worst().total_cmp(&a.worst()));
    let slower = rows.iter().filter(|row| row.worst() > 1.1).count();
    let times: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                json!(row.name),
                json!(row.over(|side| side.wall_ns)),
                json!(row.over(|side| side.cpu_ns)),
            ];
            cells.extend(row.sides.iter().map(|side| json!(side.wall_ns)));
            cells.extend(row.sides.iter().map(|side| json!(side.cpu_ns)));
            json!(cells)
        })
        .collect();
    let stalls: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut cells = vec![json!(row.name)];
            for side in &row.sides {
                cells.extend(
                    [side.stall_p50_ns, side.stall_p99_ns, side.stall_max_ns].map(|ns| json!(ns)),
                );
            }
            json!(cells)
        })
        .collect();
    let memory: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut cells = vec![json!(row.name)];
            cells.extend(row.sides.iter().map(|side| json!(side.memory_bytes)));
            cells.extend(row.sides.iter().map(|side| json!(side.compressed_bytes)));
            json!(cells)
        })
        .collect();
    let column = |key: &str, unit: &str| json!({"key": key, "unit": unit});
    let each = |words: &[(&str, &str)]| -> Vec<Value> {
        sides
            .iter()
            .flat_map(|side| words.iter().map(move |(word, unit)| (side, word, unit)))
            .map(|(side, word, unit)| column(&format!("{side}_{word}"), unit))
            .collect()
    };
    let with = |first: Vec<Value>, rest: Vec<Value>| [first, rest].concat();
    let cell = || column("cell", "text");
    json!({
        "cells": rows.len(),
        "slower": slower,
        "tables": [
            {"name": format!("{about}: time"), "rows": times, "columns": with(
                vec![cell(), column("wall", "ratio"), column("cpu", "ratio")],
                [each(&[("wall_ns", "nanoseconds")]), each(&[("cpu_ns", "nanoseconds")])].concat())},
            {"name": format!("{about}: stalls"), "rows": stalls, "columns": with(vec![cell()],
                each(&[("p50_ns", "nanoseconds"), ("p99_ns", "nanoseconds"), ("max_ns", "nanoseconds")]))},
            {"name": format!("{about}: memory"), "rows": memory, "columns": with(vec![cell()],
                [each(&[("peak_bytes", "bytes")]), each(&[("compressed_bytes", "bytes")])].concat())},
        ],
    })
}
