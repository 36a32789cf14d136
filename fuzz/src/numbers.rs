//! Bodies of the targets that read numbers: gates, histograms, `.hgrm`, `.hlog` and JSON reports.

use std::io::Cursor;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use latency::hgrm::HgrmUnit;
use latency::report::{self, GateVerdict, Latency, LatencyName, Timing, Verdict};
use latency::{
    Gate, Histogram, IntervalLog, ReadError, Recorder, Spec, compare, foreign, hgrm, hlog,
};

use crate::plan::Plan;

/// Any text as a gate: it is refused with help, or reads back from what it prints and decides
/// what its interval says.
pub fn gate_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let gate: Gate = match text.parse() {
        Ok(gate) => gate,
        Err(error) => {
            let error: latency::ParseGateError = error;
            assert!(!error.help().is_empty());
            return;
        }
    };
    let again: Gate = gate
        .to_string()
        .parse()
        .expect("what a gate prints is a gate");
    assert_eq!(again, gate);
    for rows in [&[][..], fixed_rows()] {
        let result = gate.decide(rows);
        assert!(!result.reason.is_empty());
        let limit = result.limit_ns.unwrap_or(0);
        match (result.verdict, result.ci95_ns, result.value_ns) {
            (GateVerdict::Pass, Some([_, high]), _) => assert!(high <= limit),
            (GateVerdict::Fail, Some([low, _]), _) => assert!(low >= limit),
            (GateVerdict::Pass, None, Some(value)) => assert!(value <= limit),
            (GateVerdict::Fail, None, Some(value)) => assert!(value >= limit),
            (GateVerdict::Inconclusive, ..) => {}
            other => panic!("{gate}: a verdict on nothing: {other:?}"),
        }
    }
}

/// Three rows with values from 1 µs to 100 ms.
fn fixed_rows() -> &'static [Latency] {
    static ROWS: OnceLock<Vec<Latency>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let rows = [
            LatencyName::Response,
            LatencyName::Service,
            LatencyName::Hold,
        ];
        rows.into_iter()
            .zip([100_000, 1_000, 10])
            .map(|(name, n)| {
                let mut recorder = Recorder::new(Spec::new(name, "operation"), Instant::now());
                (0..n).for_each(|index| recorder.record_ns(1_000 + 100_000_000 / n * index));
                recorder.finish().latency()
            })
            .collect()
    })
}

/// Any bytes as a coded histogram, as it stands in a report. What decodes codes to itself again.
pub fn histogram_decode(data: &[u8]) {
    let mut row = fixed_rows()[2].clone();
    row.histogram_v2_deflate_b64 = BASE64.encode(data);
    match row.histogram() {
        Ok(histogram) => {
            let again = Latency::from_histogram(row.name, "again", row.timing, &histogram);
            assert_eq!(again.n, histogram.len());
            check_percentiles(&again);
            let decoded = again.histogram().expect("what was coded decodes");
            assert!(decoded == histogram, "another histogram came back");
        }
        Err(error) => check_error(&error),
    }
    row.histogram_v2_deflate_b64 = String::from_utf8_lossy(data).into_owned();
    if let Err(error) = row.histogram() {
        check_error(&error);
    }
}

/// A percentile has a value or a reason, rises with p, and lies in its interval.
fn check_percentiles(row: &Latency) {
    let mut last = 0;
    for percentile in &row.percentiles {
        assert!(
            percentile.value_ns.is_some() != percentile.reason.is_some(),
            "{percentile:?}"
        );
        if let Some(value) = percentile.value_ns {
            assert!(value >= last, "{:?}", row.percentiles);
            last = value;
            if let Some([low, high]) = percentile.ci95_ns {
                assert!(low <= value && value <= high, "{percentile:?}");
            }
        }
    }
}

/// An error is one line.
fn check_error(error: &ReadError) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}

/// Any text as `.hgrm`, what reads has a histogram that can be written; or, by the first byte,
/// values recorded by a plan, through a file and back.
pub fn hgrm_read(data: &[u8]) {
    let mut plan = Plan::new(data);
    let choice = plan.below(6);
    let unit = [HgrmUnit::Ns, HgrmUnit::Us, HgrmUnit::Ms][choice % 3];
    if choice >= 3 {
        return four_fields(&record(&mut plan, "service", None), unit);
    }
    match hgrm::read(&String::from_utf8_lossy(plan.rest()), unit) {
        Ok(found) => {
            let mut written = Vec::new();
            hgrm::write(&mut written, &found.histogram(), unit).expect("a vector takes everything");
            let written = String::from_utf8(written).expect("it is text");
            hgrm::read(&written, unit).expect("what is written reads");
            found.latency().histogram().expect("our own histogram");
        }
        Err(error) => check_error(&error),
    }
}

/// Whatever was recorded, the file has rows of exactly four fields, and reads back.
fn four_fields(row: &Latency, unit: HgrmUnit) {
    let histogram = row.histogram().expect("our own histogram");
    let mut written = Vec::new();
    hgrm::write(&mut written, &histogram, unit).expect("a vector takes everything");
    let written = String::from_utf8(written).expect("it is text");
    let rows = written
        .lines()
        .skip(1)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in rows {
        assert_eq!(line.split_whitespace().count(), 4, "{line:?}");
    }
    let found = hgrm::read(&written, unit).expect("what is written reads");
    assert_eq!(found.total_count, row.n - row.saturated);
    // Milliseconds have too few digits to recognise a row of nanoseconds by.
    if unit != HgrmUnit::Ms {
        let mut whole = written.into_bytes();
        hgrm::write_whole(&mut whole, row).expect("a vector takes everything");
        let whole = String::from_utf8(whole).expect("it is text");
        let found = hgrm::read(&whole, unit).expect("what is written reads");
        assert_eq!(&found.latency(), row, "the row comes back whole");
    }
}

/// Any bytes as `.hlog`; or, behind an `R`, values recorded by a plan, through a log and back.
pub fn hlog_read(data: &[u8]) {
    if let Some((b'R', plan)) = data.split_first() {
        return logged(&mut Plan::new(plan));
    }
    match hlog::read(data) {
        Ok(found) => {
            for tagged in &found {
                assert!(tagged.start_s.is_finite() && tagged.length_s.is_finite());
                let histogram = tagged.histogram().expect("what reads is checked");
                let row = Latency::from_histogram(
                    LatencyName::Service,
                    "read",
                    Timing::Actual,
                    &histogram,
                );
                check_percentiles(&row);
            }
            // Comments change nothing but what a row says of its histogram.
            let plain = hlog::latencies(&found);
            let rows = hlog::rows(data);
            assert_eq!(plain.is_ok(), rows.is_ok());
            for (plain, row) in plain.into_iter().flatten().zip(rows.into_iter().flatten()) {
                assert_eq!(plain.histogram_v2_deflate_b64, row.histogram_v2_deflate_b64);
                assert_eq!(plain.n, row.n - row.saturated);
            }
        }
        Err(error) => check_error(&error),
    }
}

/// Whatever was recorded, the lines of a log add up to it.
fn logged(plan: &mut Plan<'_>) {
    let spool = Cursor::new(Vec::new());
    let intervals = IntervalLog::new(Duration::from_secs(1), spool).expect("a thread");
    let rows = ["one", "two"].map(|series| record(plan, series, Some(&intervals)));
    let mut logged = intervals.finish().expect("memory takes all");
    let mut log = Vec::new();
    hlog::write(
        &mut log,
        SystemTime::UNIX_EPOCH,
        &rows.each_ref(),
        Some(&mut logged),
    )
    .expect("a vector takes all");
    hlog::write_rows(&mut log, &rows.each_ref()).expect("a vector takes all");
    let found = hlog::read(&log).expect("what is written reads");
    let read = hlog::rows(&log).expect("what is written reads");
    assert_eq!(read.len(), rows.len());
    for row in &rows {
        let same = |read: &&Latency| read.series == row.series;
        let read = read.iter().find(same).expect("a row for each tag");
        assert_eq!(
            (read.n, read.mean_ns, &read.percentiles),
            (row.n, row.mean_ns, &row.percentiles)
        );
    }
    for row in &rows {
        let tag = row.series.as_deref().unwrap_or_default();
        let mut sum: Option<Histogram<u64>> = None;
        for tagged in &found {
            if tagged
                .tag
                .as_deref()
                .is_some_and(|found| found.starts_with(tag))
            {
                let part = tagged.histogram().expect("what reads is checked");
                let sum = sum.get_or_insert_with(|| Histogram::new_from(&part));
                sum.add(&part).expect("one range");
            }
        }
        let n = sum.as_ref().map_or(0, Histogram::len);
        let histogram = row.histogram().expect("our own histogram");
        assert_eq!(n, histogram.len(), "the intervals do not add up to the row");
        for quantile in [0.0, 0.5, 0.99, 1.0] {
            let value = sum
                .as_ref()
                .map_or(0, |sum| sum.value_at_quantile(quantile));
            assert_eq!(value, histogram.value_at_quantile(quantile));
        }
    }
}

/// Records spans by a plan: lengths of every magnitude, over seconds of pretended time.
fn record(plan: &mut Plan<'_>, series: &str, log: Option<&IntervalLog>) -> Latency {
    let start = Instant::now();
    let spec = Spec::new(LatencyName::Service, "operation")
        .series(series)
        .range(1_000_000_000, 3)
        .intervals(log.cloned());
    let mut recorder = Recorder::new(spec, start);
    let mut at = start;
    for _ in 0..plan.below(64) {
        let length = Duration::from_nanos(u64::from(plan.byte()) << plan.below(24));
        recorder.record_span(at, at + length);
        at += length + Duration::from_millis(u64::from(plan.byte()) * 4);
    }
    let row = recorder.finish().latency();
    check_percentiles(&row);
    row
}

/// Any bytes as a JSON report. What reads is the same after writing and reading it again, and
/// compared with itself it shows no difference.
pub fn report_json(data: &[u8]) {
    let first = match report::read_json(data) {
        Ok(first) => first,
        Err(error) => return check_error(&error),
    };
    let text = serde_json::to_vec(&first).expect("a report is JSON");
    let again = report::read_json(&text).expect("what is written reads");
    let text_again = serde_json::to_vec(&again).expect("a report is JSON");
    assert!(text == text_again, "writing and reading changed the report");
    for row in &first.latencies {
        if let Err(error) = row.histogram() {
            check_error(&error);
        }
    }
    for gate in ["p99.9<=2ms", "hold.max<1s", "mean<=5us"] {
        let gate: Gate = gate.parse().expect("a gate");
        let _ = gate.decide(&first.latencies);
    }
    for comparison in compare::reports(&first, &again, ["baseline", "target"]) {
        assert!(
            !matches!(comparison.verdict, Verdict::Better | Verdict::Worse),
            "a report differs from itself: {}",
            comparison.reason
        );
        let mut tails = comparison.tails.iter();
        assert!(
            tails.all(|tail| tail.interval[0] <= 0.0 && 0.0 <= tail.interval[1]),
            "a tail differs from itself: {tails:?}"
        );
    }
}

/// Any bytes as a file of another benchmark tool: refused with a message of one line, or times that are times,
/// from which a report and a comparison with itself can be made.
pub fn foreign_read(data: &[u8]) {
    let known = foreign::source(data);
    let read = match foreign::read(data, "name") {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control));
            return;
        }
    };
    assert_eq!(known, Some(read.source));
    let empty = [
        read.samples.is_empty(),
        read.summaries.is_empty(),
        read.rates.is_empty(),
    ];
    assert!(empty.contains(&false));
    for samples in &read.samples {
        let is_time = |(ns, _): &(f64, u64)| ns.is_finite() && *ns >= 0.0;
        assert!(samples.values_ns.iter().all(is_time));
    }
    // A recorder has hundreds of kilobytes: a few show what many would.
    for samples in read.samples.iter().take(3) {
        let row = samples.latency();
        assert_eq!(row.n, samples.n());
        assert!(row.min_ns <= row.max_ns);
    }
    for table in read.tables() {
        assert!(!table.rows.is_empty());
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len())
        );
    }
    let sequences: Vec<_> = read
        .samples
        .iter()
        .filter_map(foreign::Samples::sequence)
        .collect();
    for found in compare::sequences(
        &sequences,
        &sequences,
        ["a", "b"],
        compare::Options::default(),
    ) {
        assert!(!matches!(found.verdict, Verdict::Better | Verdict::Worse));
    }
}
