//! Runs the cases, watches their memory, and writes the record.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{MB, Memory, Row, SMALL};
use crate::peers::ignored::Ignored;
use crate::peers::zip::build_workload;
use crate::peers::{Bench, Size, build_perfkit, is_built};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

/// How often the memory of a process is sampled; the system keeps its peak.
const ASK: Duration = Duration::from_millis(1);
const FILES: u32 = 100_000;

/// One command, words apart by spaces.
struct Case {
    what: &'static str,
    command: &'static str,
    /// The most megabytes that it is meant to take in all.
    goal_mb: Option<f64>,
}

const fn case(what: &'static str, command: &'static str, goal_mb: Option<f64>) -> Case {
    Case {
        what,
        command,
        goal_mb,
    }
}

/// Sync, async and with so many threads: what one file of any size may take.
const SYNC_MB: Option<f64> = Some(3.0);
const ASYNC_MB: Option<f64> = Some(4.5);
const fn threads_mb(threads: f64) -> Option<f64> {
    Some(4.0 + 1.2 * threads)
}
/// The limit for the sources of Go.
const TREE_MB: Option<f64> = Some(16.0);

#[rustfmt::skip]
const CASES: [Case; 32] = [
    case("library, nothing", "examples/memory nothing", None),
    case("library, sync, 100 MB of text", "examples/memory sync 6 text text.zip", SYNC_MB),
    case("library, tokio, 100 MB of text", "examples/memory async 6 text text.zip", ASYNC_MB),
    case("library, 1 thread, 100 MB of text", "examples/memory 1 6 text text.zip", threads_mb(1.0)),
    case("library, 2 threads, 100 MB of text", "examples/memory 2 6 text text.zip", threads_mb(2.0)),
    case("library, 4 threads, 100 MB of text", "examples/memory 4 6 text text.zip", threads_mb(4.0)),
    case("library, sync, 5 GB of zeros", "examples/memory sync 6 zeros zeros.zip", SYNC_MB),
    case("library, tokio, 5 GB of zeros", "examples/memory async 6 zeros zeros.zip", ASYNC_MB),
    case("library, 2 threads, 5 GB of zeros", "examples/memory 2 6 zeros zeros.zip", threads_mb(2.0)),
    case("library, 4 threads, 5 GB of zeros", "examples/memory 4 6 zeros zeros.zip", threads_mb(4.0)),
    case("library, reading 100 MB of text", "examples/memory read text.zip", None),
    case("library, reading 5 GB of zeros", "examples/memory read zeros.zip", None),
    case("the tool, nothing", "perfkit zip-bench --once nothing --once-bytes 1GB", None),
    case("zip, 100 MB of text", "perfkit zip -qq --force -T1 text.zip text", None),
    case("zip, 100 MB of text, 2 threads", "perfkit zip -qq --force -T2 text.zip text", None),
    case("zip, 5 GB of zeros", "perfkit zip -qq --force -T1 zeros.zip zeros", None),
    case("zip, 5 GB of zeros, 2 threads", "perfkit zip -qq --force -T2 zeros.zip zeros", None),
    case("unzip -t, 100 MB of text", "perfkit unzip -qq -t -T1 text.zip", None),
    case("unzip -t, 5 GB of zeros", "perfkit unzip -qq -t -T1 zeros.zip", None),
    case("unzip, 100 MB of text", "perfkit unzip -qq --overwrite -T1 -d out text.zip", None),
    case("unzip, 100 MB of text, from a pipe", "perfkit unzip -qq --overwrite -d out -", None),
    case("zip, the sources of Go", "perfkit zip -qq --force -r -T1 tree.zip tree", TREE_MB),
    case("zip, the sources of Go, 2 threads", "perfkit zip -qq --force -r -T2 tree.zip tree", TREE_MB),
    case("unzip, the sources of Go", "perfkit unzip -qq -T1 -d trees tree.zip", TREE_MB),
    case("zip, 100,000 files", "perfkit zip -qq --force -r -T1 many.zip many", None),
    case("zip, 100,000 files, 2 threads", "perfkit zip -qq --force -r -T2 many.zip many", None),
    case("Info-ZIP's zip, 100,000 files", "zip -q -r other.zip many", None),
    case("zip --append, one to 100,000 files", "perfkit zip -qq --append many.zip text", None),
    case("unzip -l, 100,000 files", "perfkit unzip -l many.zip", None),
    case("unzip -t, 100,000 files", "perfkit unzip -qq -t -T1 many.zip", None),
    case("unzip, 100,000 files", "perfkit unzip -qq -T1 -d ours many.zip", None),
    case("Info-ZIP's unzip, 100,000 files", "unzip -qq many.zip -d theirs", None),
];

/// Measures and writes the record.
pub(crate) fn run() -> Result<()> {
    build_perfkit()?;
    let bench = Bench::new(Size::Full)?;
    build_workload()?;
    build_small()?;
    bench.memory_inputs()?;
    let mut ignored = Ignored::default();
    let mut memory = Memory::default();
    let mut record = Record::new(
        "Memory of packing and extracting",
        "cargo xtask peers zip-memory",
        Results::ZipMemory(Memory::default()),
    );
    record.made = vec![bench.made.clone()];
    record.machine = Some(Machine::here());
    for case in &CASES {
        let program = case.command.split(' ').next().unwrap_or_default();
        let missing = !["perfkit", SMALL].contains(&program) && sh::find(program).is_none();
        let sources = case.command.ends_with(" tree") || case.command.ends_with(" tree.zip");
        if missing || (sources && !bench.file("tree").exists()) {
            ignored.add(case.what, if missing { program } else { "go" });
            record.facts = ignored.lines().to_vec();
            continue;
        }
        let (peak_bytes, wall) = bench.peak(case)?;
        println!(
            "{}: {:.2} MB, {wall:.2?}",
            case.what,
            peak_bytes as f64 / MB
        );
        memory.rows.push(Row {
            what: case.what.to_owned(),
            command: case.command.to_owned(),
            peak_bytes,
            goal_mb: case.goal_mb,
            wall_s: wall.as_secs_f64(),
        });
        record.results = Results::ZipMemory(memory.clone());
        record.write("zip-memory")?;
    }
    println!("{}", record.write("zip-memory")?.display());
    ignored.finish(memory.rows.len())
}

/// Builds the small program.
fn build_small() -> Result<()> {
    if is_built() {
        return Ok(());
    }
    let args = ["build", "--package", "zipstream", "--features", "tokio"];
    let mut cargo = sh::cargo(&args);
    sh::run(cargo.args(["--example", "memory"]).args(metadata::MEASURED))
}

impl Bench {
    fn memory_inputs(&self) -> Result<()> {
        let words = ["workload", "source", "1", "100000000"];
        let made = sh::output(&mut self.command(&words))?;
        fs::write(self.file("text"), made.stdout)?;
        fs::File::create(self.file("zeros"))?.set_len(5_000_000_000)?;
        let go = sh::find("go");
        let root = go.and_then(|_| sh::text(sh::command("go").args(["env", "GOROOT"])).ok());
        if let Some(root) = root {
            let from = format!("{}/src", root.trim());
            sh::output(&mut self.command(&["cp", "-r", &from, "tree"]))?;
        }
        for number in 0..FILES {
            let folder = self.file(&format!("many/{:03}", number / 1000));
            fs::create_dir_all(&folder)?;
            let content = format!("file {number} of {FILES}, with a line in it\n");
            fs::write(folder.join(format!("{number:06}.txt")), content)?;
        }
        Ok(())
    }

    /// The most that a command held at once, and how long it took.
    fn peak(&self, case: &Case) -> Result<(u64, Duration)> {
        let mut command = self.command(&case.command.split(' ').collect::<Vec<_>>());
        if case.command.ends_with(" -") {
            command.stdin(fs::File::open(self.file("text.zip"))?);
        }
        let start = Instant::now();
        if case.command.starts_with(SMALL) {
            let told = sh::text(&mut command)?;
            return Ok((told.trim().parse()?, start.elapsed()));
        }
        let mut child = command.stdout(Stdio::null()).spawn()?;
        let mut peak_bytes = 0;
        let status = loop {
            peak_bytes = held(&child).unwrap_or(0).max(peak_bytes);
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(ASK);
        };
        ensure!(status.success(), "{}: {status}", case.command);
        ensure!(peak_bytes > 0, "{}: over before it was asked", case.command);
        Ok((peak_bytes, start.elapsed()))
    }
}

/// The peak resident size of a process so far.
fn held(child: &Child) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.context("no peak")?.trim().trim_end_matches(" kB");
    Ok(kib.parse::<u64>()? * 1024)
}
