//! How long one poll holds its thread while archives are opened, checked, searched, read and written.
//!
//! `longest_poll [ENTRIES] [THRESHOLD_NS] [ARCHIVE]`: makes an archive of ENTRIES entries (300,000) in memory, or reads ARCHIVE
//! from a file, and entries of 1 MiB and of 256 MiB, and writes entries of several sizes, on a runtime of one thread, next to a
//! task that is due every millisecond. Each job is to hold its thread for no longer than THRESHOLD_NS (100,000). It prints the
//! longest poll of its future and how late the other task was at most: in the best of some repetitions, for other programs
//! interrupt this one, too.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io::{Cursor, Write as _};
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};
use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter};
use zipstream::{ArchiveOptions, ArchiveWriter, EntryOptions, Error, Method, ReadOptions};

const REPETITIONS: usize = 7;
const TICK: Duration = Duration::from_millis(1);
const LARGE_BYTES: usize = 256 << 20;
const SMALL_BYTES: usize = 1 << 20;
/// The entries that are written.
const WRITTEN_BYTES: [usize; 6] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 512 << 10, 4 << 20];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let entries = words.first().map_or(Ok(300_000), |word| word.parse())?;
    let threshold_ns = words.get(1).map_or(Ok(100_000), |word| word.parse())?;
    let archive: &'static [u8] = match words.get(2) {
        Some(path) => std::fs::read(path)?.leak(),
        None => many(entries)?.leak(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(LocalSet::new().run_until(async {
        opened(archive, threshold_ns).await?;
        read(threshold_ns).await?;
        written(threshold_ns).await
    }))
}

async fn opened(archive: &'static [u8], threshold_ns: u64) -> Result<(), Failure> {
    let default = ReadOptions::default().threshold_ns(threshold_ns);
    let strict = ReadOptions::strict().threshold_ns(threshold_ns);
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
            directory.find_async(&last).await?;
        }
        Ok(())
    };
    show("open and find", finds).await
}

async fn read(threshold_ns: u64) -> Result<(), Failure> {
    let options = ReadOptions::default().threshold_ns(threshold_ns);
    for method in [Method::Deflate, Method::Zstd, Method::Stored] {
        for (size, content) in [
            ("1 MiB of words", words(SMALL_BYTES)),
            ("256 MiB of lines", lines(LARGE_BYTES)),
        ] {
            let archive: &'static [u8] = archive_of(method, &content)?.leak();
            let read = || async move {
                let mut reader =
                    AsyncArchiveReader::open_with(Cursor::new(archive), &options).await?;
                let directory = reader.directory();
                let entry = directory.iter().next().transpose()?;
                match entry {
                    Some(entry) => reader.read(&entry).await.map(|content| content.len()),
                    None => Ok(0),
                }
            };
            show(&format!("read {size}, {method}"), read).await?;
        }
    }
    Ok(())
}

async fn written(threshold_ns: u64) -> Result<(), Failure> {
    let content: &'static [u8] = words(4 << 20).leak();
    for (method, level) in [
        (Method::Deflate, 1),
        (Method::Deflate, 6),
        (Method::Deflate, 9),
        (Method::Zstd, 3),
        (Method::Zstd, 19),
        (Method::Stored, 0),
    ] {
        for bytes in WRITTEN_BYTES {
            let write = || async move {
                let options = ArchiveOptions::default().threshold_ns(threshold_ns);
                let mut writer = AsyncArchiveWriter::with_options(tokio::io::sink(), options)?;
                let entry = EntryOptions::new(method).level(level);
                for (number, mut piece) in content.chunks(bytes).take(64).enumerate() {
                    writer.add(&number.to_string(), &entry, &mut piece).await?;
                }
                writer.close().await
            };
            let name = format!("write {} KiB, {method} {level}", bytes >> 10);
            show(&name, write).await?;
        }
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

/// Lines that are alike.
fn lines(bytes: usize) -> Vec<u8> {
    let line = |number: u64| format!("{number}: {}\n", number * 7_919 % 1_000);
    (0..)
        .map(line)
        .flat_map(String::into_bytes)
        .take(bytes)
        .collect()
}

/// Words in no order, some of which are noise: hard to compress.
fn words(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 20
    };
    let mut words = Vec::with_capacity(bytes + 16);
    while words.len() < bytes {
        let word = match next() % 4 {
            0 => format!("{:x} ", next() % 0xff_ffff),
            _ => format!("word{} ", next() % 3_000),
        };
        words.extend_from_slice(word.as_bytes());
    }
    words.truncate(bytes);
    words
}

fn archive_of(method: Method, content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let mut options = EntryOptions::new(method).level(1);
    options.known = (method == Method::Stored)
        .then(|| zipstream::KnownContent::new(content.len() as u64, crc32fast::hash(content)));
    writer.add("entry", &options, &mut &content[..])?;
    Ok(writer.finish()?.0)
}
