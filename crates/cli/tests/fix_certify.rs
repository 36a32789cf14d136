//! `perfkit fix certify`: an engine that closes every connection, a session of ours, none at all, and flags.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use fixcore::Timestamp;
use fixsession::{
    Dictionaries, Echo, First, MemoryStore, Now, Session, SessionId, SessionOptions, first_message,
};
use serde_json::Value;

use crate::common::{directory, file, run, words};

/// An engine behind a port, which lives as long as the tests. `serve` has one connection at a time.
fn engine(serve: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream);
        }
    });
    address
}

/// A session of FIX 4.4 with an application that returns orders.
fn session(mut stream: TcpStream) {
    let began = Instant::now();
    let now = || {
        let utc = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ns = utc.expect("after 1970").as_nanos();
        Now {
            monotonic: began.elapsed(),
            utc: Timestamp(i64::try_from(ns).expect("before 2262")),
        }
    };
    let id = SessionId::new("FIX.4.4", "ENGINE", "CERTIFY");
    let mut options = SessionOptions::new(id.clone());
    options.reset_on_logon = true;
    let store = MemoryStore::new(now().utc);
    let mut session = Session::new(options, Dictionaries::built_in("FIX.4.4"), store);
    let mut app = Echo::default();
    let mut input = Vec::new();
    let mut room = [0; 4096];
    let wait = Duration::from_millis(20);
    stream.set_read_timeout(Some(wait)).expect("a time-out");
    let mut is_known = false;
    loop {
        match stream.read(&mut room) {
            Ok(0) => return,
            Ok(count) => input.extend_from_slice(&room[..count]),
            Err(_) => {}
        }
        if !is_known {
            match first_message(&input, 4096) {
                First::NeedMore => continue,
                First::Logon { id: named } if *named == id => {}
                _ => return,
            }
            is_known = true;
            session.connected(now(), &mut app);
        }
        session.bytes(&input, usize::MAX, now(), &mut app);
        input.clear();
        session.tick(now(), &mut app);
        let output = session.output().to_vec();
        session.sent(output.len());
        if stream.write_all(&output).is_err() || session.close() {
            return;
        }
    }
}

#[test]
fn a_session_passes() {
    let dir = directory();
    let address = engine(session);
    let line = format!(
        "fix certify {address} --versions 4.4 --texts --only resend,reject,number.low --junit out.xml --report json"
    );
    let found = run(dir.path(), words(&line)).expect(0);
    let params = &found.json()["workload"]["params"];
    assert_eq!(params["failed"], 0, "{params}");
    assert!(params["passed"].as_u64().expect("a count") > 20, "{params}");
    let xml = std::fs::read_to_string(dir.path().join("out.xml")).expect("written");
    assert!(xml.contains("<testsuite name=\"FIX 4.4\""), "{xml}");
    assert!(xml.contains("failures=\"0\""), "{xml}");
}

#[test]
fn an_engine_that_only_closes_fails() {
    let dir = directory();
    let address = engine(drop);
    let line = format!(
        "fix certify {address} --only logon.valid,logon.wrong-sender --versions 4.2,5.0sp2 --report json"
    );
    let found = run(dir.path(), words(&line)).expect(4);
    let report = found.json();
    let verdicts = &report["tables"][0];
    assert_eq!(verdicts["name"], "verdicts");
    let rows = serde_json::json!([
        ["logon.valid", "failed", "failed"],
        ["logon.wrong-sender", "passed", "passed"],
    ]);
    assert_eq!(verdicts["rows"], rows);
    let is_messages = |table: &&Value| table["name"] == "messages of what failed";
    let tables = report["tables"].as_array().expect("tables");
    let messages = tables.iter().find(is_messages).expect("messages");
    let first = messages["rows"][0][3].as_str().expect("text");
    assert!(first.starts_with("> 8=FIX.4.2|9="), "{first}");
    // It has no application that returns orders, and no file is replaced.
    file(dir.path(), "out.xml", b"mine");
    let line = format!("fix certify {address} --only possresend --app none --report json");
    let skipped = run(dir.path(), words(&line)).expect(0).json();
    assert_eq!(skipped["workload"]["params"]["skipped"], 16);
    let line = format!("fix certify {address} --only possresend --junit out.xml");
    run(dir.path(), words(&line)).expect(1);
}

#[test]
fn what_cannot_be_run_is_said() {
    let dir = directory();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    drop(taken);
    let none = run(dir.path(), words(&format!("fix certify {address}"))).expect(1);
    assert!(none.stderr.contains("cannot connect"), "{}", none.stderr);
    for (line, what) in [
        ("fix certify", "HOST:PORT"),
        ("fix certify nonsense", "no address"),
        ("fix certify 127.0.0.1:1 --only nonsense", "no scenario"),
        (
            "fix certify 127.0.0.1:1 --versions fixt1.1",
            "no version of a session",
        ),
    ] {
        let found = run(dir.path(), words(line)).expect(2);
        assert!(found.stderr.contains(what), "{line}: {}", found.stderr);
    }
    let list = run(dir.path(), words("fix certify --list --only resend")).expect(0);
    assert!(list.text().contains("resend.mixed"), "{}", list.text());
    assert!(!list.text().contains("logon.valid"), "{}", list.text());
}
