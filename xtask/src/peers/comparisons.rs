//! perfkit beside another program, case by case: how that is read from reports of `perfkit compare`, and
//! the tables of it.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{Body, Made, mebibytes};

/// All cases of `cargo xtask peers zstd`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cases {
    pub(super) comparisons: Vec<Comparison>,
}

/// One case: the other program, perfkit, and how they compare.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Comparison {
    pub(super) what: String,
    /// Cases may be measured one at a time.
    pub(super) made: Made,
    pub(super) baseline: Side,
    pub(super) target: Side,
    pub(super) pairs: u64,
    /// Median over the pairs of target / baseline.
    pub(super) wall_ratio: f64,
    pub(super) wall_ratio_ci95: Option<[f64; 2]>,
    /// The same of the baseline against itself.
    pub(super) control_ratio: Option<f64>,
    pub(super) verdict: String,
}

/// One program in one case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Side {
    command: String,
    runs: u64,
    wall_p50_ns: u64,
    cpu_p50_ns: u64,
    /// Unknown if it is too small for the kernel to measure in a child process.
    rss_max_bytes: Option<u64>,
    pub(super) size_bytes: Option<u64>,
}

impl Side {
    /// The first word of its command, or of the shell command.
    fn program(&self) -> &str {
        let command = self.command.strip_prefix("sh -c ").unwrap_or(&self.command);
        command.split(' ').next().unwrap_or_default()
    }

    /// Reads the row of a side from the table of runs.
    pub(super) fn read(report: &Value, name: &str, command: String) -> Result<Self> {
        let tables = report["tables"]
            .as_array()
            .context("the report has no tables")?;
        let table = tables
            .iter()
            .find(|table| table["name"] == "runs")
            .context("the report has no table of runs")?;
        let row = table["rows"]
            .as_array()
            .and_then(|rows| rows.iter().find(|row| row[0] == name))
            .with_context(|| format!("the table of runs has no row {name}"))?;
        let cell = |key: &str| -> Result<u64> {
            let columns = table["columns"]
                .as_array()
                .context("the table has no columns")?;
            let index = columns.iter().position(|column| column["key"] == key);
            let value = index.and_then(|index| row[index].as_u64());
            value.with_context(|| format!("the table of runs has no {key} of {name}"))
        };
        Ok(Self {
            command,
            runs: cell("runs")?,
            wall_p50_ns: cell("wall_p50_ns")?,
            cpu_p50_ns: cell("cpu_p50_ns")?,
            rss_max_bytes: cell("rss_max_bytes").ok(),
            size_bytes: None,
        })
    }
}

impl Comparison {
    /// Reads the comparison of the wall times.
    pub(super) fn read_wall(&mut self, report: &Value) -> Result<()> {
        let comparisons = report["comparisons"].as_array().context("no comparisons")?;
        let wall = comparisons
            .iter()
            .find(|comparison| comparison["row"] == "wall")
            .context("the report has no comparison of the wall times")?;
        // A relative difference is (target − baseline) / baseline: the ratio less one.
        let ratio = |value: &Value| value.as_f64().map(|difference| 1.0 + difference);
        let difference = &wall["difference"];
        self.wall_ratio = ratio(&difference["median"]).context("no median difference")?;
        let bound = |index: usize| ratio(&difference["median_ci95"][index]);
        self.wall_ratio_ci95 = bound(0).zip(bound(1)).map(|(low, high)| [low, high]);
        self.control_ratio = ratio(&wall["control"]["median"]);
        self.pairs = wall["pairs"].as_u64().unwrap_or_default();
        self.verdict = wall["verdict"]
            .as_str()
            .unwrap_or("unknown")
            .replace('_', " ");
        Ok(())
    }

    fn size_ratio(&self) -> Option<f64> {
        Some(ratio(self.target.size_bytes?, self.baseline.size_bytes?))
    }

    fn rss_ratio(&self) -> Option<f64> {
        let [target, baseline] = [&self.target, &self.baseline].map(|side| side.rss_max_bytes);
        Some(ratio(target?, baseline?))
    }

    /// The case in one line.
    pub(super) fn line(&self) -> String {
        let size = self
            .size_ratio()
            .map_or_else(|| "—".to_owned(), |size| format!("{size:.4}x"));
        format!(
            "{}: wall {:.3}x ({}), size {size}, peak RSS {}",
            self.what,
            self.wall_ratio,
            self.verdict,
            times(self.rss_ratio())
        )
    }
}

#[allow(clippy::cast_precision_loss, reason = "bytes of files stay below 2^52")]
fn ratio(target: u64, baseline: u64) -> f64 {
    target as f64 / baseline.max(1) as f64
}

/// A ratio, or a dash where it is not known.
fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "—".to_owned(), |ratio| format!("{ratio:.3}x"))
}

#[allow(clippy::cast_precision_loss, reason = "times of runs stay below 2^52")]
fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

impl Cases {
    /// Takes a case in, in the place of an older one of the same name.
    pub(super) fn add(&mut self, case: Comparison) {
        match self
            .comparisons
            .iter_mut()
            .find(|old| old.what == case.what)
        {
            Some(old) => *old = case,
            None => self.comparisons.push(case),
        }
    }
}

impl Body for Cases {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Runs alternate in random order with an A/A control; input and output are in memory \
             (tmpfs). A ratio is perfkit over zstd: below 1 perfkit is faster, smaller, leaner. Wall \
             is the median over the pairs with its 95 % interval; *control* is the same of zstd \
             against itself; peak RSS is the largest of all runs. Before the timing each program \
             decoded what the other wrote, and the bytes were compared.\n"
        )?;
        Ok(Comparison::write_all(&self.comparisons, out)?)
    }

    fn made(&self) -> Vec<Made> {
        let all = self.comparisons.iter();
        all.map(|case| case.made.clone()).collect()
    }
}

impl Comparison {
    /// The tables of all cases, and their command lines.
    pub(super) fn write_all(cases: &[Self], out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "| case | pairs | wall | 95 % | control | verdict | size | peak RSS |"
        )?;
        writeln!(out, "|---|---:|---:|---|---:|---|---:|---:|")?;
        for case in cases {
            let interval = case.wall_ratio_ci95.map_or_else(
                || "—".to_owned(),
                |[low, high]| format!("{low:.3}–{high:.3}"),
            );
            let size = case
                .size_ratio()
                .map_or_else(|| "—".to_owned(), |ratio| format!("{ratio:.4}x"));
            writeln!(
                out,
                "| {} | {} | {:.3}x | {interval} | {} | {} | {size} | {} |",
                case.what,
                case.pairs,
                case.wall_ratio,
                times(case.control_ratio),
                case.verdict,
                times(case.rss_ratio())
            )?;
        }
        writeln!(
            out,
            "\n| case | program | wall p50 | cpu p50 | size | peak RSS |"
        )?;
        writeln!(out, "|---|---|---:|---:|---:|---:|")?;
        for case in cases {
            for (name, side) in [
                (case.baseline.program(), &case.baseline),
                ("perfkit", &case.target),
            ] {
                let size = side
                    .size_bytes
                    .map_or_else(|| "—".to_owned(), |size| size.to_string());
                writeln!(
                    out,
                    "| {} | {name} | {} | {} | {size} | {} |",
                    case.what,
                    seconds(side.wall_p50_ns),
                    seconds(side.cpu_p50_ns),
                    side.rss_max_bytes.map_or_else(|| "—".to_owned(), mebibytes)
                )?;
            }
        }
        writeln!(out, "\nCommand lines:\n")?;
        for case in cases {
            writeln!(out, "    # {}: {}", case.what, case.made.line())?;
            writeln!(out, "    {}", case.baseline.command)?;
            writeln!(out, "    {}", case.target.command)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
        "tables": [{"name": "runs",
            "columns": [{"key": "side"}, {"key": "runs"}, {"key": "wall_p50_ns"}, {"key": "cpu_p50_ns"},
                {"key": "rss_max_bytes"}],
            "rows": [["baseline", 6, 2000000000, 1900000000, 41943040],
                ["target", 6, 1800000000, 1700000000, 10485760]]}],
        "comparisons": [{"row": "cpu", "difference": {"median": 0.5}},
            {"row": "wall", "pairs": 6, "verdict": "better", "control": {"median": 0.01},
             "difference": {"median": -0.1, "median_ci95": [-0.12, -0.08]}}]}"#;

    fn cases() -> Cases {
        let report: Value = serde_json::from_str(REPORT).unwrap();
        let mut comparison = Comparison {
            what: "compress -3, 1 thread".to_owned(),
            made: crate::record::tests::made(),
            baseline: Side::read(&report, "baseline", "zstd -3".to_owned()).unwrap(),
            target: Side::read(&report, "target", "perfkit compress -3".to_owned()).unwrap(),
            pairs: 0,
            wall_ratio: f64::NAN,
            wall_ratio_ci95: None,
            control_ratio: None,
            verdict: String::new(),
        };
        comparison.read_wall(&report).unwrap();
        comparison.baseline.size_bytes = Some(1000);
        comparison.target.size_bytes = Some(999);
        Cases {
            comparisons: vec![comparison],
        }
    }

    #[test]
    fn a_report_is_read() {
        let cases = cases();
        let case = &cases.comparisons[0];
        assert!((case.wall_ratio - 0.9).abs() < 1e-9);
        assert_eq!(case.pairs, 6);
        assert_eq!(
            case.line(),
            "compress -3, 1 thread: wall 0.900x (better), size 0.9990x, peak RSS 0.250x"
        );
    }

    #[test]
    fn the_markdown_has_ratios_numbers_and_commands() {
        let mut text = String::new();
        cases().write(&mut text).unwrap();
        assert!(
            text.contains("| compress -3, 1 thread | 6 | 0.900x | 0.880–0.920 | 1.010x | better |")
        );
        assert!(
            text.contains(
                "| compress -3, 1 thread | perfkit | 1.800 s | 1.700 s | 999 | 10.0 MiB |"
            )
        );
        assert!(text.contains("    perfkit compress -3\n"));
        assert!(text.contains("    # compress -3, 1 thread: 2026-01-02, perfkit 1 (0123abc)\n"));
    }

    #[test]
    fn a_case_measured_again_takes_its_old_place() {
        let mut all = cases();
        let mut again = cases().comparisons.remove(0);
        again.pairs = 9;
        all.add(again);
        assert_eq!((all.comparisons.len(), all.comparisons[0].pairs), (1, 9));
        let mut other = cases().comparisons.remove(0);
        other.what = "compress -9".to_owned();
        all.add(other);
        assert_eq!(all.comparisons.len(), 2);
    }

    #[test]
    fn a_missing_row_is_named() {
        let report: Value = serde_json::from_str(REPORT).unwrap();
        let error = Side::read(&report, "control", String::new())
            .unwrap_err()
            .to_string();
        assert!(error.contains("control"), "{error}");
    }
}
