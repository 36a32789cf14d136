//! Tests of the interval log: flat memory, nothing lost, nothing that belongs to no row.

use std::io::{Cursor, SeekFrom};
use std::time::{Instant, SystemTime};

use super::*;
use crate::report::{Interval, Latency};
use crate::{LatencyName, Recorder, Spec, hlog};

fn log() -> IntervalLog {
    IntervalLog::new(Duration::from_millis(1), Cursor::new(Vec::new())).unwrap()
}

fn recorder(log: &IntervalLog, series: &str, start: Instant) -> Recorder {
    let spec = Spec::new(LatencyName::Service, "call").series(series);
    Recorder::new(spec.range(1_000_000, 2).intervals(Some(log.clone())), start)
}

/// One span per millisecond given, each a few hundred microseconds long.
fn record(recorder: &mut Recorder, start: Instant, millis: impl Iterator<Item = u64>) {
    for at in millis {
        let end = start + Duration::from_millis(at) + Duration::from_micros(500);
        recorder.record_span(end - Duration::from_micros(at % 400 + 1), end);
    }
}

#[test]
fn threads_of_a_row_share_its_lines_and_a_dropped_recorder_has_none() {
    let (log, start) = (log(), Instant::now());
    let mut dropped = recorder(&log, "row", start);
    record(&mut dropped, start, 0..50);
    drop(dropped);
    let mut one = recorder(&log, "row", start);
    let mut two = recorder(&log, "row", start);
    record(&mut one, start, 0..20);
    record(&mut two, start, 10..30);
    one.merge(two).unwrap();
    let row = one.finish().latency();
    let mut logged = log.finish().unwrap();
    let counts: Vec<(u64, u64)> = logged
        .of_row(&row)
        .unwrap()
        .iter()
        .map(|i| (i.start_ns / 1_000_000, i.histogram().unwrap().len()))
        .collect();
    let expected = (0..30).map(|at| (at, 1 + u64::from((10..20).contains(&at))));
    assert_eq!(counts, expected.collect::<Vec<_>>());
    let mut text = Vec::new();
    hlog::write(&mut text, SystemTime::now(), &[&row], Some(&mut logged)).unwrap();
    let rows = hlog::latencies(&hlog::read(&text).unwrap()).unwrap();
    assert_eq!((rows[0].n, rows[0].intervals.len()), (40, 30));
}

/// As many as a long run has.
const INTERVALS: u64 = 20_000;

#[test]
fn intervals_wait_in_no_memory() {
    let (log, start) = (log(), Instant::now());
    let mut recorder = recorder(&log, "row", start);
    let one = {
        record(&mut recorder, start, 0..2);
        log.held_bytes().max(1_000)
    };
    for at in 2..INTERVALS {
        record(&mut recorder, start, at..at + 1);
        assert!(log.held_bytes() <= (WAITING_MAX as u64 + 2) * one);
    }
    let row = recorder.finish().latency();
    let intervals = log.finish().unwrap().of_row(&row).unwrap();
    let counts = |i: &Interval| i.histogram().unwrap().len();
    let counted: u64 = intervals.iter().map(counts).sum();
    assert_eq!((row.n, counted), (INTERVALS, INTERVALS));
    // Intervals that found the spool behind are merged with their neighbours, lengths included.
    let covered: u64 = intervals
        .iter()
        .map(|i| i.length_ns.div_ceil(1_000_000))
        .sum();
    assert_eq!(covered, INTERVALS);
}

/// A spool that accepts nothing until it is allowed to.
struct Slow(std::sync::mpsc::Receiver<()>, Cursor<Vec<u8>>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The sender is gone: from then on writing is quick.
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Slow {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.1.read(bytes)
    }
}

impl Seek for Slow {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.1.seek(to)
    }
}

#[test]
fn a_recorder_does_not_wait_for_a_spool_that_is_behind() {
    let (allow, allowed) = std::sync::mpsc::channel();
    let spool = Slow(allowed, Cursor::new(Vec::new()));
    let log = IntervalLog::new(Duration::from_millis(1), spool).unwrap();
    let start = Instant::now();
    let mut recorder = recorder(&log, "row", start);
    // Nothing is allowed yet: were a put to wait, this would never end.
    record(&mut recorder, start, 0..2_000);
    drop(allow);
    let row = recorder.finish().latency();
    let intervals = log.finish().unwrap().of_row(&row).unwrap();
    let counted: u64 = intervals.iter().map(|i| i.histogram().unwrap().len()).sum();
    assert_eq!(counted, 2_000);
    assert!(intervals.len() < 2_000, "some grew");
}

/// A spool that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Full {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_full_spool_is_an_error_at_the_end_and_costs_no_recording() {
    let log = IntervalLog::new(Duration::from_millis(1), Full).unwrap();
    let start = Instant::now();
    let mut recorder = recorder(&log, "row", start);
    record(&mut recorder, start, 0..1_000);
    assert_eq!(recorder.finish().n(), 1_000);
    let error = log.finish().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_row_gets_a_time_line_of_few_intervals_that_holds_all_of_it() {
    let (log, start) = (log(), Instant::now());
    let mut one = recorder(&log, "long", start);
    let mut two = recorder(&log, "long", start);
    record(&mut one, start, 0..50);
    record(&mut two, start, 40..200);
    one.merge(two).unwrap();
    let mut short = recorder(&log, "short", start);
    record(&mut short, start, 7..8);
    let mut rows = [one.finish().latency(), short.finish().latency()];
    // Such a row is not what its recorders recorded.
    let mut other: Latency = rows[0].clone();
    other.n += 1;
    let mut logged = log.finish().unwrap();
    let counts = |row: &Latency| -> u64 {
        let intervals = row.intervals.iter();
        intervals.map(|i| i.histogram().unwrap().len()).sum()
    };
    for (most, found) in [(1, 1), (2, 2), (100, 100), (199, 100), (200, 200)] {
        let intervals = logged.of_row_within(&rows[0], most).unwrap();
        assert_eq!(intervals.len(), found, "{most}");
        let covered: u64 = intervals.iter().map(|i| i.length_ns).sum();
        assert!(covered.abs_diff(200_000_000) < 1_000_000, "{covered}");
        let row = Latency {
            intervals,
            ..rows[0].clone()
        };
        assert_eq!(counts(&row), 210);
    }
    // Fewer than the spool takes at once, so that none grows.
    logged.attach(&mut rows, 50).unwrap();
    assert_eq!((rows[0].intervals.len(), rows[1].intervals.len()), (50, 0));
    logged
        .attach(std::slice::from_mut(&mut other), 100)
        .unwrap();
    assert!(other.intervals.is_empty());
}
