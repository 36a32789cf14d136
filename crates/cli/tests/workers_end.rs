//! How workers on NATS end where what they work on goes away, and what is said of answers that were there before.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::broker::{Broker, Proxy, stream};
use crate::common::signals::{send, until};
use crate::peer;
use crate::worker_case::{Case, Telling, count, events, finish, report, taken_over_by};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            a_worker_whose_stream_is_gone_ends,
            a_worker_that_is_to_finish_all_says_that_it_has_not,
            answers_that_contradict_each_other_are_found_wherever_they_are,
            a_worker_does_not_wait_for_a_server_that_is_away_when_it_is_to_end,
            a_worker_that_was_taken_over_from_ends,
            join_gives_up_reading_what_is_left,
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
    let line = |more: &str| Case::worker(&broker, more).replace("--ack-wait 2s", "--ack-wait 120s");
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
    // What the first one holds is at most what a worker has at a time, and stays.
    until("the rest is answered", || {
        let waiting = broker.waiting("IN", "match");
        std::thread::sleep(Duration::from_millis(500));
        waiting.is_some_and(|blocks| blocks <= 256) && waiting == broker.waiting("IN", "match")
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

fn a_worker_does_not_wait_for_a_server_that_is_away_when_it_is_to_end() {
    let (mut broker, case) = (Broker::start(), Case::new(8));
    case.feed_each(&broker, &case.lines());
    // Room for five answers: the other three blocks are kept, and tried again.
    broker.create(
        "OUT",
        &stream("OUT", "OUT.>", ",\"max_msgs\":5,\"discard\":\"new\""),
    );
    let worker = Telling::start(&case, &Case::worker(&broker, "--threads 4 --grace 3600s"));
    worker.until_said("the server does not do what it was asked");
    broker.until_messages("OUT", 5);
    broker.kill();
    worker.until_said("the connection is lost");
    send(&worker.process, Signal::SIGTERM);
    let said = worker.ended(3);
    let left = "3 blocks were not acknowledged, as the server is away; others get them";
    assert!(said.contains(left), "{said}");
    let params = report(&said)["workload"]["params"].clone();
    assert_eq!(count(&params, "blocks_left"), 3);
    assert_eq!(count(&params, "answers_stored"), 5);
    // With nothing in hand there is nothing to say.
    broker.restart();
    broker.update("OUT", &stream("OUT", "OUT.>", ""));
    let idle = Telling::start(&case, &Case::worker(&broker, "--grace 3600s"));
    until("all is answered", || {
        broker.waiting("IN", "match") == Some(0)
    });
    broker.kill();
    idle.until_said("the connection is lost");
    send(&idle.process, Signal::SIGTERM);
    idle.ended(0);
}

fn a_worker_that_was_taken_over_from_ends() {
    let (broker, case) = (Broker::start(), Case::new(40));
    case.feed(&broker);
    let old = Telling::start(&case, &Case::worker(&broker, ""));
    broker.until_messages("OUT", broker.messages("IN"));
    // One like it takes nothing over.
    finish(
        case.spawn(&Case::worker(&broker, "--take-over --until-done")),
        0,
    );
    let new = case.spawn(&Case::worker(
        &broker,
        "--take-over --format ids --until-done",
    ));
    let id = new.id();
    finish(new, 0);
    let said = old.ended(1);
    let lost = taken_over_by(id);
    assert!(
        said.contains(&lost) && said.contains("this one has --format json"),
        "{said}"
    );
    assert!(report(&said)["exit_code"] == 1, "{said}");
}

fn join_gives_up_reading_what_is_left() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    // More answers behind those that are joined than fit through the proxy.
    let more = vec![b'x'; 512 << 10];
    for _ in 0..16 {
        broker.publish("OUT.more", &more);
    }
    let proxy = Proxy::start(&broker, 2 << 20);
    let (blocks, from) = (proxy.url("IN"), proxy.url("OUT"));
    let line = format!("betree join --events {blocks} --from {from}");
    let ended = case.run(&format!("{line} --timeout 2s")).expect(1);
    assert!(ended.stdout == case.plain, "{}", ended.stderr);
    let said = "all blocks of IN are joined, but not all answers are read that OUT had at the start, and none has come for 2s";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}
