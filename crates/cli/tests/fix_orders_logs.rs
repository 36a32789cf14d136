//! `perfkit fix orders`: what became of each order of a log, next to a naive reading of the same log.

#![cfg(unix)]

use std::collections::BTreeMap;

use crate::common::{directory, file, gzip, pipe, run, words};

/// The fields of a message with `|` between them.
fn fields(line: &str) -> BTreeMap<&str, &str> {
    let fields = line.split('|').filter_map(|field| field.split_once('='));
    fields.collect()
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn orders_are_what_a_naive_reader_finds_from_any_number_of_threads() {
    let dir = directory();
    let line = words("fix generate --messages 20000 --separator pipe --seed 11");
    let text = run(dir.path(), line).expect(0).text().to_owned();
    file(dir.path(), "day.log", text.as_bytes());
    file(dir.path(), "day.log.gz", &gzip(text.as_bytes()));
    let mut expected: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let fields = fields(line);
        let parties = [fields["49"], fields["56"]];
        // An order of the same id on another session is another one.
        let id = fields.get("11").map(|id| (*id, parties[0].min(parties[1])));
        match (fields["35"], id) {
            ("D", Some(id)) => {
                assert!(expected.insert(id, vec![number + 1]).is_none());
            }
            ("8", Some(id)) => expected.entry(id).or_default().push(number + 1),
            _ => {}
        }
    }
    for arguments in [
        "-T1 day.log",
        "-T3 day.log",
        "day.log.gz",
        "day.log day.log",
    ] {
        let listed = run(
            dir.path(),
            words(&format!("fix orders -qq --list all {arguments}")),
        );
        let listed = listed.expect(0).text().to_owned();
        let mut found = BTreeMap::new();
        for line in listed.lines() {
            let life: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let steps = life["steps"].as_array().expect("steps");
            let lines = steps
                .iter()
                .map(|step| step["line"].as_u64().expect("a line") as usize);
            let is_alone = steps.len() == 1 && life["orphan"].is_null();
            let state = if is_alone {
                "unanswered"
            } else {
                "partially-filled"
            };
            assert_eq!(life["state"], state, "{line}");
            let [from, to] = ["from", "to"].map(|key| steps[0][key].as_str().expect("a name"));
            let id = life["id"].as_str().expect("an id");
            let key = (id.to_owned(), from.min(to).to_owned());
            assert!(
                found.insert(key, lines.collect::<Vec<_>>()).is_none(),
                "{line}"
            );
        }
        let expected: BTreeMap<_, _> = expected
            .iter()
            .map(|(&(id, party), lines)| ((id.to_owned(), party.to_owned()), lines.clone()))
            .collect();
        let other = found
            .iter()
            .find(|(key, lines)| expected.get(*key) != Some(*lines));
        assert_eq!(other, None, "{arguments}");
        assert_eq!(found.len(), expected.len(), "{arguments}");
    }
    let report = run(dir.path(), words("fix orders --report json day.log"))
        .expect(0)
        .json();
    let orders = text.lines().filter(|line| line.contains("|35=D|")).count();
    let lone = |lines: &&Vec<usize>| lines.len() == 1;
    let lone = expected.values().filter(lone).map(|lines| lines[0]);
    let lines: Vec<_> = text.lines().collect();
    let unanswered = lone
        .filter(|line| lines[line - 1].contains("|35=D|"))
        .count();
    let wait = report["latencies"].as_array().expect("rows").iter();
    let wait = wait.clone().find(|row| row["series"] == "order to answer");
    assert_eq!(wait.expect("waits")["n"], orders - unanswered);
    let rows = &report["tables"][0]["rows"];
    assert_eq!(rows[0], serde_json::json!(["unanswered", unanswered]));
}

#[test]
fn an_order_is_a_timeline_over_the_sessions_that_it_was_sent_on() {
    let dir = directory();
    let message = |body: &str| {
        let mut all = Vec::new();
        fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
        all.push(b'\n');
        all
    };
    let one = [
        message("35=D|49=C|56=G|34=1|52=20260305-14:00:00.100|11=a|55=ACME|54=2|38=5|44=1.5|"),
        message(
            "35=D|49=G|56=V|34=1|52=20260305-14:00:00.110|11=g1|526=a|55=ACME|54=2|38=5|44=1.5|",
        ),
        message(
            "35=8|49=G|56=C|34=1|52=20260305-14:00:00.150|11=a|37=7|17=e|150=8|39=8|58=Halted|",
        ),
    ];
    let two = [message(
        "35=8|49=V|56=G|34=1|52=20260305-14:00:00.140|11=g1|37=7|17=e|150=8|39=8|58=Halted|",
    )];
    file(dir.path(), "gateway.log", &one.concat());
    file(dir.path(), "venue.log", &two.concat());
    for id in ["a", "g1"] {
        let found = run(
            dir.path(),
            words(&format!("fix orders -qq --id {id} venue.log gateway.log")),
        );
        let text = found.expect(0).text().to_owned();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert_eq!(
            lines[0],
            "order a: rejected, ACME, side sell, quantity 5, price 1.5"
        );
        assert!(lines[1].starts_with("order g1: rejected"), "{text}");
        for (line, parts) in lines[2..].iter().zip([
            ["14:00:00.100", "C → G", "new", "gateway.log:1"],
            ["14:00:00.110", "G → V", "new", "gateway.log:2"],
            ["14:00:00.140", "V → G", "rejected", "venue.log:1"],
            ["+50.000 ms", "G → C", "Halted", "gateway.log:3"],
        ]) {
            for part in parts {
                assert!(line.contains(part), "{part} in {line}");
            }
        }
    }
    let missing = run(dir.path(), words("fix orders --id nowhere gateway.log")).expect(1);
    assert!(
        missing.stderr.contains("no order has the id 'nowhere'"),
        "{}",
        missing.stderr
    );
    let report = run(dir.path(), words("fix orders gateway.log venue.log"))
        .expect(0)
        .text()
        .to_owned();
    for part in [
        "rejected",
        "Halted",
        "sent on from another session",
        "G → V",
        "order to answer, sent on",
        "took",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
}

#[test]
fn hostile_logs_give_what_there_is_and_name_the_rest() {
    let dir = directory();
    let line = words("fix generate --messages 5000 --hostile 0.2 --seed 4 -o bad.log");
    run(dir.path(), line).expect(0);
    let found = run(dir.path(), words("fix orders --report json bad.log"))
        .expect(3)
        .json();
    assert!(found["workload"]["params"]["messages_bad"].as_u64() > Some(100));
    // Text, nothing, and a file that is not there.
    file(dir.path(), "text", b"no message\n");
    run(dir.path(), words("fix orders -qq text")).expect(3);
    run(dir.path(), words("fix orders -qq gone")).expect(1);
    run(dir.path(), words("fix orders -qq bad.log gone")).expect(3);
    assert_eq!(
        pipe(dir.path(), words("fix orders -qq"), b"")
            .expect(0)
            .text(),
        ""
    );
    run(dir.path(), words("fix orders --list nonsense bad.log")).expect(2);
    // A reader that has seen enough.
    let mut child = crate::common::perfkit()
        .current_dir(dir.path())
        .args(words("fix orders -qq --list all bad.log"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    assert!(matches!(
        crate::common::code(child.wait().expect("ended")),
        Some(0 | 3)
    ));
}

#[test]
fn what_comes_late_corrects_what_was_written_and_counted() {
    let dir = directory();
    let message = |time: &str, number: u64, body: &str| {
        let parties = match body.starts_with("35=D") {
            true => "49=CL|56=GW",
            false => "49=GW|56=CL",
        };
        let (kind, body) = body.split_once('|').expect("fields");
        let body = format!("{kind}|{parties}|34={number}|52=20260305-{time}|{body}");
        let mut all = Vec::new();
        fixcore::frame::write(b"FIX.4.2", body.replace('|', "\x01").as_bytes(), &mut all);
        all.push(b'\n');
        all
    };
    let log = [
        message("09:00:00.100", 1, "35=D|11=m|55=MSFT|54=1|38=100|44=10|"),
        message(
            "09:00:00.200",
            1,
            "35=8|37=O|11=m|17=1|20=0|150=2|39=2|38=100|14=100|151=0|",
        ),
        message("10:00:00.100", 2, "35=D|11=c|55=MSFT|54=1|38=100|44=10|"),
        message(
            "10:00:00.200",
            2,
            "35=8|37=NONE|11=c|17=2|20=0|150=8|39=8|103=11|",
        ),
        message(
            "11:00:00.100",
            3,
            "35=8|37=O|11=m|17=3|20=1|19=1|150=1|39=1|38=100|14=40|151=60|",
        ),
    ];
    file(dir.path(), "day.log", &log.concat());
    let listed = run(dir.path(), words("fix orders -qq --list filled day.log")).expect(0);
    let lines: Vec<serde_json::Value> = listed
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 2, "{}", listed.text());
    assert_eq!(lines[0]["state"], "filled");
    assert_eq!(lines[1]["state"], "partially-filled");
    assert_eq!(
        (&lines[0]["number"], &lines[0]["again"]),
        (&lines[1]["number"], &serde_json::Value::Null)
    );
    assert_eq!(lines[1]["again"], true);
    let rejected = run(dir.path(), words("fix orders -qq --list rejected day.log")).expect(0);
    for part in [
        "\"reason\":\"11\",\"reason_tag\":103",
        "\"reason_name\":\"UNSUPPORTED_ORDER_CHARACTERISTIC\"",
    ] {
        assert!(rejected.text().contains(part), "{}", rejected.text());
    }
    let report = run(dir.path(), words("fix orders --report json day.log"))
        .expect(0)
        .json();
    let states = &report["tables"][0]["rows"];
    assert_eq!(states[0], serde_json::json!(["partially-filled", 1]));
    assert_eq!(states[1], serde_json::json!(["rejected", 1]), "{states}");
    // Filters and logs that were put together are said.
    let some = run(dir.path(), words("fix orders --type 8 day.log")).expect(0);
    assert!(
        some.stderr.contains("the filters left out 2 messages"),
        "{}",
        some.stderr
    );
    file(
        dir.path(),
        "twice.log",
        &[log.concat(), log.concat()].concat(),
    );
    let twice = run(dir.path(), words("fix orders --list all twice.log")).expect(0);
    assert!(
        twice
            .stderr
            .contains("at line 6, time goes back by 3600.0 s"),
        "{}",
        twice.stderr
    );
    assert_eq!(twice.text().lines().count(), 3);
}
