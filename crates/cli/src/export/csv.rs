//! The report as CSV: a line a distribution, or the first table of a report without distributions.

use std::io::{self, Write};

use latency::percentile::LADDER;
use latency::report::{Cell, Latency, Report};

/// Writes a header and the lines (RFC 4180). An absent value is an empty field.
pub(crate) fn write(report: &Report, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    match report.tables.first() {
        Some(table) if report.latencies.is_empty() => {
            let header = table.columns.iter().map(|column| column.key.clone());
            line(out, header)?;
            for row in &table.rows {
                line(out, row.iter().map(cell))?;
            }
        }
        _ => {
            let fixed = [
                "command",
                "series",
                "name",
                "operation",
                "timing",
                "batch",
                "n",
            ];
            let moments = ["saturated", "min_ns", "mean_ns", "stdev_ns"];
            let ladder = LADDER.iter().map(|p| format!("p{p}_ns"));
            let header = fixed.iter().chain(&moments).map(|s| (*s).to_owned());
            line(out, header.chain(ladder).chain(["max_ns".to_owned()]))?;
            for latency in &report.latencies {
                line(out, fields(report, latency).into_iter())?;
            }
        }
    }
    Ok(())
}

fn fields(report: &Report, latency: &Latency) -> Vec<String> {
    let timing = serde_json::to_value(latency.timing).ok();
    let mut fields = vec![
        report.command.subcommand.clone(),
        latency.series.clone().unwrap_or_default(),
        latency.name.as_str().to_owned(),
        latency.operation.clone(),
        timing
            .as_ref()
            .and_then(|t| t.as_str())
            .unwrap_or_default()
            .to_owned(),
        latency.batch.to_string(),
        latency.n.to_string(),
        latency.saturated.to_string(),
        optional(latency.min_ns),
        optional(latency.mean_ns),
        optional(latency.stdev_ns),
    ];
    for p in LADDER {
        let percentile = latency
            .percentiles
            .iter()
            .find(|percentile| percentile.p == p);
        fields.push(optional(
            percentile.and_then(|percentile| percentile.value_ns),
        ));
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

fn line(out: &mut (impl Write + ?Sized), fields: impl Iterator<Item = String>) -> io::Result<()> {
    let quoted: Vec<String> = fields
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    writeln!(out, "{}", quoted.join(","))
}
