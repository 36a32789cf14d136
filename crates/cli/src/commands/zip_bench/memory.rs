//! Memory and processor time: of processes of their own, which pack what they make as they go.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use latency::report::{Cell, Table, Unit};
use report::ExitStatus;
use tokio::io::AsyncWriteExt as _;
use zipstream::{ArchiveOptions, ArchiveWriter, EntryOptions, Error};
use zstdkit::workload::{self, Kind};

use crate::commands::child;
use crate::commands::zip_bench::flags::{Once, ZipBenchArgs};
use crate::failure::{Failure, Result};

/// Content that goes round: what it takes is that of every process.
const ROUND_BYTES: usize = 256 << 10;
/// What each process packs.
const SIZES: [u64; 2] = [5 << 20, 100 << 20];

/// Packs in this process, as `--once` says.
pub(super) fn once(args: &ZipBenchArgs, way: Once) -> Result<ExitStatus> {
    let content = workload::generate(Kind::Source, args.seed, ROUND_BYTES);
    let mut left = args.once_bytes;
    let parts = std::iter::from_fn(|| {
        let bytes = content
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        left -= bytes as u64;
        (bytes > 0).then(|| &content[..bytes])
    });
    let mut options = EntryOptions::default().level(args.level);
    options.size_hint = Some(args.once_bytes);
    let mut settings = ArchiveOptions::default();
    if way == Once::Threads {
        settings.threads = std::thread::available_parallelism().map_or(1, usize::from);
    }
    let packed = match way {
        Once::Nothing => {
            std::hint::black_box(parts.count());
            Ok(())
        }
        Once::Sync | Once::Threads => sync(settings, &options, parts),
        Once::Async => {
            let runtime = tokio::runtime::Builder::new_multi_thread().build();
            let started = runtime.map_err(|error| bench::Error::broken(&error))?;
            started.block_on(asynchronous(&options, parts))
        }
    };
    packed.map_err(bench::Error::broken)?;
    // What the kernel counts of a child includes its parent, up to where it became another program.
    let told = std::io::stdout().write_all(peak_bytes().unwrap_or(0).to_string().as_bytes());
    told.map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
    Ok(ExitStatus::Ok)
}

/// The peak resident size of this process, where the system tells.
fn peak_bytes() -> Option<u64> {
    latency::environment::proc_bytes("/proc/self/status", "VmHWM:")
}

fn sync<'a>(
    settings: ArchiveOptions,
    options: &EntryOptions,
    parts: impl Iterator<Item = &'a [u8]>,
) -> std::result::Result<(), Error> {
    let mut writer = ArchiveWriter::with_options(std::io::sink(), settings)?;
    writer.start_entry("content", options)?;
    for part in parts {
        writer.push(part)?;
    }
    writer.finish_entry()?;
    writer.finish().map(drop)
}

async fn asynchronous<'a>(
    options: &EntryOptions,
    parts: impl Iterator<Item = &'a [u8]>,
) -> std::result::Result<(), Error> {
    let mut writer = zipstream::tokio::AsyncArchiveWriter::new(tokio::io::sink());
    writer.start_entry("content", options).await?;
    for part in parts {
        writer.push(part).await?;
    }
    writer.finish_entry().await?;
    let (mut sink, _) = writer.finish().await?;
    let _ = sink.shutdown().await;
    Ok(())
}

/// Runs a process of each kind. `None` when a signal came before the end.
pub(super) fn table(args: &ZipBenchArgs) -> Result<Option<Table>> {
    let columns = [
        ("way", Unit::Text),
        ("size_bytes", Unit::Bytes),
        ("peak_bytes", Unit::Bytes),
        ("above_nothing_bytes", Unit::Bytes),
        ("user_ns", Unit::Nanoseconds),
        ("system_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("memory and processor time", &columns);
    for bytes in SIZES {
        let mut nothing = 0;
        for way in Once::ALL {
            let words: [OsString; 7] = [
                "zip-bench".into(),
                "--once".into(),
                way.name().into(),
                "--once-bytes".into(),
                bytes.to_string().into(),
                "--level".into(),
                args.level.to_string().into(),
            ];
            let own = std::env::current_exe()
                .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
            let unwritable = |error| Failure::io("write", &std::env::temp_dir(), &error);
            let mut said = tempfile::tempfile().map_err(unwritable)?;
            let mut command = Command::new(own);
            command
                .env(crate::config::FILE_VARIABLE, "")
                .args(words)
                .stdin(Stdio::null())
                .stdout(said.try_clone().map_err(unwritable)?);
            let run = child::run(&mut command)
                .map_err(|error| Failure::new(format!("cannot run this program: {error}")))?;
            let Some(run) = run.filter(|run| run.used.status.success()) else {
                return Ok(None);
            };
            let used = &run.used.rusage;
            let mut text = String::new();
            said.rewind().map_err(unwritable)?;
            said.read_to_string(&mut text).map_err(unwritable)?;
            let told = text.parse().ok().filter(|bytes| *bytes > 0);
            let peak = told.unwrap_or(used.maxrss);
            if way == Once::Nothing {
                nothing = peak;
            }
            let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            let row: Vec<Cell> = vec![
                way.name().into(),
                bytes.into(),
                peak.into(),
                peak.saturating_sub(nothing).into(),
                ns(used.utime).into(),
                ns(used.stime).into(),
            ];
            table.rows.push(row);
        }
    }
    Ok(Some(table))
}
