//! `perfkit fix stats` over several logs, SubIDs and messages that were masked.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::fix::{changed, execution, message, order};
use crate::common::{Run, directory, file, run, words};

fn stats(dir: &Path, flags: &str) -> (Value, Run) {
    let line = format!("fix stats --report json {flags}");
    let found = run(dir, words(&line)).expect(0);
    (found.json(), found)
}

/// The rows of a table by the names of its columns.
fn records(report: &Value, name: &str) -> Vec<Value> {
    let tables = report["tables"].as_array().expect("tables");
    let Some(table) = tables.iter().find(|table| table["name"] == name) else {
        return Vec::new();
    };
    let keys = table["columns"].as_array().expect("columns").iter();
    let keys: Vec<_> = keys.map(|column| column["key"].as_str()).collect();
    let rows = table["rows"].as_array().expect("rows").iter();
    let record = |row: &Value| {
        let values = row.as_array().expect("values").iter();
        let named = keys.iter().zip(values);
        named
            .map(|(key, value)| (key.expect("a key").to_owned(), value.clone()))
            .collect()
    };
    rows.map(record).collect()
}

fn waits(report: &Value) -> Value {
    let rows = report["latencies"].as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["series"] == "order to execution");
    row.map_or(Value::Null, |row| row["n"].clone())
}

/// Orders and their executions, from this number on.
fn traffic(from: u32, count: u32) -> Vec<Vec<u8>> {
    let pair = |at: u32| {
        let id = format!("order {at}");
        [order(at, &id, 2 * at), execution(at, &id, 2 * at + 1)]
    };
    (from..from + count).flat_map(pair).collect()
}

#[test]
fn the_logs_of_both_parties_count_for_themselves_and_their_latencies_once() {
    let dir = directory();
    let all = traffic(1, 50);
    file(dir.path(), "a.log", &all.concat());
    // The other party did not get one of the orders.
    file(
        dir.path(),
        "b.log",
        &[&all[..40], &all[42..]].concat().concat(),
    );
    let (report, found) = stats(dir.path(), "a.log b.log");
    let sessions = records(&report, "sessions");
    let row = |at: usize, key: &str| sessions[at][key].clone();
    let wanted = [
        ("A → B", "a.log", 50, 0),
        ("A → B", "b.log", 49, 1),
        ("B → A", "a.log", 50, 0),
        ("B → A", "b.log", 49, 1),
    ];
    for (at, (session, log, messages, gaps)) in wanted.into_iter().enumerate() {
        let found = ["session", "file", "messages", "gaps", "duplicates"].map(|key| row(at, key));
        let wanted = json!([session, log, messages, gaps, 0]);
        assert_eq!(json!(found), wanted);
    }
    assert_eq!(waits(&report), 50);
    assert!(found.stderr.contains("in several logs"), "{}", found.stderr);
    assert!(found.stderr.contains("--one-log"), "{}", found.stderr);
    // One log has no file of its own in its rows, and no note.
    let (report, found) = stats(dir.path(), "a.log");
    assert_eq!(records(&report, "sessions")[0]["file"], Value::Null);
    assert!(!found.stderr.contains("several"), "{}", found.stderr);
}

#[test]
fn pieces_of_one_log_are_read_in_the_order_of_their_times() {
    let dir = directory();
    let all = traffic(1, 60);
    file(dir.path(), "whole", &all.concat());
    // As rotation names them: the newest first.
    file(dir.path(), "log", &all[81..].concat());
    file(dir.path(), "log.1", &all[41..81].concat());
    file(dir.path(), "log.2", &all[..41].concat());
    let counts = |flags: &str| {
        let (report, found) = stats(dir.path(), flags);
        let rows = ["sessions", "messages", "gaps"].map(|name| records(&report, name));
        (rows, waits(&report), found)
    };
    let whole = counts("whole");
    for flags in ["--one-log log log.1 log.2", "--by-time log log.1 log.2"] {
        let pieces = counts(flags);
        assert_eq!((&pieces.0, &pieces.1), (&whole.0, &whole.1), "{flags}");
        assert!(!pieces.2.stderr.contains("several logs"), "{flags}");
    }
    let apart = counts("log log.1 log.2");
    assert!(apart.2.stderr.contains("--one-log"), "{}", apart.2.stderr);
    let duplicates = apart.0[0].iter().map(|row| &row["duplicates"]);
    assert!(
        duplicates.clone().all(|count| *count == 0),
        "{apart:?}",
        apart = apart.0
    );
    // The same flag of the same meaning.
    let health = run(
        dir.path(),
        words("fix health --report json --one-log log log.1 log.2"),
    );
    let health = health.expect(0).json();
    assert_eq!(records(&health, "sessions")[0]["duplicates"], 0);
    assert_eq!(records(&health, "sessions")[0]["messages"], 60);
}

#[test]
fn sessions_are_those_of_health() {
    let dir = directory();
    let logon = |way: &str, number: u32, subs: &str| {
        message(&format!(
            "35=A|34={number}|{way}52=20260305-14:15:16.000|{subs}98=0|108=30|141=Y|"
        ))
    };
    let there = "49=A|56=B|";
    let back = "49=B|56=A|";
    let plain = |way: &str, number: u32, subs: &str| {
        message(&format!(
            "35=0|34={number}|{way}52=20260305-14:15:17.000|{subs}"
        ))
    };
    let log = [
        logon(there, 1, "50=T1|"),
        logon(back, 1, "57=T1|"),
        logon(there, 1, "50=T2|"),
        logon(back, 1, "57=T2|"),
        plain(there, 2, "50=T1|"),
        plain(there, 2, "50=T2|"),
        plain(back, 2, "57=T2|"),
        plain(back, 2, "57=T1|"),
        plain(there, 3, "50=T1|"),
        plain(there, 4, "50=T2|"),
        message("35=4|34=3|49=B|56=A|43=Y|52=20260305-14:15:18|57=T1|123=Y|36=5|"),
    ];
    file(dir.path(), "log", &log.concat());
    let (report, _) = stats(dir.path(), "log");
    let health = run(dir.path(), words("fix health --report json log"))
        .expect(0)
        .json();
    let keys = [
        "session",
        "messages",
        "gaps",
        "missing",
        "duplicates",
        "resent",
    ];
    let both = [report, health].map(|report| {
        let rows = records(&report, "sessions");
        let rows = rows.iter().map(|row| keys.map(|key| row[key].clone()));
        let mut rows: Vec<_> = rows.map(|row| json!(row).to_string()).collect();
        rows.sort();
        rows
    });
    assert_eq!(both[0], both[1]);
    assert_eq!(both[0].len(), 4, "{both:?}");
    assert!(
        both[0][0].starts_with("[\"A/T1 → B\",3,0,0,0,0]"),
        "{both:?}"
    );
    assert!(
        both[0][1].starts_with("[\"A/T2 → B\",3,1,1,0,0]"),
        "{both:?}"
    );
    assert!(
        both[0][2].starts_with("[\"B → A/T1\",3,0,0,0,1]"),
        "{both:?}"
    );
}

#[test]
fn masked_messages_count_where_they_are_accepted() {
    let dir = directory();
    let masked = changed(&order(2, "two", 4), "55=X", "55=*");
    let shorter = changed(&execution(2, "two", 5), "37=o", "37=****");
    let good = [order(1, "one", 2), execution(1, "one", 3)];
    let last = [order(3, "three", 6), execution(3, "three", 7)];
    for (name, end) in [("lines", "\n"), ("carets", "\n")] {
        let all = [&good[..], &[masked.clone(), shorter.clone()], &last].concat();
        let mut log = Vec::new();
        for one in all {
            let text = String::from_utf8(one).expect("text");
            let separator = if name == "lines" { "\x01" } else { "^A" };
            log.extend_from_slice(text.replace('\x01', separator).as_bytes());
            log.extend_from_slice(end.as_bytes());
        }
        file(dir.path(), name, &log);
        let counts = |flags: &str, code: i32| {
            let line = format!("fix stats --report json {flags} {name}");
            let found = run(dir.path(), words(&line)).expect(code);
            let report = found.json();
            let row = |at: usize| records(&report, "sessions")[at].clone();
            let gaps = [row(0)["gaps"].clone(), row(1)["gaps"].clone()];
            (json!(gaps), waits(&report), found.stderr)
        };
        let (gaps, waits, told) = counts("", 3);
        assert_eq!((gaps, waits), (json!([1, 1]), json!(2)), "{name}");
        assert!(told.contains("2 of 6 messages"), "{told}");
        assert!(told.contains("--accept checksum,length"), "{told}");
        let (gaps, waits, told) = counts("--accept checksum", 3);
        assert_eq!((gaps, waits), (json!([0, 1]), json!(2)), "{name}");
        assert!(told.contains("1 of 6 messages"), "{told}");
        let (gaps, waits, told) = counts("--accept checksum,length", 0);
        assert_eq!((gaps, waits), (json!([0, 0]), json!(3)), "{name}");
        assert!(!told.contains("masked"), "{told}");
        for part in [
            "parse",
            "print",
            "orders --list all",
            "health --list all",
            "validate",
        ] {
            let line = format!("fix {part} -qq --accept checksum,length {name}");
            let found = run(dir.path(), words(&line));
            assert!(
                !found.text().contains("\"error\":\"CheckSum"),
                "{part}: {}",
                found.text()
            );
            if part == "parse" {
                assert_eq!(found.text().lines().count(), 6);
            }
        }
    }
    // One whose value is masked alone.
    file(dir.path(), "one", &masked);
    let found = run(dir.path(), words("fix stats one")).expect(3);
    let note = "1 of 1 messages have only a wrong CheckSum (10): are they masked? (--accept checksum counts them)";
    assert!(found.stderr.contains(note), "{}", found.stderr);
    let found = run(dir.path(), words("fix anonymize --accept checksum one")).expect(2);
    assert!(
        found.stderr.contains("not for anonymize"),
        "{}",
        found.stderr
    );
}

/// The rows of the table of `--group-by`, as its cells.
fn counted(dir: &Path, flags: &str) -> Value {
    let (report, _) = stats(dir, flags);
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == "messages by");
    let rows = table.expect("the table of --group-by")["rows"].clone();
    let cells = rows.as_array().expect("rows").iter();
    // Bytes are the last cell.
    let without = |row: &Value| row.as_array().map(|row| row[..row.len() - 1].to_vec());
    json!(cells.map(without).collect::<Vec<_>>())
}

#[test]
fn messages_are_counted_by_what_is_asked_for() {
    let dir = directory();
    let header = |kind: &str, from: &str, to: &str, seq: u32, minute: u32| {
        format!("35={kind}|49={from}|56={to}|34={seq}|52=20260305-14:{minute:02}:00|")
    };
    let mut log = Vec::new();
    for seq in 1..=6 {
        let account = ["1=007|", "1=7|", ""][seq as usize % 3];
        let of = header("D", "A", "B", seq, seq / 4);
        log.push(message(&format!("{of}11=o{seq}|{account}55=X|")));
    }
    let reject = |seq, text: &str| format!("{}45={seq}|58={text}|", header("3", "B", "A", seq, 2));
    log.push(message(&reject(1, "bad")));
    log.push(message(&reject(2, "bad")));
    log.push(message(&reject(3, &"long".repeat(100))));
    let parties = format!("{}453=2|448=P|448=Q|", header("8", "B", "A", 4, 2));
    log.push(message(&parties));
    file(dir.path(), "log", &log.concat());
    file(dir.path(), "again", &log.concat());
    let by = |flags: &str| counted(dir.path(), flags);
    assert_eq!(
        by("--group-by session,type log"),
        json!([["A → B", "D", 6], ["B → A", "3", 3], ["B → A", "8", 1]])
    );
    assert_eq!(
        by("--group-by sender,35,49 log"),
        json!([["A", "D", 6], ["B", "3", 3], ["B", "8", 1]]),
        "sender and 49 are one column"
    );
    assert_eq!(
        by("--group-by Account --type D log"),
        json!([[null, 2], ["007", 2], ["7", 2]]),
        "text, not numbers"
    );
    assert_eq!(by("--group-by 448 --type 8 log"), json!([["P;Q", 1]]));
    let cut = format!("{}…", "long".repeat(64));
    assert_eq!(
        by("--group-by Text --type 3 log"),
        json!([["bad", 2], [cut, 1]])
    );
    let minutes = ["20260305-14:02", "20260305-14:00", "20260305-14:01"];
    assert_eq!(
        by("--group-by minute log"),
        json!([[minutes[0], 4], [minutes[1], 3], [minutes[2], 3]])
    );
    assert_eq!(by("--group-by hour log"), json!([["20260305-14", 10]]));
    assert_eq!(by("--group-by day log"), json!([["20260305", 10]]));
    // Several logs are counted for themselves, unless they are one.
    assert_eq!(
        by("--group-by sender log again"),
        json!([
            ["A", "log", 6],
            ["A", "again", 6],
            ["B", "log", 4],
            ["B", "again", 4]
        ])
    );
    assert_eq!(
        by("--group-by sender --one-log log again"),
        json!([["A", 12], ["B", 8]])
    );
    // However many threads there are.
    run(
        dir.path(),
        words("fix generate -qq --messages 20000 -o large"),
    )
    .expect(0);
    let keys = "--group-by session,OrdStatus,Symbol large";
    assert_eq!(by(&format!("-T1 {keys}")), by(&format!("-T3 {keys}")));
    let text = run(dir.path(), words("fix stats -q --group-by sender,type log")).expect(0);
    let table = text
        .text()
        .split("\n\n")
        .find(|table| table.contains("messages by"));
    let table = table.expect("a table");
    assert!(table.contains("  B       3            3"), "{table}");
    let wrong = run(dir.path(), words("fix stats --group-by nosuch log")).expect(2);
    assert!(wrong.stderr.contains("'nosuch'"), "{}", wrong.stderr);
}

/// Number, least and largest of the latencies, and number and largest of executions before their orders.
fn times(dir: &Path, flags: &str) -> Value {
    let (report, _) = stats(dir, flags);
    let rows = report["latencies"].as_array().expect("rows").iter();
    let is_order = |row: &&Value| {
        let series = row["series"].as_str();
        series.is_some_and(|series| series.starts_with("order to execution"))
    };
    let row = rows.clone().find(is_order).cloned().unwrap_or_default();
    let early = records(&report, "executions stamped before their order");
    let early = early.first().cloned().unwrap_or_default();
    json!([
        row["series"],
        row["n"],
        row["min_ns"],
        row["max_ns"],
        early["executions"],
        early["most_ns"]
    ])
}

#[test]
fn latencies_are_between_the_time_that_is_asked_for() {
    let dir = directory();
    let mut log = Vec::new();
    for at in 0..10_u32 {
        let id = format!("o{at}");
        // The clock of the other party is 15 ms behind: each answer took 10 + at ms, the trade 5.
        let (sent, answered) = (100 + 50 * at, 95 + 51 * at);
        let order = format!(
            "35=D|49=A|56=B|34={}|52=20260305-14:15:16.{sent:03}|11={id}|60=20260305-14:15:16.{sent:03}|",
            at + 1
        );
        let execution = format!(
            "35=8|49=B|56=A|34={}|52=20260305-14:15:16.{answered:03}|11={id}|60=20260305-14:15:16.{:03}|",
            at + 1,
            sent + 5
        );
        for (time, body) in [(sent, order), (answered + 15, execution)] {
            log.extend_from_slice(format!("2026-03-05 14:15:16.{time:03} ").as_bytes());
            log.extend_from_slice(&message(&body));
            log.push(b'\n');
        }
    }
    file(dir.path(), "log", &log);
    let of = |clock: &str| times(dir.path(), &format!("{clock} log"));
    let ms = |ms: u64| ms * 1_000_000;
    let sending = json!(["order to execution", 5, ms(0), ms(4), 5, ms(5)]);
    assert_eq!(of(""), sending);
    assert_eq!(of("--clock sending"), sending);
    assert_eq!(
        of("--clock log"),
        json!([
            "order to execution, by the log",
            10,
            ms(10),
            ms(19),
            null,
            null
        ])
    );
    assert_eq!(
        of("--clock transact"),
        json!([
            "order to execution, by TransactTime",
            10,
            ms(5),
            ms(5),
            null,
            null
        ])
    );
    // A log that has no times of its own, and executions without TransactTime (60).
    file(dir.path(), "bare", &traffic(1, 4).concat());
    for (clock, lacks) in [
        ("log", "the time of the log"),
        ("transact", "TransactTime (60)"),
    ] {
        let (report, found) = stats(dir.path(), &format!("--clock {clock} bare"));
        assert_eq!(waits(&report), Value::Null);
        assert!(found.stderr.contains(lacks), "{}", found.stderr);
    }
    assert_eq!(waits(&stats(dir.path(), "bare").0), 4);
}
