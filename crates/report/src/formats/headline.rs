//! The first lines of a report: what was done, how much of it, how fast, and that it was checked.
//!
//! They are put together from parts, each worth something, so that one line can do without some of them.

use latency::report::{LatencyName, Report, Validation};

use super::line::{Line, Tone};
use crate::Detail;
use crate::nouns::{self, Volume};
use crate::units::{bytes, count, duration, moment, rate};

/// A part of the first line, and what it is worth where there is no room for all.
struct Part(u8, Line);

/// Never left out.
const NEEDED: u8 = u8::MAX;

/// One line of at most `columns` columns, as long as what is needed fits.
pub(super) fn one(report: &Report, columns: usize) -> Line {
    let mut parts = parts(report);
    // Of interest to those who read more.
    parts.retain(|Part(worth, _)| *worth > worth_of::PER_CPU);
    parts.extend(longest_hold(report));
    let checked = report.validation.as_ref().filter(|found| found.ok);
    parts.extend(checked.map(|found| {
        let text = format!("  {} ok", count(found.checked));
        Part(worth_of::CHECKED, Line::of(Tone::Good, text))
    }));
    loop {
        let width: usize = parts.iter().map(|Part(_, line)| line.width()).sum();
        let weakest = parts.iter().map(|Part(worth, _)| *worth).min();
        match weakest.filter(|worth| width > columns && *worth < NEEDED) {
            Some(weakest) => parts.retain(|Part(worth, _)| *worth > weakest),
            None => break,
        }
    }
    let lines = parts.into_iter().map(|Part(_, line)| line);
    lines.reduce(Line::join).unwrap_or_default()
}

/// What the parts are worth.
mod worth_of {
    pub(super) const PER_CPU: u8 = 5;
    pub(super) const INPUTS: u8 = 20;
    pub(super) const CHECKED: u8 = 78;
    pub(super) const TIME: u8 = 70;
    pub(super) const SPEED: u8 = 75;
    pub(super) const VOLUME: u8 = 80;
    pub(super) const RATIO: u8 = 85;
    pub(super) const HOLD: u8 = 88;
    pub(super) const DONE: u8 = 90;
    pub(super) const DONE_MAX: u8 = 120;
}

/// The first line with all its parts, and what stands below it.
pub(super) fn lines(report: &Report, detail: Detail) -> Vec<Line> {
    let parts = parts(report).into_iter().map(|Part(_, line)| line);
    let mut lines: Vec<Line> = parts.reduce(Line::join).into_iter().collect();
    if detail == Detail::Full && !report.command.argv.is_empty() {
        let command = report.command.argv.join(" ");
        let start = report.started_at.as_ref();
        let start = start.map(|start| format!(" ({})", moment(start)));
        let line = command + &start.unwrap_or_default();
        lines.push(Line::of(Tone::Faint, line));
    }
    lines.extend(findings(report));
    if let Some(validation) = &report.validation {
        lines.push(checked(validation));
    }
    lines
}

/// What was found. What a sentence is about stands before its first colon.
pub(super) fn findings(report: &Report) -> impl Iterator<Item = Line> + '_ {
    report
        .findings
        .iter()
        .map(|found| match found.split_once(": ") {
            Some((about, said)) if !about.contains(' ') => {
                Line::of(Tone::Strong, format!("{about}:")).plain(format!(" {said}"))
            }
            _ => Line::of(Tone::Plain, found),
        })
}

fn parts(report: &Report) -> Vec<Part> {
    let nouns = nouns::of(&report.workload.kind);
    let throughput = &report.throughput;
    let mut parts = vec![Part(NEEDED, Line::of(Tone::Heading, &report.workload.kind))];
    match report.workload.inputs_total {
        0 => {}
        1 => parts.push(plain(worth_of::INPUTS, format!("1 {}", nouns.inputs[0]))),
        inputs => {
            let text = format!("{} {}", count(inputs), nouns.inputs[1]);
            parts.push(plain(worth_of::INPUTS, text));
        }
    }
    for (at, done) in report.workload.done.iter().enumerate() {
        let line = Line::default()
            .plain(if at == 0 { "  " } else { ", " })
            .and(Tone::Strong, format!("{} {}", count(done.count), done.what));
        // The first are worth most.
        let before = u8::try_from(at)
            .unwrap_or(u8::MAX)
            .min(worth_of::DONE_MAX - worth_of::DONE);
        parts.push(Part(worth_of::DONE_MAX - before, line));
    }
    parts.extend(volume(report, nouns.volume));
    if let Some(ns) = report.duration_ns.filter(|ns| *ns > 0) {
        parts.push(plain(worth_of::TIME, duration(ns as f64)));
    }
    let rates = [throughput.bytes_in_per_s, throughput.bytes_out_per_s];
    let larger = rates.into_iter().flatten().reduce(f64::max);
    if let Some(wall) = larger.filter(|rate| *rate > 0.0) {
        let line = Line::default().plain("  ").and(Tone::Strong, rate(wall));
        parts.push(Part(worth_of::SPEED, line));
    }
    if let Some(cpu) = throughput.bytes_per_cpu_s {
        let text = format!("{} a CPU-second", bytes(cpu));
        parts.push(plain(worth_of::PER_CPU, text));
    }
    if !report.complete {
        let line = Line::default().plain("  ").and(Tone::Bad, "incomplete");
        parts.push(Part(NEEDED, line));
    }
    parts
}

fn plain(worth: u8, text: String) -> Part {
    Part(worth, Line::default().plain(format!("  {text}")))
}

/// The bytes of a report: as a conversion with its ratio where they are one, else what each was.
fn volume(report: &Report, volume: Volume) -> Vec<Part> {
    let throughput = &report.throughput;
    let (read, written) = (throughput.bytes_in as f64, throughput.bytes_out as f64);
    let said = |text| vec![plain(worth_of::VOLUME, text)];
    match (volume, read > 0.0, written > 0.0) {
        (_, false, false) => Vec::new(),
        (Volume::Converted { expands }, true, true) => {
            // Content by what it takes, which may be more.
            let ratio = if expands {
                written / read
            } else {
                read / written
            };
            let ratio = format!("{ratio:.3}");
            let ratio = Line::default().plain("  ratio ").and(Tone::Strong, ratio);
            let text = format!("{} → {}", bytes(read), bytes(written));
            vec![plain(worth_of::VOLUME, text), Part(worth_of::RATIO, ratio)]
        }
        (_, true, false) => said(format!("{} read", bytes(read))),
        (Volume::Apart(what), true, true) => {
            said(format!("{} read, {} {what}", bytes(read), bytes(written)))
        }
        (Volume::Apart(what), false, true) => said(format!("{} {what}", bytes(written))),
        (Volume::Converted { .. }, false, true) => said(format!("{} written", bytes(written))),
    }
}

/// The longest time that a call kept its thread.
fn longest_hold(report: &Report) -> Option<Part> {
    let holds = report
        .latencies
        .iter()
        .filter(|row| row.name == LatencyName::Hold);
    let longest = holds.filter_map(|row| row.max_ns).max()?;
    let line = Line::default()
        .plain("  max hold ")
        .and(Tone::Strong, duration(longest as f64));
    Some(Part(worth_of::HOLD, line))
}

/// What was checked, how, and which answers were wrong: those that injected faults explain, and the rest.
pub(super) fn checked(validation: &Validation) -> Line {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &Line) -> String {
        let mut out = Vec::new();
        line.text(&crate::style::Palette::PLAIN, &mut out)
            .expect("written");
        String::from_utf8(out).expect("text").trim_end().to_owned()
    }

    #[test]
    fn one_line_keeps_what_is_worth_most() {
        let mut outcome = crate::Outcome::new("compress");
        outcome.add_input("a".to_owned(), &[7; 4096]);
        outcome.bytes_out = 1024;
        outcome.did(3, ["frame", "frames"]);
        outcome.complete = false;
        let run = crate::Run::start(crate::RunOptions::new("test", "0", "compress"));
        let mut report = run.expect("runs").finish(outcome).report;
        report.duration_ns = Some(2_000_000);
        report.throughput.bytes_in_per_s = Some(2_097_152.0);
        report.throughput.bytes_out_per_s = None;
        assert_eq!(
            shown(&one(&report, usize::MAX)),
            "compress  1 input  3 frames  4 KiB → 1 KiB  ratio 4.000  2 ms  2 MiB/s  incomplete"
        );
        assert_eq!(
            shown(&one(&report, 73)),
            "compress  3 frames  4 KiB → 1 KiB  ratio 4.000  2 ms  2 MiB/s  incomplete"
        );
        assert_eq!(shown(&one(&report, 1)), "compress  incomplete");
    }

    #[test]
    fn of_much_that_was_done_one_line_has_the_first() {
        let mut outcome = crate::Outcome::new("serve");
        outcome.did(1, ["session", "sessions"]);
        outcome.did(12, ["message", "messages"]);
        outcome.did(3, ["order", "orders"]);
        let run = crate::Run::start(crate::RunOptions::new("test", "0", "serve"));
        let mut report = run.expect("runs").finish(outcome).report;
        report.duration_ns = None;
        for (columns, expected) in [
            (80, "serve  1 session, 12 messages, 3 orders"),
            (38, "serve  1 session, 12 messages"),
            (20, "serve  1 session"),
            (1, "serve"),
        ] {
            assert_eq!(shown(&one(&report, columns)), expected);
        }
        let mut markdown = Vec::new();
        one(&report, 80).markdown(&mut markdown).expect("written");
        let expected = "serve**  **1 session**, **12 messages**, **3 orders**\n";
        let markdown = String::from_utf8(markdown).expect("text");
        assert!(markdown.ends_with(expected), "{markdown}");
    }
}
