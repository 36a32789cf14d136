//! Seeds of the targets over expressions and events: one for each test and each type.

use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};

use crate::Seed;

const EXPRESSIONS: [(&str, &str); 8] = [
    ("boolean", "b and not (c or b) || true"),
    ("compare", "i <= -3 and 4 > i or f < 2.5 and i = 7"),
    ("member", "s in ('a', \"b\") and i not in (1, 2) and 1 in l"),
    ("list", "l one of (1, 2) or t none of ('a') or l all of (3)"),
    ("null", "b is null or i is not null or l is empty"),
    (
        "text",
        "contains(s, 'a') or starts_with(s, '') or ends_with(s, 'b')",
    ),
    (
        "function",
        "geo_within_radius(1, 2.5, 10) and segment_within(g, 1, 20) and segment_before(1, 2)",
    ),
    ("cap", "within_frequency_cap('flight:ip', 'ns', 3, 60)"),
];

const EVENTS: [(&str, &str); 4] = [
    (
        "scalars",
        r#"{"b":true,"i":-3,"f":2.5e0,"s":"a\n","now":100}"#,
    ),
    ("lists", r#"{"l":[1,2,3],"t":["a","b"],"b":null}"#),
    (
        "entries",
        r#"{"g":[[1,99000000]],"frequency_caps":[["flight:ip",4,"ns",1,2],[["product",5,"x"],3,4]]}"#,
    ),
    (
        "unknown",
        r#"{"x":{"y":[1,{"z":null}]},"latitude":1,"longitude":2}"#,
    ),
];

pub(crate) fn seeds() -> Vec<Seed> {
    let expressions = EXPRESSIONS
        .iter()
        .map(|(name, text)| Seed::new("betree_expression", name, *text));
    let events = EVENTS
        .iter()
        .map(|(name, text)| Seed::new("betree_event", name, *text));
    expressions.chain(events).chain(snapshots()).collect()
}

/// States of trees with few and with no expressions.
fn snapshots() -> Vec<Seed> {
    let domains = "b|boolean|true\ni|integer|true|-100|100\nf|float|true\ns|string|true||3\n\
                   l|integer list|true\nt|string list|true\ng|segments|true\n\
                   frequency_caps|frequency|true\nlatitude|float|true\nlongitude|float|true\n";
    let all = [
        "b and i >= 3 and not (i in (5, 7))",
        "s = 'a' or l one of (1, 2) or t all of ('x', 'y') or f < 1.5",
        "contains(s, 'a') and g is empty or segment_within(g, 1, 20)",
        "within_frequency_cap('flight:ip', 'ns', 3, 60) or geo_within_radius(1.0, 2.0, 3.0)",
    ];
    let one = |name, texts: &[&str], undefined| {
        let domain = Domain::parse(domains).expect("a domain");
        let mut tree = BeTree::new(domain, undefined);
        let constants = Constants {
            flight_id: Some(4),
            ..Constants::default()
        };
        for (id, text) in (1..).zip(texts) {
            let expression = Expression::parse(text).expect("an expression");
            tree.insert(SubscriptionId(id), &expression, &constants)
                .expect("it is allowed");
        }
        let mut bytes = Vec::new();
        let Ok(()) = tree.snapshot().save(|piece| {
            bytes.extend_from_slice(piece);
            Ok::<(), std::convert::Infallible>(())
        });
        Seed::new("betree_snapshot", name, bytes)
    };
    vec![
        one("all", &all, Undefined::False),
        one("three-valued", &all[..1], Undefined::Unknown),
        one("empty", &[], Undefined::False),
    ]
}
