//! What a report says to people, once for the terminal and for Markdown: lines and grids in order.
//!
//! The first lines are made in `headline`, the grids in `tables`; how a line or a grid looks is in `text`
//! and `markdown`.

use latency::report::{
    Comparison, Design, GateResult, GateVerdict, LoadModel, Report, SlowSample, Table, Timing,
};

use super::floors;
use super::grid::Grid;
use super::headline;
use super::line::{Line, Tone};
use super::sparks;
use super::tables::{
    comparison_grid, latency_grid, repeats, same_values, spectrum, table_grid, tails_grid,
};
use crate::units::{ABSENT, bytes, count, duration, percent, percentile_name};
use crate::{Detail, Look};

/// What is said in place of a machine where none is known.
pub(super) const MEASURED_ELSEWHERE: &str = "measured elsewhere: environment not known";
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

/// Tables of what is wrong: they follow the one line of a job, too, if they have rows.
const TROUBLE: [&str; 10] = [
    "bad messages",
    "executions stamped before their order",
    "failed",
    "faults",
    "gaps",
    "left as they were",
    "repair",
    "skipped",
    "tags that differ",
    "verdicts",
];

/// Everything that is said of a report.
pub(super) fn blocks(report: &Report, look: &Look) -> Vec<Block> {
    let detail = look.detail;
    if detail == Detail::Line {
        return brief(report, look);
    }
    let mut blocks = vec![Block::Lines(headline::lines(report, detail))];
    for table in &report.tables {
        push_table(table, &mut blocks);
    }
    let same =
        |a: &Comparison, b: &Comparison| (&a.baseline, &a.target) == (&b.baseline, &b.target);
    for group in report.comparisons.chunk_by(same) {
        comparisons(group, &mut blocks);
    }
    if report.latencies.iter().any(|row| row.n > 0) {
        blocks.push(Block::Heading(Line::of(Tone::Heading, "latency")));
        blocks.push(Block::Grid(latency_grid(report)));
        blocks.push(Block::Lines(notes(report, detail)));
        let shown = match detail {
            Detail::Full => report.latencies.len(),
            _ => 1,
        };
        let rows = report.latencies.iter().enumerate();
        let own = rows.filter(|(place, row)| !repeats(&report.latencies[..*place], row));
        for (_, row) in own.take(shown) {
            blocks.push(Block::Picture(spectrum(row)));
            if detail == Detail::Full {
                blocks.push(Block::Picture(sparks::counts(row)));
                blocks.push(Block::Picture(sparks::time_line(row)));
            }
        }
    }
    let remarks = floors::remarks(report).into_iter();
    let remarks = remarks.map(|text| Line::of(Tone::Faint, text)).collect();
    blocks.push(Block::Lines(remarks));
    blocks.push(Block::Lines(slowest(report, detail)));
    push_gates(report, &mut blocks);
    blocks.push(Block::Lines(footer(report, detail)));
    blocks
}

/// A line, what was found, and what is wrong.
fn brief(report: &Report, look: &Look) -> Vec<Block> {
    let mut lines = vec![headline::one(report, look.page.line_columns())];
    let says_more = !report.findings.is_empty();
    lines.extend(headline::findings(report));
    let wrong = report.validation.as_ref();
    let wrong = wrong.filter(|found| says_more || !found.ok);
    lines.extend(wrong.map(headline::checked));
    let mut blocks = vec![Block::Lines(lines)];
    let compares = report.command.subcommand == "compare";
    if compares && !report.comparisons.is_empty() {
        blocks.push(Block::Grid(comparison_grid(&report.comparisons)));
    }
    let tables = report.tables.iter();
    for table in tables.filter(|table| TROUBLE.contains(&table.name.as_str())) {
        if !table.rows.is_empty() {
            push_table(table, &mut blocks);
        }
    }
    push_gates(report, &mut blocks);
    if says_more {
        let mut lines = match compares {
            true => Vec::new(),
            false => footer(report, Detail::Normal),
        };
        lines.push(Line::of(Tone::Faint, "-v shows the tables behind this"));
        blocks.push(Block::Lines(lines));
    }
    blocks
}

fn push_table(table: &Table, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(Line::of(Tone::Heading, &table.name)));
    blocks.push(Block::Grid(table_grid(table)));
}

fn push_gates(report: &Report, blocks: &mut Vec<Block>) {
    if !report.gates.is_empty() {
        blocks.push(Block::Heading(Line::of(Tone::Heading, "gates")));
        blocks.push(Block::Lines(report.gates.iter().map(gate).collect()));
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
    if group.iter().any(|found| !found.tails.is_empty()) {
        blocks.push(Block::Grid(tails_grid(group)));
    }
    let mut lines: Vec<Line> = group
        .iter()
        .map(|found| Line::of(Tone::Faint, format!("{}: {}", found.row, found.reason)))
        .collect();
    if group.iter().any(|found| found.design == Design::Sequential) {
        let label = Line::of(Tone::Warn, "two separate runs, drift not controlled");
        lines.push(label.plain(": this only suggests"));
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
    let means = report.latencies.iter();
    let means = means.filter(|row| row.timing == Timing::BatchMean);
    // Why another tool took means is not known.
    let (others, own): (Vec<_>, Vec<_>) = means.partition(|row| row.floors.is_empty());
    for (rows, text) in [
        (
            own,
            "too short to time one by one: means over batches, which hide the tail",
        ),
        (others, "means over several operations, which hide the tail"),
    ] {
        if !rows.is_empty() {
            lines.push(Line::of(Tone::Faint, text));
        }
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
    if let Some(late) = &load.generator_late {
        let known = [("p50", late.p50_ns), ("p99", late.p99_ns)].into_iter();
        let known = known.filter_map(|(name, ns)| Some((name, ns?)));
        let known: String = known
            .map(|(name, ns)| format!("{name} {}, ", duration(ns as f64)))
            .collect();
        let text = format!(
            "the generator itself was late by {known}max {} ({} waits); later starts are the system's",
            duration(late.max_ns as f64),
            count(late.n),
        );
        lines.push(Line::of(Tone::Faint, text));
    }
    if load.saturated {
        let text = ": less than 99 % of what was due was done";
        lines.push(Line::of(Tone::Bad, "SATURATED").plain(text));
    }
}

fn slowest(report: &Report, detail: Detail) -> Vec<Line> {
    let shown = match detail {
        Detail::Full => usize::MAX,
        _ => SLOWEST_SHOWN,
    };
    // A sample that is the same under two names is one.
    let samples = report.slowest.iter().enumerate();
    let samples = samples.filter(|(place, sample)| {
        let earlier = report.slowest[..*place].iter();
        let row = |of: &SlowSample| {
            let rows = report.latencies.iter();
            rows.clone()
                .position(|row| (row.name, &row.series) == (of.name, &of.series))
        };
        let twin = |other: &SlowSample| {
            other.value_ns == sample.value_ns
                && row(other)
                    .zip(row(sample))
                    .is_some_and(|(a, b)| same_values(&report.latencies[a], &report.latencies[b]))
        };
        !earlier.into_iter().any(twin)
    });
    let samples = samples.map(|(_, sample)| sample).take(shown);
    let line = |sample: &SlowSample| {
        let series = sample
            .series
            .as_ref()
            .map(|s| format!("{s} "))
            .unwrap_or_default();
        let mut rows = report.latencies.iter();
        let row = rows.find(|row| (row.name, &row.series) == (sample.name, &sample.series));
        let told = row.and_then(floors::row_told_from);
        Line::of(
            Tone::Faint,
            format!("slowest {series}{}", sample.name.as_str()),
        )
        .plain(format!(" {} ", floors::timed(sample.value_ns as f64, told)))
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
    let environment = &report.environment;
    for (floor, name) in [
        (environment.clock_floor_ns, "clock floor"),
        (environment.wake_floor_ns, "wake-up"),
        (environment.start_floor_ns, "process start"),
    ] {
        parts.extend(floor.map(|ns| format!("{name} {}", duration(ns as f64))));
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
    if environment.is_unknown() {
        return vec![MEASURED_ELSEWHERE.to_owned()];
    }
    let cpus = environment.logical_cpus;
    parts.extend(cpus.map(|cpus| format!("{cpus} CPUs")));
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
    if let Some(first) = parts.first_mut().filter(|_| environment.stated) {
        *first = format!("measured before, as stated on: {first}");
    }
    parts
}
