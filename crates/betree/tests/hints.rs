//! Mistakes that people make most often: where they are, and what helps.

use betree::{BeTree, Constants, Domain, ErrorKind, Expression, Place, SubscriptionId, Undefined};

const DOMAINS: &str = "age|integer|true|0|120\nname|string|true||3\nprice|float|true|0|9\nb|boolean|true\n\
    li|integer list|true|0|100000\ntags|string list|true\nfrequency_caps|frequency|true\n";

fn refused(text: &str) -> betree::Error {
    let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), Undefined::False);
    let added = Expression::parse(text).and_then(|parsed| {
        let constants = Constants::default();
        tree.insert(SubscriptionId(1), &parsed, &constants)
    });
    added.expect_err(text)
}

fn column(text: &str) -> u32 {
    match refused(text).place() {
        Place::Text { line: 1, column } => column,
        place => panic!("{text}: {place:?}"),
    }
}

#[test]
fn words_and_signs_of_other_languages_have_a_hint() {
    for (text, hint) in [
        ("age == 5", "write '=' once"),
        ("age >== 5", "write '=' once"),
        ("age != 5", "write '<>'"),
        ("!b", "write 'not'"),
        ("b & b", "write 'and'"),
        ("b | b", "write 'or'"),
        ("b AND b", "in lower case: 'and'"),
        ("b OR b", "in lower case: 'or'"),
        ("NOT b", "in lower case: 'not'"),
        ("NOT (b)", "in lower case: 'not'"),
        ("age IN (5)", "in lower case: 'in'"),
        ("age is Null", "in lower case: 'null'"),
        ("age IS null", "in lower case: 'is'"),
        ("b and True", "in lower case: 'true'"),
        ("age = null", "write `is null`"),
        ("age between 1 and 5", "write two comparisons"),
        ("name like 'x'", "write `contains(name, "),
        ("li contains 5", "write `5 in name` for a list"),
        ("b = true", "a boolean is a test by itself: `b` or `not b`"),
        (
            "b <> false",
            "a boolean is a test by itself: `b` or `not b`",
        ),
        ("name = x", "texts have quotes"),
        ("age in [5]", "write lists in round brackets"),
        ("name = \u{201c}x\u{201d}", "straight quotes"),
        ("name one of ('a')", "write `name in (…)`"),
        ("'a' in name", "write `name in (…)`"),
        ("li in (5)", "write `li one of (…)`"),
        ("li = 5", "write `li one of (…)`"),
        ("aeg > 5", "did you mean 'age'?"),
        ("contain(name, 'x')", "did you mean 'contains'?"),
        ("now()", "the functions are contains, "),
        (
            "within_frequency_cap('fligth:ip', 'n', 1, 2)",
            "did you mean 'flight'? the types are advertiser, campaign, campaign_group, flight, product, each",
        ),
    ] {
        let error = refused(text);
        let found = error.hint().unwrap_or_default();
        assert!(found.contains(hint), "{text}: {error}: {found}");
    }
    for text in ["age > 5 5", "(b", "age > 121", "zzzzzz = 1"] {
        assert_eq!(refused(text).hint(), None, "{text}");
    }
}

#[test]
fn the_wrong_constant_of_a_test_is_pointed_at() {
    for (text, column_of) in [
        ("b and age in (1, 2, 'x', 3)", 'x'),
        ("age in (1, 2, 777)", '7'),
        ("b and 777 < age", '7'),
        ("price in (1, 2.5, 'x')", 'x'),
        ("price > 77", '7'),
        ("li one of (1, -7)", '-'),
        ("tags all of ('a', 7)", '7'),
        ("name in ('a', 'b', 'c', 'xd')", 'x'),
    ] {
        let at = text.find(column_of).unwrap() as u32 + 1;
        let is_text = text.as_bytes()[at as usize - 2] == b'\'';
        assert_eq!(column(text), at - u32::from(is_text), "{text}");
    }
    let many: Vec<String> = (0..100_000).map(|value| value.to_string()).collect();
    let text = format!("li one of ({},'oops')", many.join(","));
    assert_eq!(column(&text) as usize, text.find("'oops'").unwrap() + 1);
    // What is wrong with the whole test is at its start.
    assert_eq!(column("b or li in (5)"), 6);
    assert_eq!(refused("b or li in (5)").kind(), ErrorKind::Type);
}
