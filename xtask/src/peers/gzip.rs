//! gzip by perfkit beside gzip, pigz, libdeflate-gzip and igzip, in one run: sizes, times and memory over kinds of data,
//! levels and threads.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

pub(crate) mod run;

/// What counts as our own program.
const OWN: &str = "perfkit";
/// A rival counts for a cell up to this size, relative to ours.
const SIZE_MOST: f64 = 1.01;

/// All cells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Gzip {
    rounds: u32,
    bytes: u64,
    cells: Vec<Cell>,
}

/// One kind of data, one level (none: decompression) and one number of threads.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    kind: String,
    level: Option<u32>,
    threads: u32,
    rows: Vec<Row>,
}

/// What a program did there.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    program: String,
    /// Of the compressed file; of decompression the content.
    bytes: u64,
    /// The least of all rounds.
    seconds: f64,
    /// Of all threads.
    processor_s: f64,
    peak_mib: f64,
}

impl Cell {
    fn own(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.program == OWN)
    }

    /// The fastest rival whose file is no larger than ours, by a percent.
    fn rival(&self) -> Option<&Row> {
        let own = self.own()?;
        let most = own.bytes as f64 * SIZE_MOST;
        let rivals = self.rows.iter().filter(|row| row.program != OWN);
        rivals
            .filter(|row| row.bytes as f64 <= most)
            .min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    }

    /// Our time over that of the rival; 0 where there is none.
    fn over(&self) -> f64 {
        match (self.own(), self.rival()) {
            (Some(own), Some(rival)) => own.seconds / rival.seconds.max(1e-4),
            _ => 0.0,
        }
    }
}

impl Body for Gzip {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Generated content of {} bytes on tmpfs, the least of {} rounds in an order by chance. The rival is the \
             fastest program of as many threads whose file is at most 1 % larger than ours. Times are of whole \
             processes. The worst cell is first.\n\n\
             | data | level | threads | ratio | MB/s | CPU s | peak MiB | rival | its ratio | its MB/s | its CPU s | its \
             peak MiB | time over rival |\n\
             |---|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|",
            self.bytes, self.rounds
        )?;
        let mut cells: Vec<&Cell> = self.cells.iter().collect();
        cells.sort_by(|one, other| other.over().total_cmp(&one.over()));
        for cell in cells {
            let Some(own) = cell.own() else {
                continue;
            };
            let level = cell
                .level
                .map_or("-d".to_owned(), |level| level.to_string());
            let numbers = |row: &Row| {
                format!(
                    "{:.3} | {:.0} | {:.2} | {:.0}",
                    self.bytes as f64 / row.bytes.max(1) as f64,
                    self.bytes as f64 / row.seconds.max(1e-4) / 1e6,
                    row.processor_s,
                    row.peak_mib
                )
            };
            let rival = match cell.rival() {
                Some(rival) => format!(
                    "{} | {} | {:.2}",
                    rival.program,
                    numbers(rival),
                    cell.over()
                ),
                None => "none | | | | | ".to_owned(),
            };
            writeln!(
                out,
                "| {} | {level} | {} | {} | {rival} |",
                cell.kind,
                cell.threads,
                numbers(own)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kind: &str, rows: &[(&str, u64, f64)]) -> Cell {
        let row = |&(program, bytes, seconds): &(&str, u64, f64)| Row {
            program: program.to_owned(),
            bytes,
            seconds,
            processor_s: seconds,
            peak_mib: 4.0,
        };
        Cell {
            kind: kind.to_owned(),
            level: Some(6),
            threads: 1,
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn the_worst_cell_is_first_and_larger_files_do_not_count() {
        let good = cell(
            "good",
            &[(OWN, 100, 1.0), ("gzip", 100, 4.0), ("igzip", 200, 0.1)],
        );
        let bad = cell("bad", &[(OWN, 100, 3.0), ("libdeflate-gzip", 101, 2.0)]);
        let alone = cell("alone", &[(OWN, 100, 3.0), ("igzip", 150, 1.0)]);
        assert_eq!(good.over(), 0.25);
        let mut text = String::new();
        let cells = vec![good, alone, bad];
        let all = Gzip {
            rounds: 3,
            bytes: 1000,
            cells,
        };
        all.write(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().skip(4).collect();
        assert!(lines[0].starts_with("| bad | 6 | 1 | 10.000 |"), "{text}");
        assert!(
            lines[0].ends_with("| 1.50 |") && lines[1].starts_with("| good"),
            "{text}"
        );
        assert!(lines[2].contains("| none |"), "{text}");
    }
}
