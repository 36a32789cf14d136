//! Sessions with QuickFIX for C++ and QuickFIX/J, both ways round: logon, orders, heartbeats, lost lines, resends,
//! resets, logout; and ends by `kill -9`.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::common::{directory, run, words};
use crate::peer::{
    self,
    engine::{Kind, Ours, Peer, has_cpp, has_java},
};

/// BeginString, and DefaultApplVerID of FIXT.
pub(crate) const VERSIONS: [(&str, &str); 3] =
    [("FIX.4.2", ""), ("FIX.4.4", ""), ("FIXT.1.1", "FIX.5.0SP2")];

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, kind, here) in [
        ("quickfix", Kind::Cpp, has_cpp()),
        ("quickfixj", Kind::Java, has_java()),
    ] {
        for (case, test) in [
            (
                "initiator_42",
                (|kind| initiator(kind, VERSIONS[0])) as fn(Kind),
            ),
            ("initiator_44", |kind| initiator(kind, VERSIONS[1])),
            ("initiator_50sp2", |kind| initiator(kind, VERSIONS[2])),
            ("acceptor_42", |kind| acceptor(kind, VERSIONS[0])),
            ("acceptor_44", |kind| acceptor(kind, VERSIONS[1])),
            ("acceptor_50sp2", |kind| acceptor(kind, VERSIONS[2])),
            ("reset_at_logon", reset_at_logon),
            ("next_expected", next_expected),
            ("we_are_killed_in_a_burst", we_are_killed),
            ("the_peer_is_killed_in_a_burst", peer_is_killed),
            ("store_is_taken_over_and_given_back", store_moves),
        ] {
            // QuickFIX for C++ has it from 1.16 on, which distributions do not have yet.
            if case == "next_expected" && kind == Kind::Cpp {
                continue;
            }
            let path = format!("{}::{name}_{case}", module_path!());
            trials.push(peer::trial(&path, here, move || test(kind)));
        }
    }
    trials
}

/// Settings of one session. `names` are ours and theirs, `own` the lines of this side.
pub(crate) fn settings(
    (role, port): (&str, u16),
    (begin, application): (&str, &str),
    (sender, target): (&str, &str),
    own: &str,
) -> String {
    let place = match role {
        "acceptor" => format!("SocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1"),
        _ => format!("SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nReconnectInterval=1"),
    };
    let version = match application {
        "" => String::new(),
        version => format!("DefaultApplVerID={version}\n"),
    };
    format!(
        "[DEFAULT]\nConnectionType={role}\n{place}\nStartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=20\n\
         FileStorePath=store-{sender}\nFileLogPath=log-{sender}\nSocketReuseAddress=Y\n\
         [SESSION]\nBeginString={begin}\n{version}SenderCompID={sender}\nTargetCompID={target}\n{own}\n"
    )
}

/// QuickFIX's own check of what we send is not what is tested here.
const PEER: &str = "UseDataDictionary=N";

fn ours(version: (&str, &str), own: &str) -> String {
    settings(("acceptor", 0), version, ("OURS", "PEER"), own)
}

pub(crate) fn theirs(port: u16, version: (&str, &str), own: &str) -> String {
    let own = format!("{PEER}\n{own}");
    settings(("initiator", port), version, ("PEER", "OURS"), &own)
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    listener.local_addr().expect("known").port()
}

/// The peer connects to our acceptor.
fn initiator(kind: Kind, version: (&str, &str)) {
    let dir = directory();
    let dir = dir.path();
    let acceptor = Ours::acceptor(dir, &ours(version, ""));
    let mut peer = Peer::start(kind, dir, &theirs(acceptor.port, version, ""), "initiator");
    peer.until("logon ");
    peer.tell("send 5 A");
    peer.until("app in D 6 A5");
    // A test request is answered with its text.
    peer.tell("test");
    peer.until_all(&["admin in", "|35=0|", "|112=PEER|"]);
    peer.numbers();
    // The line drops: the same numbers go on.
    peer.tell("disconnect");
    peer.until("logon ");
    peer.tell("send 2 B");
    peer.until_all(&["app in", " B2 "]);
    // It must have counted B2 before its number is set, or it counts B2 from there.
    peer.numbers();
    // They have missed what we sent: the gap is asked for, orders come again, the rest is one gap fill each.
    peer.tell("target 3");
    peer.tell("send 1 C");
    peer.until("admin out");
    peer.until_count("app in D 3 A2 Y", 1);
    peer.until_count("app in D 6 A5 Y", 1);
    peer.until_all(&["app in", " C1 "]);
    // We have missed what they sent: a gap fill of theirs closes it.
    let (sender, _) = peer.numbers();
    peer.tell(&format!("sender {}", sender + 10));
    peer.tell("send 1 E");
    peer.until("35=2");
    peer.until_all(&["app in", " E1 "]);
    let (sent, expected) = peer.numbers();
    peer.tell("logout");
    peer.until("logout ");
    let (code, said) = acceptor.stop();
    assert_eq!(code, Some(0), "{said}");
    let state = state(dir);
    // One number each for the Logouts.
    assert_eq!(state, (expected + 1, sent + 1), "{said}");
    for id in ["A1", "A5", "B1", "B2", "C1", "E1"] {
        assert!(peer.orders().contains_key(id), "{id}");
    }
}

/// Our next numbers, by the report: sent, expected.
pub(crate) fn state(dir: &Path) -> (u64, u64) {
    let report = std::fs::read(dir.join("report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == "sessions");
    let row = &table.expect("the table")["rows"][0];
    let number = |at: usize| row[at].as_u64().expect("a number");
    (number(2), number(3))
}

/// A log of orders.
fn orders(dir: &Path, (begin, _): (&str, &str), count: usize) {
    let mut log = Vec::new();
    for number in 1..=count {
        let body = format!(
            "35=D|49=X|56=Y|34={number}|52=20260105-10:00:00.000|11=L{number}|21=1|38=100|40=1|54=1|55=MSFT|60=20260105-10:00:00|"
        );
        fixcore::frame::write(
            begin.as_bytes(),
            body.replace('|', "\x01").as_bytes(),
            &mut log,
        );
    }
    std::fs::write(dir.join("orders.log"), log).expect("written");
}

/// We connect to the peer's acceptor.
fn acceptor(kind: Kind, version: (&str, &str)) {
    let dir = directory();
    let dir = dir.path();
    let port = free_port();
    let own = format!("{PEER}\n");
    let settings_of_peer = settings(("acceptor", port), version, ("PEER", "OURS"), &own);
    let mut peer = Peer::start(kind, dir, &settings_of_peer, "acceptor");
    orders(dir, version, 500);
    let us = settings(("initiator", port), version, ("OURS", "PEER"), "");
    let mut first = Ours::initiator(dir, &us, "--send orders.log --speed 0");
    peer.until("logon ");
    peer.until("logout ");
    let (code, said) = first.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(peer.orders().len(), 500);
    assert!(peer.orders().values().all(|times| *times == 1));
    let (sent, expected) = peer.numbers();
    assert_eq!(state(dir), (expected, sent), "{said}");
    // Once more: the numbers go on. The line drops in the burst.
    let paced = "--send orders.log --speed 0 --rate 400";
    let mut second = Ours::initiator(dir, &us, paced);
    peer.until("logon ");
    peer.until("app in D");
    peer.tell("disconnect");
    peer.until("logon ");
    peer.until("logout ");
    let (code, said) = second.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        peer.orders().values().all(|times| *times == 2),
        "{:?}",
        peer.orders()
    );
    let (sent, expected) = peer.numbers();
    assert_eq!(state(dir), (expected, sent), "{said}");
}

/// `ResetOnLogon=Y` of the peer: both begin at 1 again, each time.
fn reset_at_logon(kind: Kind) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let acceptor = Ours::acceptor(dir, &ours(version, ""));
    let own = "ResetOnLogon=Y";
    let mut peer = Peer::start(kind, dir, &theirs(acceptor.port, version, own), "initiator");
    for _ in 0..3 {
        peer.until("logon ");
        peer.tell("send 3 A");
        peer.until("app in D 4 A3");
        assert_eq!(peer.numbers(), (5, 5));
        peer.tell("disconnect");
    }
    peer.until("logon ");
    assert_eq!(peer.numbers(), (2, 2));
    assert_eq!(acceptor.stop().0, Some(0));
}

/// NextExpectedMsgSeqNum (789) on both sides: what was lost comes again without a ResendRequest.
fn next_expected(kind: Kind) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let keys = "SendNextExpectedMsgSeqNum=Y\nEnableNextExpectedMsgSeqNum=Y";
    let acceptor = Ours::acceptor(dir, &ours(version, "EnableNextExpectedMsgSeqNum=Y"));
    let mut peer = Peer::start(
        kind,
        dir,
        &theirs(acceptor.port, version, keys),
        "initiator",
    );
    assert!(peer.until("admin out").contains("|789=1|"));
    peer.until("logon ");
    peer.tell("send 4 A");
    peer.until("app in D 5 A4");
    peer.numbers();
    peer.tell("disconnect");
    peer.until("logout ");
    peer.tell("target 3");
    peer.until("logon ");
    peer.until_count("app in D 3 A2 Y", 1);
    peer.until_count("app in D 5 A4 Y", 1);
    peer.tell("send 1 B");
    peer.until(" B1 ");
    assert_eq!(peer.count("|35=2|"), 0, "{:#?}", peer.said);
    assert_eq!(acceptor.stop().0, Some(0));
}

const BURST: usize = 3000;

/// We are killed and started again while orders come in: each is returned once.
fn we_are_killed(kind: Kind) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let port = free_port();
    let own = |port| settings(("acceptor", port), version, ("OURS", "PEER"), "");
    let mut acceptor = Ours::acceptor(dir, &own(port));
    let mut peer = Peer::start(kind, dir, &theirs(port, version, ""), "initiator");
    peer.until("logon ");
    for round in 0..5 {
        peer.tell(&format!("send {BURST} {}-", (b'a' + round) as char));
        peer.until("app in D");
        std::thread::sleep(Duration::from_millis(20 + 30 * u64::from(round)));
        acceptor.kill();
        acceptor = Ours::acceptor(dir, &own(port));
        peer.until("logon ");
        peer.tell(&format!("send 1 end{round}-"));
        peer.until_all(&["app in", &format!(" end{round}-1 ")]);
    }
    let orders = peer.orders();
    assert_eq!(orders.len(), 5 * (BURST + 1));
    let twice = orders.iter().filter(|(_, times)| **times != 1).count();
    assert_eq!(twice, 0, "orders that did not come exactly once");
    let (sent, expected) = peer.numbers();
    let (code, said) = acceptor.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(state(dir), (expected + 1, sent + 1), "{said}");
}

/// The peer is killed and started again: both sides agree afterwards.
fn peer_is_killed(kind: Kind) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let acceptor = Ours::acceptor(dir, &ours(version, ""));
    let settings = theirs(acceptor.port, version, "");
    for round in 0..3 {
        let mut peer = Peer::start(kind, dir, &settings, "initiator");
        peer.until("logon ");
        peer.tell(&format!("send {BURST} {}-", (b'a' + round) as char));
        peer.until("app in D");
        std::thread::sleep(Duration::from_millis(50));
        peer.kill();
    }
    let mut peer = Peer::start(kind, dir, &settings, "initiator");
    peer.until("logon ");
    peer.tell("send 1 end-");
    peer.until_all(&["app in", " end-1 "]);
    let (sent, expected) = peer.numbers();
    peer.tell("logout");
    peer.until("logout ");
    let (code, said) = acceptor.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(state(dir), (expected + 1, sent + 1), "{said}");
}

/// An acceptor of the other engine ends; we go on with its store, and it goes on with ours. Its counterparty sees
/// no reset, and gets again what the other engine had sent.
fn store_moves(kind: Kind) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let port = free_port();
    let own = settings(("acceptor", port), version, ("OURS", "PEER"), "");
    let at_peer = own.replace("[SESSION]", "UseDataDictionary=N\n[SESSION]");
    let (format, endings): (_, &[&str]) = match kind {
        Kind::Cpp => ("quickfix-1.15", &["body", "header", "seqnums", "session"]),
        Kind::Java => (
            "quickfixj",
            &[
                "body",
                "header",
                "senderseqnums",
                "targetseqnums",
                "session",
            ],
        ),
    };
    let mut acceptor = Peer::start(kind, dir, &at_peer, "acceptor");
    let mut other = Peer::start(kind, dir, &theirs(port, version, ""), "initiator");
    other.until("logon ");
    acceptor.until("logon ");
    other.tell("send 5 A");
    acceptor.until(" A5 ");
    acceptor.tell("send 3 B");
    other.until(" B3 ");
    let (sent, expected) = other.numbers();
    drop(acceptor);
    let prefix = "store-OURS/FIX.4.4-OURS-PEER";
    run(dir, words(&format!("fix store import {prefix} {prefix}"))).expect(0);
    let line = format!("fix store export --format {format} {prefix} back");
    run(dir, words(&line)).expect(0);
    for ending in endings {
        let read = |name: &str| std::fs::read(dir.join(format!("{name}.{ending}"))).expect("read");
        assert!(read(prefix) == read("back"), "{ending}");
    }
    // The same numbers go on with us, and the messages of the other engine are sent again.
    let ours = Ours::acceptor(dir, &own);
    other.until("logon ");
    assert_eq!(other.numbers(), (sent + 1, expected + 1));
    other.tell("target 2");
    other.tell("send 1 C");
    other.until_all(&["app in", " B1 Y"]);
    other.until_all(&["app in", " B3 Y"]);
    other.until_all(&["app in", " C1 "]);
    assert_eq!(ours.stop().0, Some(0));
    // And back.
    let line = format!("fix store export -f --format {format} {prefix} {prefix}");
    run(dir, words(&line)).expect(0);
    let mut acceptor = Peer::start(kind, dir, &at_peer, "acceptor");
    other.until("logon ");
    other.tell("send 1 E");
    acceptor.until(" E1 ");
    assert_eq!(other.orders().get("B2"), Some(&2));
}
