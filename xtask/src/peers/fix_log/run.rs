//! Times the commands, and writes the record.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::{FixLog, Row};
use crate::peers::{build_perfkit, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

const ROUNDS: u32 = 2;
/// What measures a command; bash has none that says what was held.
pub(crate) const TIME: &str = "/usr/bin/time";

/// Names, and lines of shell in which $1 is perfkit and $2 the log.
fn commands() -> Vec<(String, String)> {
    let fixed = |name: &str, line: &str| (name.to_owned(), line.to_owned());
    let mut all = vec![
        fixed(
            "read (dd bs=1M)",
            "exec dd if=\"$2\" of=/dev/null bs=1M status=none",
        ),
        fixed("cat, wc -c", "cat \"$2\" | wc -c"),
        // Into a pipe, for grep stops at the first match when its output is /dev/null.
        fixed("grep -c 35=8", "grep -c 35=8 \"$2\" | cat"),
    ];
    for threads in [1, 2] {
        for (part, quiet) in [("stats", "-q"), ("parse", "-qq"), ("validate", "-qq")] {
            all.push((
                format!("fix {part} -T{threads}"),
                format!("exec \"$1\" fix {part} {quiet} -T{threads} \"$2\""),
            ));
        }
    }
    all.push(fixed(
        "fix stats -T2, pipe",
        "cat \"$2\" | \"$1\" fix stats -q -T2",
    ));
    all
}

/// Measures and writes the record. A log that is not there is generated, 2 GiB.
pub(crate) fn run(log: &str) -> Result<()> {
    if !Path::new(TIME).is_file() {
        bail!(
            "{TIME} is not installed (apt-get install time): nothing else says what a command held"
        );
    }
    build_perfkit()?;
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    if !Path::new(log).exists() {
        let words = [
            "fix", "generate", "--size", "2GB", "--form", "lines", "-o", log,
        ];
        sh::run(sh::command(&perfkit).args(words))?;
    }
    let bytes = fs::metadata(log)?.len();
    let mut rows: Vec<Row> = Vec::new();
    for round in 1..=ROUNDS {
        println!("round {round} of {ROUNDS}");
        for (name, line) in commands() {
            let row = timed(&name, &line, &perfkit, log)?;
            println!("{name}: {:.2} s", row.seconds);
            match rows.iter_mut().find(|old| old.command == name) {
                Some(old) if row.seconds < old.seconds => *old = row,
                Some(_) => {}
                None => rows.push(row),
            }
        }
    }
    let results = FixLog {
        bytes,
        rounds: ROUNDS,
        rows,
    };
    let mut record = Record::new(
        "perfkit fix over a log",
        "cargo xtask peers fix-log LOG",
        Results::FixLog(results),
    );
    record.made = vec![made(&perfkit)?];
    record.machine = Some(Machine::here());
    println!("{}", record.write("fix-throughput")?.display());
    Ok(())
}

pub(crate) fn timed(name: &str, line: &str, perfkit: &Path, log: &str) -> Result<Row> {
    let mut command = sh::command(TIME);
    command
        .env("LC_ALL", "C")
        .args(["-f", "%e;%U;%S;%M", "sh", "-c"])
        // What is captured would be measured, too.
        .args([&format!("exec >/dev/null; {line}"), "-"]);
    let output = sh::output(command.arg(perfkit).arg(log))
        .with_context(|| format!("{name}: is every message of {log} valid?"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    parsed(name, said.lines().last().unwrap_or_default())
}

/// What `time` says: seconds, those of the program and of the system, the peak in KiB.
fn parsed(name: &str, line: &str) -> Result<Row> {
    let numbers: Vec<f64> = line
        .split(';')
        .filter_map(|part| part.parse().ok())
        .collect();
    ensure!(numbers.len() == 4, "{name}: {TIME} says '{line}'");
    Ok(Row {
        command: name.to_owned(),
        seconds: numbers[0],
        processor_s: ((numbers[1] + numbers[2]) * 100.0).round() / 100.0,
        peak_mib: numbers[3] / 1024.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Body as _;

    #[test]
    fn what_time_says_becomes_a_row() {
        let row = parsed("fix stats", "1.72;1.50;0.21;9216").unwrap();
        assert_eq!(
            (row.seconds, row.processor_s, row.peak_mib),
            (1.72, 1.71, 9.0)
        );
        let error = parsed("fix stats", "sh: not found")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("fix stats") && error.contains("not found"),
            "{error}"
        );
    }

    #[test]
    fn rates_are_of_the_bytes_of_the_log() {
        let row = parsed("fix stats", "2.00;1.00;0.00;2048").unwrap();
        let results = FixLog {
            bytes: 4_000_000_000,
            rounds: 2,
            rows: vec![row],
        };
        let mut text = String::new();
        results.write(&mut text).unwrap();
        assert!(
            text.contains("| fix stats | 2.00 | 2.00 | 1.00 | 4.00 | 2 |"),
            "{text}"
        );
    }
}
