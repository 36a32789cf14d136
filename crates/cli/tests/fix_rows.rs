//! `perfkit fix parse` and `print`: chosen fields, forms, the first messages and those around them, and logs
//! that are compressed.

#![cfg(unix)]

use crate::common::{code, directory, file, gzip, perfkit, pipe, run, words};

/// A log of lines with a time before each message.
fn log(dir: &std::path::Path) -> String {
    let line = words("fix generate --messages 2000 --form prefixed --separator pipe --seed 3");
    let text = run(dir, line).expect(0).text().to_owned();
    file(dir, "day.log", text.as_bytes());
    text
}

/// The value of a field of a message with `|` between fields.
fn value<'l>(line: &'l str, tag: &str) -> &'l str {
    let fields = line.split('|');
    let found = fields.filter_map(|field| field.split_once('='));
    found
        .filter(|pair| pair.0 == tag)
        .map(|pair| pair.1)
        .next()
        .unwrap_or("")
}

#[test]
fn rows_have_the_fields_that_were_chosen_and_the_place_of_each_message() {
    let dir = directory();
    let text = log(dir.path());
    let wanted = || {
        let lines = text.lines().enumerate();
        lines.filter(|(_, line)| value(line, "35") == "8")
    };
    let csv = run(
        dir.path(),
        words("fix parse -qq --type 8 --format csv --fields ClOrdID,39,Text day.log"),
    );
    let csv = csv.expect(0).text().to_owned();
    let mut rows = csv.lines();
    assert_eq!(
        rows.next(),
        Some("file,line,offset,time,msg_type,ClOrdID,39,Text")
    );
    let mut offset = 0;
    let starts: Vec<_> = text
        .lines()
        .map(|line| {
            let start = offset + line.find("8=FIX").expect("a message");
            offset += line.len() + 1;
            start
        })
        .collect();
    for (number, line) in wanted() {
        let expected = format!(
            "day.log,{},{},{},8,{},{},{}",
            number + 1,
            starts[number],
            value(line, "52"),
            value(line, "11"),
            value(line, "39"),
            value(line, "58")
        );
        assert_eq!(rows.next(), Some(&*expected));
    }
    assert_eq!(rows.next(), None);
    // The same as JSON, from two logs.
    let json = run(
        dir.path(),
        words("fix parse -qq --type 8 --fields 11,39 day.log day.log"),
    );
    let json = json.expect(0).text().to_owned();
    assert_eq!(json.lines().count(), 2 * wanted().count());
    for ((number, line), row) in wanted().zip(json.lines()) {
        let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
        let expected = serde_json::json!({
            "file": "day.log", "offset": starts[number], "line": number + 1,
            "time": value(line, "52"), "msg_type": "8",
            "fields": [[11, value(line, "11")], [39, value(line, "39")]],
        });
        assert_eq!(row, expected);
    }
    // Lines of the log, which are a log again.
    let raw = run(
        dir.path(),
        words("fix parse -qq --type 8 --format raw day.log"),
    );
    let raw = raw.expect(0).text().to_owned();
    let lines: Vec<_> = wanted().map(|(_, line)| line).collect();
    assert_eq!(raw.lines().collect::<Vec<_>>(), lines);
    let again = pipe(
        dir.path(),
        words("fix parse -qq --type 8 --format raw"),
        raw.as_bytes(),
    );
    assert_eq!(again.expect(0).text(), raw);
    // Text of some fields.
    let print = run(
        dir.path(),
        words("fix print -qq --type 8 --limit 1 --fields OrdStatus day.log"),
    );
    let print = print.expect(0).text().to_owned();
    let (number, line) = wanted().next().expect("an execution");
    assert!(print.starts_with(&format!(
        "ExecutionReport (8) at {}, line {}\n",
        starts[number],
        number + 1
    )));
    assert!(
        print.contains(&format!("39 OrdStatus = {}", value(line, "39")))
            && print.lines().count() == 2
    );
}

#[test]
fn the_first_messages_come_with_those_around_them_from_any_number_of_threads() {
    let dir = directory();
    let text = log(dir.path());
    let is_wanted = |line: &str| value(line, "35") == "0";
    let lines: Vec<_> = text.lines().collect();
    let places: Vec<_> = (0..lines.len())
        .filter(|at| is_wanted(lines[*at]))
        .collect();
    assert!(places.len() > 20);
    for (limit, context) in [(1, 0), (7, 0), (3, 1), (2, 5), (10, 40)] {
        let last = places[limit - 1];
        let end = places[limit].min(last + context + 1);
        let is_near = |at: &usize| {
            places[..limit]
                .iter()
                .any(|place| place.abs_diff(*at) <= context)
        };
        let expected: Vec<_> = (0..end).filter(is_near).map(|at| lines[at]).collect();
        for threads in [1, 2, 3] {
            let line = format!(
                "fix parse -qq --type 0 --limit {limit} --context {context} --format raw -T{threads} day.log"
            );
            let found = run(dir.path(), words(&line)).expect(0).text().to_owned();
            assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{line}");
        }
    }
    // A pipe that stays open is left after the last message.
    let mut child = perfkit()
        .args(words("fix parse -qq --limit 2"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, &text.as_bytes()[..20_000]).expect("written");
    let done = child.wait_with_output().expect("ended");
    drop(input);
    assert_eq!(code(done.status), Some(0));
    assert_eq!(String::from_utf8_lossy(&done.stdout).lines().count(), 2);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let dir = directory();
    log(dir.path());
    for line in [
        "fix parse --fields Nonsense day.log",
        "fix parse --fields 0 day.log",
        "fix parse --format raw --fields 11 day.log",
        "fix parse --limit 0 day.log",
        "fix print --format csv day.log",
    ] {
        run(dir.path(), words(line)).expect(2);
    }
    // CSV has no room for faults: they are in the report.
    file(
        dir.path(),
        "bad.log",
        b"8=FIX.4.4|9=5|35=0|10=163|\n8=FIX.4.4|9=5|35=0|10=164|\n",
    );
    let found = run(
        dir.path(),
        words("fix parse --format csv --report text bad.log"),
    )
    .expect(3);
    assert_eq!(found.text().lines().count(), 2);
    assert!(
        found.stderr.contains("stated 164, computed 163"),
        "{}",
        found.stderr
    );
}

#[test]
fn compressed_logs_are_read_as_what_they_hold() {
    let dir = directory();
    let text = log(dir.path());
    let plain = run(dir.path(), words("fix parse -qq day.log"))
        .expect(0)
        .text()
        .to_owned();
    run(dir.path(), words("compress -q --keep day.log -o day.zst")).expect(0);
    let zst = std::fs::read(dir.path().join("day.zst")).expect("read");
    let gz = gzip(text.as_bytes());
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7][..], &zst].concat();
    for (name, packed) in [("gz", &gz), ("zst", &zst), ("skippable", &skippable)] {
        // The name says nothing; the bytes do.
        file(dir.path(), "packed", packed);
        for threads in [1, 3] {
            let line = format!("fix parse -qq -T{threads} packed");
            assert_eq!(
                run(dir.path(), words(&line)).expect(0).text(),
                plain,
                "{name}"
            );
        }
        assert_eq!(
            pipe(dir.path(), words("fix parse -qq"), packed)
                .expect(0)
                .text(),
            plain,
            "{name}"
        );
        // One cut off, one that was changed.
        file(dir.path(), "packed", &packed[..packed.len() - 2]);
        let cut = run(dir.path(), words("fix parse -q packed")).expect(1);
        assert!(cut.stderr.contains("packed"), "{}", cut.stderr);
        let mut changed = packed.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 0x10;
        file(dir.path(), "packed", &changed);
        let found = run(dir.path(), words("fix stats -q packed"));
        assert!(
            [Some(1), Some(3)].contains(&found.code),
            "{name}: {:?}",
            found.code
        );
    }
    // The first bytes of a magic number alone are plain bytes.
    for first in [&b"\x1f"[..], b"\x28\xb5\x2f", b"\x50\x2a"] {
        file(dir.path(), "packed", first);
        run(dir.path(), words("fix parse -qq packed")).expect(3);
    }
}
