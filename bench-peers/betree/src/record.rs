//! The record: a table for people, and the same numbers as JSON.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::Result;

const COMMAND: &str =
    "cargo run --release --manifest-path bench-peers/betree/Cargo.toml -- bench-peers/record";

/// Prints the table, and writes both into a directory.
pub(crate) fn write(directory: Option<&str>, rows: &[Value]) -> Result<()> {
    let machine = machine();
    let text = markdown(rows, &machine);
    println!("{text}");
    if let Some(directory) = directory {
        let directory = Path::new(directory);
        std::fs::write(directory.join("betree.md"), text)?;
        let all = json!({ "command": COMMAND, "machine": machine, "workloads": rows });
        let text = serde_json::to_string_pretty(&all)?;
        std::fs::write(directory.join("betree.json"), text + "\n")?;
    }
    Ok(())
}

fn machine() -> Value {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(':'));
    let output = |program: &str, word: &str| {
        let output = Command::new(program).arg(word).output().ok();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.unwrap_or_default().trim().to_owned()
    };
    json!({
        "processor": model.map_or("unknown", |(_, name)| name.trim()),
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
        "rustc": output("rustc", "--version"),
        "date": output("date", "-uI"),
    })
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

fn markdown(rows: &[Value], machine: &Value) -> String {
    let mut out = String::from("# betree beside a-tree\n\n");
    let _ = writeln!(
        out,
        "`{COMMAND}`\n\n{}, {} processors, {}, {}. betree of this tree, a-tree 0.6.1.\n\n\
         One thread, events already parsed, ids as a list. Expressions and events are generated; what\n\
         is undefined in advertisements is unknown on both sides; of booleans nothing is, and betree is in its\n\
         default mode. The answers of 50 events were equal before anything was\n\
         timed; then buckets of 1,000 searches of betree and of 10 of a-tree took turns. a-tree takes no\n\
         part where building it takes minutes. Memory is what the process grew by.\n",
        text(&machine["processor"]),
        machine["processors"],
        text(&machine["rustc"]),
        text(&machine["date"]),
    );
    out.push_str(
        "| workload | betree p50 | p99 | min | a-tree p50 | p99 | min | times | build | a-tree | bytes an expression | a-tree |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
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
    for row in rows {
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
    out
}
