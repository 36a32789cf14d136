//! `perfkit fix` over logs: every shape and every fault by a table, the same answer from any number of
//! threads, pipes as they come.

#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::common::fix::{execution, faults, message, order};
use crate::common::signals::{PATIENCE, send};
use crate::common::{code, directory, file, perfkit, pipe, run, words};

/// What stands before, between and behind the fields of a message in a log.
struct Shape {
    name: &'static str,
    before: &'static str,
    separator: &'static str,
    last: &'static str,
    behind: &'static str,
}

const fn shape(
    name: &'static str,
    before: &'static str,
    separator: &'static str,
    last: &'static str,
    behind: &'static str,
) -> Shape {
    Shape {
        name,
        before,
        separator,
        last,
        behind,
    }
}

const SHAPES: [Shape; 12] = [
    shape("one behind the other", "", "\x01", "\x01", ""),
    shape("a message a line", "", "\x01", "\x01", "\n"),
    shape("lines of Windows", "", "\x01", "\x01", "\r\n"),
    shape(
        "prefix",
        "2026-03-05 14:15:16.100 <- ",
        "\x01",
        "\x01",
        "\n",
    ),
    shape("last byte 1 left out", "", "\x01", "", "\n"),
    shape("pipes", "", "|", "|", "\n"),
    shape("pipes, last left out", "", "|", "", "\r\n"),
    shape(
        "pipes, prefix and suffix",
        "[8=] out: ",
        "|",
        "|",
        " [gw]\n",
    ),
    shape("carets", "20260305-14:15:16 : ", "^A", "^A", "\n"),
    shape("text", "", "\\x01", "\\x01", "\n"),
    shape("text in angles", "", "<SOH>", "<SOH>", "\n"),
    shape("semicolons", "", ";", ";", "\n"),
];

/// The message as a log of a shape has it.
fn logged(bytes: &[u8], shape: &Shape) -> Vec<u8> {
    let mut text = shape.before.as_bytes().to_vec();
    let body = bytes.strip_suffix(b"\x01").unwrap_or(bytes);
    for byte in body {
        match byte {
            1 => text.extend_from_slice(shape.separator.as_bytes()),
            byte => text.push(*byte),
        }
    }
    text.extend_from_slice(shape.last.as_bytes());
    text.extend_from_slice(shape.behind.as_bytes());
    text
}

fn lines(text: &str) -> Vec<serde_json::Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn every_shape_of_log_with_every_fault_gives_the_rest_and_names_the_place() {
    let dir = directory();
    let (first, last) = (order(1, "one", 100), execution(1, "a=b", 130));
    for shape in &SHAPES {
        for fault in faults() {
            let parts = [&first, &fault.bytes, &last].map(|bytes| logged(bytes, shape));
            let place = parts[0].len() + shape.before.len();
            let found = pipe(dir.path(), words("fix parse -qq"), &parts.concat()).expect(3);
            let what = format!("{} / {}: {}", shape.name, fault.name, found.text());
            let lines = lines(found.text());
            assert_eq!(lines.len(), 3, "{what}");
            assert_eq!(lines[0]["msg_type"], "D", "{what}");
            assert_eq!(lines[0]["offset"], shape.before.len() as u64, "{what}");
            assert_eq!(lines[1]["offset"], place as u64, "{what}");
            let reason = lines[1]["error"].as_str().expect("a reason");
            assert!(!reason.is_empty(), "{what}");
            assert_eq!(lines[2]["msg_type"], "8", "{what}");
            assert_eq!(
                lines[2]["fields"][8],
                serde_json::json!([11, "a=b"]),
                "{what}"
            );
            // By lines, a message without an end is truncated whatever else is wrong with it.
            if shape.separator == "\x01" && !shape.last.is_empty() {
                assert!(reason.contains(fault.reason), "{what}");
                let tag = lines[1]["tag"].as_u64();
                assert_eq!(tag, fault.tag.map(u64::from).or(tag), "{what}");
            }
        }
    }
}

/// Megabytes with gaps, duplicates, resends and faults, over several sessions.
fn large_log() -> Vec<u8> {
    let faults = faults();
    let mut log = Vec::new();
    for number in 1..9000_u32 {
        // An order and its execution are of one session, each in its direction.
        let (session, seq) = (number / 2 % 7, number / 14);
        let id = format!("id{}", number / 2);
        let seq = if seq % 97 == 96 {
            seq - 5
        } else {
            seq + seq / 211
        };
        let made = match number % 2 {
            0 => order(seq, &id, number % 1000),
            _ => execution(seq, &id, (number + 3) % 1000),
        };
        let text = String::from_utf8(made).expect("text").replace('\x01', "|");
        let body = text
            .replacen("|49=A|", &format!("|49=A{session}|"), 1)
            .replacen("|56=A|", &format!("|56=A{session}|"), 1);
        let start = body.find("35=").expect("a type");
        let end = body.rfind("10=").expect("a sum");
        log.extend(message(&body[start..end]));
        if number.is_multiple_of(101) {
            let fault = &faults[number as usize % faults.len()];
            log.extend_from_slice(&fault.bytes);
            log.extend_from_slice(b"\x00noise\xff");
        }
    }
    log
}

#[test]
fn any_number_of_threads_gives_the_same_from_files_and_pipes() {
    let dir = directory();
    let log = large_log();
    assert!(
        log.len() > 1 << 20,
        "{} bytes are too few for threads",
        log.len()
    );
    let text = String::from_utf8_lossy(&log[..])
        .replace('\x01', "|")
        .replace("8=FIX", "\n8=FIX");
    file(dir.path(), "log", &log);
    file(dir.path(), "lines", text.as_bytes());
    for name in ["log", "lines"] {
        for part in ["parse", "validate"] {
            let by = |threads: u32| {
                let line = format!("fix {part} -qq -T{threads} {name}");
                run(dir.path(), words(&line)).expect(3).stdout
            };
            let wanted = by(1);
            assert!(!wanted.is_empty(), "{part} {name}");
            assert!(by(3) == wanted, "{part} {name} by three threads");
            let line = words(&format!("fix {part} -qq -T2"));
            let content = std::fs::read(dir.path().join(name)).expect("read");
            let piped = pipe(dir.path(), line, &content).expect(3).text().to_owned();
            let piped = piped.replace("\"file\":\"-\"", &format!("\"file\":\"{name}\""));
            assert!(piped.as_bytes() == wanted, "{part} {name} from a pipe");
        }
        let stats = |threads: u32| {
            let line = format!("fix stats --report json -T{threads} {name} {name}");
            let mut report = run(dir.path(), words(&line)).expect(3).json();
            let rows = report["latencies"].as_array().expect("rows").clone();
            let wait = rows
                .iter()
                .find(|row| row["series"] == "order to execution");
            (report["tables"].take(), wait.expect("waits").clone())
        };
        let wanted = stats(1);
        assert_eq!(stats(3), wanted, "{name}");
        assert!(wanted.0.to_string().contains("\"gaps\""), "{name}");
    }
}

/// What a child writes, as it comes.
fn output(child: &mut Child) -> Receiver<Vec<u8>> {
    let mut stdout = child.stdout.take().expect("a pipe");
    let (sender, pieces) = channel();
    std::thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(count) = stdout.read(&mut piece) {
            if count == 0 || sender.send(piece[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}

fn wait_for(pieces: &Receiver<Vec<u8>>, text: &str) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(text) {
        let piece = pieces.recv_timeout(PATIENCE);
        seen.extend(piece.unwrap_or_else(|_| panic!("never: {text}")));
    }
}

#[test]
fn messages_of_a_pipe_come_out_while_it_is_open_and_an_interrupt_gives_the_report() {
    for threads in ["-T1", "-T2"] {
        for separator in ["\x01", "|"] {
            let mut child = perfkit()
                .args(["fix", "print", threads, "--report", "json"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("perfkit runs");
            let pieces = output(&mut child);
            let mut stdin = child.stdin.take().expect("a pipe");
            for seq in [7001, 7002] {
                let text = String::from_utf8(order(seq, "one", 1)).expect("text");
                let text = text.replace('\x01', separator);
                let (head, rest) = text.split_at(40);
                stdin.write_all(b"in: ").expect("written");
                stdin.write_all(head.as_bytes()).expect("written");
                stdin.flush().expect("written");
                stdin.write_all(rest.as_bytes()).expect("written");
                stdin.write_all(b"\n").expect("written");
                wait_for(&pieces, &format!("MsgSeqNum = {seq}"));
            }
            send(&child, nix::sys::signal::Signal::SIGINT);
            let ended = child.wait_with_output().expect("it ends");
            drop(stdin);
            assert_eq!(code(ended.status), Some(130));
            let report: serde_json::Value =
                serde_json::from_slice(&ended.stderr).expect("a report");
            assert_eq!(report["complete"], false);
            assert_eq!(report["workload"]["params"]["messages"], 2);
        }
    }
}

#[test]
fn who_closes_the_pipe_has_seen_enough() {
    let dir = directory();
    file(dir.path(), "log", &large_log());
    let mut child = perfkit()
        .current_dir(dir.path())
        .args(["fix", "parse", "-qq", "log"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("perfkit runs");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 100]).expect("a beginning");
    drop(stdout);
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.stderr.is_empty());
    assert!(matches!(ended.status.code(), Some(0 | 3)));
}

#[test]
fn pseudonyms_hide_who_it_is_and_leave_all_else() {
    let dir = directory();
    let key = file(dir.path(), "key", b"sixteen bytes ok");
    let body = "35=D|49=BUYSIDE7|56=MARKET01|34=1|52=20260305-14:15:16|1=FUND-0071|11=ORDER42|55=X|\
        54=1|60=20260305-14:15:16|40=1|38=5|58=call Miller at 5550199|5001=Secret99|";
    let own = message(body);
    let answer = message("35=8|49=MARKET01|56=BUYSIDE7|34=1|52=20260305-14:15:17|11=ORDER42|55=X|");
    let hidden = [
        "BUYSIDE7",
        "MARKET01",
        "FUND-0071",
        "ORDER42",
        "Miller",
        "5550199",
        "Secret99",
    ];
    for separator in ["\x01", "|", "^A"] {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\x01', separator);
        let bad = text(&own).replace("38=5", "38=6");
        let log = [
            "gateway of BUYSIDE7: ".to_owned(),
            text(&own),
            "\n".to_owned(),
            bad,
            "\n".to_owned(),
            text(&answer),
            "\n".to_owned(),
        ];
        let line = format!("fix anonymize -q --also 5001 --key-file {}", key.display());
        let run = |line: &str| pipe(dir.path(), words(line), log.concat().as_bytes()).expect(3);
        let found = run(&line);
        let out = found.text();
        assert_eq!(out.lines().count(), 2, "{out}");
        for name in hidden {
            assert!(
                !out.contains(name) && !found.stderr.contains(name),
                "{name}: {out}"
            );
        }
        assert_eq!(out, run(&line).text(), "the same for a key");
        assert_ne!(
            out,
            run("fix anonymize -q --also 5001").text(),
            "another key"
        );
        let parsed = pipe(dir.path(), words("fix parse -qq"), out.as_bytes()).expect(0);
        let lines = lines(parsed.text());
        let field = |line: usize, tag: u64| {
            let fields = lines[line]["fields"].as_array().expect("fields");
            let found = fields.iter().find(|field| field[0] == tag);
            found
                .and_then(|field| field[1].as_str())
                .expect("the field")
                .to_owned()
        };
        assert_eq!(field(0, 49), field(1, 56));
        assert_eq!(field(0, 11), field(1, 11));
        assert_eq!(field(0, 38), "5");
        assert_eq!(field(0, 1).find('-'), Some(4));
        assert!(out.contains(separator));
    }
    run(dir.path(), words("fix anonymize --key-file nowhere log")).expect(1);
    file(dir.path(), "short", b"short");
    run(dir.path(), words("fix anonymize --key-file short log")).expect(1);
}

#[test]
fn opaque_data_are_hidden_and_a_separator_within_values_ends_no_field() {
    let dir = directory();
    let xml = "<fix type='FIX' major='4' minor='4'><header/><trailer/><messages/><components/><fields>\
        <field number='5100' name='OwnLength' type='LENGTH'/>\
        <field number='5101' name='Own' type='DATA'/></fields></fix>";
    file(dir.path(), "own.xml", xml.as_bytes());
    for separator in ["\x01", "|", "^A", ";"] {
        // Data with the byte 1, XML and text with separators and the start of a message.
        let text = format!("Miller{separator} 8=FIX.4.4 Miller").replace('\x01', " ");
        let encoded = format!("<a b=\"Secret1\">Secret{separator}2</a>");
        let (length, text_length) = (encoded.len(), text.len());
        let body = format!(
            "35=B\x0149=BUY\x0156=SELL\x0134=1\x0152=20260305-14:15:16\x01148=head\x0133=1\x01\
             58={text}\x01354={text_length}\x01355={text}\x01212={length}\x01213={encoded}\x01\
             95={length}\x0196={encoded}\x015100=7\x015101=Secret3\x01"
        );
        let mut log = Vec::new();
        fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut log);
        let mut line = b"in ".to_vec();
        for byte in &log {
            match byte {
                1 => line.extend_from_slice(separator.as_bytes()),
                byte => line.push(*byte),
            }
        }
        line.push(b'\n');
        let log = line.repeat(3);
        let parse = |log: &[u8]| pipe(dir.path(), words("fix parse -qq --dictionary own.xml"), log);
        let before = lines(parse(&log).expect(0).text());
        assert_eq!(before.len(), 3, "{separator}");
        let flags = "fix anonymize -qq --dictionary own.xml";
        let found = pipe(dir.path(), words(flags), &log).expect(0);
        let after = lines(parse(&found.stdout).expect(0).text());
        let shape = |lines: &[serde_json::Value]| {
            let fields = lines
                .iter()
                .flat_map(|line| line["fields"].as_array().expect("fields"));
            let shape = fields.map(|field| (field[0].clone(), field[1].as_str().map(str::len)));
            shape.collect::<Vec<_>>()
        };
        assert_eq!(shape(&after), shape(&before), "{separator}");
        let out = found.text();
        for name in ["Secret", "Miller", "BUY", "SELL"] {
            assert!(!out.contains(name), "{name}: {out}");
        }
        let some = pipe(dir.path(), words("fix anonymize -qq --tags 49"), &log).expect(0);
        assert!(some.text().contains("Secret3") && some.text().contains("Miller"));
    }
}

#[test]
fn a_generated_log_is_what_its_seed_and_flags_say() {
    let dir = directory();
    let log = run(dir.path(), words("fix generate --messages 3000 --seed 5")).expect(0);
    let again = run(
        dir.path(),
        words("fix generate --messages 3000 --seed 5 -o log"),
    )
    .expect(0);
    assert!(again.stdout.is_empty());
    assert!(std::fs::read(dir.path().join("log")).expect("read") == log.stdout);
    run(dir.path(), words("fix generate -o log")).expect(1);
    run(dir.path(), words("fix generate --mix 0,0,0,0")).expect(2);
    run(dir.path(), words("fix generate --hostile 2")).expect(2);
    run(dir.path(), words("fix validate -qq log")).expect(0);
    let report = run(dir.path(), words("fix stats --report json log"))
        .expect(0)
        .json();
    assert_eq!(report["workload"]["params"]["messages"], 3000);
    for separator in ["pipe", "caret", "hex"] {
        let line = format!(
            "fix generate --messages 3000 --seed 5 --form prefixed --separator {separator}"
        );
        let text = run(dir.path(), words(&line)).expect(0).stdout;
        let other = pipe(dir.path(), words("fix stats --report json"), &text)
            .expect(0)
            .json();
        assert_eq!(other["tables"], report["tables"], "{separator}");
    }
    let line = words("fix generate --size 1MB --hostile 0.05 --form stream -o bad");
    run(dir.path(), line).expect(0);
    let bytes = std::fs::metadata(dir.path().join("bad"))
        .expect("there")
        .len();
    assert!((1 << 20..(1 << 20) + 10_000).contains(&bytes), "{bytes}");
    let report = run(dir.path(), words("fix stats --report json bad"))
        .expect(3)
        .json();
    assert!(report["tables"].to_string().contains("\"gaps\""));
    assert!(report["workload"]["params"]["messages_bad"].as_u64() > Some(50));
}
