//! Each rule on its own, without a server.

use std::collections::HashMap;

use super::*;

#[test]
fn blocks_answers_and_dead_letters_are_three_streams() {
    assert_eq!(check_apart(["IN", "OUT", "IN-dead"]), Ok(()));
    for (streams, flag) in [
        (["IN", "IN", "IN-dead"], "--to"),
        (["IN", "OUT", "IN"], "--dead-letters"),
        (["IN", "OUT", "OUT"], "--dead-letters"),
    ] {
        let error = check_apart(streams).unwrap_err().to_string();
        assert!(error.starts_with(flag), "{error}");
    }
}

#[test]
fn a_worker_whose_consumer_was_taken_over_hears_by_whom() {
    let flags = |format: &str| Common::new([("format", Some(format.to_owned())), ("top", None)]);
    let (old, new) = (flags("json"), flags("ids"));
    assert_eq!(old.check_still("match", &old.kept()), Ok(()));
    assert_eq!(old.check_still("match", &old.kept_by(Some("two"))), Ok(()));
    // What is not kept, no worker has replaced.
    assert_eq!(old.check_still("match", &HashMap::new()), Ok(()));
    let taken = new.kept_by(Some("two"));
    assert_eq!(new.check("match", &taken, false), Ok(true));
    let error = old.check_still("match", &taken).unwrap_err();
    let said = "two has taken over the consumer match (--take-over): its workers have --format ids from now on, and this \
                one has --format json";
    assert_eq!(error.to_string(), said);
}

#[test]
fn workers_of_a_consumer_have_in_common_what_decides_an_answer() {
    let own = Common::new([("format", Some("json".to_owned())), ("top", None)]).with("shard", "a");
    assert_eq!(own.check("match", &own.kept(), false), Ok(true));
    // A consumer that somebody else made, and one of a version that kept less.
    assert_eq!(own.check("match", &HashMap::new(), false), Ok(false));
    let mut kept = Common::new([("format", Some("json".to_owned())), ("top", None)]).kept();
    kept.insert("_nats.level".to_owned(), "1".to_owned());
    assert_eq!(own.check("match", &kept, false), Ok(false));
    let other = own.clone().with("shard", "b");
    let error = other.check("match", &own.kept(), false).unwrap_err();
    for said in ["consumer match", "have --shard a", "has --shard b"] {
        assert!(error.to_string().contains(said), "{error}");
    }
    assert!(error.help().is_some_and(|help| help.contains("--consumer")));
    let error = own.check("match", &own.clone().with("top", "3").kept(), false);
    assert!(error.unwrap_err().to_string().contains("has no --top"));
    // Who takes over may say how answers look, and not where they go.
    let kept = own.clone().with("top", "3").kept();
    assert_eq!(own.check("match", &kept, true), Ok(false));
    assert!(other.check("match", &own.kept(), true).is_err());
    // Switches and hashes are shown as what they are.
    let on = Common::new([("ignore-unknown", switch(true))]);
    let off = Common::new([("ignore-unknown", switch(false))]);
    let error = on
        .check("match", &off.kept(), false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("have no --ignore-unknown, this one has --ignore-unknown,"),
        "{error}"
    );
    let (one, other) = (
        off.clone().with("snapshot", "1f"),
        off.with("snapshot", "yes"),
    );
    let error = one.check("match", &other.kept(), false).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("have --follow, this one has --snapshot of the hash 1f,"),
        "{error}"
    );
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("--take-over"))
    );
}

const WAIT: Duration = Duration::from_secs(6);

fn stream() -> AnswerStream {
    AnswerStream {
        name: "OUT".to_owned(),
        duplicate_window: Duration::from_secs(120),
        per_subject_max: None,
        messages_max: None,
        bytes_max: None,
        refuses_when_full: false,
        refuses_new: false,
        retention: Retention::Limits,
        age_max: None,
        acknowledges: true,
    }
}

fn consumer() -> BlockConsumer {
    BlockConsumer {
        name: "match".to_owned(),
        ack_wait: WAIT,
        deliveries_max: None,
        acknowledges_each: true,
        has_backoff: false,
    }
}

fn refusal(stream: &AnswerStream, once: Once) -> String {
    let error = check_answers(stream, once, WAIT, 5).unwrap_err();
    assert!(error.help().is_some());
    error.to_string()
}

#[test]
fn the_window_covers_every_delivery_four_times() {
    assert_eq!(window_min(WAIT, 5), Duration::from_secs(120));
    assert_eq!(check_answers(&stream(), Once::Window, WAIT, 5), Ok(()));
    let short = AnswerStream {
        duplicate_window: Duration::from_secs(119),
        ..stream()
    };
    let said = refusal(&short, Once::Window);
    assert!(
        said.contains("stream OUT") && said.contains("119s"),
        "{said}"
    );
    assert!(said.contains("4 x ack wait 6s x 5 deliveries = 120s"));
}

#[test]
fn always_needs_a_subject_an_answer_that_refuses_a_second_one() {
    let right = AnswerStream {
        per_subject_max: Some(1),
        refuses_when_full: true,
        refuses_new: true,
        duplicate_window: Duration::ZERO,
        ..stream()
    };
    assert_eq!(check_answers(&right, Once::Always, WAIT, 5), Ok(()));
    for wrong in [
        AnswerStream {
            per_subject_max: None,
            ..right.clone()
        },
        AnswerStream {
            per_subject_max: Some(2),
            ..right.clone()
        },
        AnswerStream {
            refuses_new: false,
            ..right.clone()
        },
        AnswerStream {
            age_max: Some(Duration::from_secs(119)),
            ..right.clone()
        },
        AnswerStream {
            acknowledges: false,
            ..right
        },
    ] {
        refusal(&wrong, Once::Always);
    }
}

#[test]
fn streams_that_drop_answers_are_refused() {
    let full = |messages_max, bytes_max| AnswerStream {
        messages_max,
        bytes_max,
        ..stream()
    };
    for (wrong, said) in [
        (full(Some(9), None), "max_msgs 9, discard old"),
        (full(None, Some(99)), "max_bytes 99, discard old"),
    ] {
        let error = refusal(&wrong, Once::Window);
        assert!(error.contains(said), "{error}");
        assert!(check_dead_letters(&wrong).is_err());
        assert_eq!(check_blocks(&wrong), Ok(()));
        let waits = AnswerStream {
            refuses_when_full: true,
            ..wrong
        };
        assert_eq!(check_answers(&waits, Once::Window, WAIT, 5), Ok(()));
        assert_eq!(check_dead_letters(&waits), Ok(()));
    }
    let few = AnswerStream {
        per_subject_max: Some(3),
        ..stream()
    };
    let error = refusal(&few, Once::Window);
    assert!(error.contains("keeps 3 messages of a subject"), "{error}");
    assert!(check_dead_letters(&few).is_err() && check_blocks(&few).is_err());
    for retention in [Retention::Interest, Retention::Acknowledged] {
        let removes = AnswerStream {
            retention,
            ..stream()
        };
        assert!(refusal(&removes, Once::Window).contains("retention"));
        let removes = AnswerStream {
            per_subject_max: Some(1),
            refuses_when_full: true,
            refuses_new: true,
            ..removes
        };
        assert!(refusal(&removes, Once::Always).contains("retention"));
    }
}

#[test]
fn consumers_that_lose_blocks_are_refused() {
    assert_eq!(check_consumer(&consumer(), 5), Ok(()));
    let more = BlockConsumer {
        deliveries_max: Some(6),
        ..consumer()
    };
    assert_eq!(check_consumer(&more, 5), Ok(()));
    for wrong in [
        BlockConsumer {
            deliveries_max: Some(5),
            ..consumer()
        },
        BlockConsumer {
            acknowledges_each: false,
            ..consumer()
        },
        BlockConsumer {
            has_backoff: true,
            ..consumer()
        },
        BlockConsumer {
            ack_wait: Duration::from_millis(1),
            ..consumer()
        },
    ] {
        assert!(check_consumer(&wrong, 5).is_err(), "{wrong:?}");
    }
}

#[test]
fn limits_that_remove_blocks_are_named() {
    assert_eq!(drops(&stream()), []);
    let limits = AnswerStream {
        bytes_max: Some(1000),
        age_max: Some(Duration::from_secs(60)),
        ..stream()
    };
    let said: Vec<String> = drops(&limits)
        .into_iter()
        .map(|drops| drops.reason)
        .collect();
    assert!(
        said[0].contains("(max_bytes 1000, discard old)"),
        "{said:?}"
    );
    assert!(said[1].contains("after 60s (max_age)"), "{said:?}");
    // One that refuses new ones when it is full removes none.
    let refuses = AnswerStream {
        refuses_when_full: true,
        age_max: None,
        ..limits
    };
    assert_eq!(drops(&refuses), []);
    let topic = drops_of_topic("IN", Some(Duration::from_secs(1)), Some(5));
    assert!(topic[0].reason.contains("5 bytes (retention.bytes)"));
    assert!(topic[1].reason.contains("after 1s (retention.ms)"));
    assert_eq!(drops_of_topic("IN", None, None), []);
}
