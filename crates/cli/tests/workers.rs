//! Workers on a real server of NATS, on ports of this machine: whatever is killed or stands still, every event is
//! answered once, as `betree match` answers it without a server.
//!
//! Without the program `nats-server` these tests report `ignored`. `PERFKIT_WORKERS_EVENTS=1000000` and
//! `PERFKIT_WORKERS_STALL=10` run them at full size.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::broker::{Broker, Operator, stream, tls};
use crate::common::signals::{send, until, until_signals_are_handled};
use crate::common::{Run, directory, file, run, words};
use crate::peer;
use crate::worker_case::{Case, Telling, Urls, count, events, finish, report, stall};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            a_worker_is_killed_and_a_third_one_comes,
            always_survives_the_same,
            always_refuses_a_second_answer_after_any_window,
            the_server_is_killed_and_restarted,
            the_server_stands_still,
            a_feeder_that_was_killed_goes_on,
            a_feeder_sees_that_a_file_has_grown_or_changed,
            sigterm_in_a_burst_loses_no_block,
            poison_becomes_a_dead_letter,
            answers_win_over_dead_letters,
            settings_that_cannot_keep_the_promise_are_refused,
            streams_that_drop_answers_are_refused,
            streams_of_any_subjects_will_do,
            shards_are_joined,
            a_consumer_has_workers_of_one_kind,
            a_consumer_has_workers_with_the_same_expressions,
            hundreds_of_dead_letters_are_a_few_lines,
            join_says_what_it_waits_for,
            other_expressions_come_without_a_stop,
            a_file_that_is_replaced_is_followed_if_it_can_be_used,
            secrets_open_the_server_and_are_not_shown,
            credentials_of_an_operator_open_the_server,
            the_server_is_known_by_its_certificate,
        ],
    ]
}

impl Urls for Broker {
    fn url(&self, stream: &str) -> String {
        self.url(stream)
    }
}

fn assert_answered(case: &Case, broker: &Broker) {
    case.assert_joined(broker);
    assert_eq!(broker.messages("IN"), broker.messages("OUT"));
}

fn one_is_killed(once: &str) {
    let (broker, case) = (Broker::start(), Case::new(events()));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    let line = Case::worker(&broker, &format!("--once {once} --until-done"));
    let (mut first, second) = (case.spawn(&line), case.spawn(&line));
    broker.until_messages("OUT", blocks / 4);
    first.kill().expect("killed");
    first.wait().expect("ended");
    let third = case.spawn(&line);
    let (second, _) = finish(second, 0);
    let (third, _) = finish(third, 0);
    let stored = count(&second, "answers_stored") + count(&third, "answers_stored");
    assert!(stored > 0 && stored < blocks, "{stored} of {blocks}");
    assert_answered(&case, &broker);
}

fn a_worker_is_killed_and_a_third_one_comes() {
    one_is_killed("window");
}

fn always_survives_the_same() {
    one_is_killed("always");
}

/// All blocks are answered by one consumer, and once more by another, when the server has forgotten all ids.
fn always_refuses_a_second_answer_after_any_window() {
    let (broker, case) = (Broker::start(), Case::new(500));
    case.feed(&broker);
    broker.create(
        "OUT",
        "{\"name\":\"OUT\",\"subjects\":[\"OUT.>\"],\"retention\":\"limits\",\"storage\":\"file\",\"num_replicas\":1,\
         \"duplicate_window\":100000000,\"max_msgs_per_subject\":1,\"discard\":\"new\",\"discard_new_per_subject\":true}",
    );
    let blocks = broker.messages("IN");
    let line = |consumer| {
        Case::worker(
            &broker,
            &format!("--once always --until-done --consumer {consumer}"),
        )
    };
    let (first, _) = finish(case.spawn(&line("a")), 0);
    assert_eq!(
        (
            count(&first, "answers_stored"),
            count(&first, "answers_refused")
        ),
        (blocks, 0)
    );
    std::thread::sleep(Duration::from_millis(300));
    let (second, _) = finish(case.spawn(&line("b")), 0);
    assert_eq!(
        (
            count(&second, "answers_stored"),
            count(&second, "answers_refused")
        ),
        (0, blocks)
    );
    assert_answered(&case, &broker);
}

fn the_server_is_killed_and_restarted() {
    let (mut broker, case) = (Broker::start(), Case::new(events()));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    let line = Case::worker(&broker, "--until-done");
    let workers = [case.spawn(&line), case.spawn(&line)];
    broker.until_messages("OUT", blocks / 4);
    broker.kill();
    broker.restart();
    for worker in workers {
        finish(worker, 0);
    }
    assert_answered(&case, &broker);
}

fn the_server_stands_still() {
    let (broker, case) = (Broker::start(), Case::new(events()));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    let line = Case::worker(&broker, "--until-done");
    let workers = [case.spawn(&line), case.spawn(&line)];
    broker.until_messages("OUT", blocks / 4);
    // Longer than the ack wait: blocks are given out again.
    stall(&broker.process);
    for worker in workers {
        finish(worker, 0);
    }
    assert_answered(&case, &broker);
}

fn a_feeder_that_was_killed_goes_on() {
    let (broker, case) = (Broker::start(), Case::new(events()));
    let line = format!(
        "betree feed --create --block 2K --to {} ad/events --report json",
        broker.url("IN")
    );
    let mut feeder = case.spawn(&line);
    broker.until_messages("IN", 50);
    feeder.kill().expect("killed");
    feeder.wait().expect("ended");
    let (params, _) = finish(case.spawn(&line), 0);
    assert!(count(&params, "from_byte") > 0);
    // All of it is there.
    let (params, _) = finish(case.spawn(&line), 0);
    let length = std::fs::metadata(case.events()).expect("a file").len();
    assert_eq!(count(&params, "from_byte"), length);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    assert_answered(&case, &broker);
}

fn a_feeder_sees_that_a_file_has_grown_or_changed() {
    let (broker, case) = (Broker::start(), Case::new(100));
    case.feed(&broker);
    let whole = std::fs::read(case.events()).expect("read");
    let line_end = whole
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a line")
        + 1;
    let mut grown = whole.clone();
    grown.extend_from_slice(&whole[..line_end]);
    let mut appended = std::fs::OpenOptions::new()
        .append(true)
        .open(case.events())
        .expect("opened");
    appended.write_all(&whole[..line_end]).expect("written");
    case.feed(&broker);
    let case = case.with_plain();
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    assert_answered(&case, &broker);
    // Another content in the same file.
    std::fs::write(
        case.events(),
        grown.iter().map(|byte| byte ^ 1).collect::<Vec<u8>>(),
    )
    .expect("written");
    let refused = case
        .run(&format!("betree feed --to {} ad/events", broker.url("IN")))
        .expect(1);
    assert!(
        refused.stderr.contains("is not what was fed before"),
        "{}",
        refused.stderr
    );
}

fn sigterm_in_a_burst_loses_no_block() {
    let (broker, case) = (Broker::start(), Case::new(events()));
    case.feed(&broker);
    let blocks = broker.messages("IN");
    let first = case.spawn(&Case::worker(&broker, ""));
    until_signals_are_handled(&first);
    broker.until_messages("OUT", blocks / 8);
    send(&first, Signal::SIGTERM);
    let (params, _) = finish(first, 0);
    let stored = count(&params, "answers_stored");
    assert_eq!(
        count(&params, "deliveries"),
        stored,
        "what was taken is finished"
    );
    let (params, _) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    assert_eq!(count(&params, "answers_stored") + stored, blocks);
    assert_eq!(count(&params, "answers_refused"), 0);
    assert_answered(&case, &broker);
}

fn poison_becomes_a_dead_letter() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let mut lines = case.lines();
    "{\"no\": event".clone_into(&mut lines[99]);
    case.feed_each(&broker, &lines);
    let (params, said) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    assert_eq!(
        (
            count(&params, "dead_letters"),
            count(&params, "attempts_failed")
        ),
        (1, 4)
    );
    assert_eq!(count(&params, "answers_stored"), 199);
    assert!(
        said.contains("block 100 of IN is a dead letter") && said.contains("line 100"),
        "{said}"
    );
    assert_eq!(broker.messages("IN-dead"), 1);
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let joined = case
        .run(&format!("betree join --events {blocks} --from {from}"))
        .expect(3);
    let case = case.with_plain();
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
    for said in [
        "1 dead letter",
        "left out, as dead letters: block 100 of IN",
    ] {
        assert!(joined.stderr.contains(said), "{}", joined.stderr);
    }
}

fn answers_win_over_dead_letters() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let mut lines = case.lines();
    for at in [50, 150] {
        // Of an attribute that no domain has.
        lines[at] = lines[at].replacen('{', "{\"nowhere\":1,", 1);
    }
    case.feed_each(&broker, &lines);
    let (params, _) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    assert_eq!(count(&params, "dead_letters"), 2);
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let join = format!("betree join --events {blocks} --from {from}");
    let joined = case.run(&join).expect(3);
    assert_eq!(joined.text().lines().count(), 198);
    // Others answer them after all; the dead letters stay where they are.
    let again = "--until-done --consumer second --ignore-unknown";
    let (params, _) = finish(case.spawn(&Case::worker(&broker, again)), 0);
    assert_eq!(count(&params, "answers_stored"), 2);
    assert_eq!(broker.messages("IN-dead"), 2);
    let plain = case.run("betree match --snapshot s.snap --events ad/events --ignore-unknown -qq");
    for _ in 0..5 {
        let joined = case.run(&join).expect(0);
        assert!(joined.stdout == plain.stdout, "{}", joined.stderr);
        assert!(!joined.stderr.contains("dead letter"), "{}", joined.stderr);
    }
}

fn settings_that_cannot_keep_the_promise_are_refused() {
    let (broker, case) = (Broker::start(), Case::new(10));
    case.feed(&broker);
    // Streams for events, with the duplicate window of the server: two minutes.
    for stream in ["OUT", "IN-dead"] {
        case.run(&format!(
            "betree feed --create --to {} ad/events",
            broker.url(stream)
        ))
        .expect(0);
    }
    let worker = |more: &str| {
        let (from, to) = (broker.url("IN"), broker.url("OUT"));
        case.run(&format!(
            "betree match --from {from} --to {to} --snapshot s.snap {more}"
        ))
    };
    let refused = worker("--consumer a --once window").expect(2);
    for said in [
        "stream OUT: its duplicate window of 120s is shorter than 4 x ack wait 30s x 5 deliveries = 600s",
        "could be answered twice",
        "--dupe-window 600s",
    ] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    let refused = worker("--consumer b --once always").expect(2);
    assert!(
        refused
            .stderr
            .contains("does not refuse a second message of a subject"),
        "{}",
        refused.stderr
    );
    // Who is refused leaves no consumer behind.
    for consumer in ["a", "b"] {
        assert_eq!(broker.waiting("IN", consumer), None);
    }
    // A shorter wait needs a shorter window; the consumer has the wait that it was created with.
    worker("--consumer c --ack-wait 6s --until-done").expect(0);
    let missing = case.run(&format!(
        "betree match --from {} --to {} --snapshot s.snap",
        broker.url("IN"),
        broker.url("NONE")
    ));
    let missing = missing.expect(1);
    assert!(
        missing.stderr.contains("has no stream NONE"),
        "{}",
        missing.stderr
    );
}

fn streams_that_drop_answers_are_refused() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    for (more, once, said) in [
        (
            ",\"max_bytes\":100000",
            "window",
            "(max_bytes 100000, discard old)",
        ),
        (",\"max_msgs\":2", "window", "(max_msgs 2, discard old)"),
        (
            ",\"max_msgs_per_subject\":2",
            "window",
            "keeps 2 messages of a subject",
        ),
        (
            ",\"max_msgs_per_subject\":1,\"discard\":\"new\",\"discard_new_per_subject\":true",
            "window",
            "use --once always",
        ),
    ] {
        let name = format!("OUT{}", said.len());
        broker.create(&name, &stream(&name, &format!("{name}.>"), more));
        let (from, to) = (broker.url("IN"), broker.url(&name));
        let line = format!(
            "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 2s --once {once} \
             --until-done --consumer {name}"
        );
        let refused = case.run(&line).expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert_eq!(broker.messages(&name), 0);
    }
    // One that ages says so, and answers.
    broker.create("OUT", &stream("OUT", "OUT.>", ",\"max_age\":3600000000000"));
    let (_, said) = finish(case.spawn(&Case::worker(&broker, "--until-done")), 0);
    assert!(said.contains("removes answers after 3600 s"), "{said}");
    // A source is one subject: a stream that keeps one message of it loses the others.
    broker.create(
        "LAST",
        &stream("LAST", "LAST.>", ",\"max_msgs_per_subject\":1"),
    );
    let to = broker.url("LAST");
    let refused = case
        .run(&format!("betree feed --to {to} ad/events"))
        .expect(2);
    assert!(
        refused.stderr.contains("keeps 1 messages of a subject"),
        "{}",
        refused.stderr
    );
}

fn streams_of_any_subjects_will_do() {
    let (broker, case) = (Broker::start(), Case::new(200));
    broker.create("IN", &stream("IN", "events", ""));
    broker.create("IN-dead", &stream("IN-dead", "failed.*", ""));
    broker.create("OUT", &stream("OUT", "answers", ""));
    let always = ",\"max_msgs_per_subject\":1,\"discard\":\"new\",\"discard_new_per_subject\":true";
    broker.create("ALL", &stream("ALL", "out.*.x", always));
    // A feeder needs a subject for each source; other programs need not.
    let to = broker.url("IN");
    let refused = case
        .run(&format!("betree feed --to {to} ad/events"))
        .expect(2);
    assert!(
        refused.stderr.contains("--subjects 'events,IN.>'"),
        "{}",
        refused.stderr
    );
    broker.publish("events", &std::fs::read(case.events()).expect("read"));
    broker.until_messages("IN", 1);
    let line = Case::worker(&broker, "--until-done --consumer a");
    let refused = case.run(&format!("{line} --once always")).expect(2);
    assert!(
        refused.stderr.contains("max_msgs_per_subject 1"),
        "{}",
        refused.stderr
    );
    finish(case.spawn(&line), 0);
    case.assert_joined(&broker);
    for (consumer, refusals) in [("b", 0), ("c", 1)] {
        let (from, to) = (broker.url("IN"), broker.url("ALL"));
        let line = format!(
            "betree match --from {from} --to {to} --snapshot s.snap --ack-wait 2s --report json --once always \
             --until-done --consumer {consumer}"
        );
        let (params, _) = finish(case.spawn(&line), 0);
        assert_eq!(count(&params, "answers_refused"), refusals);
    }
    let (blocks, from) = (broker.url("IN"), broker.url("ALL"));
    let joined = case.run(&format!("betree join --events {blocks} --from {from}"));
    assert!(joined.expect(0).stdout == case.plain);
}

fn shards_are_joined() {
    let (broker, case) = (Broker::start(), Case::new(2000));
    case.feed(&broker);
    let whole = std::fs::read_to_string(case.dir.path().join("ad/expressions")).expect("text");
    for (shard, rest) in [("a", 0), ("b", 1)] {
        let part: String = whole
            .lines()
            .enumerate()
            .filter(|(at, _)| at % 2 == rest)
            .map(|(at, line)| format!("{}\t{line}\n", at + 1))
            .collect();
        file(case.dir.path(), shard, part.as_bytes());
        case.run(&format!(
            "betree build --domains ad/domains --expressions {shard} -o {shard}.snap -q"
        ))
        .expect(0);
        let (from, to) = (broker.url("IN"), broker.url("OUT"));
        let line = format!(
            "betree match --from {from} --to {to} --snapshot {shard}.snap --create --shard {shard} --consumer {shard} --until-done"
        );
        case.run(&line).expect(0);
    }
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let line = format!("betree join --events {blocks} --from {from} --shards");
    let joined = case.run(&format!("{line} a,b")).expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
    let said = case.run(&format!("{line} b")).expect(0).stderr;
    assert!(
        said.contains("answers of shard a were not joined"),
        "{said}"
    );
}

fn a_consumer_has_workers_of_one_kind() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    let line = |more: &str| Case::worker(&broker, &format!("--until-done {more}"));
    finish(case.spawn(&line("--shard 1/2")), 0);
    finish(case.spawn(&line("--consumer whole")), 0);
    for (other, said) in [
        (
            "--shard 2/2",
            "consumer match: its workers have --shard 1/2, this one has --shard 2/2",
        ),
        (
            "--consumer whole --format ids",
            "have --format json, this one has --format ids",
        ),
        (
            "--consumer whole --first 1",
            "have no --first, this one has --first 1",
        ),
        (
            "--consumer whole --ignore-unknown",
            "have no --ignore-unknown, this one has --ignore-unknown, and each block goes to one of them only",
        ),
        (
            "--consumer whole --follow",
            "this one has --follow, and each block",
        ),
    ] {
        let refused = case.run(&line(other)).expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("--consumer NAME"),
            "{}",
            refused.stderr
        );
    }
    // A worker that skips events answers the others alike.
    finish(case.spawn(&line("--shard 1/2 --keep-going --epoch new")), 0);
    finish(case.spawn(&line("--shard 2/2 --consumer second")), 0);
    assert_eq!(broker.messages("OUT"), 3 * broker.messages("IN"));
    // What join could not put together.
    for (shard, said) in [
        ("--shard a --format ids", "--shard a needs --format json"),
        ("--shard a --first 1", "--first with --shard a: each shard"),
        ("--shard=", "a name of a shard has a character"),
    ] {
        let refused = case.run(&line(shard)).expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    // A consumer that was made before is marked by its first worker.
    broker.consumer("IN", "old");
    finish(case.spawn(&line("--shard 1/2 --consumer old")), 0);
    let refused = case.run(&line("--shard 2/2 --consumer old")).expect(2);
    assert!(
        refused.stderr.contains("have --shard 1/2"),
        "{}",
        refused.stderr
    );
}

fn a_consumer_has_workers_with_the_same_expressions() {
    let (broker, case) = (Broker::start(), Case::new(200));
    other_expressions(&case);
    case.feed(&broker);
    let line = |more: &str| Case::worker(&broker, &format!("--until-done {more}"));
    let other = |more: &str| line(more).replace("s.snap", "other.snap");
    finish(case.spawn(&line("")), 0);
    let refused = case.run(&other("--epoch same")).expect(2);
    for said in [
        "consumer match: its workers have --snapshot of the hash ",
        "this one has --snapshot of the hash ",
        "--take-over",
    ] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    // Who replaces the others says so, and then those are refused.
    finish(case.spawn(&other("--take-over --ignore-unknown")), 0);
    let refused = case.run(&line("")).expect(2);
    assert!(
        refused
            .stderr
            .contains("have --ignore-unknown, this one has no --ignore-unknown"),
        "{}",
        refused.stderr
    );
    let refused = case.run(&line("--take-over --shard a")).expect(2);
    assert!(
        refused
            .stderr
            .contains("have --shard all, this one has --shard a"),
        "{}",
        refused.stderr
    );
    // Those that follow newer expressions may have any.
    finish(case.spawn(&line("--consumer follows --follow")), 0);
    finish(case.spawn(&other("--consumer follows --follow")), 0);
}

fn hundreds_of_dead_letters_are_a_few_lines() {
    let (broker, case) = (Broker::start(), Case::new(300));
    let lines = case.lines().into_iter();
    // Of an attribute that no domain has.
    let lines: Vec<String> = lines
        .map(|line| line.replacen('{', "{\"nowhere\":1,", 1))
        .collect();
    case.feed_each(&broker, &lines);
    let worker = Case::worker(&broker, "--until-done --give-up-after 0");
    let (params, said) = finish(case.spawn(&worker), 3);
    assert_eq!(count(&params, "dead_letters"), 300);
    assert!(
        said.contains("\nperfkit: 297 more blocks are dead letters\n"),
        "{said}"
    );
    let told = said.split("\n{").next().unwrap_or_default();
    assert!(told.lines().count() < 20, "{said}");
    let helps: Vec<&str> = told
        .lines()
        .filter(|line| line.starts_with("help: "))
        .collect();
    assert!(
        helps[0].starts_with("help: add --ignore-unknown")
            && helps[0].contains("`betree match --from` the stream of dead letters"),
        "{said}"
    );
}

fn join_says_what_it_waits_for() {
    let (broker, case) = (Broker::start(), Case::new(200));
    case.feed(&broker);
    finish(
        case.spawn(&Case::worker(&broker, "--until-done --shard a")),
        0,
    );
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let line = |more: &str| format!("betree join --events {blocks} --from {from} {more}");
    let waits = Telling::start(&case, &line("--shards a,b,c --report json"));
    waits.until_said("block 1 of IN has no answer of shards b, c; it is waited for");
    waits.stop(130);
    for (shards, said) in [
        (
            "a,b",
            "block 1 of IN has no answer of shard b, and no answer has come for 1s",
        ),
        ("all", "block 1 of IN has no answer of shard all"),
        ("all", "of shard a)"),
    ] {
        let ended = case
            .run(&line(&format!("--shards {shards} --timeout 1s")))
            .expect(1);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert!(ended.stderr.contains("--shards"), "{}", ended.stderr);
    }
    for slip in ["a,", "a, b", "a,a"] {
        let join = format!("betree join --events {blocks} --from {from} --shards");
        let mut args = words(&join);
        args.push(slip.into());
        run(case.dir.path(), args).expect(2);
    }
    // What is all there needs no patience.
    let joined = case.run(&line("--shards a --timeout 10m")).expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
}

/// Other expressions for the domains of a case, and the two halves of its events.
fn other_expressions(case: &Case) -> [String; 2] {
    case.run("betree generate ad --expressions 300 --events 1 --seed 7 -o other -q")
        .expect(0);
    case.run("betree build --domains ad/domains --expressions other/expressions -o other.snap -q")
        .expect(0);
    let whole = std::fs::read_to_string(case.events()).expect("text");
    let lines: Vec<&str> = whole.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    ["s", "other"]
        .into_iter()
        .zip([("first", first), ("second", second)])
        .map(|(snapshot, (name, lines))| {
            file(
                case.dir.path(),
                name,
                format!("{}\n", lines.join("\n")).as_bytes(),
            );
            let plain = case
                .run(&format!(
                    "betree match --snapshot {snapshot}.snap --events {name} -qq"
                ))
                .expect(0);
            plain.text().to_owned()
        })
        .collect::<Vec<_>>()
        .try_into()
        .expect("two")
}

fn other_expressions_come_without_a_stop() {
    let (broker, case) = (Broker::start(), Case::new(4000));
    let plain = other_expressions(&case);
    assert_ne!(plain[0], plain[1]);
    let bucket = broker.url("SNAPS");
    let roll_out = |snapshot: &str, more: &str| {
        let line = format!("betree roll-out {more} --to {bucket} {snapshot}");
        case.run(&line)
    };
    let missing = roll_out("s.snap", "").expect(1);
    assert!(missing.stderr.contains("--create"), "{}", missing.stderr);
    let first = roll_out("s.snap", "--create")
        .expect(0)
        .text()
        .trim()
        .to_owned();
    let feed = |name: &str| {
        let to = broker.url("IN");
        let line = format!("betree feed --create --block 8K --to {to} {name}");
        case.run(&line).expect(0);
    };
    feed("first");
    let line = Case::worker(&broker, "-T2").replace("s.snap", &format!("{bucket} --follow"));
    let worker = Telling::start(&case, &line);
    broker.until_messages("OUT", broker.messages("IN"));
    // What is no snapshot is not given to anybody.
    let refused = roll_out("ad/events", "").expect(1);
    assert!(refused.stderr.contains("ad/events"), "{}", refused.stderr);
    let second = roll_out("other.snap", "")
        .expect(0)
        .text()
        .trim()
        .to_owned();
    worker.until_said(&format!("epoch {second} from now on"));
    feed("second");
    broker.until_messages("OUT", broker.messages("IN"));
    let blocks = broker.messages("IN");
    let params = worker.stop(0);
    assert_eq!(params["epoch"], second.as_str());
    let counted = [
        "roll_outs",
        "roll_outs_failed",
        "answers_stored",
        "attempts_failed",
    ];
    assert_eq!(counted.map(|name| count(&params, name)), [1, 0, blocks, 0]);
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let joined = case
        .run(&format!(
            "betree join --events {blocks} --from {from} --report json"
        ))
        .expect(0);
    assert!(joined.text() == plain.concat(), "{}", joined.stderr);
    let report = report(&format!("\n{}", joined.stderr));
    let epochs = report["tables"][0]["records"].as_array().expect("epochs");
    let names: Vec<_> = epochs.iter().map(|row| row["epoch"].clone()).collect();
    assert_eq!(names, [first, second]);
}

fn a_file_that_is_replaced_is_followed_if_it_can_be_used() {
    let (broker, case) = (Broker::start(), Case::new(2000));
    let plain = other_expressions(&case);
    let path = |name: &str| case.dir.path().join(name);
    std::fs::copy(path("s.snap"), path("live.snap")).expect("copied");
    let line = Case::worker(&broker, "--ready-file ready");
    let line = line.replace("s.snap", "live.snap --follow");
    let feed = |name: &str| {
        let to = broker.url("IN");
        let line = format!("betree feed --create --block 8K --to {to} {name}");
        case.run(&line).expect(0);
        broker.until_messages("OUT", broker.messages("IN"));
    };
    let to = broker.url("IN");
    case.run(&format!("betree feed --create --to {to} /dev/null"))
        .expect(0);
    file(case.dir.path(), "ready", b"of a run before");
    let worker = Telling::start(&case, &line);
    until("the worker is ready", || {
        std::fs::read(path("ready")).is_ok_and(|text| text == b"match\n")
    });
    // A file that is half written is damaged; what was there before goes on.
    let whole = std::fs::read(path("s.snap")).expect("read");
    std::fs::write(path("live.snap"), &whole[..whole.len() / 2]).expect("written");
    worker.until_said("a newer snapshot is not used: ");
    feed("first");
    std::fs::rename(path("other.snap"), path("live.snap")).expect("renamed");
    worker.until_said(" from now on: 300 expressions");
    feed("second");
    let params = worker.stop(3);
    assert!(!path("ready").exists());
    let counted = ["roll_outs", "roll_outs_failed", "attempts_failed"];
    assert_eq!(counted.map(|name| count(&params, name)), [1, 1, 0]);
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let joined = case
        .run(&format!("betree join --events {blocks} --from {from}"))
        .expect(0);
    assert!(joined.text() == plain.concat(), "{}", joined.stderr);
}

fn secrets_open_the_server_and_are_not_shown() {
    let broker = Broker::start_with("authorization { user: feeder, password: \"s3cret\" }");
    let case = Case::new(10);
    file(case.dir.path(), "password", b"s3cret\n");
    file(case.dir.path(), "wrong", b"s3cret-not\n");
    let feed = format!(
        "betree feed --create --to {} ad/events --report json",
        broker.url("IN")
    );
    let run = case
        .run(&format!("{feed} --user feeder --password-file password"))
        .expect(0);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    let mut by_environment = case.command(&feed);
    by_environment
        .env("NATS_USER", "feeder")
        .env("NATS_PASSWORD", "s3cret");
    let run: Run = by_environment.output().expect("it runs").into();
    assert!(!run.expect(0).stderr.contains("s3cret"));
    for wrong in ["", "--user feeder --password-file wrong"] {
        let run = case.run(&format!("{feed} {wrong}")).expect(1);
        assert!(
            run.stderr.contains("cannot connect") && !run.stderr.contains("s3cret"),
            "{}",
            run.stderr
        );
    }
    // In an address it is refused, and not repeated.
    let url = format!("nats://feeder:s3cret@127.0.0.1:{}/IN", broker.port);
    let run = case
        .run(&format!("betree feed --to {url} ad/events"))
        .expect(2);
    assert!(run.stderr.contains("--password-file"), "{}", run.stderr);
    let token = Broker::start_with("authorization { token: \"t0ken\" }");
    file(case.dir.path(), "token", b"t0ken");
    let feed = format!(
        "betree feed --create --to {} ad/events --token-file token",
        token.url("IN")
    );
    case.run(&feed).expect(0);
    // What is no credentials file is not quoted.
    let run = case
        .run(&format!(
            "betree feed --to {} --creds password ad/events",
            broker.url("IN")
        ))
        .expect(1);
    assert!(
        run.stderr.contains("credentials") && !run.stderr.contains("s3cret"),
        "{}",
        run.stderr
    );
}

fn credentials_of_an_operator_open_the_server() {
    let operator = Operator::new();
    let broker = Broker::start_with(&operator.configuration());
    let case = Case::new(200);
    let text = operator.credentials(3600);
    file(case.dir.path(), "worker.creds", text.as_bytes());
    file(
        case.dir.path(),
        "old.creds",
        operator.credentials(-30).as_bytes(),
    );
    file(
        case.dir.path(),
        "strange.creds",
        Operator::new().credentials(3600).as_bytes(),
    );
    let seed = text
        .lines()
        .find(|line| line.starts_with("SU"))
        .expect("a seed");
    let jwt = text.lines().nth(1).expect("a JWT");
    let is_silent = |said: &str| !said.contains(seed) && !said.contains(jwt);
    let (events, answers) = (broker.url("IN"), broker.url("OUT"));
    let feed = format!("betree feed --create --to {events} ad/events --report json");
    for wrong in ["", "--creds old.creds", "--creds strange.creds"] {
        let run = case.run(&format!("{feed} {wrong}")).expect(1);
        assert!(run.stderr.contains("cannot connect"), "{}", run.stderr);
    }
    let run = case.run(&format!("{feed} --creds worker.creds")).expect(0);
    assert!(is_silent(&run.stderr));
    let worker = Case::worker(&broker, "--until-done");
    // By the environment, as a deployment has it.
    let run: Run = case
        .command(&worker)
        .env("NATS_CREDS", case.dir.path().join("worker.creds"))
        .output()
        .expect("it runs")
        .into();
    assert!(is_silent(&run.expect(0).stderr));
    let joined = case
        .run(&format!(
            "betree join --events {events} --from {answers} --creds worker.creds"
        ))
        .expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
}

fn the_server_is_known_by_its_certificate() {
    let dir = directory();
    let (configuration, certificate) = tls(dir.path());
    let broker = Broker::start_with(&configuration);
    let case = Case::new(10);
    let to = format!("tls://127.0.0.1:{}/IN", broker.port);
    let feed = format!("betree feed --create --to {to} ad/events");
    case.run(&format!("{feed} --tls-ca {}", certificate.display()))
        .expect(0);
    let stranger = case.run(&feed).expect(1);
    assert!(
        stranger.stderr.contains("cannot connect"),
        "{}",
        stranger.stderr
    );
}
