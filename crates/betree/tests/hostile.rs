//! Hostile inputs: very large, very deep, wrong in every field.

use crate::common::{self, Random, domain, tree};
use betree::{BeTree, Budget, Buffers, Constants, Domain, ErrorKind, Expression, Isa};
use betree::{OVERSHOOT_MAX, Progress, SubscriptionId, Undefined};

const LEAVES: usize = 1_000_000;

/// Searches in small steps and checks what each of them does.
fn stepped(snapshot: &betree::Snapshot, event: &betree::Event) -> (Vec<SubscriptionId>, u64) {
    let mut buffers = Buffers::with_isa(Isa::Scalar);
    let mut search = snapshot
        .search_iterator(event, &mut buffers)
        .expect("its own event");
    let mut steps = 0;
    loop {
        let before = search.reductions();
        let progress = search.step(Budget::reductions(2_000));
        assert!(search.reductions() - before <= 2_000 + OVERSHOOT_MAX);
        steps += 1;
        if progress == Progress::Done {
            return (search.ids().to_vec(), steps);
        }
    }
}

#[test]
fn a_million_leaves_deep_or_wide_parse_match_yield_and_drop() {
    let domain = Domain::parse("a|boolean|false\nb|boolean|false\n").expect("a domain");
    let mut deep = "(a and (b or ".repeat(LEAVES / 2);
    deep.push('a');
    deep.push_str(&"))".repeat(LEAVES / 2));
    let wide = format!("not b{}", " and a or b".repeat(LEAVES / 2));
    let mut tree = BeTree::new(domain, Undefined::False);
    for (id, text) in [(1, &deep), (2, &wide)] {
        let expression = Expression::parse(text).expect("it parses");
        assert_eq!(expression.leaves(), LEAVES + 1);
        tree.insert(SubscriptionId(id), &expression, &Constants::default())
            .expect("it is allowed");
    }
    let snapshot = tree.snapshot();
    let event = snapshot.event(r#"{"a":true,"b":false}"#).expect("an event");
    let (ids, steps) = stepped(&snapshot, &event);
    assert_eq!(ids, [1, 2].map(SubscriptionId));
    assert!(steps > 100, "{steps} steps");
    let event = snapshot
        .event(r#"{"a":false,"b":false}"#)
        .expect("an event");
    assert_eq!(stepped(&snapshot, &event).0, []);
}

#[test]
fn lists_of_any_length_yield_on_the_way() {
    let mut tree = BeTree::new(
        Domain::parse("l|integer list|true\n").expect("a domain"),
        Undefined::False,
    );
    let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    for (id, word) in [(1, "one"), (2, "none"), (3, "all")] {
        let text = format!("l {word} of ({})", numbers.join(","));
        let expression = Expression::parse(&text).expect("it parses");
        tree.insert(SubscriptionId(id), &expression, &Constants::default())
            .expect("it is allowed");
    }
    let snapshot = tree.snapshot();
    for (list, expected) in [
        ("7".to_owned(), vec![1]),
        ("-7".to_owned(), vec![2]),
        (numbers.join(","), vec![1, 3]),
    ] {
        let json = format!("{{\"l\":[{list}]}}");
        let event = snapshot.event(&json).expect("an event");
        let (ids, _) = stepped(&snapshot, &event);
        let expected: Vec<_> = expected.into_iter().map(SubscriptionId).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn a_large_event_is_read_in_steps() {
    let mut tree = BeTree::new(domain(), Undefined::False);
    common::insert(&mut tree, 1, "il one of (5) and sl one of ('x')");
    let snapshot = tree.snapshot();
    let numbers: Vec<String> = (0..150_000).map(|number| number.to_string()).collect();
    let text = "y".repeat(60_000);
    let json = format!(
        "{{\"b3\":true,\"i2\":1,\"s2\":\"{text}\",{}\"il\":[{}],\"sl\":[\"{text}\",\"x\"]}}",
        " ".repeat(100_000),
        numbers.join(",")
    );
    assert!(json.len() > 1 << 20);
    let mut reader = snapshot.event_reader(json.as_bytes(), false);
    let mut steps = 0;
    loop {
        let before = reader.reductions();
        let progress = reader.step(Budget::reductions(500)).expect("an event");
        assert!(reader.reductions() - before <= 500 + OVERSHOOT_MAX);
        steps += 1;
        if progress == Progress::Done {
            break;
        }
    }
    assert!(steps > 500, "{steps} steps");
    let event = reader.finish().expect("an event");
    assert_eq!(
        snapshot.search(&event).as_deref(),
        Ok(&[SubscriptionId(1)][..])
    );
}

#[test]
fn refused_expressions_say_why_and_where_and_leave_the_tree_unchanged() {
    let mut tree = BeTree::new(domain(), Undefined::False);
    for (text, kind, message) in [
        (
            "b1 and\n nope",
            ErrorKind::UnknownAttribute,
            "unknown attribute 'nope' at line 2, column 2",
        ),
        (
            "i1 = 'x'",
            ErrorKind::Type,
            "attribute 'i1' (integer) has another type than these constants at column 6",
        ),
        (
            "i1 > 1.5",
            ErrorKind::Type,
            "attribute 'i1' (integer) cannot be compared with this constant at column 6",
        ),
        (
            "b1 or i1",
            ErrorKind::Type,
            "attribute 'i1' (integer) needs a comparison: only a boolean can stand alone at column 7",
        ),
        (
            "i1 in (1, 11)",
            ErrorKind::Bounds,
            "11 is outside the bounds of attribute 'i1', -10 to 10 at column 11",
        ),
        (
            "f1 < 10.5",
            ErrorKind::Bounds,
            "10.5 is outside the bounds of attribute 'f1', -10 to 10 at column 6",
        ),
        (
            "il one of (101)",
            ErrorKind::Bounds,
            "101 is outside the bounds of attribute 'il', -100 to 100 at column 12",
        ),
        (
            "il one of ('a')",
            ErrorKind::Type,
            "attribute 'il' (integer list) is not a list of such constants at column 12",
        ),
        (
            "b3 is null",
            ErrorKind::Undefined,
            "attribute 'b3' is never undefined: the domain requires it at column 1",
        ),
        (
            "i1 is empty",
            ErrorKind::Type,
            "attribute 'i1' (integer) is not a list, so `is empty` does not apply at column 1",
        ),
        (
            "contains(i1, 'x')",
            ErrorKind::Type,
            "attribute 'i1' (integer) is not a string at column 1",
        ),
        (
            "e1 < 3",
            ErrorKind::Type,
            "attribute 'e1' (integer enum) has no order: `=`, `<>` and `in` are its relations at column 1",
        ),
    ] {
        let expression = Expression::parse(text).expect("it parses");
        let error = tree
            .insert(SubscriptionId(1), &expression, &common::CONSTANTS)
            .expect_err(text);
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
        assert!(tree.is_empty());
    }
    let capped = Expression::parse("within_frequency_cap('flight', 'x', 1, 2)").expect("it parses");
    let error = tree
        .insert(SubscriptionId(1), &capped, &Constants::default())
        .expect_err("a constant is missing");
    assert_eq!(error.kind(), ErrorKind::Constants);
}

#[test]
fn distinct_values_are_bounded() {
    let domain = Domain::parse("s|string|true||2\ne|integer enum|true||1\n").expect("a domain");
    let mut tree = BeTree::new(domain, Undefined::False);
    common::insert(&mut tree, 1, "s = 'a' or s in ('a', 'b')");
    let third = Expression::parse("e = 1 and s = 'c'").expect("it parses");
    let error = tree
        .insert(SubscriptionId(2), &third, &Constants::default())
        .expect_err("a third value");
    assert_eq!(error.kind(), ErrorKind::Bounds);
    // The enum's only value was not taken by what was refused.
    common::insert(&mut tree, 2, "e = 2 and s <> 'b'");
}

#[test]
fn refused_events_name_the_attribute_and_the_byte() {
    let mut tree = BeTree::new(domain(), Undefined::False);
    common::insert(&mut tree, 1, "b3");
    let snapshot = tree.snapshot();
    for (json, message) in [
        ("", "expected an object, found the end at byte 0"),
        ("[]", "expected an object, found a list at byte 0"),
        ("{\"b3\" true}", "expected ':', found a boolean at byte 6"),
        (
            "{\"b3\":1}",
            "attribute 'b3': expected boolean, found an integer at byte 6",
        ),
        (
            "{\"i2\":1.0}",
            "attribute 'i2': expected integer, found a float at byte 6",
        ),
        (
            "{\"il\":[1,\"a\"]}",
            "attribute 'il': expected integer list, found a string at byte 9",
        ),
        (
            "{\"il\":[1,]}",
            "attribute 'il': expected integer list, found ']' at byte 9",
        ),
        (
            "{\"seg\":[[1]]}",
            "attribute 'seg': expected segments, found ']' at byte 10",
        ),
        (
            "{\"frequency_caps\":[[\"x\",1,\"a\",1,1]]}",
            "'x' is not a type of frequency cap at byte 20",
        ),
        ("{\"x\":1}", "unknown attribute 'x' at byte 1"),
        (
            "{\"b3\":true,\"b3\":true}",
            "attribute 'b3' appears twice at byte 11",
        ),
        (
            "{\"b3\":true,\"i2\":1,\"s2\":\"\"} x",
            "not JSON at byte 27",
        ),
        (
            "{\"b3\":true}",
            "the event lacks the required attribute 'i2'",
        ),
        (
            "{\"now\":\"x\"}",
            "attribute 'now': expected integer, found a string at byte 7",
        ),
    ] {
        let error = snapshot.event(json).expect_err(json);
        assert_eq!(error.to_string(), message, "{json}");
    }
    let deep = format!("{{\"x\":{}", "[".repeat(1_000_000));
    let mut reader = snapshot.event_reader(deep.as_bytes(), true);
    let error = reader.step(Budget::UNLIMITED).expect_err("too deep");
    assert!(
        error
            .to_string()
            .starts_with("brackets nest deeper than 65536 levels at byte ")
    );
    // Each level is an object in a list; the last one has a name that is no text.
    let deep = "[{\"a\":".repeat(32_768);
    let whole = format!("{{\"x\":{deep}1{}}}", "}]".repeat(32_768));
    snapshot
        .event_reader(whole.as_bytes(), true)
        .step(Budget::UNLIMITED)
        .expect("as deep as it may be");
    let wrong = format!("{{\"x\":{deep}1{}", "}]".repeat(100) + "]");
    let mut reader = snapshot.event_reader(wrong.as_bytes(), true);
    let error = reader.step(Budget::UNLIMITED).expect_err("not JSON");
    assert!(
        error
            .to_string()
            .starts_with("expected ',' or '}', found ']' at byte ")
    );
}

/// What is passed over has to be JSON all the same: another reader is asked.
#[test]
fn values_that_nobody_asked_for_are_json() {
    const TOKENS: [&str; 11] = [
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"a\"",
        "-0.5e3",
        "null",
        "true",
        "9223372036854775808",
    ];
    let snapshot = tree(domain(), Undefined::False, &["b1".to_owned()]).snapshot();
    let accepted = |json: &str| {
        let mut reader = snapshot.event_reader(json.as_bytes(), true);
        reader.step(Budget::UNLIMITED).is_ok()
    };
    let mut random = Random(31);
    let (mut is, mut is_not) = (0, 0);
    for round in 0..200_000 {
        let count = 1 + random.below(10);
        let mut value: Vec<&str> = (0..count).map(|_| random.pick(&TOKENS)).collect();
        // Random brackets hardly ever fit: some stand in others that do.
        match round % 3 {
            0 => {}
            1 => value = [&["["][..], &value, &["]"]].concat(),
            _ => value = [&["{", "\"a\"", ":"][..], &value, &["}"]].concat(),
        }
        let json = format!("{{\"x\":{}}}", value.join(" "));
        let right = serde_json::from_str::<serde_json::Value>(&json).is_ok();
        // Twice the same name, of an attribute, is refused here: none of the names is one.
        assert_eq!(accepted(&json), right, "{json}");
        *(if right { &mut is } else { &mut is_not }) += 1;
    }
    assert!(is > 5_000 && is_not > 5_000, "{is} {is_not}");
    let deep = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(accepted(&deep(65_536)) && !accepted(&deep(65_537)));
}

#[test]
fn a_float_may_be_an_integer_of_any_width() {
    let domain = Domain::parse("f|float|true\ni|integer|true\n").expect("a domain");
    let texts = ["f = 1e20", "i is null"].map(str::to_owned);
    let snapshot = tree(domain, Undefined::False, &texts).snapshot();
    let event = snapshot.event("{\"f\":100000000000000000000}");
    let found = snapshot.search(&event.expect("an event"));
    assert_eq!(found.as_deref(), Ok(&[1, 2].map(SubscriptionId)[..]));
    for (json, message) in [
        (
            "{\"i\":9223372036854775808}",
            "attribute 'i': expected integer, found an integer that does not fit 64 bits at byte 5",
        ),
        (
            "{\"now\":-9223372036854775809}",
            "'now': expected integer, found an integer that does not fit 64 bits at byte 7",
        ),
    ] {
        let error = snapshot.event(json).expect_err(json);
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), ErrorKind::Type);
    }
}

#[test]
fn an_event_belongs_to_the_state_that_read_it() {
    let mut tree = BeTree::new(domain(), Undefined::False);
    common::insert(&mut tree, 1, "b3");
    let before = tree.snapshot();
    let event = before
        .event(r#"{"b3":true,"i2":1,"s2":"q"}"#)
        .expect("an event");
    common::insert(&mut tree, 2, "s2 = 'q'");
    let after = tree.snapshot();
    assert_eq!(
        after.search(&event).map_err(|error| error.kind()),
        Err(ErrorKind::ForeignEvent)
    );
    assert_eq!(
        before.search(&event).as_deref(),
        Ok(&[SubscriptionId(1)][..])
    );
    assert_eq!((before.len(), after.len()), (1, 2));
}

#[test]
fn an_explanation_names_all_that_fails_and_the_last_reason() {
    let domain = Domain::parse("a|boolean|true\nb|boolean|true\nc|boolean|true\nd|boolean|true\n");
    let mut tree = BeTree::new(domain.expect("a domain"), Undefined::False);
    let cases: [(&str, &str, &[&str]); 6] = [
        ("a and b and c", "b", &["b", "c"]),
        ("(a or c) and (b or d) and c", "d", &["b", "c", "d"]),
        ("not (a and (c or not b))", "b", &["b", "not (a)"]),
        ("b or c or d", "d", &["b", "c", "d"]),
        ("a and not (b or a)", "a", &["not (a)"]),
        ("a", "", &[]),
    ];
    for (id, (text, ..)) in (1..).zip(cases) {
        common::insert(&mut tree, id, text);
    }
    let snapshot = tree.snapshot();
    let event = snapshot
        .event(r#"{"a":true,"b":false,"c":false}"#)
        .expect("an event");
    for (id, (text, reason, failing)) in (1..).zip(cases) {
        let explained = snapshot
            .explain(&event, SubscriptionId(id))
            .expect("it is there");
        assert_eq!(explained.matched, reason.is_empty(), "{text}");
        assert_eq!(
            explained.last_reason.as_deref().unwrap_or(""),
            reason,
            "{text}"
        );
        let failed = explained.tests.iter().filter(|test| test.failing);
        let mut failed: Vec<&str> = failed.map(|test| test.text.as_str()).collect();
        failed.sort_unstable();
        assert_eq!(failed, failing, "{text}");
    }
}
