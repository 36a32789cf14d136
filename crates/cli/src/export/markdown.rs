//! The report as Markdown tables, for an issue or a README.

use std::io::{self, Write};

use latency::report::Report;

use super::text::{comparison_grid, latency_grid, table_grid};
use super::units::{bytes, duration, rate};

/// Writes the tables of the report.
pub(crate) fn write(report: &Report, mut out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let out: &mut dyn Write = &mut out;
    writeln!(
        out,
        "**{}** ({})",
        report.command.argv.join(" "),
        report.started_at
    )?;
    writeln!(out)?;
    let throughput = &report.throughput;
    if throughput.bytes_in > 0 {
        let (read, written) = (throughput.bytes_in as f64, throughput.bytes_out as f64);
        write!(
            out,
            "{} → {} in {}",
            bytes(read),
            bytes(written),
            duration(report.duration_ns as f64)
        )?;
        if let Some(per_s) = throughput.bytes_in_per_s {
            write!(out, ", {} read", rate(per_s))?;
        }
        writeln!(
            out,
            "{}\n",
            if report.complete { "" } else { ", incomplete" }
        )?;
    }
    for table in &report.tables {
        writeln!(out, "{}\n", table.name)?;
        table_grid(table).markdown(out)?;
        writeln!(out)?;
    }
    if !report.comparisons.is_empty() {
        comparison_grid(&report.comparisons).markdown(out)?;
        writeln!(out)?;
    }
    let latencies = latency_grid(&report.latencies);
    if !latencies.is_empty() {
        latencies.markdown(out)?;
        writeln!(out)?;
    }
    let environment = &report.environment;
    let floor = environment
        .clock_floor_ns
        .map(|ns| format!("clock floor {ns} ns"));
    let machine = [
        environment.cpu_model.clone(),
        environment.kernel.clone(),
        floor,
    ];
    let machine: Vec<String> = machine.into_iter().flatten().collect();
    writeln!(
        out,
        "perfkit {}, {}",
        report.tool.version,
        machine.join(", ")
    )
}
