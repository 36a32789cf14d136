//! Seeds of the targets over expressions and events: one for each test and each type.

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
    expressions.chain(events).collect()
}
