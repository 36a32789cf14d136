//! Lines of JSON about hostile bytes, read back by serde_json and by Python.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::common::{Run, directory, feed, file, run, words};
use crate::peer;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let python = peer::works(Command::new("python3").args(["-c", "import json"]));
    peer::trials![
        true => [
            parsed_values_are_the_bytes_of_the_log,
            every_line_and_report_is_json,
        ],
        python => [
            python_reads_the_same_bytes,
        ],
    ]
}

/// Values that are apt to break a string of JSON.
const VALUES: [&[u8]; 12] = [
    b"a\x01b",
    b"\x01",
    b"a\"b\\c",
    b"\x1b[2J\x07\x00",
    b"\x7f\n\r\t",
    "gr\u{fc}n \u{20ac} \u{1f600} \u{2028}\u{85}".as_bytes(),
    b"gr\xfcn",
    b"\xff\x01\xfe",
    b"\xed\xa0\x80",
    b"\xc3",
    b"{\"hex\":\"00\"}",
    b"\\u0041\\x41",
];

/// A message with a data field around any bytes, and text where no separator is in them.
fn message(number: usize, value: &[u8]) -> Vec<u8> {
    let mut body = format!("35=D\x0149=A\x0156=B\x0134={number}\x01").into_bytes();
    if !value.contains(&1) {
        body.extend_from_slice(&[&b"58="[..], value, b"\x01"].concat());
    }
    body.extend_from_slice(format!("95={}\x0196=", value.len()).as_bytes());
    body.extend_from_slice(value);
    body.push(1);
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend_from_slice(&body);
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

/// The values, and pairs of them.
fn values() -> Vec<Vec<u8>> {
    let single = VALUES.iter().map(|value| value.to_vec());
    let pairs = VALUES
        .iter()
        .flat_map(|a| VALUES.iter().map(move |b| [*a, *b].concat()));
    single.chain(pairs).collect()
}

fn log(values: &[Vec<u8>]) -> Vec<u8> {
    let numbered = values.iter().enumerate();
    let messages: Vec<_> = numbered.map(|(at, value)| message(at + 1, value)).collect();
    messages.concat()
}

/// The bytes that a value of JSON stands for.
fn bytes_of(value: &Value) -> Vec<u8> {
    if let Some(text) = value.as_str() {
        return text.as_bytes().to_vec();
    }
    let digits = value["hex"].as_str().expect("text or hex");
    let digits = digits.as_bytes().chunks(2);
    let digits = digits.map(|pair| std::str::from_utf8(pair).expect("digits"));
    digits
        .map(|pair| u8::from_str_radix(pair, 16).expect("hex"))
        .collect()
}

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.text().lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

fn parsed_values_are_the_bytes_of_the_log() {
    let dir = directory();
    let values = values();
    file(dir.path(), "log", &log(&values));
    let parsed = run(dir.path(), words("fix parse -qq log")).expect(0);
    let parsed = lines(&parsed);
    assert_eq!(parsed.len(), values.len());
    for (line, value) in parsed.iter().zip(&values) {
        for field in line["fields"].as_array().expect("fields") {
            if field[0] == 96 || field[0] == 58 {
                assert_eq!(&bytes_of(&field[1]), value, "{line}");
            }
        }
    }
}

/// Runs all that writes lines or reports about a hostile log; the lines, and the reports.
fn everything(dir: &Path) -> Vec<Run> {
    let values = values();
    file(dir, "log", &log(&values));
    let mut other = values.clone();
    other.rotate_left(1);
    file(dir, "other", &log(&other));
    // Cut off, of unknown versions and types, with names of sessions and types that are no text.
    let mut bad = b"8=FIX\xff\x01 8=FIX.4.4\x019=5\x0135=0\x0110=000\x01\xff\x00".to_vec();
    for value in [&b"A\xff"[..], b"\"\\", "\u{e9}\u{2028}".as_bytes()] {
        let text = [
            &b"35="[..],
            value,
            b"\x0149=",
            value,
            b"\x0156=",
            value,
            b"\x0134=7\x01",
        ];
        let body = text.concat();
        let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
        bytes.extend_from_slice(&body);
        let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        bad.extend_from_slice(&bytes);
    }
    bad.extend_from_slice(b"8=FIX.4.4\x019=50\x0135=");
    file(dir, "bad \"\u{e9}\\", &bad);
    file(dir, "none", b"");
    let names = ["log", "bad \"\u{e9}\\"];
    let mut runs = Vec::new();
    for part in ["parse", "validate", "stats"] {
        for report in ["json", "jsonl"] {
            let line = ["fix", part, "--report", report];
            runs.push(run(dir, line.into_iter().chain(names)));
        }
    }
    for pair in [["log", "other"], [names[1], "none"], ["none", "log"]] {
        for by in ["number", "order", "whole"] {
            let line = ["fix", "diff", "--report", "jsonl", "--by", by];
            runs.push(run(dir, line.into_iter().chain(pair)));
        }
    }
    runs
}

fn every_line_and_report_is_json() {
    let dir = directory();
    let mut read = 0;
    for run in everything(dir.path()) {
        let whole = serde_json::from_slice::<Value>(&run.stdout);
        if whole.is_err() {
            read += lines(&run).len();
        }
        // Messages of the terminal stand before a report.
        let at = run.stderr.find('{').unwrap_or(run.stderr.len());
        if at < run.stderr.len() && run.stderr.contains("\"schema\"") {
            let mut reports = serde_json::Deserializer::from_str(&run.stderr[at..]).into_iter();
            let report: Value = reports.next().expect("a report").expect("JSON");
            assert!(report["schema"].is_string());
            read += 1;
        }
    }
    assert!(read > 500, "{read}");
}

fn python_reads_the_same_bytes() {
    const READER: &str = "
import json, sys
def bytes_of(v):
    return bytes.fromhex(v['hex']) if isinstance(v, dict) else v.encode()
for line in sys.stdin.buffer.read().decode('utf-8').split('\\n')[:-1]:
    fields = json.loads(line)['fields']
    print(next(bytes_of(v).hex() for t, v in fields if t == 96))
";
    let dir = directory();
    let values = values();
    file(dir.path(), "log", &log(&values));
    let parsed = run(dir.path(), words("fix parse -qq log")).expect(0);
    let mut python = Command::new("python3");
    python.args(["-c", READER]);
    let read = Run::from(feed(python, &parsed.stdout)).expect(0);
    let hex = |value: &Vec<u8>| value.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let expected: Vec<String> = values.iter().map(hex).collect();
    assert_eq!(read.text().lines().collect::<Vec<_>>(), expected);
    for run in everything(dir.path()) {
        let mut python = Command::new("python3");
        python.args(["-c", "import json,sys\nd=sys.stdin.buffer.read().decode()\ntry: json.loads(d)\nexcept ValueError: [json.loads(l) for l in d.split('\\n')[:-1]]"]);
        Run::from(feed(python, &run.stdout)).expect(0);
    }
}
