//! How often verdicts are right, by simulation: coverage of intervals, errors of gates, false verdicts and power of
//! comparisons, each by the rules of before and by those of today; and verdicts on tails.
//!
//!     cargo run --release -p perfkit-latency --example verdicts -- --json verdicts.json [--quick]
//!
//! `cargo xtask peers verdicts` runs it and writes the record.

#![forbid(unsafe_code)]

mod comparing;
mod intervals;
mod process;
mod tails;

use std::io::Write as _;
use std::time::Instant;

use perfkit_latency::report::Table;

/// How much is simulated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Runs of each case.
    pub(crate) runs: u64,
}

/// Everything that was found.
#[derive(serde::Serialize)]
struct Found {
    runs: u64,
    seconds: u64,
    tables: Vec<Table>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runs = if words.iter().any(|word| word == "--quick") {
        40
    } else {
        1_000
    };
    let size = Size { runs };
    let mut tables = intervals::tables(size);
    tables.extend(comparing::tables(size));
    tables.push(tails::table(size));
    let found = Found {
        runs,
        seconds: started.elapsed().as_secs(),
        tables,
    };
    let json = serde_json::to_string(&found)?;
    let at = words.iter().position(|word| word == "--json");
    match at.and_then(|at| words.get(at + 1)) {
        Some(path) => std::fs::write(path, json)?,
        None => std::io::stdout().write_all(json.as_bytes())?,
    }
    Ok(())
}
