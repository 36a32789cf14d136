//! What a dictionary costs when it is digested by each call, in a context of its own, and when it is
//! digested once: both in turns in one process, medians over the rounds. The dictionary is trained
//! on other records of the same kind. What is saved is the same for any record, so the ratio is that
//! of a digest to a record: the smaller the record, the larger.
//! `taskset -c 1 cargo run --release --features workload --example dictionary -- [ROUNDS]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use zstd_safe::{CCtx, CDict, DCtx, DDict};
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
    let whole = zstdkit::dictionary::train(shown, 110 << 10)?;
    for bytes in [100, 300, RECORD_BYTES] {
        let records: Vec<&[u8]> = fresh.iter().map(|record| &record[..bytes]).collect();
        println!("records of {bytes} bytes");
        for level in [1, 3, 9] {
            compress(&whole, &records, level, rounds)?;
        }
        decompress(&whole, &records, rounds)?;
    }
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
    let (mut frame, mut raw_frame) = (Vec::new(), Vec::with_capacity(2 * RECORD_BYTES));
    compare(
        &format!("compress at {level}"),
        rounds,
        records,
        |record| {
            let digest = CDict::create(dictionary.bytes(), level);
            CCtx::create()
                .compress_using_cdict(&mut raw_frame, record, &digest)
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
    let (mut content, mut raw_content) = (Vec::new(), Vec::with_capacity(2 * RECORD_BYTES));
    compare(
        "decompress",
        rounds,
        &frames,
        |frame| {
            let digest = DDict::create(dictionary.bytes());
            DCtx::create()
                .decompress_using_ddict(&mut raw_content, frame, &digest)
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
        "{what:16} {:8.2} us digested by each call, {:6.2} us digested once: {:.1}x ({:.1} to {:.1})",
        microseconds(|times| times.0),
        microseconds(|times| times.1),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    Ok(())
}
