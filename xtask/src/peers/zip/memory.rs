//! What memory packing and extracting take: one file of two sizes, a tree of very many files, by the
//! tool and by the library alone, above a process that does nothing.

use std::fmt::Write as _;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::super::{Bench, Size};
use crate::sh;

/// How often a process is asked what it holds; its peak is kept by the system.
const ASK: Duration = Duration::from_millis(1);
const FILES: u32 = 100_000;
const MB: f64 = 1e6;

/// One command, words apart by spaces.
struct Case {
    what: &'static str,
    command: &'static str,
    /// The most megabytes above a bare process that it is meant to take.
    goal_mb: Option<f64>,
}

const fn case(what: &'static str, command: &'static str, goal_mb: Option<f64>) -> Case {
    Case {
        what,
        command,
        goal_mb,
    }
}

/// Sync, async and with two threads: what one file of any size may take.
const SYNC_MB: Option<f64> = Some(3.0);
const ASYNC_MB: Option<f64> = Some(4.5);
const TWO_MB: Option<f64> = Some(4.0 + 2.0 * 1.2);

#[rustfmt::skip]
const CASES: [Case; 21] = [
    case("library, sync, 100 MB", "perfkit zip-bench --once sync --once-bytes 100MB", SYNC_MB),
    case("library, tokio, 100 MB", "perfkit zip-bench --once async --once-bytes 100MB", ASYNC_MB),
    case("library, a thread a processor, 100 MB", "perfkit zip-bench --once threads --once-bytes 100MB", TWO_MB),
    case("zip, 100 MB of text", "perfkit zip -qq -f -T1 text.zip text", SYNC_MB),
    case("zip, 100 MB of text, 2 threads", "perfkit zip -qq -f -T2 text.zip text", TWO_MB),
    case("zip, 5 GB of zeros", "perfkit zip -qq -f -1 -T1 zeros.zip zeros", SYNC_MB),
    case("zip, 5 GB of zeros, 2 threads", "perfkit zip -qq -f -1 -T2 zeros.zip zeros", TWO_MB),
    case("unzip -t, 100 MB of text", "perfkit unzip -qq -t -T1 text.zip", SYNC_MB),
    case("unzip -t, 5 GB of zeros", "perfkit unzip -qq -t -T1 zeros.zip", SYNC_MB),
    case("unzip, 100 MB of text", "perfkit unzip -qq -o -T1 -d out text.zip", SYNC_MB),
    case("unzip, 100 MB of text, from a pipe", "perfkit unzip -qq -o -d out -", SYNC_MB),
    case("zip, 100,000 files", "perfkit zip -qq -f -r -T1 many.zip many", None),
    case("zip, 100,000 files, 2 threads", "perfkit zip -qq -f -r -T2 many.zip many", None),
    case("Info-ZIP's zip, 100,000 files", "zip -q -r other.zip many", None),
    case("unzip -l, 100,000 files", "perfkit unzip -qq -l many.zip", None),
    case("unzip -t, 100,000 files", "perfkit unzip -qq -t -T1 many.zip", None),
    case("unzip, 100,000 files", "perfkit unzip -qq -T1 -d ours many.zip", None),
    case("Info-ZIP's unzip, 100,000 files", "unzip -qq many.zip -d theirs", None),
    case("library, sync, 5 GB, level 1", "perfkit zip-bench --once sync --once-bytes 5GB --level 1", SYNC_MB),
    case("library, tokio, 5 GB, level 1", "perfkit zip-bench --once async --once-bytes 5GB --level 1", ASYNC_MB),
    case("library, a thread a processor, 5 GB, level 1", "perfkit zip-bench --once threads --once-bytes 5GB --level 1", TWO_MB),
];

/// What came of a case.
struct Row {
    case: &'static Case,
    peak_bytes: u64,
    wall: Duration,
}

/// Measures and writes the record.
pub(crate) fn run() -> Result<()> {
    super::super::build_perfkit()?;
    let mut bench = Bench::new(Size::Full)?;
    bench.made = bench.build()?;
    super::build_workload()?;
    bench.memory_inputs()?;
    let bare = "perfkit zip-bench --once nothing --once-bytes 100MB";
    let bare = bench.peak(&case("nothing", bare, None))?.0;
    println!("a bare process: {:.2} MB", bare as f64 / MB);
    let file = sh::root().join("bench-peers/record/zip-memory.md");
    let mut rows = Vec::new();
    for case in &CASES {
        if sh::find(case.command.split(' ').next().unwrap_or_default()).is_none()
            && !case.command.starts_with("perfkit")
        {
            continue;
        }
        let (peak_bytes, wall) = bench.peak(case)?;
        println!(
            "{}: {:.2} MB, {wall:.2?}",
            case.what,
            peak_bytes as f64 / MB
        );
        rows.push(Row {
            case,
            peak_bytes,
            wall,
        });
        fs::write(&file, markdown(&bench.made, bare, &rows))?;
        let mut json = serde_json::to_string_pretty(&data(&bench.made, bare, &rows))?;
        json.push('\n');
        fs::write(file.with_extension("json"), json)?;
    }
    println!("{}", file.display());
    Ok(())
}

impl Bench {
    fn memory_inputs(&self) -> Result<()> {
        let words = ["workload", "source", "1", "100000000"];
        let made = sh::output(&mut self.command(&words))?;
        fs::write(self.file("text"), made.stdout)?;
        fs::File::create(self.file("zeros"))?.set_len(5_000_000_000)?;
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

/// The record as data.
fn data(made: &str, bare: u64, rows: &[Row]) -> serde_json::Value {
    let row = |row: &Row| {
        serde_json::json!({
            "what": row.case.what,
            "command": row.case.command,
            "peak_bytes": row.peak_bytes,
            "goal_mb": row.case.goal_mb,
            "wall_s": row.wall.as_secs_f64(),
        })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    serde_json::json!({ "made": made, "bare_bytes": bare, "rows": rows })
}

/// The record for people.
fn markdown(made: &str, bare: u64, rows: &[Row]) -> String {
    let mut text = format!(
        "# Memory of packing and extracting\n\nMade by `cargo xtask peers zip-memory`: {made}. \
         Peak resident size as Linux keeps it (`VmHWM`), asked every millisecond; everything is in \
         memory (tmpfs). A bare process, which makes its content and packs nothing, takes {:.2} MB; \
         *above it* is what a case takes beside that. The wall times are of one run each.\n\n\
         | case | peak | above it | goal | wall |\n|---|---:|---:|---:|---:|\n",
        bare as f64 / MB
    );
    for row in rows {
        let above = row.peak_bytes as f64 - bare as f64;
        let goal = row
            .case
            .goal_mb
            .map_or_else(|| "—".to_owned(), |goal| format!("≤ {goal:.1} MB"));
        let _ = writeln!(
            text,
            "| {} | {:.2} MB | {:.2} MB | {goal} | {:.2} s |",
            row.case.what,
            row.peak_bytes as f64 / MB,
            above / MB,
            row.wall.as_secs_f64()
        );
    }
    text
}
