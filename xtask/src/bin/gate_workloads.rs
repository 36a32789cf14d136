//! The programs whose instructions `cargo xtask bench-gate` counts: one workload and a size on
//! the command line, everything that is not measured outside [`gate_region`], the answer checked.
//!
//! Nothing here reads a clock or a source of randomness: two runs execute the same instructions.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use latency::percentile::{LADDER, percentiles};
use latency::report::LatencyName;
use latency::{BucketPolicy, Recorder, Spec};
use zstdkit::workload::{Kind, generate};
use zstdkit::{Decoder, DecoderOptions, Encoder, EncoderOptions, Operation, State};

const MIB: usize = 1 << 20;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let name = args.next().context("which workload?")?;
    let size: u64 = args.next().context("which size?")?.parse()?;
    let times = usize::try_from(size)?;
    match name.as_str() {
        "latency/record_span" => record_span(times),
        "latency/percentiles" => extract_percentiles(times),
        "zstdkit/encode-3-json" => encode(Kind::JsonLines, times),
        "zstdkit/encode-3-log" => encode(Kind::Log, times),
        "zstdkit/decode-json" => decode(Kind::JsonLines, times),
        "zstdkit/decode-log" => decode(Kind::Log, times),
        "zstdkit/scan-frames" => scan_frames(times),
        _ => bail!("no workload is called '{name}'"),
    }
}

/// The one function whose instructions are collected.
#[inline(never)]
fn gate_region<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

/// A value spread over several orders of magnitude, the same in every run.
fn spread(index: usize) -> u64 {
    let mixed = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    1_000 + (mixed & 0xff) * (1 << (mixed >> 8 & 0xf))
}

fn recorder(start: Instant) -> Recorder {
    let spec = Spec::new(LatencyName::Service, "operation")
        .buckets(BucketPolicy::Fixed(1_000))
        .intervals(None);
    Recorder::new(spec, start)
}

fn record_span(times: usize) -> Result<()> {
    let origin = Instant::now();
    let spans: Vec<(Instant, Instant)> = (0..times)
        .map(|index| {
            let start = origin + Duration::from_micros(index as u64);
            (start, start + Duration::from_nanos(spread(index)))
        })
        .collect();
    let mut recorder = recorder(origin);
    gate_region(|| {
        for (start, end) in &spans {
            black_box(recorder.record_span(*start, *end));
        }
    });
    ensure!(
        recorder.len() == times as u64,
        "{} of {times} recorded",
        recorder.len()
    );
    Ok(())
}

fn extract_percentiles(times: usize) -> Result<()> {
    let origin = Instant::now();
    let mut recorder = recorder(origin);
    for index in 0..100_000 {
        recorder.record_ns(spread(index));
    }
    let recording = recorder.finish();
    let histogram = recording.histogram();
    let rows = gate_region(|| {
        let mut rows = 0;
        for _ in 0..times {
            let ladder = percentiles(black_box(histogram), 0, latency::report::Timing::Actual);
            rows += ladder.iter().filter(|row| row.value_ns.is_some()).count();
        }
        rows
    });
    ensure!(rows == times * LADDER.len(), "{rows} percentiles earned");
    Ok(())
}

/// Streams `data` through an encoder as one frame, in the pieces that a file reader would use.
fn stream(encoder: &mut Encoder, data: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let mut block = vec![0; 128 << 10];
    encoder.begin(Some(data.len() as u64))?;
    let mut rest = data;
    loop {
        let step = encoder.push(rest, &mut block, Operation::End)?;
        rest = &rest[step.consumed..];
        output.extend_from_slice(&block[..step.produced]);
        if rest.is_empty() && step.state == State::Done {
            return Ok(());
        }
    }
}

fn encode(kind: Kind, times: usize) -> Result<()> {
    let data = generate(kind, 1, MIB);
    let mut encoder = Encoder::new(&EncoderOptions::default())?;
    let mut output = Vec::with_capacity(2 * MIB);
    gate_region(|| -> Result<()> {
        for _ in 0..times {
            output.clear();
            stream(&mut encoder, black_box(&data), &mut output)?;
        }
        Ok(())
    })?;
    ensure!(
        zstdkit::decompress(&output, &DecoderOptions::default())? == data,
        "round trip"
    );
    Ok(())
}

fn decode(kind: Kind, times: usize) -> Result<()> {
    let data = generate(kind, 1, MIB);
    let packed = zstdkit::compress(&data, &EncoderOptions::default())?;
    let mut decoder = Decoder::new(&DecoderOptions::default())?;
    let mut output = vec![0; MIB];
    gate_region(|| -> Result<()> {
        for _ in 0..times {
            decoder.reset();
            let (mut consumed, mut produced) = (0, 0);
            while consumed < packed.len() || produced < output.len() {
                let step = decoder.push(&packed[consumed..], &mut output[produced..])?;
                consumed += step.consumed;
                produced += step.produced;
                ensure!(step.consumed + step.produced > 0, "stuck at {consumed}");
            }
        }
        Ok(())
    })?;
    ensure!(output == data, "round trip");
    Ok(())
}

fn scan_frames(times: usize) -> Result<()> {
    let mut stream = Vec::new();
    for seed in 0..256 {
        let data = generate(Kind::JsonLines, seed, 4 << 10);
        stream.extend(zstdkit::compress(&data, &EncoderOptions::default())?);
    }
    let frames = gate_region(|| -> Result<usize> {
        let mut frames = 0;
        for _ in 0..times {
            frames += zstdkit::frame::list(black_box(&stream))?.len();
        }
        Ok(frames)
    })?;
    ensure!(frames == times * 256, "{frames} frames found");
    Ok(())
}
