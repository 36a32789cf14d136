//! perfkit against other programs, interleaved in one run, into `bench-peers/record/`.
//!
//! The measuring is `perfkit compare --interleave`; what is here chooses the cases, makes the data,
//! compares the answers before anything is timed, and collects the results in [`comparisons`], which
//! becomes a [`Record`]. [`stress`] is about codecs of Go, [`fix`] about parsers of FIX, [`zip`] about
//! archives: measurements of their own, in rounds. [`deflate`], [`deflate_sweep`], [`dictionary`], [`betree`], [`fix_log`],
//! [`fix_shapes`], [`zstd_sweep`] and [`async_streams`] run one program each and keep what it prints; [`reports`] keeps reports of perfkit, [`recipes`] runs
//! of `cargo xtask tune`. [`commands`] compares
//! commands of known work with hyperfine. [`all`] runs all of them. [`workers`] compares matching with and without a broker. [`verdicts`] measures nothing: it simulates.

pub(crate) mod all;
pub(crate) mod async_streams;
pub(crate) mod betree;
pub(crate) mod betree_shapes;
mod build;
pub(crate) mod commands;
pub(crate) mod comparisons;
pub(crate) mod deflate;
pub(crate) mod deflate_sweep;
pub(crate) mod dictionary;
pub(crate) mod fix;
pub(crate) mod fix_desk;
pub(crate) mod fix_log;
pub(crate) mod fix_session;
pub(crate) mod fix_shapes;
pub(crate) mod gzip;
mod ignored;
mod many;
mod only;
pub(crate) mod recipes;
pub(crate) mod reports;
mod rounds;
mod small;
pub(crate) mod stress;
mod table;
pub(crate) mod verdicts;
pub(crate) mod workers;
pub(crate) mod zip;
pub(crate) mod zstd_sweep;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::record::{Machine, Made, Record, Results};
use crate::{metadata, sh};
use build::{build_perfkit, is_built, locked, made, measured_by_example};
use comparisons::{Cases, Comparison, Side};
pub(crate) use only::Only;

/// How much to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Full,
    /// Little data and few rounds, to see that it works.
    Quick,
}

const MIB: u64 = 1 << 20;
/// Kinds of data in the one file that is compressed, in this order.
const KINDS: &[&str] = &["json", "log", "source", "html", "binary"];
/// Level and rounds of it. The slow levels get fewer; below six pairs there is no interval.
const LEVELS: &[(u32, u32)] = &[(1, 15), (3, 15), (9, 9), (19, 3)];
const THREADS: &[u32] = &[1, 2];
/// Levels whose frames are decompressed.
const DECOMPRESSED: &[(u32, u32)] = &[(3, 15), (19, 15)];

/// The processor of cases that share one: the first serves most interrupts.
const LAST_CPU: &str = "1";

/// One way to compress.
#[derive(Debug, Clone, Copy)]
struct Case {
    level: u32,
    threads: u32,
    /// Whether everything shares one processor.
    pinned: bool,
}

/// Where and how everything runs.
struct Bench {
    folder: tempfile::TempDir,
    path: std::ffi::OsString,
    size: Size,
    /// The build that is measured.
    made: Made,
}

/// Measures against the `zstd` command and writes the record.
pub(crate) fn run(size: Size, only: &Only) -> Result<()> {
    if sh::find("zstd").is_none() {
        bail!("zstd is not installed: there is nothing to measure against");
    }
    build_perfkit()?;
    let args = ["build", "--package", "xtask", "--features", "workloads"];
    let mut cargo = sh::cargo(&args);
    sh::run(cargo.args(["--bin", "workload"]).args(metadata::MEASURED))?;
    let bench = Bench::new(size)?;
    let data_bytes = bench.make_data()?;
    let name = if size == Size::Quick {
        "zstd-cli-quick"
    } else {
        "zstd-cli"
    };
    let cases = match Record::read(name)?.map(|old| old.results) {
        Some(Results::Comparisons(cases)) => cases,
        _ => Cases::default(),
    };
    let mut record = Record::new(
        "perfkit against the zstd command",
        "cargo xtask peers zstd",
        Results::Comparisons(Cases::default()),
    );
    record.quick = size == Size::Quick;
    record.versions = vec![bench.zstd_version()?];
    record.facts = vec![format!(
        "data: {data_bytes} bytes: equal parts of {} made by zstdkit's generators, seed 1",
        KINDS.join(", ")
    )];
    bench.measure_all(only, cases, &mut record, name)
}

impl Bench {
    fn new(size: Size) -> Result<Self> {
        // In memory where that can be had: a disk would be measured with both, and drown both.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let binaries = metadata::measured_binaries()?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            std::iter::once(binaries.clone()).chain(std::env::split_paths(&path)),
        )?;
        Ok(Self {
            folder: folder?,
            made: made(&binaries.join("perfkit"))?,
            path,
            size,
        })
    }

    /// Measures the chosen cases, and writes the record after each one.
    fn measure_all(
        &self,
        only: &Only,
        mut cases: Cases,
        record: &mut Record,
        name: &str,
    ) -> Result<()> {
        let mut keep = |comparison: Comparison, machine: &Option<Machine>| -> Result<()> {
            println!("{}", comparison.line());
            cases.add(comparison);
            record.machine.clone_from(machine);
            record.results = Results::Comparisons(cases.clone());
            record.write(name).map(drop)
        };
        let mut machine = None;
        let chosen = LEVELS
            .iter()
            .filter(|(level, _)| only.levels.contains(level));
        for &(level, rounds) in chosen {
            for &threads in &only.threads {
                // With one thread to compress, both share a processor; what their other threads
                // take off it on a second one is shown at the default level.
                let placements: &[bool] = match (threads, level) {
                    (1, 3) => &[true, false],
                    (1, _) => &[true],
                    _ => &[false],
                };
                for &pinned in placements {
                    let case = Case {
                        level,
                        threads,
                        pinned,
                    };
                    let comparison = self.compress(case, rounds, &mut machine)?;
                    keep(comparison, &machine)?;
                }
            }
        }
        let chosen = DECOMPRESSED.iter().filter(|_| only.decompression);
        for &(level, rounds) in chosen {
            let comparison = self.decompress(level, rounds, &mut machine)?;
            keep(comparison, &machine)?;
        }
        for into in many::INTO.iter().filter(|_| only.many) {
            let comparison = self.decompress_many(*into, &mut machine)?;
            keep(comparison, &machine)?;
        }
        if only.small {
            for comparison in self.small(&mut machine)? {
                keep(comparison, &machine)?;
            }
        }
        println!(
            "{}",
            sh::root()
                .join(crate::record::FOLDER)
                .join(name)
                .with_extension("md")
                .display()
        );
        Ok(())
    }

    /// A command in the folder, with the perfkit that was just built.
    fn command(&self, words: &[&str]) -> Command {
        // Found here: a child's PATH is not searched for the program itself everywhere.
        let found = std::env::split_paths(&self.path)
            .map(|folder| folder.join(words[0]))
            .find(|file| file.is_file());
        let mut command = sh::command(found.unwrap_or_else(|| PathBuf::from(words[0])));
        command
            .args(&words[1..])
            .current_dir(self.folder.path())
            .env("PATH", &self.path);
        command
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn make_data(&self) -> Result<u64> {
        let each = if self.size == Size::Quick {
            2 * MIB
        } else {
            26 * MIB
        };
        let mut file = fs::File::create(self.file("data"))?;
        for kind in KINDS {
            let bytes = each.to_string();
            let made = sh::output(&mut self.command(&["workload", kind, "1", &bytes]))?;
            file.write_all(&made.stdout)?;
        }
        Ok(file.metadata()?.len())
    }

    fn zstd_version(&self) -> Result<String> {
        let text = sh::text(&mut self.command(&["zstd", "--version"]))?;
        Ok(text.trim_matches('*').trim().to_owned())
    }

    fn rounds(&self, rounds: u32) -> u32 {
        if self.size == Size::Quick { 6 } else { rounds }
    }

    fn compress(
        &self,
        case: Case,
        rounds: u32,
        machine: &mut Option<Machine>,
    ) -> Result<Comparison> {
        let Case {
            level,
            threads,
            pinned,
        } = case;
        let (level_flag, threads_flag) = (format!("-{level}"), format!("-T{threads}"));
        let flags = [
            level_flag.as_str(),
            threads_flag.as_str(),
            "-f",
            "data",
            "-o",
        ];
        let zstd = [&["zstd", "-q"][..], &flags, &["zstd.zst"]].concat();
        let perfkit = [
            &["perfkit", "compress", "-qq"][..],
            &flags,
            &["perfkit.zst"],
        ]
        .concat();

        // The answers first, each decoded by the other program.
        sh::output(&mut self.command(&zstd))?;
        sh::output(&mut self.command(&perfkit))?;
        let by_zstd = ["zstd", "-dqf", "perfkit.zst", "-o", "back"];
        self.same_as_data(&by_zstd)?;
        self.same_as_data(&[
            "perfkit",
            "decompress",
            "-qq",
            "-f",
            "zstd.zst",
            "-o",
            "back",
        ])?;

        let what = format!(
            "compress -{level}, {threads} thread{}{}",
            if threads == 1 { "" } else { "s" },
            if pinned { ", one processor" } else { "" }
        );
        let mut comparison = self.measure(&what, &zstd, &perfkit, rounds, pinned, machine)?;
        comparison.baseline.size_bytes = Some(fs::metadata(self.file("zstd.zst"))?.len());
        comparison.target.size_bytes = Some(fs::metadata(self.file("perfkit.zst"))?.len());
        Ok(comparison)
    }

    fn decompress(
        &self,
        level: u32,
        rounds: u32,
        machine: &mut Option<Machine>,
    ) -> Result<Comparison> {
        let level_flag = format!("-{level}");
        let make = ["zstd", "-qf", &level_flag, "-T2", "data", "-o", "data.zst"];
        sh::output(&mut self.command(&make))?;
        let zstd = ["zstd", "-dqf", "data.zst", "-o", "back"];
        let perfkit = [
            "perfkit",
            "decompress",
            "-qq",
            "-f",
            "data.zst",
            "-o",
            "back",
        ];
        self.same_as_data(&zstd)?;
        self.same_as_data(&perfkit)?;
        self.measure(
            &format!("decompress a -{level} frame"),
            &zstd,
            &perfkit,
            rounds,
            false,
            machine,
        )
    }

    /// Runs a command that writes `back`, and fails when that is not the data.
    fn same_as_data(&self, words: &[&str]) -> Result<()> {
        sh::output(&mut self.command(words))?;
        sh::output(&mut self.command(&["cmp", "data", "back"]))
            .with_context(|| format!("{}: a wrong answer", words.join(" ")))?;
        Ok(())
    }

    fn measure(
        &self,
        what: &str,
        zstd: &[&str],
        perfkit: &[&str],
        rounds: u32,
        pinned: bool,
        machine: &mut Option<Machine>,
    ) -> Result<Comparison> {
        let cpu: &[&str] = if pinned { &["--cpu", LAST_CPU] } else { &[] };
        self.measure_with(cpu, what, zstd, perfkit, rounds, machine)
    }

    /// The same with `extra` flags of `perfkit compare`.
    fn measure_with(
        &self,
        extra: &[&str],
        what: &str,
        zstd: &[&str],
        perfkit: &[&str],
        rounds: u32,
        machine: &mut Option<Machine>,
    ) -> Result<Comparison> {
        let rounds = format!("{}x1", self.rounds(rounds));
        let compare = ["perfkit", "compare", "-qq", "--interleave", &rounds];
        let export = ["--export-json", "report.json", "--force", "--"];
        let words = [&compare[..], extra, &export, zstd, &["--"], perfkit].concat();
        println!("$ {}", words.join(" "));
        sh::output(&mut self.command(&words))?;
        let text = fs::read_to_string(self.file("report.json"))?;
        let report: Value = serde_json::from_str(&text)?;
        if machine.is_none() {
            *machine = Some(serde_json::from_value(report["environment"].clone())?);
        }
        let side = |name: &str, words: &[&str]| Side::read(&report, name, words.join(" "));
        let mut comparison = Comparison {
            what: what.to_owned(),
            made: self.made.clone(),
            baseline: side("baseline", zstd)?,
            target: side("target", perfkit)?,
            pairs: 0,
            wall_ratio: f64::NAN,
            wall_ratio_ci95: None,
            control_ratio: None,
            verdict: String::new(),
        };
        comparison.read_wall(&report)?;
        ensure!(
            comparison.wall_ratio.is_finite(),
            "the report has no ratio of the wall times"
        );
        Ok(comparison)
    }
}
