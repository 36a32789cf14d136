//! `perfkit fix orders` of logs whose lines are not in the order of their messages, and what it says of that.

use serde_json::Value;

use crate::common::{Run, directory, file, run, words};

/// A log of messages: type, sender, target, number, milliseconds, fields.
fn log(texts: &[String]) -> Vec<u8> {
    let mut log = Vec::new();
    for text in texts {
        let words: Vec<_> = text.splitn(6, ' ').collect();
        let [kind, sender, target, number, ms, rest] = words[..] else {
            panic!("{text}")
        };
        let ms: u64 = ms.parse().expect("milliseconds");
        let time = format!(
            "09:{:02}:{:02}.{:03}",
            ms / 60_000,
            ms / 1000 % 60,
            ms % 1000
        );
        let body =
            format!("35={kind}|49={sender}|56={target}|34={number}|52=20260305-{time}|{rest}");
        fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut log);
        log.push(b'\n');
    }
    log
}

/// Orders that are filled, a message of each side a pair.
fn orders(count: u64) -> [Vec<String>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    for at in 0..count {
        let (number, ms) = (at + 2, at * 500);
        sides[0].push(format!("D A B {number} {ms} 11=o{at}|55=X|54=1|38=100|"));
        sides[1].push(format!(
            "8 B A {number} {} 37=x{at}|11=o{at}|17=e{at}|150=F|39=2|55=X|54=1|38=100|14=100|151=0|",
            ms + 7
        ));
    }
    sides
}

fn states(report: &Value) -> Value {
    report["tables"][0]["rows"].clone()
}

#[test]
fn lines_that_changed_places_are_put_in_order_and_said() {
    let dir = directory();
    let [orders, answers] = orders(200);
    let pairs = orders.iter().zip(&answers);
    let swapped: Vec<_> = pairs
        .flat_map(|(order, answer)| [answer.clone(), order.clone()])
        .collect();
    file(dir.path(), "swapped.log", &log(&swapped));
    let outcome = run(dir.path(), words("fix orders --report json swapped.log")).expect(0);
    let report = outcome.json();
    assert_eq!(states(&report), serde_json::json!([["filled", 200]]));
    assert_eq!(report["workload"]["params"]["messages_put_in_order"], 200);
    let note = "200 messages are behind some that were sent later, the first one at line 2 of 'swapped.log'";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    let listed = run(
        dir.path(),
        words("fix orders -qq --list orphan,unanswered swapped.log"),
    );
    assert_eq!(listed.expect(0).text(), "");
}

#[test]
fn directions_that_were_put_behind_each_other_are_matched_and_said() {
    let dir = directory();
    let [orders, answers] = orders(2000);
    let both = [log(&answers), log(&orders)].concat();
    file(dir.path(), "both.log", &both);
    file(dir.path(), "in.log", &log(&answers));
    file(dir.path(), "out.log", &log(&orders));
    let outcome = run(dir.path(), words("fix orders --report json both.log")).expect(0);
    let apart = run(dir.path(), words("fix orders --report json in.log out.log")).expect(0);
    assert_eq!(
        states(&outcome.json()),
        serde_json::json!([["filled", 2000]])
    );
    assert_eq!(states(&outcome.json()), states(&apart.json()));
    let says = |outcome: &Run, part: &str| outcome.stderr.contains(part);
    assert!(
        says(&outcome, "long after the answers"),
        "{}",
        outcome.stderr
    );
    assert!(
        says(&outcome, "give each as a file of its own"),
        "{}",
        outcome.stderr
    );
    assert!(!says(&apart, "after the answers"), "{}", apart.stderr);
    // Times are the same, and no order counts as begun before the logs.
    let latencies = |outcome: &Run| -> Vec<(String, Value)> {
        let report = outcome.json();
        let rows = report["latencies"].as_array().expect("rows").clone();
        let row = |row: &Value| (row["operation"].to_string(), row["count"].clone());
        rows.iter().map(row).collect()
    };
    assert_eq!(latencies(&outcome), latencies(&apart));
    assert!(!outcome.json().to_string().contains("begun before the logs"));
    // What was written as an orphan is corrected.
    let listed = run(dir.path(), words("fix orders -qq --list orphan both.log")).expect(0);
    let mut last = std::collections::BTreeMap::new();
    for line in listed.text().lines() {
        let life: Value = serde_json::from_str(line).expect("JSON");
        last.insert(life["number"].as_u64(), life["orphan"].as_bool());
    }
    assert!(last.values().all(Option::is_none), "{}", listed.text());
}

#[test]
fn an_order_that_is_asked_for_has_a_form_as_json() {
    let dir = directory();
    let [orders, answers] = orders(3);
    file(dir.path(), "day.log", &log(&[orders, answers].concat()));
    let line = "fix orders -qq --id o1 --list all day.log";
    let listed = run(dir.path(), words(line)).expect(0).text().to_owned();
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let life: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(
        (&life["id"], &life["state"]),
        (&"o1".into(), &"filled".into())
    );
    let chain = run(dir.path(), words(&format!("{line} --chains"))).expect(0);
    let chain: Value = serde_json::from_str(chain.text()).expect("JSON");
    assert_eq!(chain["sessions"][0]["id"], "o1");
    let other = run(
        dir.path(),
        words("fix orders -qq --id o1 --list rejected day.log"),
    )
    .expect(0);
    assert_eq!(other.text(), "");
    run(
        dir.path(),
        words("fix orders -qq --id gone --list all day.log"),
    )
    .expect(1);
}

#[test]
fn an_anonymous_log_has_the_answers_of_its_log() {
    let dir = directory();
    let mut texts = Vec::new();
    for (at, [kind, rest]) in [
        ["D", "11=ORDER0|38=100|"],
        ["8", "37=NONE|11=ORDER0|17=E1|150=8|39=8|103=0|58=no|"],
        ["D", "11=ORDER0|38=100|"],
        [
            "8",
            "37=NONE|11=ORDER0|17=E2|150=8|39=8|103=6|58=duplicate|",
        ],
        ["D", "11=ORDER9|38=100|"],
        ["8", "37=OID9|11=ORDER9|17=E3|150=0|39=0|"],
        ["D", "11=ORDER9|38=100|"],
        ["8", "37=N/A|11=ORDER9|17=0|150=8|39=8|103=6|58=duplicate|"],
    ]
    .into_iter()
    .enumerate()
    {
        let parties = if kind == "D" { "A B" } else { "B A" };
        texts.push(format!(
            "{kind} {parties} {} {} {rest}",
            at / 2 + 2,
            at * 10 + 30
        ));
    }
    file(dir.path(), "day.log", &log(&texts));
    file(dir.path(), "key", b"sixteen bytes ok");
    let line = "fix anonymize -q --key-file key day.log";
    let hidden = run(dir.path(), words(line)).expect(0).stdout.clone();
    file(dir.path(), "hidden.log", &hidden);
    let states = |name: &str| -> Vec<(Value, usize)> {
        let listed = run(
            dir.path(),
            words(&format!("fix orders -qq --list all {name}")),
        )
        .expect(0);
        let lives = listed.text().lines().map(|line| {
            let life: Value = serde_json::from_str(line).expect("JSON");
            let steps = life["steps"].as_array().map_or(0, Vec::len);
            (life["state"].clone(), steps)
        });
        lives.collect()
    };
    let expected = ["rejected", "rejected", "open", "rejected"].map(|state| (state.into(), 2));
    assert_eq!(states("day.log"), expected);
    assert_eq!(states("hidden.log"), expected);
}
