//! betree beside the crate a-tree on the same expressions and events: answers compared first, then
//! searches in turns, bucket by bucket. Where a-tree cannot be built in time, betree stands alone.
//!
//! `cargo run --release --manifest-path bench-peers/betree/Cargo.toml`
//!
//! It prints one JSON object; `cargo xtask peers betree` runs it and keeps that as a record.
//!
//! Each workload runs in a process of its own, so that memory is its own as well.
//!
//! With `--shapes DRAWS SIZE…` it measures shapes of workloads instead, next to the simple inverted index too.

#![forbid(unsafe_code)]

mod atree;
mod measure;
mod reading;
mod shapes;

use std::process::Command;

use bench::betree::shapes::Plan;
use serde_json::Value;

/// What is generated, and whether a-tree takes part. At 100,000 advertisements it takes minutes to
/// build, and ten times as many take a hundred times as long.
const WORKLOADS: [(&str, bool); 6] = [
    ("bool-64", true),
    ("bool-96", true),
    ("bool-128", true),
    ("ad-10000", true),
    ("ad-100000", false),
    ("ad-1000000", false),
];

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [one, name, peer] if one == "--one" => {
            println!("{}", measure::workload(name, peer == "true")?);
            Ok(())
        }
        [word, names @ ..] if word == "--reading" => {
            println!("{}", reading::all(names)?);
            Ok(())
        }
        [shapes, draws, sizes @ ..] if shapes == "--shapes" => {
            let mut plan = Plan::default();
            plan.draws = draws.parse()?;
            plan.sizes = sizes
                .iter()
                .map(|size| size.parse())
                .collect::<std::result::Result<_, _>>()?;
            println!("{}", shapes::run(&plan)?);
            Ok(())
        }
        [] => run(),
        _ => Err("expected no words".into()),
    }
}

fn run() -> Result<()> {
    let program = std::env::current_exe()?;
    let mut rows: Vec<Value> = Vec::new();
    for (name, peer) in WORKLOADS {
        eprintln!("{name} …");
        let output = Command::new(&program)
            .args(["--one", name, &peer.to_string()])
            .output()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{name}: {message}").into());
        }
        rows.push(serde_json::from_slice(&output.stdout)?);
    }
    eprintln!("reading …");
    let mut all = reading::all(&[])?;
    all["workloads"] = rows.into();
    println!("{all}");
    Ok(())
}
