//! Tests of `.hgrm`.

use std::time::Instant;

use proptest::prelude::*;

use super::write::{HEADER, ladder};
use hdrhistogram::Histogram;

use super::*;
use crate::report::GateVerdict;
use crate::{Recorder, Spec};

fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    values
        .into_iter()
        .for_each(|ns| histogram.record(ns).unwrap());
    histogram
}

fn written(h: &Histogram<u64>, unit: HgrmUnit) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes, h, unit).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn golden() {
    let text = written(&histogram((1..=1_000).map(|i| i * 1_000)), HgrmUnit::Us);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "       Value     Percentile TotalCount 1/(1-Percentile)"
    );
    assert_eq!(lines[1], "");
    assert_eq!(
        lines[2],
        "       1.000 0.000000000000          1           1.00"
    );
    assert_eq!(
        lines[3],
        "     100.031 0.100000000000        100           1.11"
    );
    assert_eq!(
        lines[7],
        "     500.223 0.500000000000        500           2.00"
    );
    assert_eq!(
        lines[8],
        "     550.399 0.550000000000        550           2.22"
    );
    assert_eq!(
        lines[2 + 120],
        "    1000.447 1.000000000000       1000            inf"
    );
    assert_eq!(
        lines[123],
        "#[Mean    =      500.505, StdDeviation   =      288.676]"
    );
    assert_eq!(
        lines[124],
        "#[Max     =     1000.447, Total count    =         1000]"
    );
    assert_eq!(
        lines[125],
        "#[Buckets =           32, SubBuckets     =         2048]"
    );
    assert_eq!(lines.len(), 126);
}

#[test]
fn every_row_has_four_fields_and_every_file_the_same_ladder() {
    let samples = [
        histogram([]),
        histogram([0]),
        histogram([7; 3]),
        histogram(0..5_000),
    ];
    let ladders: Vec<Vec<String>> = samples
        .iter()
        .map(|h| {
            let text = written(h, HgrmUnit::Ns);
            let rows = text.lines().skip(2).filter(|line| !line.starts_with('#'));
            rows.map(|row| {
                let fields: Vec<&str> = row.split_whitespace().collect();
                assert_eq!(fields.len(), 4, "{row}");
                fields[1].to_owned()
            })
            .collect()
        })
        .collect();
    assert_eq!(ladders[0].len(), 121);
    assert!(ladders.iter().all(|ladder| *ladder == ladders[0]));
}

#[test]
fn what_other_tools_write_is_read() {
    let text = "       Value     Percentile TotalCount 1/(1-Percentile)\r\n\r\n\
                0.022 0.000000000000          1           1.00\r\n\
                0.500 0.500000000000          3           2.00\r\n\
                1.500 1.000000000000          4\r\n\
                #[Mean    =        0.500, StdDeviation   =        0.100]\r\n\
                #[Max     =        1.500, Total count    =            4]\r\n\
                #[Buckets =           22, SubBuckets     =         2048]\r\n";
    let hgrm = read(text, HgrmUnit::Ms).unwrap();
    assert_eq!((hgrm.rows.len(), hgrm.total_count), (3, 4));
    assert_eq!(
        (hgrm.mean_ns, hgrm.max_ns),
        (Some(500_000.0), Some(1_500_000.0))
    );
    assert_eq!((hgrm.buckets, hgrm.sub_buckets), (Some(22), Some(2048)));
    let histogram = hgrm.histogram();
    assert_eq!(histogram.len(), 4);
    assert!(histogram.equivalent(histogram.value_at_quantile(0.5), 500_000));
}

#[test]
fn broken_files_name_the_line() {
    let error = read("hello\n", HgrmUnit::Us).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Foreign);
    assert!(read("", HgrmUnit::Us).is_err());
    let head = "Value Percentile TotalCount 1/(1-Percentile)\n\n";
    for (rows, line) in [
        ("1 0.1\n", 3),
        ("1 0.1 1 1 1\n", 3),
        ("1 0.1 1 1\nnan 0.2 2 1\n", 4),
        ("1e300 0.1 1 1\n", 3),
        ("1 1.1 1 1\n", 3),
        ("1 0.1 -1 1\n", 3),
        ("5 0.1 1 1\n4 0.2 2 1\n", 4),
    ] {
        let error = read(&format!("{head}{rows}"), HgrmUnit::Us).unwrap_err();
        assert_eq!(error.place(), Place::Line { line, column: 0 }, "{rows}");
    }
    assert!(
        read(
            &format!("{head}1 0.1 5 1\n#[Max = 1, Total count = 4]\n"),
            HgrmUnit::Us
        )
        .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trips(values in prop::collection::vec(0u64..1_000_000_000, 1..500)) {
        let h = histogram(values);
        let hgrm = read(&written(&h, HgrmUnit::Ns), HgrmUnit::Ns).unwrap();
        prop_assert_eq!(hgrm.total_count, h.len());
        prop_assert_eq!(hgrm.max_ns, Some(h.max() as f64));
        let again = hgrm.histogram();
        prop_assert_eq!(again.len(), h.len());
        let ranks: Vec<u64> = ladder().map(|step| step.rank(h.len())).collect();
        let (old, new) = (values_at_ranks(&h, &ranks), values_at_ranks(&again, &ranks));
        prop_assert!(old.iter().zip(&new).all(|(old, new)| h.equivalent(*old, *new)));
    }

    #[test]
    fn hostile_text_never_panics(text: String, rows: Vec<(f64, f64, u64)>) {
        let _ = read(&text, HgrmUnit::Ms);
        let mut table = HEADER.to_owned();
        for (value, quantile, total) in rows {
            table.push_str(&format!("\n{value} {quantile} {total} inf"));
        }
        if let Ok(hgrm) = read(&format!("{table}\n{text}"), HgrmUnit::Ms) {
            let _ = hgrm.histogram().mean();
        }
    }
}

/// A run of wrk2: its values are milliseconds, and its header is that of C tools.
const WRK2_OUTPUT: &str = "Running 10s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.21ms
 99.000%    9.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.312     0.000000            1         1.00
       1.210     0.500000          500         2.00
       2.400     0.900000          900        10.00
       9.503     0.990625          991       106.67
      12.007     1.000000         1000          inf
#[Mean    =        1.520, StdDeviation   =        1.100]
#[Max     =       12.000, Total count    =         1000]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
  1000 requests in 10.00s, 1.00MB read
Requests/sec:    100.00
";

#[test]
fn the_output_of_wrk2_is_of_milliseconds_and_of_response_times() {
    assert_eq!(unit_of(WRK2_OUTPUT), HgrmUnit::Ms);
    let alone = &WRK2_OUTPUT[WRK2_OUTPUT.find("       Value").unwrap()..];
    let alone = &alone[..alone.find("-----").unwrap()];
    assert_eq!(unit_of(alone), HgrmUnit::Ms);
    for (text, name) in [
        (WRK2_OUTPUT, LatencyName::Response),
        (alone, LatencyName::Service),
    ] {
        let row = read(text, unit_of(text)).unwrap().latency();
        assert_eq!((row.name, row.n), (name, 1_000));
        assert_eq!(row.mean_ns, Some(1_520_000.0));
        let p99 = row.percentile(99.0).unwrap();
        assert!((9_490_000..9_520_000).contains(&p99), "{p99}");
        // No narrower than the rows of the file.
        assert_eq!(
            row.find_percentile(99.0).unwrap().ci95_ns.unwrap()[0],
            2_400_000
        );
    }
    let java = "       Value     Percentile TotalCount 1/(1-Percentile)\n";
    assert_eq!(unit_of(java), HgrmUnit::Us);
    // Lines are counted from the first one of the output.
    let broken = WRK2_OUTPUT.replace("0.990625          991", "0.99          x");
    let error = read(&broken, HgrmUnit::Ms).unwrap_err();
    assert!(error.to_string().contains("line 13"), "{error}");
}

#[test]
fn the_least_and_the_greatest_value_are_those_that_a_file_states() {
    let ends = |text: &str| {
        let row = read(text, HgrmUnit::Ms).unwrap().latency();
        assert!(carried::holds(&row), "{row:?}");
        let percentiles = row.percentiles.iter().filter_map(|found| found.value_ns);
        assert!(percentiles.max() <= row.max_ns, "{row:?}");
        [row.min_ns, row.max_ns].map(Option::unwrap)
    };
    assert_eq!(ends(WRK2_OUTPUT), [312_000, 12_000_000]);
    let stating = |max: &str| ends(&WRK2_OUTPUT.replace("12.000, Total", max))[1];
    // A footer that contradicts the rows is not believed.
    for (max, expected) in [
        ("12.007, Total", 12_007_000),
        ("11.500, Total", 11_500_000),
        ("9.000, Total", 12_007_000),
        ("99.000, Total", 12_007_000),
        ("x, Total", 12_007_000),
    ] {
        assert_eq!(stating(max), expected, "{max}");
    }
    let gate: crate::Gate = "max<=12ms".parse().unwrap();
    let row = read(WRK2_OUTPUT, HgrmUnit::Ms).unwrap().latency();
    assert_eq!(gate.decide(&[row]).verdict, GateVerdict::Pass);
    // One value alone, and none.
    let head = "Value Percentile TotalCount 1/(1-Percentile)\n";
    assert_eq!(
        ends(&format!(
            "{head}1.001 1.0 1 1\n#[Max = 1.000, Total count = 1]\n"
        )),
        [1_000_000; 2]
    );
    let none = read(&written(&histogram([]), HgrmUnit::Us), HgrmUnit::Us)
        .unwrap()
        .latency();
    assert_eq!((none.min_ns, none.max_ns), (None, None));
}

#[test]
fn what_is_written_reads_back_with_its_row_its_unit_and_its_mean() {
    let mut histogram = Histogram::new_with_bounds(1, 1_000_000_000, 3).unwrap();
    for value in 1..=5_000_u64 {
        histogram.record(value * value).unwrap();
    }
    for unit in [HgrmUnit::Ns, HgrmUnit::Us, HgrmUnit::Ms] {
        let mut text = Vec::new();
        write(&mut text, &histogram, unit).unwrap();
        write_row(&mut text, LatencyName::Response, unit).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(unit_of(&text), unit);
        let row = read(&text, unit).unwrap().latency();
        assert_eq!((row.name, row.n), (LatencyName::Response, 5_000));
        let mean = row.mean_ns.unwrap();
        assert!(
            (mean / histogram.mean() - 1.0).abs() < 0.001,
            "{unit}: {mean}"
        );
        let truth = histogram.value_at_quantile(0.99);
        let [low, high] = row.find_percentile(99.0).unwrap().ci95_ns.unwrap();
        assert!(low <= truth && truth <= high);
        let rank = crate::percentile::order_statistic_ranks(5_000, 99.0, 0.95).unwrap();
        let exact = |rank: u64| histogram.value_at_quantile(rank as f64 / 5_000.0);
        assert!(low <= exact(rank.0) && exact(rank.1) <= high + high / 500);
    }
}

/// A file with all that a report says of a row.
fn whole(row: &Latency) -> String {
    let mut bytes = written(&row.histogram().unwrap(), HgrmUnit::Us).into_bytes();
    write_row(&mut bytes, row.name, HgrmUnit::Us).unwrap();
    let start = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_456);
    write_start(&mut bytes, start).unwrap();
    write_whole(&mut bytes, row).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_row_comes_back_whole_while_it_agrees_with_the_distribution() {
    for values in [0, 1, 7, 5_000] {
        let spec = Spec::new(LatencyName::Hold, "128 KiB, Unit = ms]").series("a,b = c");
        let mut recorder = Recorder::new(spec, Instant::now());
        (0..values).for_each(|nth: u64| recorder.record_ns(nth * nth * 7_919 % 9_000_003));
        let row = recorder.finish().latency();
        let text = whole(&row);
        assert_eq!(unit_of(&text), HgrmUnit::Us);
        let found = read(&text, HgrmUnit::Us).unwrap();
        assert_eq!(found.latency(), row);
        let micros = started_at(&text)
            .unwrap()
            .duration_since(SystemTime::UNIX_EPOCH);
        assert_eq!(micros.unwrap().as_micros(), 1_700_000_000_123_456);
        // Values of another unit are other values.
        if values > 1 {
            let other = read(&text, HgrmUnit::Ms).unwrap().latency();
            assert_eq!((other.n, other.operation.as_str()), (row.n, "operation"));
        }
    }
}

#[test]
fn a_distribution_that_was_edited_is_read_as_it_stands() {
    let spec = Spec::new(LatencyName::Service, "call");
    let mut recorder = Recorder::new(spec, Instant::now());
    (1..=1_000).for_each(|nth| recorder.record_ns(nth * 1_000));
    let text = whole(&recorder.finish().latency());
    let edited = text.replacen("     500.223", "     520.000", 1);
    assert_ne!(edited, text);
    let row = read(&edited, HgrmUnit::Us).unwrap().latency();
    assert_eq!((row.n, row.operation.as_str()), (1_000, "operation"));
}

#[test]
fn between_two_lines_a_value_is_known_to_lie_between_them() {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    for nth in 0..100_000_u64 {
        histogram.record(1_000_000 + nth * 150).unwrap();
    }
    let mut text = String::from("Value Percentile TotalCount 1/(1-Percentile)\n");
    for quantile in [0.0, 0.5, 0.9, 0.95, 0.98, 0.99, 1.0] {
        let value = histogram.value_at_quantile(quantile);
        let count = histogram.count_between(0, value);
        text += &format!("{value} {quantile} {count} 1\n");
    }
    let row = read(&text, HgrmUnit::Ns).unwrap().latency();
    let json = serde_json::to_string(&row).unwrap();
    let again: Latency = serde_json::from_str(&json).unwrap();
    for row in [row, again] {
        for p in [3.0, 60.0, 93.0, 97.0, 98.5, 99.5] {
            let gate = |ns: u64| {
                let gate: crate::Gate = format!("p{p}<={ns}ns").parse().unwrap();
                gate.decide(std::slice::from_ref(&row))
            };
            let known = histogram.value_at_quantile(p / 100.0);
            let [low, high] = gate(known).ci95_ns.unwrap();
            assert!(low <= known && known <= high, "p{p}: {known} {low} {high}");
            // What lies between the lines is not decided, and what lies outside is.
            let verdict = |ns| gate(ns).verdict;
            assert_eq!(verdict(known), GateVerdict::Inconclusive, "p{p}");
            assert_eq!(verdict(high), GateVerdict::Pass, "p{p}");
            assert_eq!(verdict(low - 1), GateVerdict::Fail, "p{p}");
        }
    }
    // A row with a histogram of its own keeps its intervals.
    let whole = Latency::from_histogram(LatencyName::Service, "call", Timing::Actual, &histogram);
    let gate: crate::Gate = "p97<=1ns".parse().unwrap();
    let [low, high] = gate.decide(&[whole]).ci95_ns.unwrap();
    assert!(high - low < high / 100, "{low} {high}");
}

#[test]
fn a_distribution_without_its_end_is_refused() {
    let whole = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       1.000 0.000000000000          1           1.00\n\
                        \x20      2.000 0.500000000000         50           2.00\n      90.000 0.990000000000         99         100.00\n\
                        \x20    900.000 1.000000000000        100\n#[Mean    =        5.000, StdDeviation   =        1.000]\n\
                        #[Max     =      900.000, Total count    =          100]\n";
    assert!(read(whole, HgrmUnit::Ms).is_ok());
    let end = whole.find("     900.000").expect("a row");
    for cut in [&whole[..end], &whole[..end + 12], &whole[..end + 16]] {
        let refused = read(cut, HgrmUnit::Ms).expect_err("cut");
        assert_eq!(refused.kind(), ReadErrorKind::Malformed, "{cut}");
    }
}
