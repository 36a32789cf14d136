//! How workers, feeders and `join` begin on NATS: before their server or streams are there, without permission, with files
//! that were fed before, what they keep to themselves with `-q`, and how many blocks a worker asks for.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::process::Command;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::broker::{Broker, stream, tls};
use crate::common::file;
use crate::common::signals::send;
use crate::peer;
use crate::worker_case::{Case, Telling, count, finish};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            a_worker_waits_for_the_server_and_the_stream,
            all_wait_for_a_server_for_so_long,
            a_feeder_waits_for_the_server,
            what_does_not_get_better_is_not_waited_for,
            join_waits_for_its_streams,
            what_is_not_permitted_is_told,
            a_server_without_tls_is_told_apart,
            blank_lines_are_no_events,
            a_file_that_was_fed_says_so,
            quiet_means_no_warnings,
            a_worker_has_many_blocks_that_are_soon_done,
        ],
    ]
}

fn a_worker_waits_for_the_server_and_the_stream() {
    let (mut broker, case) = (Broker::start(), Case::new(200));
    broker.kill();
    let worker = Telling::start(&case, &Case::worker(&broker, ""));
    worker.until_said("it is waited for (see that the server runs");
    broker.restart();
    worker.until_said("has no stream IN; it is waited for");
    case.feed(&broker);
    broker.until_messages("OUT", broker.messages("IN"));
    worker.stop(0);
    case.assert_joined(&broker);
    // One that is asked to stop while it waits does so.
    broker.kill();
    let worker = Telling::start(&case, &Case::worker(&broker, ""));
    worker.until_said("it is waited for");
    send(&worker.process, Signal::SIGTERM);
    let said = worker.ended(130);
    assert!(said.contains("stopped while waiting"), "{said}");
}

/// The command lines of all that need a server, with these flags.
fn lines(broker: &Broker, more: &str) -> Vec<String> {
    let [events, answers, bucket] = ["IN", "OUT", "B"].map(|stream| broker.url(stream));
    let server = broker.url("x").replace("/x", "");
    vec![
        format!("betree feed --create --to {events} ad/events {more}"),
        format!("betree match --from {events} --to {answers} --snapshot s.snap --create {more}"),
        format!("betree match --from {events} --to {answers} --snapshot {bucket} {more}"),
        format!("betree join --events {events} --from {answers} {more}"),
        format!("betree roll-out --create --to {bucket} s.snap {more}"),
        format!("stress --join {server} {more}"),
        format!("stress --lead {server} --agents 1 --rate 100 --codec lz4 {more}"),
    ]
}

fn all_wait_for_a_server_for_so_long() {
    let (mut broker, case) = (Broker::start(), Case::new(10));
    broker.kill();
    for line in lines(&broker, "--wait 1s") {
        let said = case.run(&line).expect(1).stderr;
        for part in [
            "; it is waited for (see that the server runs",
            "; it was waited for 1s",
            "--wait waits longer",
        ] {
            assert!(said.contains(part), "{line}: {said}");
        }
    }
}

fn a_feeder_waits_for_the_server() {
    let (mut broker, case) = (Broker::start(), Case::new(10));
    broker.kill();
    let feed = format!("betree feed --create --to {} ad/events", broker.url("IN"));
    let feeder = Telling::start(&case, &feed);
    feeder.until_said("it is waited for");
    broker.restart();
    feeder.ended(0);
    assert_eq!(broker.messages("IN"), 1);
}

/// Longer than any test: what ends does not wait.
const LONG: &str = "--wait 10h";

fn what_does_not_get_better_is_not_waited_for() {
    let case = Case::new(10);
    file(case.dir.path(), "wrong", b"s3cret-not\n");
    let broker = Broker::start_with("authorization { user: feeder, password: \"s3cret\" }");
    let stated = [
        (String::new(), "it was shown no credentials"),
        (
            "--user feeder --password-file wrong".to_owned(),
            "it was shown the user 'feeder' with a password",
        ),
    ];
    for (who, shown) in stated {
        for line in lines(&broker, &format!("{LONG} {who}")) {
            let said = case.run(&line).expect(1).stderr;
            let is_told = said.contains("cannot connect to ")
                && said.contains("authorization violation")
                && said.contains(shown);
            assert!(is_told && !said.contains("s3cret"), "{line}: {said}");
        }
    }
    let (configuration, _) = tls(case.dir.path());
    let broker = Broker::start_with(&configuration);
    for line in lines(&broker, LONG) {
        let said = case
            .run(&line.replace("nats://", "tls://"))
            .expect(1)
            .stderr;
        let is_told = said.contains("cannot connect to ")
            && said.contains("invalid peer certificate")
            && said.contains("trusted are the authorities of this system")
            && said.contains("--tls-ca");
        assert!(is_told, "{line}: {said}");
    }
}

fn join_waits_for_its_streams() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let line = format!("betree join --events {blocks} --from {from}");
    let given_up = case.run(&format!("{line} --wait 1s")).expect(1);
    assert!(
        given_up
            .stderr
            .contains("has no stream OUT; it was waited for 1s"),
        "{}",
        given_up.stderr
    );
    let join = Telling::start(&case, &line);
    join.until_said("has no stream OUT; it is waited for");
    case.feed(&broker);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    let said = join.ended(0);
    assert!(said.contains("200 events"), "{said}");
}

fn what_is_not_permitted_is_told() {
    let broker = Broker::start_with(
        "authorization { users: [\n\
         { user: feeder, password: \"s3cret\" }\n\
         { user: blind, password: \"s3cret\", permissions: { publish: { deny: \"$JS.API.STREAM.INFO.>\" } } }\n\
         { user: idle, password: \"s3cret\", permissions: { publish: { deny: \"$JS.API.CONSUMER.MSG.NEXT.>\" } } }\n\
         { user: mute, password: \"s3cret\", permissions: { publish: { deny: \"IN.>\" } } }\n] }",
    );
    let case = Case::new(20);
    file(case.dir.path(), "password", b"s3cret\n");
    let feed = format!("betree feed --create --to {} ad/events", broker.url("IN"));
    let run = |line: &str, user: &str| {
        case.run(&format!("{line} --user {user} --password-file password"))
    };
    run(&feed, "feeder").expect(0);
    let worker = Case::worker(&broker, "--until-done");
    let again = format!("{feed} --source again");
    for (line, user, subject) in [
        (&feed, "blind", "$JS.API.STREAM.INFO.IN"),
        (&worker, "blind", "$JS.API.STREAM.INFO.IN"),
        (&again, "mute", "IN.again"),
        (&worker, "idle", "$JS.API.CONSUMER.MSG.NEXT.IN.match"),
    ] {
        let refused = run(line, user).expect(1).stderr;
        for said in [
            "Permissions Violation for Publish to",
            subject,
            "help: allow this user",
        ] {
            assert!(refused.contains(said), "{user}: {refused}");
        }
    }
}

fn a_server_without_tls_is_told_apart() {
    let (broker, case) = (Broker::start(), Case::new(10));
    let to = broker.url("IN").replace("nats://", "tls://");
    let refused = case.run(&format!("betree feed --create --to {to} ad/events"));
    let said = refused.expect(1).stderr;
    assert!(
        said.contains("the server has no TLS at this port")
            && said.contains("nats:// connects without"),
        "{said}"
    );
}

fn blank_lines_are_no_events() {
    let (broker, case) = (Broker::start(), Case::new(3));
    let lines = case.lines();
    let text = format!("\n{}\n \n\n{}\n\t\r\n{}", lines[0], lines[1], lines[2]);
    file(case.dir.path(), "blanks", text.as_bytes());
    let to = broker.url("IN");
    let run = case.run(&format!("betree feed --create --to {to} blanks"));
    let said = run.expect(0).stderr;
    assert!(said.contains("3 events"), "{said}");
}

fn a_file_that_was_fed_says_so() {
    let (broker, case) = (Broker::start(), Case::new(100));
    let to = broker.url("IN");
    let feed = format!("betree feed --create --to {to} ad/events");
    let said = case.run(&feed).expect(0).stderr;
    assert!(!said.contains("warning:"), "{said}");
    let said = case.run(&feed).expect(0).stderr;
    assert!(
        said.contains("warning: IN has all ") && said.contains("there is nothing to feed"),
        "{said}"
    );
    let mut text = std::fs::read(case.events()).expect("read");
    text.extend_from_slice(b"{}\n");
    std::fs::write(case.events(), text).expect("written");
    let said = case.run(&feed).expect(0).stderr;
    assert!(said.contains("it is fed from there on, line 101"), "{said}");
}

fn quiet_means_no_warnings() {
    let (broker, case) = (Broker::start(), Case::new(50));
    let mut lines = case.lines();
    "{\"no\": event".clone_into(&mut lines[9]);
    broker.create("IN", &stream("IN", "IN.>", ",\"max_age\":3600000000000"));
    case.feed_each(&broker, &lines);
    let to = broker.url("IN");
    let feed = format!("betree feed --to {to} ad/events");
    let worker = Case::worker(&broker, "--until-done").replace(" --report json", "");
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let join = format!("betree join --events {blocks} --from {from}");
    for (line, code) in [(&feed, 0), (&worker, 3), (&join, 3)] {
        let said = case.run(&format!("{line} -q")).expect(code).stderr;
        assert!(!said.contains("warning:"), "{line}: {said}");
    }
    // Failures are said all the same.
    let said = case
        .run(&format!("{worker} -q --consumer second"))
        .expect(3)
        .stderr;
    assert!(said.contains("block 10 of IN is a dead letter"), "{said}");
}

fn a_worker_has_many_blocks_that_are_soon_done() {
    let (broker, case) = (Broker::start(), Case::new(2000));
    case.feed_each(&broker, &case.lines());
    let worker = case.spawn(&Case::worker(&broker, "-T1 --until-done"));
    let (params, said) = finish(worker, 0);
    assert_eq!(
        ["deliveries", "answers_stored", "threads"].map(|name| count(&params, name)),
        [2000, 2000, 1],
        "{said}"
    );
    let most = count(&params, "blocks_in_flight_most");
    assert!((32..=256).contains(&most), "{most} blocks");
    case.assert_joined(&broker);
}
