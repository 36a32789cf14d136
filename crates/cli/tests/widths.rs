//! What is said to people fits 80 columns, of every command, on a terminal and in a pipe.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{commands, directory, file, perfkit, pty, run, samples, words};

const COLUMNS: usize = 80;

/// Where the report of a command is: what else is on a stream is data, which is not broken into lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Stdout,
    Stderr,
    /// Nothing but errors and help, or nothing to see.
    Nowhere,
}

use Told::{Nowhere, Stderr, Stdout};

const TREE: &str = "--domains domains --expressions expressions";

/// Every command, a line of it that ends soon, and where its report is.
fn rows() -> Vec<(&'static str, String, Told)> {
    let row = |command, line: &str, told| (command, line.to_owned(), told);
    let betree = |line: &str| format!("betree {line} {TREE}");
    vec![
        row("compress", "compress -f a", Stderr),
        row("compress", "compress -f a --report text", Stderr),
        row("compress", "compress -fv a", Stderr),
        row(
            "compress",
            "compress -f a --slo p99<=1h --slo-undecided pass",
            Stderr,
        ),
        row("compress", "compress -19 -T2 -f a", Stderr),
        row(
            "compress",
            "compress --train samples -r -o dict -f -v",
            Stderr,
        ),
        row(
            "compress-bench",
            "compress-bench -i 0.01 -b1 -e3 --pareto --rank-at 2 a",
            Stdout,
        ),
        row(
            "compress-bench",
            "compress-bench -i 0.01 --matrix --recipe fast a",
            Stdout,
        ),
        row("decompress", "decompress -fv a.zst -o b", Stderr),
        row("decompress", "decompress -t a.zst", Stderr),
        row("decompress", "decompress -l a.zst", Stdout),
        row("zip", "zip --force z.zip a numbers", Stderr),
        row("zip", "zip -v --force z.zip a numbers", Stderr),
        row("unzip", "unzip -tv z.zip", Stderr),
        row("unzip", "unzip --overwrite -d out z.zip", Stderr),
        row("zip-bench", "zip-bench --help", Stdout),
        row(
            "stress",
            "stress --codec zstd:1,lz4 --pool queue,fresh --blocks 200 -q",
            Stdout,
        ),
        row("stress", "stress --codec zstd:1 --blocks 200 -qv", Stdout),
        row(
            "stress",
            "stress --codec none --rate 2000,4000 --blocks 40 -q",
            Stdout,
        ),
        row(
            "advise",
            "advise --no-stalls -d 2ms -r fast --zstd-level 3 --zip-level 6 --size 1K --size 64K",
            Stdout,
        ),
        row("advise", "advise --code", Nowhere),
        row("compare", "compare numbers other", Stdout),
        row(
            "compare",
            "compare --interleave 6x1 -- true -- true",
            Stdout,
        ),
        row("report", "report r.json", Stdout),
        row("report", "report -v r.json", Stdout),
        row("report", "report r.json r.json", Stdout),
        row("env", "env", Stdout),
        row("explain", "explain", Nowhere),
        row("rerun", "rerun --help", Stdout),
        row("env", "env -v", Stdout),
        row("tour", "tour --size 1M", Stdout),
        row("betree generate", "betree generate --list", Nowhere),
        row("betree match", &betree("match --events events"), Stderr),
        row("betree match", &betree("match -v --events events"), Stderr),
        row("betree build", &betree("build -f -o snapshot"), Stderr),
        row("betree check", &betree("check"), Stderr),
        row("betree lint", &betree("lint"), Stderr),
        row(
            "betree explain",
            &betree("explain --id 1 --events events"),
            Nowhere,
        ),
        row("betree serve", "betree serve --help", Stdout),
        row("betree feed", "betree feed --help", Stdout),
        row("betree join", "betree join --help", Stdout),
        row("betree roll-out", "betree roll-out --help", Stdout),
        row("betree-bench", "betree-bench --help", Stdout),
        row("betree-bench shapes", "betree-bench shapes --help", Stdout),
        row("betree-bench serve", "betree-bench serve --help", Stdout),
        row("fix parse", "fix parse log", Stderr),
        row("fix parse", "fix parse -v log", Stderr),
        row("fix validate", "fix validate log", Stderr),
        row("fix print", "fix print log", Stderr),
        row("fix stats", "fix stats log", Stdout),
        row("fix orders", "fix orders log", Stdout),
        row("fix orders", "fix orders --list all log", Stderr),
        row("fix fills", "fix fills log", Stdout),
        row("fix health", "fix health log", Stdout),
        row("fix health", "fix health --list all log", Stderr),
        row("fix diff", "fix diff log log", Stderr),
        row("fix replay", "fix replay --speed 0 log", Stderr),
        row("fix anonymize", "fix anonymize log", Stderr),
        row("fix generate", "fix generate --messages 3", Nowhere),
        row("fix store dump", "fix store dump store", Nowhere),
        row("fix store verify", "fix store verify store", Stderr),
        row("fix store stats", "fix store stats store", Stdout),
        row("fix store import", "fix store import --help", Stdout),
        row("fix store export", "fix store export --help", Stdout),
        row("fix acceptor", "fix acceptor --help", Stdout),
        row("fix initiator", "fix initiator --help", Stdout),
        row("fix settings check", "fix settings check --help", Stdout),
        row("fix settings keys", "fix settings keys", Nowhere),
        row("fix certify", "fix certify --list", Nowhere),
        row("fix-bench", "fix-bench --help", Stdout),
        row("fix-bench shapes", "fix-bench shapes --help", Stdout),
        row("fix-bench session", "fix-bench session --help", Stdout),
        row("completions", "completions bash", Nowhere),
        row("man", "man compress", Nowhere),
        row("help", "help", Nowhere),
    ]
}

fn inputs(dir: &Path) {
    file(dir, "a", &samples(60_000).swap_remove(0).1);
    file(dir, "numbers", "10 ".repeat(60).as_bytes());
    file(dir, "other", "11 ".repeat(60).as_bytes());
    file(dir, "domains", b"age|integer|false|0|200\n");
    file(dir, "expressions", b"age > 10\nage > 90\n");
    file(dir, "events", b"{\"age\": 20}\n{\"age\": 99}\n");
    let log = run(dir, words("fix generate --messages 20")).expect(0);
    file(dir, "log", &log.stdout);
    std::fs::create_dir(dir.join("samples")).expect("a directory");
    for nth in 0..40 {
        let text = format!("{{\"name\":\"sample {nth}\",\"value\":{}}}\n", nth * 7).repeat(20);
        file(&dir.join("samples"), &format!("{nth}"), text.as_bytes());
    }
    run(dir, words("compress -qqf a --export-json r.json")).expect(0);
    run(dir, words("zip -qq --force z.zip a numbers")).expect(0);
    let options = fixcore::store::Options::default();
    let mut store = fixcore::store::Store::open(dir.join("store"), options).expect("a store");
    store.append(1, &log.stdout[..100]).expect("room");
}

/// A line that the terminal may wrap: errors and warnings, and help, which `clap` wraps by itself.
fn is_exempt(line: &str) -> bool {
    ["perfkit: ", "help: ", "warning: "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The lines of the report that are wider than the terminal.
fn too_wide(stdout: &[u8], stderr: &[u8], told: Told) -> Vec<String> {
    let text = match told {
        Stdout => [stdout, stderr].concat(),
        Stderr => stderr.to_vec(),
        Nowhere => Vec::new(),
    };
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter(|line| !is_exempt(line));
    lines
        .filter(|line| line.trim_end_matches('\r').chars().count() > COLUMNS)
        .map(str::to_owned)
        .collect()
}

/// The one line that a job ends with: whole where nothing is a terminal, so that a log has all of it.
fn is_the_line_of_a_job(line: &str) -> bool {
    let mut cells = line.split("  ").skip(1);
    cells.next().is_some_and(|cell| {
        let (number, what) = cell.split_once(' ').unwrap_or_default();
        number.parse::<u64>().is_ok() && what.starts_with("input")
    }) && line.ends_with(|last: char| !last.is_whitespace())
}

fn command(dir: &Path, line: &str) -> Command {
    let mut command = perfkit();
    command
        .current_dir(dir)
        .args(words(line))
        .env("TERM", "dumb")
        .stdin(Stdio::null());
    command
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn reports_fit_80_columns_on_a_terminal_and_in_a_pipe() {
    let rows = rows();
    commands::assert_complete(rows.iter().map(|(command, ..)| *command));
    let dir = directory();
    inputs(dir.path());
    let mut wrong = Vec::new();
    for (_, line, told) in rows.iter().filter(|(.., told)| *told != Nowhere) {
        // Long help is wrapped by the terminal that reads it.
        if line.ends_with("--help") {
            continue;
        }
        for (how, columns) in [
            ("terminal", Some("80")),
            ("pipe", Some("80")),
            ("pipe", None),
        ] {
            let mut command = command(dir.path(), line);
            match columns {
                Some(columns) => command.env("COLUMNS", columns),
                None => command.env_remove("COLUMNS"),
            };
            let (code, stdout, stderr) = match how {
                "terminal" => {
                    let shown = pty::run(command);
                    (shown.code, shown.stdout, shown.stderr)
                }
                _ => {
                    let ended = command.output().expect("perfkit runs");
                    (ended.status.code(), ended.stdout, ended.stderr)
                }
            };
            // Listings in a pipe keep names whole.
            let listing = line.contains(" -l ") && columns.is_none();
            let mut wide = too_wide(&stdout, &stderr, *told);
            if how == "pipe" && columns.is_none() {
                wide.retain(|line| !is_the_line_of_a_job(line));
            }
            if !wide.is_empty() && !listing {
                wrong.push(format!("{line} ({how}, {columns:?}):\n{}", wide.join("\n")));
            }
            let ended = matches!(code, Some(0 | 3 | 4 | 5));
            if !ended {
                let stderr = String::from_utf8_lossy(&stderr);
                wrong.push(format!("{line} ({how}): exit {code:?}: {stderr}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_job_ends_with_one_line_and_says_more_when_asked() {
    let dir = directory();
    inputs(dir.path());
    let stderr = |line: &str| run(dir.path(), words(line)).expect(0).stderr;
    for line in [
        "compress -f a",
        "decompress -f a.zst -o b",
        "decompress -t a.zst",
        "zip --force z.zip a numbers",
        "unzip -t z.zip",
        "unzip --overwrite -d out z.zip",
        "fix parse log",
        "fix validate log",
        "fix print log",
        "fix anonymize --key-file /dev/null log",
    ] {
        let line = line.replace(" --key-file /dev/null", "");
        let said = stderr(&line);
        assert!(
            said.lines().count() <= 1 || line.contains("anonymize"),
            "{line}: {said}"
        );
        assert!(!said.is_empty(), "{line}");
        let whole = stderr(&format!("{line} --report text"));
        assert!(whole.lines().count() > 3, "{line}: {whole}");
        assert_eq!(stderr(&format!("{line} -qq")), "", "{line}");
    }
    let one = stderr("compress -f a");
    for said in ["58.6 KiB → ", "ratio ", "/s", "max hold "] {
        assert!(one.contains(said), "{one}");
    }
    // The export has everything all the same.
    stderr("compress -f a --export-json all.json");
    let all = std::fs::read(dir.path().join("all.json")).expect("read");
    let all: serde_json::Value = serde_json::from_slice(&all).expect("JSON");
    assert_eq!(all["latencies"].as_array().map(Vec::len), Some(2));
    assert!(all["environment"]["clock_floor_ns"].is_number());
    // A gate is told with its line.
    let gated = stderr("compress -f a --slo max<=1h");
    assert!(gated.contains("\ngates\n  pass  max<=1h"), "{gated}");
}

#[test]
fn what_does_not_fit_is_named_and_shown_when_asked() {
    let dir = directory();
    let stress = |more: &str| {
        let line = format!("stress --codec zstd:1,lz4 --blocks 300 -q {more}");
        run(dir.path(), words(&line)).expect(0).text().to_owned()
    };
    let shown = stress("");
    let hidden = shown.lines().find(|line| line.contains("not shown: "));
    let hidden = hidden.expect("columns are left out");
    assert!(
        hidden.contains("rss bytes max") || shown.contains("rss"),
        "{shown}"
    );
    assert!(shown.contains("(-v shows all)"), "{shown}");
    let all = stress("-v");
    for said in ["codec bytes max", "decompress p99.9", "spread"] {
        assert!(all.contains(said), "{said}: {all}");
    }
    assert!(!all.contains("not shown: "), "{all}");
    // Units are those of sizes.
    assert!(shown.contains("iB/s") && !shown.contains("MB/s"), "{shown}");
}

#[test]
fn a_long_table_is_cut_on_a_terminal_and_whole_in_a_pipe() {
    let dir = directory();
    let sizes: String = (1..=25).map(|nth| format!(" --size {nth}00")).collect();
    let line = format!("advise --no-stalls -d 1ms -r fast{sizes}");
    let shown = pty::run(command(dir.path(), &line));
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("5 more rows (-v shows all)"), "{shown}");
    let piped = run(dir.path(), words(&line)).expect(0);
    assert!(!piped.text().contains("more rows"), "{}", piped.text());
    let verbose = pty::run(command(dir.path(), &format!("{line} -v")));
    assert!(!String::from_utf8_lossy(&verbose.stdout).contains("more rows"));
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn the_tour_is_told_in_forty_lines() {
    let dir = directory();
    let told = run(dir.path(), words("tour --size 1M")).expect(0);
    let told = told.text();
    assert!(told.lines().count() <= 40, "{told}");
    for said in [
        "zstd: ",
        "contexts: ",
        "codecs: ",
        "zip: ",
        "betree: ",
        "fix: ",
        "store: ",
        "hold: ",
        "checked by ",
        " ok",
        "-v shows",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!told.contains("latency"), "{told}");
}

#[test]
fn threads_of_zstd_do_not_hold_the_thread_that_calls() {
    let dir = directory();
    file(dir.path(), "a", &samples(3_000_000).swap_remove(0).1);
    let line = "compress -19 -T2 -f a --report json";
    let report = run(dir.path(), words(line)).expect(0).stderr;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let rows = report["latencies"].as_array().expect("rows");
    let hold = rows.iter().find(|row| row["name"] == "hold").expect("hold");
    let (longest, whole) = (hold["max_ns"].as_u64(), report["duration_ns"].as_u64());
    // However busy the machine is: waiting for the end was nearly all of it.
    assert!(longest < whole.map(|ns| ns / 4), "{longest:?} of {whole:?}");
}
