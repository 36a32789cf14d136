//! Tests of the rows of a run in progress: windows, gaps, threads, memory.

use super::*;
use crate::{IntervalLog, LatencyName, Recorder, Spec};

const SECOND: Duration = Duration::from_secs(1);

fn log(rows: &LiveRows, length: Duration) -> IntervalLog {
    IntervalLog::watched(length, std::io::empty(), rows.clone()).unwrap()
}

fn recorder(log: &IntervalLog, series: &str, start: Instant) -> Recorder {
    let spec = Spec::new(LatencyName::Service, "call").series(series);
    Recorder::new(spec.intervals(Some(log.clone())), start)
}

/// Spans of so many microseconds, one a millisecond.
fn record(recorder: &mut Recorder, start: Instant, millis: std::ops::Range<u64>, micros: u64) {
    for at in millis {
        let end = start + Duration::from_millis(at) + Duration::from_micros(999);
        recorder.record_span(end - Duration::from_micros(micros), end);
    }
}

/// The rows when all that was recorded has arrived.
fn read(log: IntervalLog, rows: &LiveRows) -> Vec<LiveRow> {
    log.finish().unwrap();
    rows.read()
}

#[test]
fn windows_hold_what_was_recorded_in_them() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    assert!(rows.read().is_empty());
    let log = log(&rows, SECOND / 4);
    let mut one = recorder(&log, "row", start);
    assert!(rows.read().is_empty(), "a row without a value");
    record(&mut one, start, 0..1_000, 10);
    record(&mut one, start, 1_000..2_000, 40);
    record(&mut one, start, 4_000..4_500, 20);
    drop(one.finish());
    let found = read(log, &rows);
    let [row] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((row.label.as_str(), row.earlier), ("row service", 0));
    let counts: Vec<u64> = row.windows.iter().map(|window| window.n).collect();
    // The fifth second is not over.
    assert_eq!(counts, [1_000, 1_000]);
    assert_eq!(row.all.n, 2_500);
    let near = |ns: Option<u64>, micros: u64| ns.unwrap().abs_diff(micros * 1_000) < 500;
    assert!(near(row.windows[0].p99_ns, 10) && near(row.windows[1].p50_ns, 40));
    assert!(near(Some(row.all.max_ns), 40));
    assert_eq!(row.windows[1].per_s().round(), 1_000.0);
    assert!(rows.held_bytes() > 0);
}

#[test]
fn seconds_without_a_value_are_gaps() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    let log = log(&rows, SECOND);
    let mut one = recorder(&log, "row", start);
    for at in [0, 3, 4, 6] {
        record(&mut one, start, at * 1_000..at * 1_000 + 300, 5);
    }
    drop(one.finish());
    let counts: Vec<u64> = read(log, &rows)[0].windows.iter().map(|w| w.n).collect();
    assert_eq!(counts, [300, 0, 0, 300, 300]);
}

#[test]
fn threads_of_a_row_are_one_and_a_later_run_goes_on() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    let log = log(&rows, SECOND);
    for at in [0, 5] {
        let begin = start + SECOND * at;
        let mut one = recorder(&log, "row", begin);
        let mut two = recorder(&log, "row", begin);
        record(&mut one, begin, 0..2_000, 5);
        record(&mut two, begin, 0..2_000, 5);
        one.merge(two).unwrap();
        drop(one.finish());
    }
    let mut other = recorder(&log, "other", start);
    record(&mut other, start, 0..10, 5);
    drop(other.finish());
    let found = read(log, &rows);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].label, "row service");
    let counts: Vec<u64> = found[0].windows.iter().map(|w| w.n).collect();
    assert_eq!(counts, [2_000, 2_000, 0, 0, 0, 2_000]);
    // Both threads cover the same time.
    let per_s = found[0].all.per_s();
    assert!((1_999.0..2_002.0).contains(&per_s), "{per_s}");
}

#[test]
fn few_values_have_no_percentile() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    let log = log(&rows, SECOND);
    let mut one = recorder(&log, "row", start);
    record(&mut one, start, 0..20, 5);
    drop(one.finish());
    let all = read(log, &rows)[0].all;
    assert!(all.p50_ns.is_some() && all.p99_ns.is_none() && all.n == 20);
    assert_eq!(Window::default().per_s(), 0.0);
}

#[test]
fn single_values_are_told_from_twenty_floors_on_and_means_of_batches_always() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    rows.tell_from(600);
    let log = log(&rows, SECOND);
    let mut single = recorder(&log, "single", start);
    record(&mut single, start, 0..20, 5);
    let mut means = recorder(&log, "means", start);
    means.record_batch(start, start + SECOND, 1_000);
    drop((single.finish(), means.finish()));
    let told: Vec<u64> = read(log, &rows)
        .iter()
        .map(|row| row.told_from_ns)
        .collect();
    assert_eq!(told, [600, 0]);
}

#[test]
fn memory_is_bounded_however_long_the_run_is_and_however_many_rows_it_has() {
    let start = Instant::now();
    let rows = LiveRows::new(start, SECOND);
    let mut histogram = Histogram::new(3).unwrap();
    histogram.record(1_000).unwrap();
    let seat = rows.seat("row", start).unwrap();
    for at in 0..10_000_u64 {
        rows.add(seat, at * 1_000_000_000, 1_000_000_000, &histogram);
    }
    let row = rows.read().remove(0);
    assert_eq!((row.windows.len(), row.all.n), (WINDOWS, 10_000));
    assert_eq!(row.earlier, 10_000 - WINDOWS as u64);
    let held = rows.held_bytes();
    rows.add(seat, u64::MAX, u64::MAX, &histogram);
    assert!(rows.held_bytes() <= held + held / 2);
    assert_eq!(rows.read()[0].all.n, 10_001);
    for nth in 1..ROWS {
        assert!(rows.seat(&nth.to_string(), start).is_some());
    }
    assert!(rows.seat("one more", start).is_none());
    assert!(rows.seat("7", start).is_some());
}
