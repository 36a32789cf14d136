//! The cases, their turns, and what holds a thread.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use latency::report::{Cell, LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::Outcome;
use tokio::runtime::{Builder, Runtime};
use zipstream::{ArchiveReader, ReadOptions};

use crate::zip::pack::{self, Times, Work};
use crate::zip::{ticker, words};
use crate::{Checks, Context, Error, Names, Watch, paired, runtime};

const MIB: usize = 1 << 20;
/// What the orders of the turns are drawn from.
const ORDER_SEED: u64 = 1;
/// Content that is packed, at most, in bytes.
pub const CONTENT_BYTES: usize = 20 * MIB;
/// Archives that are packed at once.
const AT_ONCE: usize = 10;
/// A turn of a side takes about this long at least, so that the clock is no part of it.
const TURN: Duration = Duration::from_millis(2);
/// The most repetitions of a turn.
const REPEAT_MAX: u32 = 10_000;

/// Where a case goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    File,
    Memory,
    /// Files that are packed one after the other, or at once.
    Files,
}

/// One case: its name, entries, bytes of each, and where they go.
const CASES: [(&str, usize, usize, To); 6] = [
    ("5 MiB", 1, 5 * MIB, To::File),
    ("50 x 10 KB", 50, 10_000, To::File),
    ("100 KB in memory", 1, 100_000, To::Memory),
    ("10 MiB", 1, 10 * MIB, To::File),
    ("20 MiB", 1, 20 * MIB, To::File),
    ("10 x 5 MiB at once", 1, 5 * MIB, To::Files),
];

/// The cases of a quick run, from the first on.
const QUICK_CASES: usize = 3;

const COLUMNS: [(&str, Unit); 9] = [
    ("data", Unit::Text),
    ("case", Unit::Text),
    ("content_bytes", Unit::Bytes),
    ("archive_bytes", Unit::Bytes),
    ("sync_p50_ns", Unit::Nanoseconds),
    ("async_p50_ns", Unit::Nanoseconds),
    ("async_by_sync", Unit::Ratio),
    ("sync_bytes_per_s", Unit::BytesPerSecond),
    ("async_bytes_per_s", Unit::BytesPerSecond),
];

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Rounds of each case.
    pub rounds: u32,
    /// Level of deflate.
    pub level: i32,
    /// Whether only the first cases are measured.
    pub quick: bool,
}

impl Plan {
    /// All cases, in this number of rounds.
    #[must_use]
    pub fn new(rounds: u32, level: i32) -> Self {
        Self {
            rounds,
            level,
            quick: false,
        }
    }
}

/// Measures both writers on every content, and adds tables, distributions and comparisons to the outcome.
/// What they write has to be the same, and to read back as what went in, before anything is timed. A
/// ticker next to packing runs on the last content.
///
/// # Errors
///
/// [`Error::Io`] where there is no folder for archives, [`Error::Failed`] where packing fails. A run that
/// the watcher stops has what was measured until then.
pub fn run(
    plan: &Plan,
    contents: &[(&str, Arc<[u8]>)],
    context: Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let watch = context.watch;
    let mut checks = Checks::default();
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| Error::io("write", &std::env::temp_dir(), error))?;
    let bench = Bench {
        plan,
        folder: folder.path(),
        runtime: runtime::start(&mut Builder::new_multi_thread())?,
    };
    let cases = if plan.quick { QUICK_CASES } else { CASES.len() };
    let cases = &CASES[..cases];
    watch.expect((contents.len() * cases.len()) as u64);
    let mut table = Table::new("sync against async", &COLUMNS);
    for (data, content) in contents {
        for case in cases {
            if watch.is_stopped() {
                break;
            }
            watch.doing(&format!("{data}, {}", case.0));
            let row = bench.case(data, content, *case, watch, outcome, &mut checks)?;
            table.rows.push(row);
            watch.advance(1);
        }
    }
    watch.finish();
    outcome.tables.push(table);
    for (data, content) in contents {
        watch.doing(&format!("{data}, single entries"));
        bench.latencies(context, data, content, outcome)?;
    }
    if let Some((_, content)) = contents.last().filter(|_| !watch.is_stopped()) {
        let work = bench.work(content, 1, 5 * MIB);
        for task in ticker::Task::ALL {
            let recorder = ticker::measure(context, &work, task)?;
            outcome.add(&recorder.finish());
        }
    }
    let method = "both write the same archive, and it reads back as what went in";
    checks.conclude(method, outcome, watch.is_stopped());
    outcome.findings = words::findings(outcome, context.run);
    Ok(())
}

struct Bench<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    runtime: Runtime,
}

/// One of the sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Sync,
    Async,
}

impl Bench<'_> {
    fn work(&self, content: &Arc<[u8]>, entries: usize, entry_bytes: usize) -> Work {
        Work {
            content: Arc::clone(content),
            entries,
            entry_bytes,
            level: self.plan.level,
        }
    }

    /// Checks a case, then measures it.
    fn case(
        &self,
        data: &str,
        content: &Arc<[u8]>,
        (name, entries, entry_bytes, to): (&str, usize, usize, To),
        watch: &dyn Watch,
        outcome: &mut Outcome,
        checks: &mut Checks,
    ) -> Result<Vec<Cell>, Error> {
        let work = self.work(content, entries, entry_bytes);
        let archive_bytes = self.check(&work, checks)?;
        let ways = [Way::Sync, Way::Async, Way::Sync];
        let mut repeat = 1;
        // Also what warms everything up.
        while self.turn(&work, to, Way::Sync, repeat)? < TURN && repeat < REPEAT_MAX {
            repeat *= 2;
        }
        self.turn(&work, to, Way::Async, 1)?;
        let measured = paired(ways.len(), self.plan.rounds, ORDER_SEED, |turn| {
            if watch.is_stopped() {
                return Ok(None);
            }
            let took = self.turn(&work, to, ways[turn.side], repeat)?;
            Ok::<_, Error>(Some(took.as_nanos() as f64))
        })?;
        let archives = if to == To::Files { AT_ONCE as u64 } else { 1 };
        let bytes = work.bytes() * archives;
        let turns = measured.turns() as u64 * u64::from(repeat);
        outcome.bytes_content += bytes * turns;
        outcome.bytes_out += archive_bytes * archives * turns;
        outcome.ops = Some(outcome.ops.unwrap_or(0) + turns * archives);
        let row = format!("{data}, {name}");
        let names = Names {
            row: &row,
            baseline: "sync",
            target: "async",
        };
        let comparison = measured.compare(names, 1, u64::from(repeat));
        outcome.comparisons.push(comparison);
        let median = |side| {
            measured
                .median(side)
                .map_or(f64::NAN, |ns| ns / f64::from(repeat))
        };
        let (sync, asynchronous) = (median(0), median(1));
        let rate = |ns: f64| bytes as f64 * 1e9 / ns;
        Ok(vec![
            data.into(),
            name.into(),
            bytes.into(),
            (archive_bytes * archives).into(),
            (sync as u64).into(),
            (asynchronous as u64).into(),
            (asynchronous / sync).into(),
            rate(sync).into(),
            rate(asynchronous).into(),
        ])
    }

    /// Has both ways pack, and reads what they wrote; its size.
    fn check(&self, work: &Work, checks: &mut Checks) -> Result<u64, Error> {
        let archive = pack::sync(work, Vec::new(), None).map_err(Error::broken)?;
        let packing = pack::asynchronous(work, Vec::new(), None);
        checks.that(self.runtime.block_on(packing).map_err(Error::broken)? == archive);
        let reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict());
        let reader = reader.map_err(Error::broken)?;
        for (index, entry) in reader.entries().enumerate() {
            let content = reader
                .read(&entry.map_err(Error::broken)?)
                .map_err(Error::broken)?;
            let parts: Vec<u8> = work.parts(index).flatten().copied().collect();
            checks.that(content == parts);
        }
        checks.that(reader.len() == work.entries as u64);
        Ok(archive.len() as u64)
    }

    /// One turn of a side: this number of archives, or ten times as many. Returns how long that took.
    fn turn(&self, work: &Work, to: To, way: Way, repeat: u32) -> Result<Duration, Error> {
        let file = |index: usize| self.folder.join(format!("{index}.zip"));
        let start = Instant::now();
        for _ in 0..repeat {
            match (to, way) {
                (To::File, Way::Sync) => pack::sync_file(work, &file(0)),
                (To::File, Way::Async) => self.runtime.block_on(pack::async_file(work, &file(0))),
                (To::Memory, Way::Sync) => pack::sync(work, Vec::new(), None).map(drop),
                (To::Memory, Way::Async) => {
                    let packing = pack::asynchronous(work, Vec::new(), None);
                    self.runtime.block_on(packing).map(drop)
                }
                (To::Files, Way::Sync) => {
                    (0..AT_ONCE).try_for_each(|index| pack::sync_file(work, &file(index)))
                }
                (To::Files, Way::Async) => self.at_once(work, file),
            }
            .map_err(Error::broken)?;
        }
        Ok(start.elapsed())
    }

    fn at_once(
        &self,
        work: &Work,
        file: impl Fn(usize) -> std::path::PathBuf,
    ) -> Result<(), zipstream::Error> {
        self.runtime.block_on(async {
            let spawn = |index| {
                let (work, path) = (work.clone(), file(index));
                tokio::spawn(async move { pack::async_file(&work, &path).await })
            };
            let packing: Vec<_> = (0..AT_ONCE).map(spawn).collect();
            for packing in packing {
                // A task that panics has told why; the panic goes on here.
                match packing.await {
                    Ok(packed) => packed?,
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                }
            }
            Ok(())
        })
    }

    /// Rows of entries and holds, of many small entries and of a large one.
    fn latencies(
        &self,
        context: Context<'_>,
        data: &str,
        content: &Arc<[u8]>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let recorder = |name, operation: &str, way: &str| {
            let series = format!("{data}, {way}");
            let spec = Spec::new(name, operation).series(&series);
            Recorder::new(context.run.spec(spec), context.run.started())
        };
        let times = |hold: &str, way: &str| Times {
            entry: recorder(LatencyName::Service, "entry", way),
            hold: recorder(LatencyName::Hold, hold, way),
        };
        let mut sync = times("call", "sync");
        let mut asynchronous = times("turn", "async");
        let small = self.work(content, 50, 10_000);
        let large = self.work(content, 1, 5 * MIB);
        for _ in 0..self.plan.rounds {
            if context.watch.is_stopped() {
                return Ok(());
            }
            pack::sync(&small, std::io::sink(), Some(&mut sync)).map_err(Error::broken)?;
            self.turns(&small, &mut asynchronous)?;
        }
        // Of a large entry, what matters is how long it holds a thread.
        let mut rest = Times {
            entry: recorder(LatencyName::Service, "entry", "sync"),
            hold: sync.hold,
        };
        pack::sync(&large, std::io::sink(), Some(&mut rest)).map_err(Error::broken)?;
        sync.hold = rest.hold;
        let packing = pack::asynchronous(&large, tokio::io::sink(), None);
        let packing = pack::held(packing, &mut asynchronous.hold);
        self.runtime.block_on(packing).map_err(Error::broken)?;
        for recorder in [sync.entry, asynchronous.entry, sync.hold, asynchronous.hold] {
            outcome.add(&recorder.finish());
        }
        Ok(())
    }

    fn turns(&self, work: &Work, times: &mut Times) -> Result<(), Error> {
        let Times { entry, hold } = times;
        let packing = pack::asynchronous(work, tokio::io::sink(), Some(entry));
        let packed = self.runtime.block_on(pack::held(packing, hold));
        packed.map(drop).map_err(Error::broken)
    }
}
