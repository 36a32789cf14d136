//! `perfkit betree` on events that somebody made to do harm: what it prints stays readable, by machines
//! and on terminals, and files of any size and form are read to their end.

use std::path::Path;

use crate::common::{Run, directory, file, pipe, run, words};
use serde_json::Value;

fn files(dir: &Path) {
    file(
        dir,
        "domains",
        b"a|integer|true\nf|float|true\ns|string|true\nl|string list|true\n",
    );
    let expressions = "true\na > 0\nf >= 1e19\ncontains(s, 'x')\nl one of ('\u{1b}[2J', '\"')\n";
    file(dir, "expressions", expressions.as_bytes());
}

fn matches(dir: &Path, flags: &str, events: &[u8]) -> Run {
    let line = format!("betree match --domains domains --expressions expressions {flags}");
    pipe(dir, words(&line), events)
}

/// Parts of events, whole and broken.
const PARTS: [&[u8]; 34] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"a\":",
    b"\"f\":",
    b"\"s\":",
    b"\"l\":",
    b"\"a\"",
    b"\"\\ud800\"",
    b"\"\\udc00\\ud800\"",
    b"\"\\ud83d\\ude00\"",
    b"\"\xff\xfe\"",
    b"\"\x1b[31m\x07\"",
    b"\"\\u001b[2J\\u0000\":",
    b"\"\xe2\x80\xae\"",
    b"null",
    b"true",
    b"-0",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"1e999",
    b"1e400000000000",
    b"0.1",
    b"00",
    b"NaN",
    b"\"\\\"",
    b" ",
    b"\t",
    b"\r",
    b"\"x\":",
    b"\xef\xbb\xbf",
];

/// A line of parts; every second one is an object that was whole before a part was put into it.
fn hostile_line(state: &mut u64, out: &mut Vec<u8>) {
    let mut below = |bound: usize| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % bound
    };
    let whole: [&[u8]; 5] = [
        b"{\"a\":1,\"s\":\"x\"}",
        b"{\"l\":[\"\\\"\",\"\\u001b[2J\"],\"a\":-0}",
        b"{\"f\":1e19,\"\\u0000\\n\":{\"a\":[[[]]]}}",
        b"{\"a\":1,\"a\":2}",
        b"{\"s\":\"\\ud83d\\ude00\"}",
    ];
    if below(2) == 0 {
        let line = whole[below(whole.len())];
        let at = below(line.len() + 1);
        let part = PARTS[below(PARTS.len())];
        out.extend_from_slice(&line[..at]);
        if below(3) > 0 {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&line[at..]);
    } else {
        for _ in 0..below(12) {
            out.extend_from_slice(PARTS[below(PARTS.len())]);
        }
    }
    out.push(b'\n');
}

#[test]
fn every_line_of_json_is_read_by_another_reader() {
    let dir = directory();
    files(dir.path());
    let mut events = Vec::new();
    let mut state = 1;
    for _ in 0..4_000 {
        hostile_line(&mut state, &mut events);
    }
    events.extend("[".repeat(100_000).as_bytes());
    events.push(b'\n');
    events.extend(format!("{{\"x\":{}}}\n", "[".repeat(100_000)).as_bytes());
    events.extend(format!("{{\"a\":{}}}\n", "9".repeat(100_000)).as_bytes());
    let flags = "-qq --keep-going --ignore-unknown --format json --export-json report --budget 3";
    let run = matches(dir.path(), flags, &events).expect(3);
    let lines: Vec<&[u8]> = events.split(|byte| *byte == b'\n').collect();
    let mut read = 0;
    for line in run.text().lines() {
        let found: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let number = found["event"].as_u64().expect("a number") as usize;
        let ids = found["ids"].as_array().expect("ids");
        assert_eq!(ids[0], 1, "true matches whatever is an event");
        // What is taken for an event is JSON to others, too; a mark of its encoding is no part of it.
        let event = lines[number - 1];
        let event: Result<Value, _> = serde_json::from_slice(event);
        let event = event.unwrap_or_else(|e| panic!("{e}: {:?}", lines[number - 1].escape_ascii()));
        assert_eq!(
            ids.contains(&2.into()),
            event["a"].as_i64().is_some_and(|a| a > 0)
        );
        read += 1;
    }
    assert!(read > 500, "{read} of all lines are events");
    assert_eq!(
        run.stderr
            .lines()
            .filter(|line| line.starts_with("perfkit: "))
            .count()
            + read
            + lines
                .iter()
                .filter(|line| line.iter().all(u8::is_ascii_whitespace))
                .count(),
        lines.len()
    );
    for told in run.stderr.lines() {
        assert!(
            !told.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{told:?}"
        );
    }
    let report = std::fs::read(dir.path().join("report")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(
        report["workload"]["params"]["matches"]
            .as_u64()
            .map(|n| n > 500),
        Some(true)
    );
}

/// Files whose names are as hostile as their content are named in reports that can be read.
#[cfg(unix)]
#[test]
fn names_of_files_are_escaped_in_reports() {
    let dir = directory();
    files(dir.path());
    let name = "\u{1b}[31m\"\n\\.events";
    file(dir.path(), name, b"{\"a\":1}\n{\n");
    let line =
        "betree match --domains domains --expressions expressions -q --keep-going --report json";
    let mut line: Vec<String> = words(line);
    line.extend([
        "--events".to_owned(),
        name.to_owned(),
        "--export-json".to_owned(),
        "r".to_owned(),
    ]);
    let run = run(dir.path(), line).expect(3);
    let report = std::fs::read(dir.path().join("r")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["workload"]["inputs"][0]["path"], name);
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

/// Of every length about those of buffers, with and without a last line end.
#[test]
fn events_of_any_length_are_read_to_the_end() {
    const BUFFER: usize = 256 * 1024;
    let dir = directory();
    files(dir.path());
    for length in [
        0,
        1,
        BUFFER - 1,
        BUFFER,
        BUFFER + 1,
        10 * BUFFER,
        10 * BUFFER + 1,
    ] {
        for (start, end) in [("", ""), ("", "\n"), ("", "\r\n"), ("\u{feff}", "\n")] {
            let mut events = start.as_bytes().to_vec();
            let event = b"{\"a\":1}";
            if length > event.len() {
                events.extend_from_slice(event);
                events.resize(length, b' ');
                events.extend_from_slice(end.as_bytes());
                events.extend_from_slice(b"{\"a\":0}");
            } else {
                events.extend(std::iter::repeat_n(b' ', length));
            }
            file(dir.path(), "events", &events);
            let line = "betree match --domains domains --expressions expressions -qq --format ids --events events";
            let expected = match (length > event.len(), end) {
                (false, _) => "",
                // Two objects in one line are none.
                (true, "") => "",
                (true, _) => "1 2\n1\n",
            };
            let run = run(dir.path(), words(line));
            let code = if length > event.len() && end.is_empty() {
                1
            } else {
                0
            };
            assert_eq!(
                run.expect(code).text(),
                expected,
                "{length} {start:?} {end:?}"
            );
        }
    }
}

#[test]
fn text_files_may_begin_with_a_mark_and_end_lines_in_two_bytes() {
    let dir = directory();
    file(
        dir.path(),
        "domains",
        "\u{feff}a|integer|true\r\nb|boolean|true\r\n".as_bytes(),
    );
    file(
        dir.path(),
        "expressions",
        "\u{feff}a = 1\r\n\r\nb".as_bytes(),
    );
    file(
        dir.path(),
        "constants",
        "\u{feff}id,flight_id\r\n1,2\r\n".as_bytes(),
    );
    let flags = "--constants constants -qq --format ids";
    let run = matches(
        dir.path(),
        flags,
        "\u{feff}{\"a\":1}\r\n{\"b\":true}".as_bytes(),
    );
    assert_eq!(run.expect(0).text(), "1\n3\n");
}

#[test]
fn a_line_that_is_too_long_is_skipped_like_another_bad_one() {
    const LONGER: usize = 65 << 20;
    let dir = directory();
    files(dir.path());
    let mut events = b"{\"a\":1}\n{\"s\":\"".to_vec();
    events.resize(LONGER, b'x');
    events.extend_from_slice(b"\"}\n{\"a\":1}\n");
    let why = "line 2 is longer than 67108864 bytes";
    let flags = "-qq --format ids --keep-going";
    let run = matches(dir.path(), flags, &events).expect(3);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert_eq!(run.text(), "1 2\n-\n1 2\n");
    let run = matches(dir.path(), "-qq --format ids", &events).expect(1);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert!(run.stderr.contains("--keep-going"), "{}", run.stderr);
    assert_eq!(run.text(), "1 2\n");
    // The last line of all.
    let run = matches(dir.path(), flags, &events[..LONGER]).expect(3);
    assert_eq!(run.text(), "1 2\n-\n");
    file(dir.path(), "events", &events);
    let line = "betree explain --domains domains --expressions expressions --events events";
    let keeps = words(&format!("{line} --keep-going"));
    let run = crate::common::run(dir.path(), keeps).expect(3);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert!(
        run.text().contains("event 3: expression 2"),
        "{}",
        run.text()
    );
}
