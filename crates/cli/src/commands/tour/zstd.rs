//! The zstd part of the tour: six kinds of data, four levels, a streaming round trip in calls of at most
//! one block, and what a reused context saves.

use std::time::{Duration, Instant};

use bench::paired;
use latency::compare::Names;
use latency::report::{Cell, Input, LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::Outcome;
use twox_hash::XxHash64;
use zstdkit::workload::{self, Kind};
use zstdkit::{Compressor, Decoder, DecoderOptions, Encoder, EncoderOptions, Operation, State};

use crate::commands::tour::stage::{Stage, failed};
use crate::commands::tour::words;
use crate::failure::Result;
use crate::term::signal;
use bench::Checks;

/// Smallest size of a kind: below it, a level would be only a few calls.
pub(super) const BYTES_MIN: usize = 1 << 20;
/// Largest size of a kind.
pub(super) const BYTES_MAX: usize = 1 << 30;
/// The level that only gets the beginning of each kind: at 3 MB/s it would take most of the tour.
const SLOW_LEVEL: i32 = 19;
/// It gets one part of this many.
const SLOW_SHARE: usize = 8;
/// Input of one call: the largest block.
const CHUNK_BYTES: usize = 128 * 1024;
/// Levels shown, fastest first.
const LEVELS: [i32; 4] = [1, 3, 9, 19];
/// Buckets in the comparison of contexts, and operations per bucket.
const PAIRS: u32 = 60;
const PAIR_OPS: u64 = 100;

const KINDS: [(&str, Kind); 6] = [
    ("json", Kind::JsonLines),
    ("log", Kind::Log),
    ("html", Kind::Html),
    ("source", Kind::Source),
    ("binary", Kind::Binary),
    ("uuid", Kind::UuidText),
];

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let recorder = |series: &str, operation: &str| {
        let spec = Spec::new(LatencyName::Hold, operation).series(series);
        Recorder::new(stage.session.spec(spec), stage.session.run_start())
    };
    let mut holds = LEVELS.map(|level| recorder(&level_name(level), "128 KiB call"));
    let mut decode_hold = recorder("decompress", "block call");
    let mut table = Table::new("zstd", &COLUMNS);
    for (name, kind) in KINDS {
        let data = workload::generate(kind, stage.seed, stage.bytes);
        outcome.workload.inputs.push(Input {
            path: format!("generated:{name}"),
            bytes: data.len() as u64,
            xxh64: Some(format!("{:016x}", XxHash64::oneshot(0, &data))),
        });
        outcome.workload.inputs_total += 1;
        for (level, hold) in LEVELS.into_iter().zip(&mut holds) {
            if signal::interrupted() {
                return Ok(());
            }
            let data = if level == SLOW_LEVEL {
                &data[..data.len() / SLOW_SHARE]
            } else {
                &data[..]
            };
            let (frame, compress) = encode(data, level, hold, name)?;
            let (right, decompress) = decode(&frame, data, &mut decode_hold, name)?;
            checks.that(right);
            let rate = |spent: Duration| data.len() as f64 / spent.as_secs_f64();
            table.rows.push(vec![
                name.into(),
                Cell::Integer(level.into()),
                (data.len() as u64).into(),
                (data.len() as f64 / frame.len() as f64).into(),
                rate(compress).into(),
                rate(decompress).into(),
            ]);
            outcome.bytes_in += data.len() as u64;
            outcome.bytes_out += frame.len() as u64;
            outcome.bytes_content += data.len() as u64;
        }
    }
    outcome.findings.extend(words::zstd(&table));
    outcome.tables.push(table);
    for hold in holds {
        outcome.add(&hold.finish());
    }
    outcome.add(&decode_hold.finish());
    let found = contexts(stage, checks)?;
    outcome.findings.extend(words::contexts(&found));
    outcome.comparisons.push(found);
    Ok(())
}

/// The name of a level's row, which says if it did not get all data.
fn level_name(level: i32) -> String {
    match level {
        SLOW_LEVEL => format!("compress level {level}, first 1/{SLOW_SHARE} of the data"),
        _ => format!("compress level {level}"),
    }
}

const COLUMNS: [(&str, Unit); 6] = [
    ("data", Unit::Text),
    ("level", Unit::Count),
    ("size_bytes", Unit::Bytes),
    ("ratio", Unit::Ratio),
    ("compress_bytes_per_s", Unit::BytesPerSecond),
    ("decompress_bytes_per_s", Unit::BytesPerSecond),
];

/// Compresses `data` as one frame, in calls of one chunk; only the calls are timed.
fn encode(data: &[u8], level: i32, hold: &mut Recorder, name: &str) -> Result<(Vec<u8>, Duration)> {
    let options = EncoderOptions::default().with_level(level);
    let mut encoder = Encoder::new(&options).map_err(failed)?;
    encoder.begin(Some(data.len() as u64)).map_err(failed)?;
    let mut frame = Vec::new();
    let mut room = vec![0; zstdkit::compress_bound(CHUNK_BYTES)];
    let mut spent = Duration::ZERO;
    let count = data.len().div_ceil(CHUNK_BYTES);
    for (index, mut chunk) in data.chunks(CHUNK_BYTES).enumerate() {
        let end = index + 1 == count;
        let operation = if end {
            Operation::End
        } else {
            Operation::Continue
        };
        loop {
            let start = Instant::now();
            let step = encoder.push(chunk, &mut room, operation).map_err(failed)?;
            let finish = Instant::now();
            spent += finish - start;
            let what = || format!("{name} at level {level}, byte {}", index * CHUNK_BYTES);
            hold.record_span_what(start, finish, what);
            frame.extend_from_slice(&room[..step.produced]);
            chunk = &chunk[step.consumed..];
            if if end {
                step.state == State::Done
            } else {
                chunk.is_empty()
            } {
                break;
            }
        }
    }
    Ok((frame, spent))
}

/// Decompresses `frame` block by block and compares every block with `data`, untimed.
fn decode(frame: &[u8], data: &[u8], hold: &mut Recorder, name: &str) -> Result<(bool, Duration)> {
    let mut decoder = Decoder::new(&DecoderOptions::default()).map_err(failed)?;
    let mut room = vec![0; CHUNK_BYTES];
    let mut spent = Duration::ZERO;
    let (mut input, mut at, mut right) = (frame, 0, true);
    loop {
        let start = Instant::now();
        let step = decoder.push(input, &mut room).map_err(failed)?;
        let finish = Instant::now();
        spent += finish - start;
        hold.record_span_what(start, finish, || {
            format!("{name}, byte {at} of the content")
        });
        input = &input[step.consumed..];
        let expected = data.get(at..at + step.produced);
        right &= expected == Some(&room[..step.produced]);
        at += step.produced;
        if input.is_empty() && step.state != State::MoreOutput {
            break;
        }
    }
    decoder.finish().map_err(failed)?;
    Ok((right && at == data.len(), spent))
}

/// 2 KiB messages with a fresh context each, compared with a reused context, bucket by bucket.
fn contexts(stage: &Stage<'_>, checks: &mut Checks) -> Result<latency::report::Comparison> {
    let data = workload::generate(Kind::JsonLines, stage.seed, 2048 * 64);
    let messages: Vec<&[u8]> = data.chunks_exact(2048).collect();
    let options = EncoderOptions::default().with_level(1);
    let mut room = vec![0; zstdkit::compress_bound(2048)];
    let mut reused = Compressor::new(&options).map_err(failed)?;
    let mut bucket = |fresh: bool, round: usize| -> Result<f64> {
        let start = Instant::now();
        for index in 0..PAIR_OPS as usize {
            let message = messages[(round + index) % messages.len()];
            let size = if fresh {
                let mut compressor = Compressor::new(&options).map_err(failed)?;
                compressor.compress_to_slice(message, &mut room)
            } else {
                reused.compress_to_slice(message, &mut room)
            };
            std::hint::black_box(size.map_err(failed)?);
        }
        Ok(start.elapsed().as_nanos() as f64)
    };
    bucket(true, 0)?;
    bucket(false, 0)?;
    let measured = paired(3, PAIRS, stage.seed, |turn| {
        bucket(turn.side != 1, turn.round as usize).map(Some)
    })?;
    let size = reused
        .compress_to_slice(messages[0], &mut room)
        .map_err(failed)?;
    let back = zstdkit::decompress(&room[..size], &DecoderOptions::default()).map_err(failed)?;
    checks.that(back == messages[0]);
    let names = Names {
        row: "2 KiB json, level 1",
        baseline: "fresh context each",
        target: "one reused context",
    };
    Ok(measured.compare(names, 1, PAIR_OPS))
}
