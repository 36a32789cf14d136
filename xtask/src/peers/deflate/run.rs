//! Runs one of the examples, and writes its record.

use anyhow::{Context, Result};

use crate::peers::{locked, measured_by_example};
use crate::record::{Machine, Record, Results};
use crate::sh;

/// Measures one of both, `deflate` or `inflate`, and writes its record. The notes of the record, which say
/// what the files are, stay.
pub(crate) fn run(name: &str, words: &[&str]) -> Result<()> {
    let example = format!("{name}_bench");
    let (found, made) = measured_by_example("zipstream", "", &example, words)?;
    let (title, results) = match name {
        "deflate" => (
            "The own deflate beside libdeflate and zlib-rs",
            Results::Deflate(serde_json::from_value(found)?),
        ),
        _ => (
            "The own inflater beside libdeflate and zlib-rs",
            Results::Inflate(serde_json::from_value(found)?),
        ),
    };
    // Files by their names: a record has no paths of the machine.
    let words = words
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let words: Vec<&str> = words.collect();
    let command = format!("cargo xtask peers {name} {}", words.join(" "));
    let mut record = Record::new(title, command.trim(), results);
    record.made = vec![made];
    record.machine = Some(Machine::here());
    let lock = std::fs::read_to_string(sh::root().join("Cargo.lock"))?;
    for library in ["libdeflater", "zlib-rs"] {
        let version = locked(&lock, library);
        let version = version.with_context(|| format!("Cargo.lock has no {library}"))?;
        record.versions.push(version);
    }
    record.notes = Record::read(name)?.map_or_else(Vec::new, |old| old.notes);
    println!("{}", record.write(name)?.display());
    Ok(())
}
