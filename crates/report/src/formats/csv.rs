//! The report as CSV: a line a comparison of `compare`, a line a candidate of `compress-bench`, the table that was asked
//! for, or a line a distribution of anything else; of a report without these its first table. Any other table by its
//! name.

use std::io::{self, Write};

use latency::percentile::LADDER;
use latency::report::{Cell, Comparison, Latency, Report, Table};

use crate::plain::is_unfit;
use crate::verdicts;

/// Writes a header and the lines (RFC 4180). An absent value is an empty field.
///
/// # Errors
///
/// Those of `out`.
pub fn write(report: &Report, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let compares = report.command.subcommand == "compare" || report.latencies.is_empty();
    if compares && !report.comparisons.is_empty() {
        line(out, COMPARISON.map(str::to_owned).into_iter())?;
        for comparison in &report.comparisons {
            line(out, comparison_fields(report, comparison).into_iter())?;
        }
        return Ok(());
    }
    if report.command.subcommand == "compress-bench" {
        return beside(&report.tables, out);
    }
    let asked_for = report.tables.iter().find(|table| table.asked_for);
    let alone = report
        .tables
        .first()
        .filter(|_| report.latencies.is_empty());
    if let Some(found) = asked_for.or(alone) {
        return table(found, out);
    }
    let ladder = LADDER.iter().map(|p| format!("p{p}_ns"));
    let header = DISTRIBUTION.map(str::to_owned).into_iter().chain(ladder);
    line(out, header.chain(["max_ns".to_owned()]))?;
    for latency in &report.latencies {
        line(out, fields(report, latency).into_iter())?;
    }
    Ok(())
}

/// Writes the table of this name, whether the report has distributions or not. Returns whether there is one.
///
/// # Errors
///
/// Those of `out`.
pub fn named(report: &Report, name: &str, out: &mut (impl Write + ?Sized)) -> io::Result<bool> {
    let found = report.tables.iter().find(|table| table.name == name);
    found.map_or(Ok(()), |found| table(found, out))?;
    Ok(found.is_some())
}

fn table(table: &Table, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    line(out, table.columns.iter().map(|column| column.key.clone()))?;
    for row in &table.rows {
        line(out, row.iter().map(cell))?;
    }
    Ok(())
}

/// Tables of a benchmark whose rows are about the same things as those of the last, side by side:
/// three columns that say what a row is about, then those of each table under its name.
fn beside(tables: &[Table], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    const KEYS: usize = 3;
    let Some(last) = tables.last() else {
        return Ok(());
    };
    let keys = |table: &Table| -> Vec<Vec<Cell>> {
        let rows = table.rows.iter();
        rows.map(|row| row.iter().take(KEYS).cloned().collect())
            .collect()
    };
    let subjects = keys(last);
    let like = |table: &&Table| keys(table) == subjects;
    let like: Vec<&Table> = tables.iter().filter(like).collect();
    let names = last.columns.iter().take(KEYS).map(|c| c.key.clone());
    let columns = like.iter().flat_map(|table| {
        let own = table.columns.iter().skip(KEYS);
        own.map(|column| format!("{}_{}", table.name, column.key))
    });
    line(out, names.chain(columns))?;
    for (nth, subject) in subjects.iter().enumerate() {
        let rows = like.iter().filter_map(|table| table.rows.get(nth));
        let values = rows.flat_map(|row| row.iter().skip(KEYS));
        line(out, subject.iter().chain(values).map(cell))?;
    }
    Ok(())
}

/// Columns of a distribution before its percentiles.
const DISTRIBUTION: [&str; 11] = [
    "command",
    "series",
    "name",
    "operation",
    "timing",
    "batch",
    "n",
    "saturated",
    "min_ns",
    "mean_ns",
    "stdev_ns",
];

/// Columns of a comparison. Differences are fractions: 0.4 is 40 %.
const COMPARISON: [&str; 25] = [
    "command",
    "row",
    "baseline",
    "target",
    "design",
    "pairs",
    "bucket_ops",
    "baseline_median_ns",
    "target_median_ns",
    "baseline_median",
    "target_median",
    "range_low",
    "range_high",
    "median",
    "median_ci95_low",
    "median_ci95_high",
    "p99",
    "better",
    "control_ci95_low",
    "control_ci95_high",
    "resolution",
    "margin",
    "verdict",
    "tails",
    "reason",
];

fn comparison_fields(report: &Report, comparison: &Comparison) -> Vec<String> {
    let difference = comparison.difference.as_ref();
    let control = comparison.control.as_ref();
    let median = difference.and_then(|found| found.median_ci95);
    let control = control.and_then(|control| control.median_ci95);
    vec![
        report.command.subcommand.clone(),
        comparison.row.clone(),
        comparison.baseline.clone(),
        comparison.target.clone(),
        word(serde_json::to_value(comparison.design)),
        comparison.pairs.to_string(),
        comparison.bucket_ops.to_string(),
        optional(comparison.baseline_median_ns),
        optional(comparison.target_median_ns),
        optional(comparison.baseline_median),
        optional(comparison.target_median),
        optional(difference.map(|found| found.range[0])),
        optional(difference.map(|found| found.range[1])),
        optional(difference.map(|found| found.median)),
        optional(median.map(|[low, _]| low)),
        optional(median.map(|[_, high]| high)),
        optional(difference.map(|found| found.p99)),
        optional(difference.map(|found| found.better)),
        optional(control.map(|[low, _]| low)),
        optional(control.map(|[_, high]| high)),
        optional(comparison.resolution),
        optional(comparison.margin),
        word(serde_json::to_value(comparison.verdict)),
        verdicts::tails(comparison),
        comparison.reason.clone(),
    ]
}

/// The word that stands for a value in JSON, too.
fn word(json: serde_json::Result<serde_json::Value>) -> String {
    match json {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn fields(report: &Report, latency: &Latency) -> Vec<String> {
    let mut fields = vec![
        report.command.subcommand.clone(),
        latency.series.clone().unwrap_or_default(),
        latency.name.as_str().to_owned(),
        latency.operation.clone(),
        word(serde_json::to_value(latency.timing)),
        optional(latency.batch),
        latency.n.to_string(),
        latency.saturated.to_string(),
        optional(latency.min_ns),
        optional(latency.mean_ns),
        optional(latency.stdev_ns),
    ];
    for p in LADDER {
        fields.push(optional(latency.percentile(p)));
    }
    fields.push(optional(latency.max_ns));
    fields
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => text.clone(),
    }
}

/// What a spreadsheet may take for the start of a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// Writes a line. Texts are kept to the byte; those that something could misread are quoted. Code of our
/// own: the crate `csv` cannot quote single fields for what a spreadsheet makes of them.
fn line(out: &mut (impl Write + ?Sized), fields: impl Iterator<Item = String>) -> io::Result<()> {
    let quoted: Vec<String> = fields
        .map(|field| {
            if field.starts_with(FORMULA) && field.parse::<f64>().is_err()
                || field.contains(|letter| matches!(letter, ',' | '"') || is_unfit(letter))
            {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    writeln!(out, "{}", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use latency::report::Unit;
    use latency::{LatencyName, Recorder, Spec};

    use super::*;
    use crate::{Outcome, Run, RunOptions};

    #[test]
    fn the_table_that_was_asked_for_is_the_csv_of_a_report_and_of_the_saved_one() {
        let csv = |report: &Report| {
            let mut text = Vec::new();
            write(report, &mut text).expect("written");
            String::from_utf8(text).expect("text")
        };
        let with = |asked_for: bool| {
            let mut options = RunOptions::new("tool", "1", "test");
            options.floors = false;
            let mut outcome = Outcome::new("test");
            let mut recorder =
                Recorder::new(Spec::new(LatencyName::Service, "call"), Instant::now());
            recorder.record_ns(5);
            outcome.latencies.push(recorder.finish().latency());
            for name in ["what was found besides", "any name"] {
                let mut table = Table::new(name, &[("count", Unit::Count)]);
                table.asked_for = asked_for && name == "any name";
                table.rows.push(vec![(name.len() as u64).into()]);
                outcome.tables.push(table);
            }
            let run = Run::start(options).expect("started");
            run.finish(outcome).report
        };
        let asked = with(true);
        assert_eq!(csv(&asked), "count\n8\n");
        let json = serde_json::to_vec(&asked).expect("JSON");
        let read = latency::report::read_json(&json).expect("a report");
        assert_eq!((csv(&read), &read), (csv(&asked), &asked));
        assert!(csv(&with(false)).starts_with("command,series,"));
    }
}
