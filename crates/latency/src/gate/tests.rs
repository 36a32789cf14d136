//! Tests of gates.

use std::time::{Duration, Instant};

use super::*;
use crate::report::Validation;
use crate::testing::report;
use crate::{Recorder, Spec};

fn row(name: LatencyName, series: Option<&str>, values: &[u64]) -> Latency {
    let mut spec = Spec::new(name, "call");
    if let Some(series) = series {
        spec = spec.series(series);
    }
    let mut recorder = Recorder::new(spec, Instant::now());
    values.iter().for_each(|ns| recorder.record_ns(*ns));
    recorder.finish().latency()
}

fn decide(gate: &str, rows: &[Latency]) -> GateResult {
    gate.parse::<Gate>().unwrap().decide(rows)
}

#[test]
fn texts_that_are_no_gates() {
    for text in [
        "",
        "p99",
        "p99<=",
        "p99<=2",
        "p99>=2ms",
        "q99<=2ms",
        "p0<=1ms",
        "p<=1ms",
        "p99.<=1ms",
        "p+9<=1ms",
        "p1e1<=1ms",
        "pinf<=1ms",
        "request.p99<=1ms",
        "p99<=-1ms",
        "p99=<1ms",
        "p99.12345678<=1ms",
        "<=1ms",
        "p99<==1ms",
    ] {
        assert!(text.parse::<Gate>().is_err(), "{text}");
    }
    let error = "p99 of it".parse::<Gate>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`p99 of it` is not a gate: it has no `<=`, `<`, `>=` or `>`"
    );
    assert!(error.help().contains("p99.9<=2ms"));
}

#[test]
fn the_texts_of_other_numbers() {
    for text in [
        "p100<1h",
        "[level 3].p99<=2ms",
        "[a<b].service.max<=2s",
        "throughput>=1000",
        "ratio>2.5",
        "rss<=100M",
        "cpu<=2s",
        "error_rate<=1%",
        "throughput.bytes_in_per_s>=100MiB/s",
        "tables.codecs and pools.ratio>=1.1",
        "duration_ns<=1h",
    ] {
        assert!(text.parse::<Gate>().is_ok(), "{text}");
    }
    for text in [
        "[level 3]p99<=2ms",
        "[level 3.p99<=2ms",
        "ratio>=2ms",
        "ratio>=",
        "ratio",
        "rss<=2s",
        "cpu<=2",
        "error_rate<=nan",
        "throughput.>=1",
        "nothing.at_all>=1",
        "throughput>=1e400",
        "command.argv>=1",
    ] {
        assert!(text.parse::<Gate>().is_err(), "{text}");
    }
}

#[test]
fn a_series_is_chosen_by_its_name() {
    let rows = [
        row(LatencyName::Service, Some("level 1"), &[1_000; 400]),
        row(LatencyName::Service, Some("level 3"), &[9_000; 400]),
    ];
    assert_eq!(decide("p99<=5us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide("[level 1].p99<=5us", &rows).verdict,
        GateVerdict::Pass
    );
    let failed = decide("[level 3].service.p99<=5us", &rows);
    assert_eq!(failed.verdict, GateVerdict::Fail);
    assert_eq!(failed.row.as_deref(), Some("level 3 service"));
    let none = decide("[level 9].p99<=5us", &rows);
    assert_eq!(none.verdict, GateVerdict::Inconclusive);
    assert!(
        none.reason.contains("it has level 1, level 3"),
        "{}",
        none.reason
    );
}

#[test]
fn numbers_of_the_report_are_judged_as_measured() {
    let mut found = report(vec![row(LatencyName::Service, None, &[1_000; 100])]);
    found.workload.kind = "compress".to_owned();
    found.throughput.ops_per_s = Some(500.0);
    found.throughput.bytes_in = 1_000;
    found.throughput.bytes_out = 250;
    found.resources.rss_max_bytes = Some(3 << 20);
    let mut table = crate::report::Table::new(
        "codecs",
        &[
            ("codec", crate::report::Unit::Text),
            ("ratio", crate::report::Unit::Ratio),
        ],
    );
    for (name, ratio) in [("lz4", 0.9), ("zstd", 3.0)] {
        table.rows.push(vec![name.into(), ratio.into()]);
    }
    found.tables.push(table);
    let decide = |gate: &str| gate.parse::<Gate>().unwrap().decide_report(&found);
    for (gate, verdict, value) in [
        ("throughput>=500", GateVerdict::Pass, Some(500.0)),
        ("throughput>500", GateVerdict::Fail, Some(500.0)),
        ("throughput.ops_per_s<=400", GateVerdict::Fail, Some(500.0)),
        ("ratio>=4", GateVerdict::Pass, Some(4.0)),
        ("rss<=3M", GateVerdict::Pass, Some(3_145_728.0)),
        ("rss<=2MiB", GateVerdict::Fail, Some(3_145_728.0)),
        ("rss<=3145727", GateVerdict::Fail, Some(3_145_728.0)),
        ("cpu<=1s", GateVerdict::Inconclusive, None),
        ("error_rate<=1%", GateVerdict::Inconclusive, None),
        ("tables.codecs.ratio>=1.1", GateVerdict::Fail, Some(0.9)),
        ("tables.codecs.ratio<=3", GateVerdict::Pass, Some(3.0)),
        ("tables.codecs.speed<=3", GateVerdict::Inconclusive, None),
        ("tables.codecs.rows<=3", GateVerdict::Inconclusive, None),
        ("latencies.service.n>=100", GateVerdict::Pass, Some(100.0)),
        (
            "latencies.0.percentiles.0.value_ns<=2us",
            GateVerdict::Pass,
            Some(1_000.0),
        ),
        ("load.rate_target_per_s>=1", GateVerdict::Inconclusive, None),
        ("duration_ns<=1h", GateVerdict::Pass, Some(0.0)),
    ] {
        let result = decide(gate);
        assert_eq!(
            (result.verdict, result.value),
            (verdict, value),
            "{gate}: {}",
            result.reason
        );
        assert_eq!(result.limit_ns, None);
    }
    for (gate, said) in [
        (
            "rss<=2MiB",
            "found 3 MiB, not as wanted <= 2 MiB; this run only",
        ),
        (
            "rss<=3145727",
            "found 3145728, not as wanted <= 3145727; this run only",
        ),
    ] {
        assert_eq!(decide(gate).reason, said);
    }
    assert!(
        decide("tables.codecs.ratio>=1.1")
            .reason
            .contains("0.9 of lz4")
    );
}

#[test]
fn memory_and_processor_time_are_those_of_the_programs_that_were_run() {
    use crate::report::{Cell, Table, Unit};
    let mut found = report(Vec::new());
    found.resources.rss_max_bytes = Some(12 << 20);
    found.resources.cpu_user_ns = Some(1);
    found.resources.cpu_system_ns = Some(1);
    let columns = [
        ("side", Unit::Text),
        ("cpu_p50_ns", Unit::Nanoseconds),
        ("rss_max_bytes", Unit::Bytes),
    ];
    let mut table = Table::new("runs", &columns);
    // What is not above the memory of this program is not known.
    table
        .rows
        .push(vec!["base".into(), Cell::Integer(2_000), Cell::Null]);
    table.rows.push(vec![
        "target".into(),
        Cell::Integer(9_000),
        Cell::Integer(386 << 20),
    ]);
    found.tables.push(table);
    let decide = |found: &Report, gate: &str| {
        let result = gate.parse::<Gate>().unwrap().decide_report(found);
        (result.verdict, result.value)
    };
    let peak = Some(f64::from(386 << 20));
    assert_eq!(decide(&found, "rss<=50M"), (GateVerdict::Fail, peak));
    assert_eq!(decide(&found, "rss<=400M"), (GateVerdict::Pass, peak));
    assert_eq!(
        decide(&found, "cpu<=5us"),
        (GateVerdict::Fail, Some(9_000.0))
    );
    assert_eq!(
        decide(&found, "cpu<=10us"),
        (GateVerdict::Pass, Some(9_000.0))
    );
    // No program took more than this one, whose memory is no reason to fail.
    let rows = &mut found.tables[0].rows;
    rows.truncate(1);
    rows.push(vec![
        "control".into(),
        Cell::Integer(9_000),
        Cell::Integer(13 << 20),
    ]);
    let own = Some(f64::from(12 << 20));
    assert_eq!(decide(&found, "rss<=12M"), (GateVerdict::Pass, own));
    assert_eq!(decide(&found, "rss<12M"), (GateVerdict::Inconclusive, None));
    assert_eq!(decide(&found, "rss<=1M"), (GateVerdict::Inconclusive, None));
    assert_eq!(decide(&found, "rss>1M"), (GateVerdict::Inconclusive, None));
    assert_eq!(
        decide(&found, "cpu<=5us"),
        (GateVerdict::Pass, Some(2_000.0))
    );
    // As hyperfine's files have it.
    let columns = [
        ("command", Unit::Text),
        ("user_ns", Unit::Nanoseconds),
        ("system_ns", Unit::Nanoseconds),
        ("rss_max_bytes", Unit::Bytes),
    ];
    let mut table = Table::new("commands", &columns);
    let cells = [
        "true".into(),
        Cell::Integer(3),
        Cell::Integer(4),
        Cell::Integer(5),
    ];
    table.rows.push(cells.to_vec());
    found.tables = vec![table];
    found.resources.rss_max_bytes = None;
    assert_eq!(decide(&found, "rss<=4"), (GateVerdict::Fail, Some(5.0)));
    assert_eq!(decide(&found, "cpu<=7ns"), (GateVerdict::Pass, Some(7.0)));
}

#[test]
fn a_share_of_errors_is_judged_by_the_binomial_test() {
    let decide = |gate: &str, wrong: u64, checked: u64| {
        let mut found = report(Vec::new());
        found.validation = Some(Validation::new("oracle", checked, wrong));
        gate.parse::<Gate>().unwrap().decide_report(&found).verdict
    };
    // Without any error in n answers, the share is below 1 % for n of 368 and more: 0.99^368 = 2.5 %.
    assert_eq!(decide("error_rate<=1%", 0, 400), GateVerdict::Pass);
    assert_eq!(decide("error_rate<=1%", 0, 300), GateVerdict::Inconclusive);
    assert_eq!(decide("error_rate<=1%", 1, 1), GateVerdict::Fail);
    assert_eq!(decide("error_rate<=1%", 3, 300), GateVerdict::Inconclusive);
    assert_eq!(decide("error_rate<=1%", 30, 300), GateVerdict::Fail);
    assert_eq!(decide("error_rate<=0", 0, 300), GateVerdict::Pass);
    assert_eq!(decide("error_rate<=0", 1, 300), GateVerdict::Fail);
}

#[test]
fn an_undecided_share_of_errors_says_how_many_answers_would_decide() {
    let reason = |wrong: u64, checked: u64| {
        let mut found = report(Vec::new());
        found.validation = Some(Validation::new("oracle", checked, wrong));
        let gate: Gate = "error_rate<=1%".parse().unwrap();
        gate.decide_report(&found).reason
    };
    let said = reason(0, 100);
    let number = said
        .split("about ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let needed: u64 = number.and_then(|number| number.parse().ok()).expect(&said);
    assert_eq!(needed, 368, "{said}");
    // At the limit itself none do.
    assert!(!reason(3, 300).contains("about"), "{}", reason(3, 300));
}

#[test]
fn the_samples_above_the_limit_prove_that_a_percentile_is() {
    // 250 samples are too few for p99, and 10 of them above the limit too many for it.
    let with = |above: usize| -> Vec<Latency> {
        let high = |at: usize| at % 25 == 7 && at / 25 < above;
        let values = (0..250).map(|at| if high(at) { 200_000 } else { 1_000 });
        vec![row(
            LatencyName::Service,
            None,
            &values.collect::<Vec<u64>>(),
        )]
    };
    let rows = with(10);
    let result = decide("p99<=100us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    let says = "10 of 250 samples are above the limit 100 µs, too many for p99";
    assert!(result.reason.contains(says), "{}", result.reason);
    assert_eq!(
        decide("p99<=100us", &with(2)).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn the_mean_of_a_tail_without_a_variance_is_no_gate() {
    let mut rng = crate::rng::SplitMix64::new(5);
    let mut pareto = |index: f64| (1e4 * rng.unit().powf(-1.0 / index)) as u64;
    let heavy: Vec<u64> = (0..1_000).map(|_| pareto(1.1)).collect();
    let rows = [row(LatencyName::Service, None, &heavy)];
    let result = decide("mean<=1s", &rows);
    assert_eq!(result.verdict, GateVerdict::Inconclusive);
    assert!(
        result.reason.contains("the tail is too heavy"),
        "{}",
        result.reason
    );
    // What lies below the tail proves that the mean is above a low limit.
    let result = decide("mean<=12us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    assert!(
        result.reason.contains("without the tail"),
        "{}",
        result.reason
    );
    let light: Vec<u64> = (0..1_000).map(|_| pareto(5.0)).collect();
    let rows = [row(LatencyName::Service, None, &light)];
    assert_eq!(decide("mean<=1s", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("mean<=10us", &rows).verdict, GateVerdict::Fail);
}

#[test]
fn samples_that_depend_on_each_other_decide_less() {
    // A walk that returns slowly to its middle, as the load of a machine does.
    let mut rng = crate::rng::SplitMix64::new(7);
    let mut at = 0.0;
    let mut next = || {
        at = 0.95 * at + rng.normal();
        (1e6 + 1e5 * at) as u64
    };
    let values: Vec<u64> = (0..4_000).map(|_| next()).collect();
    let dependent = [row(LatencyName::Service, None, &values)];
    let mut shuffled = values;
    for at in (1..shuffled.len()).rev() {
        let with = rng.below(at as u64 + 1) as usize;
        shuffled.swap(at, with);
    }
    let independent = [row(LatencyName::Service, None, &shuffled)];
    assert_eq!(independent[0].effective_n, Some(4_000));
    let counts = dependent[0].effective_n.unwrap();
    assert!((40..400).contains(&counts), "{counts}");
    let width = |rows: &[Latency], gate: &str| {
        let [low, high] = decide(gate, rows).ci95_ns.unwrap();
        high - low
    };
    for gate in ["p50<=1s", "p90<=1s", "mean<=1s"] {
        let (wide, narrow) = (width(&dependent, gate), width(&independent, gate));
        assert!(wide > 2 * narrow, "{gate}: {wide} {narrow}");
    }
    // Too few for an interval of this percentile, but all above the limit are enough.
    let failed = decide("p99.9<=1ns", &dependent);
    assert_eq!(failed.verdict, GateVerdict::Fail, "{}", failed.reason);
    assert!(
        failed.reason.contains("above the limit"),
        "{}",
        failed.reason
    );
    let unsure = decide("p99.9<=1h", &dependent);
    assert_eq!(unsure.verdict, GateVerdict::Inconclusive);
    // Twice 4,000 values of two runs.
    let mut merged = dependent[0].clone();
    merged.merge(&independent[0]).unwrap();
    assert_eq!(merged.effective_n, Some(counts + 4_000));
}

#[test]
fn a_percentile_is_judged_by_its_interval() {
    // In no order: ascending values depend on each other.
    let values: Vec<u64> = (1..=10_000)
        .map(|i| (i * 7_919 % 10_000 + 1) * 100)
        .collect();
    let rows = [row(LatencyName::Service, None, &values)];
    let [low, high] = decide("p99<=1s", &rows).ci95_ns.unwrap();
    assert!(low < 990_000 && 990_000 < high);
    assert_eq!(decide("p99<=1s", &rows).verdict, GateVerdict::Pass);
    assert_eq!(
        decide("p99<=990us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("p99<=900us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide(&format!("p99<={high}ns"), &rows).verdict,
        GateVerdict::Pass
    );
    assert_eq!(
        decide(&format!("p99<{high}ns"), &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(
        decide(&format!("p99<{low}ns"), &rows).verdict,
        GateVerdict::Fail
    );
    assert_eq!(
        decide("p95<=1s", &rows).verdict,
        GateVerdict::Pass,
        "not on the ladder"
    );
    assert_eq!(
        decide("p99.99<=1s", &rows).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn unearned_and_missing_are_inconclusive() {
    let rows = [row(LatencyName::Service, None, &[10; 100])];
    let result = decide("p99<=1s", &rows);
    assert_eq!(result.verdict, GateVerdict::Inconclusive);
    assert_eq!(result.reason, "p99: 100 samples, 299 needed");
    let result = decide("hold.p50<=1s", &rows);
    assert_eq!(
        (result.verdict, result.row),
        (GateVerdict::Inconclusive, None)
    );
    assert_eq!(result.reason, "the report has no hold row, it has service");
    assert_eq!(decide("p50<=1s", &[]).verdict, GateVerdict::Inconclusive);
    let empty = [row(LatencyName::Service, None, &[])];
    for gate in ["p50<=1s", "mean<=1s", "min<=1s", "max<=1s"] {
        assert_eq!(
            decide(gate, &empty).verdict,
            GateVerdict::Inconclusive,
            "{gate}"
        );
    }
}

#[test]
fn an_unearned_percentile_fails_where_the_samples_prove_it() {
    let rows = [row(LatencyName::Service, None, &[191_000; 200])];
    let result = decide("p99<=100us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    let part = "p99: 200 samples, 299 needed; p50 is above the limit 100 µs already";
    assert_eq!(result.reason, part);
    assert_eq!(
        decide("p99<=191us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    // Two samples prove nothing about a median, and much about p99.
    let rows = [row(LatencyName::Service, None, &[191_000, 192_000])];
    let result = decide("p99<=100us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    assert!(
        result.reason.contains("even the least of 2 samples"),
        "{}",
        result.reason
    );
    assert_eq!(
        decide("p50<=100us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    // One low sample: the rest may be above or not.
    let mut values = vec![200_000; 20];
    values.push(1_000);
    let rows = [row(LatencyName::Service, None, &values)];
    assert_eq!(decide("p99<=100us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide("p10<=100us", &rows).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn a_percentile_beyond_the_range_fails() {
    let spec = Spec::new(LatencyName::Service, "call").range(1_000_000, 3);
    let mut recorder = Recorder::new(spec, Instant::now());
    (0..1_000).for_each(|_| recorder.record_ns(5_000_000));
    let rows = [recorder.finish().latency()];
    assert_eq!(decide("p99<=900us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("p99<=9ms", &rows).verdict, GateVerdict::Inconclusive);
}

#[test]
fn extremes_and_means() {
    let values: Vec<u64> = (1..=100).map(|i| (i * 37 % 100 + 1) * 1_000).collect();
    let rows = [row(LatencyName::Service, None, &values)];
    assert_eq!(decide("max<=100us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("max<100us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("min<=1us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("mean<=60us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(
        decide("mean<=50us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("mean<=40us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide("mean<=1s", &[row(LatencyName::Service, None, &[5; 29])]).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn batch_means_do_not_prove_a_maximum() {
    let start = Instant::now();
    let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), start);
    recorder.record_batch(start, start + Duration::from_micros(1_000), 100);
    let rows = [recorder.finish().latency()];
    assert_eq!(
        decide("max<=20us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("max<=5us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("min<=20us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("min<=5us", &rows).verdict, GateVerdict::Inconclusive);
}

#[test]
fn the_row_is_chosen_and_the_worst_series_reported() {
    let rows = [
        row(LatencyName::Hold, None, &[1; 400]),
        row(LatencyName::Service, Some("a"), &[1_000; 400]),
        row(LatencyName::Service, Some("b"), &[9_000; 400]),
    ];
    let result = decide("p99<=5us", &rows);
    assert_eq!(
        (result.row.as_deref(), result.verdict),
        (Some("b service"), GateVerdict::Fail)
    );
    assert_eq!(decide("hold.p99<=5us", &rows).verdict, GateVerdict::Pass);
    let rows = [&rows[..], &[row(LatencyName::Response, None, &[2; 400])]].concat();
    assert_eq!(decide("p99<=5us", &rows).row.as_deref(), Some("response"));
}

proptest::proptest! {
    #[test]
    fn any_text_parses_or_not(text: String) {
        let _ = text.parse::<Gate>();
    }

    #[test]
    fn a_parsed_gate_prints_as_written(p in 1u32..100, limit in 1u64..1_000_000) {
        let text = format!("service.p{p}<{limit}us");
        proptest::prop_assert_eq!(text.parse::<Gate>().unwrap().to_string(), text);
    }
}
