//! `perfkit betree serve`: what it answers, to whom, and what is left of it when it is killed.

#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::server::{Server, request};
use crate::common::signals::{PATIENCE, until};
use crate::common::{directory, file, run, words};

const DOMAINS: &str = "i|integer|true|-1000000000|1000000000\ns|string|true\nb|boolean|true\n\
                       frequency_caps|frequency|true\n";

fn start(dir: &Path, flags: &str) -> Server {
    file(dir, "domains", DOMAINS.as_bytes());
    Server::start(dir, &format!("--domains domains {flags}"))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn expressions_are_listed_page_by_page_and_explained() {
    let dir = directory();
    file(dir.path(), "first", b"30\ti = 30\n4\tb\n");
    let server = start(dir.path(), "--expressions first");
    let mut client = server.connect();
    let mut ask =
        |method: &str, path: &str, body: &str| client.ask(method, path, body).expect("an answer");
    assert_eq!(
        ask("PUT", "/expressions/7?flight_id=3", "i > 5 and not b").0,
        200
    );
    let bulk: String = (100..350)
        .map(|id| format!("{{\"id\":{id},\"expr\":\"i = {id}\"}}\n"))
        .collect();
    assert_eq!(ask("POST", "/expressions", &bulk).0, 200);
    assert_eq!(ask("DELETE", "/expressions/4", "").0, 200);
    let mut found = Vec::new();
    let mut pages = 0;
    let mut query = "?limit=100".to_owned();
    loop {
        let (status, page) = ask("GET", &format!("/expressions{query}"), "");
        assert_eq!(status, 200, "{page}");
        let lines: Vec<_> = page.lines().map(json).collect();
        let Some(last) = lines.last() else {
            break;
        };
        query = format!("?limit=100&after={}", last["id"]);
        found.extend(lines);
        pages += 1;
    }
    let ids: Vec<u64> = found
        .iter()
        .filter_map(|line| line["id"].as_u64())
        .collect();
    let all: Vec<u64> = [7, 30].into_iter().chain(100..350).collect();
    assert_eq!((ids, pages), (all, 3));
    let first = json(r#"{"id":7,"expr":"i > 5 and not b","constants":{"flight_id":3}}"#);
    assert_eq!(found[0], first);
    assert_eq!(found[1], json(r#"{"id":30,"expr":"i = 30"}"#));
    let (_, whole) = ask("GET", "/expressions", "");
    assert_eq!(whole.lines().count(), 252);
    assert_eq!(
        ask("GET", "/expressions?after=349", ""),
        (200, String::new())
    );

    let (status, body) = ask("POST", "/expressions/7/explain", r#"{"i":9,"b":true}"#);
    let why = json(&body);
    assert_eq!(
        (status, &why["id"], &why["matches"]),
        (200, &7.into(), &false.into())
    );
    assert_eq!(
        why["because"],
        json(r#"[{"test":"not (b)","event":"the event has true"}]"#),
        "{body}"
    );
    assert_eq!(why["tests"].as_array().map(Vec::len), Some(2));
    assert_eq!(why["last_reason"], "b");
    let (_, body) = ask("POST", "/expressions/7/explain", r#"{"i":9}"#);
    let why = json(&body);
    assert_eq!(
        (&why["matches"], why["because"].as_array().map(Vec::len)),
        (&true.into(), Some(2))
    );
    let missing = ask("POST", "/expressions/5/explain", "{}");
    assert_eq!(
        (missing.0, &json(&missing.1)["error"]["kind"]),
        (404, &"unknown_id".into())
    );
    let (status, body) = ask("POST", "/expressions/7/explain", r#"{"i":"x"}"#);
    assert_eq!((status, &json(&body)["error"]["byte"]), (400, &5.into()));
    server.stop(Signal::SIGTERM).expect(0);
}

#[test]
fn the_best_matches_are_those_with_the_highest_priorities() {
    let dir = directory();
    let server = start(dir.path(), "--log state");
    let ask =
        |server: &Server, method: &str, path: &str, body: &str| server.ask(method, path, body);
    let best = |server: &Server, top: &str| {
        let (status, body) = ask(
            server,
            "POST",
            &format!("/match{top}"),
            "{\"b\":true}\n{\"b\":false}\n",
        );
        assert_eq!(status, 200, "{body}");
        let lines: Vec<_> = body.lines().map(json).collect();
        assert_eq!(lines[1]["ids"], json("[]"));
        lines[0]["ids"].clone()
    };
    let bulk: String = (1..=9)
        .map(|id| format!("{{\"id\":{id},\"expr\":\"b\"}}\n"))
        .collect();
    assert_eq!(ask(&server, "POST", "/expressions", &bulk).0, 200);
    assert_eq!(
        best(&server, "?top=2"),
        json("[1,2]"),
        "all priorities are 0"
    );
    assert_eq!(best(&server, "?top=100"), json("[1,2,3,4,5,6,7,8,9]"));
    assert_eq!(ask(&server, "PUT", "/expressions/7?priority=5", "b").0, 200);
    assert_eq!(
        ask(
            &server,
            "PUT",
            "/expressions/3?priority=-9223372036854775808",
            "b"
        )
        .0,
        200
    );
    let bulk = "{\"id\":8,\"expr\":\"b\",\"priority\":9223372036854775807}\n{\"id\":10,\"expr\":\"b\",\"priority\":5}\n";
    assert_eq!(ask(&server, "POST", "/expressions", bulk).0, 200);
    assert_eq!(best(&server, "?top=4"), json("[8,7,10,1]"));
    assert_eq!(best(&server, "?top=100"), json("[8,7,10,1,2,4,5,6,9,3]"));
    assert_eq!(best(&server, "?top=0"), json("[]"));
    assert_eq!(best(&server, ""), json("[1,2,3,4,5,6,7,8,9,10]"));
    let (_, body) = ask(&server, "GET", "/expressions/7", "");
    assert_eq!(json(&body), json(r#"{"id":7,"expr":"b","priority":5}"#));
    assert_eq!(ask(&server, "DELETE", "/expressions/8", "").0, 200);
    // What is replaced without one has none.
    assert_eq!(ask(&server, "PUT", "/expressions/10", "b").0, 200);
    assert_eq!(best(&server, "?top=2"), json("[7,1]"));
    server.stop(Signal::SIGKILL);
    let server = start(dir.path(), "--log state");
    assert_eq!(best(&server, "?top=2"), json("[7,1]"), "from the log");
    server.stop(Signal::SIGTERM).expect(0);
    let server = start(dir.path(), "--log state");
    assert_eq!(best(&server, "?top=2"), json("[7,1]"), "from the snapshot");
    server.stop(Signal::SIGTERM).expect(0);
}

#[test]
fn changes_are_seen_by_the_next_match_and_every_mistake_has_its_place() {
    let dir = directory();
    let server = start(dir.path(), "");
    let mut client = server.connect();
    let mut ask = |method: &str, path: &str, body: &str| {
        let (status, body) = client.ask(method, path, body).expect("an answer");
        (status, body)
    };
    let (status, body) = ask("PUT", "/expressions/7", "i >= 5 and s = 'x'\n");
    assert_eq!(
        (status, json(&body)),
        (200, json(r#"{"id":7,"sequence":1,"created":true}"#))
    );
    let events =
        "{\"i\":5,\"s\":\"x\"}\n\n{\"i\":4,\"s\":\"x\"}\n{\"i\"\n{\"i\":\"x\"}\n{\"z\":1}\n{}";
    let (status, body) = ask("POST", "/match", events);
    let lines: Vec<_> = body.lines().map(json).collect();
    assert_eq!(status, 200);
    assert_eq!(lines[0], json(r#"{"event":1,"ids":[7]}"#));
    assert_eq!(lines[1], json(r#"{"event":3,"ids":[]}"#));
    assert_eq!(
        (&lines[2]["event"], &lines[2]["error"]["kind"]),
        (&4.into(), &"json".into())
    );
    assert_eq!(lines[3]["error"]["byte"], 5);
    assert_eq!(lines[4]["error"]["kind"], "unknown_attribute");
    assert_eq!(lines[5], json(r#"{"event":7,"ids":[]}"#));

    let (_, body) = ask("GET", "/expressions/7", "");
    assert_eq!(json(&body), json(r#"{"id":7,"expr":"i >= 5 and s = 'x'"}"#));
    let cap = "within_frequency_cap('flight', 'ns', 3, 60)";
    let (status, body) = ask("PUT", "/expressions/8", cap);
    assert_eq!(
        (status, &json(&body)["error"]["kind"]),
        (400, &"constants".into())
    );
    assert_eq!(ask("PUT", "/expressions/8?flight_id=4", cap).0, 200);
    let (_, body) = ask("GET", "/expressions/8", "");
    assert_eq!(json(&body)["constants"]["flight_id"], 4);

    let bulk = "{\"id\":1,\"expr\":\"b\"}\n{\"id\":7,\"delete\":true}\n{\"id\":2,\"expr\":\"b and\"}\n\
                {\"id\":3}\nnonsense\n{\"id\":9,\"delete\":true}\n";
    let (status, body) = ask("POST", "/expressions", bulk);
    let found = json(&body);
    assert_eq!(
        (status, &found["applied"], &found["refused"]),
        (400, &2.into(), &4.into())
    );
    let lines: Vec<_> = found["errors"].as_array().expect("a list").iter().collect();
    let numbers: Vec<_> = lines.iter().map(|error| error["line"].as_u64()).collect();
    assert_eq!(numbers, [Some(3), Some(4), Some(5), Some(6)]);
    let both =
        "{\"id\":1,\"expr\":\"b\",\"delete\":true}\nnonsense\n{\"id\":1,\n{\"expr\":\"b\"}\n";
    let (_, body) = ask("POST", "/expressions", both);
    let found = json(&body);
    for (at, message) in [
        "the line has both 'expr' and 'delete'",
        "the line is not JSON from this column on",
        "the line ends in the middle of its JSON",
        "missing field `id`",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(found["errors"][at]["error"]["message"], message);
    }
    assert_eq!(ask("GET", "/expressions/7", "").0, 404);
    assert_eq!(ask("DELETE", "/expressions/7", "").0, 404);
    assert_eq!(ask("DELETE", "/expressions/1", "").0, 200);
    let (status, body) = ask("PUT", "/expressions/1", "b and\n (i = 'x')");
    let error = &json(&body)["error"];
    assert_eq!(
        (status, &error["line"], &error["column"]),
        (400, &2.into(), &7.into()),
        "{body}"
    );
    assert!(error["hint"].is_string());
    let (_, body) = ask("PUT", "/expressions/1", "b AND i = 1");
    let hint = &json(&body)["error"]["hint"];
    assert_eq!(hint, "words of the language are in lower case: 'and'");

    for (method, path, expected) in [
        ("GET", "/nowhere", 404),
        ("GET", "/match", 405),
        ("DELETE", "/expressions", 405),
        ("GET", "/expressions?first=1", 400),
        ("GET", "/expressions?limit=0", 400),
        ("GET", "/expressions/1/explain", 405),
        ("POST", "/expressions/x/explain", 400),
        ("POST", "/expressions/1/explain?x=1", 400),
        ("POST", "/expressions/1/explain", 400),
        ("PATCH", "/expressions/1", 405),
        ("PUT", "/expressions/x", 400),
        ("PUT", "/expressions/+1", 400),
        ("PUT", "/expressions/18446744073709551616", 400),
        ("PUT", "/expressions/1?x=1", 400),
        ("GET", "/expressions/1?x=1", 400),
        ("POST", "/match?top=x", 400),
        ("POST", "/match?top=-1", 400),
        ("POST", "/match?first=3", 400),
        ("PUT", "/expressions/1?priority=x", 400),
        ("POST", "/match?explain", 400),
        ("POST", "/expressions?x=1", 400),
        ("POST", "/snapshot?x=1", 400),
        ("PUT", "/expressions/1?flight_id=x", 400),
        ("POST", "/snapshot", 409),
    ] {
        let (status, body) = ask(method, path, "b");
        assert_eq!(status, expected, "{method} {path}");
        assert!(json(&body)["error"]["message"].is_string(), "{body}");
    }
    assert_eq!(
        ask("PUT", "/expressions/1", &"b".repeat((1 << 20) + 1)).0,
        413
    );
    assert_eq!(server.ask("GET", "/healthz", "").0, 200);
    let (status, metrics) = server.ask("GET", "/metrics", "");
    assert_eq!(status, 200);
    for line in [
        "perfkit_matcher_events_total 3",
        "perfkit_matcher_events_refused_total 3",
        "perfkit_matcher_matches_total 1",
        "perfkit_matcher_expressions 1",
        "# TYPE perfkit_matcher_publication_seconds histogram",
        "perfkit_matcher_match_seconds_count 1",
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line}: {metrics}"
        );
    }
    let ended = server.stop(Signal::SIGTERM).expect(0);
    assert!(ended.stderr.contains("5 changes"), "{}", ended.stderr);
}

/// What is known of an expression: its last acknowledged text, and those of changes without an answer.
#[derive(Debug, Default, Clone)]
struct Known {
    acknowledged: Option<String>,
    unanswered: Vec<Option<String>>,
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_and_nothing_refused_appears() {
    const CLIENTS: u64 = 3;
    const IDS: u64 = 12;
    let rounds = std::env::var("PERFKIT_SERVE_KILLS").ok();
    let rounds: u64 = rounds.map_or(20, |text| text.parse().expect("a number"));
    let dir = directory();
    let mut known = vec![vec![Known::default(); IDS as usize]; CLIENTS as usize];
    let mut value = 0u64;
    let (mut acknowledged, mut unanswered) = (0, 0);
    for round in 0..rounds {
        let sync = ["always", "interval:2ms", "never"][round as usize % 3];
        let server = start(
            dir.path(),
            &format!("--log state --sync {sync} --snapshot-every 3K"),
        );
        // What the last run left.
        let mut client = server.connect();
        for (of, known) in known.iter_mut().enumerate() {
            for (at, known) in known.iter_mut().enumerate() {
                let id = of as u64 * IDS + at as u64;
                let (status, body) = client
                    .ask("GET", &format!("/expressions/{id}"), "")
                    .expect("an answer");
                let found =
                    (status == 200).then(|| json(&body)["expr"].as_str().map(str::to_owned));
                let found = found.flatten();
                let allowed = found == known.acknowledged || known.unanswered.contains(&found);
                assert!(allowed, "round {round}, {id}: {found:?}, {known:?}");
                if let Some(text) = &found {
                    let value = text.trim_start_matches("i = ");
                    let event = format!("{{\"i\":{value}}}");
                    let (_, body) = client.ask("POST", "/match", &event).expect("an answer");
                    assert_eq!(json(&body)["ids"], serde_json::json!([id]));
                }
                *known = Known {
                    acknowledged: found,
                    unanswered: Vec::new(),
                };
            }
        }
        // It is killed after some answers, and some time that differs.
        let life = Duration::from_millis(round * 37 % 150);
        let answers = AtomicU64::new(0);
        let (port, base) = (server.port, value);
        value += 10_000_000;
        std::thread::scope(|scope| {
            for (of, known) in (0..).zip(&mut known) {
                let answers = &answers;
                scope.spawn(move || {
                    let base = base + of * 1_000_000;
                    change_until_killed(port, base, of * IDS, known, answers);
                });
            }
            until("answers", || answers.load(Relaxed) > CLIENTS);
            std::thread::sleep(life);
            // SIGKILL.
            drop(server);
        });
        for known in known.iter().flatten() {
            acknowledged += u64::from(known.acknowledged.is_some());
            unanswered += known.unanswered.len();
        }
    }
    assert!(acknowledged > rounds, "{acknowledged}, {unanswered}");
}

/// Puts, deletes and refused changes of the ids from `first`, until the server is gone.
fn change_until_killed(port: u16, base: u64, first: u64, known: &mut [Known], answers: &AtomicU64) {
    let connected = std::net::TcpStream::connect(("127.0.0.1", port));
    let Ok(mut stream) = connected else { return };
    let mut value = base;
    for at in (0..known.len()).cycle() {
        value += 1;
        let (id, known) = (first + at as u64, &mut known[at]);
        let (method, body, next) = match value % 5 {
            0 if known.acknowledged.is_some() => ("DELETE", String::new(), None),
            // Never to be seen.
            1 => (
                "PUT",
                format!("i = {value} and"),
                known.acknowledged.clone(),
            ),
            _ => {
                let text = format!("i = {value}");
                ("PUT", text.clone(), Some(text))
            }
        };
        let path = format!("/expressions/{id}");
        known.unanswered.push(next.clone());
        if stream
            .write_all(request(method, &path, &body).as_bytes())
            .is_err()
        {
            return;
        }
        let mut answer = [0; 1024];
        let Ok(count @ 1..) = stream.read(&mut answer) else {
            return;
        };
        let refused = body.ends_with("and");
        let expected: &[u8] = if refused {
            b"HTTP/1.1 400"
        } else {
            b"HTTP/1.1 200"
        };
        if !answer[..count].starts_with(expected) {
            return;
        }
        known.acknowledged = next;
        known.unanswered.clear();
        answers.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_torn_log_is_cut_with_a_message_and_a_damaged_one_is_refused() {
    let dir = directory();
    let server = start(dir.path(), "--log state");
    for id in 0..5 {
        let path = format!("/expressions/{id}");
        assert_eq!(server.ask("PUT", &path, &format!("i = {id}")).0, 200);
    }
    drop(server);
    let log = dir.path().join(format!("state/changes-{:020}", 0));
    let whole = std::fs::read(&log).expect("a log");
    std::fs::write(&log, &whole[..whole.len() - 3]).expect("written");
    let server = Server::start(dir.path(), "--log state");
    assert!(server.said.contains("broke off"), "{}", server.said);
    assert!(
        server.said.contains("4 expressions, 4 changes repeated"),
        "{}",
        server.said
    );
    assert_eq!(server.ask("GET", "/expressions/4", "").0, 404);
    drop(server);
    let mut damaged = whole.clone();
    damaged[60] ^= 1;
    std::fs::write(&log, damaged).expect("written");
    let line = "betree serve --listen 127.0.0.1:0 --log state";
    let ended = run(dir.path(), words(line)).expect(1);
    assert!(
        ended.stderr.contains("at byte 24 is damaged"),
        "{}",
        ended.stderr
    );
}

#[test]
fn it_stops_with_a_snapshot_and_begins_from_it() {
    let dir = directory();
    let server = start(
        dir.path(),
        "--log state --listen unix:socket --ready-file ready",
    );
    let ready = std::fs::read_to_string(dir.path().join("ready")).expect("a file");
    let port = server.port;
    assert_eq!(ready, format!("http://127.0.0.1:{port}\nunix:socket\n"));
    let mut socket =
        std::os::unix::net::UnixStream::connect(dir.path().join("socket")).expect("it listens");
    socket
        .write_all(request("PUT", "/expressions/3", "b").as_bytes())
        .expect("sent");
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    let (status, body) = server.ask("POST", "/snapshot", "");
    assert_eq!((status, &json(&body)["sequence"]), (200, &1.into()));
    let second = run(
        dir.path(),
        words("betree serve --listen 127.0.0.1:0 --log state"),
    )
    .expect(1);
    assert!(
        second.stderr.contains("in use by another process"),
        "{}",
        second.stderr
    );
    assert_eq!(server.ask("PUT", "/expressions/4", "not b").0, 200);
    server.stop(Signal::SIGINT).expect(0);
    assert!(!dir.path().join("socket").exists());
    let server = Server::start(dir.path(), "--log state");
    assert!(
        server.said.contains("2 expressions, 0 changes repeated"),
        "{}",
        server.said
    );
    let (_, body) = server.ask("GET", "/expressions/4", "");
    assert_eq!(json(&body)["expr"], "not b");
    server.stop(Signal::SIGTERM).expect(0);
    let nothing = run(
        dir.path(),
        words("betree serve --listen 127.0.0.1:0 --log other"),
    )
    .expect(2);
    assert!(
        nothing.stderr.contains("has no state yet"),
        "{}",
        nothing.stderr
    );
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn clients_that_are_slow_or_gone_or_hostile_keep_no_one_from_an_answer() {
    let dir = directory();
    // Clients of a busy machine are slow, too, but not that slow.
    let server = start(dir.path(), "--idle 4s --event-bytes 10K -T 2");
    assert_eq!(server.ask("PUT", "/expressions/1", "b").0, 200);
    let well = || {
        let begun = Instant::now();
        let (status, body) = server.ask("POST", "/match", "{\"b\":true}");
        assert_eq!(
            (status, json(&body)),
            (200, json(r#"{"event":1,"ids":[1]}"#))
        );
        assert!(begun.elapsed() < PATIENCE);
    };
    // Idle, and half a request, and half a body.
    let mut held: Vec<_> = (0..1_000).map(|_| server.connect()).collect();
    well();
    held[0].send(b"POST /match HT").expect("sent");
    held[1]
        .send(b"POST /match HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"b\"")
        .expect("sent");
    well();
    // Gone in the middle.
    for _ in 0..50 {
        let mut gone = server.connect();
        gone.send(b"POST /match HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"b\":true}\n{")
            .expect("sent");
    }
    well();
    // A head without an end.
    let mut large = server.connect();
    let piece = format!("a: {}\r\n", "x".repeat(1 << 16));
    let sent = large.send(b"GET / HTTP/1.1\r\n");
    let sent = sent.and_then(|()| (0..160).try_for_each(|_| large.send(piece.as_bytes())));
    let answer = large.answer().map(|(status, _)| status);
    assert!(sent.is_err() || matches!(answer, Ok(431)), "{answer:?}");
    // Bytes that are no HTTP.
    let mut noise = server.connect();
    noise
        .send(&[0, 1, 2, 0xff, b'\n', b'\r', b'\n'])
        .expect("sent");
    assert!(!matches!(noise.answer(), Ok((200, _))));
    // Several at once on one connection.
    let mut pipelined = server.connect();
    let all: String = (0..50)
        .map(|at| request("POST", "/match", &format!("{{\"b\":{}}}", at % 2 == 0)))
        .collect();
    pipelined.send(all.as_bytes()).expect("sent");
    for at in 0..50 {
        let (status, body) = pipelined.answer().expect("an answer");
        let ids = if at % 2 == 0 {
            serde_json::json!([1])
        } else {
            serde_json::json!([])
        };
        assert_eq!((status, &json(&body)["ids"]), (200, &ids));
    }
    // One that takes no answer: what is made for it stays bounded, and it is disconnected.
    let mut deaf = server.connect();
    let lines = "{\"b\":true}\n".repeat(1 << 16);
    let head = format!(
        "POST /match HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
        lines.len() * 100
    );
    deaf.stream
        .get_ref()
        .set_write_timeout(Some(PATIENCE))
        .expect("set");
    let sent = deaf
        .send(head.as_bytes())
        .and_then(|()| (0..100).try_for_each(|_| deaf.send(lines.as_bytes())));
    let cut_off = sent.expect_err("someone kept all of the answer").kind();
    assert_ne!(cut_off, std::io::ErrorKind::WouldBlock, "still connected");
    well();
    // A line that is too long is its own mistake.
    let long = format!("{{\"s\":\"{}\"}}\n{{\"b\":true}}", "x".repeat(20_000));
    let (status, body) = server.ask("POST", "/match", &long);
    let lines: Vec<_> = body.lines().map(json).collect();
    assert_eq!(
        (status, &lines[0]["error"]["kind"]),
        (200, &"too_large".into())
    );
    assert_eq!(lines[1], json(r#"{"event":2,"ids":[1]}"#));
    // Idle connections are closed.
    let closed = held[5].answer().expect_err("no request, no answer").kind();
    assert_ne!(closed, std::io::ErrorKind::WouldBlock, "still connected");
    well();
    server.stop(Signal::SIGTERM).expect(0);
}

#[test]
fn a_long_answer_streams_while_events_still_come() {
    let dir = directory();
    let server = start(dir.path(), "");
    assert_eq!(server.ask("PUT", "/expressions/1", "i >= 10").0, 200);
    let mut client = server.connect();
    client
        .send(b"POST /match HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .expect("sent");
    let reader = client.stream.get_ref().try_clone().expect("cloned");
    let writer = std::thread::spawn(move || {
        let mut stream = reader;
        for from in (0..20_000u32).step_by(1_000) {
            let events: String = (from..from + 1_000)
                .map(|i| format!("{{\"i\":{i}}}\n"))
                .collect();
            let chunk = format!("{:x}\r\n{events}\r\n", events.len());
            stream.write_all(chunk.as_bytes()).expect("sent");
        }
        stream.write_all(b"0\r\n\r\n").expect("sent");
    });
    let (status, body) = client.answer().expect("an answer");
    writer.join().expect("sent");
    assert_eq!((status, body.lines().count()), (200, 20_000));
    for (at, line) in body.lines().enumerate() {
        let ids = if at >= 10 { "[1]" } else { "[]" };
        assert_eq!(line, format!("{{\"event\":{},\"ids\":{ids}}}", at + 1));
    }
    server.stop(Signal::SIGTERM).expect(0);
}

#[test]
fn a_client_that_waits_for_each_answer_gets_it_before_its_body_ends() {
    let dir = directory();
    let server = start(dir.path(), "--connections 3 --grace 60s");
    let mut client = server.connect();
    client
        .send(b"POST /match HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        .expect("sent");
    let mut seen = String::new();
    for number in 1..=5 {
        client.send(b"3\r\n{}\n\r\n").expect("sent");
        let wanted = format!("{{\"event\":{number},\"ids\":[]}}");
        while !seen.contains(&wanted) {
            let mut piece = [0; 4096];
            let count = client.stream.read(&mut piece).expect("an answer");
            assert!(count > 0, "{seen}");
            seen.push_str(std::str::from_utf8(&piece[..count]).expect("text"));
        }
    }
    // More connections than allowed.
    let _second = server.connect();
    let _third = server.connect();
    let (status, body) = server.connect().answer().expect("an answer");
    assert_eq!(
        (status, &json(&body)["error"]["kind"]),
        (503, &"busy".into())
    );
    // The stream ends as an answer does, though its request has not ended.
    let ended = server.stop(Signal::SIGTERM).expect(0);
    let mut rest = String::new();
    client.stream.read_to_string(&mut rest).expect("an end");
    assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}: {}", ended.stderr);
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_stop_answers_what_came_and_says_if_it_could_not() {
    let dir = directory();
    let stream = "POST /match HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    // An event and the begin of another one, and a stream without any.
    let server = start(dir.path(), "");
    let mut begun = server.connect();
    begun.send(stream.as_bytes()).expect("sent");
    begun.send(b"6\r\n{}\n{\"i\r\n").expect("sent");
    until("its event", || server.metric("events_total") == 1);
    let mut nothing = server.connect();
    nothing.send(stream.as_bytes()).expect("sent");
    until("both requests", || server.requests() == 2);
    // One that never pauses.
    let mut busy = server.connect();
    busy.send(stream.as_bytes()).expect("sent");
    let mut sending = busy.stream.get_ref().try_clone().expect("cloned");
    let sender = std::thread::spawn(move || {
        while sending.write_all(b"3\r\n{}\n\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    until("events of the one that never pauses", || {
        server.metric("events_total") > 3
    });
    // The one that never pauses ends in half of the grace period: at its end not all would be answered.
    server.stop(Signal::SIGTERM).expect(0);
    let (status, body) = begun.answer().expect("an answer");
    let lines: Vec<_> = body.lines().map(json).collect();
    assert_eq!((status, &lines[0]), (200, &json(r#"{"event":1,"ids":[]}"#)));
    assert_eq!(
        (&lines[1]["event"], &lines[1]["error"]["kind"]),
        (&2.into(), &"closing".into())
    );
    let (status, body) = nothing.answer().expect("an answer");
    let kind = &json(&body)["error"]["kind"];
    assert_eq!((status, kind), (503, &"closing".into()));
    sender.join().expect("it ends");
    let mut all = String::new();
    let _ = busy.stream.read_to_string(&mut all);
    assert!(all.contains("\"event\":2,"), "{all}");
    // A change that does not come whole is not answered in time.
    let server = start(dir.path(), "--grace 300ms");
    let mut half = server.connect();
    half.send(b"PUT /expressions/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nb")
        .expect("sent");
    until("the request", || server.requests() == 1);
    let ended = server.stop(Signal::SIGTERM).expect(3);
    assert!(ended.stderr.contains("--grace"), "{}", ended.stderr);
}

#[test]
fn a_signal_in_a_burst_answers_all_that_was_begun() {
    let dir = directory();
    let server = start(dir.path(), "--log state --sync never");
    let port = server.port;
    let acknowledged = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..8u64)
        .map(|of| {
            let mut client = server.connect();
            let acknowledged = Arc::clone(&acknowledged);
            std::thread::spawn(move || {
                let mut made = 0;
                loop {
                    let path = format!("/expressions/{}", of * 100_000 + made);
                    match client.ask("PUT", &path, &format!("i = {made}")) {
                        Ok((200, _)) => {
                            made += 1;
                            acknowledged.fetch_add(1, Relaxed);
                        }
                        // Between requests, or before one was read: nothing half.
                        Err(_) => return made,
                        Ok(other) => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    until("a burst", || acknowledged.load(Relaxed) > 80);
    let ended = server.stop(Signal::SIGTERM).expect(0);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    let made: u64 = clients
        .into_iter()
        .map(|client| client.join().expect("it ends"))
        .sum();
    assert!(made > 80, "{}", ended.stderr);
    let server = Server::start(dir.path(), "--log state");
    let said = &server.said;
    let count = said
        .split("state': ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let count: u64 = count
        .and_then(|count| count.parse().ok())
        .expect("a number");
    // A change may be made whose answer no client waited for any more.
    assert!(
        (made..made + 9).contains(&count),
        "{made} acknowledged: {said}"
    );
}

#[test]
fn a_benchmark_checks_answers_and_has_the_rows_of_both_sides() {
    let dir = directory();
    let line = "betree-bench serve --expressions 400 --events-per-s 2000 --duration 600ms --sync never \
                -q --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    let validation = &report["validation"];
    assert!(validation["checked"].as_u64() > Some(0), "{validation}");
    assert_eq!(validation["wrong"], 0);
    let rows = report["latencies"].as_array().expect("a list");
    let rows: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {}", row["series"], row["name"]).replace('"', ""))
        .collect();
    for row in [
        "match response",
        "match service",
        "change response",
        "change service",
        "server match service",
        "server search hold",
        "server acknowledge service",
        "server publish service",
        "server writer hold",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row}: {rows:?}");
    }
    let wrong = "betree-bench serve --shape nothing";
    let wrong = run(dir.path(), words(wrong)).expect(2);
    assert!(
        wrong.stderr.contains("there is no shape 'nothing'"),
        "{}",
        wrong.stderr
    );
    let gone = "betree-bench serve --connect 127.0.0.1:1 --expressions 10";
    let gone = run(dir.path(), words(gone)).expect(1);
    assert!(
        gone.stderr.contains("cannot reach the matcher"),
        "{}",
        gone.stderr
    );
}
