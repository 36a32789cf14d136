//! Standard streams that are closed, full or without a reader: every command says so or does without.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Run, commands, directory, file, fix, perfkit, run, words};

/// What a command does with its standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uses {
    /// Writes to standard output.
    Output,
    /// Reads standard input and writes to standard output.
    Both,
    /// Neither.
    Nothing,
    /// Writes to standard output what takes long to measure: only refused before it is measured.
    Long,
}

use Uses::{Both, Long, Nothing, Output};

/// Commands of the feature `workers` have rows of their own.
const COUNT: usize = if cfg!(feature = "workers") { 78 } else { 75 };

pub(crate) const ROWS: [(&str, Uses, &str); COUNT] = [
    ("compress", Output, "compress -qqc a"),
    ("compress", Both, "compress -qq"),
    ("compress", Nothing, "compress -qqf a -o x"),
    ("compress", Nothing, "compress -f a -o x --report json"),
    ("decompress", Output, "decompress -qqc a.zst"),
    ("decompress", Both, "decompress -qq"),
    ("decompress", Output, "decompress -l a.zst"),
    ("decompress", Output, "decompress -lqq a.zst"),
    ("decompress", Nothing, "decompress -t a.zst"),
    ("zip", Output, "zip -qq - a"),
    ("zip", Nothing, "zip -qq --force z.zip a"),
    ("unzip", Output, "unzip -l a.zip"),
    ("unzip", Output, "unzip -lqq --report csv a.zip"),
    ("unzip", Output, "unzip -qqp a.zip"),
    ("unzip", Nothing, "unzip -t a.zip"),
    (
        "betree generate",
        Nothing,
        "betree generate bool --expressions 9 --events 9 -fo t",
    ),
    (
        "betree match",
        Output,
        "betree match -qq --domains t/domains --expressions t/expressions --events t/events",
    ),
    (
        "betree match",
        Both,
        "betree match -qq --domains t/domains --expressions t/expressions",
    ),
    (
        "betree build",
        Nothing,
        "betree build -q --domains t/domains --expressions t/expressions -fo t/snap",
    ),
    (
        "betree check",
        Output,
        "betree check -q --domains t/domains --expressions a",
    ),
    (
        "betree lint",
        Output,
        "betree lint -q --domains t/domains --expressions odd",
    ),
    (
        "betree explain",
        Output,
        "betree explain --id 1 --domains t/domains --expressions t/expressions --events t/events",
    ),
    ("betree generate", Output, "betree generate --list"),
    (
        "betree serve",
        Nothing,
        "betree serve --domains t/domains --listen 127.0.0.1:0 --duration 20ms",
    ),
    #[cfg(feature = "workers")]
    ("betree feed", Output, "betree feed --help"),
    #[cfg(feature = "workers")]
    ("betree join", Output, "betree join --help"),
    #[cfg(feature = "workers")]
    ("betree roll-out", Output, "betree roll-out --help"),
    ("betree-bench", Long, "betree-bench"),
    ("betree-bench shapes", Long, "betree-bench shapes"),
    ("betree-bench serve", Long, "betree-bench serve"),
    ("fix parse", Output, "fix parse -qq log"),
    ("fix parse", Both, "fix parse -qq -"),
    ("fix validate", Output, "fix validate -qq bad"),
    ("fix print", Output, "fix print -qq log"),
    ("fix stats", Output, "fix stats log"),
    ("fix orders", Output, "fix orders log"),
    ("fix orders", Output, "fix orders -qq --list all log"),
    ("fix fills", Output, "fix fills log"),
    ("fix health", Output, "fix health log"),
    ("fix health", Output, "fix health -qq --list all log"),
    ("fix diff", Output, "fix diff -qq log other"),
    ("fix replay", Output, "fix replay -qq --speed 0 log"),
    (
        "fix anonymize",
        Output,
        "fix anonymize -qq --key-file key log",
    ),
    ("fix generate", Output, "fix generate --messages 3"),
    ("fix store dump", Output, "fix store dump -qq store"),
    ("fix store verify", Nothing, "fix store verify -qq store"),
    ("fix store stats", Output, "fix store stats store"),
    (
        "fix acceptor",
        Nothing,
        "fix acceptor --settings accept.cfg --duration 20ms",
    ),
    (
        "fix initiator",
        Nothing,
        "fix initiator --settings initiate.cfg --duration 20ms",
    ),
    (
        "fix store import",
        Nothing,
        "fix store import -qqf qf/s imported",
    ),
    (
        "fix store export",
        Nothing,
        "fix store export -qqf --format quickfix store exported",
    ),
    (
        "fix settings check",
        Output,
        "fix settings check -qq settings.cfg",
    ),
    ("fix settings keys", Output, "fix settings keys"),
    ("fix certify", Output, "fix certify --list"),
    ("fix-bench", Long, "fix-bench"),
    ("fix-bench shapes", Long, "fix-bench shapes"),
    ("fix-bench session", Long, "fix-bench session"),
    ("stress", Long, "stress"),
    ("compress-bench", Long, "compress-bench"),
    ("zip-bench", Long, "zip-bench"),
    ("advise", Long, "advise"),
    ("tour", Long, "tour"),
    ("compare", Output, "compare r.json r.json"),
    ("report", Output, "report r.json"),
    ("report", Output, "report r.json --report csv"),
    (
        "report",
        Nothing,
        "report -qq r.json --export-markdown out.md -f",
    ),
    ("report", Nothing, "report r.json -o r.html -f"),
    ("rerun", Output, "rerun r.json --dry-run"),
    ("env", Output, "env"),
    ("env", Output, "env --report json"),
    ("explain", Output, "explain"),
    ("explain", Output, "explain gates"),
    ("completions", Output, "completions bash"),
    ("man", Output, "man zip"),
    ("man", Nothing, "man --dir pages"),
    ("help", Output, "help"),
    ("help", Output, "--version"),
    ("help", Output, "compress --help"),
];

pub(crate) fn fixture(dir: &Path) {
    file(dir, "a", b"content");
    file(dir, "odd", b"false\n");
    file(dir, "key", &[7; 32]);
    std::fs::create_dir(dir.join("pages")).expect("made");
    run(dir, words("compress -qq a --export-json r.json")).expect(0);
    run(dir, words("zip -qq a.zip a")).expect(0);
    run(
        dir,
        words("betree generate bool --expressions 9 --events 9 -o t"),
    )
    .expect(0);
    file(
        dir,
        "log",
        &[fix::order(1, "one", 1), fix::order(2, "two", 2)].concat(),
    );
    file(dir, "other", &fix::order(1, "none", 1));
    file(dir, "bad", &fix::order(1, "one", 1)[..60]);
    for (name, role, place) in [
        (
            "accept.cfg",
            "acceptor",
            "SocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1",
        ),
        (
            "initiate.cfg",
            "initiator",
            // It does not connect by itself: nothing is left undone.
            "SocketConnectHost=127.0.0.1\nSocketConnectPort=9\nDynamicSession=Y",
        ),
    ] {
        let session = "BeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30";
        let times = "StartTime=00:00:00\nEndTime=00:00:00";
        let text = format!("[SESSION]\nConnectionType={role}\n{place}\n{times}\n{session}\n");
        file(dir, name, text.as_bytes());
    }
    let options = fixcore::store::Options::default();
    let mut store = fixcore::store::Store::open(dir.join("store"), options).expect("a store");
    store.append(1, &fix::order(1, "one", 1)).expect("room");
    drop(store);
    std::fs::create_dir(dir.join("qf")).expect("made");
    run(
        dir,
        words("fix store export -qq --format quickfix store qf/s"),
    )
    .expect(0);
    file(dir, "settings.cfg", b"[SESSION]\nColour=red\n");
}

/// The command line in a shell that changes a stream.
fn redirected(dir: &Path, line: &str, redirection: &str) -> Run {
    let mut command = Command::new("sh");
    let script = format!("exec \"$@\" {redirection}");
    let binary = perfkit();
    let words = words(line);
    command
        .current_dir(dir)
        .args(["-c", &script, "sh"])
        .arg(binary.get_program())
        .args(binary.get_args())
        .args(words)
        .env("NO_COLOR", "1")
        .stdin(input(dir, line))
        .output()
        .expect("a shell")
        .into()
}

/// What a command line that reads standard input is to find there.
fn input(dir: &Path, line: &str) -> Stdio {
    let name = match line {
        "decompress -qq" => "a.zst",
        line if line.starts_with("betree") => "t/events",
        line if line.starts_with("fix") => "log",
        _ => "a",
    };
    std::fs::File::open(dir.join(name)).expect("opened").into()
}

/// Like other runs of the same line: how it ends when all streams are there.
fn usual(dir: &Path, line: &str) -> i32 {
    redirected(dir, line, "").code.expect("a code")
}

#[test]
fn the_tables_have_every_command() {
    commands::assert_complete(ROWS.iter().map(|(command, ..)| *command));
}

#[test]
fn a_closed_standard_output_is_an_error_of_whatever_would_write_there() {
    let dir = directory();
    fixture(dir.path());
    for (_, uses, line) in ROWS {
        let ended = redirected(dir.path(), line, ">&-");
        // A check that finds nothing has nothing to write, and is not to know.
        if line.contains("store verify") {
            continue;
        }
        if uses == Nothing {
            assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
            continue;
        }
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.stderr);
        let told = "perfkit: cannot write standard output: it is closed\nhelp: ";
        assert!(ended.stderr.starts_with(told), "{line}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 2, "{line}: {}", ended.stderr);
    }
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn dev_null_is_an_output_like_any_other() {
    let dir = directory();
    fixture(dir.path());
    for (_, uses, line) in ROWS.iter().filter(|(_, uses, _)| *uses != Long) {
        let expected = usual(dir.path(), line);
        for redirection in [">/dev/null", "1<>/dev/null", "0<>/dev/null 1<&0 2<&0"] {
            // The last has no input: it is of no use to those that need one.
            if *uses == Both && redirection.starts_with('0') {
                continue;
            }
            let ended = redirected(dir.path(), line, redirection);
            assert_eq!(
                ended.code,
                Some(expected),
                "{line} {redirection}: {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn a_closed_standard_input_is_an_error_of_whatever_would_read_it() {
    let dir = directory();
    fixture(dir.path());
    for (_, uses, line) in ROWS.iter().filter(|(_, uses, _)| *uses != Long) {
        let expected = usual(dir.path(), line);
        let ended = redirected(dir.path(), line, "<&-");
        if *uses == Both {
            assert_eq!(ended.code, Some(1), "{line}: {}", ended.stderr);
            let told = "perfkit: cannot read standard input: it is closed\nhelp: ";
            assert!(ended.stderr.starts_with(told), "{line}: {}", ended.stderr);
        } else {
            assert_eq!(ended.code, Some(expected), "{line}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_closed_standard_error_keeps_nothing_from_being_done() {
    let dir = directory();
    fixture(dir.path());
    for (_, _, line) in ROWS.iter().filter(|(_, uses, _)| *uses != Long) {
        let whole = redirected(dir.path(), line, "");
        let ended = redirected(dir.path(), line, "2>&-");
        assert_eq!(ended.code, whole.code, "{line}");
        assert_eq!(ended.stdout.is_empty(), whole.stdout.is_empty(), "{line}");
    }
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_full_device_is_an_error_and_a_reader_that_is_gone_is_not() {
    let dir = directory();
    fixture(dir.path());
    for (_, uses, line) in ROWS.iter().filter(|(_, uses, _)| *uses != Long) {
        let expected = usual(dir.path(), line);
        let writes = matches!(uses, Output | Both);
        let full = redirected(dir.path(), line, ">/dev/full");
        if writes {
            assert_eq!(full.code, Some(1), "{line}: {}", full.stderr);
            let told = "cannot write standard output: no space left on device";
            assert!(full.stderr.contains(told), "{line}: {}", full.stderr);
        } else {
            assert_eq!(full.code, Some(expected), "{line}: {}", full.stderr);
        }
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = perfkit();
        command.current_dir(dir.path()).args(words(line));
        let quiet = command.stdin(input(dir.path(), line)).stdout(writer);
        let quiet = Run::from(quiet.output().expect("runs"));
        let code = quiet.code.expect("a code");
        // What it would have found it may still say.
        assert!(
            code == 0 || code == expected,
            "{line}: {code}: {}",
            quiet.stderr
        );
        if expected == 0 && writes {
            assert!(
                !quiet.stderr.contains("perfkit:"),
                "{line}: {}",
                quiet.stderr
            );
        }
    }
}
