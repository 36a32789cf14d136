//! Entries of ZIP archives, by level of deflate and size: whole entries, and the calls that one is pushed in.

use latency::report::{Table, Unit};
use report::Outcome;
use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, EntryOptions, Error as ZipError, Method,
    ReadOptions, Scratch,
};

use super::answer::{Cell, answer, growth};
use super::data::{Data, piece};
use super::plan::Plan;
use super::times::{Call, measure};
use crate::{Checks, Context, Error};

/// Content of a call.
const CALL_BYTES: usize = 16 << 10;

const COLUMNS: [(&str, Unit); 8] = [
    ("level", Unit::Text),
    ("size_bytes", Unit::Bytes),
    ("n", Unit::Count),
    ("p50_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("call_p99_ns", Unit::Nanoseconds),
    ("verdict", Unit::Text),
    ("ratio", Unit::Ratio),
];

/// Adds the table and the sentences to the outcome.
pub(crate) fn part(
    plan: &Plan,
    data: &Data,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    if plan.deflate_levels.is_empty() {
        return Ok(());
    }
    let mut table = Table::new("deflate", &COLUMNS);
    for &level in &plan.deflate_levels {
        let mut medians = Vec::new();
        let label = format!("deflate level {level}");
        for &bytes in &plan.sizes {
            if context.watch.is_stopped() {
                break;
            }
            let content = data.any();
            let bytes = bytes.min(content.len());
            let whole = measure(plan.cell, context.watch, |nth, times| {
                let call = Call::start();
                let archive = archive(piece(content, nth, bytes), level, |_| {})?;
                times.add(call.took());
                std::hint::black_box(archive);
                Ok(())
            })?;
            let calls = measure(plan.cell, context.watch, |nth, times| {
                archive(piece(content, nth, bytes), level, |call| times.add(call))?;
                Ok(())
            })?;
            let first = piece(content, 0, bytes);
            let packed = archive(first, level, |_| {})?;
            checks.that(reads_back(&packed, first)?);
            let several = bytes > CALL_BYTES;
            let cell = Cell {
                what: &format!("at {label}"),
                bytes: bytes as u64,
                whole: &whole,
                slices: several.then_some(("calls of 16 KiB", &calls)),
            };
            outcome.findings.push(cell.sentence(plan.threshold));
            medians.extend(whole.p50_ns().map(|ns| (bytes as u64, ns)));
            table.rows.push(vec![
                label.as_str().into(),
                (bytes as u64).into(),
                whole.n().into(),
                whole.p50_ns().into(),
                whole.p99_ns().into(),
                calls.p99_ns().into(),
                answer(plan.threshold, &whole, several.then_some(&calls))
                    .name()
                    .into(),
                (bytes as f64 / packed.len() as f64).into(),
            ]);
        }
        outcome.findings.extend(growth(&label, &medians));
    }
    outcome.tables.push(table);
    Ok(())
}

/// An archive of one entry; each call that takes content, or ends the entry, is timed.
fn archive(
    content: &[u8],
    level: i32,
    mut timed: impl FnMut(std::time::Duration),
) -> Result<Vec<u8>, Error> {
    let mut options = ArchiveOptions::default();
    options.threads = 0;
    let mut encoder = ArchiveEncoder::new(options).map_err(failed)?;
    let mut entry = EntryOptions::new(Method::Deflate);
    entry.level = Some(level);
    entry.size_hint = Some(content.len() as u64);
    encoder.start_entry("content", &entry).map_err(failed)?;
    let mut archive = Vec::new();
    for mut call in content.chunks(CALL_BYTES) {
        while !call.is_empty() {
            let timer = Call::start();
            let taken = encoder.push(call);
            timed(timer.took());
            call = &call[taken.map_err(failed)?..];
            archive.extend_from_slice(encoder.output());
            encoder.consume(encoder.output().len());
        }
    }
    let timer = Call::start();
    let ended = encoder.finish_entry();
    timed(timer.took());
    ended.map_err(failed)?;
    encoder.finish().map_err(failed)?;
    archive.extend_from_slice(encoder.output());
    Ok(archive)
}

fn reads_back(archive: &[u8], content: &[u8]) -> Result<bool, Error> {
    let reader = ArchiveReader::open_with(archive, &ReadOptions::strict()).map_err(failed)?;
    let mut scratch = Scratch::default();
    let mut back = Vec::with_capacity(content.len());
    for entry in reader.entries() {
        let entry = entry.map_err(failed)?;
        reader
            .extract(&entry, &mut scratch, &mut |piece: &[u8]| {
                back.extend_from_slice(piece);
                Ok::<_, ZipError>(())
            })
            .map_err(failed)?;
    }
    Ok(back == content)
}

fn failed(error: ZipError) -> Error {
    Error::new(format!("cannot pack: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_pushed_in_calls_and_reads_back() {
        for bytes in [0, 1, CALL_BYTES, CALL_BYTES + 1, 100_000] {
            let content: Vec<u8> = (0..bytes).map(|at| (at / 7 % 251) as u8).collect();
            let mut calls = 0;
            let packed = archive(&content, 6, |_| calls += 1).expect("packed");
            assert!(reads_back(&packed, &content).expect("read"), "{bytes}");
            // The last one ends the entry.
            assert!(calls > bytes / CALL_BYTES, "{bytes}: {calls}");
        }
    }
}
