//! What an explanation says: one line for each test as it was written, what the event has, and what it lacks.

use betree::{
    BeTree, Constants, Domain, ExplainedKind, Explanation, Expression, SubscriptionId, Undefined,
};

const DOMAINS: &str = "b|boolean|true\ni|integer|true\nf|float|true\ns|string|true\nt|string|true\n\
    li|integer list|true\nls|string list|true\nlatitude|float|true\nlongitude|float|true\n\
    segments_with_timestamp|segments|true\nfrequency_caps|frequency|true\n";

/// Explains an expression. Others use more strings.
fn explain(text: &str, event: &str, undefined: Undefined) -> Explanation {
    let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), undefined);
    let constants = Constants {
        flight_id: Some(5),
        ..Constants::default()
    };
    for (id, text) in [(1, text), (2, "s = 'known' or contains(t, 'x')")] {
        let parsed = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        tree.insert(SubscriptionId(id), &parsed, &constants)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let snapshot = tree.snapshot();
    let event = snapshot.event(event).unwrap();
    let explained = snapshot.explain(&event, SubscriptionId(1)).unwrap();
    let found = snapshot.search(&event).unwrap();
    assert_eq!(explained.matched, found.contains(&SubscriptionId(1)));
    explained
}

#[test]
fn a_test_says_what_the_event_has() {
    for (text, event, has) in [
        ("b", r#"{"b":false}"#, "the event has false"),
        ("b", "{}", "the event lacks b"),
        ("b is not null", "{}", "the event lacks b"),
        ("i > 3", r#"{"i":1}"#, "the event has 1"),
        ("i in (1, 2)", r#"{"i":-7}"#, "the event has -7"),
        ("f > 3", r#"{"f":1.5}"#, "the event has 1.5"),
        ("s = 'a'", r#"{"s":"known"}"#, "the event has \"known\""),
        (
            "s = 'a'",
            r#"{"s":"new"}"#,
            "the event has a string that no expression has",
        ),
        ("t = 'a'", r#"{"t":"new"}"#, "the event has \"new\""),
        (
            "starts_with(s, 'a')",
            r#"{"s":"new"}"#,
            "the event has \"new\"",
        ),
        (
            "li one of (1, 2)",
            r#"{"li":[]}"#,
            "the event has an empty list",
        ),
        (
            "li one of (1, 2)",
            r#"{"li":[7]}"#,
            "the event has only elements that no expression has",
        ),
        ("li none of (1, 2)", r#"{"li":[7, 2]}"#, "the event has (2)"),
        ("li all of (1, 2)", r#"{"li":[2]}"#, "the event lacks (1)"),
        (
            "ls is empty and ls one of ('a')",
            r#"{"ls":["a", "b"]}"#,
            "the event has (\"a\") among 2 elements",
        ),
        (
            "geo_within_radius(50, 0, 10)",
            r#"{"latitude":50,"longitude":1}"#,
            "the event is at 50, 1: 71.4",
        ),
        (
            "geo_within_radius(50, 0, 10)",
            r#"{"latitude":50}"#,
            "the event lacks longitude",
        ),
        (
            "segment_within(7, 60)",
            r#"{"now":1000,"segments_with_timestamp":[[7, 900000000]]}"#,
            "the event entered it 100 s before now",
        ),
        (
            "segment_before(7, 60)",
            r#"{"now":1000,"segments_with_timestamp":[[7, 1002000000]]}"#,
            "the event entered it 2 s after now",
        ),
        (
            "segment_within(7, 60)",
            r#"{"now":1000,"segments_with_timestamp":[]}"#,
            "the event lacks the segment",
        ),
        (
            "within_frequency_cap('flight', 'n', 3, 60)",
            r#"{"now":1000,"frequency_caps":[["flight", 5, "n", 4, 990000000]]}"#,
            "the event counts 4 of 3, 10 s before now",
        ),
    ] {
        let explained = explain(text, event, Undefined::False);
        assert!(!explained.matched, "{text} of {event}");
        let failing = explained.tests.iter().find(|test| test.failing).unwrap();
        assert!(failing.event.starts_with(has), "{text}: {}", failing.event);
    }
}

#[test]
fn an_event_without_now_is_said_to_lack_it() {
    for (text, event) in [
        (
            "within_frequency_cap('flight', 'n', 3, 60)",
            r#"{"frequency_caps":[]}"#,
        ),
        (
            "segment_within(7, 60)",
            r#"{"segments_with_timestamp":[[7, 1]]}"#,
        ),
        (
            "segment_before(7, 60)",
            r#"{"segments_with_timestamp":[[7, 1]]}"#,
        ),
    ] {
        for undefined in [Undefined::False, Undefined::Unknown] {
            let explained = explain(text, event, undefined);
            assert_eq!(explained.last_reason.as_deref(), Some("now"), "{text}");
            assert_eq!(explained.tests[0].outcome, None);
            assert_eq!(explained.tests[0].event, "the event lacks now");
        }
    }
    let explained = explain("segment_within(7, 60)", r#"{"now":1}"#, Undefined::False);
    let attribute = Some("segments_with_timestamp");
    assert_eq!(explained.last_reason.as_deref(), attribute);
}

#[test]
fn a_long_list_is_one_test() {
    let list = |from: u32, count: u32| {
        let values: Vec<String> = (from..from + count)
            .map(|value| value.to_string())
            .collect();
        values.join(", ")
    };
    for count in [1, 20, 31, 32, 33, 64, 65, 5_000] {
        for (operator, event, matched) in [
            ("li one of", r#"{"li":[1, 9999]}"#, true),
            ("li one of", r#"{"li":[9999]}"#, false),
            ("li none of", r#"{"li":[9999]}"#, true),
            ("li none of", r#"{"li":[1]}"#, false),
            ("li all of", r#"{"li":[1]}"#, count == 1),
            ("f in", r#"{"f":1}"#, true),
            ("f in", r#"{"f":9999}"#, false),
            ("f not in", r#"{"f":9999}"#, true),
            ("f not in", "{}", false),
        ] {
            for negated in [false, true] {
                let test = format!("{operator} ({})", list(1, count));
                let text = match negated {
                    true => format!("not ({test})"),
                    false => test.clone(),
                };
                let explained = explain(&text, event, Undefined::False);
                assert_eq!(explained.matched, matched != negated, "{operator} {count}");
                assert_eq!(explained.tests.len(), 1, "{operator} {count}");
                assert_eq!(explained.nodes.len(), 1, "{operator} {count}");
                assert_eq!(explained.tests[0].failing, !explained.matched);
                assert_eq!(explained.tests[0].holding, explained.matched);
                let is_whole = count <= 20;
                assert_eq!(explained.tests[0].text.contains('…'), !is_whole);
                if let (false, false) = (is_whole, negated) {
                    let end = format!(", 20, … {} more)", count - 20);
                    assert!(explained.tests[0].text.starts_with(operator));
                    assert!(
                        explained.tests[0].text.ends_with(&end),
                        "{operator} {count}"
                    );
                }
            }
        }
    }
}

#[test]
fn tests_stay_apart_that_were_written_apart() {
    for (text, tests, groups) in [
        ("li one of (1) or li one of (2)", 2, 1),
        ("li all of (1) and li all of (2)", 2, 1),
        ("(li one of (1) or b) and li one of (2)", 3, 2),
        ("li one of (1) and (b or li none of (2))", 3, 2),
    ] {
        let explained = explain(text, r#"{"li":[1]}"#, Undefined::False);
        assert_eq!(explained.tests.len(), tests, "{text}");
        let is_group = |kind| matches!(kind, ExplainedKind::And | ExplainedKind::Or);
        let found = explained.nodes.iter().filter(|node| is_group(node.kind));
        assert_eq!(found.count(), groups, "{text}");
    }
    // A long list next to another test of the same list.
    let many: Vec<String> = (10..100).map(|value| value.to_string()).collect();
    let text = format!("b or li one of ({}) or li one of (1)", many.join(", "));
    let explained = explain(&text, r#"{"li":[99]}"#, Undefined::False);
    let texts: Vec<&str> = explained.because().map(|test| test.text.as_str()).collect();
    assert!(
        texts.len() == 1 && texts[0].ends_with("… 70 more)"),
        "{texts:?}"
    );
    assert_eq!(explained.tests.len(), 3);
}
