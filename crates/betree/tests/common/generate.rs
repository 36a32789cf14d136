//! Random expressions over the whole grammar, and events that often meet them.

use serde_json::{Map, Value, json};

use super::Random;
use super::oracle::{Ast, Leaf, Literal};

const TEXTS: [&str; 7] = ["", "a", "b", "ab", "abc", "ba", "zé"];
const FLOATS: [&str; 6] = ["-2.5", "0.0", "0.5", "1.5", "2.0", "3e0"];
const KINDS: [&str; 6] = [
    "advertiser",
    "campaign:ip",
    "campaign_group",
    "flight",
    "flight:ip",
    "product",
];
const SIGNS: [&str; 6] = ["<", "<=", ">", ">=", "=", "<>"];

/// An expression of about `leaves` tests.
pub(crate) fn expression(random: &mut Random, leaves: u64) -> Ast {
    if leaves <= 1 {
        return match random.below(40) {
            0 => Ast::Constant(random.chance(50)),
            1..=8 => Ast::Not(Box::new(Ast::Leaf(leaf(random)))),
            _ => Ast::Leaf(leaf(random)),
        };
    }
    let left = 1 + random.below(leaves - 1);
    let a = Box::new(expression(random, left));
    let b = Box::new(expression(random, leaves - left));
    match random.below(10) {
        0..=3 => Ast::And(a, b),
        4..=7 => Ast::Or(a, b),
        8 => Ast::Not(Box::new(Ast::And(a, b))),
        _ => Ast::Not(Box::new(Ast::Or(a, b))),
    }
}

fn integer(random: &mut Random) -> Literal {
    Literal::Integer(random.range(-4, 4))
}

fn text(random: &mut Random) -> Literal {
    Literal::Text(random.pick(&TEXTS))
}

fn some(
    random: &mut Random,
    mut one: impl FnMut(&mut Random) -> Literal,
    count_max: u64,
) -> Vec<Literal> {
    let count = 1 + random.below(count_max);
    (0..count).map(|_| one(random)).collect()
}

fn leaf(random: &mut Random) -> Leaf {
    let negated = random.chance(40);
    match random.below(15) {
        0..=2 => Leaf::Variable(random.pick(&["b1", "b2", "b3"])),
        3 => {
            let name = random.pick(&["i1", "i2"]);
            Leaf::Compare(name, random.pick(&SIGNS), integer(random))
        }
        4 => {
            let value = match random.chance(50) {
                true => integer(random),
                false => Literal::Float(random.pick(&FLOATS)),
            };
            match random.chance(50) {
                true => Leaf::Compare("f1", random.pick(&SIGNS), value),
                false => Leaf::Mirrored(value, random.pick(&SIGNS), "f1"),
            }
        }
        5 => {
            let wide = random.chance(5);
            let value = if wide {
                Literal::Integer(random.pick(&[i64::MIN, i64::MAX, 5 << 40]))
            } else {
                integer(random)
            };
            Leaf::Mirrored(value, random.pick(&SIGNS), "i2")
        }
        6 => Leaf::Compare(
            random.pick(&["s1", "s2"]),
            random.pick(&["=", "<>"]),
            text(random),
        ),
        7 => match random.below(4) {
            0 => Leaf::In("i1", negated, some(random, integer, 4)),
            1 => {
                let many = |random: &mut Random| Literal::Integer(random.range(-60, 60));
                Leaf::In("i2", negated, some(random, many, 60))
            }
            2 => Leaf::In("e1", negated, some(random, integer, 3)),
            _ => Leaf::In(random.pick(&["s1", "s2"]), negated, some(random, text, 4)),
        },
        8 => match random.chance(50) {
            true => Leaf::Has(integer(random), negated, "il"),
            false => Leaf::Has(text(random), negated, "sl"),
        },
        9 | 10 => {
            let word = random.pick(&["one", "none", "all"]);
            match random.below(5) {
                0 => {
                    let many = |random: &mut Random| Literal::Integer(random.range(-100, 100));
                    Leaf::Of("il", word, some(random, many, 90))
                }
                1 | 2 => Leaf::Of("il", word, some(random, integer, 3)),
                _ => Leaf::Of("sl", word, some(random, text, 3)),
            }
        }
        11 => {
            let names = ["b1", "i1", "f1", "s1", "e1", "il", "sl", "seg", "now"];
            match random.chance(70) {
                true => Leaf::Null(random.pick(&names), negated),
                false => Leaf::Empty(random.pick(&["il", "sl", "seg", "frequency_caps"])),
            }
        }
        12 => Leaf::Text(
            random.pick(&["contains", "starts_with", "ends_with"]),
            random.pick(&["s1", "s2"]),
            random.pick(&TEXTS),
        ),
        13 => match random.chance(30) {
            true => {
                let radius = random.pick(&[0.0, 50.0, 500.0, 30_000.0]);
                Leaf::Geo(
                    random.range(-2, 2) as f64,
                    random.range(-2, 2) as f64 + 0.5,
                    radius,
                )
            }
            false => Leaf::Segment(
                negated,
                random.pick(&[None, Some("seg")]),
                random.range(1, 4),
                random.range(0, 30),
            ),
        },
        _ => Leaf::Cap(
            random.pick(&KINDS),
            random.pick(&["ns", "other"]),
            random.range(0, 4),
            random.range(-5, 30),
        ),
    }
}

/// An event: what may be undefined is so now and then, by absence or by null.
pub(crate) fn event(random: &mut Random) -> Value {
    let mut event = Map::new();
    let mut put =
        |random: &mut Random, name: &str, value: Value, required: bool| match random.below(8) {
            0 if !required => {}
            1 if !required => drop(event.insert(name.to_owned(), Value::Null)),
            _ => drop(event.insert(name.to_owned(), value)),
        };
    for (name, required) in [("b1", false), ("b2", false), ("b3", true)] {
        let value = json!(random.chance(50));
        put(random, name, value, required);
    }
    let value = json!(random.range(-4, 4));
    put(random, "i1", value, false);
    let value = match random.chance(10) {
        true => json!(random.pick(&[i64::MIN, i64::MAX, 5 << 40])),
        false => json!(random.range(-60, 60)),
    };
    put(random, "i2", value, true);
    let value = match random.chance(50) {
        true => json!(random.range(-3, 3)),
        false => json!(random.pick(&FLOATS).parse::<f64>().expect("digits")),
    };
    put(random, "f1", value, false);
    for (name, required) in [("s1", false), ("s2", true)] {
        let value = match random.chance(80) {
            true => json!(random.pick(&TEXTS)),
            false => json!("xabcx"),
        };
        put(random, name, value, required);
    }
    let value = json!(random.range(-4, 4));
    put(random, "e1", value, false);
    let count = random.below(5);
    let value = (0..count).map(|_| json!(random.range(-6, 6))).collect();
    put(random, "il", Value::Array(value), false);
    let count = random.below(4);
    let value = (0..count).map(|_| json!(random.pick(&TEXTS))).collect();
    put(random, "sl", Value::Array(value), false);
    for name in ["seg", "segments_with_timestamp"] {
        let count = random.below(5);
        let entry = |random: &mut Random| {
            json!([random.range(1, 5), random.range(60, 101) * 1_000_000 + 7])
        };
        let value = (0..count).map(|_| entry(random)).collect();
        put(random, name, Value::Array(value), false);
    }
    let count = random.below(6);
    let value = (0..count).map(|_| counter(random)).collect();
    put(random, "frequency_caps", Value::Array(value), false);
    for name in ["latitude", "longitude"] {
        let value = json!(random.range(-2, 2) as f64 + 0.25);
        put(random, name, value, false);
    }
    put(random, "now", json!(100), false);
    Value::Object(event)
}

fn counter(random: &mut Random) -> Value {
    let (kind, id) = (random.pick(&KINDS), random.range(1, 5));
    let (name, count) = (random.pick(&["ns", "other", "unknown"]), random.range(0, 4));
    let stamp = random.range(60, 101) * 1_000_000;
    match random.chance(50) {
        true => json!([kind, id, name, count, stamp]),
        false => json!([[kind, id, name], count, stamp]),
    }
}
