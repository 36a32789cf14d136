//! zipstream's deflate next to libdeflate, zlib-ng, igzip and archivers, on many kinds of data: what `cargo
//! xtask peers deflate-sweep` runs.
//!
//! `deflate-peers [--rounds N] [--sizes BYTES,…] [--inflate BYTES,…] [--kinds NAME,…] [--levels N,…]
//! [--rivals NAME,…] [--programs PERFKIT]` prints one JSON object: for each kind of data and size of `--sizes`,
//! every library at every level with its size and the processor time that it took; for each size of `--inflate`,
//! how long the decoders take for streams of zlib-ng and zipstream at level 6. `none` is no size. With
//! `--programs`, also how long archivers take for one file, on one to three threads.
//!
//! Libraries run on one thread and take turns; the time is the least of all rounds, by the clock of
//! processor time, so that other programs disturb less. Every stream is read back by libdeflate.

mod inflate;
mod kinds;
mod libraries;
mod programs;

use serde::Serialize;

use inflate::Decoded;
use libraries::Library;
use programs::Programs;

/// Sizes of contents; the engine of zipstream treats those above 1 MiB in another way.
const SIZES: &[usize] = &[1 << 10, 16 << 10, 256 << 10, 1 << 20, 5 << 18, 8 << 20];
/// Smaller contents are packed many at a time, so that there is something to measure.
const TURN_BYTES: usize = 256 << 10;
const PIECES_MAX: usize = 64;
/// What archivers pack: less than the largest content, for some take a second for a megabyte.
const PROGRAM_BYTES: usize = 4 << 20;
/// Decoding is quick, so that it is measured more often.
const INFLATE_ROUNDS_MIN: usize = 7;
/// Sizes of contents that are decoded.
const INFLATE_SIZES: &[usize] = &[64 << 10, 8 << 20];
const SEED: u64 = 20_261_123;

/// One way to compress: who, level, threads, compressed bytes, nanoseconds.
type Point = (String, i32, usize, u64, u64);

/// All points of one content.
#[derive(Serialize)]
struct Cell {
    kind: &'static str,
    bytes: usize,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Sweep {
    rounds: usize,
    libraries: Vec<Cell>,
    programs: Vec<Cell>,
    inflate: Vec<Decoded>,
    ignored: Vec<String>,
}

struct Options {
    rounds: usize,
    sizes: Vec<usize>,
    inflate_sizes: Vec<usize>,
    kinds: Vec<String>,
    /// Of zipstream.
    levels: Vec<i32>,
    /// Libraries to compare with; all if there is none.
    rivals: Vec<String>,
    perfkit: Option<String>,
}

impl Options {
    fn of_arguments() -> Self {
        let mut options = Self {
            rounds: 3,
            sizes: SIZES.to_vec(),
            inflate_sizes: INFLATE_SIZES.to_vec(),
            kinds: Vec::new(),
            levels: vec![1, 3, 5, 6, 9, 10],
            rivals: Vec::new(),
            perfkit: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_default();
            let list = value.split(',');
            match word.as_str() {
                "--rounds" => options.rounds = value.parse().unwrap_or(3).max(1),
                "--sizes" => options.sizes = list.filter_map(|n| n.parse().ok()).collect(),
                "--inflate" => {
                    options.inflate_sizes = list.filter_map(|n| n.parse().ok()).collect();
                }
                "--kinds" => options.kinds = list.map(str::to_owned).collect(),
                "--levels" => options.levels = list.filter_map(|n| n.parse().ok()).collect(),
                "--rivals" => options.rivals = list.map(str::to_owned).collect(),
                "--programs" => options.perfkit = Some(value),
                other => panic!("unknown argument '{other}'"),
            }
        }
        options
    }

    fn takes(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind)
    }
}

fn main() {
    let options = Options::of_arguments();
    let mut sweep = Sweep {
        rounds: options.rounds,
        libraries: Vec::new(),
        programs: Vec::new(),
        inflate: Vec::new(),
        ignored: Vec::new(),
    };
    if !cfg!(feature = "isal") {
        let reason = "igzip: the library of ISA-L is not installed (Debian: libisal-dev)";
        sweep.ignored.push(reason.to_owned());
    }
    let programs = (options.perfkit.as_deref()).map(|own| Programs::new(own, &mut sweep.ignored));
    // Without sizes there are only archivers.
    let largest = options.sizes.iter().copied().max();
    let largest = largest.unwrap_or(PROGRAM_BYTES);
    let most = options.inflate_sizes.iter().fold(largest, |most, bytes| most.max(*bytes));
    for kind in kinds::KINDS.iter().filter(|kind| options.takes(kind.name)) {
        eprintln!("{}", kind.name);
        let content = (kind.make)(SEED, most.max(TURN_BYTES));
        for &bytes in &options.sizes {
            let pieces = (TURN_BYTES / bytes.max(1)).clamp(1, PIECES_MAX);
            let pieces: Vec<&[u8]> = content.chunks(bytes).take(pieces).collect();
            let points = compare(&pieces, &options);
            sweep.libraries.push(Cell {
                kind: kind.name,
                bytes,
                points,
            });
        }
        for &bytes in &options.inflate_sizes {
            let rounds = options.rounds.max(INFLATE_ROUNDS_MIN);
            let decoded = inflate::compare(kind.name, &content, bytes, rounds);
            sweep.inflate.extend(decoded);
        }
        if let Some(programs) = &programs {
            sweep.programs.push(Cell {
                kind: kind.name,
                bytes: largest.min(PROGRAM_BYTES),
                points: programs.compare(&content[..largest.min(PROGRAM_BYTES)], options.rounds),
            });
        }
    }
    println!("{}", serde_json::to_string(&sweep).expect("plain values"));
}

/// All libraries on the same pieces, in turns.
fn compare(pieces: &[&[u8]], options: &Options) -> Vec<Point> {
    let mut libraries = libraries::all(&options.levels);
    let rivals = &options.rivals;
    libraries.retain(|one| {
        one.name == "zipstream" || rivals.is_empty() || rivals.iter().any(|name| name == one.name)
    });
    let mut points: Vec<Point> = Vec::new();
    for round in 0..options.rounds {
        // Every other round goes backwards: what runs before disturbs differently.
        let count = libraries.len();
        for turn in 0..count {
            let turn = if round % 2 == 0 {
                turn
            } else {
                count - 1 - turn
            };
            let library: &mut Library = &mut libraries[turn];
            if round == 0 {
                let (bytes, ns) = library.run(pieces);
                library.check(pieces);
                points.push((library.name.to_owned(), library.level, 1, bytes, ns));
            } else {
                let (_, ns) = library.run(pieces);
                points[turn].4 = points[turn].4.min(ns);
            }
        }
    }
    points
}
