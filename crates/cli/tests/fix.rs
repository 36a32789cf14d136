//! `perfkit fix` and `perfkit fix-bench`: logs of any shape in, lines and counts out, what is bad by
//! its place.

use crate::common::fix::{execution, message, order};
use crate::common::{directory, file, perfkit, pipe, run, words};

#[test]
fn every_shape_of_log_gives_the_same_lines() {
    let dir = directory();
    let messages = [
        order(1, "one", 100),
        execution(1, "one", 130),
        order(2, "a=b", 200),
    ];
    let raw = messages.concat();
    let logged = |separator: &str, prefix: &str, suffix: &str| {
        let line = |bytes: &Vec<u8>| {
            let text = String::from_utf8(bytes.clone()).expect("text");
            format!("{prefix}{}{suffix}\n", text.replace('\x01', separator))
        };
        messages.iter().map(line).collect::<String>()
    };
    let fields = |bytes: &[u8]| {
        let text = pipe(dir.path(), words("fix parse -qq"), bytes)
            .expect(0)
            .text()
            .to_owned();
        let lines = text.lines().map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            (line["msg_type"].clone(), line["fields"].clone())
        });
        lines.collect::<Vec<_>>()
    };
    let wanted = fields(&raw);
    assert_eq!(wanted.len(), 3);
    assert_eq!(wanted[0].0, "D");
    assert_eq!(wanted[2].1[7], serde_json::json!([11, "a=b"]));
    for log in [
        logged("\x01", "", ""),
        logged("\x01", "2026-03-05 14:15:16.100 INFO <- ", " [gateway]"),
        logged("|", "", ""),
        logged("|", "out: ", "   "),
        logged("^A", "20260305-14:15:16 : ", ""),
    ] {
        assert_eq!(fields(log.as_bytes()), wanted, "{log}");
    }
    let cut = logged("|", "", "").replace("|\n", "\n");
    assert_eq!(fields(cut.as_bytes()), wanted, "without the last separator");
}

#[test]
fn what_is_bad_is_named_with_its_place_and_the_exit_code_is_3() {
    let dir = directory();
    let good = order(1, "one", 100);
    let mut sum = order(2, "two", 100);
    let at = sum.len() - 2;
    sum[at] = if sum[at] == b'0' { b'1' } else { b'0' };
    let empty = message("35=D|55=|");
    let torn = &good[..good.len() - 20];
    let log = [&good[..], b"noise\x00\xff", &sum, &empty, torn].concat();
    file(dir.path(), "log", &log);
    for part in ["parse", "validate"] {
        let found = run(dir.path(), words(&format!("fix {part} -qq log"))).expect(3);
        let lines: Vec<serde_json::Value> = found
            .text()
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .filter(|line: &serde_json::Value| line["error"].is_string())
            .collect();
        let offsets: Vec<_> = lines.iter().map(|line| line["offset"].as_u64()).collect();
        let first = good.len() + 7;
        let places = [
            good.len(),
            first,
            first + sum.len(),
            first + sum.len() + empty.len(),
        ];
        // Noise is reported to those who validate, too.
        let noise = usize::from(part == "validate");
        let places = places[1 - noise..].iter().map(|place| Some(*place as u64));
        assert!(offsets.into_iter().eq(places), "{}", found.text());
        assert_eq!(lines[noise]["tag"], 10);
        assert_eq!(lines[noise + 1]["tag"], 55);
    }
    run(dir.path(), words("fix parse -qq nowhere")).expect(1);
    run(dir.path(), words("fix parse --isa nothing log")).expect(2);
}

#[test]
fn messages_are_validated_and_printed_by_a_dictionary() {
    let dir = directory();
    let own = message("35=U1|49=A|56=B|34=1|52=20260305-14:15:16|20001=<|");
    file(dir.path(), "log", &[order(1, "one", 1), own].concat());
    let found = run(dir.path(), words("fix validate -qq log"))
        .expect(3)
        .text()
        .to_owned();
    assert!(
        found.contains("message type") && found.lines().count() == 1,
        "{found}"
    );
    let foreign = String::from_utf8(order(1, "one", 1)).expect("text");
    let foreign = foreign.replace("FIX.4.4", "FIX.9.9").replace('\x01', "|");
    let sum = foreign.len() - 4;
    let summed = foreign[..sum - 3].replace('|', "\x01");
    let summed = summed
        .bytes()
        .fold(0_u8, |sum, byte| sum.wrapping_add(byte));
    let foreign = format!("{}{summed:03}|", &foreign[..sum]);
    let found = pipe(dir.path(), words("fix validate -qq"), foreign.as_bytes()).expect(3);
    assert!(found.text().contains("no dictionary"), "{}", found.text());
    let text = run(dir.path(), words("fix print -qq log"))
        .expect(0)
        .text()
        .to_owned();
    assert!(
        text.starts_with("NewOrderSingle (D) at 0, line 1\n"),
        "{text}"
    );
    assert!(text.contains("     54 Side = 1 (BUY)\n"), "{text}");
    let xml = "<fix type='FIX' major='4' minor='4'><header><field name='BeginString' required='Y'/>\
        <field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/>\
        <field name='S' required='Y'/><field name='T' required='Y'/><field name='N' required='Y'/>\
        <field name='W' required='Y'/></header><messages><message name='Own' msgtype='U1' msgcat='app'>\
        <field name='Sign' required='Y'/></message></messages>\
        <trailer><field name='CheckSum' required='Y'/></trailer><components/><fields>\
        <field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>\
        <field number='35' name='MsgType' type='STRING'/><field number='49' name='S' type='STRING'/>\
        <field number='56' name='T' type='STRING'/><field number='34' name='N' type='SEQNUM'/>\
        <field number='52' name='W' type='UTCTIMESTAMP'/><field number='10' name='CheckSum' type='STRING'/>\
        <field number='20001' name='Sign' type='CHAR'><value enum='&lt;' description='LESS'/></field>\
        </fields></fix>";
    file(dir.path(), "own.xml", xml.as_bytes());
    let line = words("fix validate -qq --dictionary own.xml log");
    let found = run(dir.path(), line).expect(3).text().to_owned();
    assert!(found.contains("\"offset\":0,"), "{found}");
    let text = run(dir.path(), words("fix print -qq --dictionary own.xml log")).expect(0);
    assert!(
        text.text().contains("  20001 Sign = < (LESS)\n"),
        "{}",
        text.text()
    );
    file(dir.path(), "bad.xml", b"<fix>");
    run(dir.path(), words("fix print --dictionary bad.xml log")).expect(1);
}

#[test]
fn stats_count_and_time_what_a_log_says() {
    let dir = directory();
    let log = [
        order(1, "one", 100),
        execution(1, "one", 130),
        order(2, "two", 200),
        order(2, "two", 200),
        order(7, "three", 300),
        execution(2, "three", 301),
        execution(3, "three", 900),
    ];
    let report = pipe(dir.path(), words("fix stats --report json"), &log.concat())
        .expect(0)
        .json();
    let table = |name: &str| {
        let tables = report["tables"].as_array().expect("tables").iter();
        tables
            .filter(|table| table["name"] == name)
            .map(|table| table["rows"].clone())
            .next()
    };
    let mix = table("messages").expect("messages");
    assert_eq!((&mix[0][0], &mix[0][1]), (&"D".into(), &4.into()));
    assert_eq!((&mix[1][0], &mix[1][1]), (&"8".into(), &3.into()));
    let sessions = table("sessions").expect("sessions");
    assert_eq!(
        sessions[0],
        serde_json::json!(["A → B", 4, 1, 4, 0, 1, 0, 0, 0, 0])
    );
    let rows = report["latencies"].as_array().expect("rows");
    let wait = rows
        .iter()
        .find(|row| row["series"] == "order to execution")
        .expect("waits");
    assert_eq!(wait["n"], 2);
    assert!(table("executions stamped before their order").is_none());
}

#[test]
fn stats_tell_late_from_lost_and_show_no_wait_that_is_negative() {
    let dir = directory();
    let fill = message("35=4|49=A|56=B|34=9|43=Y|52=20260305-14:15:17|123=Y|36=11|");
    let log = [
        order(1, "one", 100),
        order(4, "four", 130),
        order(3, "three", 120),
        order(3, "three", 120),
        order(12, "twelve", 200),
        fill,
        order(13, "thirteen", 300),
        execution(1, "four", 90),
        execution(2, "three", 121),
    ];
    let report = pipe(dir.path(), words("fix stats --report json"), &log.concat())
        .expect(0)
        .json();
    // 2, 5 to 8 and 11 never came; 3 was late and came twice; 9 and 10 are filled.
    assert_eq!(
        table(&report, "sessions")[0],
        serde_json::json!(["A → B", 7, 2, 6, 1, 1, 0, 1, 0, 0])
    );
    assert_eq!(
        table(&report, "executions stamped before their order")[0],
        serde_json::json!([1, 40_000_000])
    );
    let rows = report["latencies"].as_array().expect("rows");
    let wait = rows
        .iter()
        .find(|row| row["series"] == "order to execution");
    assert_eq!(wait.expect("waits")["n"], 1);
}

#[test]
fn the_benchmark_checks_and_measures_every_part() {
    let dir = directory();
    let line = words("fix-bench --batches 2 --batch-size 3 --store-messages 1000 --report json");
    let report = run(dir.path(), line).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    // Every column is of this run: none says what others reached, or what is to be reached.
    for table in report["tables"].as_array().expect("tables") {
        for column in table["columns"].as_array().expect("columns") {
            let name = column["key"].as_str().expect("a key");
            assert!(!name.contains("reach") && !name.contains("goal"), "{table}");
        }
    }
    let rows = table(&report, "nanoseconds a message, without the floor");
    for row in rows {
        // What the loop costs by itself is measured beside each row, and no row is below nothing.
        let floor = row[5].as_f64().expect("a floor");
        assert!(floor > 0.0 && row[4].as_f64() >= Some(0.0) && row[3].as_f64() >= row[4].as_f64());
    }
    for of in ["scan", "index", "parse", "parse, 8 gets", "encode"] {
        assert!(rows.iter().any(|row| row[0] == of), "{of}");
    }
    // What no predictor knows by heart has a row beside each of the four messages.
    for of in ["scan", "index", "parse", "parse, 8 gets", "encode fields"] {
        let has = |what: &str| {
            let name = |row: &serde_json::Value| row[1].as_str().expect("a name").starts_with(what);
            rows.iter().any(|row| row[0] == of && name(row))
        };
        assert!(has("nos ") && has("256 shuffled of "), "{of}");
    }
    file(
        dir.path(),
        "log",
        &[order(1, "one", 1), order(2, "two", 2)].concat(),
    );
    let line = words(
        "fix-bench scan --messages log --isa scalar --batches 1 --batch-size 2 --report json",
    );
    let rows = run(dir.path(), line).expect(0).json();
    assert_eq!(rows["tables"][0]["rows"].as_array().expect("rows").len(), 2);
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn shapes_are_measured_next_to_a_naive_parser_and_encoder() {
    let dir = directory();
    let line = "fix-bench shapes --isa each --shape heartbeat --shape EncodedText --shape CheckSum --draws 2 \
                --rounds 2 --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let rows = table(&report, "shapes");
    let ratios = rows.iter().map(|row| row[7].as_f64().expect("a ratio"));
    assert!(ratios.clone().is_sorted_by(|a, b| a >= b));
    for name in ["heartbeat", "order with 20 bytes of EncodedText", "drawn 1"] {
        assert!(rows.iter().any(|row| row[0] == name), "{name}");
    }
    for (column, names) in [
        (
            1,
            &["parse", "absent", "late", "iterate", "read", "encode"][..],
        ),
        (2, &["scalar"]),
    ] {
        for name in names {
            assert!(rows.iter().any(|row| row[column] == *name), "{name}");
        }
    }
    // Nobody looks for fields in what is no message.
    let is_faulty = |row: &&serde_json::Value| row[0] == "orders with a wrong CheckSum";
    assert!(rows.iter().filter(is_faulty).all(|row| row[1] == "parse"));
    let sets = table(&report, "instruction sets");
    let of_scalar = sets.iter().filter(|row| row[0] == "scalar");
    let operations: Vec<_> = of_scalar.map(|row| &row[1]).collect();
    assert_eq!(operations.len(), 6, "{operations:?}");
    for (nth, row) in sets.iter().enumerate() {
        assert_eq!(&row[1], operations[nth % 6], "{row}");
    }
    assert_eq!(sets.len() % 6, 0);
    let line = "fix-bench shapes --shape heartbeat --operation parse --max-time 1ns -qq";
    let late = run(dir.path(), words(line)).expect(3);
    assert!(
        late.stderr.contains("the time is up: 1 of 1 cases"),
        "{}",
        late.stderr
    );
    for (line, says) in [
        ("fix-bench shapes --shape nothing", "no shape has 'nothing'"),
        (
            "fix-bench shapes --isa one",
            "unknown instruction set 'one'",
        ),
        (
            "fix-bench shapes --operation write",
            "unknown operation 'write'",
        ),
    ] {
        let refused = run(dir.path(), words(line)).expect(2);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
}

/// The rows of a table of a report.
fn table<'r>(report: &'r serde_json::Value, name: &str) -> &'r Vec<serde_json::Value> {
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == name);
    table.expect(name)["rows"].as_array().expect("rows")
}

/// A cell is one number by another.
fn is_ratio(cell: &serde_json::Value, of: &serde_json::Value, by: &serde_json::Value) {
    let [cell, of, by] = [cell, of, by].map(|cell| cell.as_f64().expect("a number"));
    assert!(
        (cell - of / by).abs() < 1e-6 * cell,
        "{cell} is not {of} by {by}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn transports_are_measured_and_their_answers_checked() {
    let dir = directory();
    for interface in ["auto", "epoll"] {
        let line = words("fix-bench transport --batches 2 --batch-size 50 --report json");
        let mut command = perfkit();
        command.args(line).current_dir(dir.path());
        let output = command
            .env("PERFKIT_IO", interface)
            .output()
            .expect("a run");
        assert_eq!(output.status.code(), Some(0), "{interface}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["validation"]["ok"], true);
        let interfaces = table(&report, "interfaces");
        let last = interfaces.last().expect("one is in use");
        assert_eq!(last[1], "in use");
        let carried = table(&report, "64 connections, answered on one thread");
        assert_eq!(carried.len(), 4);
        for row in carried {
            assert!(row[3].as_f64() > Some(0.0), "{row}");
            let calls = row[4].as_f64().expect("counted");
            let is_ring = row[1] == "io_uring";
            assert!(calls > 0.0 && (is_ring || calls > 1.0), "{row}");
        }
        let trips = table(
            &report,
            "a round trip that polls, over TCP, compared with plain to plain",
        );
        assert_eq!(trips.len(), 2);
        for row in trips {
            is_ratio(&row[4], &row[3], &row[2]);
        }
        for [base, target] in carried.as_chunks::<2>().0 {
            is_ratio(&base[5], &base[2], &base[2]);
            is_ratio(&target[5], &base[2], &target[2]);
        }
        let uses_ring = last[0] != "epoll";
        assert!(interface == "auto" || !uses_ring);
        let requests = "requests of a ring, without flags and with three";
        let tables = report["tables"].as_array().expect("tables");
        assert_eq!(
            tables.iter().any(|table| table["name"] == requests),
            uses_ring
        );
        if uses_ring {
            assert_eq!(table(&report, requests).len(), 4);
        }
        let rows = report["latencies"].as_array().expect("rows");
        assert!(rows.iter().any(|row| row["series"] == "plain to plain"));
    }
    let mut command = perfkit();
    command.args(words("fix-bench transport"));
    let output = command.env("PERFKIT_IO", "kqueue").output().expect("a run");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "long: cargo xtask ci runs it"]
fn sessions_are_measured_and_their_answers_checked() {
    let dir = directory();
    let line = "fix-bench session --sessions 1,5 --transport epoll,busy --messages 200 --rounds 2 --rate 2000 \
                --duration 100ms --resend 300 --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let echoed = table(&report, "echo, one message in flight in each session");
    let names: Vec<_> = echoed.iter().map(|row| row[1].as_str()).collect();
    let sides = ["raw", "epoll", "busy", "raw again"].map(Some);
    assert_eq!(names, [sides, sides].concat());
    for row in echoed {
        assert!(row[2].as_f64() > Some(0.0), "{row}");
        let counts = row[1] == "epoll" || row[1] == "busy";
        assert_eq!(row[7].as_f64() > Some(0.0), counts, "{row}");
    }
    let opened = table(&report, "open loop, 2000 messages per second");
    assert_eq!(opened.len(), 8);
    let resent = table(&report, "resend, one session, from durable stores");
    assert!(
        resent
            .iter()
            .all(|row| row[1] == 300 && row[2].as_f64() > Some(0.0))
    );
    let memory = table(&report, "memory, logged on and idle");
    assert_eq!(
        (memory[0][0].as_str(), memory[0][1].as_u64()),
        (Some("epoll"), Some(5))
    );
    let rows = report["latencies"].as_array().expect("rows");
    for (name, series) in [
        ("service", "echo, busy, 5 sessions"),
        ("response", "open loop, raw, 1 session"),
        ("hold", "open loop, epoll, 1 session"),
    ] {
        let is_it = |row: &&serde_json::Value| row["name"] == name && row["series"] == series;
        assert!(rows.iter().any(|row| is_it(&row)), "{name}, {series}");
    }
    // Nothing listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("an address");
    drop(port);
    let line = format!("fix-bench session --sessions 1 --rounds 1 --connect {address} -qq");
    let refused = run(dir.path(), words(&line)).expect(1);
    assert!(
        refused.stderr.contains("cannot connect to"),
        "{}",
        refused.stderr
    );
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn techniques_are_measured_off_and_on() {
    let dir = directory();
    let line = words("fix-bench techniques --batches 2 --batch-size 300 --report json");
    let report = run(dir.path(), line).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let rows = table(&report, "techniques, off and on");
    let measured = table(&report, "what a technique is measured by");
    assert!(!rows.is_empty() && rows.len() <= measured.len());
    for row in rows {
        assert!(measured.iter().any(|by| by[0] == row[0]), "{row}");
        if let (Some(off), Some(on), Some(change)) =
            (row[1].as_f64(), row[2].as_f64(), row[3].as_f64())
        {
            assert!((change - (on / off - 1.0)).abs() < 1e-6, "{row}");
        }
    }
    assert_eq!(table(&report, "components").len(), 4);
    let refused = run(dir.path(), words("fix-bench scan --as-seed -qq")).expect(2);
    assert!(
        refused.stderr.contains("is for techniques"),
        "{}",
        refused.stderr
    );
}
