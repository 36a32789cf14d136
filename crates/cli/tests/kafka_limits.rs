//! Topics of Kafka that remove blocks: whatever was removed before a worker had it is told, counted, and exit 3.
//!
//! Without `java` and the archives in `PERFKIT_KAFKA` these tests report `ignored`.

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::common::signals::{send, until};
use crate::kafka_server::{Server, is_here};
use crate::peer;
use crate::worker_case::{Case, Telling, Urls as _, count, finish};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = is_here();
    peer::trials![
        has_server => [
            blocks_that_a_topic_removes_are_told,
            blocks_that_are_removed_before_a_worker_that_goes_on_are_told,
        ],
    ]
}

fn blocks_that_a_topic_removes_are_told() {
    let (server, case) = (Server::start(), Case::new(200));
    let lines = case.lines();
    case.feed_each(&server, &lines);
    server.remove_before("IN", 5);
    let kept = server.answered("IN").len();
    assert!(0 < kept && kept < 200, "{kept}");
    let worker = Case::worker(&server, "--until-done");
    let (params, said) = finish(case.spawn(&worker), 3);
    assert_eq!(count(&params, "answers_stored"), kept as u64);
    assert_eq!(count(&params, "blocks_lost"), 8 * 5);
    assert!(
        said.contains("perfkit: lost: blocks 0 to 4 of IN/"),
        "{said}"
    );
    let (blocks, from) = (server.url("IN"), server.url("OUT"));
    let join = format!("betree join --events {blocks} --from {from}");
    let joined = case.run(&join).expect(3);
    assert!(
        joined.stderr.contains("left out: blocks 0 to 4 of IN/0, "),
        "{}",
        joined.stderr
    );
    let joined = case.run(&format!("{join} --allow-removed")).expect(0);
    assert_eq!(joined.text().lines().count(), kept);
    // What is done may go, ends of transactions included, and workers that come have nothing to tell.
    server.remove_before("IN", i64::from(i32::MAX));
    let (params, _) = finish(case.spawn(&worker), 0);
    assert_eq!(count(&params, "blocks_lost"), 0);
    // Topics with limits say so.
    server.create(&["short,retention.ms=3600000,retention.bytes=1000000"]);
    for (topic, limits) in [("short", true), ("IN", false)] {
        let to = server.url(topic);
        let said = case
            .run(&format!("betree feed --to {to} ad/events"))
            .expect(0);
        for limit in [
            "after 3600s (retention.ms)",
            "1000000 bytes (retention.bytes)",
        ] {
            assert_eq!(said.stderr.contains(limit), limits, "{}", said.stderr);
        }
    }
}

fn blocks_that_are_removed_before_a_worker_that_goes_on_are_told() {
    let (server, case) = (Server::start(), Case::new(200));
    let to = server.url("IN");
    case.run(&format!("betree feed --create --to {to} /dev/null"))
        .expect(0);
    let worker = Telling::start(&case, &Case::worker(&server, "--ready-file ready"));
    until("the worker is ready", || {
        case.dir.path().join("ready").exists()
    });
    send(&worker.process, Signal::SIGSTOP);
    let lines = case.lines();
    case.feed_each(&server, &lines);
    server.remove_before("IN", 5);
    send(&worker.process, Signal::SIGCONT);
    worker.until_said("removed from the stream before being read");
    until("the rest is answered", || {
        server.answered("OUT").len() + 40 == 200
    });
    let params = worker.stop(3);
    assert_eq!(
        ["blocks_lost", "answers_stored"].map(|name| count(&params, name)),
        [40, 160]
    );
}
