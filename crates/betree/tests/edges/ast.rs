//! Expressions as the tests know them, and their text. Nothing here parses.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Random;
use super::world::World;

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Ast {
    And(Vec<Ast>),
    Or(Vec<Ast>),
    Not(Box<Ast>),
    Constant(bool),
    Test(Test),
}

/// A value that an expression names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    Integer(i64),
    Float(f64),
    Text(Arc<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Less,
    LessEqual,
    Equal,
    Unequal,
    GreaterEqual,
    Greater,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    One,
    None,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Anywhere,
    Start,
    End,
}

/// A test; attributes are positions in the world's list.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Boolean(usize),
    Compare(usize, Sign, Constant),
    In(usize, bool, Vec<Constant>),
    /// A list has one element, or has it not.
    Has(usize, bool, Constant),
    Of(usize, Quantity, Vec<Constant>),
    Null(usize, bool),
    Empty(usize),
    Text(usize, Part, Arc<str>),
    Geo {
        latitude: f64,
        longitude: f64,
        radius_km: f64,
    },
    Segment {
        attribute: usize,
        within: bool,
        id: i64,
        seconds: i64,
    },
    Cap {
        kind: &'static str,
        namespace: Arc<str>,
        value: i64,
        length: i64,
    },
}

impl Sign {
    pub(crate) const ALL: [Self; 6] = [
        Self::Less,
        Self::LessEqual,
        Self::Equal,
        Self::Unequal,
        Self::GreaterEqual,
        Self::Greater,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "=",
            Self::Unequal => "<>",
            Self::GreaterEqual => ">=",
            Self::Greater => ">",
        }
    }

    /// The sign that says the same with its sides exchanged.
    fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::GreaterEqual => Self::LessEqual,
            Self::Greater => Self::Less,
            same => same,
        }
    }
}

/// Writes an expression in one of the many ways in which it can be written.
pub(crate) fn text(ast: &Ast, world: &World, random: &mut Random) -> String {
    let mut writer = Writer {
        world,
        random,
        out: String::new(),
    };
    writer.expression(ast);
    writer.out
}

struct Writer<'a> {
    world: &'a World,
    random: &'a mut Random,
    out: String,
}

impl Writer<'_> {
    fn expression(&mut self, ast: &Ast) {
        match ast {
            Ast::And(parts) => self.group(parts, [" and ", "&&", " && "]),
            Ast::Or(parts) => self.group(parts, [" or ", "||", "\t||\r"]),
            Ast::Not(inner) => {
                self.out.push_str("not ");
                self.operand(inner);
            }
            Ast::Constant(value) => drop(write!(self.out, "{value}")),
            Ast::Test(test) => self.test(test),
        }
    }

    fn group(&mut self, parts: &[Ast], words: [&'static str; 3]) {
        let and = words[0] == " and ";
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                let word = self.random.pick(&words);
                self.out.push_str(word);
            }
            // A conjunction inside of a disjunction needs no brackets.
            match part {
                Ast::And(_) if !and && self.random.chance(50) => self.expression(part),
                Ast::Not(_) => self.expression(part),
                _ => self.operand(part),
            }
        }
    }

    /// In brackets, unless it is one test and they are left out by chance.
    fn operand(&mut self, ast: &Ast) {
        let bare = matches!(ast, Ast::Test(_) | Ast::Constant(_)) && self.random.chance(80);
        if bare {
            return self.expression(ast);
        }
        self.out.push('(');
        self.expression(ast);
        self.out.push(')');
    }

    fn constant(&mut self, constant: &Constant) {
        match constant {
            Constant::Integer(value) => drop(write!(self.out, "{value}")),
            Constant::Float(value) => drop(write!(self.out, "{value:?}")),
            Constant::Text(text) => self.quoted(text),
        }
    }

    /// A text in either quotes. A quote of its own kind and a backslash are escaped; another quote only by chance.
    fn quoted(&mut self, text: &str) {
        let quote = self.random.pick(&['"', '\'']);
        self.out.push(quote);
        for letter in text.chars() {
            let must = letter == quote || letter == '\\';
            let may = matches!(letter, '"' | '\'') && self.random.chance(50);
            if must || may {
                self.out.push('\\');
            }
            self.out.push(letter);
        }
        self.out.push(quote);
    }

    fn list(&mut self, constants: &[Constant]) {
        self.out.push('(');
        for (at, constant) in constants.iter().enumerate() {
            if at > 0 {
                let comma = self.random.pick(&[",", ", "]);
                self.out.push_str(comma);
            }
            self.constant(constant);
        }
        self.out.push(')');
    }

    fn test(&mut self, test: &Test) {
        let name = |attribute: &usize| self.world.attributes[*attribute].name.as_str();
        let not = |negated: &bool| if *negated { "not " } else { "" };
        match test {
            Test::Boolean(attribute) => self.out.push_str(name(attribute)),
            Test::Compare(attribute, sign, constant) => {
                let name = name(attribute);
                if self.random.chance(50) {
                    let _ = write!(self.out, "{name} {} ", sign.text());
                    self.constant(constant);
                } else {
                    self.constant(constant);
                    let _ = write!(self.out, " {} {name}", sign.mirrored().text());
                }
            }
            Test::In(attribute, negated, constants) => {
                let _ = write!(self.out, "{} {}in ", name(attribute), not(negated));
                self.list(constants);
            }
            Test::Has(attribute, negated, constant) => {
                let end = format!(" {}in {}", not(negated), name(attribute));
                self.constant(constant);
                self.out.push_str(&end);
            }
            Test::Of(attribute, quantity, constants) => {
                let word = match quantity {
                    Quantity::One => "one",
                    Quantity::None => "none",
                    Quantity::All => "all",
                };
                let _ = write!(self.out, "{} {word} of ", name(attribute));
                self.list(constants);
            }
            Test::Null(attribute, negated) => {
                let _ = write!(self.out, "{} is {}null", name(attribute), not(negated));
            }
            Test::Empty(attribute) => drop(write!(self.out, "{} is empty", name(attribute))),
            Test::Text(attribute, part, pattern) => {
                let word = match part {
                    Part::Anywhere => "contains",
                    Part::Start => "starts_with",
                    Part::End => "ends_with",
                };
                let _ = write!(self.out, "{word}({}, ", name(attribute));
                self.quoted(pattern);
                self.out.push(')');
            }
            _ => self.function(test),
        }
    }

    fn function(&mut self, test: &Test) {
        match test {
            Test::Geo {
                latitude,
                longitude,
                radius_km,
            } => {
                let text = format!("geo_within_radius({latitude:?},{longitude:?},{radius_km:?})");
                self.out.push_str(&text);
            }
            Test::Segment {
                attribute,
                within,
                id,
                seconds,
            } => {
                let word = if *within { "within" } else { "before" };
                let name = &self.world.attributes[*attribute].name;
                let name = match name == "segments_with_timestamp" && self.random.chance(50) {
                    true => String::new(),
                    false => format!("{name}, "),
                };
                let _ = write!(self.out, "segment_{word}({name}{id}, {seconds})");
            }
            Test::Cap {
                kind,
                namespace,
                value,
                length,
            } => {
                let _ = write!(self.out, "within_frequency_cap(\"{kind}\", ");
                self.quoted(namespace);
                let _ = write!(self.out, ", {value}, {length})");
            }
            _ => unreachable!("the other tests are written by their attribute"),
        }
    }
}
