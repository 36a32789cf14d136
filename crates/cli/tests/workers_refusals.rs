//! What a worker on NATS makes of what is refused: events, blocks, and what it may not publish; and how dead letters are
//! answered after all.
//!
//! Without the program `nats-server` these tests report `ignored`.

use std::process::Command;

use libtest_mimic::Trial;

use crate::broker::{Broker, stream};
use crate::common::file;
use crate::peer;
use crate::worker_case::{Case, count, finish};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            blocks_of_another_kind_end_it,
            who_may_not_publish_ends_with_one_line,
            an_answer_says_which_events_were_refused_and_why,
            headers_of_others_go_along_with_answers,
            dead_letters_alone_are_answered_after_all,
            an_answer_that_was_too_long_is_given_once_there_is_room,
            the_same_dead_letters_are_not_answered_twice,
        ],
    ]
}

/// Events of an attribute that no domain has.
fn strange(case: &Case) -> Vec<String> {
    let lines = case.lines().into_iter();
    lines
        .map(|line| line.replacen('{', "{\"nowhere\":1,", 1))
        .collect()
}

fn join(case: &Case, broker: &Broker, code: i32) -> Vec<u8> {
    let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
    let joined = case.run(&format!("betree join --events {blocks} --from {from}"));
    joined.expect(code).stdout
}

fn blocks_of_another_kind_end_it() {
    let (broker, case) = (Broker::start(), Case::new(300));
    case.feed_each(&broker, &strange(&case));
    let (params, said) = finish(case.spawn(&Case::worker(&broker, "-T1")), 1);
    for part in [
        "the first 20 blocks have failed, and none was answered: the last is block ",
        " of IN: ",
        "nowhere",
        "help: see that the stream has events for these expressions; add --ignore-unknown",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(count(&params, "answers_stored"), 0);
    // They are given out again.
    assert_eq!(count(&params, "dead_letters"), 0, "{said}");
    assert_eq!(broker.messages("IN-dead"), 0);
    // Who wants it goes on.
    let again = "--until-done --consumer again --give-up-after 0";
    let (params, _) = finish(case.spawn(&Case::worker(&broker, again)), 3);
    assert_eq!(count(&params, "dead_letters"), 300);
}

fn who_may_not_publish_ends_with_one_line() {
    let broker = Broker::start_with(
        "authorization { users: [\n\
         { user: all, password: \"s3cret\" }\n\
         { user: mute, password: \"s3cret\", permissions: { publish: { deny: \"OUT.>\" } } }\n] }",
    );
    let case = Case::new(100);
    file(case.dir.path(), "password", b"s3cret\n");
    let login = |user: &str| format!("--user {user} --password-file password");
    let to = broker.url("IN");
    let feed = format!("betree feed --create --block 1 --to {to} ad/events");
    case.run(&format!("{feed} {}", login("all"))).expect(0);
    // It may create streams.
    let worker = Case::worker(&broker, &login("mute")).replace("2s", "20s");
    let (params, said) = finish(case.spawn(&worker), 1);
    assert_eq!(count(&params, "answers_stored"), 0);
    let lines = said.lines();
    let warnings: Vec<&str> = lines
        .filter(|line| line.contains("Permissions Violation"))
        .collect();
    assert!((1..=3).contains(&warnings.len()), "{said}");
    assert!(
        said.contains("perfkit: Permissions Violation for Publish to")
            && said.contains("help: allow this user"),
        "{said}"
    );
    // Nothing is lost: who may, answers.
    let worker = Case::worker(&broker, &format!("--until-done {}", login("all")));
    let (params, _) = finish(case.spawn(&worker), 0);
    assert_eq!(count(&params, "answers_stored"), 100);
}

fn an_answer_says_which_events_were_refused_and_why() {
    let (broker, case) = (Broker::start(), Case::new(20));
    let mut lines = strange(&case);
    lines.truncate(9);
    lines.push(case.lines()[9].clone());
    case.feed_each(&broker, &lines);
    let worker = Case::worker(&broker, "--until-done --keep-going");
    let (params, said) = finish(case.spawn(&worker), 3);
    assert_eq!(count(&params, "events_refused"), 9);
    assert!(
        said.contains("block 1 of IN, line 1: event refused: ")
            && said.contains("perfkit: 6 more events were refused\nhelp: ")
            && !said.contains("line 4: event refused"),
        "{said}"
    );
    let headers = broker.headers("OUT", 1);
    let value = |name: &str| {
        let start = format!("{name}: ");
        let mut lines = headers.lines();
        let found = lines.find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_else(|| panic!("no {name}: {headers}"))
    };
    assert_eq!(value("Perfkit-Refused"), "1");
    let listed: serde_json::Value = serde_json::from_str(value("Perfkit-Refusals")).expect("JSON");
    assert_eq!(listed[0]["event"], 1);
    let message = listed[0]["error"]["message"].as_str().expect("a text");
    assert!(message.contains("nowhere"), "{message}");
    // What is whole says nothing of it.
    let whole = broker.headers("OUT", 10);
    assert!(!whole.contains("Perfkit-Refus"), "{whole}");
}

fn headers_of_others_go_along_with_answers() {
    let (broker, case) = (Broker::start(), Case::new(10));
    broker.create("IN", &stream("IN", "IN.>", ""));
    let bytes = std::fs::read(case.events()).expect("read");
    let trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = format!(
        "{trace}\r\nPerfkit-Line: 1\r\nX-Long: {}\r\nbaggage: a=1\r\n",
        "v".repeat(5000)
    );
    broker.publish_with("IN.other", &headers, &bytes);
    broker.publish_with("IN.other", &format!("{trace}\r\n"), b"no event\n");
    broker.until_messages("IN", 2);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    let headers = broker.headers("OUT", 1);
    assert!(
        headers.contains(trace) && headers.contains("baggage: a=1"),
        "{headers}"
    );
    assert!(
        !headers.contains("X-Long") && headers.contains("Perfkit-Sequence: 1"),
        "{headers}"
    );
    let headers = broker.headers("IN-dead", 1);
    assert!(
        headers.contains(trace) && headers.contains("Perfkit-Reason: "),
        "{headers}"
    );
}

fn dead_letters_alone_are_answered_after_all() {
    let (broker, case) = (Broker::start(), Case::new(200));
    let mut lines = case.lines();
    for at in [50, 150] {
        lines[at] = strange(&case)[at].clone();
    }
    case.feed_each(&broker, &lines);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    assert_eq!(broker.messages("IN-dead"), 2);
    // The blocks may be gone: dead letters have their lines.
    broker.purge("IN");
    let (from, to) = (broker.url("IN-dead"), broker.url("OUT"));
    let replay = |more: &str| {
        format!(
            "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 2s --report json --until-done {more}"
        )
    };
    // What is not mended fails again, and waits in the next stream.
    let (params, said) = finish(case.spawn(&replay("--consumer first")), 3);
    assert_eq!(count(&params, "dead_letters"), 2);
    assert!(said.contains("block 51 of IN is a dead letter"), "{said}");
    assert_eq!(broker.messages("IN-dead-dead"), 2);
    let (params, _) = finish(case.spawn(&replay("--ignore-unknown")), 0);
    assert_eq!(
        ["deliveries", "answers_stored"].map(|name| count(&params, name)),
        [2, 2]
    );
    assert!(broker.headers("OUT", 200).contains("Perfkit-Stream: IN-"));
    let plain = case.run("betree match --snapshot s.snap --events ad/events --ignore-unknown -qq");
    assert!(join(&case, &broker, 0) == plain.stdout);
}

fn the_same_dead_letters_are_not_answered_twice() {
    let (broker, case) = (Broker::start(), Case::new(30));
    let mut lines = case.lines();
    lines[7] = strange(&case)[7].clone();
    case.feed_each(&broker, &lines);
    finish(case.spawn(&Case::worker(&broker, "--until-done")), 3);
    let (from, to) = (broker.url("IN-dead"), broker.url("OUT"));
    let replay = format!(
        "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 2s --report json --until-done \
         --ignore-unknown"
    );
    let stored = |line: &str| {
        let (params, _) = finish(case.spawn(line), 0);
        ["answers_stored", "answers_refused"].map(|name| count(&params, name))
    };
    assert_eq!(stored(&replay), [1, 0]);
    // They are done, and whoever takes them once more finds their answers.
    assert_eq!(stored(&replay), [0, 0]);
    assert_eq!(stored(&format!("{replay} --consumer again")), [0, 1]);
    let all = Case::worker(&broker, "--until-done --ignore-unknown --consumer all");
    assert_eq!(stored(&all), [0, 30]);
    assert_eq!(broker.messages("OUT"), 30);
}

fn an_answer_that_was_too_long_is_given_once_there_is_room() {
    let (broker, case) = (Broker::start(), Case::new(200));
    broker.create("OUT", &stream("OUT", "OUT.>", ",\"max_msg_size\":300"));
    case.feed(&broker);
    let line = "--until-done --give-up-after 0";
    let (params, said) = finish(case.spawn(&Case::worker(&broker, line)), 3);
    let (dead, blocks) = (count(&params, "dead_letters"), broker.messages("IN"));
    assert!(dead > 0 && broker.messages("IN-dead") == dead, "{said}");
    assert_eq!(dead + count(&params, "answers_stored"), blocks);
    broker.update("OUT", &stream("OUT", "OUT.>", ""));
    let (from, to) = (broker.url("IN-dead"), broker.url("OUT"));
    let replay = format!(
        "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 2s --report json --until-done"
    );
    let (params, _) = finish(case.spawn(&replay), 0);
    assert_eq!(count(&params, "answers_stored"), dead);
    assert!(join(&case, &broker, 0) == case.plain);
}
