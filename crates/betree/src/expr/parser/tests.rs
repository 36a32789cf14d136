//! How expressions are parsed, and at which place errors are reported.

use super::*;

/// The nodes as a word: `a`… are leaves in order.
fn shape(text: &str) -> String {
    let expression = Expression::parse(text).unwrap();
    let letter = |node: &Node| match node {
        Node::And => '&',
        Node::Or => '|',
        Node::Not => '!',
        Node::Constant(true) => '1',
        Node::Constant(false) => '0',
        Node::Leaf(index) => char::from(b'a' + *index as u8),
    };
    expression.nodes.iter().map(letter).collect()
}

#[test]
fn not_binds_tighter_than_and_and_and_than_or() {
    assert_eq!(shape("x or y and not z"), "abc!&|");
    assert_eq!(shape("x and y or z and w"), "ab&cd&|");
    assert_eq!(shape("not not x || y && z"), "a!!bc&|");
    assert_eq!(shape("not (x or y) and z"), "ab|!c&");
    assert_eq!(shape("x or y or z"), "ab|c|");
    assert_eq!(shape("((true)) and false or x"), "10&a|");
}

#[test]
fn every_test_parses() {
    for (text, count) in [
        ("a < 1 and 1 < a and a >= 1.5 and 'x' = a", 4),
        ("a <> 'x' and a not in (1,2) and 1 not in a", 3),
        ("a one of (1) and a none of ('x','y') and a all of (1,2)", 3),
        ("a is null or a is not null or a is empty", 3),
        (
            "contains(a,'x') or starts_with(a,'x') or ends_with(a,'x')",
            3,
        ),
        ("geo_within_radius(1, -2.5, 10)", 1),
        ("segment_within(1, 2) and segment_before(s, 1, 2)", 2),
        ("within_frequency_cap('flight:ip', 'ns', 3, 0)", 1),
        ("one = 1 and all and none and is and of", 5),
    ] {
        assert_eq!(Expression::parse(text).unwrap().leaves(), count, "{text}");
    }
}

#[test]
fn errors_say_what_was_expected_and_where() {
    for (text, message) in [
        (
            "",
            "expected an attribute, a constant, 'not' or '(', found the end at column 1",
        ),
        (
            "a and\n  )",
            "expected an attribute, a constant, 'not' or '(', found ')' at line 2, column 3",
        ),
        ("(a", "the bracket is not closed at column 1"),
        (
            "a)",
            "expected 'and', 'or' or the end, found ')' at column 2",
        ),
        (
            "a b",
            "expected 'and', 'or' or the end, found 'b' at column 3",
        ),
        ("a in ()", "expected a constant, found ')' at column 7"),
        ("a one (1)", "expected 'of', found '(' at column 7"),
        (
            "5 and a",
            "expected a comparison or 'in', found 'and' at column 3",
        ),
        ("foo(1)", "unknown function 'foo' at column 1"),
        (
            "within_frequency_cap('x','n',1,2)",
            "'x' is not a type of frequency cap at column 22",
        ),
    ] {
        assert_eq!(
            Expression::parse(text).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
}

#[test]
fn depth_is_only_memory() {
    let deep = 200_000;
    let text = format!("{}a{}", "not (".repeat(deep), ")".repeat(deep));
    assert_eq!(Expression::parse(&text).unwrap().nodes.len(), deep + 1);
    assert!(Expression::parse(&"(".repeat(deep)).is_err());
}
