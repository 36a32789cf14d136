//! Compares perfkit with the zstd command over kinds of data, levels, threads and ways: the record of the program in
//! `bench-peers/zstd`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::{Body, mebibytes};

/// Every cell of the sweep.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ZstdSweep {
    cells: Vec<Cell>,
}

/// Both programs at one thing.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    kind: String,
    way: String,
    level: i32,
    threads: u32,
    bytes: u64,
    rounds: u32,
    perfkit: Side,
    zstd: Side,
    wall_ratio: f64,
    cpu_ratio: f64,
    control_ratio: f64,
}

/// Medians of times, and the largest resident size.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Side {
    wall_ns: u64,
    cpu_ns: u64,
    rss_bytes: u64,
    size_bytes: Option<u64>,
}

/// A ratio over this is too much.
const LIMIT: f64 = 1.03;
/// Outputs that differ by less are of the same size, whatever the ratio.
const SIZE_BYTES_MIN: u64 = 1024;
/// Rows of the list of the worst.
const ROWS_MAX: usize = 80;

impl Cell {
    /// Size of the output over that of zstd.
    fn size_ratio(&self) -> Option<f64> {
        let (own, its) = (self.perfkit.size_bytes?, self.zstd.size_bytes?);
        Some(own as f64 / its.max(1) as f64)
    }

    /// Whether the output is too large.
    fn is_large(&self) -> bool {
        let more = self
            .perfkit
            .size_bytes
            .zip(self.zstd.size_bytes)
            .map_or(0, |(own, its)| own.saturating_sub(its));
        more >= SIZE_BYTES_MIN && self.size_ratio().is_some_and(|ratio| ratio > LIMIT)
    }

    /// The worse of time and, where it counts, size.
    fn worst(&self) -> f64 {
        let size = self.size_ratio().filter(|_| self.is_large());
        self.wall_ratio.max(size.unwrap_or(0.0))
    }

    fn is_over(&self) -> bool {
        self.worst() > LIMIT
    }
}

impl Body for ZstdSweep {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Both programs take turns on the same bytes in memory; each output was read back by the other program, or \
             compared. *wall*, *CPU*, *size* and *RSS* are perfkit's over zstd's: medians over the rounds, sizes of \
             the output, the largest resident size. *control* is a round of zstd over the one before. A cell over \
             {LIMIT}x in wall time, or in size by at least a KiB, is *over*; it was measured again, twice as often. The content is \
             smaller at higher levels. Targets are not there before. *pipes* reads from one and writes into another. zstd \
             decompresses on one thread; the threads are perfkit's."
        )?;
        self.summary(out)?;
        let mut cells: Vec<&Cell> = self.cells.iter().collect();
        cells.sort_by(|a, b| b.worst().total_cmp(&a.worst()));
        let over = cells.iter().filter(|cell| cell.is_over()).count();
        writeln!(
            out,
            "\n## {over} of {} cells over {LIMIT}x, the worst first\n",
            cells.len()
        )?;
        let shown = ROWS_MAX.max(over.min(2 * ROWS_MAX));
        rows(out, cells.iter().copied().take(shown))?;
        if cells.len() > shown {
            writeln!(
                out,
                "\n{} more are in the JSON of this record.",
                cells.len() - shown
            )?;
        }
        let whole = |cell: &&Cell| cell.kind.contains(' ');
        if self.cells.iter().any(|cell| whole(&cell)) {
            writeln!(out, "\n## Many small files, and one large one\n")?;
            rows(out, self.cells.iter().filter(whole))?;
        }
        Ok(())
    }

    fn faults(&self) -> Vec<String> {
        let cells = self.cells.iter();
        let bad = cells.filter(|cell| !cell.wall_ratio.is_finite() || cell.rounds == 0);
        bad.map(|cell| format!("{} {} at {} has no ratio", cell.kind, cell.way, cell.level))
            .collect()
    }
}

impl ZstdSweep {
    /// How many cells are over, by way and level.
    fn summary(&self, out: &mut String) -> Result<()> {
        let swept = || self.cells.iter().filter(|cell| !cell.kind.contains(' '));
        let mut groups: Vec<(&str, i32)> = swept().map(|cell| (&*cell.way, cell.level)).collect();
        groups.sort_unstable();
        groups.dedup();
        writeln!(
            out,
            "\n| way | level | cells | over in time | over in size | wall, median | worst | CPU, median | size, median \
             |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        for (way, level) in groups {
            let of: Vec<&Cell> = swept()
                .filter(|cell| cell.way == way && cell.level == level)
                .collect();
            let count = |test: &dyn Fn(&Cell) -> bool| of.iter().filter(|cell| test(cell)).count();
            let slow = count(&|cell| cell.wall_ratio > LIMIT);
            let large = count(&Cell::is_large);
            let walls = || of.iter().map(|cell| cell.wall_ratio);
            let size = match median(of.iter().filter_map(|cell| cell.size_ratio())) {
                Some(ratio) => format!("{ratio:.4}x"),
                None => "—".to_owned(),
            };
            writeln!(
                out,
                "| {way} | {level} | {} | {slow} | {large} | {:.2}x | {:.2}x | {:.2}x | {size} |",
                of.len(),
                median(walls()).unwrap_or(f64::NAN),
                walls().fold(f64::MIN, f64::max),
                median(of.iter().map(|cell| cell.cpu_ratio)).unwrap_or(f64::NAN),
            )?;
        }
        Ok(())
    }
}

fn rows<'c>(out: &mut String, cells: impl Iterator<Item = &'c Cell>) -> Result<()> {
    writeln!(
        out,
        "| kind | way | level | threads | wall | control | CPU | size | RSS | perfkit | zstd | rounds |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    for cell in cells {
        let size = cell.size_ratio();
        let ms = |ns: u64| format!("{:.1} ms", ns as f64 / 1e6);
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.3}x | {:.3}x | {:.3}x | {} | {:.2}x of {} | {} | {} | {} |",
            cell.kind,
            cell.way,
            cell.level,
            cell.threads,
            cell.wall_ratio,
            cell.control_ratio,
            cell.cpu_ratio,
            size.map_or("—".to_owned(), |ratio| format!("{ratio:.4}x")),
            cell.perfkit.rss_bytes as f64 / cell.zstd.rss_bytes.max(1) as f64,
            mebibytes(cell.zstd.rss_bytes),
            ms(cell.perfkit.wall_ns),
            ms(cell.zstd.wall_ns),
            cell.rounds,
        )?;
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => values.get(half).copied(),
        _ => Some((values[half - 1] + values[half]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kind: &str, wall_ratio: f64, sizes: Option<(u64, u64)>) -> Cell {
        let side = |size_bytes| Side {
            wall_ns: 1_000_000,
            cpu_ns: 900_000,
            rss_bytes: 1 << 20,
            size_bytes,
        };
        Cell {
            kind: kind.to_owned(),
            way: "compress".to_owned(),
            level: 3,
            threads: 1,
            bytes: 1 << 20,
            rounds: 3,
            perfkit: side(sizes.map(|sizes| sizes.0)),
            zstd: side(sizes.map(|sizes| sizes.1)),
            wall_ratio,
            cpu_ratio: 1.0,
            control_ratio: 1.0,
        }
    }

    #[test]
    fn the_worst_is_first_and_size_counts_as_time_does() {
        let sweep = ZstdSweep {
            cells: vec![
                cell("good", 0.9, Some((150, 100))),
                cell("slow", 1.2, Some((100, 100))),
                cell("large", 0.5, Some((150_000, 100_000))),
                cell("many files", 1.02, None),
            ],
        };
        let mut page = String::new();
        sweep.write(&mut page).unwrap();
        assert!(page.contains("## 2 of 4 cells over 1.03x"), "{page}");
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place("| large |") < place("| slow |") && place("| slow |") < place("| good |"));
        assert!(
            page.contains("| compress | 3 | 3 | 1 | 1 | 0.90x | 1.20x |"),
            "{page}"
        );
        assert!(sweep.faults().is_empty());
    }
}
