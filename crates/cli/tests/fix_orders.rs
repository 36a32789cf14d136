//! `perfkit fix acceptor --app orders`, `--users`, and the exit codes of an initiator.

use std::path::Path;

use crate::common::acceptor::Acceptor;
use crate::common::{directory, file, run, words};

const ACCEPTOR: &str = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
                        StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=US\n\
                        TargetCompID=THEM\nResetOnLogon=Y\nUseDataDictionary=N\n";

fn initiator(port: u16, more: &str) -> String {
    format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\n\
         StartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=30\nBeginString=FIX.4.4\nSenderCompID=THEM\n\
         TargetCompID=US\nUseDataDictionary=N\nResetOnLogon=Y\nReconnectInterval=60\n{more}"
    )
}

fn json(dir: &Path, name: &str) -> serde_json::Value {
    let report = std::fs::read(dir.join(name)).expect("a report");
    serde_json::from_slice(&report).expect("JSON")
}

#[test]
fn orders_are_answered_and_users_are_checked() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "users", b"# desks\nalice:secret\n");
    let flags = "--app orders --reject-every 4 --users users --export-json report.json";
    let acceptor = Acceptor::start(dir, ACCEPTOR, flags);
    let orders: Vec<u8> = (1..=8)
        .flat_map(|number| crate::common::fix::order(number, &format!("id{number}"), number))
        .collect();
    file(dir, "orders", &orders);
    let right = "LogonTag=553=alice\nLogonTag1=554=secret\n";
    file(dir, "right.cfg", initiator(acceptor.port, right).as_bytes());
    let wrong = right.replace("secret", "Secret");
    file(
        dir,
        "wrong.cfg",
        initiator(acceptor.port, &wrong).as_bytes(),
    );
    let refused = run(
        dir,
        words("fix initiator --settings wrong.cfg --duration 2s"),
    )
    .expect(3);
    let why = "Username (553) or Password (554) is wrong";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("never logged on"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("Secret"), "{}", refused.stderr);
    let line = "fix initiator --settings right.cfg --send orders --speed 0 --export-json sent.json";
    run(dir, words(line)).expect(0);
    assert_eq!(
        json(dir, "sent.json")["workload"]["params"]["sent_of_log"],
        8
    );
    acceptor.terminate();
    let (code, said) = acceptor.ended();
    assert_eq!(code, Some(0), "{said}");
    let report = json(dir, "report.json");
    let row = &report["tables"][0]["rows"][0];
    // Logon and Logout, two reports for each of six orders, one for each of two.
    assert!(row[5].as_u64() >= Some(16), "{row}");
    let reason = row[7].as_str().unwrap_or_default();
    assert!(reason.contains("Username"), "{row}");
}

#[test]
fn an_initiator_that_never_logs_on_has_not_done_its_work() {
    let dir = directory();
    let dir = dir.path();
    // Port 9 is closed.
    file(dir, "closed.cfg", initiator(9, "").as_bytes());
    let line = "fix initiator --settings closed.cfg --duration 300ms --export-json report.json";
    let ended = run(dir, words(line)).expect(3);
    let report = json(dir, "report.json");
    assert_eq!(report["complete"], false);
    let reason = report["tables"][0]["rows"][0][7]
        .as_str()
        .unwrap_or_default();
    assert!(
        reason.starts_with("cannot connect to 127.0.0.1:9"),
        "{reason}"
    );
    assert!(
        ended.stderr.contains("never logged on: cannot connect"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_file_of_users_that_is_wrong_is_an_error_with_its_line() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "acceptor.cfg", ACCEPTOR.as_bytes());
    file(dir, "users", b"alice:secret\nbob\n");
    let line = "fix acceptor --settings acceptor.cfg --users users --duration 10ms";
    let ended = run(dir, words(line)).expect(1);
    assert!(
        ended
            .stderr
            .contains("'users': line 2: expected NAME:PASSWORD"),
        "{}",
        ended.stderr
    );
}
