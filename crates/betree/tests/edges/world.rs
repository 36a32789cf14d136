//! Domains: attributes of each type, with bounds at and around the values that matter, and the few
//! values of each that expressions and events share.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Random;
use super::ast::Test;
use super::values;

/// The type of an attribute, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Boolean,
    Integer(i64, i64),
    Float(f64, f64),
    Text,
    Enum,
    Integers(i64, i64),
    Texts,
    Segments,
    Caps,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// What expressions and events name of it.
    pub(crate) integers: Vec<i64>,
    pub(crate) floats: Vec<f64>,
    pub(crate) texts: Vec<Arc<str>>,
}

/// What most expressions of a world ask for: it decides how the crate finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Anything.
    Mixed,
    /// Few values of thousands.
    Selective,
    /// The same few tests again and again.
    Shared,
}

/// What a subscription's frequency caps count by.
pub(crate) type Ids = [Option<i64>; 5];

pub(crate) const CAP_KINDS: [&str; 5] = [
    "flight",
    "advertiser",
    "campaign",
    "campaign_group",
    "product",
];

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) shape: Shape,
    pub(crate) attributes: Vec<Attribute>,
    /// The tests of expressions that share theirs.
    pub(crate) bank: Vec<Test>,
    /// The attribute that most selective expressions ask for.
    pub(crate) wide: usize,
    pub(crate) three_valued: bool,
    pub(crate) ids: [Ids; 2],
    /// Ids of segments and counters.
    pub(crate) keys: Vec<i64>,
    pub(crate) seconds: Vec<i64>,
    pub(crate) microseconds: Vec<i64>,
}

const BOUNDS: [(i64, i64); 9] = [
    (i64::MIN, i64::MAX),
    (i64::MIN, i64::MAX),
    (i64::MIN, i64::MAX),
    (0, 120),
    (-1, 1),
    (i64::MIN, 0),
    (0, i64::MAX),
    (i64::MAX, i64::MAX),
    (i32::MIN as i64 - 1, i32::MAX as i64 + 1),
];

const FLOAT_BOUNDS: [(f64, f64); 6] = [
    (f64::NEG_INFINITY, f64::INFINITY),
    (f64::NEG_INFINITY, f64::INFINITY),
    (f64::MIN, f64::MAX),
    (0.0, 120.0),
    (-0.0, 0.0),
    (-5e-324, 5e-324),
];

impl World {
    /// A domain with attributes of each type.
    pub(crate) fn draw(random: &mut Random, shape: Shape) -> Self {
        let id = |random: &mut Random| random.chance(90).then(|| values::integer(random));
        let ids = |random: &mut Random| std::array::from_fn(|_| id(random));
        let mut world = Self {
            shape,
            attributes: Vec::new(),
            bank: Vec::new(),
            wide: 0,
            three_valued: random.chance(50),
            ids: [
                ids(random),
                [Some(7), Some(0), Some(i64::MIN), None, Some(i64::MAX)],
            ],
            keys: (0..4).map(|_| values::integer(random)).collect(),
            seconds: (0..5).map(|_| values::seconds(random)).collect(),
            microseconds: (0..5).map(|_| values::microseconds(random)).collect(),
        };
        let booleans = match shape {
            Shape::Shared => random.pick(&[3, 40, 70, 200]),
            _ => 3,
        };
        for (name, count) in [
            ("b", booleans),
            ("i", 2),
            ("f", 2),
            ("s", 2),
            ("e", 1),
            ("il", 1),
            ("sl", 1),
        ] {
            for at in 0..count {
                let kind = Self::kind(random, name);
                world.add(random, format!("{name}{at}"), kind);
            }
        }
        for name in ["seg", "segments_with_timestamp"] {
            world.add(random, name.to_owned(), Kind::Segments);
        }
        world.add(random, "frequency_caps".to_owned(), Kind::Caps);
        for name in ["latitude", "longitude"] {
            let kind = Kind::Float(f64::NEG_INFINITY, f64::INFINITY);
            world.add(random, name.to_owned(), kind);
        }
        if random.chance(50) {
            let kind = Kind::Integer(i64::MIN, i64::MAX);
            world.add(random, "now".to_owned(), kind);
        }
        if shape == Shape::Selective {
            let name = random.pick(&["s0", "e0", "i0", "il0", "sl0"]);
            world.widen(name);
        }
        world
    }

    /// Gives an attribute thousands of values, at both ends of what it can be.
    fn widen(&mut self, name: &str) {
        let Some(at) = self.position(name) else {
            return;
        };
        self.wide = at;
        let attribute = &mut self.attributes[at];
        if matches!(attribute.kind, Kind::Text | Kind::Texts) {
            attribute
                .texts
                .extend((0..6_000).map(|at| format!("v{at}").into()));
            return;
        }
        let (low, high) = (i64::MIN + 1, i64::MAX - 1);
        attribute.kind = match attribute.kind {
            // Of an integer without bounds, or with near ones, no value is taken to be rare.
            Kind::Integer(..) => Kind::Integer(low, high),
            Kind::Integers(..) => Kind::Integers(low, high),
            other => other,
        };
        attribute
            .integers
            .extend((1..3_000).flat_map(|at| [i64::MIN + at, i64::MAX - at]));
    }

    fn kind(random: &mut Random, name: &str) -> Kind {
        let (low, high) = random.pick(&BOUNDS);
        match name {
            "b" => Kind::Boolean,
            "i" => Kind::Integer(low, high),
            "f" => {
                let (low, high) = random.pick(&FLOAT_BOUNDS);
                Kind::Float(low, high)
            }
            "s" => Kind::Text,
            "e" => Kind::Enum,
            "il" => Kind::Integers(low, high),
            _ => Kind::Texts,
        }
    }

    fn add(&mut self, random: &mut Random, name: String, kind: Kind) {
        let mut attribute = Attribute {
            required: random.chance(30),
            name,
            kind,
            integers: Vec::new(),
            floats: Vec::new(),
            texts: Vec::new(),
        };
        attribute.fill(random);
        self.attributes.push(attribute);
    }

    /// The domains file.
    pub(crate) fn domains(&self, random: &mut Random) -> String {
        let mut out = String::new();
        for attribute in &self.attributes {
            let allow = match (attribute.required, random.chance(50)) {
                (true, true) => "false",
                (true, false) => "0",
                (false, true) => "true",
                (false, false) => "1",
            };
            let name = match attribute.kind {
                Kind::Boolean => "boolean",
                Kind::Integer(..) => "integer",
                Kind::Float(..) => "float",
                Kind::Text => "string",
                Kind::Enum => "integer enum",
                Kind::Integers(..) => "integer list",
                Kind::Texts => "string list",
                Kind::Segments => "segments",
                Kind::Caps => "frequency",
            };
            let bounds = match attribute.kind {
                // Bounds that bound nothing are left out by chance.
                Kind::Integer(i64::MIN, i64::MAX) if random.chance(50) => String::new(),
                Kind::Integer(low, high) | Kind::Integers(low, high) => format!("|{low}|{high}"),
                Kind::Float(low, high) if low.is_finite() => format!("|{low:?}|{high:?}"),
                _ => String::new(),
            };
            let end = random.pick(&["\n", "\r\n", "\n\n"]);
            let _ = write!(out, "{}|{name}|{allow}{bounds}{end}", attribute.name);
        }
        out
    }

    /// The position of an attribute.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|found| found.name == name)
    }

    /// A random attribute of a type.
    pub(crate) fn any(&self, random: &mut Random, fits: fn(&Kind) -> bool) -> usize {
        let all = self.attributes.iter().enumerate();
        let fitting = all.filter(|(_, found)| {
            // What the language names itself is drawn where that is done.
            fits(&found.kind) && !matches!(&*found.name, "latitude" | "longitude")
        });
        let positions: Vec<usize> = fitting.map(|(at, _)| at).collect();
        random.pick(&positions)
    }
}

impl Attribute {
    fn fill(&mut self, random: &mut Random) {
        let count = 1 + random.below(8);
        match self.kind {
            Kind::Integer(low, high) | Kind::Integers(low, high) => {
                self.integers.extend([low, high]);
                let drawn = (0..count).map(|_| values::integer(random));
                self.integers.extend(drawn);
            }
            Kind::Enum => {
                self.integers = (0..count).map(|_| values::integer(random)).collect();
            }
            Kind::Float(low, high) => {
                let bounds = [low, high].into_iter().filter(|bound| bound.is_finite());
                self.floats.extend(bounds);
                self.floats
                    .extend((0..count).map(|_| values::float(random)));
            }
            Kind::Text | Kind::Texts => {
                self.texts = (0..count).map(|_| values::text(random)).collect();
            }
            Kind::Boolean | Kind::Segments | Kind::Caps => {}
        }
    }

    /// An integer that an expression may name, or any that an event may have.
    pub(crate) fn integer(&self, random: &mut Random, bounded: bool) -> i64 {
        let (low, high) = match self.kind {
            Kind::Integer(low, high) | Kind::Integers(low, high) if bounded => (low, high),
            _ => (i64::MIN, i64::MAX),
        };
        let drawn = match random.below(20) {
            0 => values::integer(random),
            // Of many values a few are had by many.
            1..=6 => self.integers[random.below(3) as usize % self.integers.len()],
            _ => random.pick(&self.integers),
        };
        values::near(random, drawn).clamp(low, high)
    }

    pub(crate) fn float(&self, random: &mut Random, bounded: bool) -> f64 {
        let drawn = match random.chance(95) {
            true => random.pick(&self.floats),
            false => values::float(random),
        };
        let drawn = values::near_float(random, drawn);
        match self.kind {
            Kind::Float(low, high) if bounded => drawn.clamp(low, high),
            _ => drawn,
        }
    }

    pub(crate) fn text(&self, random: &mut Random) -> Arc<str> {
        let all = self.texts.len();
        match random.below(20) {
            0 => values::text(random),
            1..=6 => self.texts[random.below(3) as usize % all].clone(),
            _ => self.texts[random.below(all as u64) as usize].clone(),
        }
    }
}
