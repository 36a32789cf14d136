//! Measures the peak memory of packing or reading one file, in a process of its own.
//!
//! `memory nothing`, `memory WAY LEVEL FILE ARCHIVE` or `memory read ARCHIVE`, where WAY is `sync`, `async` or
//! a number of threads. It prints the peak resident size in bytes, where the system reports it (Linux).
//! `cargo xtask peers zip-memory` runs it.

use std::fs::File;

use tokio::fs as async_fs;
use zipstream::tokio::AsyncArchiveWriter;
use zipstream::{ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions, Error, Scratch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["nothing"] => {}
        ["read", archive] => read(archive)?,
        ["async", level, file, archive] => {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            runtime.block_on(asynchronous(&options(level, file)?, file, archive))?;
        }
        ["sync", level, file, archive] => pack(0, &options(level, file)?, file, archive)?,
        [threads, level, file, archive] => {
            pack(threads.parse()?, &options(level, file)?, file, archive)?;
        }
        _ => return Err("nothing | sync, async or N LEVEL FILE ARCHIVE | read ARCHIVE".into()),
    }
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{}", peak_bytes().unwrap_or(0))?;
    Ok(())
}

fn options(level: &str, file: &str) -> Result<EntryOptions, Box<dyn std::error::Error>> {
    let mut options = EntryOptions::default().level(level.parse()?);
    options.size_hint = Some(std::fs::metadata(file)?.len());
    Ok(options)
}

fn pack(threads: usize, options: &EntryOptions, file: &str, archive: &str) -> Result<(), Error> {
    let mut settings = ArchiveOptions::default();
    settings.threads = threads;
    let open = |error: std::io::Error| Error::from_io(&error);
    let sink = File::create(archive).map_err(open)?;
    let mut writer = ArchiveWriter::with_options(sink, settings)?;
    let mut source = File::open(file).map_err(open)?;
    writer.add("content", options, &mut source)?;
    writer.finish().map(drop)
}

async fn asynchronous(options: &EntryOptions, file: &str, archive: &str) -> Result<(), Error> {
    let open = |error: std::io::Error| Error::from_io(&error);
    let sink = async_fs::File::create(archive).await.map_err(open)?;
    let mut source = async_fs::File::open(file).await.map_err(open)?;
    let mut writer = AsyncArchiveWriter::new(sink);
    writer.add("content", options, &mut source).await?;
    writer.finish().await.map(drop)
}

fn read(archive: &str) -> Result<(), Error> {
    let open = |error: std::io::Error| Error::from_io(&error);
    let reader = ArchiveReader::open(File::open(archive).map_err(open)?)?;
    let mut scratch = Scratch::default();
    for entry in reader.entries() {
        reader.extract(&entry?, &mut scratch, &mut |_: &[u8]| Ok::<_, Error>(()))?;
    }
    Ok(())
}

/// The peak resident size of this process, if the system reports it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
}
