//! Compares betree with the crate a-tree: records the output of the program in `bench-peers/betree`.

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Body;

pub(crate) mod run;

/// One object a workload, as the program prints it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Betree {
    workloads: Vec<Value>,
    /// Events read from JSON, a row each workload.
    #[serde(default)]
    reading: Vec<Value>,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// Nanoseconds in a unit that fits.
fn time(value: &Value) -> String {
    match value.as_f64() {
        None => "–".to_owned(),
        Some(ns) if ns < 1e4 => format!("{:.2} µs", ns / 1e3),
        Some(ns) if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        Some(ns) => format!("{:.2} ms", ns / 1e6),
    }
}

fn seconds(value: &Value) -> String {
    value
        .as_f64()
        .map_or("–".to_owned(), |found| format!("{found:.2} s"))
}

fn number(value: &Value) -> String {
    value
        .as_i64()
        .map_or("–".to_owned(), |found| found.to_string())
}

impl Betree {
    /// How fast events are read, the slowest beside sonic-rs first.
    fn write_reading(&self, out: &mut String) {
        if self.reading.is_empty() {
            return;
        }
        out.push_str(
            "\nEvents read from JSON, MB/s: betree into an event with its names looked up, in memory that is used \
             again and in new memory; sonic-rs and serde_json into a value of any kind. Passes over 2,000 events took \
             turns in random order; medians of 15.\n\n\
             | workload | bytes an event | betree | new memory | sonic-rs | serde_json | time over sonic-rs |\n\
             |---|---|---|---|---|---|---|\n",
        );
        let over = |row: &Value| row["over_sonic_rs"].as_f64().unwrap_or(0.0);
        let mut rows: Vec<&Value> = self.reading.iter().collect();
        rows.sort_by(|a, b| over(b).total_cmp(&over(a)));
        for row in rows {
            let whole = |name: &str| format!("{:.0}", row[name].as_f64().unwrap_or(0.0));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {:.2} |",
                text(&row["workload"]),
                number(&row["bytes_an_event"]),
                whole("betree_mb_s"),
                whole("betree_fresh_mb_s"),
                whole("sonic_rs_mb_s"),
                whole("serde_json_mb_s"),
                over(row),
            );
        }
    }
}

impl Body for Betree {
    fn write(&self, out: &mut String) -> Result<()> {
        out.push_str(
            "One thread, events already parsed, ids as a list. Expressions and events are generated; what \
             is undefined in advertisements is unknown on both sides; of booleans nothing is, and betree \
             is in its default mode. The answers of 50 events were equal before anything was timed; then \
             buckets of 1,000 searches of betree and of 10 of a-tree took turns. a-tree takes no part \
             where building it takes minutes. Memory is what the process grew by.\n\n",
        );
        out.push_str(
        "| workload | betree p50 | p99 | min | a-tree p50 | p99 | min | times | build | a-tree | bytes an expression | a-tree |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
        for row in &self.workloads {
            let (ours, peer) = (&row["betree"]["search"], &row["a_tree"]);
            let times = match (peer["p50_ns"].as_f64(), ours["p50_ns"].as_f64()) {
                (Some(peer), Some(ours)) => format!("{:.0}", peer / ours),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {times} | {} | {} | {} | {} |",
                text(&row["workload"]),
                time(&ours["p50_ns"]),
                time(&ours["p99_ns"]),
                time(&ours["min_ns"]),
                time(&peer["p50_ns"]),
                time(&peer["p99_ns"]),
                time(&peer["min_ns"]),
                seconds(&row["betree"]["build_s"]),
                seconds(&peer["build_s"]),
                number(&row["betree"]["rss_bytes_an_expression"]),
                number(&peer["rss_bytes_an_expression"]),
            );
        }
        out.push_str(
        "\nbetree by itself: the median on each instruction set; batches of 2,048 events, bitmaps, by the\n\
         event; slices of 2,000 reductions, and what searching in slices costs beside one call (median\n\
         over pairs of buckets, and of one call against itself); a snapshot read from memory.\n\n\
         | workload | scalar | AVX2 | AVX-512 | batch p50 | min | slice p50 | p99 | p99.9 | in slices | control | load | bytes on disk |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
        for row in &self.workloads {
            let ours = &row["betree"];
            let percent = |value: &Value| {
                value
                    .as_f64()
                    .map_or("–".to_owned(), |found| format!("{found:+.1} %"))
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                text(&row["workload"]),
                time(&ours["scalar"]["p50_ns"]),
                time(&ours["avx2"]["p50_ns"]),
                time(&ours["avx512"]["p50_ns"]),
                time(&ours["batch"]["p50_ns"]),
                time(&ours["batch"]["min_ns"]),
                time(&ours["slice"]["p50_ns"]),
                time(&ours["slice"]["p99_ns"]),
                time(&ours["slice"]["p999_ns"]),
                percent(&ours["penalty"]["sliced_percent"]),
                percent(&ours["penalty"]["control_percent"]),
                seconds(&ours["snapshot"]["load_s"]),
                number(&ours["snapshot"]["bytes_an_expression"]),
            );
        }
        self.write_reading(out);
        Ok(())
    }
}
