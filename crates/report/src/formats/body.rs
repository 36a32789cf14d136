//! What a report says to people, once for the terminal and for Markdown: lines and grids in order.
//!
//! The grids are made in `tables`, how a line or a grid looks is in `text` and `markdown`.

use latency::report::{
    Comparison, Design, GateResult, GateVerdict, LoadModel, Report, Timing, Validation,
};

use super::grid::Grid;
use super::line::{Line, Tone};
use super::sparks;
use super::tables::{comparison_grid, latency_grid, spectrum, table_grid};
use crate::Detail;
use crate::nouns::{self, Volume};
use crate::units::{ABSENT, bytes, count, duration, percent, percentile_name, rate};

/// Slowest samples shown without `-v`.
const SLOWEST_SHOWN: usize = 3;

/// A piece of a report.
#[derive(Debug)]
pub(super) enum Block {
    /// What follows is about this.
    Heading(Line),
    /// A grid of cells.
    Grid(Grid),
    /// Remarks, one a line.
    Lines(Vec<Line>),
    /// Lines whose columns make a picture, for a terminal alone.
    Picture(Vec<Line>),
}

/// Everything that is said of a report.
pub(super) fn blocks(report: &Report, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Lines(headline(report, detail))];
    for table in &report.tables {
        blocks.push(Block::Heading(Line::of(Tone::Heading, &table.name)));
        blocks.push(Block::Grid(table_grid(table)));
    }
    let same =
        |a: &Comparison, b: &Comparison| (&a.baseline, &a.target) == (&b.baseline, &b.target);
    for group in report.comparisons.chunk_by(same) {
        comparisons(group, &mut blocks);
    }
    if report.latencies.iter().any(|row| row.n > 0) {
        blocks.push(Block::Heading(Line::of(Tone::Heading, "latency")));
        blocks.push(Block::Grid(latency_grid(&report.latencies)));
        blocks.push(Block::Lines(notes(report, detail)));
        let shown = match detail {
            Detail::Full => report.latencies.len(),
            Detail::Normal => 1,
        };
        for row in report.latencies.iter().take(shown) {
            blocks.push(Block::Picture(spectrum(row)));
            if detail == Detail::Full {
                blocks.push(Block::Picture(sparks::counts(row)));
                blocks.push(Block::Picture(sparks::time_line(row)));
            }
        }
    }
    blocks.push(Block::Lines(slowest(report, detail)));
    if !report.gates.is_empty() {
        blocks.push(Block::Heading(Line::of(Tone::Heading, "gates")));
        blocks.push(Block::Lines(report.gates.iter().map(gate).collect()));
    }
    blocks.push(Block::Lines(footer(report, detail)));
    blocks
}

fn headline(report: &Report, detail: Detail) -> Vec<Line> {
    let mut line = Line::of(Tone::Heading, &report.workload.kind);
    let nouns = nouns::of(&report.workload.kind);
    let throughput = &report.throughput;
    match report.workload.inputs_total {
        0 => {}
        1 => line = line.plain(format!("  1 {}", nouns.inputs[0])),
        inputs => line = line.plain(format!("  {} {}", count(inputs), nouns.inputs[1])),
    }
    let done = report.workload.done.iter();
    let done: Vec<String> = done
        .map(|done| format!("{} {}", count(done.count), done.what))
        .collect();
    if !done.is_empty() {
        line = line.plain("  ").and(Tone::Strong, done.join(", "));
    }
    line = volume(line, report, nouns.volume);
    if report.duration_ns > 0 {
        line = line.plain(format!("  {}", duration(report.duration_ns as f64)));
    }
    let rates = [throughput.bytes_in_per_s, throughput.bytes_out_per_s];
    let larger = rates.into_iter().flatten().reduce(f64::max);
    if let Some(wall) = larger.filter(|rate| *rate > 0.0) {
        line = line.plain("  ").and(Tone::Strong, rate(wall));
    }
    if let Some(cpu) = throughput.bytes_per_cpu_s {
        let per_cpu = rate(cpu);
        line = line.plain(format!("  {} a CPU-second", per_cpu.trim_end_matches("/s")));
    }
    if !report.complete {
        line = line.plain("  ").and(Tone::Bad, "incomplete");
    }
    let mut lines = vec![line];
    if detail == Detail::Full && !report.command.argv.is_empty() {
        let command = report.command.argv.join(" ");
        lines.push(Line::of(
            Tone::Faint,
            format!("{command} ({})", report.started_at),
        ));
    }
    if let Some(validation) = &report.validation {
        lines.push(checked(validation));
    }
    lines
}

/// The bytes of a report: as a conversion with its ratio where they are one, else what each was.
fn volume(line: Line, report: &Report, volume: Volume) -> Line {
    let throughput = &report.throughput;
    let (read, written) = (throughput.bytes_in as f64, throughput.bytes_out as f64);
    match (volume, read > 0.0, written > 0.0) {
        (_, false, false) => line,
        (Volume::Converted, true, true) => {
            let ratio = format!("{:.3}", read.max(written) / read.min(written));
            line.plain(format!("  {} → {}", bytes(read), bytes(written)))
                .plain("  ratio ")
                .and(Tone::Strong, ratio)
        }
        (_, true, false) => line.plain(format!("  {} read", bytes(read))),
        (Volume::Apart(what), true, true) => {
            line.plain(format!("  {} read, {} {what}", bytes(read), bytes(written)))
        }
        (Volume::Apart(what), false, true) => line.plain(format!("  {} {what}", bytes(written))),
        (Volume::Converted, false, true) => line.plain(format!("  {} written", bytes(written))),
    }
}

/// What was checked, how, and which answers were wrong: those that injected faults explain, and the rest.
fn checked(validation: &Validation) -> Line {
    let line = Line::default().plain(format!("checked by {}: ", validation.method));
    let (checked, wrong) = (validation.checked, validation.wrong);
    let unexplained = wrong.saturating_sub(validation.wrong_by_faults);
    match (validation.ok, wrong) {
        (true, _) => line.plain(count(checked)).and(Tone::Good, " ok"),
        // A version that did not count them.
        (false, 0) => line.plain(count(checked)).and(Tone::Bad, " WRONG"),
        (false, _) => {
            let right = count(checked.saturating_sub(wrong));
            let line = line.plain(format!("{right} right, "));
            let different = format!("{} different", count(wrong));
            let explained = count(validation.wrong_by_faults);
            match (unexplained, validation.wrong_by_faults) {
                (0, _) => line
                    .and(Tone::Warn, different)
                    .plain(format!(" (all {explained} explained by injected faults)")),
                (_, 0) => line.and(Tone::Bad, different + " WRONG"),
                _ => line.and(Tone::Bad, different + " WRONG").plain(format!(
                    " ({} not explained by injected faults)",
                    count(unexplained)
                )),
            }
        }
    }
}

/// Comparisons of one target with one baseline.
fn comparisons(group: &[Comparison], blocks: &mut Vec<Block>) {
    let Some(first) = group.first() else {
        return;
    };
    let names = format!("  baseline {}, target {}", first.baseline, first.target);
    blocks.push(Block::Heading(
        Line::of(Tone::Heading, "comparison").plain(names),
    ));
    blocks.push(Block::Grid(comparison_grid(group)));
    let mut lines: Vec<Line> = group
        .iter()
        .map(|found| Line::of(Tone::Faint, format!("{}: {}", found.row, found.reason)))
        .collect();
    if group.iter().any(|found| found.design == Design::Sequential) {
        let label = Line::of(Tone::Warn, "unpaired, drift not controlled: suggestive");
        lines.push(label.plain(": one run after the other"));
    }
    blocks.push(Block::Lines(lines));
}

fn notes(report: &Report, detail: Detail) -> Vec<Line> {
    let mut lines = Vec::new();
    let sampled = report
        .latencies
        .iter()
        .filter(|row| row.timing != Timing::BatchMean);
    let unearned = sampled
        .flat_map(|row| &row.percentiles)
        .find_map(|found| Some((found.p, found.reason.as_ref()?)));
    if let Some((p, reason)) = unearned {
        let name = percentile_name(p);
        let text = format!("{ABSENT} {name} hidden: {reason}");
        lines.push(Line::of(Tone::Faint, text));
    }
    if report
        .latencies
        .iter()
        .any(|row| row.timing == Timing::BatchMean)
    {
        let text = "too short to time one by one: means over batches, which hide the tail";
        lines.push(Line::of(Tone::Faint, text));
    }
    // Of interest to those who read intervals or wonder about a gate.
    let dependent = report.latencies.iter().filter(|row| row.inflation() > 1.0);
    let shown = detail == Detail::Full || !report.gates.is_empty();
    for row in dependent.filter(|_| shown) {
        let counts = count(row.effective_n.unwrap_or(row.n));
        let text = format!(
            "the {} samples of {} depend on each other and count as {counts}: intervals are wider",
            count(row.n),
            row.label()
        );
        lines.push(Line::of(Tone::Faint, text));
    }
    for row in report.latencies.iter().filter(|row| row.saturated > 0) {
        let saturated = count(row.saturated);
        let text = format!(
            "{saturated} values of {} lie above the histogram's range",
            row.label()
        );
        lines.push(Line::of(Tone::Warn, text));
    }
    if report.load.model == LoadModel::Open {
        open_loop(report, &mut lines);
    }
    lines
}

fn open_loop(report: &Report, lines: &mut Vec<Line>) {
    let load = &report.load;
    // Of several runs at several rates there is no one rate: their table has each.
    let parts: Vec<String> = [
        load.rate_target_per_s
            .map(|rate| format!("target {rate:.1}/s")),
        load.rate_achieved_per_s
            .map(|rate| format!("achieved {rate:.1}/s")),
        load.late_start_ratio
            .map(|ratio| format!("late starts {}", percent(ratio))),
        load.backlog_max
            .map(|most| format!("largest backlog {}", count(most))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let said = match parts.is_empty() {
        true => "several runs, each at its rate".to_owned(),
        false => parts.join(", "),
    };
    lines.push(Line::default().plain(format!("open loop: {said}")));
    if load.saturated {
        let text = ": less than 99 % of the target rate was achieved";
        lines.push(Line::of(Tone::Bad, "SATURATED").plain(text));
    }
}

fn slowest(report: &Report, detail: Detail) -> Vec<Line> {
    let shown = match detail {
        Detail::Full => usize::MAX,
        Detail::Normal => SLOWEST_SHOWN,
    };
    let samples = report.slowest.iter().take(shown);
    let line = |sample: &latency::report::SlowSample| {
        let series = sample
            .series
            .as_ref()
            .map(|s| format!("{s} "))
            .unwrap_or_default();
        Line::of(
            Tone::Faint,
            format!("slowest {series}{}", sample.name.as_str()),
        )
        .plain(format!(" {} ", duration(sample.value_ns as f64)))
        .and(Tone::Faint, &sample.what)
    };
    samples.map(line).collect()
}

fn gate(gate: &GateResult) -> Line {
    let (tone, word) = match gate.verdict {
        GateVerdict::Pass => (Tone::Good, "pass"),
        GateVerdict::Fail => (Tone::Bad, "FAIL"),
        GateVerdict::Inconclusive => (Tone::Warn, "inconclusive"),
    };
    Line::of(tone, word)
        .plain(format!("  {}  ", gate.gate))
        .and(Tone::Faint, &gate.reason)
}

fn footer(report: &Report, detail: Detail) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut push = |parts: Vec<String>| {
        if !parts.is_empty() {
            lines.push(Line::of(Tone::Faint, parts.join(" · ")));
        }
    };
    push(cost(report));
    push(machine(report));
    if detail == Detail::Full {
        for warning in &report.environment.warnings {
            let line = Line::of(Tone::Warn, &warning.code).plain(format!(" {} ", warning.message));
            lines.push(line.and(Tone::Faint, format!("({})", warning.help)));
        }
    }
    lines
}

fn cost(report: &Report) -> Vec<String> {
    let mut parts = Vec::new();
    if !report.latencies.is_empty() {
        match report.load.model {
            LoadModel::Closed => parts.push("closed loop".to_owned()),
            LoadModel::Unknown => parts.push("closed or open loop: not known".to_owned()),
            LoadModel::Open => {}
        }
    }
    if let Some(floor) = report.environment.clock_floor_ns {
        parts.push(format!("clock floor {}", duration(floor as f64)));
    }
    let resources = &report.resources;
    if let (Some(user), Some(system)) = (resources.cpu_user_ns, resources.cpu_system_ns) {
        let (user, system) = (duration(user as f64), duration(system as f64));
        parts.push(format!("CPU {user} user, {system} system"));
    }
    if let Some(rss) = resources.rss_max_bytes {
        parts.push(format!("peak memory {}", bytes(rss as f64)));
    }
    parts
}

fn machine(report: &Report) -> Vec<String> {
    let environment = &report.environment;
    let known = [
        &environment.cpu_model,
        &environment.kernel,
        &environment.hypervisor,
    ];
    let mut parts: Vec<String> = known.into_iter().flatten().cloned().collect();
    parts.push(format!("{} CPUs", environment.logical_cpus));
    parts.extend(environment.isa.clone());
    if !environment.pinned_cpus.is_empty() {
        parts.push(format!("pinned to {:?}", environment.pinned_cpus));
    }
    let codes: Vec<&str> = environment
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    if !codes.is_empty() {
        parts.push(format!("caution: {}", codes.join(", ")));
    }
    parts
}
