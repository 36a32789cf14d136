//! `perfkit fix diff` and `fix replay`: what differs between two logs, and a log sent once more.

use std::io::Read as _;
use std::net::TcpListener;

use crate::common::fix::{changed, execution, message, order};
use crate::common::{directory, file, pipe, run, words};

fn lines(text: &str) -> Vec<serde_json::Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn logs_that_say_the_same_in_another_shape_and_order_do_not_differ() {
    let dir = directory();
    let a: Vec<_> = (1..500).map(|seq| order(seq, "id", 1)).collect();
    let mut b: Vec<_> = (1..500).map(|seq| order(seq, "id", 900)).collect();
    for pair in b.chunks_mut(7) {
        pair.reverse();
    }
    file(dir.path(), "a", &a.concat());
    let text = String::from_utf8(b.concat()).expect("text");
    let text = text.replace('\x01', "|").replace("8=FIX", "\nlog: 8=FIX");
    file(dir.path(), "b", text.as_bytes());
    let found = run(dir.path(), words("fix diff a b --report json")).expect(0);
    assert!(found.stdout.is_empty());
    let report: serde_json::Value = serde_json::from_str(&found.stderr).expect("a report");
    assert_eq!(
        report["tables"][0]["rows"][0],
        serde_json::json!([499, 0, 0, 0])
    );
    let strict = run(dir.path(), words("fix diff -qq a b --ignore 1")).expect(1);
    assert_eq!(strict.text().lines().count(), 499, "times differ");
    run(dir.path(), words("fix diff -qq a b --by order")).expect(0);
    run(
        dir.path(),
        words("fix diff -qq a b --by whole --ignore 34,52"),
    )
    .expect(0);
    // One waits longer than it may.
    run(dir.path(), words("fix diff -qq a b --window 2")).expect(1);
    for line in ["fix diff -qq a nowhere", "fix diff -qq nowhere b"] {
        let failed = run(dir.path(), words(line)).expect(1);
        assert!(failed.stdout.is_empty() && failed.stderr.contains("'nowhere'"));
    }
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_log_and_its_copy_do_not_differ_however_long_they_are() {
    let dir = directory();
    for messages in [70_000, 200_000] {
        let line = format!("fix generate -qq --mix 40,1,1,0 --messages {messages} -f -o a");
        run(dir.path(), words(&line)).expect(0);
        let a = std::fs::read(dir.path().join("a")).expect("read");
        file(dir.path(), "b", &a);
        for window in ["", "--window 1"] {
            let line = format!("fix diff --report json a b {window}");
            let found = run(dir.path(), words(&line)).expect(0);
            assert!(found.stdout.is_empty());
            let report: serde_json::Value = serde_json::from_str(&found.stderr).expect("a report");
            let counts = &report["tables"][0]["rows"][0];
            assert_eq!(counts, &serde_json::json!([messages, 0, 0, 0]));
        }
    }
    // Numbers begin anew three times, and one log lost a message of each day.
    let day: Vec<_> = (1..=300).map(|seq| order(seq, "id", 1)).collect();
    file(
        dir.path(),
        "a",
        &[day.concat(), day.concat(), day.concat()].concat(),
    );
    let mut short: Vec<_> = [&day[..], &day[..], &day[..]].concat();
    for lost in [899, 450, 0] {
        short.remove(lost);
    }
    file(dir.path(), "b", &short.concat());
    for (line, only) in [("fix diff -qq a b", "a"), ("fix diff -qq b a", "b")] {
        let found = run(dir.path(), words(line)).expect(1);
        let found = lines(found.text());
        let lost: Vec<_> = found
            .iter()
            .map(|line| (line["only"].as_str(), line["number"].as_str()))
            .collect();
        assert_eq!(
            lost,
            [
                (Some(only), Some("1")),
                (Some(only), Some("151")),
                (Some(only), Some("300"))
            ]
        );
    }
}

#[test]
fn what_differs_is_named_field_by_field() {
    let dir = directory();
    let (one, two) = (order(1, "one", 1), execution(1, "one", 2));
    let group = |price: &str| {
        message(&format!(
            "35=X|49=A|56=B|34=9|52=20260305-14:15:16|268=2|279=0|270=1.5|279=0|270={price}|"
        ))
    };
    let changed = message(
        "35=D|49=A|56=B|34=1|52=20260305-14:15:17|11=one|55=Y|54=1|60=20260305-14:15:16|40=1|44=7|38=5|",
    );
    let only = order(8, "two", 1);
    file(
        dir.path(),
        "a",
        &[&one[..], &two, &group("2"), &only].concat(),
    );
    file(dir.path(), "b", &[&two[..], &group("3"), &changed].concat());
    let found = run(dir.path(), words("fix diff -qq a b")).expect(1);
    let mut found = lines(found.text());
    found.sort_by_key(|line| line["number"].as_str().map(str::to_owned));
    assert_eq!(found.len(), 3);
    assert_eq!(
        found[0]["differences"],
        serde_json::json!([[44, null, "7"], [55, "X", "Y"]])
    );
    assert_eq!(found[0]["a"], 0);
    assert_eq!(found[0]["b"], (two.len() + group("3").len()) as u64);
    assert_eq!(
        (&found[1]["only"], &found[1]["order"]),
        (&"a".into(), &"two".into())
    );
    assert_eq!(
        found[2]["differences"],
        serde_json::json!([[270, "2", "3"]])
    );
    // A bad message is no difference, but told of.
    let torn = [&one[..], b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01"].concat();
    file(dir.path(), "c", &torn);
    file(dir.path(), "d", &one);
    let told = run(dir.path(), words("fix diff c d")).expect(3);
    assert!(
        told.stdout.is_empty() && told.stderr.contains("CheckSum (10): stated 000"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_replay_keeps_the_times_and_says_how_late_it_was() {
    let dir = directory();
    let log = [
        order(5, "one", 100),
        order(6, "two", 150),
        order(9, "three", 400),
    ]
    .concat();
    let started = std::time::Instant::now();
    let found = pipe(dir.path(), words("fix replay --report json"), &log).expect(0);
    assert!(
        started.elapsed().as_millis() >= 300,
        "three tenths of a second lie between them"
    );
    assert_eq!(found.stdout, log);
    let report: serde_json::Value = serde_json::from_str(&found.stderr).expect("a report");
    assert_eq!(report["load"]["model"], "open");
    assert_eq!(report["latencies"][0]["name"], "response");
    assert_eq!(report["latencies"][0]["n"], 3);
    let new = pipe(
        dir.path(),
        words("fix replay -qq --speed 0 --renumber --retime"),
        &log,
    );
    let parsed = pipe(dir.path(), words("fix parse -qq"), &new.expect(0).stdout).expect(0);
    let parsed = lines(parsed.text());
    let numbers: Vec<_> = parsed
        .iter()
        .map(|line| line["fields"][5].clone())
        .collect();
    assert_eq!(
        numbers,
        [1, 2, 3].map(|n: u32| serde_json::json!([34, n.to_string()]))
    );
    assert_ne!(parsed[0]["fields"][6][1], "20260305-14:15:16.100");
    let paced = words("fix replay -qq --speed 0 --rate 20");
    let started = std::time::Instant::now();
    pipe(dir.path(), paced, &log).expect(0);
    assert!(started.elapsed().as_millis() >= 100);
    let bad = [&log[..], b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01"].concat();
    let found = pipe(dir.path(), words("fix replay -qq --speed 0"), &bad).expect(3);
    assert_eq!(found.stdout, log);
}

#[test]
fn a_replay_goes_to_a_socket() {
    let dir = directory();
    let log = [order(1, "one", 100), order(2, "two", 101)].concat();
    file(dir.path(), "log", &log);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let taker = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("read");
        bytes
    });
    run(
        dir.path(),
        words(&format!("fix replay -qq --connect {address} log")),
    )
    .expect(0);
    assert!(taker.join().expect("it ends") == log);
    let nobody = words(&format!("fix replay --connect {address} log"));
    assert!(
        run(dir.path(), nobody)
            .expect(1)
            .stderr
            .contains("cannot connect")
    );
}

#[test]
fn a_difference_is_named_with_its_line_in_each_log_and_masked_messages_are_compared() {
    let dir = directory();
    let log = |messages: &[Vec<u8>], before: &str| {
        let lines = messages.iter().map(|bytes| [bytes, &b"\n"[..]].concat());
        [before.as_bytes(), &lines.collect::<Vec<_>>().concat()].concat()
    };
    let all: Vec<_> = (1..=5).map(|seq| order(seq, "id", seq)).collect();
    let mut other = all.clone();
    other[3] = order(4, "another", 4);
    other.remove(1);
    file(dir.path(), "a", &log(&all, "one\ntwo\n"));
    file(dir.path(), "b", &log(&other, ""));
    let found = run(dir.path(), words("fix diff -qq a b")).expect(1);
    let mut found = lines(found.text());
    found.sort_by_key(|line| line["number"].as_str().map(str::to_owned));
    assert_eq!(
        (&found[0]["only"], &found[0]["line"]),
        (&"a".into(), &4.into())
    );
    assert_eq!(
        (&found[1]["a_line"], &found[1]["b_line"]),
        (&6.into(), &3.into())
    );
    // Other values of the same length, and of other lengths, with the sums and lengths of before.
    let masked = |to: &str| {
        let bytes = all
            .iter()
            .map(|bytes| changed(bytes, "11=id", to))
            .collect::<Vec<_>>();
        log(&bytes, "")
    };
    for (to, accepted) in [("11=**", "checksum"), ("11=****", "checksum,length")] {
        file(dir.path(), "masked", &masked(to));
        run(dir.path(), words("fix diff -qq masked masked")).expect(3);
        let line = format!("fix diff -qq --accept {accepted}");
        run(dir.path(), words(&format!("{line} masked masked"))).expect(0);
        let found = run(dir.path(), words(&format!("{line} a masked --report json"))).expect(1);
        let found = lines(found.text());
        assert_eq!(found.len(), 5);
        assert_eq!(
            found[0]["differences"],
            serde_json::json!([[11, "id", &to[3..]]])
        );
    }
}
