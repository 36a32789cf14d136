//! zstdkit's async encoder and decoder next to async-compression and `spawn_blocking`, over sizes of contents and
//! writes, flushes, levels, runtimes and numbers of streams.
//!
//! `cargo run --release --manifest-path bench-peers/async/Cargo.toml -- ROUNDS`
//!
//! It prints one JSON object; `cargo xtask peers async` runs it and keeps that as a record. Each measurement runs
//! in a process of its own, so that memory is its own as well.

#![forbid(unsafe_code)]

mod cell;
mod measure;
mod side;
mod table;

use std::process::Command;

use cell::Cell;
use measure::Measured;
use side::Side;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--one", side, cell] => {
            let measured = measure::one(Side::named(side)?, &serde_json::from_str(cell)?)?;
            println!("{}", serde_json::to_string(&measured)?);
            Ok(())
        }
        [rounds] => run(rounds.parse()?, ""),
        [rounds, name] => run(rounds.parse()?, name),
        _ => Err("expected a number of rounds and a part of the names of cells".into()),
    }
}

/// Measures all cells with this in their names, in rounds, with the sides in another order each time.
fn run(rounds: usize, name: &str) -> Result<()> {
    let mut rows = Vec::new();
    for cell in cell::all()
        .into_iter()
        .filter(|cell| cell.name().contains(name))
    {
        let mut sides: Vec<(Side, Vec<Measured>)> = Side::ALL.map(|side| (side, Vec::new())).into();
        for round in 0..rounds {
            let count = sides.len();
            sides.rotate_left(round % count);
            for (side, found) in &mut sides {
                found.push(apart(*side, &cell)?);
            }
        }
        sides.sort_by_key(|&(side, _)| side);
        let row = table::Row::new(&cell, &sides);
        eprintln!("{}", row.line());
        rows.push(row);
    }
    println!("{}", table::report(rows, rounds));
    Ok(())
}

/// One measurement, in a process of its own.
fn apart(side: Side, cell: &Cell) -> Result<Measured> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["--one", side.name(), &serde_json::to_string(cell)?]);
    let output = child.output()?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}, {}: {words}", cell.name(), side.name()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
