//! Every check of the repository in order, with the time that each takes.
//!
//! The order shares work: what clippy checked serves the documentation, what the tests of all features built
//! serves the fuzz targets, and the release build of the tour serves the tests and the commands of the
//! README. A check itself lives in its own module.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{bench_gate, codegen, fuzz, licences, metadata, package, readme, sh, tidy, watch};

/// How much to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Full,
    /// Without the steps that need a release build.
    Fast,
}

/// The commands of the README for the tests and the tour. They are steps here, so their block of the README
/// does not run again.
pub(crate) const TEST_COMMAND: &str = "cargo test --release";
pub(crate) const TOUR_COMMAND: &str = "cargo run --release -- tour";

/// For each fuzz target. Seeds are fixed here: more time for what is the same each time finds little.
const FUZZ_S: u32 = 4;

struct Step {
    name: &'static str,
    fast: bool,
    /// The check; the line that it returns is shown in the closing table.
    check: fn() -> Result<String>,
}

const STEPS: &[Step] = &[
    Step {
        name: "format",
        fast: true,
        check: format,
    },
    Step {
        name: "licences",
        fast: true,
        check: licences::run,
    },
    Step {
        name: "peers' locks",
        fast: true,
        check: peer_locks,
    },
    Step {
        name: "clippy",
        fast: true,
        check: clippy,
    },
    Step {
        name: "docs",
        fast: true,
        check: docs,
    },
    Step {
        name: "test, all features",
        fast: true,
        check: test_all_features,
    },
    Step {
        name: "fuzz",
        fast: false,
        check: fuzz_targets,
    },
    Step {
        name: "codegen",
        fast: true,
        check: || codegen::run(codegen::Mode::Check),
    },
    Step {
        name: "tidy",
        fast: true,
        check: || tidy::run(tidy::Generated::Skip),
    },
    Step {
        name: "msrv",
        fast: false,
        check: msrv,
    },
    Step {
        name: "package",
        fast: false,
        check: package::run,
    },
    Step {
        name: "tour",
        fast: false,
        check: tour,
    },
    Step {
        name: "test",
        fast: false,
        check: test,
    },
    Step {
        name: "readme",
        fast: false,
        check: || readme::run(&[TEST_COMMAND, TOUR_COMMAND]),
    },
    Step {
        name: "bench-gate",
        fast: false,
        check: || bench_gate::run(bench_gate::Mode::Compare),
    },
];

/// What to do when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Stop,
    /// Run the other steps too, to see all that is wrong.
    GoOn,
}

/// Runs the steps and prints the closing table.
pub(crate) fn run(extent: Extent, on_failure: Failure) -> Result<()> {
    let steps = STEPS.iter();
    let chosen: Vec<&Step> = steps
        .filter(|step| step.fast || extent == Extent::Full)
        .collect();
    run_steps(&chosen, on_failure)
}

/// Runs the step of that name, as after a failure that was mended.
pub(crate) fn only(name: &str) -> Result<()> {
    let Some(step) = STEPS.iter().find(|step| step.name == name) else {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        bail!("no step is called '{name}': there are {}", names.join(", "));
    };
    run_steps(&[step], Failure::Stop)
}

fn run_steps(chosen: &[&Step], on_failure: Failure) -> Result<()> {
    let begin = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    let mut failed = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        println!("\n==== {}/{} {} ====", index + 1, chosen.len(), step.name);
        std::io::stdout().flush()?;
        let start = Instant::now();
        let result = (step.check)();
        let elapsed = start.elapsed();
        match result {
            Ok(note) => {
                println!(
                    "==== {}: ok in {:.1} s ====",
                    step.name,
                    elapsed.as_secs_f64()
                );
                rows.push(Row {
                    name: step.name,
                    result: "ok",
                    elapsed,
                    note,
                });
            }
            Err(error) => {
                println!(
                    "==== {}: FAILED after {:.1} s ====",
                    step.name,
                    elapsed.as_secs_f64()
                );
                println!("{error:#}");
                rows.push(Row {
                    name: step.name,
                    result: "FAILED",
                    elapsed,
                    note: String::new(),
                });
                failed.push(step.name);
                if on_failure == Failure::Stop {
                    break;
                }
            }
        }
    }
    let left = STEPS.len() - rows.len();
    print!("\n{}", table(&rows, begin.elapsed()));
    println!(
        "{} passed, {} failed, {left} skipped",
        rows.len() - failed.len(),
        failed.len()
    );
    if !failed.is_empty() {
        bail!("failed, see above: {}", failed.join(", "));
    }
    Ok(())
}

/// One line of the closing table.
struct Row {
    name: &'static str,
    result: &'static str,
    elapsed: Duration,
    note: String,
}

fn table(rows: &[Row], total: Duration) -> String {
    let mut text = format!("{:<20} {:<7} {:>8}  note\n", "step", "result", "seconds");
    for row in rows {
        let line = format!(
            "{:<20} {:<7} {:>8.1}  {}",
            row.name,
            row.result,
            row.elapsed.as_secs_f64(),
            row.note
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&format!(
        "{:<20} {:<7} {:>8.1}\n\n",
        "total",
        "",
        total.as_secs_f64()
    ));
    text
}

fn format() -> Result<String> {
    sh::run(&mut sh::cargo(&["fmt", "--all", "--check"]))?;
    Ok(String::new())
}

/// The comparisons with other programs are separate workspaces, which nothing here builds. A changed
/// dependency of ours must not leave their lock files out of date.
fn peer_locks() -> Result<String> {
    let mut count = 0;
    for entry in std::fs::read_dir(sh::root().join("bench-peers"))? {
        let manifest = entry?.path().join("Cargo.toml");
        if !manifest.is_file() {
            continue;
        }
        let mut command = sh::cargo(&["update", "--workspace", "--locked", "--manifest-path"]);
        sh::run(command.arg(&manifest))?;
        count += 1;
    }
    Ok(format!("{count} up to date"))
}

fn clippy() -> Result<String> {
    let mut command = sh::cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
    ]);
    // `incompatible_msrv` looks up what each crate's declared compiler had in its library.
    command.args(["-D", "warnings", "-D", "clippy::incompatible_msrv"]);
    sh::run(&mut command)?;
    Ok("all targets, all features".to_owned())
}

fn docs() -> Result<String> {
    let mut command = sh::cargo(&["doc", "--workspace", "--no-deps", "--all-features"]);
    sh::run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(String::new())
}

/// The tests of the tool as README runs them, which are those of a build with the usual features; and those of the
/// one library that has code for the absence of a feature.
fn test() -> Result<String> {
    let words: Vec<&str> = TEST_COMMAND.split(' ').skip(1).collect();
    let tool = count_tests(&mut sh::cargo(&words))?;
    let files = count_tests(&mut sh::cargo(&[
        "test",
        "--package",
        "perfkit-files",
        "--lib",
    ]))?;
    Ok(format!("{tool}; of files: {files}"))
}

/// The package of fuzz targets. Its only feature links libFuzzer, which brings a `main` of its own; clippy has seen
/// it, and cargo-fuzz builds it.
const FUZZ: &str = "perfkit-fuzz";

/// Ignored tests that no check runs: for a quiet machine, or for minutes each.
const BY_HAND: [&str; 4] = [
    "a_hundred_kills_with_a_full_disk",
    "a_hundred_kills_with_a_store_of_quickfix",
    "a_thousand_streams_at_level_9_complete_in_256_mib",
    "hostile_peers_change_no_percentile",
];

/// Everything, built once: the library and the programs of each package, then tests in documentation.
fn test_all_features() -> Result<String> {
    let packages = metadata::workspace()?.packages;
    let programs = TestPrograms::of(&packages)?;
    let mut usual = sh::cargo(&programs.with_long_tests(&packages));
    let usual = count_tests(usual.env(fuzz::SECONDS, FUZZ_S.to_string()))?;
    let own = count_tests(&mut sh::cargo(&programs.with_own_harness(&packages)))?;
    let mut args = all_features(&packages);
    args.push("--doc".to_owned());
    let examples = count_tests(&mut sh::cargo(&args))?;
    Ok(format!(
        "{usual}; beside other programs: {own}; of documentation: {examples}"
    ))
}

/// They have run as property tests in the step before.
fn fuzz_targets() -> Result<String> {
    match fuzz::has_cargo_fuzz() {
        true => fuzz::run(FUZZ_S),
        false => Ok("cargo-fuzz is not installed: as property tests, see above".to_owned()),
    }
}

/// The beginning of every `cargo test` of all features, so that all of them share one build: all features by name,
/// for `--all-features` would be those of [`FUZZ`], too.
fn all_features(packages: &[metadata::Package]) -> Vec<String> {
    let others = packages.iter().filter(|package| package.name != FUZZ);
    let features: Vec<String> = others
        .flat_map(|package| {
            let names = package.features.keys().filter(|name| *name != "default");
            names.map(|name| format!("{}/{name}", package.name))
        })
        .collect();
    ["test", "--workspace", "--features", &features.join(",")]
        .map(str::to_owned)
        .to_vec()
}

/// The names of the integration tests of all packages.
struct TestPrograms {
    usual: BTreeSet<String>,
    /// Programs with a harness of their own say `ignored` of tests beside what is not installed, so ignored ones of
    /// theirs cannot be asked for.
    own_harness: BTreeSet<String>,
}

impl TestPrograms {
    fn of(packages: &[metadata::Package]) -> Result<Self> {
        let (mut usual, mut own_harness) = (BTreeSet::new(), BTreeSet::new());
        for package in packages {
            let own = package.tests_with_own_harness()?;
            let tests = package.integration_tests().map(str::to_owned);
            usual.extend(tests.filter(|name| !own.contains(name)));
            own_harness.extend(own);
        }
        if let Some(name) = usual.intersection(&own_harness).next() {
            bail!("tests called '{name}' have the usual harness and one of their own");
        }
        Ok(Self { usual, own_harness })
    }

    /// Units and programs of the usual harness, with the tests that `cargo test` leaves out, for each takes many
    /// seconds: they are `#[ignore = "long…"]`.
    fn with_long_tests(&self, packages: &[metadata::Package]) -> Vec<String> {
        let mut args = all_features(packages);
        args.extend(["--lib", "--bins"].map(str::to_owned));
        args.extend(named(&self.usual));
        args.extend(["--", "--include-ignored"].map(str::to_owned));
        for name in BY_HAND {
            args.extend(["--skip".to_owned(), name.to_owned()]);
        }
        args
    }

    fn with_own_harness(&self, packages: &[metadata::Package]) -> Vec<String> {
        let mut args = all_features(packages);
        args.extend(named(&self.own_harness));
        args
    }
}

fn named(tests: &BTreeSet<String>) -> impl Iterator<Item = String> {
    (tests.iter()).flat_map(|name| ["--test".to_owned(), name.clone()])
}

/// Runs cargo test, which is ended where a test waits for ever, and adds up its closing lines.
fn count_tests(cargo: &mut Command) -> Result<String> {
    let lines = watch::run_keeping(cargo, |line| line.starts_with("test result:"))?;
    let shown = sh::shown(cargo);
    let passed = add_up(&lines, "passed");
    let ignored = add_up(&lines, "ignored");
    println!("\nclosing lines of {shown}:");
    for line in &lines {
        println!("{line}");
    }
    if passed == 0 {
        bail!("{shown} ran no test");
    }
    Ok(format!(
        "{passed} tests passed, {ignored} ignored, {} programs",
        lines.len()
    ))
}

/// The sum of the numbers before `word` in lines such as `test result: ok. 3 passed; 0 failed`.
fn add_up(lines: &[String], word: &str) -> u64 {
    lines
        .iter()
        .flat_map(|line| line.split([';', '.']))
        .filter_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u64>().ok())
        .sum()
}

/// Every crate declares a compiler version (tidy checks that) and clippy denies what is newer; if rustup
/// has that compiler, it checks the crates too. Nothing is downloaded.
fn msrv() -> Result<String> {
    let installed = sh::text(sh::command("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let mut notes = Vec::new();
    for package in metadata::workspace()?
        .packages
        .iter()
        .filter(|p| p.is_published())
    {
        let Some(version) = &package.rust_version else {
            bail!("{} declares no rust-version", package.name);
        };
        let toolchain = installed
            .lines()
            .filter_map(|line| line.split([' ', '-']).next())
            .find(|name| *name == version || name.starts_with(&format!("{version}.")));
        match toolchain {
            Some(name) => {
                // The shim of rustup, not the cargo that runs this: only it knows `+`.
                let mut command = sh::command("cargo");
                command.args([&format!("+{name}"), "check", "--package", &package.name]);
                sh::run(command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO"))?;
                notes.push(format!("{} built with {name}", package.name));
            }
            None => notes.push(format!("{} {version}", package.name)),
        }
    }
    println!(
        "declared, and clippy's incompatible_msrv denied: {}",
        notes.join(", ")
    );
    Ok(notes.join(", "))
}

fn tour() -> Result<String> {
    let words: Vec<&str> = TOUR_COMMAND.split(' ').skip(1).collect();
    sh::run(&mut sh::cargo(&["build", "--release"]))?;
    let start = Instant::now();
    sh::run(&mut sh::cargo(&words))?;
    let elapsed = start.elapsed().as_secs_f64();
    // It promises less than a minute, which a busy machine may keep it from: told, not judged.
    let late = match elapsed > 60.0 {
        true => ", and it promises less than a minute",
        false => "",
    };
    Ok(format!("{elapsed:.1} s without the build{late}"))
}

#[cfg(test)]
mod tests;
