//! Measures how long a decision takes, how long a calibration takes, and how much ratio small blocks cost.
//! `taskset -c 1 cargo run --release --features workload --example schedule`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use zstdkit::schedule::{Calibration, CostModel};
use zstdkit::workload::{Kind, generate};
use zstdkit::{Compressor, Recipe};

/// Decisions between two clock readings, and the number of such batches.
const DECISIONS: usize = 1000;
const BATCHES: usize = 501;
/// Calibrations, each of a new model.
const CALIBRATIONS: usize = 3;
/// Rounds over the block sizes.
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let model = calibrations()?;
    decisions(&model);
    for recipe in [Recipe::Text, Recipe::StructuredData, Recipe::Binary] {
        let kind = match recipe {
            Recipe::Text => Kind::Html,
            Recipe::Binary => Kind::Binary,
            _ => Kind::JsonLines,
        };
        for bytes in [128 << 10, 512 << 10, 4 << 20] {
            blocks(recipe, &generate(kind, 1, bytes))?;
        }
    }
    Ok(())
}

fn calibrations() -> Result<CostModel, zstdkit::Error> {
    let mut model = CostModel::default();
    for _ in 0..CALIBRATIONS {
        model = CostModel::default();
        let start = Instant::now();
        let complete = Calibration::default().run(&model, || start.elapsed())?;
        println!(
            "calibration: {} ms, complete: {complete}",
            start.elapsed().as_millis()
        );
    }
    Ok(model)
}

/// The median over the batches, for every recipe and size alternately.
fn decisions(model: &CostModel) {
    let mut calls = Vec::new();
    for recipe in Recipe::ALL.into_iter().filter(|&own| own != Recipe::Auto) {
        for bytes in [2 << 10, 16 << 10, 128 << 10, 512 << 10, 4 << 20] {
            calls.push((recipe.options(Some(bytes as u64)), bytes));
        }
    }
    let mut batches: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for (options, bytes) in calls.iter().cycle().take(DECISIONS) {
                black_box(model.decide(black_box(options), black_box(*bytes)));
            }
            start.elapsed().as_nanos() as f64 / DECISIONS as f64
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    println!(
        "decide: median {:.1} ns, least {:.1} ns, of {BATCHES} batches of {DECISIONS} over {} kinds of call",
        batches[BATCHES / 2],
        batches[0],
        calls.len()
    );
}

/// Ratio, speed and time per block, by block size.
fn blocks(recipe: Recipe, content: &[u8]) -> Result<(), zstdkit::Error> {
    let own = recipe.options(Some(content.len() as u64));
    let mut frame = Vec::new();
    let mut lanes = Vec::new();
    for block in [128_u32 << 10, 16 << 10, 8 << 10, 4 << 10] {
        let options = own.clone().with_block_bytes_max(block);
        lanes.push((block, Compressor::new(&options)?, f64::MAX, 0));
    }
    for _ in 0..ROUNDS {
        for (_, compressor, best, bytes) in &mut lanes {
            let start = Instant::now();
            *bytes = compressor.compress_into(content, &mut frame)?;
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let whole = lanes.first().map_or(0, |lane| lane.3) as f64;
    for (block, _, best, bytes) in lanes {
        let blocks = content.len() as f64 / f64::from(block);
        println!(
            "{recipe} {:5} KiB in blocks of {:3} KiB: {:+.2} % bytes, {:.1} MB/s, {:.0} µs per block",
            content.len() >> 10,
            block >> 10,
            (bytes as f64 / whole - 1.0) * 100.0,
            content.len() as f64 / best / 1e6,
            best * 1e6 / blocks.max(1.0),
        );
    }
    Ok(())
}
