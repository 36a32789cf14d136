//! Runs the comparison, and writes its record.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use super::cpu;
use super::server::Server;
use super::{Cpu, Row, Workers};
use crate::peers::rounds::{SEED, shuffled};
use crate::peers::{Size, is_built, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

const EXPRESSIONS: u64 = 20_000;
/// Events that are generated; as many are used as one thread matches in the time of a turn.
const GENERATED: u64 = 200_000;
/// Events of a block; none: as many as 64 KiB have.
const BLOCKS: [Option<u64>; 4] = [Some(1), Some(10), Some(100), None];
const THREADS: [u32; 2] = [1, 2];
const DAY_NS: u64 = 86_400_000_000_000;

/// One way to match.
#[derive(Debug, Clone, Copy)]
struct Way {
    threads: u32,
    /// Which of the blocks; none without a broker.
    blocks: Option<usize>,
    again: bool,
}

struct Bench {
    perfkit: PathBuf,
    folder: tempfile::TempDir,
    server: Server,
    events: u64,
    /// Events of a message, of each of the blocks.
    block_events: Vec<f64>,
    turns: u32,
}

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    if sh::find("nats-server").is_none() {
        bail!("nats-server is not installed: go install github.com/nats-io/nats-server/v2@v2.15.2");
    }
    if !is_built() {
        let mut cargo = sh::cargo(&["build", "--bin", "perfkit", "--features", "workers"]);
        sh::run(cargo.args(metadata::MEASURED))?;
    }
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    let (rounds, seconds) = match size {
        Size::Full => (5, 3.0),
        Size::Quick => (3, 1.0),
    };
    let mut bench = Bench::new(perfkit, seconds)?;
    bench.feed()?;
    let plain = THREADS.map(|threads| Way {
        threads,
        blocks: None,
        again: false,
    });
    let again = Way {
        again: true,
        ..plain[0]
    };
    let brokered = (0..BLOCKS.len()).flat_map(|at| {
        THREADS.map(|threads| Way {
            threads,
            blocks: Some(at),
            again: false,
        })
    });
    let ways: Vec<Way> = plain.into_iter().chain([again]).chain(brokered).collect();
    let (mut per_s, mut cpu_s) = (vec![Vec::new(); ways.len()], vec![Vec::new(); ways.len()]);
    let mut random = SEED;
    for round in 0..rounds {
        for at in shuffled(ways.len(), &mut random) {
            let (seconds, cpu) = bench.turn(ways[at], round == 0)?;
            per_s[at].push(bench.events as f64 / seconds);
            cpu_s[at].push(cpu);
            println!("round {}: {:?}: {seconds:.2} s", round + 1, ways[at]);
        }
    }
    let figures = per_s.into_iter().zip(cpu_s);
    let rows = ways.iter().zip(figures).map(|(way, (per_s, cpu_s))| Row {
        threads: way.threads,
        block_events: way.blocks.map(|at| bench.block_events[at]),
        again: way.again,
        per_s,
        cpu_s,
    });
    let results = Workers {
        rounds,
        events: bench.events,
        expressions: EXPRESSIONS,
        processors: std::thread::available_parallelism()?.get() as u32,
        rows: rows.collect(),
    };
    let (name, command) = match size {
        Size::Full => ("workers", "cargo xtask peers workers"),
        Size::Quick => ("workers-quick", "cargo xtask peers workers --quick"),
    };
    let mut record = Record::new(
        "Workers on NATS JetStream, and matching without a broker",
        command,
        Results::Workers(results),
    );
    record.quick = size == Size::Quick;
    record.made = vec![made(&bench.perfkit)?];
    record.versions = vec![Server::version()?];
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    Ok(())
}

impl Bench {
    /// Generates the events, and takes as many as one thread matches in this many seconds.
    fn new(perfkit: PathBuf, seconds: f64) -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory)?,
            false => tempfile::tempdir()?,
        };
        let server = Server::start(folder.path())?;
        let mut bench = Self {
            perfkit,
            folder,
            server,
            events: GENERATED,
            block_events: Vec::new(),
            turns: 0,
        };
        bench.run(&format!(
            "betree generate ad --expressions {EXPRESSIONS} --events {GENERATED} -o ad -q"
        ))?;
        bench
            .run("betree build --domains ad/domains --expressions ad/expressions -o snapshot -q")?;
        let all = fs::read_to_string(bench.path("ad/events"))?;
        bench.take(&all, GENERATED / 20)?;
        let sample = bench.plain(1, "sample")?;
        let rate = bench.events as f64 / sample;
        bench.take(&all, (rate * seconds) as u64)?;
        fs::remove_dir_all(bench.path("ad"))?;
        bench.plain(1, "expected")?;
        Ok(bench)
    }

    /// Takes the first events.
    fn take(&mut self, all: &str, count: u64) -> Result<()> {
        self.events = count.clamp(1_000, GENERATED);
        let lines = all.split_inclusive('\n').take(self.events as usize);
        fs::write(self.path("events"), lines.collect::<String>())?;
        Ok(())
    }

    /// One stream of blocks of each length.
    fn feed(&mut self) -> Result<()> {
        let bytes = fs::metadata(self.path("events"))?.len();
        let line = bytes as f64 / self.events as f64;
        for (at, block) in BLOCKS.iter().enumerate() {
            // A block of less than a line is one line. Half a line more, for lines differ.
            let limit = match block {
                None => 64 << 10,
                Some(1) => 1,
                Some(events) => (*events as f64 * line + line / 2.0) as u64,
            };
            let to = self.server.url(&format!("IN{at}"));
            self.run(&format!(
                "betree feed --create --block {limit} --to {to} events -q"
            ))?;
            let messages = self.server.stream(&format!("IN{at}"))?.messages;
            self.block_events.push(self.events as f64 / messages as f64);
        }
        Ok(())
    }

    /// The seconds that a way takes, and how much processor time.
    fn turn(&mut self, way: Way, compares: bool) -> Result<(f64, Cpu)> {
        let before = self.cpu()?;
        let Some(at) = way.blocks else {
            let seconds = self.plain(way.threads, "plain")?;
            let cpu = self.cpu()?.since(before);
            self.compare("plain")?;
            return Ok((seconds, cpu));
        };
        self.turns += 1;
        let (blocks, out) = (format!("IN{at}"), format!("OUT{}", self.turns));
        let (from, to) = (self.server.url(&blocks), self.server.url(&out));
        let line = format!(
            "betree match --from {from} --to {to} --snapshot snapshot --create --until-done -T 1 --consumer {out} -qq"
        );
        let began = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64 % DAY_NS;
        let workers: Vec<Child> = (0..way.threads)
            .map(|_| self.command(&line).spawn())
            .collect::<Result<_, _>>()
            .context("cannot start perfkit")?;
        for mut worker in workers {
            ensure!(worker.wait()?.success(), "a worker failed: {line}");
        }
        let cpu = self.cpu()?.since(before);
        let found = self.server.stream(&out)?;
        let expected = self.server.stream(&blocks)?.messages;
        ensure!(
            found.messages == expected,
            "{} answers to {expected} blocks",
            found.messages
        );
        if compares {
            let joined = File::create(self.path("joined"))?;
            let line = format!("betree join --events {from} --from {to} -qq");
            let status = self.command(&line).stdout(joined).status()?;
            ensure!(status.success(), "{line} failed");
            self.compare("joined")?;
        }
        self.server.remove(&out)?;
        // Over midnight, too.
        let seconds = ((found.last_ns + DAY_NS - began) % DAY_NS) as f64 / 1e9;
        Ok((seconds, cpu))
    }

    /// Processor time until now: of all processes that have ended, and of the server.
    fn cpu(&self) -> Result<Cpu> {
        Ok(Cpu {
            matching: cpu::seconds("self", cpu::ENDED_CHILDREN)?,
            server: cpu::seconds(&self.server.id().to_string(), cpu::OWN)?,
        })
    }

    /// Matches without a broker, and returns its seconds.
    fn plain(&self, threads: u32, to: &str) -> Result<f64> {
        let out = File::create(self.path(to))?;
        let line = format!("betree match --snapshot snapshot --events events -T {threads} -qq");
        let began = Instant::now();
        let status = self.command(&line).stdout(out).status()?;
        let seconds = began.elapsed().as_secs_f64();
        ensure!(status.success(), "{line} failed");
        Ok(seconds)
    }

    fn compare(&self, name: &str) -> Result<()> {
        let same = fs::read(self.path(name))? == fs::read(self.path("expected"))?;
        ensure!(same, "the answers in {name} differ");
        Ok(fs::remove_file(self.path(name))?)
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut command = sh::command(&self.perfkit);
        command.current_dir(self.folder.path());
        command.args(line.split(' ')).stdout(Stdio::null());
        command
    }

    fn run(&self, line: &str) -> Result<()> {
        let status = self
            .command(line)
            .status()
            .context("cannot start perfkit")?;
        ensure!(status.success(), "perfkit {line} ended with {status}");
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
