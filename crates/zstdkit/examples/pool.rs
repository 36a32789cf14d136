//! The time of a call with a context that is kept, one from a pool, and a new one, alternately in one
//! process. Reports medians over the rounds.
//! `taskset -c 1 cargo run --release --features workload --example pool -- [ROUNDS]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use zstdkit::workload::{Kind, generate};
use zstdkit::{Compressor, DecoderOptions, Decompressor, EncoderOptions, Pool};

/// Calls between two readings of the clock.
const CALLS: u32 = 500;

type Call<'a> = Box<dyn FnMut() -> Result<usize, zstdkit::Error> + 'a>;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(101), |text| text.parse())?;
    println!(
        "{:22} {:>9} {:>9} {:>9} {:>9}",
        "ns per call", "kept", "pooled", "extra", "new"
    );
    let pool = Pool::default();
    for level in [1, 3] {
        for bytes in [300, 2000, 20_000] {
            let content = generate(Kind::JsonLines, 1, bytes);
            compress(&pool, level, &content, rounds)?;
        }
    }
    for bytes in [300, 2000, 20_000] {
        let content = generate(Kind::JsonLines, 1, bytes);
        decompress(&pool, &content, rounds)?;
    }
    println!("{:?}", pool.stats());
    Ok(())
}

fn compress(pool: &Pool, level: i32, content: &[u8], rounds: usize) -> Result<(), zstdkit::Error> {
    let options = EncoderOptions::default().with_level(level);
    let size = Some(content.len() as u64);
    let mut at_hand = Compressor::new(&options)?;
    let (mut one, mut two, mut three) = (Vec::new(), Vec::new(), Vec::new());
    compare(
        &format!("compress {} at {level}", content.len()),
        rounds,
        [
            Box::new(|| at_hand.compress_into(content, &mut one)),
            Box::new(|| {
                let mut pooled = pool.compressor(&options, size)?;
                pooled.compress_into(content, &mut two)
            }),
            Box::new(|| Compressor::new(&options)?.compress_into(content, &mut three)),
        ],
    )
}

fn decompress(pool: &Pool, content: &[u8], rounds: usize) -> Result<(), zstdkit::Error> {
    let options = DecoderOptions::default();
    let frame = zstdkit::compress(content, &EncoderOptions::default())?;
    let mut at_hand = Decompressor::new(&options)?;
    let (mut one, mut two, mut three) = (Vec::new(), Vec::new(), Vec::new());
    compare(
        &format!("decompress {}", content.len()),
        rounds,
        [
            Box::new(|| at_hand.decompress_into(&frame, &mut one)),
            Box::new(|| {
                let mut pooled = pool.decompressor(&options)?;
                pooled.decompress_into(&frame, &mut two)
            }),
            Box::new(|| Decompressor::new(&options)?.decompress_into(&frame, &mut three)),
        ],
    )
}

fn compare(what: &str, rounds: usize, mut calls: [Call<'_>; 3]) -> Result<(), zstdkit::Error> {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=rounds {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..CALLS {
                std::hint::black_box(call()?);
            }
            // The first round warms up.
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    let mut extra: Vec<i64> = times[1]
        .iter()
        .zip(&times[0])
        .map(|(pooled, at_hand)| nanoseconds(*pooled) - nanoseconds(*at_hand))
        .collect();
    extra.sort_unstable();
    let [at_hand, pooled, new] = times.map(|mut times| {
        times.sort_unstable();
        nanoseconds(times[times.len() / 2])
    });
    let extra = extra[extra.len() / 2];
    println!("{what:22} {at_hand:>9} {pooled:>9} {extra:>9} {new:>9}");
    Ok(())
}

fn nanoseconds(of_calls: Duration) -> i64 {
    (of_calls / CALLS).as_nanos() as i64
}
