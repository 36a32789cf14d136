//! Random expressions over a world.

use std::sync::Arc;

use super::Random;
use super::ast::{Ast, Constant, Part, Quantity, Sign, Test};
use super::oracle;
use super::values;
use super::world::{CAP_KINDS, Kind, Shape, World};

/// An expression of about `leaves` tests.
pub(crate) fn expression(world: &World, random: &mut Random, leaves: u64) -> Ast {
    let drawn = match leaves {
        0 | 1 => return leaf(world, random),
        // All tests of one attribute.
        2..=6 if world.bank.is_empty() && random.chance(15) => {
            let attribute = world.any(random, is_scalar);
            group(random, leaves, &mut |random, _| {
                Ast::Test(scalar(world, random, attribute))
            })
        }
        _ => {
            let least = 2.min(leaves);
            group(random, leaves, &mut |random, leaves| {
                expression(world, random, leaves.min(leaves / least + 1))
            })
        }
    };
    match random.chance(15) {
        true => Ast::Not(Box::new(drawn)),
        false => drawn,
    }
}

/// A conjunction or a disjunction of two to five parts.
fn group(random: &mut Random, leaves: u64, part: &mut dyn FnMut(&mut Random, u64) -> Ast) -> Ast {
    let count = leaves.min(2 + random.below(4));
    let share = leaves / count;
    let mut parts = Vec::new();
    for at in 0..count {
        let rest = if at == 0 { leaves % count } else { 0 };
        parts.push(part(random, share + rest));
    }
    match random.chance(50) {
        true => Ast::And(parts),
        false => Ast::Or(parts),
    }
}

/// A conjunction of tests for single values, such as the index finds by them.
pub(crate) fn selective(world: &World, random: &mut Random) -> Ast {
    if random.chance(6) {
        return long(world, random);
    }
    let is_wide = matches!(
        world.attributes[world.wide].kind,
        Kind::Texts | Kind::Integers(..)
    );
    if is_wide && random.chance(25) {
        return audiences(world, random, world.wide);
    }
    let mut parts = Vec::new();
    let one_value: fn(&Kind) -> bool = |kind| {
        matches!(
            kind,
            Kind::Integer(..) | Kind::Text | Kind::Enum | Kind::Texts | Kind::Integers(..)
        )
    };
    for at in 0..1 + random.below(3) {
        let attribute = match at == 0 && random.chance(90) {
            true => world.wide,
            false => world.any(random, one_value),
        };
        parts.push(Ast::Test(one_of(world, random, attribute)));
    }
    if random.chance(30) {
        parts.push(expression(world, random, 3));
    }
    // What is left when its keys and guards have decided the rest.
    match random.below(10) {
        0 | 1 => parts.push(Ast::Test(cap(world, random))),
        2 => parts.push(Ast::Not(Box::new(Ast::Test(cap(world, random))))),
        3 => {
            let attribute = world.any(random, is_scalar);
            parts.push(Ast::Test(scalar(world, random, attribute)));
        }
        4 => {
            let attribute = world.any(random, one_value);
            let values = constants(world, random, attribute);
            parts.push(Ast::Test(match world.attributes[attribute].kind {
                Kind::Texts | Kind::Integers(..) => Test::Of(attribute, Quantity::None, values),
                _ => Test::In(attribute, true, values),
            }));
        }
        _ => {}
    }
    match random.chance(90) {
        true => Ast::And(parts),
        false => Ast::Or(parts),
    }
}

/// Several lists of an attribute, perhaps with another test: with more than are counted, with lists of one element, of
/// the same one again, and of many.
fn audiences(world: &World, random: &mut Random, attribute: usize) -> Ast {
    let mut parts = Vec::new();
    for _ in 0..random.pick(&[2, 2, 3, 4, 8, 9, 12]) {
        let count = random.pick(&[1, 2, 31, 33, 64, 100, 200]);
        let mut values: Vec<Constant> = Vec::new();
        for _ in 0..count {
            let again = (!values.is_empty() && random.chance(5)).then(|| values[0].clone());
            values.push(again.unwrap_or_else(|| constant(world, random, attribute)));
        }
        let quantity = random.pick(&[Quantity::One, Quantity::One, Quantity::One, Quantity::None]);
        parts.push(Ast::Test(Test::Of(attribute, quantity, values)));
    }
    if random.chance(40) {
        parts.push(expression(world, random, 2));
    }
    match random.chance(85) {
        true => Ast::And(parts),
        false => Ast::Or(vec![Ast::And(parts), one_list(world, random, attribute)]),
    }
}

fn one_list(world: &World, random: &mut Random, attribute: usize) -> Ast {
    let values = (0..40).map(|_| constant(world, random, attribute));
    Ast::Test(Test::Of(attribute, Quantity::One, values.collect()))
}

/// A long list, perhaps with another test, or an `or` of many alternatives.
fn long(world: &World, random: &mut Random) -> Ast {
    let count = random.pick(&[17, 64, 65, 66, 200, 600]);
    let attribute = world.wide;
    if random.chance(50) {
        let values = (0..count).map(|_| constant(world, random, attribute));
        let values = values.collect();
        let list = Ast::Test(match world.attributes[attribute].kind {
            Kind::Texts | Kind::Integers(..) => Test::Of(attribute, Quantity::One, values),
            _ => Test::In(attribute, false, values),
        });
        return match random.chance(50) {
            true => list,
            false => Ast::And(vec![list, expression(world, random, 2)]),
        };
    }
    let has_places = random.chance(30);
    let is_plain = random.chance(30);
    let alternative = |random: &mut Random| {
        let one = Ast::Test(match has_places && random.chance(80) {
            true => geo(random),
            false => one_of(world, random, attribute),
        });
        match is_plain || random.chance(50) {
            true => one,
            false => Ast::And(vec![one, Ast::Test(test(world, random))]),
        }
    };
    let any = Ast::Or((0..count).map(|_| alternative(random)).collect());
    match random.chance(70) {
        true => any,
        false => Ast::And(vec![any, expression(world, random, 1)]),
    }
}

/// A test for a value or for few.
fn one_of(world: &World, random: &mut Random, attribute: usize) -> Test {
    let one = constant(world, random, attribute);
    let few = |random: &mut Random| {
        let count = 1 + random.below(3);
        let others = (0..count).map(|_| constant(world, random, attribute));
        std::iter::once(one.clone()).chain(others).collect()
    };
    match (world.attributes[attribute].kind, random.below(4)) {
        (Kind::Texts | Kind::Integers(..), 0) => {
            let quantity = random.pick(&[Quantity::One, Quantity::All]);
            Test::Of(attribute, quantity, few(random))
        }
        (Kind::Texts | Kind::Integers(..), _) => Test::Has(attribute, false, one),
        (_, 0) => Test::In(attribute, false, few(random)),
        _ => Test::Compare(attribute, Sign::Equal, one),
    }
}

/// The few tests of expressions that share theirs: of booleans only, or any.
pub(crate) fn bank(world: &World, random: &mut Random) -> Vec<Test> {
    let boolean: fn(&Kind) -> bool = |kind| *kind == Kind::Boolean;
    if random.chance(40) {
        let all = world.attributes.iter().enumerate();
        let booleans = all.filter(|(_, found)| boolean(&found.kind));
        return booleans.map(|(at, _)| Test::Boolean(at)).collect();
    }
    let count = 1 + random.pick(&[5, 30, 60, 100, 200]);
    (0..count).map(|_| test(world, random)).collect()
}

fn leaf(world: &World, random: &mut Random) -> Ast {
    if world.shape == Shape::Mixed && random.below(60) == 0 {
        return Ast::Constant(random.chance(50));
    }
    let test = Ast::Test(match world.bank.len() {
        0 => test(world, random),
        count => world.bank[random.below(count as u64) as usize].clone(),
    });
    match random.chance(20) {
        true => Ast::Not(Box::new(test)),
        false => test,
    }
}

fn is_scalar(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Boolean | Kind::Integer(..) | Kind::Float(..) | Kind::Text | Kind::Enum
    )
}

fn test(world: &World, random: &mut Random) -> Test {
    let negated = random.chance(40);
    match random.below(16) {
        0..=6 => {
            let attribute = world.any(random, is_scalar);
            scalar(world, random, attribute)
        }
        7..=9 => list(world, random),
        10 => {
            let all = world.attributes.iter().enumerate();
            let optional: Vec<usize> = all
                .filter(|(_, found)| !found.required)
                .map(|(at, _)| at)
                .collect();
            match optional.is_empty() {
                true => list(world, random),
                false => Test::Null(random.pick(&optional), negated),
            }
        }
        11 => {
            let is_list: fn(&Kind) -> bool = |kind| {
                matches!(
                    kind,
                    Kind::Integers(..) | Kind::Texts | Kind::Segments | Kind::Caps
                )
            };
            Test::Empty(world.any(random, is_list))
        }
        12 => {
            let attribute = world.any(random, |kind| *kind == Kind::Text);
            let text = world.attributes[attribute].text(random);
            let part = random.pick(&[Part::Anywhere, Part::Start, Part::End]);
            Test::Text(attribute, part, pattern(random, &text))
        }
        13 => geo(random),
        14 => Test::Segment {
            attribute: world.any(random, |kind| *kind == Kind::Segments),
            within: negated,
            id: random.pick(&world.keys),
            seconds: random.pick(&world.seconds),
        },
        _ => cap(world, random),
    }
}

fn cap(world: &World, random: &mut Random) -> Test {
    Test::Cap {
        kind: random.pick(&CAP_KINDS_WRITTEN),
        namespace: random.pick(&["", "ns", "é"]).into(),
        value: random.pick(&[i64::MIN, -1, 0, 1, 2, i64::MAX]),
        length: random.pick(&world.seconds),
    }
}

/// The kinds, each by itself and by address.
const CAP_KINDS_WRITTEN: [&str; 10] = [
    CAP_KINDS[0],
    CAP_KINDS[1],
    CAP_KINDS[2],
    CAP_KINDS[3],
    CAP_KINDS[4],
    "flight:ip",
    "advertiser:ip",
    "campaign:ip",
    "campaign_group:ip",
    "product:ip",
];

/// A part of a text, perhaps all of it, with something before or behind it by chance.
fn pattern(random: &mut Random, text: &str) -> Arc<str> {
    let characters: Vec<char> = text.chars().take(5).collect();
    let from = random.below(characters.len() as u64 + 1) as usize;
    let to = from + random.below((characters.len() - from) as u64 + 1) as usize;
    match random.below(4) {
        0 => text.into(),
        1 => format!("{text}a").into(),
        _ => characters[from..to].iter().collect::<String>().into(),
    }
}

/// A radius that no place is about as far away as: of rounding nothing is asked.
fn geo(random: &mut Random) -> Test {
    loop {
        let (latitude, longitude) = random.pick(&values::PLACES);
        let radius_km = random.pick(&values::RADII_KM);
        let clear = values::PLACES.iter().all(|place| {
            let distance = oracle::distance_km(*place, (latitude, longitude));
            *place == (latitude, longitude) || (distance - radius_km).abs() > 0.000_5
        });
        if clear {
            return Test::Geo {
                latitude,
                longitude,
                radius_km,
            };
        }
    }
}

/// A value that an expression may name of an attribute.
pub(crate) fn constant(world: &World, random: &mut Random, attribute: usize) -> Constant {
    let found = &world.attributes[attribute];
    match found.kind {
        Kind::Float(low, high) => match random.chance(20) {
            // An integer beside a float is read as the float that is nearest to it.
            true => {
                let value = values::integer(random);
                let near = (low..=high).contains(&(value as f64));
                Constant::Integer(if near { value } else { 0 })
            }
            false => Constant::Float(found.float(random, true)),
        },
        Kind::Text | Kind::Texts => Constant::Text(found.text(random)),
        _ => Constant::Integer(found.integer(random, true)),
    }
}

fn constants(world: &World, random: &mut Random, attribute: usize) -> Vec<Constant> {
    let count = match random.below(12) {
        0 => 15 + random.below(4),
        1 => 31 + random.below(4),
        2 => 60 + random.below(80),
        _ => 1 + random.below(4),
    };
    let mut constants: Vec<Constant> = Vec::new();
    for _ in 0..count {
        let again = (!constants.is_empty() && random.chance(15)).then(|| constants[0].clone());
        constants.push(again.unwrap_or_else(|| constant(world, random, attribute)));
    }
    constants
}

fn scalar(world: &World, random: &mut Random, attribute: usize) -> Test {
    let negated = random.chance(40);
    match world.attributes[attribute].kind {
        Kind::Boolean => Test::Boolean(attribute),
        Kind::Integer(..) if random.chance(70) => {
            let sign = random.pick(&Sign::ALL);
            Test::Compare(attribute, sign, constant(world, random, attribute))
        }
        Kind::Float(..) => {
            let sign = random.pick(&Sign::ALL);
            Test::Compare(attribute, sign, constant(world, random, attribute))
        }
        _ if random.chance(50) => {
            let sign = random.pick(&[Sign::Equal, Sign::Unequal]);
            Test::Compare(attribute, sign, constant(world, random, attribute))
        }
        _ => Test::In(attribute, negated, constants(world, random, attribute)),
    }
}

fn list(world: &World, random: &mut Random) -> Test {
    let is_list: fn(&Kind) -> bool = |kind| matches!(kind, Kind::Integers(..) | Kind::Texts);
    let attribute = world.any(random, is_list);
    if random.chance(30) {
        let one = constant(world, random, attribute);
        return Test::Has(attribute, random.chance(40), one);
    }
    let quantity = random.pick(&[Quantity::One, Quantity::None, Quantity::All]);
    Test::Of(attribute, quantity, constants(world, random, attribute))
}
