//! How workers on NATS end where what they work on goes away, and what is said of answers that were there before.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::broker::{Broker, stream};
use crate::common::signals::{send, until};
use crate::peer;
use crate::worker_case::{Case, count, events, finish};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            a_worker_whose_stream_is_gone_ends,
            a_worker_that_is_to_finish_all_says_that_it_has_not,
            answers_that_contradict_each_other_are_found_wherever_they_are,
        ],
    ]
}

fn a_worker_whose_stream_is_gone_ends() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    let worker = case.spawn(&Case::worker(&broker, ""));
    broker.until_messages("OUT", broker.messages("IN"));
    broker.delete("IN");
    let (_, said) = finish(worker, 1);
    assert!(
        said.contains("the consumer match of") && said.contains("is gone"),
        "{said}"
    );
}

fn a_worker_that_is_to_finish_all_says_that_it_has_not() {
    let (broker, case) = (Broker::start(), Case::new(events()));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    // Longer than the test.
    let line = |more: &str| Case::worker(&broker, more).replace("--ack-wait 2s", "--ack-wait 30s");
    let mut first = case.spawn(&line(""));
    broker.until_messages("OUT", blocks / 8);
    // What it holds is not given to others for a while.
    send(&first, Signal::SIGSTOP);
    let held = || {
        broker
            .waiting("IN", "match")
            .is_some_and(|waiting| waiting > 0)
    };
    assert!(held(), "it holds nothing");
    let second = case.spawn(&line("--until-done"));
    until("the rest is answered", || {
        broker
            .waiting("IN", "match")
            .is_some_and(|waiting| waiting < 16)
    });
    send(&second, Signal::SIGTERM);
    let (_, said) = finish(second, 130);
    assert!(held(), "{said}");
    first.kill().expect("killed");
    first.wait().expect("ended");
}

fn answers_that_contradict_each_other_are_found_wherever_they_are() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    // Workers that write something else.
    let again = Case::worker(&broker, "--until-done --format ids --consumer again");
    let (_, said) = finish(case.spawn(&again), 0);
    let stand = "blocks had answers already, which stand as they are";
    assert!(
        said.contains(stand) || said.contains("block had an answer already"),
        "{said}"
    );
    // The server forgets their ids.
    let settings = stream("OUT", "OUT.>", "");
    broker.update("OUT", &settings.replace("120000000000", "100000000"));
    std::thread::sleep(Duration::from_secs(2));
    broker.update("OUT", &settings);
    let again = Case::worker(&broker, "--until-done --format ids --consumer third");
    let (params, _) = finish(case.spawn(&again), 0);
    assert_eq!(count(&params, "answers_stored"), blocks);
    let (events, from) = (broker.url("IN"), broker.url("OUT"));
    let said = case
        .run(&format!("betree join --events {events} --from {from}"))
        .expect(1)
        .stderr;
    assert!(
        said.contains("two different answers") || said.contains("was answered again"),
        "{said}"
    );
}
