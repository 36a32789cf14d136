//! The language as users of the C library write it, each form with what it means.

use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};

const DOMAINS: &str = "user-id|integer|true\nname|string|true\nf|float|true|-100|100\ntags|string list|true\n\
     g|segments|true\nany|float|true\nin|integer|true\nand|boolean|true\nor|string|true\n";

/// Whether an expression matches an event, by a search and as it is explained.
fn matches(text: &str, event: &str) -> bool {
    let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), Undefined::False);
    let parsed = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let added = tree.insert(SubscriptionId(1), &parsed, &Constants::default());
    added.unwrap_or_else(|error| panic!("{text}: {error}"));
    let snapshot = tree.snapshot();
    let event = snapshot.event(event).unwrap();
    let found = !snapshot.search(&event).unwrap().is_empty();
    let explained = snapshot.explain(&event, SubscriptionId(1)).unwrap();
    assert_eq!(explained.matched, found, "{text}");
    for test in explained.tests {
        assert!(Expression::parse(&test.text).is_ok(), "{}", test.text);
    }
    found
}

#[test]
fn every_form_means_what_users_of_the_c_library_expect() {
    for (text, event, right) in [
        ("user-id = 7", r#"{"user-id": 7}"#, true),
        ("user-id = - 7", r#"{"user-id": -7}"#, true),
        ("user-id <-5", r#"{"user-id": -6}"#, true),
        ("f = 5.", r#"{"f": 5}"#, true),
        ("f < - 5.", r#"{"f": -5.5}"#, true),
        (r#"name = "say \"a\"""#, r#"{"name": "say \"a\""}"#, true),
        (r"name = 'it\'s'", r#"{"name": "it's"}"#, true),
        (r"name = 'it\'s'", r#"{"name": "it\\'s"}"#, false),
        (r"name = 'a\\'", r#"{"name": "a\\"}"#, true),
        (r"name = 'a\b'", r#"{"name": "a\\b"}"#, true),
        (r#"contains(name, "\"")"#, r#"{"name": "a\"b"}"#, true),
        (r#"tags one of ("a\"b")"#, r#"{"tags": ["a\"b"]}"#, true),
        ("f in (1.5, 2)", r#"{"f": 2}"#, true),
        ("f in (1.5, 2)", r#"{"f": 1.5}"#, true),
        ("f in (1.5, 2)", r#"{"f": 1.6}"#, false),
        ("f in (0)", r#"{"f": -0.0}"#, true),
        ("f in (1.5, 2)", "{}", false),
        ("f not in (1.5, 2)", r#"{"f": 2}"#, false),
        ("f not in (1.5, 2)", r#"{"f": 3}"#, true),
        ("f not in (1.5, 2)", "{}", false),
        ("not (f in (1.5, 2))", "{}", true),
        ("not (f not in (1.5, 2))", "{}", true),
        ("not (f not in (1.5, 2))", r#"{"f": 2}"#, true),
        // Constants and values are the nearest floats.
        (
            "any = 9007199254740992",
            r#"{"any":9007199254740993}"#,
            true,
        ),
        ("any in (0.1, 1e-400)", r#"{"any":0}"#, true),
        ("any = 0", r#"{"any":1e-400}"#, true),
        ("any = 0.3", r#"{"any":0.30000000000000004}"#, false),
        // Names that are words of the language.
        (
            "in in (3) and and or or = 'x'",
            r#"{"in":3,"and":true}"#,
            true,
        ),
        ("and and in not in (3)", r#"{"in":3,"and":true}"#, false),
        ("not and or 3 = in", r#"{"in":3,"and":true}"#, true),
        (
            "contains(or, 'x') and not in = 3",
            r#"{"in":4,"or":"x"}"#,
            true,
        ),
        // Times before 1970: a microsecond more than the seconds ago is before.
        (
            "segment_before(g, 1, 10)",
            r#"{"g":[[1,-10000001]],"now":0}"#,
            true,
        ),
        (
            "segment_before(g, 1, 10)",
            r#"{"g":[[1,-10000000]],"now":0}"#,
            false,
        ),
        (
            "segment_within(g, 1, 10)",
            r#"{"g": [ [1,-10000001]],"now":0}"#,
            false,
        ),
        (
            "segment_within(g, 1, 10)",
            r#"{"g":[[1,9000000]],"now":19}"#,
            true,
        ),
        (
            "segment_within(g, 1, 10)",
            r#"{"g":[[1,8999999]],"now":19}"#,
            false,
        ),
    ] {
        assert_eq!(matches(text, event), right, "{text} of {event}");
    }
}

#[test]
fn floats_in_lists_keep_to_the_bounds_and_types() {
    let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), Undefined::False);
    for (text, message) in [
        (
            "f in (1, 101)",
            "101 is outside the bounds of attribute 'f', -100 to 100 at column 10",
        ),
        (
            "f in ('a')",
            "attribute 'f' (float) cannot be compared with a text at column 7",
        ),
    ] {
        let expression = Expression::parse(text).unwrap();
        let added = tree.insert(SubscriptionId(1), &expression, &Constants::default());
        assert_eq!(added.unwrap_err().to_string(), message, "{text}");
    }
}
