//! What is seen of a worker, a feeder and `join` on NATS while they go on: metrics, health, and the lines of `--live`.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use libtest_mimic::Trial;

use crate::broker::{Broker, stream};
use crate::common::signals::until;
use crate::peer;
use crate::worker_case::{Case, Telling};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            a_worker_serves_metrics,
            feed_and_join_serve_metrics,
            a_worker_writes_a_line_now_and_then,
            metrics_that_others_can_read_are_asked_for,
        ],
    ]
}

/// What the server of a process answers, once it says where it is.
fn get(process: &Telling, path: &str) -> Option<String> {
    let said = process.said();
    let at = said.split("metrics at http://").nth(1)?;
    let at = at.split("/metrics").next()?.to_owned();
    let mut stream = TcpStream::connect(at).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

fn until_has(process: &Telling, line: &str) {
    until(line, || {
        get(process, "/metrics").is_some_and(|text| text.lines().any(|found| found == line))
    });
}

fn is_well(process: &Telling) -> bool {
    get(process, "/healthz").is_some_and(|text| text.starts_with("HTTP/1.1 200 "))
}

fn a_worker_serves_metrics() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let worker = Telling::start(&case, &Case::worker(&broker, "--metrics 0"));
    worker.until_said("has no stream IN; it is waited for");
    let waits = get(&worker, "/healthz").expect("an answer");
    assert!(waits.starts_with("HTTP/1.1 503 "), "{waits}");
    case.feed(&broker);
    until("it is well", || is_well(&worker));
    until_has(&worker, "perfkit_worker_events_total 200");
    let blocks = broker.messages("IN");
    until_has(&worker, &format!("perfkit_worker_answers_total {blocks}"));
    until_has(&worker, "perfkit_worker_blocks_in_flight 0");
    worker.stop(0);
}

fn feed_and_join_serve_metrics() {
    let (broker, case) = (Broker::start(), Case::new(100));
    // Room for two blocks: the feeder waits with the third one.
    let limits = ",\"max_msgs\":2,\"discard\":\"new\"";
    broker.create("IN", &stream("IN", "IN.>", limits));
    let to = broker.url("IN");
    let feed = format!("betree feed --block 1 --to {to} ad/events --metrics 0");
    let feeder = Telling::start(&case, &feed);
    until_has(&feeder, "perfkit_feeder_blocks_total 2");
    assert!(is_well(&feeder));
    drop(feeder);
    broker.create("OUT", &stream("OUT", "OUT.>", ""));
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let line = format!("betree join --events {blocks} --from {from} --metrics 0");
    let join = Telling::start(&case, &line);
    until_has(&join, "perfkit_join_next_block 1");
    until_has(&join, "perfkit_join_last_block 2");
    assert!(is_well(&join));
}

fn a_worker_writes_a_line_now_and_then() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    let worker = Telling::start(&case, &Case::worker(&broker, "--live"));
    worker.until_said(&format!("{blocks} blocks answered, 0 in hand"));
    worker.stop(0);
}

fn metrics_that_others_can_read_are_asked_for() {
    let (broker, case) = (Broker::start(), Case::new(1));
    let worker = Case::worker(&broker, "--metrics 0.0.0.0:0");
    let said = case.run(&worker).expect(2).stderr;
    assert!(said.contains("--metrics-remote"), "{said}");
}
