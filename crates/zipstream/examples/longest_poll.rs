//! How long one poll holds its thread while archives are opened, checked, searched and read.
//!
//! `longest_poll [ENTRIES] [ARCHIVE]`: makes an archive of ENTRIES entries (300,000) in memory, or reads ARCHIVE from a file,
//! on a runtime of one thread, next to a task that is due every millisecond. For each job it prints the longest poll
//! of its future and how late the other task was at most: in the best of some repetitions, for other programs
//! interrupt this one, too.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io::{Cursor, Write as _};
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};
use zipstream::tokio::AsyncArchiveReader;
use zipstream::{ArchiveWriter, EntryOptions, Error, Method, ReadOptions};

const REPETITIONS: usize = 7;
const TICK: Duration = Duration::from_millis(1);
const LARGE_BYTES: usize = 256 << 20;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let entries = words.first().map_or(Ok(300_000), |word| word.parse())?;
    let archive: &'static [u8] = match words.get(1) {
        Some(path) => std::fs::read(path)?.leak(),
        None => many(entries)?.leak(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(LocalSet::new().run_until(jobs(archive)))
}

async fn jobs(archive: &'static [u8]) -> Result<(), Failure> {
    let (default, strict) = (ReadOptions::default(), ReadOptions::strict());
    let open = |options| async move {
        AsyncArchiveReader::open_with(Cursor::new(archive), &options).await
    };
    show("open", || open(default)).await?;
    show("open, strict", || open(strict)).await?;
    let reader = open(default).await?;
    let last = match reader.directory().iter().last() {
        Some(entry) => entry?.name()?.into_owned(),
        None => return Ok(()),
    };
    let finds = || async {
        let directory = open(default).await?.directory();
        // The second search makes the index.
        for _ in 0..2 {
            directory.find(&last)?;
        }
        Ok(())
    };
    show("open and find", finds).await?;
    for method in [Method::Deflate, Method::Zstd, Method::Stored] {
        let archive: &'static [u8] = large(method)?.leak();
        let read = || async move {
            let mut reader = AsyncArchiveReader::open(Cursor::new(archive)).await?;
            let directory = reader.directory();
            let entry = directory.iter().next().transpose()?;
            match entry {
                Some(entry) => reader.read(&entry).await.map(|content| content.len()),
                None => Ok(0),
            }
        };
        show(&format!("read, {method}"), read).await?;
    }
    Ok(())
}

/// Repeats a job, and prints the least of its longest polls.
async fn show<T, F: Future<Output = Result<T, Error>>>(
    name: &str,
    job: impl Fn() -> F,
) -> Result<(), Failure> {
    let mut best = [Duration::MAX; 2];
    let mut polls = 0;
    for _ in 0..REPETITIONS {
        let late = Rc::new(Cell::new(Duration::ZERO));
        let ticker = tokio::task::spawn_local(tick(late.clone()));
        let mut longest = Duration::ZERO;
        polls = 0;
        {
            let mut future = pin!(job());
            let done = poll_fn(|context| {
                let start = Instant::now();
                let polled = future.as_mut().poll(context);
                longest = longest.max(start.elapsed());
                polls += 1;
                polled
            });
            done.await?;
        }
        tokio::task::yield_now().await;
        ticker.abort();
        best = [best[0].min(longest), best[1].min(late.get())];
    }
    let [poll, late] = best;
    let line =
        format!("{name}: {polls} polls, the longest {poll:?}; a task was {late:?} late at most");
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// A task that is due at every tick, and notes how late it is.
async fn tick(late: Rc<Cell<Duration>>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let due = ticks.tick().await;
        late.set(late.get().max(due.elapsed()));
    }
}

fn many(entries: u32) -> Result<Vec<u8>, Error> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(Method::Stored);
    for number in 0..entries {
        writer.add(&format!("{number}.txt"), &options, &mut &b""[..])?;
    }
    Ok(writer.finish()?.0)
}

fn large(method: Method) -> Result<Vec<u8>, Error> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let line = |number: u64| format!("{number}: {}\n", number * 7_919 % 1_000);
    let content: Vec<u8> = (0..)
        .map(line)
        .flat_map(String::into_bytes)
        .take(LARGE_BYTES)
        .collect();
    let mut options = EntryOptions::new(method).level(1);
    options.known = (method == Method::Stored)
        .then(|| zipstream::KnownContent::new(content.len() as u64, crc32fast::hash(&content)));
    writer.add("large", &options, &mut &content[..])?;
    Ok(writer.finish()?.0)
}
