//! perfkit against other programs, interleaved in one run, into `bench-peers/record/`.
//!
//! The measuring is `perfkit compare --interleave`; what is here chooses the cases, makes the data,
//! compares the answers before anything is timed, and collects the results. [`record`] is the file
//! that comes of it. [`stress`] is about codecs of Go, [`fix`] about parsers of FIX: measurements of
//! their own, in rounds.

pub(crate) mod fix;
mod many;
mod record;
mod rounds;
mod small;
pub(crate) mod stress;
pub(crate) mod zip;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{metadata, sh};
use record::{Comparison, Machine, Page as _, Record, Side};

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
    /// The day and the build that is measured.
    made: String,
}

/// Which cases to measure; the others keep what the record has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Only {
    levels: Vec<u32>,
    threads: Vec<u32>,
    decompression: bool,
    small: bool,
    /// Decompression of files of many frames.
    many: bool,
}

impl Only {
    /// Every case.
    pub(crate) fn all() -> Self {
        Self {
            levels: LEVELS.iter().map(|&(level, _)| level).collect(),
            threads: THREADS.to_vec(),
            decompression: true,
            small: true,
            many: true,
        }
    }

    /// `19`, `19T2`, `d`, `dm` or `small`: a level, a level with so many threads, decompression,
    /// that of many frames, or many small files.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        let none = Self {
            levels: Vec::new(),
            threads: THREADS.to_vec(),
            decompression: word == "d",
            small: word == "small",
            many: word == "dm",
        };
        if none.decompression || none.small || none.many {
            return Ok(none);
        }
        let (level, threads) = match word.split_once('T') {
            Some((level, threads)) => (level, vec![threads.parse()?]),
            None => (word, THREADS.to_vec()),
        };
        let level = level.parse()?;
        ensure!(
            LEVELS.iter().any(|&(known, _)| known == level),
            "level {level} is not among those that are measured"
        );
        Ok(Self {
            levels: vec![level],
            threads,
            ..none
        })
    }
}

fn is_built() -> bool {
    std::env::var_os("PERFKIT_BUILT").is_some()
}

/// Builds the binary that is measured. Where `PERFKIT_BUILT` is set, what was built before is taken as
/// it is: the build takes minutes, and a quick look at a harness need not.
fn build_perfkit() -> Result<()> {
    if is_built() {
        return Ok(());
    }
    sh::run(&mut sh::cargo(&["build", "--release", "--bin", "perfkit"]))
}

/// Measures against the `zstd` command and writes the record.
pub(crate) fn run(size: Size, only: &Only) -> Result<()> {
    if sh::find("zstd").is_none() {
        bail!("zstd is not installed: there is nothing to measure against");
    }
    build_perfkit()?;
    let args = [
        "build",
        "--release",
        "--package",
        "xtask",
        "--features",
        "workloads",
    ];
    sh::run(sh::cargo(&args).args(["--bin", "workload"]))?;
    let mut bench = Bench::new(size)?;
    let data_bytes = bench.make_data()?;
    let name = if size == Size::Quick {
        "zstd-cli-quick"
    } else {
        "zstd-cli"
    };
    let folder = sh::root().join("bench-peers/record");
    fs::create_dir_all(&folder)?;
    let file = folder.join(name).with_extension("json");
    let old = fs::read_to_string(&file).ok();
    let old = old.and_then(|text| serde_json::from_str::<Record>(&text).ok());
    let mut record = Record {
        quick: size == Size::Quick,
        data: format!(
            "{data_bytes} bytes: equal parts of {} made by zstdkit's generators, seed 1",
            KINDS.join(", ")
        ),
        zstd: bench.zstd_version()?,
        machine: None,
        comparisons: old.map(|old| old.comparisons).unwrap_or_default(),
    };
    bench.measure_all(only, &mut record, |record| {
        fs::write(file.with_extension("md"), record.markdown())?;
        let mut json = serde_json::to_string_pretty(record)?;
        json.push('\n');
        Ok(fs::write(&file, json)?)
    })?;
    println!("{}", file.with_extension("md").display());
    Ok(())
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
        let binaries = metadata::workspace()?.target_directory.join("release");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(binaries).chain(std::env::split_paths(&path)))?;
        Ok(Self {
            folder: folder?,
            path,
            size,
            made: String::new(),
        })
    }

    /// Measures what is asked for, keeping the record after each case.
    fn measure_all(
        &mut self,
        only: &Only,
        record: &mut Record,
        keep: impl Fn(&Record) -> Result<()>,
    ) -> Result<()> {
        self.made = self.build()?;
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
                    let comparison = self.compress(case, rounds, &mut record.machine)?;
                    println!("{}", comparison.line());
                    record.add(comparison);
                    keep(record)?;
                }
            }
        }
        let chosen = DECOMPRESSED.iter().filter(|_| only.decompression);
        for &(level, rounds) in chosen {
            let comparison = self.decompress(level, rounds, &mut record.machine)?;
            println!("{}", comparison.line());
            record.add(comparison);
            keep(record)?;
        }
        for into in many::INTO.iter().filter(|_| only.many) {
            let comparison = self.decompress_many(*into, &mut record.machine)?;
            println!("{}", comparison.line());
            record.add(comparison);
            keep(record)?;
        }
        if only.small {
            for comparison in self.small(&mut record.machine)? {
                println!("{}", comparison.line());
                record.add(comparison);
            }
            keep(record)?;
        }
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

    fn build(&self) -> Result<String> {
        let date = sh::text(sh::command("date").args(["-u", "+%F"]))?;
        let perfkit = sh::text(&mut self.command(&["perfkit", "--version"]))?;
        let commit = sh::text(sh::command("git").args(["describe", "--always", "--dirty"]))?;
        let rustc = sh::text(sh::command("rustc").arg("--version"))?;
        let version = perfkit.lines().next().unwrap_or_default();
        Ok(format!("{date}, {version} ({commit}), {rustc}"))
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
