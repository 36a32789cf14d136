//! Threads that read blocks side by side, and one that takes what they made of them in order.
//!
//! Workers take turns to read and cut the next block, and each does what there is to do with the block
//! that it read, while that is in its cache. The caller's thread gets every block with what was made
//! of it in the order of the files. Blocks go round: there are as many as there were at the beginning.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::commands::fix::blocks::{Block, Blocks};
use crate::commands::fix::flags::Separator;
use crate::failure::{Failure, reason};
use crate::io::{INLINE_BYTES, POLL};
use crate::term::signal;

/// Blocks beyond two a worker: some wait for one before them, one is being taken.
const BLOCKS_SPARE: usize = 2;

/// Why reading ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The reader of the results is gone.
    Closed,
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A block on its way, with what was made of it.
#[derive(Debug, Default)]
struct Item<O> {
    number: u64,
    block: Block,
    made: O,
}

/// Which files, and by how many threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crew<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) separator: Separator,
    pub(super) threads: u32,
}

impl Crew<'_> {
    /// Has `work`, one a thread, make something of every block, and `take` take it in order. What
    /// was made is given to `work` again later, as it was left.
    pub(super) fn run<O, W>(
        &self,
        work: impl Fn() -> W + Sync,
        take: &mut dyn FnMut(&mut Block, &mut O) -> Result<(), Stop>,
    ) -> Result<(), Stop>
    where
        O: Default + Send,
        W: FnMut(&Block, &mut O),
    {
        let stop = AtomicBool::new(false);
        let stopped = || stop.load(Ordering::Relaxed);
        let blocks = Blocks::new(self.files, self.separator, &stopped);
        if self.threads <= 1 || self.is_small() {
            return alone(blocks, work(), take);
        }
        std::thread::scope(|scope| {
            // Workers end when this thread does, by a panic too.
            let _stop = OnDrop(|| stop.store(true, Ordering::Relaxed));
            let (give, free) = channel::<Item<O>>();
            let (done, made) = channel();
            let (work, threads) = (&work, self.threads as usize);
            for _ in 0..2 * threads + BLOCKS_SPARE {
                let _ = give.send(Item::default());
            }
            let source = Source {
                blocks,
                free,
                next: 0,
            };
            let source = Arc::new(Mutex::new(source));
            for nth in 0..threads {
                let (source, done) = (Arc::clone(&source), done.clone());
                let labour = move || labour(&source, work, &done);
                match std::thread::Builder::new().spawn_scoped(scope, labour) {
                    Ok(_) => {}
                    Err(error) if nth == 0 => return Err(no_thread(&error).into()),
                    // Those that there are do the work.
                    Err(_) => break,
                }
            }
            drop(done);
            drop(source);
            in_order(&made, &give, take)
        })
    }

    /// Whether threads would not pay.
    fn is_small(&self) -> bool {
        let bytes = |path: &PathBuf| match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            _ => INLINE_BYTES + 1,
        };
        self.files.iter().map(bytes).sum::<u64>() <= INLINE_BYTES
    }
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start a thread: {}", reason(error))).help("use one: -T1")
}

fn alone<O: Default>(
    mut blocks: Blocks<'_>,
    mut work: impl FnMut(&Block, &mut O),
    take: &mut dyn FnMut(&mut Block, &mut O) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut item = Item::<O>::default();
    while !signal::interrupted() && blocks.next(&mut item.block) {
        work(&item.block, &mut item.made);
        take(&mut item.block, &mut item.made)?;
    }
    Ok(())
}

/// Where blocks come from, one worker at a time.
struct Source<'s, O> {
    blocks: Blocks<'s>,
    free: Receiver<Item<O>>,
    next: u64,
}

impl<O> Source<'_, O> {
    fn next(&mut self) -> Option<Item<O>> {
        // The other end hanging up means that no more results are wanted.
        let mut item = self.free.recv().ok()?;
        item.number = self.next;
        self.next += 1;
        (!signal::interrupted() && self.blocks.next(&mut item.block)).then_some(item)
    }
}

/// Calls a function when it goes out of scope, in whichever way.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// What a worker sends: a block that it finished, or `None` when it panicked and its block is lost.
type Sent<O> = Option<Item<O>>;

/// The life of a worker. A panic ends it alone: the caller reads of it and ends the run.
fn labour<O, W: FnMut(&Block, &mut O)>(
    source: &Mutex<Source<'_, O>>,
    work: impl Fn() -> W,
    done: &Sender<Sent<O>>,
) {
    let toil = || {
        let mut work = work();
        loop {
            let next = source.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(mut item) = next else {
                return;
            };
            work(&item.block, &mut item.made);
            if done.send(Some(item)).is_err() {
                return;
            }
        }
    };
    // What the panic may have left half done is the lost block, and nothing reads that.
    if catch_unwind(AssertUnwindSafe(toil)).is_err() {
        let _ = done.send(None);
    }
}

fn panicked() -> Stop {
    let failure = Failure::new("a thread that reads blocks of the log panicked");
    Stop::Failed(failure.help("please report this as a bug with the command line"))
}

fn in_order<O>(
    made: &Receiver<Sent<O>>,
    give: &Sender<Item<O>>,
    take: &mut dyn FnMut(&mut Block, &mut O) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        match made.recv_timeout(POLL) {
            Ok(Some(item)) => drop(waiting.insert(item.number, item)),
            Ok(None) => return Err(panicked()),
            Err(RecvTimeoutError::Timeout) if !signal::interrupted() => continue,
            // All is done, or the user asked to stop.
            Err(_) => return Ok(()),
        }
        while let Some(mut item) = waiting.remove(&next) {
            next += 1;
            take(&mut item.block, &mut item.made)?;
            let _ = give.send(item);
            if signal::interrupted() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: u32 = 3;

    /// As many small files, and a device in front of them: of that no size is known, so that threads
    /// do the work. A file is a block or more.
    fn logs(dir: &std::path::Path, files: usize) -> Vec<PathBuf> {
        let named = (0..files).map(|file| {
            let path = dir.join(format!("{file}.log"));
            let message = "8=FIX.4.4\u{1}9=5\u{1}35=0\u{1}10=163\u{1}\n";
            std::fs::write(&path, message.repeat(file + 1)).unwrap();
            path
        });
        std::iter::once(PathBuf::from("/dev/null"))
            .chain(named)
            .collect()
    }

    fn crew(files: &[PathBuf], threads: u32) -> Crew<'_> {
        Crew {
            files,
            separator: Separator::Auto,
            threads,
        }
    }

    /// File and offset of every block as they were taken, with the bytes that a worker saw.
    fn taken(files: &[PathBuf], threads: u32) -> Vec<(usize, u64, usize)> {
        let mut found = Vec::new();
        let work = || |block: &Block, made: &mut usize| *made = block.bytes().len();
        let result = crew(files, threads).run(work, &mut |block, made| {
            found.push((block.file, block.offset, *made));
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
        found
    }

    #[cfg(unix)]
    #[test]
    fn threads_take_the_blocks_that_one_thread_takes_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let count = THREADS as usize;
        for files in [0, 1, count - 1, count, count + 1, 3 * count, 40] {
            let files = logs(dir.path(), files);
            let expected = taken(&files, 1);
            let ends = expected.iter().filter(|(_, _, bytes)| *bytes > 0).count();
            assert!(ends >= files.len() - 1, "{expected:?}");
            for threads in [THREADS, 16] {
                assert_eq!(taken(&files, threads), expected, "{} files", files.len());
            }
        }
    }

    /// Runs beside a clock: a run that waits for ever fails the test.
    fn ended(
        files: usize,
        work: impl Fn(&Block) + Send + Sync + 'static,
        take: impl Fn(&Block) -> Result<(), Stop> + Send + 'static,
    ) -> Option<std::thread::Result<Result<(), Stop>>> {
        let dir = tempfile::tempdir().unwrap();
        let files = logs(dir.path(), files);
        let (say, hear) = channel();
        std::thread::spawn(move || {
            let run = || {
                let work = || |block: &Block, (): &mut ()| work(block);
                crew(&files, THREADS).run(work, &mut |block, ()| take(block))
            };
            let _ = say.send(catch_unwind(AssertUnwindSafe(run)));
        });
        hear.recv_timeout(std::time::Duration::from_secs(60)).ok()
    }

    #[cfg(unix)]
    #[test]
    fn a_worker_that_panics_ends_the_run_with_a_failure() {
        for lost in [0, 1, 20, 39] {
            let work = move |block: &Block| assert!(block.file != lost, "injected");
            let result = ended(40, work, |_| Ok(())).expect("the run ends");
            let Ok(Err(Stop::Failed(failure))) = result else {
                panic!("{result:?}");
            };
            assert!(failure.message().contains("panicked"), "{failure}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_taker_that_fails_or_panics_ends_the_run() {
        let fails = ended(
            40,
            |_| (),
            |block| match block.file {
                7 => Err(Stop::Failed(Failure::new("injected"))),
                _ => Ok(()),
            },
        );
        let fails = fails.expect("the run ends");
        assert!(matches!(fails, Ok(Err(Stop::Failed(_)))), "{fails:?}");
        let take = |block: &Block| {
            assert!(block.file != 7, "injected");
            Ok(())
        };
        assert!(ended(40, |_| (), take).expect("the run ends").is_err());
    }
}
