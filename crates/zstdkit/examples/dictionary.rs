//! What a dictionary costs when it is digested by each call, as most bindings do, and when it is
//! digested once: both in turns in one process, medians over the rounds. The records are about
//! 2 KB, the dictionary is trained on others of their kind.
//! `taskset -c 1 cargo run --release --features workload --example dictionary -- [ROUNDS]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use zstd_safe::{CCtx, DCtx};
use zstdkit::dictionary::{TrainOptions, train_best};
use zstdkit::workload::{Kind, generate};
use zstdkit::{Compressor, DecoderOptions, Decompressor, Dictionary, EncoderOptions};

const RECORD_BYTES: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(31), |text| text.parse())?;
    let data = generate(Kind::JsonLines, 1, 12 << 20);
    let samples: Vec<&[u8]> = data.chunks_exact(RECORD_BYTES).collect();
    let (shown, fresh) = samples.split_at(samples.len() - 200);
    let best = train_best(shown, &TrainOptions::default())?;
    println!(
        "best of its search: {} bytes, ratio {:.2} against {:.2} without",
        best.dictionary.bytes().len(),
        best.evaluation.total.ratio().unwrap_or(0.0),
        best.evaluation.total.plain_ratio().unwrap_or(0.0),
    );
    for level in [1, 3, 9] {
        let whole = zstdkit::dictionary::train(shown, 110 << 10)?;
        compress(&whole, fresh, level, rounds)?;
    }
    decompress(
        &zstdkit::dictionary::train(shown, 110 << 10)?,
        fresh,
        rounds,
    )?;
    Ok(())
}

fn compress(
    dictionary: &Dictionary,
    records: &[&[u8]],
    level: i32,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let options = EncoderOptions {
        level,
        checksum: false,
        dictionary: Some(dictionary.clone()),
        ..EncoderOptions::default()
    };
    let mut compressor = Compressor::new(&options)?;
    let mut raw = CCtx::create();
    let (mut frame, mut raw_frame) = (Vec::new(), Vec::with_capacity(2 * RECORD_BYTES));
    compare(
        &format!("compress at {level}, {} bytes", dictionary.bytes().len()),
        rounds,
        records,
        |record| {
            let bytes = dictionary.bytes();
            raw.compress_using_dict(&mut raw_frame, record, bytes, level)
                .map_err(|code| zstd_safe::get_error_name(code).into())
        },
        |record| Ok(compressor.compress_into(record, &mut frame)?),
    )
}

fn decompress(
    dictionary: &Dictionary,
    records: &[&[u8]],
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let options = EncoderOptions {
        dictionary: Some(dictionary.clone()),
        ..EncoderOptions::default()
    };
    let mut compressor = Compressor::new(&options)?;
    let frames: Vec<Vec<u8>> = records
        .iter()
        .map(|record| compressor.compress(record))
        .collect::<Result<_, _>>()?;
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let mut decompressor = Decompressor::new(&DecoderOptions {
        dictionaries: vec![dictionary.clone()],
        ..DecoderOptions::default()
    })?;
    let mut raw = DCtx::create();
    let (mut content, mut raw_content) = (Vec::new(), Vec::with_capacity(2 * RECORD_BYTES));
    compare(
        &format!("decompress, {} bytes", dictionary.bytes().len()),
        rounds,
        &frames,
        |frame| {
            raw.decompress_using_dict(&mut raw_content, frame, dictionary.bytes())
                .map_err(|code| zstd_safe::get_error_name(code).into())
        },
        |frame| Ok(decompressor.decompress_into(frame, &mut content)?),
    )
}

fn compare(
    what: &str,
    rounds: usize,
    inputs: &[&[u8]],
    mut each: impl FnMut(&[u8]) -> Result<usize, Box<dyn Error>>,
    mut once: impl FnMut(&[u8]) -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for round in 0..=rounds {
        let start = Instant::now();
        for input in inputs {
            std::hint::black_box(each(input)?);
        }
        let middle = Instant::now();
        for input in inputs {
            std::hint::black_box(once(input)?);
        }
        // The first round warms up.
        if round > 0 {
            times.push((middle - start, middle.elapsed()));
        }
    }
    let mut ratios: Vec<_> = times
        .iter()
        .map(|(each, once)| each.as_secs_f64() / once.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let microseconds = |of: fn(&(Duration, Duration)) -> Duration| {
        let mut times: Vec<_> = times.iter().map(of).collect();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6 / inputs.len() as f64
    };
    println!(
        "{what:30} {:8.2} us digested by each call, {:6.2} us digested once: {:.1}x ({:.1} to {:.1})",
        microseconds(|times| times.0),
        microseconds(|times| times.1),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    Ok(())
}
