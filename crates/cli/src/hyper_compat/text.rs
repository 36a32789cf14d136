//! What is printed, as hyperfine prints it, with what it lacks on lines of its own.

use std::cmp::Ordering;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use bench::programs::{Outliers, Plan, Relative, Sample, Shell, TimeUnit};
use latency::clock::FLOORS_MIN;

use crate::term::plain;

const BOLD: Style = Style::new().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const BLUE: Style = AnsiColor::Blue.on_default();
const FAINT: Style = Style::new().dimmed();
const WARN: Style = AnsiColor::Yellow.on_default();

/// Percentiles that are printed where there are enough runs.
const PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];

/// The name of a command line, fit for a terminal.
fn label(sample: &Sample) -> String {
    plain::message(&sample.program.label())
}

/// The line before a command is measured.
pub(super) fn heading(plan: &Plan, index: usize) -> String {
    let name = plan.programs.get(index).map(|program| program.label());
    let name = plain::message(&name.unwrap_or_default());
    format!("{BOLD}Benchmark {}{BOLD:#}: {name}\n", index + 1)
}

/// What a command came to.
pub(super) fn result(sample: &Sample, unit: Option<TimeUnit>) -> String {
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(sample.mean_ns()));
    let time = |ns: f64| unit.time(ns);
    let (mean, user, system) = (
        time(sample.mean_ns()),
        time(sample.user_ns()),
        time(sample.system_ns()),
    );
    let usage = format!("[User: {BLUE}{user}{BLUE:#}, System: {BLUE}{system}{BLUE:#}]");
    let mut text = String::new();
    let Some(stdev) = sample.stdev_ns() else {
        let _ = writeln!(
            text,
            "  Time ({GREEN}abs{GREEN:#} ≡):        {GREEN}{mean:>8}{GREEN:#}               {usage}\n "
        );
        return text;
    };
    let stdev = time(stdev);
    let _ = writeln!(
        text,
        "  Time ({GREEN}mean{GREEN:#} ± {GREEN}σ{GREEN:#}):     {GREEN}{mean:>8}{GREEN:#} ± {GREEN}{stdev:>8}{GREEN:#}    {usage}"
    );
    let [min, max] = sample.range_ns().map(time);
    let _ = writeln!(
        text,
        "  Range ({CYAN}min{CYAN:#} … {CYAN}max{CYAN:#}):   {CYAN}{min:>8}{CYAN:#} … {CYAN}{max:>8}{CYAN:#}    {FAINT}{} runs{}{FAINT:#}",
        sample.runs.len(),
        if sample.cut_short { ", cut short" } else { "" }
    );
    let earned = PERCENTILES
        .iter()
        .filter_map(|p| Some((p, sample.percentile_ns(*p)?)));
    let earned: Vec<String> = earned.map(|(p, ns)| format!("p{p} {}", time(ns))).collect();
    if !earned.is_empty() {
        let _ = writeln!(text, "  Percentiles:         {}", earned.join("   "));
    }
    text.push_str(" \n");
    text
}

/// What is to be said of the runs of a command, a line each.
pub(super) fn warnings(sample: &Sample, plan: &Plan, floor_ns: Option<f64>) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(floor) = floor_ns.filter(|floor| sample.is_short(*floor)) {
        let each = TimeUnit::fitting(floor).time(floor);
        said.push(match plan.shell {
            Shell::None => format!(
                "a run took less than {FLOORS_MIN} process starts ({each} each): part of it is not the work"
            ),
            Shell::Words(_) => format!(
                "a run took less than {FLOORS_MIN} starts of the shell ({each} each), which is taken off and not \
                 known much better: measure without a shell (-N)"
            ),
        });
    }
    if sample.has_failures() {
        said.push("some runs failed, and are counted all the same".to_owned());
    }
    let advice = match (plan.warmup > 0, plan.prepare.is_empty()) {
        (false, true) => "fill caches first (--warmup), or empty them before each run (--prepare)",
        (true, true) => "add warm-up runs, or empty caches before each run (--prepare)",
        (false, false) => "empty caches in --prepare, or fill them first (--warmup)",
        (true, false) => "measure again on a quiet machine, or add warm-up runs",
    };
    match sample.outliers() {
        Outliers::None => {}
        Outliers::First => {
            let first = sample.times_ns().first().copied().unwrap_or(0.0);
            let first = TimeUnit::fitting(first).time(first);
            said.push(format!(
                "the first run was much slower than the rest ({first}): {advice}"
            ));
        }
        Outliers::Some => said.push(format!(
            "some runs took much longer or shorter than the rest: {advice}"
        )),
    }
    said
}

/// The warnings as they are printed.
pub(super) fn warned(warnings: &[String]) -> String {
    let mut text = " \n".to_owned();
    for warning in warnings {
        let _ = writeln!(text, "  {WARN}Warning{WARN:#}: {}", plain::message(warning));
    }
    text
}

/// How the commands compare, by time.
pub(super) fn summary(samples: &[Sample], found: &[Relative], paired: bool) -> String {
    let mut text = format!("{BOLD}Summary{BOLD:#}\n");
    let reference = found.iter().find(|one| one.is_reference);
    if let Some(one) = reference.and_then(|one| samples.get(one.index)) {
        let _ = writeln!(text, "  {CYAN}{}{CYAN:#} ran", label(one));
    }
    for one in found.iter().filter(|one| !one.is_reference) {
        let Some(sample) = samples.get(one.index) else {
            continue;
        };
        let stdev = one
            .stdev
            .map(|stdev| format!(" ± {GREEN}{stdev:.2}{GREEN:#}"));
        let stdev = stdev.unwrap_or_default();
        let ratio = one.ratio;
        let compared = match one.order {
            Ordering::Less => format!("{GREEN}{ratio:8.2}{GREEN:#}{stdev} times slower than"),
            Ordering::Greater => format!("{GREEN}{ratio:8.2}{GREEN:#}{stdev} times faster than"),
            Ordering::Equal => format!("    As fast ({GREEN}{ratio:.2}{GREEN:#}{stdev}) as"),
        };
        let _ = writeln!(text, "{compared} {CYAN}{}{CYAN:#}", label(sample));
        text.push_str(&standing(one));
    }
    text.push_str(&pairing(paired));
    text
}

/// How the commands compare, in the order in which they were given.
pub(super) fn comparison(
    samples: &[Sample],
    found: &[Relative],
    explicit: bool,
    paired: bool,
) -> String {
    let mut text = format!("{BOLD}Relative speed comparison{BOLD:#}\n");
    for one in found {
        let Some(sample) = samples.get(one.index) else {
            continue;
        };
        let stdev = match one.stdev.filter(|_| !one.is_reference) {
            Some(stdev) => format!(" ± {GREEN}{stdev:5.2}{GREEN:#}"),
            None => " ".repeat(8),
        };
        let relation = match (explicit, one.is_reference, one.order) {
            (false, ..) => "",
            (true, true, _) => " (reference)",
            (true, false, Ordering::Less) => " (faster)",
            (true, false, Ordering::Equal) => " (same speed)",
            (true, false, Ordering::Greater) => " (slower)",
        };
        let _ = writeln!(
            text,
            "  {GREEN}{:10.2}{GREEN:#}{stdev}  {}{relation}",
            one.ratio,
            label(sample)
        );
        text.push_str(&standing(one));
    }
    text.push_str(&pairing(paired));
    text
}

/// The verdict on the line above, with its interval.
fn standing(one: &Relative) -> String {
    one.standing.as_ref().map_or_else(String::new, |standing| {
        let words = plain::message(&standing.words());
        format!("{FAINT}           {words}{FAINT:#}\n")
    })
}

/// What the verdicts rest on.
fn pairing(paired: bool) -> String {
    let said = match paired {
        true => "rounds in random order, with a control",
        false => "one after the other, so drift is not controlled (--interleave controls it)",
    };
    format!("{FAINT}  Medians of pairs: {said}{FAINT:#}\n")
}
