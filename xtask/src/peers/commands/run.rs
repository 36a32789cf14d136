//! Compiles a command whose work is an argument, compares it with itself and with more work, by perfkit and by
//! hyperfine in turns, and writes the record.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Case, Commands};
use crate::peers::Size;
use crate::peers::build::{build_perfkit, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

/// Every pass of its loop has the same instructions.
const SOURCE: &str = r#"
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  uint64_t left = argc > 1 ? strtoull(argv[1], 0, 10) : 0, x = 88172645463325252u;
  while (left--) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    __asm__ volatile("" : "+r"(x));
  }
  return x == 1;
}
"#;

/// About 10 ms.
const PASSES: u64 = 3_000_000;
/// More work in per cent, with the comparisons of each and the longest time of one.
const CASES: [(u64, u64, u64); 4] = [(0, 100, 3), (1, 12, 20), (3, 12, 20), (10, 12, 20)];
/// Two standard errors: 5 %, on both sides.
const NORMAL_95: f64 = 1.96;

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let (name, command) = match size {
        Size::Full => ("commands", "cargo xtask peers commands"),
        Size::Quick => ("commands-quick", "cargo xtask peers commands --quick"),
    };
    build_perfkit()?;
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    let hyperfine =
        sh::find("hyperfine").context("hyperfine is not here: cargo install hyperfine")?;
    let folder = tempfile::tempdir()?;
    let program = compiled(folder.path())?;
    let bench = Bench {
        perfkit: perfkit.clone(),
        hyperfine: hyperfine.clone(),
        program,
        results: folder.path().join("results.json"),
    };
    let mut cases = Vec::new();
    for (added, comparisons, seconds) in CASES {
        let comparisons = match size {
            Size::Full => comparisons,
            Size::Quick => 2,
        };
        let case = bench.case(added, comparisons, seconds)?;
        println!("+{added} %: {:?}", case.verdicts);
        cases.push(case);
    }
    let instructions = bench.instructions();
    let results = Results::Commands(Commands {
        instructions,
        cases,
    });
    let mut record = Record::new("Commands with known differences in work", command, results);
    record.quick = size == Size::Quick;
    record.made = vec![made(&perfkit)?];
    record.machine = Some(Machine::here());
    record.versions = vec![
        sh::text(sh::command(&hyperfine).arg("--version"))?
            .trim()
            .to_owned(),
    ];
    record.notes = vec![
        "A command runs a loop whose passes have the same instructions. It is compared with itself, and with 1, 3 and \
         10 % more passes: by `perfkit compare`, which adds rounds until its verdict stands or its time ends, and by \
         hyperfine without a shell, 60 runs each of the same command and 3 s each of the others. hyperfine says a ratio \
         and a standard deviation, no verdict: what its readers conclude is counted in two ways."
            .to_owned(),
    ];
    println!("{}", record.write(name)?.display());
    Ok(())
}

/// The programs, and where results go.
struct Bench {
    perfkit: PathBuf,
    hyperfine: PathBuf,
    program: PathBuf,
    results: PathBuf,
}

fn compiled(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("passes.c"), folder.join("passes"));
    std::fs::write(&source, SOURCE)?;
    sh::run(
        sh::command("cc")
            .arg("-O2")
            .arg("-o")
            .arg(&program)
            .arg(&source),
    )?;
    Ok(program)
}

impl Bench {
    fn case(&self, added_percent: u64, comparisons: u64, seconds_most: u64) -> Result<Case> {
        let more = PASSES * (100 + added_percent) / 100;
        let mut case = Case {
            added_percent,
            seconds_most,
            comparisons,
            verdicts: std::collections::BTreeMap::new(),
            seconds_p50: 0.0,
            seconds_max: 0.0,
            effect_p50_percent: 0.0,
            hyperfine_beyond_sigma: 0,
            hyperfine_welch: 0,
            hyperfine_seconds_p50: 0.0,
        };
        let (mut took, mut effects, mut hyperfine_took) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=comparisons {
            let start = Instant::now();
            let (verdict, effect) = self.perfkit(more, seed, seconds_most)?;
            took.push(start.elapsed().as_secs_f64());
            effects.push(effect * 100.0);
            *case.verdicts.entry(verdict).or_default() += 1;
            let runs = if added_percent == 0 {
                &["--runs", "60"][..]
            } else {
                &[]
            };
            let start = Instant::now();
            let [base, target] = self.hyperfine(more, runs)?;
            hyperfine_took.push(start.elapsed().as_secs_f64());
            case.hyperfine_beyond_sigma += u64::from(base.beyond_sigma(&target));
            case.hyperfine_welch += u64::from(base.differs(&target));
        }
        case.seconds_max = took.iter().copied().fold(0.0, f64::max);
        case.seconds_p50 = middle(took);
        case.effect_p50_percent = middle(effects);
        case.hyperfine_seconds_p50 = middle(hyperfine_took);
        Ok(case)
    }

    fn line(&self, passes: u64) -> String {
        format!("{} {passes}", self.program.display())
    }

    /// The verdict of perfkit, and the median difference.
    fn perfkit(&self, more: u64, seed: u64, seconds: u64) -> Result<(String, f64)> {
        let mut command = sh::command(&self.perfkit);
        command.args(["compare", "--report", "json", "--seed", &seed.to_string()]);
        command.args(["--max-time", &format!("{seconds}s")]);
        let report = sh::text(command.args([self.line(PASSES), self.line(more)]))?;
        let report: Value = serde_json::from_str(&report)?;
        let wall = &report["comparisons"][0];
        let verdict = wall["verdict"].as_str().context("a verdict")?;
        let effect = wall["difference"]["median"]
            .as_f64()
            .context("a difference")?;
        Ok((verdict.replace('_', " "), effect))
    }

    fn hyperfine(&self, more: u64, runs: &[&str]) -> Result<[Times; 2]> {
        let mut command = sh::command(&self.hyperfine);
        command.args(["-N", "-w", "2", "--style", "none", "--export-json"]);
        command.arg(&self.results).args(runs);
        sh::text(command.args([self.line(PASSES), self.line(more)]))?;
        let results: Value = serde_json::from_str(&std::fs::read_to_string(&self.results)?)?;
        Ok([Times::read(&results, 0)?, Times::read(&results, 1)?])
    }

    /// Instructions of the command by callgrind; `None` without it.
    fn instructions(&self) -> Option<u64> {
        let valgrind = sh::find("valgrind")?;
        let output = sh::command(valgrind)
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.program)
            .arg(PASSES.to_string())
            .output()
            .ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let count = said.split("Collected : ").nth(1)?;
        count.split_whitespace().next()?.parse().ok()
    }
}

/// What hyperfine says of a command.
struct Times {
    mean: f64,
    stddev: f64,
    runs: f64,
}

impl Times {
    fn read(results: &Value, index: usize) -> Result<Self> {
        let result = &results["results"][index];
        let number = |key: &str| result[key].as_f64().with_context(|| format!("no {key}"));
        let runs = result["times"].as_array().context("no times")?.len();
        ensure!(runs > 1, "a single run has no deviation");
        #[allow(clippy::cast_precision_loss, reason = "runs stay below 2^52")]
        let runs = runs as f64;
        Ok(Self {
            mean: number("mean")?,
            stddev: number("stddev")?,
            runs,
        })
    }

    /// Whether the ratio that it prints is more than the deviation that it prints away from 1.
    fn beyond_sigma(&self, other: &Self) -> bool {
        let ratio = (self.mean / other.mean).max(other.mean / self.mean);
        let sigma = ratio * (self.stddev / self.mean).hypot(other.stddev / other.mean);
        ratio - sigma > 1.0
    }

    /// Whether Welch's test finds a difference, of as many runs as this by the normal distribution.
    fn differs(&self, other: &Self) -> bool {
        let error = (self.stddev.powi(2) / self.runs + other.stddev.powi(2) / other.runs).sqrt();
        (self.mean - other.mean).abs() > NORMAL_95 * error
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_of_hyperfine_conclude() {
        let times = |mean, stddev| Times {
            mean,
            stddev,
            runs: 100.0,
        };
        let (base, near, far) = (times(10.0, 0.2), times(10.1, 0.2), times(11.0, 0.2));
        assert!(!base.beyond_sigma(&near) && base.differs(&near));
        assert!(base.beyond_sigma(&far) && far.beyond_sigma(&base) && base.differs(&far));
        assert!(!base.differs(&base));
        assert!((middle(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
    }
}
