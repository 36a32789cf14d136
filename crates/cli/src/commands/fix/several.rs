//! Several logs at once: threads read each, and one takes what they made in the order of time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fixlog::{Block, Ended, Made, Merge, Separator, Task, Timed, Worker, Workers};

use crate::commands::fix_logs::Inputs;
use crate::commands::stop::{Stop, of_threads};
use crate::failure::Failure;
use crate::term::signal;

/// Parts of a log that wait for the other logs.
const WAITING: usize = 4;

/// What a thread that reads a log says of a block.
pub(super) struct Piece {
    pub(super) log: usize,
    pub(super) made: Box<Made>,
    pub(super) ended: Option<Ended>,
}

impl Timed for Piece {
    fn log(&self) -> usize {
        self.log
    }

    fn items(&self) -> usize {
        self.made.pieces.len()
    }

    fn time_ns(&self, at: usize) -> Option<i64> {
        self.made.times_ns.get(at).copied().flatten()
    }
}

/// Which logs are read, and how.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) separator: Separator,
    pub(super) threads: u32,
    pub(super) task: Task<'a>,
    pub(super) follows: bool,
    /// Counts the bytes that are read.
    pub(super) read: &'a Arc<AtomicU64>,
}

/// Takes what was made of logs, in the order of time.
pub(super) trait InOrder {
    /// A part of a log.
    type Part: Timed;

    /// The part of a piece that waits for its turn. Each piece comes once, those of a log in its order.
    fn part(&mut self, piece: Piece) -> Self::Part;

    /// Takes what can be given out.
    fn take(&mut self, merge: &mut Merge<Self::Part>) -> Result<(), Stop>;
}

/// Reads all logs.
pub(super) fn in_order<T: InOrder>(plan: Plan<'_>, taker: &mut T) -> Result<(), Stop> {
    let done = AtomicBool::new(false);
    let threads = (plan.threads as usize / plan.files.len()).max(1);
    std::thread::scope(|scope| {
        let mut logs: Vec<Receiver<Piece>> = Vec::new();
        let mut readers = Vec::new();
        for log in 0..plan.files.len() {
            let (sender, receiver) = sync_channel(WAITING);
            logs.push(receiver);
            let stopped = &done;
            let name = std::thread::Builder::new().name(format!("log {log}"));
            let reader =
                name.spawn_scoped(scope, move || one(plan, log, threads, stopped, &sender));
            match reader {
                Ok(reader) => readers.push(reader),
                Err(error) => {
                    done.store(true, Ordering::Relaxed);
                    drop(logs);
                    let why = Failure::new(format!("cannot start a thread for each log: {error}"));
                    return Err(why.help("read fewer logs at once").into());
                }
            }
        }
        let mut merge = Merge::new(plan.files.len());
        let mut result = Ok(());
        while result.is_ok()
            && let Some(log) = merge.needs()
        {
            match logs.get(log).map(Receiver::recv) {
                Some(Ok(piece)) => merge.push(taker.part(piece)),
                _ => merge.end(log),
            }
            result = taker.take(&mut merge);
        }
        if result.is_ok() {
            result = taker.take(&mut merge);
        }
        done.store(true, Ordering::Relaxed);
        drop(logs);
        for reader in readers {
            match reader.join() {
                Ok(Err(stop)) if result.is_ok() => result = Err(stop),
                Ok(_) => {}
                Err(_) => {
                    let why = Failure::new("a thread that reads a log panicked");
                    return Err(why
                        .help("please report this as a bug with the command line")
                        .into());
                }
            }
        }
        result
    })
}

/// Reads one log.
fn one(
    plan: Plan<'_>,
    log: usize,
    threads: usize,
    done: &AtomicBool,
    sender: &SyncSender<Piece>,
) -> Result<(), Stop> {
    let states = (0..threads).map(|_| Worker::new(plan.task)).collect();
    let file = plan.files.get(log..=log).unwrap_or(&[]);
    let cancelled = || signal::interrupted() || done.load(Ordering::Relaxed);
    let workers = Workers::new()
        .separator(plan.separator)
        .lengths_differ(plan.task.accepted().length);
    let ended = workers.run(
        &cancelled,
        Inputs::new(file).follow(plan.follows).count(plan.read),
        states,
        |worker, block: &Block, made: &mut Box<Made>| worker.block_of(log, block, made),
        |block, made| {
            let piece = Piece {
                log,
                made: std::mem::take(made),
                ended: block.take_ended(),
            };
            // Whoever takes it has seen enough.
            sender.send(piece).map_err(|_| Stop::Enough)
        },
    );
    match ended.result {
        Err(error) => match of_threads(error, "a thread that reads blocks of the log") {
            Stop::Enough => Ok(()),
            stop => Err(stop),
        },
        Ok(()) => Ok(()),
    }
}
