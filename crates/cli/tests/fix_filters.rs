//! Filters of `perfkit fix`: the same messages are wanted by every command that reads a log.

use crate::common::fix::{execution, message, order};
use crate::common::{directory, file, run, words};

/// Two sessions over two minutes, with rejects, and a message that is damaged.
fn log(separator: &str) -> Vec<u8> {
    let heartbeat = message("35=0|49=A|56=C|34=9|52=20260305-14:16:00|");
    let reject = message(
        "35=8|49=B|56=A|34=2|52=20260305-14:17:00|37=o|11=two|17=f|150=8|39=8|55=X|54=1|151=0|14=0|6=0|58=no|",
    );
    let bad = b"8=FIX.4.4\x019=5\x0135=D\x0110=000\x01".to_vec();
    let all = [
        order(1, "one", 100),
        execution(1, "one", 200),
        order(2, "two", 300),
        bad,
        heartbeat,
        reject,
    ];
    let lines = all.iter().map(|message| {
        let text = String::from_utf8(message.clone()).expect("text");
        format!("in {}\n", text.replace('\x01', separator))
    });
    lines.collect::<String>().into_bytes()
}

/// The arguments of a line; what stands between quotes is one.
fn arguments(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let parts = parts.flat_map(|(at, part)| match at % 2 {
        0 => words(part),
        _ => vec![part.to_owned()],
    });
    parts.collect()
}

#[test]
fn every_filter_leaves_the_messages_that_it_names() {
    let dir = directory();
    file(dir.path(), "soh", &log("\x01"));
    file(dir.path(), "pipe", &log("|"));
    for (filter, messages) in [
        ("", 5),
        ("--type D", 2),
        ("--type D,8", 4),
        ("--type D --type 0", 3),
        ("--session A,B", 4),
        ("--session B,A", 4),
        ("--session *,C", 1),
        ("--session A,C --session B,*", 5),
        ("--since 14:16", 2),
        ("--until 14:16", 3),
        ("--until 20260305-14:16", 3),
        (
            "--since 2026-03-05T15:16+01:00 --until 2026-03-05T14:17Z",
            1,
        ),
        ("--since 2026-03-06", 0),
        ("--where OrdStatus=REJECTED", 1),
        ("--where \"ClOrdID in (one, two) and MsgType <> D\"", 2),
        ("--where \"58 is null\" --where 34=2", 1),
        ("--type 8 --session A,B --since 14:17 --where 39=8", 1),
        ("--type 8 --until 14:00", 0),
    ] {
        for log in ["soh", "pipe"] {
            let count = |line: &str| {
                let found = run(dir.path(), arguments(line)).expect(3);
                found.text().lines().count()
            };
            // The message that is damaged is reported whatever is wanted.
            let line = format!("fix parse -qq {log} {filter}");
            assert_eq!(count(&line), messages + 1, "{line}");
            let line = format!("fix anonymize -qq {log} {filter}");
            assert_eq!(count(&line), messages, "{line}");
            let line = format!("fix stats --report json {log} {filter}");
            let found = run(dir.path(), arguments(&line)).expect(3);
            let report: serde_json::Value = serde_json::from_slice(&found.stdout).expect("JSON");
            let params = &report["workload"]["params"];
            assert_eq!(params["messages"], messages, "{line}");
            assert_eq!(params["messages_bad"], 1, "{line}");
            let filtered = &params["messages_filtered"];
            match filter {
                "" => assert!(filtered.is_null()),
                _ => assert_eq!(*filtered, 5 - messages, "{line}"),
            }
        }
    }
    let printed = arguments("fix print -qq pipe --where \"contains(Text, no)\"");
    let found = run(dir.path(), printed).expect(3);
    let text = found.text();
    assert!(
        text.contains("39 OrdStatus = 8 (REJECTED)") && !text.contains("Heartbeat"),
        "{text}"
    );
    // What the dictionary says against messages that are not wanted is not asked.
    let line = "fix validate -qq soh --type A";
    let found = run(dir.path(), words(line)).expect(3);
    let text = found.text();
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn logs_are_compared_and_replayed_as_far_as_they_are_wanted() {
    let dir = directory();
    let a = [order(1, "one", 100), order(2, "two", 200)].concat();
    let b = [order(1, "one", 100), order(2, "other", 200)].concat();
    file(dir.path(), "a", &a);
    file(dir.path(), "b", &b);
    run(dir.path(), words("fix diff -qq a b")).expect(1);
    run(dir.path(), words("fix diff -qq a b --where 34=1")).expect(0);
    run(dir.path(), words("fix diff -qq a b --type 8")).expect(0);
    run(dir.path(), words("fix diff -qq a b --since 14:15:16.200")).expect(1);
    let line = "fix replay -qq --speed 0 a --where ClOrdID=two --until 14:16";
    let sent = run(dir.path(), words(line)).expect(0);
    assert_eq!(sent.stdout, order(2, "two", 200));
    let line = "fix replay -qq --speed 0 a --session A,C";
    assert!(run(dir.path(), words(line)).expect(0).stdout.is_empty());
}

#[test]
fn what_is_no_filter_is_named_and_whoever_finds_nothing_is_told() {
    let dir = directory();
    file(dir.path(), "log", &order(1, "one", 100));
    for (filter, reason) in [
        (
            "--where Symbl=X",
            "--where: no dictionary has the field 'Symbl' at column 1",
        ),
        (
            "--where \"55=X and\"",
            "expected a field, found the end at column 9",
        ),
        ("--since yesterday", "expected a time"),
        ("--until 2026-03-05T14:00[Nowhere/None]", "Nowhere/None"),
        ("--session A", "expected two CompIDs"),
    ] {
        for command in ["parse log", "diff log log", "replay --speed 0 log"] {
            let line = format!("fix {command} {filter}");
            let failed = run(dir.path(), arguments(&line)).expect(2);
            assert!(
                failed.stdout.is_empty() && failed.stderr.contains(reason),
                "{line}: {}",
                failed.stderr
            );
        }
    }
    let found = run(dir.path(), words("fix parse log --type Z")).expect(0);
    assert!(found.stdout.is_empty());
    assert!(
        found.stderr.contains("no message passes the filters"),
        "{}",
        found.stderr
    );
}
