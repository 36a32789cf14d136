//! Pages as a whole: well formed, without network, and nothing in them that a name put there.

use std::time::{Duration, Instant};

use latency::report::{Cell, Report, Table, Unit};
use latency::{BucketPolicy, Gate, IntervalLog, LatencyName, Recorder, Spec};

use crate::{Outcome, Run, RunOptions};

const VOID: [&str; 2] = ["meta", "!DOCTYPE"];

/// Checks that every tag is closed in its turn and every attribute quoted; gives the text outside of tags and scripts.
fn well_formed(page: &str) -> String {
    let (mut open, mut text, mut rest) = (Vec::new(), String::new(), page);
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split([' ', '/', '\n']).find(|word| !word.is_empty());
        let name = name.expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}>");
            continue;
        }
        let mut inside = tag.split('"').step_by(2);
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        assert!(inside.all(|part| !part.contains('\'')), "<{tag}>");
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("it ends");
            rest = &rest[end + close.len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
    text + rest
}

fn page(report: &Report) -> String {
    let mut out = Vec::new();
    super::write(report, &mut out).expect("written");
    let page = String::from_utf8(out).expect("text");
    well_formed(&page);
    for word in [
        "http://", "https://", "src=", "href=", "url(", "@import", "NaN",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    page
}

fn report(name: &str, change: impl FnOnce(&mut Outcome)) -> Report {
    let mut options = RunOptions::new("tool", "1.0.0", name);
    options.floors = false;
    let gate: Gate = "p99<=1ms".parse().expect("a gate");
    options.gates.push(gate);
    let run = Run::start(options).expect("started");
    let mut outcome = Outcome::new(name);
    change(&mut outcome);
    run.finish(outcome).report
}

/// A row of `values` values, over 25 s, with one slow value in the middle.
fn row(series: Option<&str>, name: LatencyName, values: u64) -> latency::Latency {
    let start = Instant::now();
    let log = IntervalLog::new(Duration::from_millis(100), std::io::Cursor::new(Vec::new()));
    let log = log.expect("a thread");
    let mut spec = Spec::new(name, "call").buckets(BucketPolicy::Off);
    if let Some(series) = series {
        spec = spec.series(series);
    }
    let mut recorder = Recorder::new(spec.intervals(Some(log.clone())), start);
    for nth in 0..values {
        let end =
            start + Duration::from_secs(1) + Duration::from_secs(25) * nth as u32 / values as u32;
        let slow = if nth == values / 2 { 900_000 } else { 0 };
        recorder.record_span(
            end - Duration::from_nanos(20_000 + nth * 7_919 % 60_000 + slow),
            end,
        );
    }
    let mut row = recorder.finish().latency();
    let mut logged = log.finish().expect("a log");
    logged
        .attach(std::slice::from_mut(&mut row), 200)
        .expect("read");
    row
}

/// Two runs over each other.
fn overlaid() -> Report {
    report("report", |outcome| {
        for run in ["a.json", "b.json"] {
            for name in [LatencyName::Service, LatencyName::Hold] {
                let values = if name == LatencyName::Hold {
                    9_000
                } else {
                    30_000
                };
                outcome.latencies.push(row(Some(run), name, values));
            }
        }
        let mut sources = Table::new("read from", &[("file", Unit::Text)]);
        sources.rows = vec![vec![Cell::from("a.json")], vec![Cell::from("b.json")]];
        outcome.tables.push(sources);
    })
}

#[test]
fn runs_over_each_other_are_told_apart_without_colour_and_the_page_is_small() {
    let page = page(&overlaid());
    for said in [
        "Percentile spectrum",
        "Histogram",
        "Time line",
        "p99&lt;=1ms",
        "</svg>a.json<",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert_eq!(page.matches("<figcaption>").count(), 6);
    assert!(page.contains("stroke-dasharray=\"7 3\""));
    assert!(page.len() < 200_000, "{} bytes", page.len());
    // The one slow value is still there: as the maximum of its interval and of the spectrum.
    assert!(page.contains("maximum: 9"), "the maximum");
}

#[test]
fn reports_of_nothing_and_of_little_are_pages_without_empty_charts() {
    let empty = page(&report("nothing", |_| {}));
    assert!(!empty.contains("<figure>"));
    for values in [0, 1, 2] {
        let page = page(&report("little", |outcome| {
            let start = Instant::now();
            let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), start);
            (0..values).for_each(|value| recorder.record_ns(value));
            outcome.latencies.push(recorder.finish().latency());
        }));
        assert_eq!(page.contains("<figure>"), values > 0, "{values}");
        assert!(!page.contains("Time line"), "{values}");
    }
    let means = page(&report("means", |outcome| {
        let start = Instant::now();
        let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), start);
        for nth in 1..50 {
            recorder.record_batch(start, start + Duration::from_micros(nth), 1_000);
        }
        outcome.latencies.push(recorder.finish().latency());
    }));
    assert!(means.contains("means of 1000") && !means.contains("Percentile spectrum"));
}

#[test]
fn all_distributions_are_drawn_or_counted() {
    let many = report("many", |outcome| {
        for series in 0..40 {
            outcome.latencies.push(row(
                Some(&format!("level {series}")),
                LatencyName::Service,
                50,
            ));
        }
    });
    let page = page(&many);
    assert_eq!(page.matches("<figcaption>Histogram").count(), 6);
    assert!(page.contains("service, 1 of 7") && page.contains("4 more distributions"));
}

#[test]
fn no_name_becomes_markup() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=\"alert(1)\">'\u{202e}\n";
    let page = report("hostile", |outcome| {
        outcome
            .latencies
            .push(row(Some(hostile), LatencyName::Service, 400));
        outcome
            .latencies
            .push(row(Some("other"), LatencyName::Service, 400));
        outcome.add_input(hostile.to_owned(), b"content");
        let mut table = Table::new(hostile, &[(hostile, Unit::Text)]);
        table.rows.push(vec![hostile.into()]);
        outcome.tables.push(table);
        outcome.workload.kind = hostile.to_owned();
    });
    let mut out = Vec::new();
    super::write(&page, &mut out).expect("written");
    let page = String::from_utf8(out).expect("text");
    let text = well_formed(&page);
    assert!(
        !page.contains("<img") && !page.contains("alert(1)</script>"),
        "{page}"
    );
    assert!(!page.contains('\u{202e}'));
    assert!(text.contains("&lt;script&gt;alert(1)"));
    // Data of charts, the report itself, and the one script of the page.
    let scripts = page.matches("<script>").count();
    assert_eq!(scripts, 1);
}

#[test]
fn the_report_is_in_the_page() {
    let report = overlaid();
    let page = page(&report);
    let (_, json) = page.split_once("id=\"report\">").expect("it is there");
    let (json, _) = json.split_once("</script>").expect("it ends");
    let read = latency::report::read_json(json.as_bytes()).expect("a report");
    assert_eq!(read.latencies[0].n, report.latencies[0].n);
    assert_eq!(read.gates, report.gates);
}
