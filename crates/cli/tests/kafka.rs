//! Workers on a real server of Kafka, on ports of this machine: whatever is killed or stands still, every event is
//! answered once, as `betree match` answers it without a server. Kafka's own client counts what was stored.
//!
//! Without `java` and the archives in `PERFKIT_KAFKA` these tests report `ignored`. `PERFKIT_WORKERS_EVENTS=1000000` and
//! `PERFKIT_WORKERS_STALL=10` run them at full size.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::common::signals::{send, until_signals_are_handled};
use crate::common::{Run, file};
use crate::kafka_server::{Server, is_here};
use crate::peer;
use crate::worker_case::{
    Case, Telling, Urls as _, count, events, finish, report, stall, taken_over_by,
};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = is_here();
    peer::trials![
        has_server => [
            a_worker_is_killed_and_a_third_one_comes,
            the_server_is_killed_and_restarted,
            the_server_stands_still,
            the_server_stands_still_while_it_is_fed,
            a_feeder_that_was_killed_goes_on,
            sigterm_in_a_burst_loses_no_block,
            poison_becomes_a_dead_letter,
            dead_letters_alone_are_answered_after_all,
            settings_that_cannot_keep_the_promise_are_refused,
            servers_that_allow_no_transactions_are_refused,
            shards_are_joined,
            a_group_has_workers_of_one_kind,
            of_two_kinds_of_workers_that_start_at_once_one_is_refused,
            a_worker_that_was_taken_over_from_ends,
            a_worker_does_not_wait_for_servers_that_are_away_when_it_is_to_end,
            secrets_open_the_server_and_are_not_shown,
        ],
    ]
}

/// Every event is answered once, in order, and rightly.
fn assert_answered(case: &Case, server: &Server, blocks: usize) {
    case.assert_joined(server);
    let answered = server.answered("OUT");
    let distinct: BTreeSet<&String> = answered.iter().collect();
    assert_eq!((answered.len(), distinct.len()), (blocks, blocks));
}

/// Feeds the events, and says in how many blocks.
fn feed(case: &Case, server: &Server) -> usize {
    case.feed(server);
    server.answered("IN").len()
}

fn a_worker_is_killed_and_a_third_one_comes() {
    let (server, case) = (Server::start(), Case::new(events()));
    let blocks = feed(&case, &server);
    let line = Case::worker(&server, "--until-done");
    let mut first = case.spawn(&line);
    server.until_offsets("OUT", blocks / 8);
    let second = case.spawn(&line);
    server.until_offsets("OUT", blocks / 3);
    first.kill().expect("killed");
    first.wait().expect("ended");
    let third = case.spawn(&line);
    let (second, _) = finish(second, 0);
    let (third, _) = finish(third, 0);
    let stored = count(&second, "answers_stored") + count(&third, "answers_stored");
    let all = u64::try_from(blocks).expect("a number");
    assert!(stored > 0 && stored < all, "{stored} of {blocks}");
    assert_answered(&case, &server, blocks);
}

fn the_server_is_killed_and_restarted() {
    let (mut server, case) = (Server::start(), Case::new(events()));
    let blocks = feed(&case, &server);
    let line = Case::worker(&server, "--until-done");
    let workers = [case.spawn(&line), case.spawn(&line)];
    server.until_offsets("OUT", blocks / 4);
    server.kill();
    server.restart();
    for worker in workers {
        finish(worker, 0);
    }
    assert_answered(&case, &server, blocks);
}

fn the_server_stands_still() {
    let (server, case) = (Server::start(), Case::new(events()));
    let blocks = feed(&case, &server);
    let line = Case::worker(&server, "--until-done");
    let workers = [case.spawn(&line), case.spawn(&line)];
    server.until_offsets("OUT", blocks / 4);
    // Longer than a session, a call and, at full size, a transaction: the server gives all of them up when it is back.
    stall(server.process());
    for worker in workers {
        finish(worker, 0);
    }
    assert_answered(&case, &server, blocks);
}

fn the_server_stands_still_while_it_is_fed() {
    let (server, case) = (Server::start(), Case::new(events()));
    let to = server.url("IN");
    let line = format!("betree feed --create --block 2K --to {to} ad/events --report json");
    let feeder = case.spawn(&line);
    server.until_offsets("IN", 200);
    stall(server.process());
    finish(feeder, 0);
    let blocks = server.answered("IN").len();
    finish(case.spawn(&Case::worker(&server, "--until-done")), 0);
    assert_answered(&case, &server, blocks);
}

fn a_feeder_that_was_killed_goes_on() {
    let (server, case) = (Server::start(), Case::new(events()));
    let line = format!(
        "betree feed --create --block 2K --to {} ad/events --report json",
        server.url("IN")
    );
    let mut feeder = case.spawn(&line);
    // More than one transaction has.
    server.until_offsets("IN", 200);
    feeder.kill().expect("killed");
    feeder.wait().expect("ended");
    let (params, _) = finish(case.spawn(&line), 0);
    let length = std::fs::metadata(case.events()).expect("a file").len();
    let from = count(&params, "from_byte");
    assert!(from > 0 && from < length, "{from} of {length}");
    // All of it is there.
    let (params, _) = finish(case.spawn(&line), 0);
    assert_eq!(count(&params, "from_byte"), length);
    let blocks = server.answered("IN").len();
    finish(case.spawn(&Case::worker(&server, "--until-done")), 0);
    assert_answered(&case, &server, blocks);
    // Another content in the same file.
    let whole = std::fs::read(case.events()).expect("read");
    let other: Vec<u8> = whole.iter().map(|byte| byte ^ 1).collect();
    std::fs::write(case.events(), other).expect("written");
    let refused = case.run(&line).expect(1);
    assert!(
        refused.stderr.contains("is not what was fed before"),
        "{}",
        refused.stderr
    );
}

fn sigterm_in_a_burst_loses_no_block() {
    let (server, case) = (Server::start(), Case::new(events()));
    let blocks = feed(&case, &server);
    let first = case.spawn(&Case::worker(&server, ""));
    until_signals_are_handled(&first);
    server.until_offsets("OUT", blocks / 8);
    send(&first, Signal::SIGTERM);
    let (params, _) = finish(first, 0);
    let stored = count(&params, "answers_stored");
    assert_eq!(
        count(&params, "deliveries"),
        stored,
        "what was taken is finished"
    );
    let (params, _) = finish(case.spawn(&Case::worker(&server, "--until-done")), 0);
    let all = u64::try_from(blocks).expect("a number");
    assert_eq!(count(&params, "answers_stored") + stored, all);
    assert_answered(&case, &server, blocks);
}

fn poison_becomes_a_dead_letter() {
    let (server, case) = (Server::start(), Case::new(200));
    let mut lines = case.lines();
    "{\"no\": event".clone_into(&mut lines[99]);
    case.feed_each(&server, &lines);
    let (params, said) = finish(case.spawn(&Case::worker(&server, "--until-done")), 3);
    assert_eq!(
        (
            count(&params, "dead_letters"),
            count(&params, "attempts_failed")
        ),
        (1, 4)
    );
    assert_eq!(count(&params, "answers_stored"), 199);
    assert!(
        said.contains("is a dead letter") && said.contains("line 100"),
        "{said}"
    );
    assert_eq!(server.answered("IN-dead").len(), 1);
    let (blocks, from) = (server.url("IN"), server.url("OUT"));
    let joined = case
        .run(&format!("betree join --events {blocks} --from {from}"))
        .expect(3);
    let case = case.with_plain();
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
    assert!(joined.stderr.contains("1 dead letter"), "{}", joined.stderr);
}

fn dead_letters_alone_are_answered_after_all() {
    let (server, case) = (Server::start(), Case::new(60));
    let mut lines = case.lines();
    for at in [20, 40] {
        // Of an attribute that no domain has.
        lines[at] = lines[at].replacen('{', "{\"nowhere\":1,", 1);
    }
    case.feed_each(&server, &lines);
    finish(case.spawn(&Case::worker(&server, "--until-done")), 3);
    let (from, to) = (server.url("IN-dead"), server.url("OUT"));
    let replay = format!(
        "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 6s --report json --until-done \
         --ignore-unknown"
    );
    for stored in [2, 0] {
        let (params, _) = finish(case.spawn(&replay), 0);
        assert_eq!(count(&params, "answers_stored"), stored);
    }
    assert_eq!(server.answered("OUT").len(), 60);
    let plain = case.run("betree match --snapshot s.snap --events ad/events --ignore-unknown -qq");
    let (blocks, from) = (server.url("IN"), server.url("OUT"));
    let joined = case.run(&format!("betree join --events {blocks} --from {from}"));
    assert!(joined.expect(0).stdout == plain.stdout);
}

fn settings_that_cannot_keep_the_promise_are_refused() {
    let (server, case) = (Server::start(), Case::new(10));
    case.feed(&server);
    server.create(&[
        "compact,cleanup.policy=compact",
        "short,retention.ms=60000",
        "tiny,max.message.bytes=400",
        "OUT",
        "IN-dead",
    ]);
    file(
        case.dir.path(),
        "commits",
        b"# ours\nenable.auto.commit=true\n",
    );
    file(case.dir.path(), "stray", b"no.such.setting=s3cret\n");
    let from = server.url("IN");
    let worker = |to: &str, more: &str| {
        let to = server.url(to);
        case.run(&format!(
            "betree match --from {from} --to {to} --snapshot s.snap --until-done {more}"
        ))
    };
    for (to, more, said) in [
        (
            "compact",
            "",
            "topic compact: it keeps only the last message of each key",
        ),
        (
            "short",
            "",
            "topic short: it removes messages after 60 s (retention.ms), sooner than 4 x ack wait 30 s",
        ),
        (
            "OUT",
            "--once window",
            "--once window has no meaning on Kafka",
        ),
        ("OUT", "--ack-wait 500ms", "group.min.session.timeout.ms"),
        (
            "OUT",
            "--kafka-config commits",
            "'commits', line 2: enable.auto.commit is not for the file to set",
        ),
        (
            "OUT",
            "--kafka-config stray",
            "no.such.setting is no setting",
        ),
        ("OUT", "--creds commits", "--creds is for addresses nats://"),
    ] {
        let refused = worker(to, more).expect(2);
        assert!(
            refused.stderr.contains(said),
            "{to} {more}: {}",
            refused.stderr
        );
        assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
    }
    let feed = case.run(&format!(
        "betree feed --to {} ad/events",
        server.url("compact")
    ));
    assert!(feed.expect(2).stderr.contains("cleanup.policy"));
    let other = "kafka://127.0.0.1:1/OUT";
    let line = format!("betree match --from {from} --to {other} --snapshot s.snap");
    assert!(
        case.run(&line)
            .expect(2)
            .stderr
            .contains("different servers")
    );
    let line = format!("betree match --from {from} --to nats://127.0.0.1:1/OUT --snapshot s.snap");
    assert!(
        case.run(&line)
            .expect(2)
            .stderr
            .contains("different brokers")
    );
    let missing = worker("none", "").expect(1);
    assert!(
        missing.stderr.contains("there is no topic none"),
        "{}",
        missing.stderr
    );
    let nobody = case
        .run("betree feed --to kafka://127.0.0.1:1/IN ad/events")
        .expect(1);
    assert!(
        nobody.stderr.contains("cannot connect"),
        "{}",
        nobody.stderr
    );
    // An answer that is too long for its topic is a dead letter at once.
    let (params, said) = {
        let line = format!(
            "betree match --from {from} --to {} --snapshot s.snap --until-done --report json",
            server.url("tiny")
        );
        finish(case.spawn(&line), 3)
    };
    assert_eq!(count(&params, "dead_letters"), 1, "{said}");
    // What it took for nothing else, it does.
    worker("OUT", "--once always --consumer other").expect(0);
}

fn servers_that_allow_no_transactions_are_refused() {
    let server = Server::start_with("transaction.max.timeout.ms=5000", "PLAINTEXT");
    let case = Case::new(10);
    let line = format!("betree feed --create --to {} ad/events", server.url("IN"));
    let refused = case.run(&line).expect(2);
    assert!(
        refused.stderr.contains("transaction.max.timeout.ms"),
        "{}",
        refused.stderr
    );
    server.create(&["OUT", "IN-dead"]);
    let (from, to) = (server.url("IN"), server.url("OUT"));
    let line = format!("betree match --from {from} --to {to} --snapshot s.snap");
    let refused = case.run(&line).expect(2);
    assert!(
        refused.stderr.contains("allow no transactions"),
        "{}",
        refused.stderr
    );
}

fn shards_are_joined() {
    let (server, case) = (Server::start(), Case::new(500));
    case.feed(&server);
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
        let (from, to) = (server.url("IN"), server.url("OUT"));
        case.run(&format!(
            "betree match --from {from} --to {to} --snapshot {shard}.snap --create --shard {shard} --until-done"
        ))
        .expect(0);
    }
    let (blocks, from) = (server.url("IN"), server.url("OUT"));
    let joined = case
        .run(&format!(
            "betree join --events {blocks} --from {from} --shards a,b"
        ))
        .expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
}

fn a_group_has_workers_of_one_kind() {
    let (server, case) = (Server::start(), Case::new(200));
    case.feed(&server);
    case.run("betree generate ad --expressions 300 --events 1 --seed 7 -o other -q")
        .expect(0);
    case.run("betree build --domains ad/domains --expressions other/expressions -o other.snap -q")
        .expect(0);
    file(case.dir.path(), "priorities", b"1\t5\n");
    let line = |more: &str| Case::worker(&server, &format!("--until-done {more}"));
    let refused = |line: &str, said: &str| {
        let refused = case.run(line).expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("--consumer NAME"),
            "{}",
            refused.stderr
        );
    };
    finish(case.spawn(&line("")), 0);
    for (other, said) in [
        (
            "--format ids",
            "consumer match: its workers have --format json, this one has --format ids",
        ),
        (
            "--top 1 --priorities priorities",
            "have no --priorities, this one has --priorities of the hash ",
        ),
        (
            "--ignore-unknown",
            "have no --ignore-unknown, this one has --ignore-unknown",
        ),
    ] {
        refused(&line(other), said);
    }
    let other = line("").replace("s.snap", "other.snap");
    refused(&other, "have --snapshot of the hash ");
    let to = server.url("ELSE");
    let elsewhere = line("").replace(&server.url("OUT"), &to);
    refused(
        &elsewhere,
        "have --to the stream OUT, this one has --to the stream ELSE",
    );
    // What was written beside the answers is left when the servers have forgotten the rest.
    server.forget("IN.match.workers");
    refused(&line("--format ids"), "have --format json");
    finish(case.spawn(&line("")), 0);
    finish(case.spawn(&line("--format ids --take-over")), 0);
    refused(&line(""), "have --format ids, this one has --format json");
    finish(case.spawn(&line("--format ids --consumer other")), 0);
}

fn of_two_kinds_of_workers_that_start_at_once_one_is_refused() {
    let (server, case) = (Server::start(), Case::new(200));
    case.feed(&server);
    server.create(&["OUT", "IN-dead"]);
    let line = |more: &str| Case::worker(&server, &format!("--until-done {more}"));
    let workers = ["json", "ids"].map(|format| case.spawn(&line(&format!("--format {format}"))));
    let ended = workers.map(|worker| worker.wait_with_output().expect("it ends"));
    let mut codes = ended.each_ref().map(|output| output.status.code());
    codes.sort_unstable();
    let said = ended.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    // The second one is refused once it gets blocks; where the first one is done before, it gets none.
    let second = match codes {
        [Some(0), Some(2)] => "answers of both kinds would be mixed",
        _ => "\"answers_stored\": 0,",
    };
    assert_eq!(codes[0], Some(0), "{said:?}");
    assert!(codes[1] == Some(2) || codes[1] == Some(0), "{said:?}");
    let of_second = said.iter().filter(|said| said.contains(second)).count();
    assert_eq!(of_second, 1, "{said:?}");
}

fn secrets_open_the_server_and_are_not_shown() {
    let jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required \
                username=\"broker\" password=\"br0ker\" user_broker=\"br0ker\" user_feeder=\"s3cret\";";
    let settings = format!(
        "sasl.enabled.mechanisms=PLAIN\nsasl.mechanism.inter.broker.protocol=PLAIN\n\
         listener.name.clients.plain.sasl.jaas.config={jaas}"
    );
    let server = Server::start_with(&settings, "SASL_PLAINTEXT");
    let case = Case::new(10);
    let who = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=feeder\nsasl.password=s3cret";
    file(case.dir.path(), "config", who.as_bytes());
    file(case.dir.path(), "wrong", format!("{who}-not").as_bytes());
    let (events, answers) = (server.url("IN"), server.url("OUT"));
    let feed = format!("betree feed --create --to {events} ad/events --report json");
    for wrong in ["", "--kafka-config wrong"] {
        let run = case.run(&format!("{feed} {wrong}")).expect(1);
        let said = run.stderr;
        assert!(
            said.contains("cannot connect") && !said.contains("s3cret"),
            "{said}"
        );
    }
    let run = case.run(&format!("{feed} --kafka-config config")).expect(0);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    // By the environment, as a deployment has it.
    let run: Run = case
        .command(&Case::worker(&server, "--until-done"))
        .env("KAFKA_CONFIG", case.dir.path().join("config"))
        .output()
        .expect("it runs")
        .into();
    assert!(!run.expect(0).stderr.contains("s3cret"));
    let joined = case
        .run(&format!(
            "betree join --events {events} --from {answers} --kafka-config config"
        ))
        .expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
    // In an address it is refused, and not repeated.
    let run = case
        .run("betree feed --to kafka://feeder:s3cret@127.0.0.1:1/IN ad/events")
        .expect(2);
    assert!(run.stderr.contains("--kafka-config"), "{}", run.stderr);
}

fn a_worker_that_was_taken_over_from_ends() {
    let (server, case) = (Server::start(), Case::new(40));
    let blocks = feed(&case, &server);
    let old = Telling::start(&case, &Case::worker(&server, ""));
    server.until_offsets("OUT", blocks);
    let new = case.spawn(&Case::worker(
        &server,
        "--take-over --format ids --until-done",
    ));
    let id = new.id();
    finish(new, 0);
    let said = old.ended(1);
    assert!(said.contains(&taken_over_by(id)), "{said}");
}

fn a_worker_does_not_wait_for_servers_that_are_away_when_it_is_to_end() {
    let (mut server, case) = (Server::start(), Case::new(events()));
    let blocks = feed(&case, &server);
    let worker = Telling::start(&case, &Case::worker(&server, "--grace 3600s"));
    until_signals_are_handled(&worker.process);
    server.until_offsets("OUT", blocks / 8);
    // In the middle of its work it has answers that are not stored.
    send(&worker.process, Signal::SIGSTOP);
    server.kill();
    send(&worker.process, Signal::SIGTERM);
    send(&worker.process, Signal::SIGCONT);
    let said = worker.ended(3);
    assert!(
        said.contains("not acknowledged, as the server is away; others get them"),
        "{said}"
    );
    let params = report(&said)["workload"]["params"].clone();
    let left = count(&params, "blocks_left");
    assert!(left > 0, "{said}");
    assert_eq!(
        count(&params, "answers_stored") + left,
        count(&params, "deliveries")
    );
    server.restart();
    finish(case.spawn(&Case::worker(&server, "--until-done")), 0);
    assert_answered(&case, &server, blocks);
}
