//! One measurement: tasks on a runtime, with a probe that asks how long other tasks wait for it.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use zstdkit::workload::Kind;

use crate::Result;
use crate::cell::{Cell, Work};
use crate::side::{Said, Side};

/// The cell is repeated for at least this long.
const LEAST: Duration = Duration::from_millis(150);
/// And at least this often, unless that takes longer than [`LONG`]: what the first repetition costs more is then the
/// same share for all sides.
const TIMES: u32 = 4;
const LONG: Duration = Duration::from_millis(600);
/// How often the probe asks.
const PROBE: Duration = Duration::from_micros(500);

/// What one process measured. Times are in nanoseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Of one repetition.
    pub(crate) wall_ns: f64,
    pub(crate) cpu_ns: f64,
    /// The most memory above what the process had before.
    pub(crate) memory_bytes: u64,
    pub(crate) compressed_bytes: u64,
    pub(crate) stall_p50_ns: u64,
    pub(crate) stall_p99_ns: u64,
    pub(crate) stall_max_ns: u64,
}

/// Measures in this process.
pub(crate) fn one(side: Side, cell: &Cell) -> Result<Measured> {
    let content: Arc<[u8]> =
        zstdkit::workload::generate(Kind::JsonLines, 7, cell.content_bytes).into();
    let runtime = runtime(cell.workers)?;
    let input: Arc<[u8]> = match cell.work {
        Work::Encode => content.clone(),
        Work::Decode => {
            let encode = Cell {
                work: Work::Encode,
                streams: 1,
                slow: false,
                ..cell.clone()
            };
            let pieces = if cell.flush {
                cell.piece_bytes.max(1024)
            } else {
                64 << 10
            };
            let encode = Cell {
                piece_bytes: pieces,
                ..encode
            };
            runtime
                .block_on(
                    Side::AsyncCompression
                        .start()?
                        .stream(content.clone(), encode, true),
                )?
                .0
                .into()
        }
    };
    drop(runtime);
    let engine = side.start()?;
    let tasks = Tasks {
        count: cell.streams,
        workers: cell.workers,
    };
    tasks.measure(
        |keep| {
            let stream = engine.clone().stream(input.clone(), cell.clone(), keep);
            async move { Ok(stream.await?.0) }
        },
        |outputs| check(outputs, cell, &content, &input),
    )
}

/// Tasks that do the same at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tasks {
    pub(crate) count: usize,
    pub(crate) workers: usize,
}

impl Tasks {
    /// Measures tasks like this one. What those of the first repetition give, which keep it, is checked;
    /// that says how large it is.
    pub(crate) fn measure<F>(
        self,
        task: impl Fn(bool) -> F,
        check: impl Fn(&[Vec<u8>]) -> Result<u64>,
    ) -> Result<Measured>
    where
        F: Future<Output = Said<Vec<u8>>> + Send + 'static,
    {
        let runtime = runtime(self.workers)?;
        let before = resident()?;
        let stop = Arc::new(AtomicBool::new(false));
        let probe = probe(&runtime, stop.clone());
        let (start, cpu) = (Instant::now(), cpu_ns());
        let mut repetitions = 0_u32;
        let mut first = Vec::new();
        let goes_on = |repetitions| match repetitions {
            0 => true,
            1..TIMES => start.elapsed() < LONG,
            _ => start.elapsed() < LEAST,
        };
        while goes_on(repetitions) {
            let keep = repetitions == 0;
            let outputs = runtime.block_on(async {
                let tasks: Vec<_> = (0..self.count).map(|_| tokio::spawn(task(keep))).collect();
                let mut outputs = Vec::new();
                for task in tasks {
                    outputs.push(task.await.map_err(|error| error.to_string())??);
                }
                Ok::<_, String>(outputs)
            })?;
            if keep {
                // They are checked at the end: the probe would get no answer meanwhile.
                first = outputs;
            }
            repetitions += 1;
        }
        let (wall, cpu) = (start.elapsed(), cpu_ns() - cpu);
        let memory = peak()?.saturating_sub(before);
        stop.store(true, Relaxed);
        let mut stalls = probe.join().map_err(|_| "the probe panicked")?;
        stalls.sort_unstable();
        let rank = |share: f64| {
            let place = (share * stalls.len() as f64) as usize;
            let place = place.min(stalls.len().saturating_sub(1));
            stalls.get(place).copied().unwrap_or(0)
        };
        let each = f64::from(repetitions);
        Ok(Measured {
            wall_ns: wall.as_nanos() as f64 / each,
            cpu_ns: cpu as f64 / each,
            memory_bytes: memory,
            compressed_bytes: check(&first)?,
            stall_p50_ns: rank(0.5),
            stall_p99_ns: rank(0.99),
            stall_max_ns: stalls.last().copied().unwrap_or(0),
        })
    }
}

fn runtime(workers: usize) -> Result<Runtime> {
    Ok(match workers {
        0 => Builder::new_current_thread().enable_all().build()?,
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()?,
    })
}

/// Compares what came out with the content. Returns the compressed bytes of a stream.
fn check(outputs: &[Vec<u8>], cell: &Cell, content: &[u8], input: &[u8]) -> Result<u64> {
    for bytes in outputs {
        let same = match cell.work {
            Work::Encode => zstd::decode_all(&bytes[..])? == content,
            Work::Decode => bytes[..] == *content,
        };
        if !same {
            return Err("wrong content".into());
        }
    }
    Ok(match cell.work {
        Work::Encode => outputs.first().map_or(0, |bytes| bytes.len() as u64),
        Work::Decode => input.len() as u64,
    })
}

/// Asks a task of the runtime again and again, from a thread of its own, and returns how long each answer took to
/// begin.
fn probe(runtime: &Runtime, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<Vec<u64>> {
    let (ask, mut asked) = mpsc::unbounded_channel::<Instant>();
    let (answer, answers) = std::sync::mpsc::channel::<u64>();
    runtime.spawn(async move {
        while let Some(sent) = asked.recv().await {
            let waited = sent.elapsed().as_nanos() as u64;
            if answer.send(waited).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        while !stop.load(Relaxed) && ask.send(Instant::now()).is_ok() {
            std::thread::sleep(PROBE);
        }
        drop(ask);
        answers.try_iter().collect()
    })
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Resident bytes now, from which the peak is counted anew.
fn resident() -> Result<u64> {
    std::fs::write("/proc/self/clear_refs", "5")?;
    status("VmRSS:")
}

fn peak() -> Result<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .ok_or("no such line")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib << 10)
}
