//! The slow, obvious evaluator: an expression as a tree of boxes, an event as JSON, the rules of the
//! language one by one.

use serde_json::Value;

use super::CONSTANTS;

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Ast {
    And(Box<Ast>, Box<Ast>),
    Or(Box<Ast>, Box<Ast>),
    Not(Box<Ast>),
    Constant(bool),
    Leaf(Leaf),
}

/// A constant: an integer, a float in its digits, a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Integer(i64),
    Float(&'static str),
    Text(&'static str),
}

/// A test. Words are those of the language.
#[derive(Debug, Clone)]
pub(crate) enum Leaf {
    Variable(&'static str),
    Compare(&'static str, &'static str, Literal),
    /// The constant first.
    Mirrored(Literal, &'static str, &'static str),
    In(&'static str, bool, Vec<Literal>),
    Has(Literal, bool, &'static str),
    Of(&'static str, &'static str, Vec<Literal>),
    Null(&'static str, bool),
    Empty(&'static str),
    Text(&'static str, &'static str, &'static str),
    Geo(f64, f64, f64),
    Segment(bool, Option<&'static str>, i64, i64),
    Cap(&'static str, &'static str, i64, i64),
}

impl Literal {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Float(digits) => (*digits).to_owned(),
            Self::Text(text) if text.len() % 2 == 0 => format!("'{text}'"),
            Self::Text(text) => format!("\"{text}\""),
        }
    }

    fn equals(&self, value: &Value) -> bool {
        match self {
            Self::Integer(constant) if value.is_i64() => value.as_i64() == Some(*constant),
            Self::Text(constant) => value.as_str() == Some(constant),
            _ => value.as_f64() == Some(self.float()),
        }
    }

    fn float(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Float(digits) => digits.parse().expect("digits"),
            Self::Text(_) => panic!("a text is no number"),
        }
    }
}

fn list(list: &[Literal]) -> String {
    let texts: Vec<String> = list.iter().map(Literal::text).collect();
    texts.join(", ")
}

impl Leaf {
    pub(crate) fn text(&self) -> String {
        let not = |negated: &bool| if *negated { "not " } else { "" };
        match self {
            Self::Variable(name) => (*name).to_owned(),
            Self::Compare(name, sign, value) => format!("{name} {sign} {}", value.text()),
            Self::Mirrored(value, sign, name) => format!("{} {sign} {name}", value.text()),
            Self::In(name, negated, values) => {
                format!("{name} {}in ({})", not(negated), list(values))
            }
            Self::Has(value, negated, name) => {
                format!("{} {}in {name}", value.text(), not(negated))
            }
            Self::Of(name, word, values) => format!("{name} {word} of ({})", list(values)),
            Self::Null(name, negated) => format!("{name} is {}null", not(negated)),
            Self::Empty(name) => format!("{name} is empty"),
            Self::Text(word, name, pattern) => format!("{word}({name}, \"{pattern}\")"),
            Self::Geo(latitude, longitude, radius) => {
                format!("geo_within_radius({latitude}, {longitude}, {radius})")
            }
            Self::Segment(within, name, id, seconds) => {
                let word = if *within { "within" } else { "before" };
                let name = name.map_or(String::new(), |name| format!("{name}, "));
                format!("segment_{word}({name}{id}, {seconds})")
            }
            Self::Cap(kind, namespace, value, length) => {
                format!("within_frequency_cap(\"{kind}\", '{namespace}', {value}, {length})")
            }
        }
    }

    /// `None`: it is over an undefined attribute.
    fn evaluate(&self, event: &Value) -> Option<bool> {
        let get = |name: &str| event.get(name).filter(|value| !value.is_null());
        match self {
            Self::Variable(name) => get(name)?.as_bool(),
            Self::Compare(name, sign, value) => Some(compare(get(name)?, sign, value)),
            Self::Mirrored(value, sign, name) => {
                let mirrored = match *sign {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    same => same,
                };
                Some(compare(get(name)?, mirrored, value))
            }
            Self::In(name, negated, values) => {
                let value = get(name)?;
                Some(values.iter().any(|constant| constant.equals(value)) != *negated)
            }
            Self::Has(constant, negated, name) => {
                let values = get(name)?.as_array()?;
                Some(values.iter().any(|value| constant.equals(value)) != *negated)
            }
            Self::Of(name, word, constants) => {
                let values = get(name)?.as_array()?;
                let has = |constant: &Literal| values.iter().any(|value| constant.equals(value));
                Some(match *word {
                    "one" => constants.iter().any(has),
                    "none" => !constants.iter().any(has),
                    _ => constants.iter().all(has),
                })
            }
            Self::Null(name, negated) => Some(get(name).is_none() != *negated),
            Self::Empty(name) => Some(get(name)?.as_array()?.is_empty()),
            Self::Text(word, name, pattern) => {
                let text = get(name)?.as_str()?;
                Some(match *word {
                    "contains" => text.contains(pattern),
                    "starts_with" => text.starts_with(pattern),
                    _ => text.ends_with(pattern),
                })
            }
            Self::Geo(latitude, longitude, radius) => {
                let place = (get("latitude")?.as_f64()?, get("longitude")?.as_f64()?);
                Some(haversine_km(place, (*latitude, *longitude)) <= *radius)
            }
            Self::Segment(within, name, id, seconds) => {
                let entries = get(name.unwrap_or("segments_with_timestamp"))?.as_array()?;
                let now = get("now")?.as_i64()?;
                let stamp = entries
                    .iter()
                    .find(|entry| entry[0].as_i64() == Some(*id))
                    .and_then(|entry| entry[1].as_i64());
                Some(stamp.is_some_and(|stamp| {
                    let entered = now - seconds <= stamp.div_euclid(1_000_000);
                    entered == *within
                }))
            }
            Self::Cap(kind, namespace, value, length) => {
                let entries = get("frequency_caps")?.as_array()?;
                let now = get("now")?.as_i64()?;
                Some(cap(entries, now, kind, namespace, (*value, *length)))
            }
        }
    }
}

fn compare(value: &Value, sign: &str, constant: &Literal) -> bool {
    let order = match (value.as_i64(), constant) {
        (Some(value), Literal::Integer(constant)) => Some(value.cmp(constant)),
        (_, Literal::Text(_)) => None,
        _ => value
            .as_f64()
            .and_then(|v| v.partial_cmp(&constant.float())),
    };
    match sign {
        "=" => constant.equals(value),
        "<>" => !constant.equals(value),
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

fn cap(
    entries: &[Value],
    now: i64,
    kind: &str,
    namespace: &str,
    (value, length): (i64, i64),
) -> bool {
    let id = match kind.trim_end_matches(":ip") {
        "advertiser" => CONSTANTS.advertiser_id,
        "campaign" => CONSTANTS.campaign_id,
        "campaign_group" => CONSTANTS.campaign_group_id,
        "flight" => CONSTANTS.flight_id,
        _ => CONSTANTS.product_id,
    };
    for entry in entries {
        let entry = entry.as_array().expect("an entry");
        let flat: Vec<&Value> = match entry[0].as_array() {
            Some(key) => key.iter().chain(&entry[1..]).collect(),
            None => entry.iter().collect(),
        };
        let same = flat[0].as_str() == Some(kind)
            && flat[1].as_i64() == id
            && flat[2].as_str() == Some(namespace);
        if same {
            let count = flat[3].as_i64().expect("a count");
            let stamp = flat[4].as_i64().expect("a stamp").div_euclid(1_000_000);
            if length <= 0 {
                return value > count;
            }
            return now - stamp > length || value > count;
        }
    }
    true
}

fn haversine_km(a: (f64, f64), b: (f64, f64)) -> f64 {
    #[allow(clippy::approx_constant, reason = "the digits of the C library")]
    let pi = 3.141_592_653_6;
    let radians = |degrees: f64| degrees * pi / 180.0;
    let (x, y) = (radians(b.0 - a.0) / 2.0, radians(b.1 - a.1) / 2.0);
    let h = x.sin() * x.sin() + radians(a.0).cos() * radians(b.0).cos() * y.sin() * y.sin();
    2.0 * 6372.8 * h.sqrt().asin()
}

impl Ast {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::And(a, b) => format!("({} and {})", a.text(), b.text()),
            Self::Or(a, b) => format!("({} || {})", a.text(), b.text()),
            Self::Not(a) => format!("not ({})", a.text()),
            Self::Constant(value) => value.to_string(),
            Self::Leaf(leaf) => leaf.text(),
        }
    }

    /// An undefined test is false.
    pub(crate) fn matches(&self, event: &Value) -> bool {
        match self {
            Self::And(a, b) => a.matches(event) && b.matches(event),
            Self::Or(a, b) => a.matches(event) || b.matches(event),
            Self::Not(a) => !a.matches(event),
            Self::Constant(value) => *value,
            Self::Leaf(leaf) => leaf.evaluate(event).unwrap_or(false),
        }
    }

    /// An undefined test is unknown.
    pub(crate) fn three_valued(&self, event: &Value) -> Option<bool> {
        match self {
            Self::And(a, b) => match (a.three_valued(event), b.three_valued(event)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(a, b) => match (a.three_valued(event), b.three_valued(event)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::Not(a) => a.three_valued(event).map(|value| !value),
            Self::Constant(value) => Some(*value),
            Self::Leaf(leaf) => leaf.evaluate(event),
        }
    }
}
