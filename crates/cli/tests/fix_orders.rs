//! `perfkit fix acceptor --app orders`, `--users`, and the exit codes of an initiator.

use std::path::Path;

use crate::common::acceptor::{Acceptor, run_until_said};
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
    let why = "Username (553) or Password (554) is wrong";
    let line = "fix initiator --settings wrong.cfg";
    let refused = run_until_said(dir, line, why).expect(3);
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
    let line = "fix initiator --settings closed.cfg --export-json report.json";
    let ended = run_until_said(dir, line, "cannot connect").expect(3);
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

#[test]
fn what_the_peer_refuses_is_shown_and_counted() {
    let dir = directory();
    let dir = dir.path();
    let settings = ACCEPTOR.replace("UseDataDictionary=N\n", "");
    let acceptor = Acceptor::start(dir, &settings, "--app orders");
    // A Side (54) that no dictionary has, and a type that the application does not take.
    let side = crate::common::fix::message(
        "35=D|49=THEM|56=US|34=2|52=20260305-14:15:16|11=a|55=X|54=?|60=20260305-14:15:16|40=1|38=5|",
    );
    let kind =
        crate::common::fix::message("35=H|49=THEM|56=US|34=3|52=20260305-14:15:16|11=a|55=X|54=1|");
    file(dir, "bad.log", &[side, kind].concat());
    file(dir, "i.cfg", initiator(acceptor.port, "").as_bytes());
    let line = "fix initiator --settings i.cfg --send bad.log --speed 0 --export-json report.json";
    let ended = run(dir, words(line)).expect(3);
    for said in [
        "the peer refused message 2 (35=D), tag 54: Value is incorrect",
        "the peer refused message 3 (35=H): Unsupported Message Type",
    ] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let report = json(dir, "report.json");
    assert_eq!(report["workload"]["params"]["refused_by_peer"], 2);
    let reason = report["tables"][0]["rows"][0][7].as_str();
    let reason = reason.unwrap_or_default();
    assert!(reason.starts_with("the peer refused message 3"), "{reason}");
}

#[test]
fn messages_go_into_the_session_of_their_version() {
    let dir = directory();
    let dir = dir.path();
    let common =
        "[DEFAULT]\nStartTime=00:00:00\nEndTime=00:00:00\nResetOnLogon=Y\nUseDataDictionary=N\n";
    let sessions = "[SESSION]\nBeginString=FIX.4.2\n[SESSION]\nBeginString=FIXT.1.1\nSessionQualifier=A\n\
                    DefaultApplVerID=FIX.5.0\n[SESSION]\nBeginString=FIXT.1.1\nSessionQualifier=B\n\
                    DefaultApplVerID=FIX.5.0SP2\n";
    let settings = format!(
        "{common}ConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\nSenderCompID=US\n\
         TargetCompID=THEM\n[SESSION]\nBeginString=FIX.4.2\n[SESSION]\nBeginString=FIXT.1.1\n\
         DefaultApplVerID=FIX.5.0\n"
    );
    let acceptor = Acceptor::start(dir, &settings, "");
    let settings = format!(
        "{common}ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=30\n\
         SenderCompID=THEM\nTargetCompID=US\nReconnectInterval=60\n{}",
        acceptor.port,
        // The acceptor has one session of FIXT.
        sessions
            .split("[SESSION]\nBeginString=FIXT.1.1\nSessionQualifier=B")
            .next()
            .unwrap_or_default()
    );
    file(dir, "i.cfg", settings.as_bytes());
    let order = |begin: &str| {
        let text = crate::common::fix::message(
            "35=D|49=THEM|56=US|34=2|52=20260305-14:15:16|11=a|55=X|54=1|60=20260305-14:15:16|40=1|38=5|",
        );
        let text = String::from_utf8(text).expect("text");
        let body = text.replace("8=FIX.4.4", &format!("8={begin}"));
        let body = &body[..body.len() - 7];
        let sum = body.bytes().fold(0_u8, |sum, byte| sum.wrapping_add(byte));
        format!("{body}10={sum:03}\x01")
    };
    let log = [order("FIXT.1.1"), order("FIXT.1.1"), order("FIX.4.2")].concat();
    file(dir, "log", log.as_bytes());
    let line = "fix initiator --settings i.cfg --send log --speed 0 --export-json report.json";
    run(dir, words(line)).expect(0);
    let report = json(dir, "report.json");
    let sent = |row: usize| report["tables"][0]["rows"][row][5].as_u64();
    // Each has a Logon and a Logout, too.
    assert_eq!((sent(0), sent(1)), (Some(3), Some(4)), "{report}");
    let foreign = [order("FIX.4.3"), order("FIX.4.2")].concat();
    file(dir, "log", foreign.as_bytes());
    let ended = run(dir, words(&format!("{line} -f"))).expect(3);
    let said = "the first is of FIX.4.3 from 'THEM' to 'US'";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_sent_is_found_before_anything_is_connected_to() {
    let dir = directory();
    let dir = dir.path();
    // Port 9 is closed: whoever connects first never ends.
    file(dir, "i.cfg", initiator(9, "").as_bytes());
    file(dir, "text", b"no message at all\n");
    for (log, said) in [("nofile", "'nofile'"), ("text", "there are no messages in")] {
        let ended = run(
            dir,
            words(&format!("fix initiator --settings i.cfg --send {log}")),
        );
        let ended = ended.expect(1);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert!(!ended.stderr.contains("connect"), "{}", ended.stderr);
    }
    file(dir, "acceptor.cfg", ACCEPTOR.as_bytes());
    for flag in ["--fill partial", "--app echo --reject-every 2"] {
        let line = format!("fix acceptor --settings acceptor.cfg --duration 10ms {flag}");
        let ended = run(dir, words(&line)).expect(2);
        assert!(
            ended.stderr.contains("has no effect with --app"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn users_log_on_in_versions_without_username() {
    for version in ["FIX.4.0", "FIX.4.1", "FIX.4.2"] {
        let dir = directory();
        let dir = dir.path();
        file(dir, "users", b"alice:secret\nguest:\n");
        let of = |text: String| {
            text.replace("FIX.4.4", version)
                .replace("UseDataDictionary=N\n", "")
        };
        let settings = of(ACCEPTOR.to_owned()).replace("ResetOnLogon=Y\n", "");
        let acceptor = Acceptor::start(dir, &settings, "--users users");
        let said = "'users': line 2: the password is empty";
        assert!(acceptor.said().contains(said), "{}", acceptor.said());
        // A Logon is answered by one, or by a Logout.
        for (password, answer, code) in [("secret", "|35=A|", 0), ("wrong", "|35=5|", 3)] {
            let more =
                format!("LogonTag=553=alice\nLogonTag1=554={password}\nScreenLogShowIncoming=Y\n");
            let settings = of(initiator(acceptor.port, &more)).replace("ResetOnLogon=Y\n", "");
            file(dir, "i.cfg", settings.as_bytes());
            let ended = run_until_said(dir, "fix initiator --settings i.cfg", answer).expect(code);
            assert_eq!(
                ended.stderr.contains("never logged on"),
                code == 3,
                "{}",
                ended.stderr
            );
        }
    }
}

#[test]
fn a_peer_that_only_closes_may_not_know_us() {
    let dir = directory();
    let dir = dir.path();
    let acceptor = Acceptor::start(dir, &ACCEPTOR.replace("THEM", "OTHER"), "");
    file(dir, "i.cfg", initiator(acceptor.port, "").as_bytes());
    let said = "closed the connection after our Logon; it may not know SenderCompID THEM";
    run_until_said(dir, "fix initiator --settings i.cfg", said).expect(3);
}
