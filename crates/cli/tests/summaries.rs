//! The first line of every command's report says what that command did, in its own nouns; a gate that
//! makes a run fail is named on standard error whatever else is quiet.

use std::path::Path;

use crate::common::{directory, file, run, samples, words};

/// A log, its events and what else the commands below work on.
fn inputs(dir: &Path) {
    file(dir, "a", &samples(60_000).swap_remove(0).1);
    file(dir, "numbers", b"1 2 3 4 5 6 7 8");
    file(dir, "domain", b"age|integer|false|0|200\n");
    file(dir, "expressions", b"age > 10\nage > 90\n");
    file(
        dir,
        "events",
        b"{\"age\": 20}\n{\"age\": 99}\n{\"age\": 1}\n",
    );
    let log = run(dir, words("fix generate --messages 20")).expect(0);
    file(dir, "log", &log.stdout);
    std::fs::create_dir(dir.join("samples")).expect("a directory");
    for nth in 0..40 {
        let text = format!("{{\"name\":\"sample {nth}\",\"value\":{}}}\n", nth * 7).repeat(20);
        file(&dir.join("samples"), &format!("{nth}"), text.as_bytes());
    }
}

/// The first line of a report, which goes to either stream: the one that starts with the kind of work.
fn summary(dir: &Path, line: &str, kind: &str) -> String {
    let ended = run(dir, words(line));
    let both = [
        String::from_utf8_lossy(&ended.stdout).into_owned(),
        ended.stderr.clone(),
    ];
    let mut lines = both.iter().flat_map(|text| text.lines());
    let first = lines.find(|line| *line == kind || line.starts_with(&format!("{kind}  ")));
    let first = first.unwrap_or_else(|| panic!("{line}: no line of {kind}: {both:?}"));
    first.to_owned()
}

#[test]
fn each_command_says_what_it_did_in_its_own_nouns() {
    let dir = directory();
    inputs(dir.path());
    // The line, the kind of work, what is said, and whether one volume became another.
    let all = [
        ("compress -f a -o a.zst", "compress", "max hold ", true),
        (
            "decompress -f a.zst -o b --report text",
            "decompress",
            "1 input",
            true,
        ),
        (
            "decompress -t a.zst",
            "test",
            "read, 58.6 KiB of content",
            false,
        ),
        ("decompress -l a.zst", "list", "1 input", false),
        (
            "compress --train samples -r -o dict -f",
            "train",
            "in the dictionary",
            false,
        ),
        ("zip --force z.zip a numbers", "zip", "2 entries", true),
        ("unzip -t z.zip", "test", "2 entries", false),
        ("unzip --overwrite -d out z.zip", "unzip", "2 entries", true),
        (
            "compare numbers numbers",
            "compare",
            "1 row compared",
            false,
        ),
        (
            "compare --interleave 3x1 -- true -- true",
            "compare, interleaved",
            "9 runs",
            false,
        ),
        (
            "stress --codec none --blocks 10",
            "stress",
            "10 blocks",
            true,
        ),
        ("stress --codec none --blocks 1", "stress", "1 block", true),
        (
            "stress --codec none --blocks 0",
            "stress",
            "0 blocks",
            false,
        ),
        ("fix parse log", "fix parse", "20 messages", false),
        ("fix print log", "fix print", "20 messages", false),
        ("fix validate log", "fix validate", "20 messages", false),
        ("fix stats log", "fix stats", "20 messages", false),
        ("fix fills log", "fix fills", "20 messages", false),
        ("fix anonymize log", "fix anonymize", "20 messages", false),
        (
            "fix diff log log",
            "fix diff",
            "40 messages compared",
            false,
        ),
        ("env", "env", "env  ", false),
        (
            "betree match --domains domain --expressions expressions --events events",
            "match",
            "3 events, 3 matches, 2 expressions",
            false,
        ),
    ];
    for (line, kind, said, converts) in all {
        let first = summary(dir.path(), line, kind);
        assert!(first.contains(said), "{line}: {first}");
        assert_eq!(first.contains(" → "), converts, "{line}: {first}");
        assert_eq!(first.contains(" ratio "), converts, "{line}: {first}");
        assert!(
            !first.contains('—') && !first.contains("0 B"),
            "{line}: {first}"
        );
    }
}

#[test]
fn what_was_done_is_said_again_of_a_report_that_was_kept() {
    let dir = directory();
    inputs(dir.path());
    let line = "fix stats log --export-json r.json";
    let first = summary(dir.path(), line, "fix stats");
    assert_eq!(summary(dir.path(), "report r.json", "fix stats"), first);
}

#[test]
fn several_rates_are_not_told_as_one() {
    let dir = directory();
    let line = "stress --codec none --rate 2000,4000 --blocks 40 --duration 5s -q";
    let shown = run(dir.path(), words(line)).expect(0);
    let line = shown
        .text()
        .lines()
        .find(|line| line.contains("open loop:"));
    let line = line.expect("a line of the load");
    assert!(!line.contains('—') && !line.contains("target -"), "{line}");
}

#[test]
fn a_gate_that_fails_a_run_is_named_however_quiet_it_is() {
    let dir = directory();
    inputs(dir.path());
    file(dir.path(), "steady", "10 ".repeat(100).as_bytes());
    file(dir.path(), "slow", "20 ".repeat(100).as_bytes());
    file(dir.path(), "two", b"1 2");
    run(
        dir.path(),
        words("compress -qqf a -o a.zst --export-json r.json"),
    )
    .expect(0);
    let all = [
        (
            "compress -f a -o a.zst --slo max<=1ns",
            4,
            "max<=1ns missed: ",
        ),
        (
            "decompress -f a.zst -o b --slo max<=1ns",
            4,
            "max<=1ns missed: ",
        ),
        (
            "report r.json --slo hold.max<=1ns",
            4,
            "hold.max<=1ns missed: ",
        ),
        (
            "compress -f a -o a.zst --slo p99.99<=10s",
            5,
            "p99.99<=10s not decided: ",
        ),
        // One sample has no p99.99, and is above the limit all the same.
        (
            "compress -f a -o a.zst --slo p99.99<=10ns",
            4,
            "p99.99<=10ns missed: ",
        ),
        (
            "compare steady slow --fail-on-regression=5 --fail-unpaired",
            4,
            "the median of numbers is worse by ",
        ),
        (
            "compare two two --require-verdict",
            5,
            "numbers has no verdict: ",
        ),
        (
            "stress --codec none --blocks 10 --min-ratio 3",
            4,
            "below 3",
        ),
        (
            "stress --codec none --pool leaking --blocks 2048",
            4,
            "leaking pool leaks: ",
        ),
    ];
    for (line, code, said) in all {
        let ended = run(dir.path(), words(&format!("{line} -qq"))).expect(code);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
        assert!(
            ended.stderr.starts_with("perfkit: "),
            "{line}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, b"", "{line}");
    }
}

#[test]
fn numbers_are_refused_in_a_line_or_taken_as_they_are() {
    let dir = directory();
    file(dir.path(), "numbers", b"1 2 3 4 5 6 7 8");
    let small =
        "stress --codec none --blocks 1 --duration 100ms --threads 1 --producers 1 --report json";
    // What is refused of each; all of it by exit 2, before any work.
    let refused = [
        (
            small,
            "--rate",
            "0 -1 1e9 1e18 NaN inf 18446744073709551615 0%",
        ),
        (small, "--producers", "0 -1 1e9 4294967296 NaN inf 0.5"),
        (small, "--consumers", "0 -1 1e9 4294967296 NaN inf 0.5"),
        (small, "--threads", "-1 1e9 18446744073709551615 NaN"),
        (small, "--batch", "0 -1 1e9 18446744073709551615 NaN"),
        (small, "--queue", "0 -1 1e9 18446744073709551615 NaN"),
        (small, "--min-ratio", "-1 1e9 1e18 NaN inf"),
        (small, "--min-size", "0 -1 1e9 18446744073709551615 NaN"),
        (small, "--interval", "0 -1 1 1ns 0s 1e18s NaN infs"),
        (small, "--duration", "0 -1 1 0s 1e18s NaN infs"),
        (
            small,
            "--fault",
            "corrupt=0 corrupt=-1 panic=1e9 slow=0s slow=NaN",
        ),
        (small, "--cpu", "-1 1e9 NaN 4096 18446744073709551615"),
        (
            small,
            "--slo",
            "p99<=-1ms p99<=NaNms p101<=1ms p-1<=1ms p99<=infs",
        ),
        (
            "compare numbers numbers",
            "--fail-on-regression",
            "-1 NaN inf",
        ),
        ("tour", "--size", "0 -1 1e18 NaN 18446744073709551615"),
        ("fix generate", "--messages", "-1 1e18 NaN"),
        ("fix generate --messages 1", "--sessions", "0 -1 1e9 NaN"),
        ("fix generate --messages 1", "--hostile", "-1 2 NaN inf"),
    ];
    for (base, flag, values) in refused {
        for value in values.split(' ') {
            let line = format!("{base} {flag}={value}");
            let ended = run(dir.path(), words(&line));
            assert_eq!(ended.code, Some(2), "{line}: {}", ended.stderr);
            let first = ended.stderr.lines().next().unwrap_or_default();
            let starts = first.starts_with("perfkit: ") || first.starts_with("error: ");
            assert!(starts, "{line}: {}", ended.stderr);
        }
    }
    for rate in ["1", "0.5", "9999999.5", "10000000"] {
        let ended = run(dir.path(), words(&format!("{small} --rate {rate}"))).expect(0);
        let target = ended.json()["load"]["rate_target_per_s"].as_f64();
        assert_eq!(target, rate.parse().ok(), "{rate}");
    }
}

#[test]
fn a_run_compared_with_itself_shows_no_difference_and_its_exports_read_back() {
    let dir = directory();
    let line = "stress --codec none --blocks 4000 --export-json r.json --export-hlog r.hlog --export-hgrm r.hgrm";
    run(dir.path(), words(line)).expect(0);
    let line = "compare r.json r.json --fail-on-regression=0 --report json";
    let same = run(dir.path(), words(line)).expect(0).json();
    for row in same["comparisons"].as_array().expect("rows") {
        assert_eq!(row["verdict"], "no_difference", "{row}");
        assert_eq!(row["difference"]["median"], 0.0, "{row}");
    }
    for name in ["r.json", "r.hlog", "r.hgrm"] {
        run(dir.path(), ["report", name]).expect(0);
    }
    let line = "report r.json --export-json again.json --export-hlog again.hlog";
    run(dir.path(), words(line)).expect(0);
    let read = |name: &str| std::fs::read(dir.path().join(name)).expect("written");
    assert_eq!(read("r.json"), read("again.json"));
    run(dir.path(), ["report", "again.hlog"]).expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_was_started_on_one_processor_is_pinned_to_it() {
    let dir = directory();
    let all = latency::pin::available();
    let one = *all.last().expect("a processor");
    let path = dir.path().to_owned();
    // The child inherits what the thread that starts it may run on.
    let started = std::thread::spawn(move || {
        latency::pin::pin(&[one]).expect("pinned");
        run(&path, ["env", "--report", "json"]).expect(0).json()
    });
    let found = started.join().expect("runs");
    let codes: Vec<&str> = found["environment"]["warnings"]
        .as_array()
        .expect("warnings")
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect();
    assert_eq!(found["environment"]["logical_cpus"], 1);
    // Of a machine of one processor nothing is known of who left it no other. The test itself may be pinned to one.
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online");
    let fewer = online.is_ok_and(|online| online.contains([',', '-']));
    assert_eq!(codes.contains(&"no_pin"), !fewer, "{codes:?}");
    let pinned = if fewer { vec![one] } else { Vec::new() };
    assert_eq!(
        found["environment"]["pinned_cpus"],
        serde_json::json!(pinned)
    );
}
