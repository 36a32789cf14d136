//! One cell: both programs in turns, and what is kept of it.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::run::{Line, Taken};

/// Over this ratio a cell is measured again.
const LIMIT: f64 = 1.03;
/// Rounds of a cell, and the time after which no more begin.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=9;
const CELL: Duration = Duration::from_millis(600);
/// More of both for a cell that is over the limit.
const AGAIN: u32 = 2;

/// What one program did in a cell.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Side {
    /// Medians.
    wall_ns: u64,
    cpu_ns: u64,
    /// The largest.
    rss_bytes: u64,
    pub(crate) size_bytes: Option<u64>,
}

/// Both programs at one thing.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Cell {
    pub(crate) kind: String,
    pub(crate) way: String,
    pub(crate) level: i32,
    pub(crate) threads: u32,
    pub(crate) bytes: u64,
    rounds: usize,
    perfkit: Side,
    zstd: Side,
    /// Medians over the rounds of perfkit's time over zstd's.
    wall_ratio: f64,
    cpu_ratio: f64,
    /// The same of every second round of zstd over the one before: what the machine does to such a ratio.
    control_ratio: f64,
}

/// What is compared.
pub(crate) struct Pair<'a> {
    pub(crate) kind: &'a str,
    pub(crate) way: &'a str,
    pub(crate) level: i32,
    pub(crate) threads: u32,
    pub(crate) bytes: u64,
    pub(crate) perfkit: Line,
    pub(crate) zstd: Line,
    /// Sizes of both outputs: perfkit's and zstd's.
    pub(crate) sizes: Option<(u64, u64)>,
    /// What each run needs before it.
    pub(crate) prepare: &'a dyn Fn(),
    pub(crate) quick: bool,
}

impl Pair<'_> {
    /// Measures, and measures again what is over the limit.
    pub(crate) fn measure(&self) -> Cell {
        let mut taken = Vec::new();
        self.rounds(&mut taken, 1);
        let mut cell = self.cell(&taken);
        if cell.is_over() && !self.quick {
            self.rounds(&mut taken, AGAIN);
            cell = self.cell(&taken);
        }
        eprintln!(
            "{:>12} {:>18} {:>3} T{} {:.3}x cpu {:.3}x ({} rounds)",
            cell.kind,
            cell.way,
            cell.level,
            cell.threads,
            cell.wall_ratio,
            cell.cpu_ratio,
            cell.rounds
        );
        cell
    }

    fn rounds(&self, taken: &mut Vec<(Taken, Taken)>, times: u32) {
        let (least, most) = match self.quick {
            true => (1, 3),
            false => (*ROUNDS.start(), *ROUNDS.end()),
        };
        let (begin, before) = (Instant::now(), taken.len());
        loop {
            let done = taken.len() - before;
            let enough = done >= least && begin.elapsed() > CELL * times;
            if enough || done >= most * times as usize {
                return;
            }
            let run = |line: &Line| {
                (self.prepare)();
                line.run()
            };
            // Whoever begins takes turns.
            taken.push(if done % 2 == 0 {
                let perfkit = run(&self.perfkit);
                (perfkit, run(&self.zstd))
            } else {
                let zstd = run(&self.zstd);
                (run(&self.perfkit), zstd)
            });
        }
    }

    fn cell(&self, taken: &[(Taken, Taken)]) -> Cell {
        let side = |pick: &dyn Fn(&(Taken, Taken)) -> Taken, size_bytes| Side {
            wall_ns: median(taken.iter().map(|both| pick(both).wall_ns as f64)) as u64,
            cpu_ns: median(taken.iter().map(|both| pick(both).cpu_ns as f64)) as u64,
            rss_bytes: taken
                .iter()
                .map(|both| pick(both).rss_bytes)
                .max()
                .unwrap_or(0),
            size_bytes,
        };
        let ratio = |of: fn(&Taken) -> u64| {
            median(
                taken
                    .iter()
                    .map(|(own, its)| of(own) as f64 / of(its).max(1) as f64),
            )
        };
        let pairs = taken.windows(2);
        let control = pairs.map(|pair| pair[1].1.wall_ns as f64 / pair[0].1.wall_ns.max(1) as f64);
        Cell {
            kind: self.kind.to_owned(),
            way: self.way.to_owned(),
            level: self.level,
            threads: self.threads,
            bytes: self.bytes,
            rounds: taken.len(),
            perfkit: side(&|both| both.0, self.sizes.map(|sizes| sizes.0)),
            zstd: side(&|both| both.1, self.sizes.map(|sizes| sizes.1)),
            wall_ratio: ratio(|taken| taken.wall_ns),
            cpu_ratio: ratio(|taken| taken.cpu_ns),
            control_ratio: if taken.len() > 1 {
                median(control)
            } else {
                1.0
            },
        }
    }
}

impl Cell {
    fn is_over(&self) -> bool {
        self.wall_ratio > LIMIT
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}
