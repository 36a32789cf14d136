//! `perfkit fix certify`: an engine that closes every connection, a session of ours, none at all, and flags.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fixcore::Timestamp;
use fixsession::{
    Dictionaries, Echo, First, MemoryStore, Now, Session, SessionId, SessionOptions, first_message,
};
use serde_json::Value;

use crate::common::{Run, directory, file, perfkit, run, words};

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
        "fix certify {address} --versions 4.4 --texts --only resend,reject,number.low --junit out.xml --timeout 30s \
         --report json"
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
    // No one listens at the port of tcpmux.
    let none = run(dir.path(), words("fix certify 127.0.0.1:1")).expect(1);
    assert!(none.stderr.contains("cannot connect"), "{}", none.stderr);
    let line = "fix certify --listen 127.0.0.1:0 --wait 100ms --versions 4.4 --only gapfill";
    let none = run(dir.path(), words(line)).expect(1);
    assert!(none.stderr.contains("did not connect"), "{}", none.stderr);
    for (line, what) in [
        ("fix certify --listen nonsense", "no address"),
        (
            "fix certify 127.0.0.1:1 --listen 127.0.0.1:0",
            "cannot be used with",
        ),
        (
            "fix certify --listen 127.0.0.1:0 --reset flag",
            "cannot be used with",
        ),
        (
            "fix certify --listen 127.0.0.1:0 --only logon.valid",
            "no scenario",
        ),
        ("fix certify", "HOST:PORT"),
        ("fix certify", "--listen"),
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
    let line = "fix certify --list --listen 127.0.0.1:0 --only logon,initiator,resend";
    let list = run(dir.path(), words(line)).expect(0);
    assert!(
        list.text().contains("initiator.answer-late"),
        "{}",
        list.text()
    );
    assert!(!list.text().contains("logon.valid"), "{}", list.text());
}

/// Settings of sessions that connect to a port.
fn initiator(port: &str, sessions: &str) -> String {
    format!(
        "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\n\
         ReconnectInterval=1\nHeartBtInt=5\nStartTime=00:00:00\nEndTime=00:00:00\nSenderCompID=ENGINE\n\
         TargetCompID=CERTIFY\nResetOnLogon=Y\n{sessions}"
    )
}

/// Runs `fix certify --listen` while our own initiator connects to it.
fn against_initiator(dir: &Path, sessions: &str, flags: &str) -> Run {
    let began = Instant::now();
    // Answers may take their time on a busy machine.
    let line = format!(
        "fix certify --listen 127.0.0.1:0 --ready-file ready --timeout 30s {flags} --report json"
    );
    std::thread::scope(|scope| {
        let certify = scope.spawn(|| run(dir, words(&line)));
        let ready = dir.join("ready");
        let address = loop {
            match std::fs::read_to_string(&ready) {
                Ok(address) if address.ends_with('\n') => break address,
                _ if began.elapsed() > Duration::from_secs(60) => panic!("it does not listen"),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let port = address.trim().rsplit(':').next().expect("a port");
        file(dir, "i.cfg", initiator(port, sessions).as_bytes());
        let line = "fix initiator --settings i.cfg --app echo --report json";
        let mut engine = perfkit()
            .current_dir(dir)
            .args(words(line))
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let found = certify.join();
        let _ = engine.kill();
        let _ = engine.wait();
        found.expect("it ran")
    })
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn our_initiator_passes() {
    let dir = directory();
    let sessions = "[SESSION]\nBeginString=FIX.4.2\n[SESSION]\nBeginString=FIXT.1.1\nSessionQualifier=A\n\
                    DefaultApplVerID=FIX.5.0\n[SESSION]\nBeginString=FIXT.1.1\nSessionQualifier=B\n\
                    DefaultApplVerID=FIX.5.0SP2\n";
    let only = "initiator,resend.mixed,number.high,garbled.sum,fixt";
    let flags =
        format!("--versions 4.2,5.0,5.0sp2 --skip initiator.no-answer --texts --only {only}");
    let report = against_initiator(dir.path(), sessions, &flags)
        .expect(0)
        .json();
    let params = &report["workload"]["params"];
    assert_eq!(params["failed"], 0, "{params}");
    assert_eq!(params["skipped"], 0, "{params}");
    assert!(params["passed"].as_u64().expect("a count") > 50, "{params}");
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_version_that_does_not_connect_is_said() {
    let dir = directory();
    let sessions = "[SESSION]\nBeginString=FIX.4.4\n";
    let flags = "--wait 15s --only initiator.logon,initiator.reset-flag";
    // Whatever was not asked for by name may be missing.
    let report = against_initiator(dir.path(), sessions, &format!("{flags} --junit out.xml"))
        .expect(0)
        .json();
    assert_eq!(report["workload"]["params"]["passed"], 2);
    let xml = std::fs::read_to_string(dir.path().join("out.xml")).expect("written");
    assert!(xml.contains("<skipped") && !xml.contains("<error"), "{xml}");
    let flags = format!("{flags} --versions 4.2,4.4");
    let report = against_initiator(dir.path(), sessions, &flags)
        .expect(4)
        .json();
    let rows = serde_json::json!([
        ["initiator.logon", "no connection", "passed"],
        ["initiator.reset-flag", "skipped", "passed"],
    ]);
    assert_eq!(report["tables"][0]["rows"], rows);
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn the_version_that_came_is_said() {
    let dir = directory();
    let sessions = "[SESSION]\nBeginString=FIX.4.4\n";
    let flags = "--wait 12s --only initiator.logon --versions 4.2";
    let ended = against_initiator(dir.path(), sessions, flags).expect(1);
    let said = "the engine logged on with 4.4, which --versions leaves out";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}
