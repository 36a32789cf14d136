//! What a dictionary of 110 KB adds to the time of a call that compresses or decompresses one record.
//! Compares three ways, alternately in one process, and reports medians over the rounds:
//!
//! - *loaded*: one context, into which each call loads the dictionary, as in programs that pass the bytes
//!   of a dictionary with each call.
//! - *digested*: each call makes its own digest and context.
//! - *once*: zstdkit, with a dictionary that is digested once.
//!
//! The saving is the same for every record: the cost of a digest. The smaller the record, and the more of
//! it is in the dictionary, the larger the ratio. *New* records were held out from the training; half of
//! each *seen* record is in one of its samples.
//!
//! `taskset -c 1 cargo run --release --features workload --example dictionary -- [--rounds N]
//! [--json FILE] [FILE]`. Without FILE the records are generated.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict};
use zstdkit::dictionary::train;
use zstdkit::workload::{Kind, generate};
use zstdkit::{Compressor, DecoderOptions, Decompressor, Dictionary, EncoderOptions};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const DICTIONARY_BYTES: usize = 110 << 10;
/// Bytes of a sample, and the distance between the starts of two samples.
const SAMPLE_BYTES: usize = 1024;
const STRIDE_BYTES: usize = 7000;
/// The most training samples, and the records of a round.
const SAMPLES_MAX: usize = 4000;
const RECORDS: usize = 200;
const SIZES: [usize; 4] = [100, 300, 1024, 2048];
const LEVELS: [i32; 3] = [1, 3, 9];
const RECORD_BYTES_MAX: usize = 2048;

fn main() -> Result<()> {
    let (mut rounds, mut json_file, mut file) = (31, None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().ok_or("--rounds N")?.parse()?,
            "--json" => json_file = Some(words.next().ok_or("--json FILE")?),
            _ => file = Some(word),
        }
    }
    let data = match &file {
        Some(path) => std::fs::read(path)?,
        None => generate(Kind::JsonLines, 1, 30 << 20),
    };
    let bench = Bench::new(&data, rounds)?;
    let rows = bench.rows()?;
    let about = about(file.is_some(), &bench, rounds);
    let text = markdown(&about, &rows)?;
    print!("{text}");
    if let Some(path) = json_file {
        std::fs::write(path, json(&about, &rows)?)?;
    }
    Ok(())
}

/// One kind of call on one kind of record: the median time of each way in microseconds, and the ratios
/// of the others to the last, with the minimum and maximum over all rounds.
struct Row {
    call: String,
    records: &'static str,
    bytes: usize,
    times_us: [f64; 3],
    ratios: [[f64; 3]; 2],
}

struct Bench<'a> {
    data: &'a [u8],
    dictionary: Dictionary,
    /// Samples that the dictionary was trained on.
    samples: usize,
    rounds: usize,
}

impl<'a> Bench<'a> {
    fn new(data: &'a [u8], rounds: usize) -> Result<Self> {
        let all = data.len().saturating_sub(RECORD_BYTES_MAX) / STRIDE_BYTES;
        let samples = SAMPLES_MAX.min(all.saturating_sub(RECORDS));
        if samples < RECORDS {
            return Err("too little data: 3 MB at least".into());
        }
        let shown: Vec<&[u8]> = (0..samples)
            .map(|nth| at(data, nth, 0, SAMPLE_BYTES))
            .collect();
        Ok(Self {
            data,
            dictionary: train(&shown, DICTIONARY_BYTES)?,
            samples,
            rounds,
        })
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let kinds = SIZES.map(|bytes| ("new", bytes));
        for (records, bytes) in kinds.into_iter().chain([("seen", SAMPLE_BYTES)]) {
            let (first, offset) = match records {
                "new" => (self.samples, 0),
                _ => (0, SAMPLE_BYTES / 2),
            };
            let contents: Vec<&[u8]> = (first..first + RECORDS)
                .map(|nth| at(self.data, nth, offset, bytes))
                .collect();
            for level in LEVELS {
                let (times_us, ratios) = self.compress(&contents, level)?;
                rows.push(Row {
                    call: format!("compress at {level}"),
                    records,
                    bytes,
                    times_us,
                    ratios,
                });
            }
            let (times_us, ratios) = self.decompress(&contents)?;
            rows.push(Row {
                call: "decompress".to_owned(),
                records,
                bytes,
                times_us,
                ratios,
            });
        }
        Ok(rows)
    }

    fn compress(&self, records: &[&[u8]], level: i32) -> Result<([f64; 3], [[f64; 3]; 2])> {
        let dictionary = self.dictionary.bytes();
        let mut kept = CCtx::create();
        kept.set_parameter(CParameter::CompressionLevel(level))
            .map_err(named)?;
        let mut compressor = Compressor::new(
            &EncoderOptions::default()
                .with_level(level)
                .with_checksum(false)
                .with_dictionary(self.dictionary.clone()),
        )?;
        let mut decompressor = self.decompressor()?;
        compare(
            self.rounds,
            records,
            [
                &mut |record, frame| {
                    kept.load_dictionary(dictionary).map_err(named)?;
                    Ok(kept.compress2(frame, record).map_err(named)?)
                },
                &mut |record, frame| {
                    let digest = CDict::create(dictionary, level);
                    let mut context = CCtx::create();
                    Ok(context
                        .compress_using_cdict(frame, record, &digest)
                        .map_err(named)?)
                },
                &mut |record, frame| Ok(compressor.compress_into(record, frame)?),
            ],
            |record, frame| Ok(decompressor.decompress(frame)? == record),
        )
    }

    fn decompress(&self, records: &[&[u8]]) -> Result<([f64; 3], [[f64; 3]; 2])> {
        let dictionary = self.dictionary.bytes();
        let mut compressor =
            Compressor::new(&EncoderOptions::default().with_dictionary(self.dictionary.clone()))?;
        let frames: std::result::Result<Vec<Vec<u8>>, _> = records
            .iter()
            .map(|record| compressor.compress(record))
            .collect();
        let frames = frames?;
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let mut kept = DCtx::create();
        let mut decompressor = self.decompressor()?;
        let mut nth = 0;
        compare(
            self.rounds,
            &frames,
            [
                &mut |frame, content| {
                    kept.load_dictionary(dictionary).map_err(named)?;
                    Ok(kept.decompress(content, frame).map_err(named)?)
                },
                &mut |frame, content| {
                    let digest = DDict::create(dictionary);
                    let mut context = DCtx::create();
                    Ok(context
                        .decompress_using_ddict(content, frame, &digest)
                        .map_err(named)?)
                },
                &mut |frame, content| Ok(decompressor.decompress_into(frame, content)?),
            ],
            |_, content| {
                // Each frame is decompressed in all three ways before the next one.
                let record = records[nth / 3];
                nth += 1;
                Ok(content == record)
            },
        )
    }

    fn decompressor(&self) -> Result<Decompressor> {
        Ok(Decompressor::new(
            &DecoderOptions::default().with_dictionaries([self.dictionary.clone()]),
        )?)
    }
}

fn at(data: &[u8], nth: usize, offset: usize, bytes: usize) -> &[u8] {
    &data[nth * STRIDE_BYTES + offset..][..bytes]
}

fn named(code: usize) -> String {
    zstd_safe::get_error_name(code).to_owned()
}

type Way<'a> = &'a mut dyn FnMut(&[u8], &mut Vec<u8>) -> Result<usize>;

/// Compares the results, then runs the three ways alternately; each round starts with a different one.
fn compare(
    rounds: usize,
    inputs: &[&[u8]],
    mut ways: [Way<'_>; 3],
    mut is_right: impl FnMut(&[u8], &[u8]) -> Result<bool>,
) -> Result<([f64; 3], [[f64; 3]; 2])> {
    let mut output = Vec::with_capacity(2 * RECORD_BYTES_MAX);
    for input in inputs {
        for way in &mut ways {
            way(input, &mut output)?;
            if !is_right(input, &output)? {
                return Err("a wrong answer".into());
            }
        }
    }
    let mut times = Vec::new();
    for round in 0..=rounds {
        let mut spent = [0.0; 3];
        for turn in 0..3 {
            let nth = (round + turn) % 3;
            let start = Instant::now();
            for input in inputs {
                std::hint::black_box(ways[nth](input, &mut output)?);
            }
            spent[nth] = start.elapsed().as_secs_f64() * 1e6 / inputs.len() as f64;
        }
        // The first round warms up.
        if round > 0 {
            times.push(spent);
        }
    }
    let sorted = |of: &dyn Fn(&[f64; 3]) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        [
            values[values.len() / 2],
            values[0],
            values[values.len() - 1],
        ]
    };
    let median = |nth: usize| sorted(&|spent| spent[nth])[0];
    let ratio = |nth: usize| sorted(&|spent| spent[nth] / spent[2]);
    Ok(([median(0), median(1), median(2)], [ratio(0), ratio(1)]))
}

/// The measurements, one per line.
fn about(own: bool, bench: &Bench<'_>, rounds: usize) -> Vec<String> {
    let data = match own {
        true => "JSON lines of a file",
        false => "JSON lines made by zstdkit's generator, seed 1",
    };
    vec![
        format!("libzstd {}", zstdkit::version()),
        format!(
            "{data}; a dictionary of {} bytes out of {} samples of {SAMPLE_BYTES}; {RECORDS} records \
             a round, {rounds} rounds",
            bench.dictionary.bytes().len(),
            bench.samples
        ),
    ]
}

fn markdown(about: &[String], rows: &[Row]) -> Result<String> {
    let mut text = "# A dictionary of 110 KB, by the call\n\n".to_owned();
    for line in about {
        writeln!(text, "- {line}")?;
    }
    text += "\nMicroseconds a call, medians over the rounds in turns: *loaded* loads the dictionary into a \
        kept context\nfor each call, *digested* makes a digest and a context for each call, *once* is zstdkit \
        with a dictionary\ndigested once. Ratios are medians over the rounds, with the least and the most. \
        *New* records were kept\nfrom the training; *seen* ones lie half in one of its samples. Every answer \
        was compared before the timing.\n\n\
        | call | records | bytes | loaded | digested | once | loaded / once | digested / once |\n\
        |---|---|---:|---:|---:|---:|---:|---:|\n";
    for row in rows {
        let [loaded, digested, once] = row.times_us;
        write!(
            text,
            "| {} | {} | {} | {loaded:.2} | {digested:.2} | {once:.2} |",
            row.call, row.records, row.bytes
        )?;
        for [median, least, most] in row.ratios {
            write!(text, " {median:.1}x ({least:.1}–{most:.1}) |")?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn json(about: &[String], rows: &[Row]) -> Result<String> {
    let mut text = format!("{{\"about\":{about:?},\"rows\":[");
    for (nth, row) in rows.iter().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        write!(
            text,
            "{comma}\n{{\"call\":{:?},\"records\":{:?},\"bytes\":{},\"loaded_digested_once_us\":{:.3?},\
             \"loaded_over_once\":{:.2?},\"digested_over_once\":{:.2?}}}",
            row.call, row.records, row.bytes, row.times_us, row.ratios[0], row.ratios[1]
        )?;
    }
    text += "\n]}\n";
    Ok(text)
}
