//! Workloads that differ in shape: how many attributes there are, how many values they have, which tests
//! expressions make of them, how often an event meets one.
//!
//! A [`Shape`] draws expressions and events from a seed, each as text and as plain data, so that a rival which
//! shares no code with this crate can answer the same questions. [`named`] lists shapes of targeting as people
//! have it, [`drawn`] draws one at random. [`SimpleIndex`] is the rival: an inverted index of a few lines.

mod draw;
mod names;
mod simple;

pub use draw::drawn;
pub use names::named;
pub use simple::SimpleIndex;

use std::fmt::Write as _;

use super::prng::Prng;

/// The values of an attribute, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values {
    /// One of this number of texts, with the skew of [`Shape::skew`].
    Text(u64),
    /// An integer from 0 up to this bound, which it does not reach.
    Integer(u64),
    /// A float from 0 up to this bound.
    Float(u64),
    /// A list: the most elements, and the number of values that they are drawn from.
    List(u64, u64),
    /// True or false.
    Boolean,
}

/// A test that expressions make of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ask {
    /// One of this many values at most, at least one; a list has any of them.
    Any(u64),
    /// None of this many values at most.
    None(u64),
    /// All of this many values, for a list.
    All(u64),
    /// A range of about this share of the values, in thousandths.
    Range(u64),
    /// At least a value.
    Least,
    /// Within a radius of this many kilometres at most; needs the attributes `latitude` and `longitude`.
    Radius(u64),
    /// A frequency cap.
    Cap,
    /// A boolean is true.
    True,
    /// A boolean is false.
    False,
}

/// A part of a conjunction: which attribute, which test, in how many of a thousand conjunctions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clause {
    /// The position of the attribute.
    pub attribute: usize,
    /// The test.
    pub ask: Ask,
    /// In how many of a thousand conjunctions.
    pub share: u64,
}

/// A workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// What it is called.
    pub name: String,
    /// The attributes, and of a thousand events how many lack each.
    pub attributes: Vec<(Values, u64)>,
    /// What conjunctions are made of.
    pub clauses: Vec<Clause>,
    /// The least and the most conjunctions, joined by `or`.
    pub conjunctions: (u64, u64),
    /// Only this many clauses of a conjunction, drawn at random.
    pub clauses_max: usize,
    /// How much more frequent small values are: 0 uniform, 1 the lesser of two draws, 2 like Zipf's law.
    pub skew: u8,
}

/// A test of one attribute, as plain data.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Any of these values.
    Any(usize, Vec<i64>),
    /// None of these values; false without the attribute.
    None(usize, Vec<i64>),
    /// All of these values.
    All(usize, Vec<i64>),
    /// Between two values, both included.
    Between(usize, i64, i64),
    /// At least this float.
    FloatLeast(usize, f64),
    /// Between two floats, both included.
    FloatBetween(usize, f64, f64),
    /// Latitude, longitude, kilometres.
    Radius(f64, f64, f64),
    /// The kind and identifier of a counter, its cap, and the seconds after which it starts again.
    Cap(i64, i64, i64),
    /// A boolean has this value.
    Is(usize, bool),
}

/// An expression: conjunctions, any one of which must hold.
pub type Conjunctions = Vec<Vec<Test>>;

/// A value of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The event lacks the attribute.
    Absent,
    /// A text by its number, an integer, a boolean.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A list, in ascending order, without repetition.
    List(Vec<i64>),
}

/// An event as plain data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plain {
    /// By attribute.
    pub values: Vec<Value>,
    /// Latitude and longitude, where the shape has them.
    pub place: Option<(f64, f64)>,
    /// Campaign, count and second of each counter.
    pub caps: Vec<(i64, i64, i64)>,
    /// The second now.
    pub now: i64,
}

/// Campaigns that have counters.
const CAMPAIGNS: u64 = 2_000;
/// The second at which all events happen.
const NOW: i64 = 1_700_000_000;

impl Shape {
    fn has(&self, wanted: impl Fn(Ask) -> bool) -> bool {
        self.clauses.iter().any(|clause| wanted(clause.ask))
    }

    /// The domains file.
    #[must_use]
    pub fn domains(&self) -> String {
        let mut out = String::new();
        for (at, (values, absent)) in self.attributes.iter().enumerate() {
            let may = *absent > 0;
            let _ = match values {
                Values::Text(_) => writeln!(out, "a{at}|string|{may}"),
                Values::Integer(bound) => writeln!(out, "a{at}|integer|{may}|0|{bound}"),
                Values::Float(bound) => writeln!(out, "a{at}|float|{may}|0|{bound}"),
                Values::List(..) => writeln!(out, "a{at}|integer list|{may}"),
                Values::Boolean => writeln!(out, "a{at}|boolean|{may}"),
            };
        }
        if self.has(|ask| matches!(ask, Ask::Radius(_))) {
            out.push_str("latitude|float|false|-90|90\nlongitude|float|false|-180|180\n");
        }
        if self.has(|ask| ask == Ask::Cap) {
            out.push_str("frequency_caps|frequency|false\n");
        }
        out
    }
}

/// Expressions and events of a shape. A seed gives the same ones everywhere.
#[derive(Debug, Clone)]
pub struct Drawer {
    shape: Shape,
    expressions: Prng,
    events: Prng,
}

impl Drawer {
    /// A drawer whose expressions and events depend on nothing but the shape and the seed.
    #[must_use]
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            expressions: Prng::new(seed ^ 0x7368_6170),
            events: Prng::new(seed ^ 0x6576_656e),
        }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The next expression.
    pub fn expression(&mut self) -> Conjunctions {
        let Self {
            shape, expressions, ..
        } = self;
        let prng = expressions;
        let (least, most) = shape.conjunctions;
        let count = least + prng.below(most - least + 1);
        let mut all: Conjunctions = (0..count).map(|_| conjunction(shape, prng)).collect();
        // The campaign is a constant of the subscription, the same in all its caps.
        if let Some(first) = campaign(&all) {
            for test in all.iter_mut().flatten() {
                if let Test::Cap(campaign, ..) = test {
                    *campaign = first;
                }
            }
        }
        all
    }

    /// The next event.
    pub fn event(&mut self) -> Plain {
        let Self { shape, events, .. } = self;
        let prng = events;
        let mut out = Plain {
            now: NOW,
            ..Plain::default()
        };
        for (values, absent) in &shape.attributes {
            let value = match *values {
                Values::Text(bound) => Value::Integer(draw(prng, bound, shape.skew) as i64),
                Values::Integer(bound) => Value::Integer(prng.below(bound + 1) as i64),
                Values::Float(bound) => Value::Float(prng.below(bound * 100 + 1) as f64 / 100.0),
                Values::Boolean => Value::Integer(i64::from(prng.chance(50))),
                Values::List(most, bound) => {
                    let count = prng.below(most + 1);
                    let list = (0..count).map(|_| draw(prng, bound, shape.skew) as i64);
                    let mut list: Vec<i64> = list.collect();
                    list.sort_unstable();
                    list.dedup();
                    Value::List(list)
                }
            };
            let is_absent = prng.below(1000) < *absent;
            out.values
                .push(if is_absent { Value::Absent } else { value });
        }
        if shape.has(|ask| matches!(ask, Ask::Radius(_))) {
            out.place = Some(place(prng));
        }
        if shape.has(|ask| ask == Ask::Cap) {
            let count = prng.below(30);
            let mut caps: Vec<_> = (0..count)
                .map(|_| {
                    let campaign = prng.below(CAMPAIGNS) as i64;
                    (
                        campaign,
                        prng.below(12) as i64,
                        NOW - prng.below(5_000) as i64,
                    )
                })
                .collect();
            caps.sort_unstable();
            caps.dedup_by_key(|(campaign, ..)| *campaign);
            out.caps = caps;
        }
        out
    }
}

/// A value below a bound.
fn draw(prng: &mut Prng, bound: u64, skew: u8) -> u64 {
    match skew {
        0 => prng.below(bound),
        1 => prng.skewed(bound),
        // The number of bits is uniform, so a value is about as frequent as its inverse.
        _ => {
            let bits = prng.below(u64::from(bound.ilog2()) + 1);
            let low = (1u64 << bits) - 1;
            (low + prng.below(1 << bits)).min(bound - 1)
        }
    }
}

/// A place near one of the larger towns of a made-up country, or anywhere in it.
fn place(prng: &mut Prng) -> (f64, f64) {
    let unit = |prng: &mut Prng| prng.below(1 << 30) as f64 / (1u64 << 30) as f64;
    if prng.chance(70) {
        let town = prng.skewed(300);
        let mut at = Prng::new(town);
        let (latitude, longitude) = (25.0 + 24.0 * unit(&mut at), -124.0 + 57.0 * unit(&mut at));
        return (latitude + 0.4 * unit(prng), longitude + 0.4 * unit(prng));
    }
    (25.0 + 24.0 * unit(prng), -124.0 + 57.0 * unit(prng))
}

fn conjunction(shape: &Shape, prng: &mut Prng) -> Vec<Test> {
    let mut clauses: Vec<Clause> = shape.clauses.clone();
    clauses.retain(|clause| prng.below(1000) < clause.share);
    while clauses.len() > shape.clauses_max {
        let drop = prng.below(clauses.len() as u64) as usize;
        clauses.swap_remove(drop);
    }
    if clauses.is_empty() {
        clauses.extend(shape.clauses.first());
    }
    clauses
        .iter()
        .map(|clause| test(shape, clause, prng))
        .collect()
}

fn test(shape: &Shape, clause: &Clause, prng: &mut Prng) -> Test {
    let at = clause.attribute;
    let values = shape
        .attributes
        .get(at)
        .map_or(Values::Boolean, |(values, _)| *values);
    let bound = match values {
        Values::Text(bound) | Values::Integer(bound) | Values::Float(bound) => bound,
        Values::List(_, bound) => bound,
        Values::Boolean => 2,
    };
    let several = |prng: &mut Prng, most: u64, exact: bool| {
        let count = if exact { most } else { 1 + prng.below(most) };
        let list = (0..count).map(|_| draw(prng, bound, shape.skew) as i64);
        let mut list: Vec<i64> = list.collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    match clause.ask {
        Ask::Any(most) => Test::Any(at, several(prng, most, false)),
        Ask::None(most) => Test::None(at, several(prng, most, false)),
        Ask::All(most) => Test::All(at, several(prng, most, true)),
        Ask::Range(share) => {
            let width = (bound * share / 1000).max(1);
            let low = prng.below(bound.saturating_sub(width) + 1);
            match values {
                Values::Float(_) => Test::FloatBetween(at, low as f64, (low + width) as f64),
                _ => Test::Between(at, low as i64, (low + width) as i64),
            }
        }
        Ask::Least => {
            let low = prng.below(bound);
            match values {
                Values::Float(_) => Test::FloatLeast(at, low as f64 + 0.5),
                _ => Test::Between(at, low as i64, i64::MAX),
            }
        }
        Ask::Radius(most) => {
            let (latitude, longitude) = place(prng);
            Test::Radius(latitude, longitude, (1 + prng.below(most)) as f64)
        }
        Ask::Cap => {
            let campaign = prng.below(CAMPAIGNS) as i64;
            let value = 1 + prng.below(10) as i64;
            Test::Cap(campaign, value, 600 * (1 + prng.below(6) as i64))
        }
        Ask::True => Test::Is(at, true),
        Ask::False => Test::Is(at, false),
    }
}

/// The text of an expression. The campaign of its caps is a constant of the subscription.
#[must_use]
pub fn text(shape: &Shape, expression: &Conjunctions) -> String {
    let mut out = String::new();
    for (number, conjunction) in expression.iter().enumerate() {
        out.push_str(if number > 0 { " or (" } else { "(" });
        for (number, test) in conjunction.iter().enumerate() {
            out.push_str(if number > 0 { " and " } else { "" });
            write_test(shape, test, &mut out);
        }
        out.push(')');
    }
    out
}

/// The campaign of an expression's caps.
#[must_use]
pub fn campaign(expression: &Conjunctions) -> Option<i64> {
    expression.iter().flatten().find_map(|test| match test {
        Test::Cap(campaign, ..) => Some(*campaign),
        _ => None,
    })
}

fn write_test(shape: &Shape, test: &Test, out: &mut String) {
    let kind = |at: &usize| shape.attributes.get(*at).map(|(values, _)| *values);
    let list = |at: &usize, values: &[i64]| {
        let quote = if matches!(kind(at), Some(Values::Text(_))) {
            "\""
        } else {
            ""
        };
        let text = if quote.is_empty() { "" } else { "v" };
        let all: Vec<String> = values
            .iter()
            .map(|v| format!("{quote}{text}{v}{quote}"))
            .collect();
        format!("({})", all.join(", "))
    };
    let is_list = |at: &usize| matches!(kind(at), Some(Values::List(..)));
    let _ = match test {
        Test::Any(at, values) if is_list(at) => write!(out, "a{at} one of {}", list(at, values)),
        Test::Any(at, values) => write!(out, "a{at} in {}", list(at, values)),
        Test::None(at, values) if is_list(at) => write!(out, "a{at} none of {}", list(at, values)),
        Test::None(at, values) => write!(out, "a{at} not in {}", list(at, values)),
        Test::All(at, values) => write!(out, "a{at} all of {}", list(at, values)),
        Test::Between(at, low, i64::MAX) => write!(out, "a{at} >= {low}"),
        Test::Between(at, low, high) => write!(out, "a{at} >= {low} and a{at} <= {high}"),
        Test::FloatLeast(at, low) => write!(out, "a{at} >= {low:?}"),
        Test::FloatBetween(at, low, high) => write!(out, "a{at} >= {low:?} and a{at} <= {high:?}"),
        Test::Radius(latitude, longitude, km) => {
            write!(
                out,
                "geo_within_radius({latitude:?}, {longitude:?}, {km:?})"
            )
        }
        Test::Cap(_, value, length) => {
            write!(
                out,
                "within_frequency_cap(\"campaign\", \"ns\", {value}, {length})"
            )
        }
        Test::Is(at, true) => write!(out, "a{at}"),
        Test::Is(at, false) => write!(out, "not a{at}"),
    };
}

/// The text of an event: one line of JSON.
#[must_use]
pub fn json(shape: &Shape, event: &Plain) -> String {
    let mut fields: Vec<String> = Vec::new();
    for (at, value) in event.values.iter().enumerate() {
        let kind = shape.attributes.get(at).map(|(values, _)| *values);
        fields.push(match (value, kind) {
            (Value::Absent, _) => continue,
            (Value::Integer(value), Some(Values::Text(_))) => format!("\"a{at}\":\"v{value}\""),
            (Value::Integer(value), Some(Values::Boolean)) => format!("\"a{at}\":{}", *value != 0),
            (Value::Integer(value), _) => format!("\"a{at}\":{value}"),
            (Value::Float(value), _) => format!("\"a{at}\":{value:?}"),
            (Value::List(list), _) => {
                let all: Vec<String> = list.iter().map(i64::to_string).collect();
                format!("\"a{at}\":[{}]", all.join(","))
            }
        });
    }
    if let Some((latitude, longitude)) = event.place {
        fields.push(format!(
            "\"latitude\":{latitude:?},\"longitude\":{longitude:?}"
        ));
    }
    if shape.has(|ask| ask == Ask::Cap) {
        let all: Vec<String> = event
            .caps
            .iter()
            .map(|(campaign, count, at)| {
                format!("[[\"campaign\",{campaign},\"ns\"],{count},{at}000000]")
            })
            .collect();
        fields.push(format!(
            "\"frequency_caps\":[{}],\"now\":{}",
            all.join(","),
            event.now
        ));
    }
    format!("{{{}}}", fields.join(","))
}
