//! What a page says in words and numbers: lines and grids of the report, and everything about its circumstances.

use latency::report::{GeneratorLate, Report};

use super::super::body::MEASURED_ELSEWHERE;
use super::super::grid::Grid;
use super::super::line::{Line, Tone};
use super::escape::text;
use crate::units::{ABSENT, bytes, count, duration, moment, percent};

/// Inputs that a page lists; the JSON in it has more.
const INPUTS_SHOWN: usize = 20;

/// A line, with its tones.
pub(super) fn line(line: &Line) -> String {
    let parts = line.parts().iter();
    let parts = parts.map(|(tone, words)| {
        let words = text(words);
        let class = match tone {
            Tone::Plain => return words,
            Tone::Heading | Tone::Strong => "strong",
            Tone::Faint => "faint",
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
        };
        format!("<span class=\"{class}\">{words}</span>")
    });
    parts.collect()
}

/// Lines, one below the other.
pub(super) fn lines(lines: &[Line]) -> String {
    let items: String = lines
        .iter()
        .map(|one| format!("<li>{}</li>", line(one)))
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"lines\">{items}</ul>\n"),
    }
}

/// A grid as a table.
pub(super) fn grid(grid: &Grid) -> String {
    let (header, rows, left) = grid.parts();
    // A column without a value says nothing.
    let says = |column: &usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(*column));
        cells.any(|cell| !cell.is_empty() && cell != ABSENT)
    };
    let kept: Vec<usize> = (0..header.len()).filter(says).collect();
    let only = |row: &[String]| -> Vec<String> {
        let cells = kept.iter().filter_map(|column| row.get(*column));
        cells.cloned().collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(|row| only(row)).collect();
    let left = kept.iter().filter(|column| **column < left).count();
    table(&only(header), &rows, left)
}

/// A table whose first `left` columns are aligned left; nothing without rows.
fn table(header: &[String], rows: &[Vec<String>], left: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let class = |column: usize| if column < left { " class=\"left\"" } else { "" };
    let heads: String = header
        .iter()
        .enumerate()
        .map(|(column, cell)| format!("<th scope=\"col\"{}>{}</th>", class(column), text(cell)))
        .collect();
    let rows: String = rows
        .iter()
        .map(|row| {
            let cells = row.iter().enumerate();
            let cells: String = cells
                .map(|(column, cell)| format!("<td{}>{}</td>", class(column), text(cell)))
                .collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<div class=\"wide-table\"><table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// Pairs of a name and a value as a table; those without a value are left out.
fn pairs(pairs: Vec<(&str, Option<String>)>) -> String {
    let rows: String = pairs
        .into_iter()
        .filter_map(|(name, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            Some(format!(
                "<tr><th scope=\"row\" class=\"left\">{}</th><td class=\"left\">{}</td></tr>\n",
                text(name),
                text(&value)
            ))
        })
        .collect();
    format!(
        "<div class=\"wide-table\"><table class=\"pairs\"><tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// The run, its machine and its inputs.
pub(super) fn circumstances(report: &Report) -> String {
    let (tool, environment, load) = (&report.tool, &report.environment, &report.load);
    let optional = |text: &Option<String>| text.clone();
    let run = pairs(vec![
        ("command", Some(report.command.argv.join(" "))),
        ("started", report.started_at.as_deref().map(moment)),
        ("duration", report.duration_ns.map(|ns| duration(ns as f64))),
        (
            "complete",
            Some(if report.complete { "yes" } else { "NO" }.to_owned()),
        ),
        ("exit code", Some(report.exit_code.to_string())),
        ("seed", report.command.seed.map(|seed| seed.to_string())),
        (
            "target rate",
            load.rate_target_per_s.map(|rate| format!("{rate:.1}/s")),
        ),
        (
            "achieved rate",
            load.rate_achieved_per_s.map(|rate| format!("{rate:.1}/s")),
        ),
        ("late starts", load.late_start_ratio.map(percent)),
        ("largest backlog", load.backlog_max.map(count)),
        (
            "the generator itself late",
            load.generator_late.as_ref().map(late),
        ),
        ("program", Some(program(report))),
        ("target", Some(format!("{}, {}", tool.target, tool.profile))),
        ("features", Some(tool.features.join(", "))),
        ("compiler", optional(&tool.rustc)),
    ]);
    let cpus = |cpus: &[u32]| {
        let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
        cpus.join(", ")
    };
    let machine = pairs(vec![
        ("processor", optional(&environment.cpu_model)),
        (
            "processors",
            environment.logical_cpus.map(|cpus| cpus.to_string()),
        ),
        ("pinned to", Some(cpus(&environment.pinned_cpus))),
        ("instruction set", optional(&environment.isa)),
        ("governor", optional(&environment.governor)),
        ("hypervisor", optional(&environment.hypervisor)),
        ("kernel", optional(&environment.kernel)),
        (
            "memory",
            environment.memory_bytes.map(|size| bytes(size as f64)),
        ),
        ("allocator", optional(&environment.allocator)),
        (
            "clock floor",
            environment.clock_floor_ns.map(|ns| duration(ns as f64)),
        ),
        (
            "wake-up of a thread",
            environment.wake_floor_ns.map(|ns| duration(ns as f64)),
        ),
        (
            "start of a process",
            environment.start_floor_ns.map(|ns| duration(ns as f64)),
        ),
        (
            "load before",
            environment.load_before.map(|load| format!("{load:.2}")),
        ),
        ("stolen time", environment.steal_ratio.map(percent)),
        (
            "involuntary context switches",
            environment.ctx_switches_involuntary.map(count),
        ),
        (
            "peak memory of the process",
            report
                .resources
                .rss_max_bytes
                .map(|size| bytes(size as f64)),
        ),
    ]);
    // A run that was over before: what made the page did not measure.
    let (title, machine) = match (environment.stated, environment.is_unknown()) {
        (false, _) => ("Run", machine),
        (true, true) => (
            "Report",
            format!("<p class=\"note\">{}</p>\n", text(MEASURED_ELSEWHERE)),
        ),
        (true, false) => (
            "Report",
            format!("<p class=\"note\">as the files state it</p>\n{machine}"),
        ),
    };
    format!(
        "<h2>{title}</h2>\n{run}<h2>Environment</h2>\n{machine}{}",
        inputs(report)
    )
}

/// How late the generator was by itself, as a distribution.
fn late(found: &GeneratorLate) -> String {
    let percentiles = [("p50", found.p50_ns), ("p99", found.p99_ns)];
    let known = percentiles
        .into_iter()
        .filter_map(|(name, ns)| Some((name, ns?)));
    let known = known.chain([("max", found.max_ns)]);
    let parts: Vec<String> = known
        .map(|(name, ns)| format!("{name} {}", duration(ns as f64)))
        .collect();
    format!("{}, of {} waits", parts.join(", "), count(found.n))
}

fn program(report: &Report) -> String {
    let tool = &report.tool;
    let mut said = format!("{} {}", tool.name, tool.version);
    if let Some(commit) = &tool.commit {
        said += &format!(", commit {commit}");
    }
    if tool.dirty == Some(true) {
        said += " with changes";
    }
    said
}

fn inputs(report: &Report) -> String {
    let inputs = &report.workload.inputs;
    let header = ["input", "size", "XXH64"].map(str::to_owned);
    let shown = inputs.iter().take(INPUTS_SHOWN).map(|input| {
        let hash = input.xxh64.clone();
        let hash = hash.unwrap_or_else(|| ABSENT.to_owned());
        vec![input.path.clone(), bytes(input.bytes as f64), hash]
    });
    let shown = table(&header, &shown.collect::<Vec<_>>(), 1);
    let more = (report.workload.inputs_total as usize).saturating_sub(INPUTS_SHOWN);
    let more = match more {
        0 => String::new(),
        more => format!("<p class=\"note\">{} more</p>", count(more as u64)),
    };
    match inputs.is_empty() {
        true => String::new(),
        false => format!("<h2>Inputs</h2>\n{shown}{more}"),
    }
}
