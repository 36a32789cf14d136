//! The fuzz targets as property tests: each over its corpus and over seeded mutations of it.
//!
//! `PERFKIT_FUZZ_SECONDS=60 cargo test -p perfkit-fuzz` runs each for a minute, from the seed in
//! `PERFKIT_FUZZ_SEED`. An input that fails is written to a file, which the message names.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "shown only for a test that fails")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use perfkit_fuzz::TARGETS;

/// Mutations of a target where nothing else is asked for, and the time after which they stop.
const MUTATIONS: u64 = 3_000;
const TIME: Duration = Duration::from_secs(3);
/// No mutation grows an input beyond this.
const INPUT_BYTES_MAX: usize = 1 << 14;

#[test]
fn betree_event() {
    hold("betree_event");
}

#[test]
fn betree_expression() {
    hold("betree_expression");
}

#[test]
fn betree_snapshot() {
    hold("betree_snapshot");
}

#[test]
fn deflate_index() {
    hold("deflate_index");
}

#[test]
fn deflate_roundtrip() {
    hold("deflate_roundtrip");
}

#[test]
fn fix_bad_line() {
    hold("fix_bad_line");
}

#[test]
fn fix_decode() {
    hold("fix_decode");
}

#[test]
fn fix_dictionary() {
    hold("fix_dictionary");
}

#[test]
fn fix_exchange() {
    hold("fix_exchange");
}

#[test]
fn fix_filter() {
    hold("fix_filter");
}

#[test]
fn fix_frame() {
    hold("fix_frame");
}

#[test]
fn fix_log() {
    hold("fix_log");
}

#[test]
fn fix_session() {
    hold("fix_session");
}

#[test]
fn fix_settings() {
    hold("fix_settings");
}

#[test]
fn fix_store() {
    hold("fix_store");
}

#[test]
fn fix_template() {
    hold("fix_template");
}

#[test]
fn foreign_read() {
    hold("foreign_read");
}

#[test]
fn gate_parse() {
    hold("gate_parse");
}

#[test]
fn fix_health() {
    hold("fix_health");
}

#[test]
fn fix_capture() {
    hold("fix_capture");
}

#[test]
fn fix_orders() {
    hold("fix_orders");
}

#[test]
fn gzip_read() {
    hold("gzip_read");
}

#[test]
fn hgrm_read() {
    hold("hgrm_read");
}

#[test]
fn histogram_decode() {
    hold("histogram_decode");
}

#[test]
fn hlog_read() {
    hold("hlog_read");
}

#[test]
fn inflate_differential() {
    hold("inflate_differential");
}

#[test]
fn lz4_read() {
    hold("lz4_read");
}

#[test]
fn matcher_log() {
    hold("matcher_log");
}

#[test]
fn report_json() {
    hold("report_json");
}

#[test]
fn zstd_blocks() {
    hold("zstd_blocks");
}

#[test]
fn zstd_costs() {
    hold("zstd_costs");
}

#[test]
fn stress_codec() {
    hold("stress_codec");
}

#[test]
fn stress_message() {
    hold("stress_message");
}

#[test]
fn xz_streams() {
    hold("xz_streams");
}

#[test]
fn zip_extract() {
    hold("zip_extract");
}

#[test]
fn zip_read() {
    hold("zip_read");
}

#[test]
fn zip_roundtrip() {
    hold("zip_roundtrip");
}

#[test]
fn zip_salvage() {
    hold("zip_salvage");
}

#[test]
fn zstd_decode() {
    hold("zstd_decode");
}

#[test]
fn zstd_dictionary() {
    hold("zstd_dictionary");
}

#[test]
fn zstd_parallel() {
    hold("zstd_parallel");
}

#[test]
fn zstd_patch() {
    hold("zstd_patch");
}

#[test]
fn zstd_roundtrip() {
    hold("zstd_roundtrip");
}

#[test]
fn zstd_scan() {
    hold("zstd_scan");
}

#[test]
fn zstd_seek_table() {
    hold("zstd_seek_table");
}

#[test]
fn zstd_sliced() {
    hold("zstd_sliced");
}

#[test]
fn every_target_is_a_bin_and_a_test() {
    let source = include_str!("smoke.rs");
    let manifest = include_str!("../Cargo.toml");
    for (name, _) in TARGETS {
        assert!(
            source.contains(&format!("\nfn {name}() {{")),
            "no test of {name}"
        );
        assert!(
            manifest.contains(&format!("name = \"{name}\"\n")),
            "no bin of {name}"
        );
    }
}

/// Runs one target over its corpus, mutations of that, and noise.
fn hold(name: &str) {
    let (_, body) = *TARGETS
        .iter()
        .find(|(other, _)| *other == name)
        .expect("a target");
    let corpus = corpus(name);
    assert!(!corpus.is_empty(), "fuzz/corpus/{name} is empty");
    for (path, input) in &corpus {
        check(name, body, input, &path.display().to_string());
    }
    check(name, body, &[], "nothing");

    let seconds = std::env::var("PERFKIT_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let (rounds, time) = match seconds {
        Some(seconds) => (u64::MAX, Duration::from_secs(seconds)),
        None => (MUTATIONS, TIME),
    };
    let seed = std::env::var("PERFKIT_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut random = Random(seed.unwrap_or(0x5eed));
    let start = Instant::now();
    let mut done = 0;
    while done < rounds && start.elapsed() < time {
        let (_, base) = &corpus[random.below(corpus.len())];
        let (_, other) = &corpus[random.below(corpus.len())];
        let input = mutate(&mut random, base, other);
        check(name, body, &input, &format!("mutation {done}"));
        done += 1;
    }
    println!("{name}: {} seeds, {done} mutations", corpus.len());
}

fn check(name: &str, body: fn(&[u8]), input: &[u8], what: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.failed"));
        let kept = fs::write(&path, input).is_ok();
        println!(
            "{name}: {what} failed; the input {} in {}",
            if kept { "is" } else { "is not" },
            path.display()
        );
        std::panic::resume_unwind(panic);
    }
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes)))
        .collect();
    // The order of a directory is the file system's; the mutations have to be the same anywhere.
    files.sort();
    files
}

/// Xorshift: enough to choose mutations, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }
}

/// One to four changes of the kinds that find bugs in parsers.
fn mutate(random: &mut Random, base: &[u8], other: &[u8]) -> Vec<u8> {
    const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'-'];
    let mut input = base.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(input.len() + 1);
        let count = random
            .below(input.len() - at + 1)
            .min(1 << random.below(12));
        match random.below(9) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.next() as u8,
            2 if at < input.len() => input[at] = EDGES[random.below(EDGES.len())],
            3 => input.truncate(at),
            4 => drop(input.drain(at..at + count)),
            5 => {
                let copy = input[at..at + count].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            6 => {
                let from = random.below(other.len() + 1);
                let to = from + random.below(other.len() - from + 1);
                input.splice(at..at + count, other[from..to].iter().copied());
            }
            7 => {
                let noise: Vec<u8> = (0..random.below(16)).map(|_| random.next() as u8).collect();
                input.splice(at..at, noise);
            }
            // The first bytes choose the options of many targets.
            _ if !input.is_empty() => {
                let at = random.below(input.len().min(8));
                input[at] = random.next() as u8;
            }
            _ => {}
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}
