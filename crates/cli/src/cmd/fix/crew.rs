//! Threads that read blocks side by side, and one that takes what they made of them in order.
//!
//! Workers take turns to read and cut the next block, and each does what there is to do with the block
//! that it read, while that is in its cache. The caller's thread gets every block with what was made
//! of it in the order of the files. Blocks go round: there are as many as there were at the beginning.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::blocks::{Block, Blocks};
use crate::args::fix::Separator;
use crate::io::{INLINE_BYTES, POLL};
use crate::term::signal;

/// Blocks beyond two a worker: some wait for one before them, one is being taken.
const BLOCKS_SPARE: usize = 2;

/// Why reading ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Nobody reads on.
    Closed,
    Failed(crate::failure::Failure),
}

impl From<crate::failure::Failure> for Stop {
    fn from(failure: crate::failure::Failure) -> Self {
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
            for _ in 0..threads {
                let (source, done) = (Arc::clone(&source), done.clone());
                scope.spawn(move || labour(&source, work(), &done));
            }
            drop(source);
            drop(done);
            let result = in_order(&made, &give, take);
            stop.store(true, Ordering::Relaxed);
            result
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
        // The other end hanging up means that nobody wants more.
        let mut item = self.free.recv().ok()?;
        item.number = self.next;
        self.next += 1;
        (!signal::interrupted() && self.blocks.next(&mut item.block)).then_some(item)
    }
}

fn labour<O>(
    source: &Mutex<Source<'_, O>>,
    mut work: impl FnMut(&Block, &mut O),
    done: &Sender<Item<O>>,
) {
    loop {
        let next = source.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(mut item) = next else {
            return;
        };
        work(&item.block, &mut item.made);
        if done.send(item).is_err() {
            return;
        }
    }
}

fn in_order<O>(
    made: &Receiver<Item<O>>,
    give: &Sender<Item<O>>,
    take: &mut dyn FnMut(&mut Block, &mut O) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        match made.recv_timeout(POLL) {
            Ok(item) => drop(waiting.insert(item.number, item)),
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
