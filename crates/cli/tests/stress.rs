//! `perfkit stress`: verdicts, rankings, faults and signals. Runs end after a number of blocks, or when
//! they must; nothing depends on how fast that is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{self, Run, directory, perfkit, words};
use latency::report::{Cell, LoadModel, Report};

/// How often a sound run is tried that seems to grow.
const TRIES: usize = 5;

/// A run of `blocks` blocks in a directory, as JSON.
fn stress(dir: &Path, line: &str) -> Run {
    let mut command = perfkit();
    command.current_dir(dir);
    command.args(["stress", "--duration", "60s", "--report", "json"]);
    Run::from(command.args(words(line)).output().expect("runs"))
}

fn report(run: &Run) -> Report {
    latency::report::read_json(&run.stdout).expect("a valid report")
}

/// The cells of a column of a table.
fn column(report: &Report, table: &str, key: &str) -> Vec<Cell> {
    let table = report.tables.iter().find(|found| found.name == table);
    let table = table.unwrap_or_else(|| panic!("no such table"));
    let at = table.columns.iter().position(|column| column.key == key);
    let at = at.unwrap_or_else(|| panic!("no column {key}"));
    table.rows.iter().map(|row| row[at].clone()).collect()
}

/// How many blocks came to this end.
fn blocks(report: &Report, what: &str) -> i64 {
    let ends = column(report, "blocks", "what");
    let at = ends.iter().position(|end| *end == Cell::from(what));
    let blocks = column(report, "blocks", "blocks");
    match at.map(|at| blocks[at].clone()) {
        Some(Cell::Integer(blocks)) => blocks,
        _ => 0,
    }
}

#[test]
fn every_block_is_verified_and_each_direction_has_its_latencies() {
    let dir = directory();
    let run = stress(dir.path(), "--codec zstd:1 --pool mutex --blocks 4000").expect(0);
    let report = report(&run);
    assert!(report.complete && report.exit_code == 0);
    assert_eq!(blocks(&report, "verified"), 4000);
    let validation = report.validation.as_ref().expect("checked");
    assert!(validation.ok && validation.checked == 4000);
    let series: Vec<_> = report
        .latencies
        .iter()
        .filter_map(|row| row.series.as_deref())
        .collect();
    assert_eq!(series, ["end to end", "compress", "queue", "decompress"]);
    assert_eq!(report.latencies[1].n, 4000);
    assert_eq!(report.load.model, LoadModel::Closed);
    assert_eq!(
        column(&report, "codecs and pools", "verdict"),
        [Cell::from("sound")]
    );
}

#[test]
fn a_leak_is_exit_4_and_names_what_grew() {
    let dir = directory();
    let run = stress(dir.path(), "--codec zstd:1 --pool leaking --blocks 2048").expect(4);
    assert!(
        run.stderr.contains("zstd:1 in the leaking pool leaks"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("8 compressing and 8 decompressing contexts"),
        "{}",
        run.stderr
    );
    let report = report(&run);
    assert_eq!(report.exit_code, 4);
    assert_eq!(
        column(&report, "codecs and pools", "verdict"),
        [Cell::from("leaks")]
    );
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn no_option_of_the_tool_changes_the_verdict_on_a_pool() {
    let options = [
        "",
        "--export-json r.json",
        "--export-csv r.csv",
        "--export-markdown r.md",
        "--export-hgrm r.hgrm",
        "--export-hlog r.hlog",
        "--export-json r.json --export-csv r.csv --export-hgrm r.hgrm --export-hlog r.hlog",
        "--metrics 127.0.0.1:0",
        "--verbose --cpu 0 --slo response.p50<=1h",
    ];
    let dir = directory();
    for option in options {
        let line =
            format!("--codec zstd:1 --pool sharded --rate 1000 --duration 1400ms -f {option}");
        // A busy machine may leave too few samples to say; what grows does so each time.
        let mut seen = Vec::new();
        let is_sound = (0..TRIES).any(|_| {
            let run = stress(dir.path(), &line);
            let found = report(&run);
            let verdicts = ["memory", "contexts and threads"].map(|table| {
                let verdicts = column(&found, table, "verdict");
                assert_eq!(verdicts.len(), 2, "{option}");
                verdicts
            });
            let grows = verdicts.concat().contains(&Cell::from("GROWS"));
            assert_eq!(run.code, Some(if grows { 4 } else { 0 }), "{option}");
            seen.push(verdicts);
            !grows
        });
        assert!(is_sound, "{option}: {seen:?}");
        let line = format!("--codec zstd:1 --pool leaking --rate 9000 --blocks 1024 -f {option}");
        let leaking = stress(dir.path(), &line).expect(4);
        assert!(
            leaking.stderr.contains("leaking pool leaks"),
            "{option}: {}",
            leaking.stderr
        );
    }
    let shown = common::run(dir.path(), ["report", "r.hlog"]).expect(0);
    assert!(
        shown.text().contains("end to end response"),
        "{}",
        shown.text()
    );
}

#[test]
fn codecs_and_pools_are_ranked_above_a_ratio() {
    let dir = directory();
    let line = "--codec zstd:1,none --pool queue,fresh --min-ratio 1.5 --blocks 500";
    let report = report(&stress(dir.path(), line).expect(0));
    let ranks = column(&report, "codecs and pools", "rank");
    assert_eq!(ranks[0], Cell::Integer(1));
    // Where the rounds cannot tell the second from the first it shares its rank.
    assert!([1, 2].map(Cell::Integer).contains(&ranks[1]), "{ranks:?}");
    assert_eq!(ranks[2..], [Cell::Null, Cell::Null]);
    let control = column(&report, "control, compared with itself", "rounds");
    assert_eq!(control, [Cell::Integer(6)]);
    let codecs = column(&report, "codecs and pools", "codec");
    let expected = ["zstd:1", "zstd:1", "none", "none"].map(Cell::from);
    assert_eq!(codecs, expected);
    assert_eq!(report.latencies.len(), 4, "one a pair");
    assert!(report.latencies.iter().all(|row| row.n == 500), "all turns");
    stress(dir.path(), "--codec none --min_ratio 1.5 --blocks 500").expect(4);
}

#[test]
fn faults_are_counted_and_are_no_failures() {
    let dir = directory();
    let line = "--codec lz4 --blocks 3000 --fault corrupt=10 --fault panic=100 --fault slow=10us";
    let report = report(&stress(dir.path(), line).expect(0));
    assert_eq!(blocks(&report, "begun"), 3000);
    let ends = [
        "lost to a panic of a producer",
        "verified",
        "came back as something else",
        "refused by the codec",
        "lost to a panic of a consumer",
    ];
    assert_eq!(
        ends.map(|end| blocks(&report, end)).iter().sum::<i64>(),
        3000
    );
    assert!(blocks(&report, "corrupted on purpose") >= 290);
}

#[test]
fn blocks_that_a_fault_made_different_are_not_called_right() {
    let dir = directory();
    let line = "--codec zstd:1 --blocks 3000 --fault corrupt=100 --export-json r.json";
    let run = stress(dir.path(), line).expect(0);
    let found = report(&run);
    let validation = found.validation.as_ref().expect("checked");
    let verified = blocks(&found, "verified") as u64;
    assert!(verified < 3000, "some came back different");
    assert!(!validation.ok, "{validation:?}");
    assert_eq!(validation.checked, 3000);
    assert_eq!(validation.wrong, 3000 - verified);
    assert_eq!(validation.wrong_by_faults, 3000 - verified);
    assert_eq!(found.exit_code, 0, "the run as such is what was asked for");
    let shown = common::run(dir.path(), ["report", "r.json"]).expect(0);
    let different = 3000 - verified;
    let said = format!(
        "{},{:03} right, {different} different (all {different} explained by injected faults)",
        verified / 1000,
        verified % 1000
    );
    let words: Vec<&str> = shown.text().split_whitespace().collect();
    assert!(words.join(" ").contains(&said), "{said}: {}", shown.text());
}

#[test]
fn an_open_loop_has_response_times_and_says_when_it_is_saturated() {
    let dir = directory();
    let held = stress(
        dir.path(),
        "--codec none --rate 500 --arrivals uniform --blocks 100",
    );
    let held = report(&held.expect(0));
    assert_eq!(held.load.model, LoadModel::Open);
    assert_eq!(held.latencies[0].label(), "end to end response");
    let line = "--codec zstd:19 --rate 9000000 --blocks 3000 --slo response.p50<=1ns";
    let saturated = report(&stress(dir.path(), line).expect(4));
    assert!(saturated.load.saturated);
}

#[test]
fn rates_are_shares_of_what_a_closed_loop_comes_to() {
    let dir = directory();
    // Far more than it can do, even if the machine was busy while that was measured.
    let line = "--codec zstd:9 --rate 25%,3000% --blocks 3000 --data json";
    let report = report(&stress(dir.path(), line).expect(0));
    let verdicts = column(&report, "rates", "verdict");
    assert_eq!(
        (&verdicts[0], &verdicts[2]),
        (&Cell::from("closed"), &Cell::from("SATURATED"))
    );
    let number = |cell: &Cell| match cell {
        Cell::Number(number) => *number,
        other => panic!("{other:?} is no number"),
    };
    let rates = column(&report, "rates", "rate_per_s");
    let capacity = number(&column(&report, "rates", "achieved_per_s")[0]);
    assert_eq!(rates[0], Cell::Null, "a closed loop has none");
    let loads = column(&report, "rates", "load");
    for (at, load) in [(1, 0.25), (2, 30.0)] {
        assert!((number(&rates[at]) / capacity / load - 1.0).abs() < 1e-9);
        assert!((number(&loads[at]) / load - 1.0).abs() < 1e-9);
    }
    let response = column(&report, "rates", "response_p50_ns");
    assert_eq!(response[0], Cell::Null);
    assert!(report.load.saturated && report.load.model == LoadModel::Open);
    let labels: Vec<_> = report.latencies.iter().map(|row| row.label()).collect();
    assert_eq!(
        labels,
        ["25 % end to end response", "3000 % end to end response"]
    );
    stress(dir.path(), "--rate 50%,90% --pool all").expect(2);
}

#[test]
fn blocks_are_cut_out_of_files() {
    let dir = directory();
    std::fs::write(dir.path().join("a"), b"what is in a file ".repeat(500)).expect("written");
    let run = stress(
        dir.path(),
        "a --codec snappy --min-size 100 --max-size 300 --blocks 200",
    );
    let report = report(&run.expect(0));
    assert_eq!(report.workload.inputs[0].bytes, 9000);
    assert_eq!(blocks(&report, "verified"), 200);
    stress(dir.path(), "missing --blocks 1").expect(1);
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = directory();
    for line in [
        "--codec zip",
        "--pool puddle",
        "--producers 0",
        "--rate 0",
        "--min-size 0",
    ] {
        let run = stress(dir.path(), line).expect(2);
        assert!(
            run.stderr.contains("perfkit:") != run.stderr.starts_with("error: ")
                && run.stdout.is_empty(),
            "{line}: {run:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_a_valid_partial_report() {
    use common::signals::{send, until_signals_are_handled};
    use nix::sys::signal::Signal;
    use std::process::Stdio;

    let dir = directory();
    for line in [
        "--soak --codec zstd:1",
        "--codec all --pool all -d 60s --fault slow=1ms",
    ] {
        let mut command = perfkit();
        command
            .current_dir(dir.path())
            .args(["stress", "--report", "json"]);
        command
            .args(words(line))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().expect("runs");
        until_signals_are_handled(&child);
        send(&child, Signal::SIGINT);
        let run = Run::from(child.wait_with_output().expect("ends")).expect(130);
        let report = report(&run);
        assert!(!report.complete && report.exit_code == 130, "{line}");
    }
}

/// What a server says to a request.
#[cfg(unix)]
fn ask(address: &str, request: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("listens");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("answered");
    reply
}

/// The samples of a page by name and labels, after what a scraper checks: every family has its help and
/// its type once and before its samples, and every histogram rises to a count that is its own.
#[cfg(unix)]
fn scrape(address: &str, open: bool) -> BTreeMap<String, f64> {
    let accept = match open {
        true => "Accept: application/openmetrics-text; version=1.0.0, text/plain;q=0.5\r\n",
        false => "",
    };
    let reply = ask(
        address,
        &format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{accept}\r\n"),
    );
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    let kind = match open {
        true => "Content-Type: application/openmetrics-text; version=1.0.0",
        false => "Content-Type: text/plain; version=0.0.4",
    };
    assert!(head.contains(kind), "{head}");
    assert_eq!(body.ends_with("# EOF\n"), open, "whole");
    let (mut helped, mut types) = (BTreeSet::new(), BTreeMap::new());
    let mut samples = BTreeMap::new();
    // Of the histogram at hand: the bucket before, by bound and count.
    let mut before = (f64::NEG_INFINITY, 0.0);
    for line in body.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let name = rest.split(' ').next().expect("a name");
            assert!(helped.insert(name.to_owned()), "one help of {name}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(helped.contains(name), "help before the type of {name}");
            assert_eq!(types.insert(name.to_owned(), kind.to_owned()), None);
        } else {
            let (id, value) = line.rsplit_once(' ').expect("a value");
            let value: f64 = value.parse().expect("a number");
            let name = id.split('{').next().expect("a name");
            // The classic text has a type for what a counter's sample is called.
            let suffix = match open {
                true => &["_total", "_sum", "_count", "_bucket"][..],
                false => &["_sum", "_count", "_bucket"][..],
            };
            let family = suffix.iter().find_map(|end| name.strip_suffix(end));
            let family = family.unwrap_or(name);
            let kind = types.get(family).map(String::as_str);
            match kind.unwrap_or_else(|| panic!("{name} has no type")) {
                "counter" => assert!(name.ends_with("_total") && value >= 0.0, "{line}"),
                "gauge" => assert_eq!(family, name, "{line}"),
                "histogram" if name.ends_with("_bucket") => {
                    let (start, rest) = id.split_once("le=\"").expect("a bound");
                    let (bound, labels) = rest.split_once("\",").expect("a bound, then labels");
                    assert!(start.ends_with('{'), "{line}");
                    let bound: f64 = bound.parse().expect("a number");
                    assert!(bound > before.0 && value >= before.1, "{line}");
                    before = (bound, value);
                    if bound == f64::INFINITY {
                        let count = format!("{family}_count{{{labels}");
                        assert_eq!(samples.get(&count), Some(&value), "{count}");
                        before = (f64::NEG_INFINITY, 0.0);
                    }
                }
                "histogram" => {}
                other => panic!("{other} is no type of ours"),
            }
            assert_eq!(samples.insert(id.to_owned(), value), None, "{id} twice");
        }
    }
    assert_eq!(before.0, f64::NEG_INFINITY, "every histogram has its +Inf");
    samples
}

#[cfg(unix)]
#[test]
fn live_metrics_are_scraped_while_a_run_goes_on_and_slow_clients_hold_nothing() {
    use common::signals::{send, until};
    use nix::sys::signal::Signal;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let dir = directory();
    let mut command = perfkit();
    command
        .current_dir(dir.path())
        .args(["stress", "--report", "json"]);
    command.args(words(
        "--soak --codec zstd:1 --pool mutex --metrics 127.0.0.1:0",
    ));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let errors = BufReader::new(child.stderr.take().expect("piped"));
    let address = errors.lines().find_map(|line| {
        let line = line.expect("text");
        let rest = line.strip_prefix("metrics at http://")?;
        rest.strip_suffix("/metrics").map(str::to_owned)
    });
    let address = address.expect("an address is said");
    // More clients than are kept at a time, none of which says anything or all that it has to.
    let idle: Vec<_> = (0..150)
        .map(|nth| {
            let mut stream = std::net::TcpStream::connect(&address).expect("listens");
            if nth % 2 == 0 {
                let begun = std::io::Write::write_all(&mut stream, b"GET /metrics HT");
                begun.expect("sent");
            }
            stream
        })
        .collect();
    // A busy machine may delay some answers, but not all of them.
    let is_quick = (0..20).any(|_| {
        let asked = std::time::Instant::now();
        scrape(&address, true);
        asked.elapsed() < std::time::Duration::from_secs(1)
    });
    assert!(is_quick);
    let verified = "perfkit_stress_blocks_total{codec=\"zstd:1\",pool=\"mutex\",end=\"verified\"}";
    let mut first = None;
    until("blocks that go on", || {
        let samples = scrape(&address, true);
        let now = samples.get(verified).copied().unwrap_or_default();
        now > *first.get_or_insert(now) && now > 0.0
    });
    drop(idle);
    let samples = scrape(&address, true);
    let classic: Vec<String> = scrape(&address, false).into_keys().collect();
    assert_eq!(classic, samples.keys().cloned().collect::<Vec<_>>());
    let own = "{codec=\"zstd:1\",pool=\"mutex\"}";
    for direction in ["compress", "queue", "decompress", "end_to_end"] {
        let count = format!("perfkit_stress_{direction}_seconds_count{own}");
        assert!(samples[&count] > 0.0, "{count}");
    }
    assert!(samples[&format!("perfkit_stress_contexts{own}")] >= 1.0);
    let refused = |request: &str, status: &str| {
        let reply = ask(&address, request);
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{reply}");
    };
    refused("GET / HTTP/1.1\r\n\r\n", "404");
    refused("DELETE /metrics HTTP/1.1\r\n\r\n", "405");
    refused("nonsense\r\n\r\n", "400");
    send(&child, Signal::SIGINT);
    let run = Run::from(child.wait_with_output().expect("ends")).expect(130);
    assert!(!report(&run).complete);
}
