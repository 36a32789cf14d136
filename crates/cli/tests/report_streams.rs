//! Where reports go: as the help text of `--report` says it, in every command that has one.

use crate::common::{commands, directory, file, fix, run, words};

/// What the help says of the stream, for one command line of each command. Benchmarks and analyses
/// that take long are not run: they are in the sentence about all others.
const ON_STANDARD_ERROR: [&str; 11] = [
    "compress -f a -o x",
    "decompress -t a.zst",
    "zip --force z.zip a",
    "unzip -t a.zip",
    "betree match --domains t/domains --expressions t/expressions --events t/events",
    "betree serve --domains t/domains --listen 127.0.0.1:0 --duration 20ms",
    "fix parse log",
    "fix validate log",
    "fix print log",
    "fix replay --speed 0 log",
    "fix store dump store",
];
const ON_STANDARD_OUTPUT: [&str; 8] = [
    "decompress -l a.zst",
    "decompress -lqq a.zst",
    "unzip -l a.zip",
    "fix stats log",
    "fix fills log",
    "fix store stats store",
    "env",
    "compare r.json r.json",
];

#[test]
fn reports_go_where_the_help_says() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "a", b"content");
    file(dir, "log", &fix::order(1, "one", 1));
    run(dir, words("compress -qq a --export-json r.json")).expect(0);
    run(dir, words("zip -qq a.zip a")).expect(0);
    run(
        dir,
        words("betree generate bool --expressions 9 --events 9 -o t"),
    )
    .expect(0);
    let options = fixcore::store::Options::default();
    let mut store = fixcore::store::Store::open(dir.join("store"), options).expect("a store");
    store.append(1, &fix::order(1, "one", 1)).expect("room");
    drop(store);
    let is_report = |text: &str| text.contains("\"schema\":\"perfkit.report/1\"");
    for (lines, on_output) in [(&ON_STANDARD_ERROR[..], false), (&ON_STANDARD_OUTPUT, true)] {
        for line in lines {
            let ran = run(dir, words(&format!("{line} --report jsonl"))).expect(0);
            let stdout = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(is_report(&stdout), on_output, "{line}: {stdout}");
            assert_eq!(is_report(&ran.stderr), !on_output, "{line}: {}", ran.stderr);
        }
    }
}

#[test]
fn the_help_of_every_report_says_so() {
    let dir = directory();
    let mut seen = 0;
    for command in commands::all() {
        let words = command.split_whitespace().chain(["--help"]);
        let help = run(dir.path(), words);
        let help = help.text().split_whitespace().collect::<Vec<_>>().join(" ");
        if help.contains("--report <FORMAT>") {
            seen += 1;
            let said = "The report goes to standard error where standard output carries data: in \
                        compress, decompress, zip, unzip, betree and fix.";
            assert!(help.contains(said), "{command}");
        }
    }
    assert!(seen > 20, "{seen} commands with a report");
}
