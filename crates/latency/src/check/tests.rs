//! Valid reports, each with one field made wrong.

use std::time::Instant;

use super::*;
use crate::report::{Differences, Interval, LatencyName, Timing, Unit, read_json};
use crate::testing::report;
use crate::{Recorder, Spec, compare};

fn recorded() -> Latency {
    let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), Instant::now());
    (0..1_000u64).for_each(|nth| recorder.record_ns(1_000 + nth * nth * 7_919 % 1_000_003));
    recorder.finish().latency()
}

/// A report with a row of everything.
fn sound() -> Report {
    let mut sound = report(vec![recorded()]);
    let mut table = Table::new("t", &[("a", Unit::Text), ("b", Unit::Count)]);
    table.rows.push(vec!["x".into(), 1u64.into()]);
    sound.tables.push(table);
    sound.comparisons = compare::reports(&sound, &sound, ["a", "b"]);
    let gate: Gate = "p99<=1s".parse().expect("a gate");
    sound.gates.push(gate.decide(&sound.latencies));
    sound
}

fn read(report: &Report) -> Result<Report, ReadError> {
    read_json(&serde_json::to_vec(report).expect("JSON"))
}

#[test]
fn what_is_sound_passes() {
    let sound = sound();
    assert_eq!(read(&sound).expect("read"), sound);
    let mut recorder = Recorder::new(
        Spec::new(LatencyName::Hold, "call").range(1_000, 2),
        Instant::now(),
    );
    (0..500u64).for_each(|nth| recorder.record_ns(nth * 5));
    let row = recorder.finish().latency();
    assert!(row.saturated > 0);
    read(&report(vec![row])).expect("saturated rows read");
    let empty = Recorder::new(Spec::new(LatencyName::Hold, "call"), Instant::now());
    read(&report(vec![empty.finish().latency()])).expect("empty rows read");
}

/// A row of two intervals.
fn timed() -> Latency {
    let mut row = recorded();
    let mut half = row.histogram().unwrap();
    for nth in 0..2u64 {
        half.reset();
        (0..500u64).for_each(|at| half.record(1_000 + (nth * 500 + at)).unwrap());
        row.intervals.push(Interval {
            start_ns: nth * 1_000_000_000,
            length_ns: 1_000_000_000,
            histogram_v2_deflate: coding::encode_deflate(&half).unwrap(),
        });
    }
    row
}

#[test]
fn a_time_line_is_read_back_and_holds_what_its_row_holds() {
    let sound = report(vec![timed()]);
    let json = serde_json::to_value(&sound).expect("JSON");
    assert!(json["latencies"][0]["intervals"][1]["histogram_v2_deflate_b64"].is_string());
    assert_eq!(read(&sound).expect("read"), sound);
    // A report without one says nothing of it, as those of older versions did.
    let before = serde_json::to_value(report(vec![recorded()])).expect("JSON");
    assert!(before["latencies"][0].get("intervals").is_none());
    let wrongs: [fn(&mut Latency); 3] = [
        |row| row.intervals.truncate(1),
        |row| row.intervals[0].start_ns = u64::MAX,
        |row| row.intervals[1].histogram_v2_deflate.truncate(9),
    ];
    for (nth, wrong) in wrongs.iter().enumerate() {
        let mut row = timed();
        wrong(&mut row);
        let error = read(&report(vec![row])).unwrap_err();
        let place = error.place().to_string();
        assert_eq!(place, "latencies[0].intervals", "{nth}: {error}");
    }
}

/// A change to a sound report, and the field that must be named.
type Wrong = (&'static str, fn(&mut Report));

#[test]
fn what_cannot_be_true_is_refused_at_its_row_and_field() {
    let wrongs: [Wrong; 25] = [
        ("latencies[0].n", |r| r.latencies[0].n += 1),
        ("latencies[0].n", |r| r.latencies[0].saturated = 3),
        ("latencies[0].n", |r| r.latencies[0].saturated = u64::MAX),
        ("latencies[0].batch", |r| r.latencies[0].batch = Some(0)),
        ("latencies[0].batch", |r| r.latencies[0].batch = None),
        ("latencies[0].min_ns", |r| r.latencies[0].min_ns = None),
        ("latencies[0].min_ns", |r| {
            r.latencies[0].min_ns = Some(u64::MAX)
        }),
        ("latencies[0].max_ns", |r| {
            r.latencies[0].max_ns = Some(9_000_000)
        }),
        ("latencies[0].mean_ns", |r| {
            r.latencies[0].mean_ns = Some(-1.0)
        }),
        ("latencies[0].mean_ns", |r| {
            r.latencies[0].mean_ns = Some(9e9)
        }),
        ("latencies[0].stdev_ns", |r| {
            r.latencies[0].stdev_ns = Some(-1.0)
        }),
        ("latencies[0].percentiles", |r| {
            r.latencies[0].percentiles[0].p = 100.0
        }),
        ("latencies[0].percentiles", |r| {
            r.latencies[0].percentiles.swap(0, 1)
        }),
        ("latencies[0].percentiles", |r| {
            r.latencies[0].percentiles[1].value_ns = Some(1_500);
        }),
        ("latencies[0].percentiles", |r| {
            let top = &mut r.latencies[0].percentiles[4];
            (top.value_ns, top.reason) = (Some(1_000_000), None);
        }),
        ("latencies[0].percentiles", |r| {
            r.latencies[0].percentiles[4].reason = None
        }),
        ("latencies[0].buckets", |r| {
            let buckets = r.latencies[0].buckets.as_mut().expect("buckets");
            buckets.size_ops = 1_000_000;
        }),
        ("latencies[0].histogram_v2_deflate_b64", |r| {
            r.latencies[0].histogram_v2_deflate_b64.truncate(40);
        }),
        ("tables[0].rows", |r| r.tables[0].rows[0].truncate(1)),
        ("comparisons[0].difference", |r| {
            r.comparisons[0].difference = None
        }),
        ("comparisons[0].difference", |r| {
            let found: &mut Differences = r.comparisons[0].difference.as_mut().expect("some");
            found.better = 1.5;
        }),
        ("comparisons[0].tails", |r| {
            r.comparisons[0].tails[0].interval = [0.5, 0.6]
        }),
        ("comparisons[0].tails", |r| {
            r.comparisons[0].tails[0].p = 49.0
        }),
        ("gates[0].limit_ns", |r| r.gates[0].limit_ns = Some(1)),
        ("gates[0].gate", |r| r.gates[0].gate = "p101<=1s".to_owned()),
    ];
    for (field, wrong) in wrongs {
        let mut report = sound();
        wrong(&mut report);
        let error = read(&report).expect_err(field);
        assert_eq!(error.kind(), ReadErrorKind::Malformed);
        assert!(
            error.to_string().ends_with(&format!("at {field}")),
            "{field}: {error}"
        );
        assert!(matches!(error.place(), Place::Field { .. }));
    }
}

#[test]
fn the_histogram_of_another_run_is_noticed() {
    let mut report = sound();
    let mut other = Recorder::new(Spec::new(LatencyName::Service, "call"), Instant::now());
    (0..1_000u64).for_each(|nth| other.record_ns(5_000_000 + nth));
    report.latencies[0].histogram_v2_deflate_b64 =
        other.finish().latency().histogram_v2_deflate_b64;
    assert!(read(&report).is_err());
}

#[test]
fn negative_rates_are_refused() {
    let mut wrong = sound();
    wrong.throughput.ops_per_s = Some(-1.0);
    assert!(read(&wrong).unwrap_err().message().contains("ops_per_s"));
    let mut wrong = sound();
    wrong.environment.steal_ratio = Some(1.5);
    assert!(read(&wrong).is_err());
}

#[test]
fn many_small_rows_that_unpack_to_much_are_refused_soon() {
    // Each asks for a histogram of three million counts in a hundred bytes.
    let wide = crate::Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 5).expect("bounds");
    let row = Latency::from_histogram(LatencyName::Hold, "call", Timing::Actual, &wide);
    assert!(row.histogram_v2_deflate_b64.len() < 200);
    let started = Instant::now();
    let error = read(&report(vec![row; 9_000])).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    assert!(started.elapsed().as_secs() < 60);
    let many = report(vec![recorded(); ROWS_MAX + 1]);
    assert_eq!(check(&many).unwrap_err().kind(), ReadErrorKind::TooLarge);
}
