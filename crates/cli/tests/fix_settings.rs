//! `perfkit fix settings`, and the exchange of stores with QuickFIX.

use crate::common::acceptor::{Acceptor, run_until_said};
use crate::common::signals::until;
use crate::common::{Run, directory, file, fix, run, words};

const SETTINGS: &[u8] = b"# one\n[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=5001\nNonStopSession=Y\n\
    SenderCompID=A\nFileStorePath=store\nProxyPassword=s3cret\n[SESSION]\nBeginString=FIX.4.4\nTargetCompID=B\n\
    Colour=red\n[SESSION]\nBeginString=FIX.4.2\nTargetCompID=C\nSenderCompID=D\n";

fn text(run: &Run) -> String {
    String::from_utf8(run.stdout.clone()).expect("text")
}

#[test]
fn each_line_says_what_it_does_and_whom_it_concerns() {
    let dir = directory();
    file(dir.path(), "fix.cfg", SETTINGS);
    let checked = run(dir.path(), words("fix settings check fix.cfg")).expect(0);
    let text = text(&checked);
    let wanted = "    2 [DEFAULT]\n    3 ConnectionType=acceptor\n        2 sessions: who connects: acceptor waits";
    assert!(text.starts_with(wanted), "{text}");
    for part in [
        "    6 SenderCompID=A\n        1 session: name of this side",
        "    8 ProxyPassword=…\n        no session: password for the proxy\n",
        "    9 [SESSION] FIX.4.4:A->B\n        acceptor, always open; its store is store/FIX.4.4-A-B\n",
        "   12 Colour=red\n        warning: Colour is not known and has no effect\n",
        "\ndefaults\n",
        "      ResetOnLogon=N\n        2 sessions, off: numbers begin at 1 with each Logon\n",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    assert!(!text.contains("s3cret"));
    assert_eq!(checked.stderr, "2 sessions, 0 errors, 2 warnings\n");
}

#[test]
fn quiet_says_only_what_is_wrong_and_the_exit_code_is_1_for_errors() {
    let dir = directory();
    file(dir.path(), "fix.cfg", SETTINGS);
    let quiet = run(dir.path(), words("fix settings check -q fix.cfg")).expect(0);
    assert_eq!(
        text(&quiet),
        "fix.cfg:8: warning: ProxyPassword has no effect: it is a key of initiators\n\
         fix.cfg:12: warning: Colour is not known and has no effect\n"
    );
    let wrong =
        "[DEFAULT]\nConnectionType=acceptor\nMaxLatency=soon\nstray\n[SESSION]\nJdbcURL=x\n";
    file(dir.path(), "wrong.cfg", wrong.as_bytes());
    let wrong = run(dir.path(), words("fix settings check -qq wrong.cfg")).expect(1);
    let lines: Vec<_> = text(&wrong).lines().map(str::to_owned).collect();
    let starts = [
        "wrong.cfg:3: error: MaxLatency=soon: expected a whole number of seconds, 1 or more",
        "wrong.cfg:4: error: 'stray': expected [DEFAULT], [SESSION], key=value or # comment",
        "wrong.cfg:5: error: BeginString is missing: expected FIX.4.0 to FIX.4.4, or FIXT.1.1",
    ];
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert!(
        lines
            .last()
            .expect("a line")
            .starts_with("wrong.cfg:6: error: JdbcURL cannot be served: ")
    );
    assert_eq!(wrong.stderr, "");
    let report = run(
        dir.path(),
        words("fix settings check --report json wrong.cfg"),
    )
    .expect(1);
    let tables = &report.json()["tables"];
    assert_eq!(tables[0]["records"][0]["errors"], lines.len());
    let problems = tables[1]["records"].as_array().expect("rows");
    assert_eq!(problems.len(), lines.len());
    let place = ["file", "line", "kind"].map(|key| problems[1][key].clone());
    assert_eq!(
        place,
        [
            "wrong.cfg".into(),
            4.into(),
            serde_json::Value::from("error")
        ]
    );
    run(dir.path(), words("fix settings check gone.cfg")).expect(1);
}

#[test]
fn the_page_has_the_tables_that_the_command_prints() {
    let dir = directory();
    let printed = run(dir.path(), words("fix settings keys")).expect(0);
    let page = std::fs::read_to_string("../../docs/fix-settings.md").expect("the page");
    let keys = text(&printed);
    assert!(
        page.ends_with(keys.as_str()),
        "put the output of `perfkit fix settings keys` at the end of docs/fix-settings.md"
    );
}

#[test]
fn the_screen_shows_what_the_settings_ask_for() {
    let dir = directory();
    let common = "StartTime=00:00:00\nEndTime=00:00:00\n[SESSION]\nBeginString=FIX.4.4\n";
    let acceptor = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
         ScreenLogShowIncoming=Y\nScreenLogShowEvents=Y\nSenderCompID=A\nTargetCompID=B\n{common}"
    );
    let acceptor = Acceptor::start(dir.path(), &acceptor, "");
    let initiator = format!(
        "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\n\
         HeartBtInt=30\nSenderCompID=B\nTargetCompID=A\nScreenLogShowOutgoing=Y\nScreenLogShowEvents=N\n{common}",
        acceptor.port
    );
    file(dir.path(), "i.cfg", initiator.as_bytes());
    let wanted = "FIX.4.4:B->A outgoing: 8=FIX.4.4|9=";
    let line = "fix initiator --settings i.cfg";
    let initiator = run_until_said(dir.path(), line, wanted);
    assert!(!initiator.stderr.contains("incoming"), "{initiator:?}");
    let wanted = "FIX.4.4:A->B incoming: 8=FIX.4.4|9=";
    until(wanted, || acceptor.said().contains(wanted));
    acceptor.terminate();
    let (code, said) = acceptor.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("outgoing"), "{said}");
    assert!(said.contains("FIX.4.4:A->B: "), "{said}");
}

#[test]
fn stores_go_to_quickfix_and_come_back() {
    let dir = directory();
    let options = fixcore::store::Options::default();
    let mut store =
        fixcore::store::Store::open(dir.path().join("store"), options).expect("a store");
    for number in 1..=3 {
        store
            .append(number, &fix::order(number as u32, "one", 1))
            .expect("room");
    }
    drop(store);
    for format in ["quickfix", "quickfix-1.15", "quickfixj"] {
        let line = format!("fix store export --format {format} store {format}-s");
        let exported = run(dir.path(), words(&line)).expect(0);
        assert!(
            exported.stderr.contains("3 messages"),
            "{}",
            exported.stderr
        );
        let line = format!("fix store import {format}-s.body {format}-back");
        let imported = run(dir.path(), words(&line)).expect(0);
        let wanted = format!("3 messages of {format} from ");
        assert!(imported.stderr.contains(&wanted), "{}", imported.stderr);
        let dump = |dir_name: &str| {
            let line = format!("fix store dump --raw {dir_name}");
            run(dir.path(), words(&line)).expect(0).stdout
        };
        assert_eq!(dump("store"), dump(&format!("{format}-back")));
        let again = run(dir.path(), words(&line)).expect(1);
        assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    }
    file(dir.path(), "quickfix-s.header", b"1,0,99999 ");
    let damaged = run(dir.path(), words("fix store import quickfix-s new")).expect(1);
    let wanted = "perfkit: 'quickfix-s.header' is damaged at byte 0: message 1 is stated at byte 0";
    assert!(damaged.stderr.starts_with(wanted), "{}", damaged.stderr);
    assert!(!dir.path().join("new").exists());
}
