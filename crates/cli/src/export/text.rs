//! The report as text for a terminal.

use std::io::{self, Write};

use latency::report::{
    Comparison, Design, GateResult, GateVerdict, Latency, LoadModel, Report, Timing, Unit, Verdict,
};

use super::Detail;
use super::grid::Grid;
use super::units::{
    ABSENT, bytes, cell, count, duration, duration_or_absent, percent, percentile_name, rate,
    signed_percent,
};
use crate::term::color::{BAD, FAINT, GOOD, HEADING, STRONG, WARN};

/// Lines of a spectrum at most.
const SPECTRUM_LINES: u32 = 20;
/// Slowest samples shown without `-v`.
const SLOWEST_SHOWN: usize = 3;

/// Writes the whole report.
pub(crate) fn write(report: &Report, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    headline(report, out)?;
    for table in &report.tables {
        writeln!(out, "\n{HEADING}{}{HEADING:#}", table.name)?;
        table_grid(table).text(out)?;
    }
    if !report.comparisons.is_empty() {
        comparisons(&report.comparisons, out)?;
    }
    if !report.latencies.is_empty() {
        writeln!(out, "\n{HEADING}latency{HEADING:#}")?;
        latency_grid(&report.latencies).text(out)?;
        notes(report, out)?;
        let rows = if detail == Detail::Full {
            report.latencies.len()
        } else {
            1
        };
        for latency in report.latencies.iter().take(rows) {
            spectrum(latency, out)?;
        }
        slowest(report, detail, out)?;
    }
    gates(&report.gates, out)?;
    footer(report, detail, out)
}

fn headline(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEADING}{}{HEADING:#}", report.workload.kind)?;
    let throughput = &report.throughput;
    if report.workload.inputs_total > 0 {
        let plural = if report.workload.inputs_total == 1 {
            ""
        } else {
            "s"
        };
        write!(
            out,
            "  {} input{plural}",
            count(report.workload.inputs_total)
        )?;
    }
    if throughput.bytes_in > 0 || throughput.bytes_out > 0 {
        let (read, written) = (throughput.bytes_in as f64, throughput.bytes_out as f64);
        write!(out, "  {} → {}", bytes(read), bytes(written))?;
        let (large, small) = if read > written {
            (read, written)
        } else {
            (written, read)
        };
        if small > 0.0 {
            write!(out, "  ratio {STRONG}{:.3}{STRONG:#}", large / small)?;
        }
    }
    if report.duration_ns > 0 {
        write!(out, "  {}", duration(report.duration_ns as f64))?;
    }
    let larger = throughput
        .bytes_in_per_s
        .into_iter()
        .chain(throughput.bytes_out_per_s);
    if let Some(wall) = larger.reduce(f64::max).filter(|rate| *rate > 0.0) {
        write!(out, "  {STRONG}{}{STRONG:#}", rate(wall))?;
    }
    if let Some(cpu) = throughput.bytes_per_cpu_s {
        write!(out, "  {} a CPU-second", rate(cpu).trim_end_matches("/s"))?;
    }
    if !report.complete {
        write!(out, "  {BAD}incomplete{BAD:#}")?;
    }
    writeln!(out)?;
    if let Some(validation) = &report.validation {
        let (style, verdict) = if validation.ok {
            (GOOD, "ok")
        } else {
            (BAD, "WRONG")
        };
        writeln!(
            out,
            "  checked by {}: {} {style}{verdict}{style:#}",
            validation.method,
            count(validation.checked)
        )?;
    }
    Ok(())
}

/// The table of distributions, for text and Markdown alike.
pub(super) fn latency_grid(latencies: &[Latency]) -> Grid {
    let with_series = latencies.iter().any(|latency| latency.series.is_some());
    let ladder: Vec<f64> = latencies
        .first()
        .map(|l| l.percentiles.iter().map(|p| p.p).collect())
        .unwrap_or_default();
    let mut header = vec!["time".to_owned(), "of one".to_owned()];
    if with_series {
        header.insert(0, "series".to_owned());
    }
    let left = header.len();
    header.extend(["n", "min"].map(str::to_owned));
    header.extend(ladder.iter().map(|p| percentile_name(*p)));
    header.extend(["max", "mean", "stdev"].map(str::to_owned));
    let mut grid = Grid::new(header, left);
    for latency in latencies {
        let mut row = Vec::new();
        if with_series {
            row.push(latency.series.clone().unwrap_or_default());
        }
        row.push(match latency.timing {
            Timing::Modelled => format!("{} (modelled)", latency.name.as_str()),
            _ => latency.name.as_str().to_owned(),
        });
        row.push(match latency.timing {
            Timing::BatchMean => format!("{}, mean of {}", latency.operation, latency.batch),
            _ => latency.operation.clone(),
        });
        row.push(count(latency.n));
        row.push(duration_or_absent(latency.min_ns));
        for p in &ladder {
            let found = latency
                .percentiles
                .iter()
                .find(|percentile| percentile.p == *p);
            row.push(duration_or_absent(
                found.and_then(|percentile| percentile.value_ns),
            ));
        }
        row.push(duration_or_absent(latency.max_ns));
        row.push(latency.mean_ns.map_or_else(|| ABSENT.to_owned(), duration));
        row.push(latency.stdev_ns.map_or_else(|| ABSENT.to_owned(), duration));
        grid.push(row);
    }
    grid
}

fn notes(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let unearned = report
        .latencies
        .iter()
        .filter(|latency| latency.timing != Timing::BatchMean)
        .flat_map(|latency| &latency.percentiles)
        .find_map(|percentile| {
            percentile
                .reason
                .as_ref()
                .map(|reason| (percentile.p, reason))
        });
    if let Some((p, reason)) = unearned {
        let name = percentile_name(p);
        writeln!(
            out,
            "  {FAINT}{ABSENT} not known: {name}, for example: {reason}{FAINT:#}"
        )?;
    }
    if report
        .latencies
        .iter()
        .any(|latency| latency.timing == Timing::BatchMean)
    {
        let text = "too short to time alone: means over batches, which have no tail";
        writeln!(out, "  {FAINT}{text}{FAINT:#}")?;
    }
    for latency in report
        .latencies
        .iter()
        .filter(|latency| latency.saturated > 0)
    {
        writeln!(
            out,
            "  {WARN}{} values of {} lie above the histogram's range{WARN:#}",
            count(latency.saturated),
            latency.name.as_str()
        )?;
    }
    let load = &report.load;
    if load.model == LoadModel::Open {
        let rate = |value: Option<f64>| value.map_or(ABSENT.to_owned(), |v| format!("{v:.1}/s"));
        writeln!(
            out,
            "  open loop: target {}, achieved {}, late starts {}, largest backlog {}",
            rate(load.rate_target_per_s),
            rate(load.rate_achieved_per_s),
            load.late_start_ratio.map_or(ABSENT.to_owned(), percent),
            load.backlog_max.map_or(ABSENT.to_owned(), count),
        )?;
        if load.saturated {
            writeln!(
                out,
                "  {BAD}SATURATED{BAD:#}: less than 99 % of the target rate was achieved"
            )?;
        }
    }
    Ok(())
}

/// Value by percentile, each line halving what is left, as far as the sample earns it.
fn spectrum(latency: &Latency, out: &mut dyn Write) -> io::Result<()> {
    let Ok(histogram) = latency.histogram() else {
        return Ok(());
    };
    if histogram.is_empty() || latency.timing == Timing::BatchMean || latency.saturated > 0 {
        return Ok(());
    }
    let mut levels = vec![0.0];
    levels.extend((1..=SPECTRUM_LINES).map(|step| 100.0 - 100.0 / 2_f64.powi(step as i32)));
    levels.retain(|p| *p == 0.0 || latency::percentile::earned_n(*p) <= latency.n);
    if levels.len() < 3 {
        return Ok(());
    }
    let value = |p: f64| histogram.value_at_quantile(p / 100.0);
    let low = (value(0.0).max(1) as f64).ln();
    let high = (latency.max_ns.unwrap_or(1).max(2) as f64).ln();
    let series = latency
        .series
        .as_ref()
        .map(|s| format!("{s}, "))
        .unwrap_or_default();
    writeln!(
        out,
        "  {FAINT}spectrum of {series}{}, log scale{FAINT:#}",
        latency.name.as_str()
    )?;
    let mut line = |name: String, ns: u64| {
        let share = ((ns.max(1) as f64).ln() - low) / (high - low).max(f64::MIN_POSITIVE);
        let bar = "▪".repeat(1 + (share.clamp(0.0, 1.0) * 39.0) as usize);
        writeln!(
            out,
            "  {name:>10}  {:>8}  {FAINT}{bar}{FAINT:#}",
            duration(ns as f64)
        )
    };
    for p in levels {
        let name = format!("{p:.5}");
        let name = name.trim_end_matches('0').trim_end_matches('.');
        line(format!("{name} %"), value(p))?;
    }
    line("max".to_owned(), latency.max_ns.unwrap_or(0))
}

fn slowest(report: &Report, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let shown = if detail == Detail::Full {
        usize::MAX
    } else {
        SLOWEST_SHOWN
    };
    for sample in report.slowest.iter().take(shown) {
        writeln!(
            out,
            "  {FAINT}slowest {}{FAINT:#} {} {FAINT}{}{FAINT:#}",
            sample.name.as_str(),
            duration(sample.value_ns as f64),
            sample.what
        )?;
    }
    Ok(())
}

/// A report table, for text and Markdown alike.
pub(super) fn table_grid(table: &latency::report::Table) -> Grid {
    let header: Vec<String> = table
        .columns
        .iter()
        .map(|column| title(&column.key))
        .collect();
    let left = table
        .columns
        .iter()
        .take_while(|column| column.unit == Unit::Text)
        .count();
    let mut grid = Grid::new(header, left);
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns);
        grid.push(
            cells
                .map(|(value, column)| cell(value, column.unit))
                .collect(),
        );
    }
    grid
}

/// `wall_p50_ns` as a heading: `wall p50`.
fn title(key: &str) -> String {
    let mut words: Vec<&str> = key.split('_').collect();
    let unit = matches!(words.last(), Some(&("ns" | "bytes")));
    if unit && words.len() > 1 {
        words.pop();
    }
    if words.len() > 2 && words[words.len() - 2..] == ["per", "s"] {
        words.truncate(words.len() - 2);
    }
    words.join(" ")
}

/// The table of comparisons, for text and Markdown alike.
pub(super) fn comparison_grid(comparisons: &[Comparison]) -> Grid {
    let header = [
        "row",
        "baseline",
        "target",
        "pairs",
        "range",
        "median",
        "95 % interval",
        "Δ99th",
        "better",
        "control",
        "verdict",
    ];
    let mut grid = Grid::new(header.map(str::to_owned).to_vec(), 1);
    for comparison in comparisons {
        let difference = &comparison.difference;
        let per_op = |ns: Option<f64>| ns.map_or_else(|| ABSENT.to_owned(), duration);
        let interval = |interval: Option<[f64; 2]>| {
            interval.map_or_else(
                || ABSENT.to_owned(),
                |[low, high]| format!("{}…{}", signed_percent(low), signed_percent(high)),
            )
        };
        grid.push(vec![
            comparison.row.clone(),
            per_op(comparison.baseline_median_ns),
            per_op(comparison.target_median_ns),
            count(comparison.pairs),
            interval(Some(difference.range)),
            signed_percent(difference.median),
            interval(difference.median_ci95),
            signed_percent(difference.p99),
            percent(difference.better),
            interval(
                comparison
                    .control
                    .as_ref()
                    .and_then(|control| control.median_ci95),
            ),
            verdict(comparison),
        ]);
    }
    grid
}

/// `no difference (resolution ±1.2 %)`.
pub(super) fn verdict(comparison: &Comparison) -> String {
    match (comparison.verdict, comparison.resolution) {
        (Verdict::Better, _) => "better".to_owned(),
        (Verdict::Worse, _) => "worse".to_owned(),
        (Verdict::NoDifference, Some(resolution)) => {
            format!(
                "no difference (resolution ±{})",
                resolution_percent(resolution)
            )
        }
        (Verdict::NoDifference, None) => "no difference".to_owned(),
        (Verdict::Inconclusive, _) => "inconclusive".to_owned(),
    }
}

/// A resolution never reads as 0: what is below a hundredth of a percent says so.
fn resolution_percent(resolution: f64) -> String {
    if resolution < 0.0001 {
        "0.01 % or finer".to_owned()
    } else {
        format!("{:.2} %", resolution * 100.0)
    }
}

fn comparisons(comparisons: &[Comparison], out: &mut dyn Write) -> io::Result<()> {
    let first = &comparisons[0];
    writeln!(
        out,
        "\n{HEADING}comparison{HEADING:#}  baseline {}, target {}",
        first.baseline, first.target
    )?;
    comparison_grid(comparisons).text(out)?;
    for comparison in comparisons {
        writeln!(
            out,
            "  {FAINT}{}: {}{FAINT:#}",
            comparison.row, comparison.reason
        )?;
    }
    if comparisons
        .iter()
        .any(|comparison| comparison.design == Design::Sequential)
    {
        writeln!(
            out,
            "  {WARN}unpaired, drift not controlled{WARN:#}: one run after the other"
        )?;
    }
    Ok(())
}

fn gates(gates: &[GateResult], out: &mut dyn Write) -> io::Result<()> {
    if gates.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{HEADING}gates{HEADING:#}")?;
    for gate in gates {
        let (style, word) = match gate.verdict {
            GateVerdict::Pass => (GOOD, "pass"),
            GateVerdict::Fail => (BAD, "FAIL"),
            GateVerdict::Inconclusive => (WARN, "inconclusive"),
        };
        writeln!(
            out,
            "  {style}{word}{style:#}  {}  {FAINT}{}{FAINT:#}",
            gate.gate, gate.reason
        )?;
    }
    Ok(())
}

fn footer(report: &Report, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let environment = &report.environment;
    let mut parts = Vec::new();
    if !report.latencies.is_empty() && report.load.model == LoadModel::Closed {
        parts.push("closed loop".to_owned());
    }
    if let Some(floor) = environment.clock_floor_ns {
        parts.push(format!("clock floor {}", duration(floor as f64)));
    }
    if let (Some(user), Some(system)) =
        (report.resources.cpu_user_ns, report.resources.cpu_system_ns)
    {
        let (user, system) = (duration(user as f64), duration(system as f64));
        parts.push(format!("CPU {user} user, {system} system"));
    }
    if let Some(rss) = report.resources.rss_max_bytes {
        parts.push(format!("peak memory {}", bytes(rss as f64)));
    }
    writeln!(out, "{FAINT}  {}", parts.join(" · "))?;
    let known = [
        &environment.cpu_model,
        &environment.kernel,
        &environment.hypervisor,
    ];
    let mut machine: Vec<String> = known.into_iter().flatten().cloned().collect();
    machine.push(format!("{} CPUs", environment.logical_cpus));
    if let Some(isa) = &environment.isa {
        machine.push(isa.clone());
    }
    if !environment.pinned_cpus.is_empty() {
        machine.push(format!("pinned to {:?}", environment.pinned_cpus));
    }
    let codes: Vec<&str> = environment
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    if !codes.is_empty() {
        machine.push(format!("caution: {}", codes.join(", ")));
    }
    writeln!(out, "  {}{FAINT:#}", machine.join(" · "))?;
    if detail == Detail::Full {
        for warning in &environment.warnings {
            writeln!(
                out,
                "  {WARN}{}{WARN:#} {} {FAINT}({}){FAINT:#}",
                warning.code, warning.message, warning.help
            )?;
        }
    }
    Ok(())
}
