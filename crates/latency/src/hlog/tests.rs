//! Tests of `.hlog`.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use proptest::prelude::*;

use super::*;
use crate::coding;
use crate::hgrm::HgrmUnit;
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::report::{Interval, Latency, LatencyName};
use crate::{IntervalLog, Recorder, Spec};

/// A row of one value every 100 ms, of 1, 2, 3 … µs.
fn recorded(name: LatencyName, series: Option<&str>, values: u64, seconds: bool) -> Latency {
    let start = Instant::now();
    let log = IntervalLog::new(Duration::from_secs(1), io::Cursor::new(Vec::new())).unwrap();
    let mut spec = Spec::new(name, "call").intervals(seconds.then(|| log.clone()));
    spec.series = series.map(str::to_owned);
    let mut recorder = Recorder::new(spec, start);
    for i in 0..values {
        let end = start + Duration::from_millis(100 * i + 50);
        recorder.record_span(end - Duration::from_micros(i + 1), end);
    }
    let mut row = recorder.finish().latency();
    row.intervals = log.finish().unwrap().of_row(&row).unwrap();
    row
}

fn written(rows: &[&Latency]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(
        &mut bytes,
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        rows,
        None,
    )
    .unwrap();
    bytes
}

#[test]
fn a_line_a_second_a_tag_in_the_order_of_time() {
    let service = recorded(LatencyName::Service, Some("level 3, long"), 25, true);
    let hold = recorded(LatencyName::Hold, None, 25, true);
    let bytes = written(&[&service, &hold]);
    let text = std::str::from_utf8(&bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "#[Histogram log format version 1.3]");
    assert_eq!(
        lines[1],
        "#[StartTime: 1700000000.000 (seconds since epoch)]"
    );
    assert_eq!(
        lines[2],
        "#[BaseTime: 1700000000.000 (seconds since epoch)]"
    );
    assert!(lines[3].starts_with("\"StartTimestamp\","));
    assert_eq!(lines[4], "#[MaxValueDivisor: 1000000.000]");
    assert!(lines[5].starts_with("Tag=level_3__long-service,0.000,1.000,0.010,HISTFAAA"));
    assert!(lines[6].starts_with("Tag=hold,0.000,1.000,"));
    assert!(
        lines[9].starts_with("Tag=level_3__long-service,2.000,0.450,"),
        "{}",
        lines[9]
    );
    assert_eq!(lines.len(), 11);
}

#[test]
fn the_crates_own_reader_reads_it() {
    let service = recorded(LatencyName::Service, None, 25, true);
    let bytes = written(&[&service]);
    let entries: Vec<_> = IntervalLogIterator::new(&bytes)
        .map(Result::unwrap)
        .collect();
    assert_eq!(entries.len(), 2 + 3);
    let mut n = 0;
    for entry in entries {
        if let LogEntry::Interval(interval) = entry {
            assert_eq!(interval.tag().unwrap().as_str(), "service");
            n += coding::decode_base64(interval.encoded_histogram())
                .unwrap()
                .len();
        }
    }
    assert_eq!(n, 25);
}

fn read_rows(bytes: &[u8]) -> Result<Vec<Latency>, ReadError> {
    latencies(&read(bytes)?)
}

#[test]
fn rows_come_back() {
    let service = recorded(LatencyName::Service, Some("json"), 25, true);
    let whole = recorded(LatencyName::Response, None, 40, false);
    let rows = read_rows(&written(&[&service, &whole])).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (rows[0].label(), rows[1].label()),
        (service.label(), whole.label())
    );
    for (read, original) in rows.iter().zip([&service, &whole]) {
        assert_eq!(read.n, original.n);
        assert_eq!(read.histogram().unwrap(), original.histogram().unwrap());
    }
    // The counts are the same; each writer may pack them in its own way.
    let counts = |row: &Latency| -> Vec<_> {
        let interval = |i: &Interval| (i.start_ns, i.length_ns, i.histogram().unwrap());
        row.intervals.iter().map(interval).collect()
    };
    assert_eq!(counts(&rows[0]), counts(&service));
    assert_eq!(rows[1].intervals, []);
}

#[test]
fn a_log_that_is_written_again_keeps_its_last_samples_and_its_start() {
    let part = |values: u64| {
        let row = recorded(LatencyName::Service, None, values, false);
        coding::encode_deflate(&row.histogram().unwrap()).unwrap()
    };
    let mut row = recorded(LatencyName::Service, None, 12, false);
    row.intervals = [(0, 1_000_000_000, 10), (1_000_000_000, 200_000, 2)]
        .map(|(start_ns, length_ns, values)| Interval {
            start_ns,
            length_ns,
            histogram_v2_deflate: part(values),
        })
        .to_vec();
    let start = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_250);
    let mut log = Vec::new();
    write(&mut log, start, &[&row], None).unwrap();
    assert_eq!(started_at(&log), Some(start));
    let rows = read_rows(&log).unwrap();
    assert_eq!((rows[0].n, rows[0].intervals.len()), (12, 2));
    let mut again = Vec::new();
    write(&mut again, start, &[&rows[0]], None).unwrap();
    assert_eq!(read_rows(&again).unwrap()[0].n, 12);
    assert_eq!(
        String::from_utf8(again).unwrap(),
        String::from_utf8(log).unwrap()
    );
    assert_eq!(started_at(b"nothing"), None);
}

#[test]
fn untagged_and_absolute_times() {
    let encoded = recorded(LatencyName::Service, None, 5, false).histogram_v2_deflate_b64;
    let log = format!(
        "#[StartTime: 1700000000.000 (seconds since epoch), today]\n1700000001.500,1.000,0.005,{encoded}\r\n\n1700000002.500,1.000,0.005,{encoded}"
    );
    let rows = read_rows(log.as_bytes()).unwrap();
    assert_eq!(
        (rows.len(), rows[0].n, rows[0].label().as_str()),
        (1, 10, "service")
    );
    assert_eq!(rows[0].intervals[1].start_ns, 1_000_000_000);
}

#[test]
fn broken_logs_name_the_line() {
    assert_eq!(read(b"").unwrap_err().kind(), ReadErrorKind::Foreign);
    assert_eq!(
        read(b"# nothing\n").unwrap_err().kind(),
        ReadErrorKind::Foreign
    );
    let error = read(b"#[StartTime: 1.0 (x)]\nhello\n").unwrap_err();
    assert_eq!(error.place(), Place::Line { line: 2, column: 0 });
    let error = read(b"#x\n\n0.0,1.0,2.0,HISTxxxx\n").unwrap_err();
    assert_eq!(error.place(), Place::Line { line: 3, column: 0 });
    let lying = coding::tests_support::lying_header();
    let error = read(format!("0.0,1.0,2.0,{lying}\n").as_bytes()).unwrap_err();
    assert_eq!(error.place(), Place::Line { line: 1, column: 0 });
}

#[test]
fn unreadable_rows_are_not_written() {
    let mut row = recorded(LatencyName::Service, None, 5, false);
    row.histogram_v2_deflate_b64 = "AAAA".to_owned();
    let error = write(&mut Vec::new(), SystemTime::now(), &[&row], None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn hostile_bytes_never_panic(bytes: Vec<u8>, text: String) {
        let _ = read_rows(&bytes);
        let _ = read_rows(text.as_bytes());
        let _ = read_rows(format!("Tag={text},0.0,1.0,2.0,{text}\n").as_bytes());
    }

    #[test]
    fn damaged_logs_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = written(&[&recorded(LatencyName::Service, Some("x"), 15, true)]);
        for (at, with) in flips {
            let at = at.index(bytes.len());
            bytes[at] = with;
        }
        let _ = read_rows(&bytes);
    }
}

#[test]
fn what_a_row_says_beyond_its_histograms_comes_back() {
    let service = recorded(LatencyName::Service, Some("a b"), 250, true);
    let hold = recorded(LatencyName::Hold, None, 3, false);
    assert!(service.buckets.is_some() && service.intervals.len() == 25);
    let rows = [&service, &hold];
    let mut bytes = written(&rows);
    write_rows(&mut bytes, &rows).unwrap();
    // Histograms of intervals are packed in another way.
    let plain = |row: &Latency| {
        let mut row = row.clone();
        row.log_parts.clear();
        for interval in &mut row.intervals {
            let histogram = interval.histogram().unwrap();
            interval.histogram_v2_deflate = coding::encode_deflate(&histogram).unwrap();
        }
        row
    };
    let found = self::rows(&bytes).unwrap();
    let found: Vec<Latency> = found.iter().map(plain).collect();
    let expected = rows.map(plain);
    assert_eq!(found, expected);
    // A log that lost a line says nothing of its rows as they were.
    let lines = String::from_utf8(bytes).unwrap();
    let cut: String = lines
        .split_inclusive('\n')
        .filter(|line| !line.contains(",3.000,"))
        .collect();
    let cut = self::rows(cut.as_bytes()).unwrap();
    assert_eq!((cut[0].n, cut[0].operation.as_str()), (240, "operation"));
    assert_eq!(cut[1], expected[1]);
}

/// The log of a histogram whose steps are as wide as its least discernible value.
fn coarse_log(low: u64, values: impl Iterator<Item = u64>) -> (Histogram<u64>, String) {
    let mut histogram = Histogram::new_with_bounds(low, 3_600_000_000_000, 3).unwrap();
    values.for_each(|value| histogram.record(value).unwrap());
    let encoded = coding::encode_base64(&histogram);
    (histogram, format!("0.0,1.0,2.0,{encoded}\n"))
}

#[test]
fn values_are_those_of_the_histograms_own_steps() {
    let (java, log) = coarse_log(1_000_000, (0..20_000).map(|nth| 5_000_000 + nth * 431));
    let row = &read_rows(log.as_bytes()).unwrap()[0];
    for p in [50.0, 90.0, 99.0, 99.9] {
        let known = java.value_at_quantile(p / 100.0).min(java.max());
        assert_eq!(row.percentile(p), Some(known), "p{p}");
    }
    assert_eq!(
        (row.min_ns, row.max_ns),
        (Some(java.min()), Some(java.max()))
    );
    assert_eq!((row.mean_ns, row.n), (Some(java.mean()), 20_000));
    assert_eq!(row.histogram().unwrap(), java);
    // Two of them, and one with a finer one, say no more than the coarser knows.
    let (_, fine) = coarse_log(1, (0..20_000).map(|nth| 5_000_000 + nth * 431));
    for other in [&log, &fine] {
        let row = &read_rows(format!("{log}{other}").as_bytes()).unwrap()[0];
        assert_eq!((row.n, row.max_ns), (40_000, Some(java.max())));
        assert_eq!(row.percentile(50.0), Some(java.value_at_quantile(0.5)));
        let mut merged = read_rows(log.as_bytes()).unwrap().remove(0);
        merged
            .merge(&read_rows(other.as_bytes()).unwrap()[0])
            .unwrap();
        assert_eq!(merged.percentile(50.0), row.percentile(50.0));
    }
}

#[test]
fn values_in_another_unit_become_nanoseconds() {
    let values = || (0..20_000).map(|nth| 1 + nth % 900);
    let (java, log) = coarse_log(1, values());
    for (unit, factor) in [(HgrmUnit::Us, 1_000), (HgrmUnit::Ms, 1_000_000)] {
        let found = rows_in(log.as_bytes(), Some(unit)).unwrap();
        assert!(!found.unit_assumed);
        let row = &found.rows[0];
        assert_eq!(
            (row.n, row.min_ns, row.max_ns),
            (20_000, Some(factor), Some(900 * factor))
        );
        assert_eq!(row.mean_ns, Some(java.mean() * factor as f64));
        for p in [50.0, 99.0, 99.9] {
            let known = (java.value_at_quantile(p / 100.0) * factor) as f64;
            let found = row.percentile(p).unwrap() as f64;
            assert!((found / known - 1.0).abs() < 1e-3, "p{p} {found} {known}");
        }
        assert_eq!(row.intervals[0].histogram().unwrap().len(), 20_000);
        crate::carried::holds(row)
            .then_some(())
            .expect("consistent");
    }
    let plain = rows_in(log.as_bytes(), None).unwrap();
    assert!(plain.unit_assumed && plain.rows[0].max_ns == Some(900));
    let (_, large) = coarse_log(
        1_000_000,
        [u64::MAX >> 22]
            .into_iter()
            .map(|most| most.min(3_600_000_000_000)),
    );
    let error = rows_in(
        large.replace("0.0,1.0", "0.0,2.0").as_bytes(),
        Some(HgrmUnit::Ms),
    );
    assert!(error.is_ok(), "an hour of nanoseconds fits: {error:?}");
    // A log of perfkit is one of nanoseconds.
    let own = recorded(LatencyName::Service, None, 25, true);
    let mut bytes = written(&[&own]);
    write_rows(&mut bytes, &[&own]).unwrap();
    assert!(!rows_in(&bytes, None).unwrap().unit_assumed);
    let again = rows_in(&bytes, Some(HgrmUnit::Us)).unwrap();
    assert_eq!(
        again.rows[0].max_ns.map(|ns| ns / 1_000_000),
        own.max_ns.map(|ns| ns / 1_000)
    );
}

#[test]
fn values_beyond_all_times_are_refused() {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, u64::MAX >> 1, 2).unwrap();
    histogram.record(u64::MAX >> 2).unwrap();
    let log = format!("0.0,1.0,2.0,{}\n", coding::encode_base64(&histogram));
    assert!(rows_in(log.as_bytes(), Some(HgrmUnit::Ns)).is_ok());
    let error = rows_in(log.as_bytes(), Some(HgrmUnit::Us)).unwrap_err();
    assert!(
        error.message().contains("too large for its unit"),
        "{error}"
    );
}

/// A log of `intervals` lines of values that depend on each other by `rho`, around a median of 1 ms.
fn dependent_log(seed: u64, intervals: usize, rho: f64) -> String {
    let mut rng = crate::SplitMix64::new(seed);
    let mut at = rng.normal();
    let mut log = String::new();
    for nth in 0..intervals {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 32, 2).unwrap();
        for _ in 0..100 {
            at = rho * at + (1.0 - rho * rho).sqrt() * rng.normal();
            histogram.record((1e6 * (at / 4.0).exp()) as u64).unwrap();
        }
        let encoded = coding::encode_base64(&histogram);
        log += &format!("{nth}.0,1.0,2.0,{encoded}\n");
    }
    log
}

#[test]
fn intervals_show_how_values_depend_on_each_other() {
    let covers = |rho: f64| {
        let covered = (0..60).filter(|seed| {
            let row = &read_rows(dependent_log(*seed, 100, rho).as_bytes()).unwrap()[0];
            let [low, high] = row.percentiles[0].ci95_ns.unwrap();
            (low..=high).contains(&1_000_000)
        });
        covered.count()
    };
    let (free, bound) = (covers(0.0), covers(0.99));
    assert!(free >= 52 && bound >= 50, "of 60: {free} {bound}");
    let few = dependent_log(1, crate::dependence::INTERVALS_MIN - 1, 0.99);
    assert_eq!(read_rows(few.as_bytes()).unwrap()[0].effective_n, None);
    let enough = dependent_log(1, crate::dependence::INTERVALS_MIN, 0.99);
    let row = &read_rows(enough.as_bytes()).unwrap()[0];
    assert!(
        row.effective_n.is_some_and(|counts| counts < row.n / 4),
        "{row:?}"
    );
}

#[test]
fn a_line_that_its_writer_did_not_end_is_left_out() {
    let whole = dependent_log(1, 3, 0.0);
    assert_eq!(cut_line(whole.as_bytes()).unwrap(), None);
    assert_eq!(cut_line(whole.trim_end().as_bytes()).unwrap(), None);
    let second = whole.match_indices('\n').nth(1).unwrap().0 + 1;
    for cut in second + 1..whole.len() - 1 {
        let found = rows_in(&whole.as_bytes()[..cut], None).unwrap();
        assert_eq!((found.rows[0].n, found.cut_line), (200, Some(3)), "{cut}");
    }
    // A bad line that was ended, one before the last, and a single one are wrong.
    for text in [
        format!("{}\n", &whole[..whole.len() - 9]),
        whole.replace("1.0,1.0,2.0,HIST", "1.0,1.0,2.0,XXXX"),
        whole[..40].to_owned(),
    ] {
        assert!(rows_in(text.as_bytes(), None).is_err(), "{text}");
    }
}

#[test]
fn what_is_no_log_of_histograms_says_what_it_is() {
    let why = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    for empty in ["", "\n \n"] {
        assert!(why(empty).contains("it has no values"), "{}", why(empty));
    }
    // The first bytes of what Java's DoubleHistogram writes.
    let double = why("0.0,1.0,2.0,DHISTwAAAAMAAAAAAAAABByEkxQAAAAQ\n");
    assert!(double.contains("DoubleHistogram"), "{double}");
}
