//! A generated day whose truth is known: every order, every time and every clock.

#![cfg(unix)]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{directory, run, words};

/// Nanoseconds of the day of a time as FIX writes it.
fn ns(time: &Value) -> i64 {
    let clock = time
        .as_str()
        .expect("a time")
        .split_once('-')
        .expect("a date")
        .1;
    let parts: Vec<f64> = clock
        .split(':')
        .map(|part| part.parse().expect("a number"))
        .collect();
    ((parts[0] * 3600.0 + parts[1] * 60.0 + parts[2]) * 1e6).round() as i64 * 1000
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn every_order_of_a_day_over_three_hops_is_as_it_truly_was() {
    let dir = directory();
    run(
        dir.path(),
        words("fix generate --day day --orders 4000 --seed 9"),
    )
    .expect(0);
    run(
        dir.path(),
        words("fix generate --day day --orders 4000 --seed 9"),
    )
    .expect(1);
    run(
        dir.path(),
        words("fix generate --day again --orders 4000 --seed 9"),
    )
    .expect(0);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("read");
    for name in ["gateway.log", "router.log", "venue.log", "truth.jsonl"] {
        assert!(
            read(&format!("day/{name}")) == read(&format!("again/{name}")),
            "{name}"
        );
    }
    let logs = "day/gateway.log day/router.log day/venue.log";
    run(dir.path(), words(&format!("fix validate -qq {logs}"))).expect(0);
    let mut truth = BTreeMap::new();
    for line in read("day/truth.jsonl").lines() {
        let told: Value = serde_json::from_str(line).expect("JSON");
        truth.insert(told["id"].as_str().expect("an id").to_owned(), told);
    }
    assert_eq!(truth.len(), 4000);
    let listed = run(
        dir.path(),
        words(&format!("fix orders -qq --list all {logs}")),
    )
    .expect(0);
    let (mut numbers, mut upstream, mut steps) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    for line in listed.text().lines() {
        let life: Value = serde_json::from_str(line).expect("JSON");
        let number = life["number"].as_u64().expect("a number");
        let all = life["steps"].as_array().expect("steps");
        steps.insert(number, all.len() as u64);
        match life["upstream"].as_u64() {
            Some(above) => upstream.push((number, above)),
            None => drop(numbers.insert(number, life["id"].as_str().expect("an id").to_owned())),
        }
        if life["upstream"].is_u64() {
            continue;
        }
        let told = &truth[life["id"].as_str().expect("an id")];
        let since = |names: &[&str]| {
            let step = all
                .iter()
                .find(|step| names.contains(&step["what"].as_str().expect("a word")));
            step.map(|step| ns(&step["time"]) - ns(&all[0]["time"]))
        };
        let answers = [
            "acknowledged",
            "partial fill",
            "filled",
            "rejected",
            "cancelled",
            "expired",
            "replaced",
            "cancel reject",
        ];
        assert_eq!(life["state"], told["state"], "{line}");
        assert_eq!(since(&answers), told["answer_ns"].as_i64(), "{line}");
        assert_eq!(
            since(&["partial fill", "filled"]),
            told["fill_ns"].as_i64(),
            "{line}"
        );
        let ends = ["filled", "rejected", "cancelled", "expired"];
        assert_eq!(since(&ends), told["end_ns"].as_i64(), "{line}");
        let reason = life["text"]
            .as_str()
            .filter(|_| told["state"] == "rejected");
        assert_eq!(reason.unwrap_or(""), told["reason"], "{line}");
        let filled = life["filled"].as_str().unwrap_or("0");
        assert_eq!(filled.parse().ok(), told["filled"].as_u64(), "{line}");
    }
    // Every chain is right: the messages of all sessions of an order are those that it had.
    assert_eq!(numbers.len(), 4000);
    upstream.sort_unstable();
    let mut above: BTreeMap<u64, u64> = upstream.into_iter().collect();
    let mut counted: BTreeMap<&String, u64> = BTreeMap::new();
    for (number, count) in &steps {
        let mut root = *number;
        while let Some(next) = above.get(&root) {
            root = *next;
        }
        *counted.entry(&numbers[&root]).or_default() += count;
    }
    for (id, told) in &truth {
        assert_eq!(Some(counted[id]), told["messages"].as_u64(), "{id}");
    }
    above.clear();
    // Clocks, to 20 microseconds.
    let report = run(
        dir.path(),
        words(&format!("fix orders --report json {logs}")),
    )
    .expect(0)
    .json();
    let tables = report["tables"].as_array().expect("tables");
    let hops = tables
        .iter()
        .find(|table| table["name"] == "hops")
        .expect("hops");
    for (from, to, ahead_ms) in [
        ("GATE", "ROUTER", 180.0),
        ("ROUTER", "XNYS", -225.0),
        ("ROUTER", "XPAR", -225.0),
    ] {
        let rows = hops["rows"].as_array().expect("rows");
        let row = rows
            .iter()
            .find(|row| row[0] == from && row[1] == to)
            .expect("a hop");
        let found = row[2].as_f64().expect("an offset") / 1e6;
        assert!((found - ahead_ms).abs() < 0.02, "{from} {to}: {found}");
    }
    // A timeline is in the order of cause and effect, whatever the clocks say.
    let (id, _) = truth
        .iter()
        .find(|(_, told)| told["state"] == "filled")
        .expect("one");
    let found = run(
        dir.path(),
        words(&format!("fix orders -qq --id {id} {logs}")),
    )
    .expect(0);
    let lines: Vec<_> = found
        .text()
        .lines()
        .filter(|line| line.contains(" → "))
        .collect();
    for (line, part) in lines.iter().zip([
        "→ GATE",
        "GATE → ROUTER",
        "ROUTER → X",
        "→ ROUTER",
        "ROUTER → GATE",
        "GATE → CLIENT",
    ]) {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn a_line_per_order_has_all_its_sessions() {
    let dir = directory();
    let dir = dir.path();
    run(dir, words("fix generate --day day --orders 1500 --seed 4")).expect(0);
    let truth = std::fs::read_to_string(dir.join("day/truth.jsonl")).expect("read");
    let mut truth: BTreeMap<String, Value> = truth
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|told| (told["id"].as_str().expect("an id").to_owned(), told))
        .collect();
    let logs = "day/gateway.log day/router.log day/venue.log";
    let line = format!("fix orders -qq --list unanswered --chains {logs}");
    let unanswered = run(dir, words(&line)).expect(0);
    let expected = truth.values().filter(|told| told["state"] == "unanswered");
    assert_eq!(unanswered.text().lines().count(), expected.count());
    for line in unanswered.text().lines() {
        let chain: Value = serde_json::from_str(line).expect("JSON");
        let reached = chain["reached"].as_str().expect("a party");
        assert!(reached.starts_with('X'), "a venue has it: {line}");
    }
    let line = format!("fix orders -qq --list all --chains {logs}");
    let all = run(dir, words(&line)).expect(0);
    for line in all.text().lines() {
        let chain: Value = serde_json::from_str(line).expect("JSON");
        let told = truth
            .remove(chain["id"].as_str().expect("an id"))
            .expect("once");
        let sessions = chain["sessions"].as_array().expect("sessions");
        let steps = sessions
            .iter()
            .map(|life| life["steps"].as_array().map_or(0, Vec::len));
        assert_eq!(chain["state"], told["state"], "{line}");
        assert_eq!(chain["from"], told["client"], "{line}");
        assert_eq!(told["messages"], steps.sum::<usize>(), "{line}");
    }
    assert!(truth.is_empty(), "{truth:?}");
}
