//! The programs whose instructions `cargo xtask bench-gate` counts: one workload and a size on
//! the command line, everything that is not measured outside [`gate_region`], the answer checked.
//!
//! Nothing here reads a clock or a source of randomness: two runs execute the same instructions.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use betree::workload::Generator;
use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, SubscriptionId, Undefined};
use fixcore::Decoder as MessageDecoder;
use fixcore::workload::Sample;
use latency::percentile::{LADDER, percentiles};
use latency::report::LatencyName;
use latency::{BucketPolicy, Recorder, Spec};
use zipstream::deflate::{Compressor, Inflater};
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
        "zipstream/deflate-1-json" => deflate(Kind::JsonLines, 1, times),
        "zipstream/deflate-6-json" => deflate(Kind::JsonLines, 6, times),
        "zipstream/deflate-9-log" => deflate(Kind::Log, 9, times),
        "zipstream/inflate-json" => inflate(Kind::JsonLines, times),
        "zipstream/inflate-log" => inflate(Kind::Log, times),
        "fixcore/parse-execution" => parse(Sample::Execution, times),
        "fixcore/parse-market-data" => parse(Sample::MarketData, times),
        "betree/match-booleans" => search(betree::workload::Kind::Bool(64), 1_000, times),
        "betree/match-advertisements" => search(betree::workload::Kind::Ad, 5_000, times),
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

/// The content of a compressed stream that is one call.
const PIECE: usize = 256 << 10;

fn deflate(kind: Kind, level: i32, times: usize) -> Result<()> {
    let data = generate(kind, 1, PIECE);
    let mut compressor = Compressor::new(level);
    let mut output = Vec::with_capacity(2 * PIECE);
    gate_region(|| {
        for _ in 0..times {
            output.clear();
            compressor.compress(black_box(&data), 0, true, &mut output);
        }
    });
    let mut back = vec![0; PIECE];
    let read = Inflater::new().whole(&output, &mut back, PIECE)?;
    ensure!(read.produced == PIECE && back == data, "round trip");
    Ok(())
}

fn inflate(kind: Kind, times: usize) -> Result<()> {
    let data = generate(kind, 1, PIECE);
    let mut packed = Vec::new();
    Compressor::new(6).compress(&data, 0, true, &mut packed);
    let (mut inflater, mut output) = (Inflater::new(), vec![0; PIECE]);
    gate_region(|| -> Result<()> {
        for _ in 0..times {
            let read = inflater.whole(black_box(&packed), &mut output, PIECE)?;
            ensure!(read.produced == PIECE, "{} bytes", read.produced);
        }
        Ok(())
    })?;
    ensure!(output == data, "round trip");
    Ok(())
}

fn parse(sample: Sample, times: usize) -> Result<()> {
    let bytes = sample.bytes();
    let mut decoder = MessageDecoder::new();
    let fields = gate_region(|| -> Result<usize> {
        let mut fields = 0;
        for _ in 0..times {
            fields += decoder.parse(black_box(&bytes))?.fields().len();
        }
        Ok(fields)
    })?;
    let once = bytes.iter().filter(|byte| **byte == 1).count();
    ensure!(fields == times * once, "{fields} fields");
    Ok(())
}

/// Events matched against this many expressions, each event by a search of its own.
fn search(kind: betree::workload::Kind, expressions: u64, times: usize) -> Result<()> {
    let mut generator = Generator::new(kind, 1);
    let mut tree = BeTree::new(Domain::parse(&generator.domains())?, Undefined::False);
    for id in 0..expressions {
        let expression = Expression::parse(generator.expression())?;
        tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
    }
    let snapshot = tree.snapshot();
    let mut events = Vec::new();
    for _ in 0..times {
        events.push(snapshot.event(generator.event())?);
    }
    let mut buffers = Buffers::new();
    let found = gate_region(|| -> Result<u64> {
        let mut found = 0;
        for event in &events {
            let mut search = snapshot.search_iterator(event, &mut buffers)?;
            search.step(Budget::UNLIMITED);
            found += search.matched();
        }
        Ok(found)
    })?;
    ensure!(found > 0, "nothing matches");
    Ok(())
}
