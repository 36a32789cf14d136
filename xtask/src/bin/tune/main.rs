//! `cargo xtask tune`: the recipes of zstdkit, measured beside every native level, and a search
//! for better parameters.
//!
//! [`args`] reads the words, [`data`] cuts samples, [`candidate`] is what is measured, [`measure`]
//! takes sizes, times and memory, [`front`] says what dominates what, [`search`] looks for
//! parameters that nothing dominates, [`report`] prints, [`record`] keeps, and [`table`] is what the
//! record of recipes has too.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what a chore does")]
#![allow(clippy::print_stderr, reason = "printing is what a chore does")]

mod args;
mod candidate;
mod data;
mod front;
mod measure;
mod record;
mod report;
mod search;
mod set;
#[path = "../../peers/recipes/table.rs"]
mod table;

use anyhow::Result;

use args::{Args, Task};
use record::Run;
use table::Table;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(args) = Args::parse(&words)? else {
        print!("{}", args::USAGE);
        return Ok(());
    };
    let mut run = Run::start(&words)?;
    run.tables = measure_all(&args)?;
    if args.task == Task::Judge {
        let tables: Vec<&Table> = run.tables.iter().collect();
        print!("{}", table::verdict(&tables));
    }
    match &args.json {
        Some(path) => run.write(path),
        None => Ok(()),
    }
}

fn measure_all(args: &Args) -> Result<Vec<Table>> {
    let sources = data::load(&args.files, &args.kinds, args.part)?;
    let mut tables = Vec::new();
    for &size in &args.sizes {
        let cases: Vec<data::Case> = sources
            .iter()
            .filter_map(|source| source.case(size, args.bytes))
            .collect();
        if let Task::Search { steps, .. } = args.task {
            let found = search::run(args, size, &cases, steps)?;
            print!("{}", report::found(&found, &cases));
            tables.extend(found.tables(&cases));
            continue;
        }
        let measured = cases
            .iter()
            .map(|case| measure::interleaved(case, &candidate::all(args, case), &args.effort))
            .collect::<Result<Vec<_>>>()?;
        let noise = front::noise(measured.iter().map(Vec::as_slice));
        for (case, rows) in cases.iter().zip(measured) {
            let table = Table::new(case, rows, noise);
            print!("{}", table.text());
            tables.push(table);
        }
    }
    Ok(tables)
}
