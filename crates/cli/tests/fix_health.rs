//! `perfkit fix health`: what became of the sessions of a log, as a report and as lines of JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::fix::message;
use crate::common::{directory, file, run, words};

/// A session of 30 s heartbeats that is torn, logs on again and asks for what it lacks.
fn log() -> Vec<u8> {
    let lines = [
        ("A", "B", "14:00:00", "35=A|34=1|98=0|108=30|"),
        ("B", "A", "14:00:01", "35=A|34=1|98=0|108=30|"),
        ("A", "B", "14:00:30", "35=0|34=2|"),
        ("B", "A", "14:00:36", "35=0|34=2|"),
        ("B", "A", "14:00:40", "35=1|34=3|112=are you there|"),
        ("A", "B", "14:02:00", "35=A|34=3|98=0|108=30|"),
        ("B", "A", "14:02:01", "35=A|34=6|98=0|108=30|"),
        ("A", "B", "14:02:02", "35=2|34=4|7=4|16=5|"),
        (
            "B",
            "A",
            "14:02:03",
            "35=j|34=4|43=Y|122=20260305-14:01:00|45=2|372=D|380=3|58=no D for id 7|",
        ),
        ("B", "A", "14:02:04", "35=4|34=5|43=Y|123=Y|36=6|"),
        ("B", "A", "14:02:09", "35=5|34=7|58=end of day|"),
        ("A", "B", "14:02:10", "35=5|34=5|"),
    ];
    let mut log = Vec::new();
    for (sender, target, time, fields) in lines {
        let (msg_type, rest) = fields.split_once('|').expect("a type");
        let body = format!("{msg_type}|49={sender}|56={target}|{rest}52=20260305-{time}.000|");
        // The zone of the log is an hour ahead, and its clock 5 ms.
        let hour = time.replacen("14:", "15:", 1);
        log.extend_from_slice(format!("2026-03-05 {hour}.005 <- ").as_bytes());
        log.extend_from_slice(&message(&body));
        log.push(b'\n');
    }
    log
}

fn report(dir: &Path, line: &str) -> Value {
    let found = run(dir, words(line)).expect(0);
    serde_json::from_str(found.text()).expect("a report")
}

/// The rows of a table by the names of its columns.
fn records(report: &Value, name: &str) -> Vec<Value> {
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == name);
    table.map_or_else(Vec::new, |table| {
        table["records"].as_array().expect("records").clone()
    })
}

#[test]
fn a_report_says_what_became_of_each_session() {
    let dir = directory();
    file(dir.path(), "log", &log());
    let report = report(dir.path(), "fix health --report json log");
    let params = &report["workload"]["params"];
    assert_eq!(
        (&params["messages"], &params["gaps"]),
        (&json!(12), &json!(1))
    );
    assert_eq!(
        params["messages_a_minute"],
        json!({"20260305-14:00": 5, "20260305-14:02": 7})
    );
    let gaps = records(&report, "gaps");
    assert_eq!(gaps.len(), 1);
    let gap = &gaps[0];
    assert_eq!((&gap["expected"], &gap["got"]), (&json!(4), &json!(6)));
    assert_eq!(gap["how"], "resent and gap fill");
    assert_eq!(gap["start"], "20260305-14:02:01.000");
    assert_eq!(gap["took_ns"], 3_000_000_000_u64);
    assert_eq!((&gap["file"], &gap["line"]), (&json!("log"), &json!(7)));
    let requests = records(&report, "resend requests");
    assert_eq!((requests.len(), &requests[0]["how"]), (1, &json!("resent")));
    let found: Vec<_> = records(&report, "connections")
        .iter()
        .map(|one| {
            [
                &one["how"],
                &one["by"],
                &one["down_before_ns"],
                &one["text"],
            ]
            .map(Clone::clone)
        })
        .collect();
    let wanted = [
        [json!("no logout"), json!(""), Value::Null, json!("")],
        [
            json!("logout"),
            json!("B"),
            json!(80_000_000_000_u64),
            json!("end of day"),
        ],
    ];
    assert_eq!(found, wanted);
    let tests = records(&report, "unanswered test requests");
    assert_eq!((tests.len(), &tests[0]["id"]), (1, &json!("are you there")));
    let rejects = records(&report, "rejects");
    assert_eq!(rejects[0]["name"], "UNSUPPORTED_MESSAGE_TYPE");
    assert_eq!(rejects[0]["text"], "no D for id 7");
    let skews = records(&report, "sent (52) to the time of the log");
    assert!(
        skews.len() == 2 && skews.iter().all(|one| one["mean_ns"] == 5e6),
        "{skews:?}"
    );
    let late: Vec<_> = report["latencies"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["operation"] == "heartbeat")
        .map(|row| row["max_ns"].clone())
        .collect();
    assert_eq!(late.len(), 2, "{late:?}");
    let chart = records(&report, "messages a minute");
    assert_eq!(chart.len(), 3, "a minute without messages has a row");
    assert!(
        chart[1]["chart"] == "" && chart[2]["chart"] == "█".repeat(24),
        "{chart:?}"
    );
}

#[test]
fn lines_of_json_are_all_rows() {
    let dir = directory();
    file(dir.path(), "log", &log());
    let lines = |what: &str| -> Vec<Value> {
        let found = run(
            dir.path(),
            words(&format!("fix health -qq --list {what} log")),
        )
        .expect(0);
        let lines = found.text().lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let all = lines("all");
    let kinds: Vec<_> = all.iter().map(|line| line["what"].clone()).collect();
    let wanted = [
        "unanswered test request",
        "connection",
        "resend request",
        "gap",
        "connection",
        "reject",
    ];
    assert_eq!(kinds, wanted);
    for (what, kind) in [
        ("gaps", "gap"),
        ("requests", "resend request"),
        ("connections", "connection"),
        ("tests", "unanswered test request"),
        ("rejects", "reject"),
    ] {
        let of_kind: Vec<_> = all
            .iter()
            .filter(|line| line["what"] == kind)
            .cloned()
            .collect();
        assert_eq!(lines(what), of_kind, "{what}");
    }
    assert_eq!(lines("storms"), Vec::<Value>::new());
    assert_eq!(
        (&all[3]["sender"], &all[3]["target"]),
        (&json!("B"), &json!("A"))
    );
}

#[test]
fn pieces_of_one_log_go_on_and_two_logs_do_not() {
    let dir = directory();
    let log = log();
    let ends: Vec<usize> = memchr(&log);
    file(dir.path(), "whole", &log);
    file(dir.path(), "first", &log[..ends[5]]);
    file(dir.path(), "second", &log[ends[5]..]);
    let sums = |line: &str| {
        let report = report(dir.path(), line);
        let mut sums = records(&report, "sessions");
        for one in &mut sums {
            one["file"] = Value::Null;
        }
        sums
    };
    let whole = sums("fix health --report json whole");
    assert_eq!(
        sums("fix health --report json --one-log first second"),
        whole
    );
    assert_eq!(sums("fix health --report json first second").len(), 4);
    // The party at the other end has a log of its own.
    let twice = sums("fix health --report json whole first");
    assert_eq!(twice[..2], whole[..]);
}

/// The places behind each line.
fn memchr(log: &[u8]) -> Vec<usize> {
    let bytes = log.iter().enumerate();
    bytes
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect()
}

#[test]
fn hostile_logs_have_their_places_and_the_same_sessions_for_any_threads() {
    let dir = directory();
    for (form, separator) in [("lines", "soh"), ("prefixed", "pipe"), ("stream", "soh")] {
        let line = format!(
            "fix generate -q --messages 20000 --hostile 0.05 --form {form} --separator {separator} --seed 3 -f -o log"
        );
        run(dir.path(), words(&line)).expect(0);
        let by = |part: &str, threads: u32| {
            let found = run(dir.path(), words(&format!("fix {part} -T{threads} log"))).expect(3);
            found.text().to_owned()
        };
        let reports = [1, 3].map(|threads| {
            let text = by("health --report json", threads);
            let report: Value = serde_json::from_str(&text).expect("a report");
            let tables = report["tables"].clone();
            assert!(
                !records(&report, "bad messages").is_empty(),
                "places are named"
            );
            assert!(!records(&report, "gaps").is_empty());
            tables
        });
        assert_eq!(reports[0], reports[1], "{form}");
        let lists = [1, 3].map(|threads| by("health -qq --list all", threads));
        assert_eq!(lists[0], lists[1], "{form}");
        let lines =
            [1, 3].map(|threads| by("validate -qq --warnings --custom-tags refuse", threads));
        assert_eq!(lines[0], lines[1], "{form}");
        for line in lines[0].lines().chain(lists[0].lines()) {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert!(line["offset"].is_u64(), "{line}");
        }
    }
}
