//! Several logs at once: threads read each, and one follows orders in the order of time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fixlog::orders::{Batch, Book, Merge};
use fixlog::{Block, Ended, Faults, Made, Separator, Task, Worker, Workers};

use super::watch::Watcher;
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

/// Which logs are read, and how.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) separator: Separator,
    pub(super) threads: u32,
    pub(super) task: Task<'a>,
}

/// Reads all logs. `seen` gets each block, once.
pub(super) fn all(
    plan: Plan<'_>,
    book: &mut Book,
    watcher: &mut Watcher<'_>,
    mut seen: impl FnMut(&mut Piece),
) -> Result<(), Stop> {
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
        while let Some(log) = merge.needs() {
            match logs.get(log).map(Receiver::recv) {
                Some(Ok(mut piece)) => {
                    seen(&mut piece);
                    let part = std::mem::take(&mut piece.made.orders);
                    merge.push(Batch::new(log, part));
                }
                _ => merge.end(log),
            }
            book.take(&mut merge, watcher);
            if let Err(stop) = watcher.flush() {
                result = Err(stop);
                break;
            }
        }
        book.take(&mut merge, watcher);
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
        if result.is_ok() {
            book.finish(watcher);
            result = watcher.flush();
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
    let workers = (0..threads).map(|_| Worker::new(plan.task)).collect();
    let file = plan.files.get(log..=log).unwrap_or(&[]);
    let cancelled = || signal::interrupted() || done.load(Ordering::Relaxed);
    let ended = Workers::new().separator(plan.separator).run(
        &cancelled,
        Inputs(file),
        workers,
        |worker, block: &Block, made: &mut Box<Made>| worker.block(block, made),
        |block, made| {
            let piece = Piece {
                log,
                made: std::mem::take(made),
                ended: block.take_ended(),
            };
            // Whoever follows orders has seen enough.
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

/// Adds up the faults of blocks.
pub(super) fn faults(piece: &Piece) -> &Faults {
    &piece.made.faults
}
