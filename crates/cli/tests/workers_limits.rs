//! Streams of NATS that remove blocks: whatever was removed before a worker had it is told, counted, and exit 3.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::broker::{Broker, stream};
use crate::common::signals::{send, until};
use crate::peer;
use crate::worker_case::{Case, Telling, count, finish};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            blocks_that_a_full_stream_removes_are_told,
            blocks_that_are_too_old_are_told,
            blocks_that_are_removed_before_a_worker_that_goes_on_are_told,
            a_block_that_is_removed_from_the_middle_is_told,
            answers_outlive_their_blocks,
            messages_that_are_too_long_for_a_stream_are_told_how_long_they_may_be,
            a_feeder_goes_on_after_its_blocks_are_removed,
            a_file_whose_blocks_were_removed_is_not_silently_known,
        ],
    ]
}

fn join(broker: &Broker, more: &str) -> String {
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    format!("betree join --events {blocks} --from {from} {more}")
}

fn feed(case: &Case, broker: &Broker) -> String {
    let to = broker.url("IN");
    let run = case.run(&format!(
        "betree feed --create --block 1 --to {to} ad/events"
    ));
    run.expect(0).stderr
}

/// The last lines of what matching without a server writes.
fn last_lines(case: &Case, count: usize) -> String {
    let plain = String::from_utf8(case.plain.clone()).expect("text");
    let lines: Vec<&str> = plain.lines().collect();
    format!("{}\n", lines[lines.len() - count..].join("\n"))
}

fn blocks_that_a_full_stream_removes_are_told() {
    let (broker, case) = (Broker::start(), Case::new(200));
    broker.create("IN", &stream("IN", "IN.>", ",\"max_msgs\":10"));
    let said = feed(&case, &broker);
    assert!(
        said.contains(
            "warning: the stream IN removes its oldest blocks when it is full (max_msgs 10, discard old), answered or not"
        ) && said.contains("`nats stream edit IN --discard new`"),
        "{said}"
    );
    let worker = Case::worker(&broker, "--until-done");
    let (params, said) = finish(case.spawn(&worker), 3);
    assert_eq!(
        ["blocks_lost", "answers_stored"].map(|name| count(&params, name)),
        [190, 10]
    );
    assert!(
        said.contains(
            "perfkit: lost: blocks 1 to 190 of IN, removed from the stream before being read"
        ),
        "{said}"
    );
    // Others of the consumer have nothing more to tell.
    let (params, _) = finish(case.spawn(&worker), 0);
    assert_eq!(count(&params, "blocks_lost"), 0);
    let joined = case.run(&join(&broker, "")).expect(3);
    assert!(
        joined
            .stderr
            .contains("lost: blocks 1 to 190 of IN, removed from the stream and without an answer")
            && joined.stderr.contains("--allow-removed"),
        "{}",
        joined.stderr
    );
    assert_eq!(joined.text(), last_lines(&case, 10));
    let joined = case.run(&join(&broker, "--allow-removed")).expect(0);
    assert!(
        joined.stderr.contains("190 blocks lost"),
        "{}",
        joined.stderr
    );
    assert_eq!(joined.text(), last_lines(&case, 10));
}

fn blocks_that_are_too_old_are_told() {
    let (broker, case) = (Broker::start(), Case::new(20));
    // A window is no longer than messages are kept.
    let settings = stream("IN", "IN.>", "").replace(
        "\"duplicate_window\":120000000000",
        "\"max_age\":1000000000,\"duplicate_window\":1000000000",
    );
    broker.create("IN", &settings);
    let said = feed(&case, &broker);
    assert!(
        said.contains("removes blocks after 1s (max_age), answered or not"),
        "{said}"
    );
    until("all blocks are too old", || broker.messages("IN") == 0);
    let (params, said) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    assert_eq!(count(&params, "blocks_lost"), 20);
    assert!(said.contains("blocks 1 to 20 of IN"), "{said}");
    let joined = case.run(&join(&broker, "")).expect(3);
    assert!(
        joined.stderr.contains("blocks 1 to 20 of IN"),
        "{}",
        joined.stderr
    );
}

fn blocks_that_are_removed_before_a_worker_that_goes_on_are_told() {
    let (broker, case) = (Broker::start(), Case::new(500));
    broker.create("IN", &stream("IN", "IN.>", ",\"max_msgs\":20"));
    let worker = Telling::start(&case, &Case::worker(&broker, "-T1 --ready-file ready"));
    until("the worker is ready", || {
        case.dir.path().join("ready").exists()
    });
    send(&worker.process, Signal::SIGSTOP);
    feed(&case, &broker);
    send(&worker.process, Signal::SIGCONT);
    worker.until_said("removed from the stream before being read");
    until("the rest is answered", || {
        broker.messages("OUT") >= 20 && broker.waiting("IN", "match") == Some(0)
    });
    let params = worker.stop(3);
    let (lost, stored) = (
        count(&params, "blocks_lost"),
        count(&params, "answers_stored"),
    );
    assert!(lost > 0 && stored >= 20, "{lost} and {stored}");
    assert_eq!(lost + stored, 500);
    let joined = case.run(&join(&broker, "--allow-removed")).expect(0);
    assert_eq!(joined.text().lines().count() as u64, stored);
}

fn a_block_that_is_removed_from_the_middle_is_told() {
    let (broker, case) = (Broker::start(), Case::new(20));
    feed(&case, &broker);
    broker.remove("IN", 5);
    let (params, said) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    assert_eq!(
        ["blocks_lost", "answers_stored"].map(|name| count(&params, name)),
        [1, 19]
    );
    assert!(said.contains("lost: block 5 of IN, removed"), "{said}");
    let joined = case.run(&join(&broker, "")).expect(3);
    assert!(
        joined.stderr.contains("lost: block 5 of IN, removed"),
        "{}",
        joined.stderr
    );
    assert_eq!(joined.text().lines().count(), 19);
}

fn answers_outlive_their_blocks() {
    let (broker, case) = (Broker::start(), Case::new(200));
    feed(&case, &broker);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    broker.purge("IN");
    let joined = case.run(&join(&broker, "")).expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
    let (params, _) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    assert_eq!(count(&params, "blocks_lost"), 0);
}

fn messages_that_are_too_long_for_a_stream_are_told_how_long_they_may_be() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let limit = ",\"max_msg_size\":2000";
    broker.create("IN", &stream("IN", "IN.>", limit));
    broker.create("OUT", &stream("OUT", "OUT.>", ",\"max_msg_size\":300"));
    // Blocks are made to fit.
    case.feed(&broker);
    assert!(broker.messages("IN") > 20, "{}", broker.messages("IN"));
    let (params, said) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    let [dead, stored] = ["dead_letters", "answers_stored"].map(|name| count(&params, name));
    assert!(dead > 0, "{said}");
    assert_eq!(dead + stored, broker.messages("IN"));
    assert!(
        said.contains("is longer than the server takes (300 bytes)")
            && said.contains("max_msg_size of the stream"),
        "{said}"
    );
}

fn a_feeder_goes_on_after_its_blocks_are_removed() {
    let (broker, case) = (Broker::start(), Case::new(20));
    broker.create("IN", &stream("IN", "IN.>", ""));
    let lines = case.lines();
    let to = broker.url("IN");
    let mut command = case.command(&format!("betree feed --block 1 --to {to} -"));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut feeder = command.stderr(Stdio::null()).spawn().expect("perfkit runs");
    let mut pipe = feeder.stdin.take().expect("a pipe");
    for part in lines.chunks(5) {
        let text = format!("{}\n", part.join("\n"));
        pipe.write_all(text.as_bytes()).expect("written");
        broker.until_messages("IN", 5);
        // As a limit does after a quiet time.
        broker.purge("IN");
    }
    drop(pipe);
    until("it ends", || {
        feeder.try_wait().expect("a process").is_some()
    });
    assert_eq!(feeder.wait().expect("it has ended").code(), Some(0));
}

fn a_file_whose_blocks_were_removed_is_not_silently_known() {
    let (broker, case) = (Broker::start(), Case::new(20));
    feed(&case, &broker);
    broker.purge("IN");
    let to = broker.url("IN");
    let line = format!("betree feed --block 1 --to {to} ad/events");
    let refused = case.run(&line).expect(1).stderr;
    assert!(
        refused.contains("had the block of ")
            && refused.contains(" at byte 0, has removed it since")
            && refused.contains("--source"),
        "{refused}"
    );
    assert_eq!(broker.messages("IN"), 0);
    let again = case.run(&format!("{line} --source again")).expect(0).stderr;
    for said in [
        "'ad/events' is fed from its start, all ",
        " bytes: IN has removed its first 20 blocks, and has none of it",
        "its events are then answered again",
    ] {
        assert!(again.contains(said), "{again}");
    }
    assert_eq!(broker.messages("IN"), 20);
    // What the stream still has is known.
    let known = case.run(&format!("{line} --source again")).expect(0).stderr;
    assert!(!known.contains("is fed from its start"), "{known}");
}
