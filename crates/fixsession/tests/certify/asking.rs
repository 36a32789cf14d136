//! Engines that ask for what is missing on their own, before or after they answer a ResendRequest: FIX allows both.

use std::time::Duration;

use fixcore::dict::Version;
use fixcore::{Timestamp, frame};
use fixsession::Now;
use fixsession::certify::{Connection, Counterparty, Request, Run, Verdict, scenarios};
use libtest_mimic::{Failed, Trial};

/// 2026-01-05 10:00:00 UTC.
const UTC: Timestamp = Timestamp(1_767_607_200_000_000_000);

/// Lines of scripts: what an engine answers to a message of this MsgType, with `|` for SOH, `;` between messages.
const LOGON: (&str, &str) = ("A", "35=A|34=1|98=0|108=30|");
const ALIVE: (&str, &str) = ("1", "35=0|34=3|112=ALIVE1|");

pub(crate) fn trials() -> Vec<Trial> {
    let before = "35=2|34=2|7=2|16=0|;35=4|34=1|43=Y|123=Y|36=3|";
    let after = "35=4|34=1|43=Y|123=Y|36=2|;35=2|34=2|7=2|16=0|";
    let closed = "35=4|34=1|43=Y|123=Y|36=2|;35=2|34=2|7=2|16=4|";
    let wrong = "35=4|34=1|43=Y|123=Y|36=2|;35=2|34=2|7=1|16=0|";
    let never = "35=4|34=1|43=Y|123=Y|36=2|";
    let mut trials = Vec::new();
    for (name, answer, is_right) in [
        ("before", before, true),
        ("after", after, true),
        ("after_with_an_end", closed, true),
        ("for_what_it_has", wrong, false),
    ] {
        trials.push(Trial::test(format!("asks_{name}"), move || {
            let end = [LOGON, ("2", answer), ALIVE, ("5", "35=5|34=4|")];
            check("resend.request-high", &end, is_right)
        }));
        trials.push(Trial::test(format!("asks_{name}_and_counts"), move || {
            let end = [
                LOGON,
                ("2", answer),
                ("1", ""),
                ("4", "35=0|34=3|112=FOUR|"),
                ("1", "35=0|34=4|112=ALIVE1|"),
                ("5", "35=5|34=5|"),
            ];
            check("resend.request-high-counts", &end, is_right)
        }));
    }
    trials.push(Trial::test("asks_never", move || {
        let end = [
            LOGON,
            ("2", never),
            ("1", "35=0|34=2|112=FOUR|"),
            ("4", ""),
            ("1", "35=0|34=3|112=ALIVE1|"),
            ("5", "35=5|34=4|"),
        ];
        check("resend.request-high-counts", &end, false)
    }));
    for (name, answer, is_right) in [
        ("no", "35=3|34=4|45=4|373=5|371=16|", true),
        ("a_wrong", "35=3|34=4|45=4|371=16|372=D|373=5|", false),
    ] {
        trials.push(Trial::test(
            format!("{name}_ref_msg_type_in_a_reject"),
            move || {
                let end = [
                    LOGON,
                    ("1", "35=0|34=2|112=ALIVE1|"),
                    ("1", "35=0|34=3|112=ALIVE2|"),
                    ("2", answer),
                    ("1", "35=0|34=5|112=ALIVE3|"),
                    ("5", "35=5|34=6|"),
                ];
                check("resend.end-before-begin", &end, is_right)
            },
        ));
    }
    trials
}

/// Plays a scenario against a script, each line of which answers one message.
fn check(name: &str, script: &[(&str, &str)], is_right: bool) -> Result<(), Failed> {
    let scenario = scenarios().iter().find(|scenario| scenario.name() == name);
    let mut us = Counterparty::new("CERTIFY", "ENGINE");
    us.timeout = Duration::from_secs(1);
    let mut run = Run::new(scenario.unwrap(), Version::Fix44, &us);
    let mut now = Now {
        monotonic: Duration::ZERO,
        utc: UTC,
    };
    let mut lines = script.iter().peekable();
    loop {
        match run.next(now) {
            Request::Connect(connection) => run.connected(connection, now),
            Request::Send(connection, bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let asks = |line: &&&(&str, &str)| text.contains(&format!("\x0135={}\x01", line.0));
                if lines.peek().filter(asks).is_none() {
                    continue;
                }
                let (msg_type, answers) = lines.next().unwrap();
                for answer in answers.split(';').filter(|answer| !answer.is_empty()) {
                    run.received(connection, &message(answer), now);
                }
                if *msg_type == "5" {
                    run.ended(connection, now);
                }
            }
            Request::Wait(until) => now.monotonic = until,
            Request::Close(Connection::A | Connection::B) => {}
            _ => break,
        }
    }
    let finished = run.finish();
    match (finished.verdict == Verdict::Passed) == is_right {
        true => Ok(()),
        false => Err(Failed::from(format!("{finished:?}"))),
    }
}

/// A message of the engine: header fields, length and sum are added.
fn message(fields: &str) -> Vec<u8> {
    let (msg_type, rest) = fields.split_once('|').unwrap();
    let time = "20260105-10:00:00.000";
    let mut body = format!("{msg_type}|49=ENGINE|56=CERTIFY|52={time}|{rest}");
    if rest.contains("43=Y") {
        body.push_str("122=20260105-10:00:00.000|");
    }
    let text = format!("8=FIX.4.4|9={}|{body}", body.len()).replace('|', "\x01");
    let mut bytes = text.into_bytes();
    let sum = frame::checksum_field(frame::checksum(&bytes));
    bytes.extend_from_slice(&sum);
    bytes
}
