//! Streams and archives in a tokio runtime: zstdkit's async encoder and decoder next to async-compression and
//! `spawn_blocking`, over sizes of contents and writes, flushes, levels, runtimes and numbers of streams; zipstream's
//! async writer next to async_zip, s-zip and the crate zip in `spawn_blocking`, over numbers and sizes of entries.
//!
//! `cargo run --release --manifest-path bench-peers/async/Cargo.toml -- ROUNDS [PART OF A NAME]`
//!
//! It prints one JSON object; `cargo xtask peers async` runs it and keeps that as a record. Each measurement runs
//! in a process of its own, so that memory is its own as well.

#![forbid(unsafe_code)]

mod archive;
mod cell;
mod measure;
mod side;
mod table;

use std::process::Command;

use archive::Writer;
use measure::Measured;
use serde::Serialize;
use serde_json::json;
use side::Side;
use table::Row;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--stream", side, cell] => print(measure::one(
            Side::named(side)?,
            &serde_json::from_str(cell)?,
        )?),
        ["--archive", side, cell] => print(archive::one(
            Writer::named(side)?,
            &serde_json::from_str(cell)?,
        )?),
        [rounds] => run(rounds.parse()?, ""),
        [rounds, name] => run(rounds.parse()?, name),
        _ => Err("expected a number of rounds and a part of the names of cells".into()),
    }
}

/// Prints what this process measured, for the one that started it.
fn print(measured: Measured) -> Result<()> {
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

/// Measures all cells with this in their names.
fn run(rounds: usize, part: &str) -> Result<()> {
    let mut streams = Vec::new();
    for cell in cell::all() {
        let name = cell.name();
        if name.contains(part) {
            let sides = sides("--stream", &Side::ALL.map(Side::name), &name, &cell, rounds)?;
            streams.push(kept(Row::new(name, cell.total_bytes(), &sides)));
        }
    }
    let mut archives = Vec::new();
    for cell in archive::all() {
        let name = cell.name();
        if name.contains(part) {
            let writers = Writer::ALL.map(Writer::name);
            let sides = sides("--archive", &writers, &name, &cell, rounds)?;
            archives.push(kept(Row::new(name, cell.total_bytes(), &sides)));
        }
    }
    let all = json!({
        "rounds": rounds,
        "streams": table::report(streams, &Side::ALL.map(Side::name), "streams"),
        "archives": table::report(archives, &Writer::ALL.map(Writer::name), "archives"),
    });
    println!("{all}");
    Ok(())
}

/// Shows a row as soon as it is known.
fn kept(row: Row) -> Row {
    eprintln!("{}", row.line());
    row
}

/// What each side takes for a cell, in rounds, with the sides in another order each time.
fn sides(
    kind: &str,
    names: &[&'static str],
    cell_name: &str,
    cell: &impl Serialize,
    rounds: usize,
) -> Result<Vec<Vec<Measured>>> {
    let cell = serde_json::to_string(cell)?;
    let mut found: Vec<Vec<Measured>> = names.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for place in 0..names.len() {
            let side = (round + place) % names.len();
            let mut child = Command::new(std::env::current_exe()?);
            let output = child.args([kind, names[side], &cell]).output()?;
            if !output.status.success() {
                let words = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{cell_name}, {}: {words}", names[side]).into());
            }
            found[side].push(serde_json::from_slice(&output.stdout)?);
        }
    }
    Ok(found)
}
