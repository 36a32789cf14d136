//! Two files to compare: what each holds, and the comparisons that follow.

use std::path::{Path, PathBuf};

use latency::compare::{self, Names, Options};
use latency::foreign::{self, Benchmark, Times};
use latency::report::{Comparison, Environment, Latency, Report};
use report::names;
use report::saved::{FileKind, Saved};

use crate::commands::saved::{files as saved_files, read_bounded};
use crate::failure::{Failure, Result};

/// What comparing two files came to.
pub(super) struct Compared {
    pub(super) comparisons: Vec<Comparison>,
    /// The machine, as far as both state the same.
    pub(super) machine: Environment,
    /// What the files do not say and was assumed, in sentences.
    pub(super) notes: Vec<String>,
}

/// Compares two files.
pub(super) fn compared(paths: &[PathBuf], options: Options) -> Result<Compared> {
    let [base, target] = [side(&paths[0])?, side(&paths[1])?];
    let mut notes = Vec::new();
    for (path, read) in paths.iter().zip([&base, &target]) {
        let name = names::path(path);
        let own = read.notes.iter();
        notes.extend(own.map(|note| format!("{name}: {note}")));
    }
    notes.dedup();
    Ok(Compared {
        machine: base.machine.common(&target.machine),
        comparisons: files(paths, base.side, target.side, options)?,
        notes,
    })
}

/// What a file to compare holds.
struct Read {
    side: Side,
    /// The machine that it states.
    machine: Environment,
    /// What it does not say and was assumed.
    notes: Vec<String>,
}

impl Read {
    fn new(side: Side, machine: Environment) -> Self {
        Self {
            side,
            machine,
            notes: Vec::new(),
        }
    }
}

/// What is compared of a file.
enum Side {
    Report(Box<Report>),
    Numbers(Vec<f64>),
    /// Of another tool.
    Benchmarks(Vec<Benchmark>),
    /// Of an interval log or a distribution.
    Rows(Vec<Latency>),
}

/// Compares what two files hold.
fn files(paths: &[PathBuf], base: Side, target: Side, options: Options) -> Result<Vec<Comparison>> {
    let names = (names::path(&paths[0]), names::path(&paths[1]));
    let comparisons = match (base, target) {
        (Side::Report(base), Side::Report(target)) => {
            compare::reports_with(&base, &target, [&names.0, &names.1], options)
        }
        (Side::Numbers(base), Side::Numbers(target)) => {
            if base.len() != target.len() {
                return Err(Failure::new(format!(
                    "'{}' has {} numbers and '{}' has {}",
                    names.0,
                    base.len(),
                    names.1,
                    target.len()
                ))
                .help("numbers are compared pair by pair: both files need the same count"));
            }
            let labels = Names {
                row: "numbers",
                baseline: &names.0,
                target: &names.1,
            };
            vec![compare::numbers(labels, &base, &target, options)]
        }
        (Side::Benchmarks(base), Side::Benchmarks(target)) => {
            compare::benchmarks(&base, &target, [&names.0, &names.1], options)
        }
        (Side::Rows(base), Side::Rows(target)) => {
            compare::logs(&base, &target, [&names.0, &names.1], options)
        }
        (Side::Report(base), Side::Rows(target)) => {
            compare::logs(&base.latencies, &target, [&names.0, &names.1], options)
        }
        (Side::Rows(base), Side::Report(target)) => {
            compare::logs(&base, &target.latencies, [&names.0, &names.1], options)
        }
        _ => {
            return Err(Failure::new(
                "the two files are of different kinds, which have no row in common",
            )
            .help("name two reports, two files of numbers, or two files of other tools"));
        }
    };
    if comparisons.is_empty() {
        return Err(Failure::new(format!(
            "'{}' and '{}' have no row in common",
            names.0, names.1
        ))
        .help("compare two runs of the same command"));
    }
    Ok(comparisons)
}

fn side(path: &Path) -> Result<Read> {
    let mut all: Option<(Vec<Benchmark>, Environment)> = None;
    for file in saved_files(path)? {
        match one(&file)? {
            Read {
                side: Side::Benchmarks(mut more),
                machine,
                ..
            } => {
                all = Some(match all {
                    Some((mut benchmarks, common)) => {
                        benchmarks.append(&mut more);
                        (benchmarks, common.common(&machine))
                    }
                    None => (more, machine),
                });
            }
            other => return Ok(other),
        }
    }
    let (benchmarks, machine) = all.unwrap_or_else(|| (Vec::new(), Environment::unknown()));
    Ok(Read::new(Side::Benchmarks(benchmarks), machine))
}

/// What one file holds.
fn one(path: &Path) -> Result<Read> {
    let bytes = read_bounded(path)?;
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_own = first == Some(&b'{') && foreign::source(&bytes).is_none();
    if is_own && extension != Some("hlog") {
        return latency::report::read_json(&bytes)
            .map(|report| {
                let machine = report.environment.clone();
                Read::new(Side::Report(Box::new(report)), machine)
            })
            .map_err(|error| {
                let (name, reason) = (names::path(path), error.to_string());
                report::Error::Malformed { name, reason }.into()
            });
    }
    let text = || std::str::from_utf8(&bytes).is_ok_and(latency::hgrm::is_printed);
    let other_kind =
        matches!(extension, Some("hgrm" | "hlog")) || matches!(first, Some(b'{' | b'[')) || text();
    if other_kind {
        let mut file = Saved::parse(path, &bytes, None)?;
        let (machine, notes) = (file.environment(), std::mem::take(&mut file.notes));
        return Ok(Read {
            notes,
            ..Read::new(samples(file)?, machine)
        });
    }
    let help = "give a report written with --export-json, a file of another tool, or plain numbers one a line; \
                to run a command, add --interleave 20";
    let wrong =
        |what: String| Failure::new(format!("cannot read '{}': {what}", path.display())).help(help);
    match numbers(&bytes) {
        Ok(numbers) if numbers.is_empty() && bytes.is_empty() => {
            Err(wrong("the file is empty".to_owned()))
        }
        Ok(numbers) if numbers.is_empty() => Err(wrong("there are no numbers in it".to_owned())),
        Ok(numbers) => Ok(Read::new(Side::Numbers(numbers), Environment::unknown())),
        Err((line, word)) => Err(wrong(format!("line {line}: '{word}' is no number"))),
    }
}

/// The benchmarks of a file, or its intervals.
fn samples(file: Saved) -> Result<Side> {
    let refused = |why: &str, help: &str| {
        Failure::new(format!("cannot compare '{}': {why}", file.name)).help(help)
    };
    match &file.kind {
        FileKind::Foreign(read) => {
            let found = read.benchmarks();
            if found.iter().all(|one| one.times == Times::Stated) {
                let why = format!(
                    "this file of {} has no samples, and statistics alone decide nothing",
                    read.source.as_str()
                );
                return Err(refused(&why, "`perfkit report` shows both side by side"));
            }
            Ok(Side::Benchmarks(found))
        }
        FileKind::Log | FileKind::Distribution => Ok(Side::Rows(file.latencies)),
        FileKind::Report(_) => {
            let why = "it is a report under the name of another form";
            Err(refused(why, "give it a name that ends with .json"))
        }
    }
}

/// Numbers separated by line ends, commas or blanks; `#` starts a comment.
fn numbers(bytes: &[u8]) -> std::result::Result<Vec<f64>, (usize, String)> {
    let text = String::from_utf8_lossy(bytes);
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let data = line.split('#').next().unwrap_or_default();
        for word in data
            .split([',', ' ', '\t', ';'])
            .filter(|word| !word.is_empty())
        {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let shown = || word.escape_debug().take(40).collect();
            numbers.push(number.ok_or_else(|| (index + 1, shown()))?);
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_read_and_bad_words_named_with_their_line() {
        assert_eq!(numbers(b"1\n2.5, 3 # four\n\n"), Ok(vec![1.0, 2.5, 3.0]));
        assert_eq!(numbers(b"1\nx\n"), Err((2, "x".to_owned())));
        assert_eq!(numbers(b"1\nNaN\n"), Err((2, "NaN".to_owned())));
        assert_eq!(numbers(b"# nothing\n"), Ok(Vec::new()));
    }
}
