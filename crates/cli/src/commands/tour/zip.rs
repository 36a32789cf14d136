//! The ZIP part of the tour: many small entries and a large one, packed and read back, with the same bytes
//! from one thread and from several.

use std::time::{Duration, Instant};

use latency::report::{LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::Outcome;
use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, EntryOptions, Error, Method, ReadOptions,
    Scratch,
};
use zstdkit::workload::{self, Kind};

use crate::commands::tour::stage::Stage;
use crate::commands::tour::words;
use crate::failure::{Failure, Result};
use crate::term::signal;
use bench::Checks;

/// Content of a small entry.
const SMALL_BYTES: usize = 10 << 10;
/// Threads of the second packing.
const THREADS: usize = 2;

const COLUMNS: [(&str, Unit); 6] = [
    ("method", Unit::Text),
    ("entries", Unit::Count),
    ("size_bytes", Unit::Bytes),
    ("ratio", Unit::Ratio),
    ("pack_bytes_per_s", Unit::BytesPerSecond),
    ("read_bytes_per_s", Unit::BytesPerSecond),
];

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let data = workload::generate(Kind::Source, stage.seed, stage.bytes);
    let spec = Spec::new(LatencyName::Hold, "call").series("zip");
    let mut hold = Recorder::new(stage.session.spec(spec), stage.session.run_start());
    let mut table = Table::new("zip", &COLUMNS);
    for method in [Method::Stored, Method::Deflate, Method::Zstd] {
        if signal::interrupted() {
            return Ok(());
        }
        let (archive, packing) = pack(&data, method, 0, &mut Some(&mut hold))?;
        let (threaded, _) = pack(&data, method, THREADS, &mut None)?;
        checks.that(archive == threaded);
        let (right, entries, reading) = read(&archive, &data)?;
        checks.that(right);
        let rate = |spent: Duration| data.len() as f64 / spent.as_secs_f64();
        table.rows.push(vec![
            method.to_string().into(),
            entries.into(),
            (data.len() as u64).into(),
            (data.len() as f64 / archive.len() as f64).into(),
            rate(packing).into(),
            rate(reading).into(),
        ]);
        outcome.bytes_in += data.len() as u64;
        outcome.bytes_out += archive.len() as u64;
        outcome.bytes_content += data.len() as u64;
    }
    outcome.findings.extend(words::zip(&table));
    outcome.tables.push(table);
    outcome.add(&hold.finish());
    Ok(())
}

/// Packs the first half of `data` as small entries and the rest as one.
fn pack(
    data: &[u8],
    method: Method,
    threads: usize,
    hold: &mut Option<&mut Recorder>,
) -> Result<(Vec<u8>, Duration)> {
    let start = Instant::now();
    let mut options = ArchiveOptions::default();
    options.threads = threads;
    let mut encoder = ArchiveEncoder::new(options).map_err(failed)?;
    let mut archive = Vec::new();
    let (small, large) = data.split_at(data.len() / 2);
    let parts = small.chunks(SMALL_BYTES).chain([large]);
    for (index, mut content) in parts.enumerate() {
        let mut options = EntryOptions::new(method);
        options.size_hint = Some(content.len() as u64);
        let name = format!("{index:06}");
        encoder.start_entry(&name, &options).map_err(failed)?;
        while !content.is_empty() {
            let taken = timed(hold, || encoder.push(content))?;
            content = &content[taken..];
        }
        timed(hold, || encoder.finish_entry())?;
        archive.extend_from_slice(encoder.output());
        encoder.consume(encoder.output().len());
    }
    timed(hold, || encoder.finish())?;
    archive.extend_from_slice(encoder.output());
    Ok((archive, start.elapsed()))
}

fn timed<T>(
    hold: &mut Option<&mut Recorder>,
    call: impl FnOnce() -> std::result::Result<T, Error>,
) -> Result<T> {
    let start = Instant::now();
    let result = call();
    if let Some(hold) = hold {
        hold.record_span(start, Instant::now());
    }
    result.map_err(failed)
}

/// Reads an archive back: whether it contains `data`, its entries, and the time.
fn read(archive: &[u8], data: &[u8]) -> Result<(bool, u64, Duration)> {
    let start = Instant::now();
    let reader = ArchiveReader::open_with(archive, &ReadOptions::strict()).map_err(failed)?;
    let mut scratch = Scratch::default();
    let mut content = Vec::with_capacity(data.len());
    for entry in reader.entries() {
        let entry = entry.map_err(failed)?;
        reader
            .extract(&entry, &mut scratch, &mut |piece: &[u8]| {
                content.extend_from_slice(piece);
                Ok::<_, Error>(())
            })
            .map_err(failed)?;
    }
    Ok((content == data, reader.len(), start.elapsed()))
}

fn failed(error: Error) -> Failure {
    Failure::new(format!("cannot pack generated data: {error}"))
        .help("please report this as a bug, with the command line")
}
