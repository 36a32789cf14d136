//! Logs that grow, and several logs in the order of time.

#![cfg(unix)]

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::fix::{self, changed, order};
use crate::common::{directory, file, perfkit, run, words};

/// Longer than any of these waits takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

fn message(number: usize, time: &str) -> String {
    let body = format!("35=0\x0149=A\x0156=B\x0134={number}\x0152=20260305-{time}\x01");
    let mut all = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut all);
    format!("{}\n", String::from_utf8_lossy(&all))
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.expect("opened")
        .write_all(text.as_bytes())
        .expect("written");
}

/// A follower, and the lines that it writes.
fn follow(dir: &Path, flags: &str) -> (Child, Receiver<String>) {
    let mut child = perfkit()
        .args(words(&format!(
            "fix parse --fields 34 --follow {flags} app.log"
        )))
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let out = child.stdout.take().expect("piped");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (child, receiver)
}

/// Line and MsgSeqNum of the next message.
fn next(lines: &Receiver<String>) -> (u64, String) {
    let line = lines.recv_timeout(LIMIT).expect("a line");
    let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let number = value["fields"][0][1].as_str().expect("a number");
    (value["line"].as_u64().expect("a line"), number.to_owned())
}

#[test]
fn what_is_appended_is_read_over_rotation_and_truncation() {
    let dir = directory();
    let path = dir.path().join("app.log");
    append(&path, &message(1, "08:00:00"));
    let (mut child, lines) = follow(dir.path(), "--limit 6");
    assert_eq!(next(&lines), (1, "1".to_owned()));
    append(&path, &message(2, "08:00:01"));
    assert_eq!(next(&lines), (2, "2".to_owned()));
    // Half a message, then the rest of it.
    let whole = message(3, "08:00:02");
    let (half, rest) = whole.split_at(20);
    append(&path, half);
    append(&path, rest);
    assert_eq!(next(&lines), (3, "3".to_owned()));
    // Rotated: what is still written to the old file is read, then the new one from its beginning.
    std::fs::rename(&path, dir.path().join("app.log.1")).expect("renamed");
    append(&dir.path().join("app.log.1"), &message(4, "08:00:03"));
    assert_eq!(next(&lines), (4, "4".to_owned()));
    append(&path, &message(5, "08:00:04"));
    assert_eq!(next(&lines), (1, "5".to_owned()));
    // Written anew.
    std::fs::write(&path, "").expect("truncated");
    std::thread::sleep(Duration::from_millis(300));
    append(&path, &message(6, "08:00:05"));
    assert_eq!(next(&lines), (1, "6".to_owned()));
    // The limit ends it.
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[test]
fn an_interrupt_ends_with_a_report() {
    use std::io::Read as _;
    let dir = directory();
    let path = dir.path().join("app.log");
    append(&path, &message(1, "08:00:00"));
    let (mut child, lines) = follow(dir.path(), "");
    assert_eq!(next(&lines).1, "1");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("interrupted");
    let status = child.wait().expect("ended");
    let mut said = String::new();
    let stderr = child.stderr.take().expect("piped");
    BufReader::new(stderr)
        .read_to_string(&mut said)
        .expect("text");
    assert!(!status.success(), "{status:?}");
    assert!(said.contains("fix parse"), "{said}");
}

#[test]
fn several_logs_are_read_in_the_order_of_time() {
    let dir = directory();
    let log = |numbers: &[(usize, &str)]| {
        let lines = numbers.iter().map(|(number, time)| message(*number, time));
        lines.collect::<String>()
    };
    let a = log(&[
        (1, "08:00:00"),
        (3, "08:00:02"),
        (4, "08:00:01"),
        (6, "08:00:09"),
    ]);
    let b = log(&[(2, "08:00:01"), (5, "08:00:05"), (7, "08:00:10")]);
    file(dir.path(), "a.log", a.as_bytes());
    file(dir.path(), "b.log", b.as_bytes());
    let numbers = |line: &str| {
        let found = run(dir.path(), words(line)).expect(0);
        let rows = found
            .text()
            .lines()
            .skip(1)
            .map(|row| row.rsplit(',').next().unwrap_or("").to_owned());
        rows.collect::<Vec<_>>().join("")
    };
    let by_time = "fix parse -qq --fields 34 --format csv --by-time";
    assert_eq!(numbers(&format!("{by_time} b.log a.log")), "1243567");
    assert_eq!(numbers(&format!("{by_time} --limit 3 a.log b.log")), "124");
    let context = format!("{by_time} --where 34=4 --context 1 a.log b.log");
    assert_eq!(numbers(&context), "243");
    assert_eq!(
        numbers("fix parse -qq --fields 34 --format csv b.log a.log"),
        "2571346"
    );
    // Statistics read the earliest log first: its numbers come first.
    file(
        dir.path(),
        "old.log",
        log(&[(1, "07:00:00"), (2, "07:00:01")]).as_bytes(),
    );
    file(
        dir.path(),
        "new.log",
        log(&[(3, "08:00:00"), (4, "08:00:01")]).as_bytes(),
    );
    let tables = |line: &str| {
        let line = format!("fix stats -qq -f --export-json s.json {line}");
        run(dir.path(), words(&line)).expect(0);
        let text = std::fs::read(dir.path().join("s.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        report["tables"].clone()
    };
    let in_order = tables("--one-log old.log new.log");
    assert_eq!(tables("--by-time new.log old.log"), in_order);
    assert_eq!(tables("--one-log new.log old.log"), in_order);
    assert_ne!(tables("old.log new.log"), in_order, "two logs");
    run(dir.path(), words("fix validate --by-time a.log b.log")).expect(2);
    run(dir.path(), words("fix parse --follow a.log b.log")).expect(2);
}

#[test]
fn the_lines_of_one_log_are_put_in_the_order_of_time() {
    let dir = directory();
    let log = |seqs: &[u32]| -> Vec<u8> {
        let lines = seqs
            .iter()
            .map(|seq| [order(*seq, "id", *seq), b"\n".to_vec()].concat());
        lines.collect::<Vec<_>>().concat()
    };
    file(dir.path(), "a.log", &log(&[5, 1, 9, 3, 7]));
    file(dir.path(), "b.log", &log(&[8, 2, 4, 6]));
    // What has no time stays behind the message before it.
    let bad = changed(&order(3, "id", 3), "34=3", "34=x");
    let last = fix::message("35=0|49=A|56=B|34=2|");
    file(
        dir.path(),
        "c.log",
        &[log(&[4, 1]), last, b"\n".to_vec(), log(&[3])].concat(),
    );
    file(
        dir.path(),
        "d.log",
        &[log(&[4, 1]), bad, b"\n".to_vec(), log(&[3])].concat(),
    );
    let numbers = |files: &str, exit| {
        let line = format!("fix parse -qq --by-time --fields 34 {files}");
        let found = run(dir.path(), words(&line)).expect(exit);
        let lines = found.text().lines();
        let number = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            line["fields"][0][1].as_str().unwrap_or("!").to_owned()
        };
        lines.map(number).collect::<String>()
    };
    assert_eq!(numbers("a.log", 0), "13579");
    assert_eq!(numbers("b.log a.log", 0), "123456789");
    assert_eq!(numbers("--limit 2 a.log", 0), "13");
    assert_eq!(numbers("--where 34=3 --context 1 a.log", 0), "135");
    assert_eq!(numbers("c.log", 0), "1234");
    assert_eq!(numbers("d.log", 3), "1!34");
    // More than waits at once, and the earliest at its end.
    let text = "x".repeat(1_000_000);
    let long = |seq: u32| {
        let time = format!("20260305-14:{:02}:{:02}", seq / 60, seq % 60);
        let body = format!("35=B|49=A|56=B|34={seq}|52={time}|58={text}|");
        fix::message(&body)
    };
    let large: Vec<_> = (1..=70).chain([0]).map(long).collect();
    file(dir.path(), "large", &large.concat());
    let found = run(dir.path(), words("fix parse --by-time --no-progress large")).expect(0);
    assert_eq!(found.text().lines().count(), 71);
    let note = "1 messages stand behind later ones: at most 64 MiB";
    assert!(found.stderr.contains(note), "{}", found.stderr);
}
