//! The attributes of events and expressions, and the file that declares them.
//!
//! `bind` checks the values of expressions against attributes, `event` those of events.

use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result, quoted};
use crate::nearest::did_you_mean;

/// The most attributes of a domain.
const ATTRIBUTES_MAX: usize = 1 << 16;

/// The types, as a domains file has them.
const TYPES: [&str; 9] = [
    "boolean",
    "integer",
    "float",
    "string",
    "integer list",
    "string list",
    "integer enum",
    "segments",
    "frequency",
];

/// An attribute of a [`Domain`], by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(pub(crate) u16);

impl AttributeId {
    /// The position, from 0, in the order in which attributes were added.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The type of an attribute, with its bounds, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum AttributeType {
    /// True or false.
    Boolean,
    /// A 64-bit integer.
    Integer {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A 64-bit floating-point number.
    Float {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// Text.
    String {
        /// The most distinct values in expressions.
        distinct_max: u64,
    },
    /// A set of integers.
    IntegerList {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A set of texts.
    StringList {
        /// The most distinct values in expressions.
        distinct_max: u64,
    },
    /// An integer that is compared only for equality.
    IntegerEnum {
        /// The most distinct values in expressions.
        distinct_max: u64,
    },
    /// Segments with the times at which they were entered.
    Segments,
    /// Counters of what was shown, for frequency caps.
    Frequency,
}

impl AttributeType {
    /// The name in a domains file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer { .. } => "integer",
            Self::Float { .. } => "float",
            Self::String { .. } => "string",
            Self::IntegerList { .. } => "integer list",
            Self::StringList { .. } => "string list",
            Self::IntegerEnum { .. } => "integer enum",
            Self::Segments => "segments",
            Self::Frequency => "frequency",
        }
    }

    pub(crate) fn parse(name: &str, min: Option<&str>, max: Option<&str>) -> Result<Self> {
        let kind = match name {
            "boolean" => Self::Boolean,
            "integer" => Self::Integer {
                min: bound(min, i64::MIN)?,
                max: bound(max, i64::MAX)?,
            },
            "float" => Self::Float {
                min: bound(min, f64::NEG_INFINITY)?,
                max: bound(max, f64::INFINITY)?,
            },
            "string" => Self::String {
                distinct_max: bound(max, u64::MAX)?,
            },
            "integer list" => Self::IntegerList {
                min: bound(min, i64::MIN)?,
                max: bound(max, i64::MAX)?,
            },
            "string list" => Self::StringList {
                distinct_max: bound(max, u64::MAX)?,
            },
            "integer enum" => Self::IntegerEnum {
                distinct_max: bound(max, u64::MAX)?,
            },
            "segments" => Self::Segments,
            "frequency" => Self::Frequency,
            _ => {
                let error = wrong(format!("unknown type {}", quoted(name)));
                return Err(error.help(known(name)));
            }
        };
        let empty = match kind {
            Self::Integer { min, max } | Self::IntegerList { min, max } => min > max,
            // No value is within a bound that is NaN.
            Self::Float { min, max } => min.partial_cmp(&max).is_none_or(std::cmp::Ordering::is_gt),
            _ => false,
        };
        if empty {
            return Err(wrong("the least value is above the greatest value"));
        }
        Ok(kind)
    }
}

/// One attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    name: Box<str>,
    kind: AttributeType,
    allow_undefined: bool,
}

impl Attribute {
    /// The name in expressions and events.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> AttributeType {
        self.kind
    }

    /// Whether an event may lack it.
    #[must_use]
    pub fn allows_undefined(&self) -> bool {
        self.allow_undefined
    }
}

/// The attributes that expressions may name.
///
/// ```
/// let domain = betree::Domain::parse("country|string|false\nage|integer|true|0|120\n")?;
/// let age = domain.attribute("age").expect("it was named");
/// assert!(domain[age].allows_undefined());
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Domain {
    attributes: Vec<Attribute>,
    by_name: HashMap<Box<[u8]>, AttributeId>,
    /// One bit for each attribute that an event must have.
    required: Vec<u64>,
}

impl Domain {
    /// A domain without attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a domains file: one attribute per line, `name|type|allow_undefined|min|max`, the last two optional.
    /// For strings and enums `max` is the most distinct values. Empty lines are ignored.
    ///
    /// # Errors
    /// The first line that is wrong, with its number.
    pub fn parse(text: &str) -> Result<Self> {
        let mut domain = Self::new();
        for (index, line) in text.lines().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            domain
                .parse_line(line)
                .map_err(|error| error.line(number))?;
        }
        Ok(domain)
    }

    fn parse_line(&mut self, line: &str) -> Result<()> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let (name, kind, allow, bounds) = match fields.as_slice() {
            [name, kind, allow, bounds @ ..] if bounds.len() <= 2 => (*name, *kind, *allow, bounds),
            _ => {
                return Err(wrong(
                    "expected name|type|allow_undefined or name|type|allow_undefined|min|max",
                ));
            }
        };
        // At the field that is wrong.
        let place = |field: usize| {
            let before: usize = line.split('|').take(field).map(|text| text.len() + 1).sum();
            let rest = line.get(before..).unwrap_or_default();
            before + rest.len() - rest.trim_start().len()
        };
        let allow = match allow {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(wrong("allow_undefined must be true or false").at(line, place(2))),
        };
        let given = |at: usize| bounds.get(at).copied().filter(|text| !text.is_empty());
        let kind = AttributeType::parse(kind, given(0), given(1))
            .map_err(|error| error.at(line, place(1)))?;
        self.add(name, kind, allow)
            .map_err(|error| error.at(line, place(0)))?;
        Ok(())
    }

    /// Adds an attribute.
    ///
    /// # Errors
    /// A name that is taken or not valid in an expression, or too many attributes.
    pub fn add(
        &mut self,
        name: &str,
        kind: AttributeType,
        allow_undefined: bool,
    ) -> Result<AttributeId> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let first = |c: char| c.is_ascii_alphabetic() || c == '_';
        if !name.starts_with(first) || !name.chars().all(word) {
            return Err(wrong(format!(
                "{} is not a valid name: use letters, digits, _ and -, with a letter or _ first",
                quoted(name)
            )));
        }
        // Where an operand is expected, any other word of the language is a name.
        if matches!(name, "not" | "true" | "false") {
            return Err(wrong(format!(
                "{} is a keyword of the language",
                quoted(name)
            )));
        }
        if self.by_name.contains_key(name.as_bytes()) {
            return Err(wrong(format!(
                "attribute {} is declared twice",
                quoted(name)
            )));
        }
        if self.attributes.len() == ATTRIBUTES_MAX {
            return Err(wrong(format!("more than {ATTRIBUTES_MAX} attributes")));
        }
        let id = AttributeId(self.attributes.len() as u16);
        self.attributes.push(Attribute {
            name: name.into(),
            kind,
            allow_undefined,
        });
        self.by_name.insert(name.as_bytes().into(), id);
        self.required.resize(self.attributes.len().div_ceil(64), 0);
        self.required[id.index() / 64] |= u64::from(!allow_undefined) << (id.index() % 64);
        Ok(id)
    }

    /// The attribute of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<AttributeId> {
        self.find(name.as_bytes())
    }

    /// The attribute whose name has these bytes.
    pub(crate) fn find(&self, name: &[u8]) -> Option<AttributeId> {
        self.by_name.get(name).copied()
    }

    /// The first required attribute that an event with these attributes, one bit each, lacks.
    pub(crate) fn missing(&self, defined: &[u64]) -> Option<&Attribute> {
        let words = self.required.iter().zip(defined);
        let lacks = |(required, defined): (&u64, &u64)| required & !defined;
        let (at, bits) = words.map(lacks).enumerate().find(|(_, bits)| *bits != 0)?;
        self.attributes
            .get(at * 64 + bits.trailing_zeros() as usize)
    }

    /// Changes the bounds of an attribute.
    pub(crate) fn set_kind(&mut self, id: AttributeId, kind: AttributeType) {
        if let Some(attribute) = self.attributes.get_mut(id.index()) {
            attribute.kind = kind;
        }
    }

    /// The attributes in order.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }
}

impl std::ops::Index<AttributeId> for Domain {
    type Output = Attribute;

    /// # Panics
    /// When the id belongs to another, larger domain.
    fn index(&self, id: AttributeId) -> &Attribute {
        &self.attributes[id.index()]
    }
}

fn bound<T: std::str::FromStr>(text: Option<&str>, otherwise: T) -> Result<T> {
    match text {
        None => Ok(otherwise),
        Some(text) => text
            .parse()
            .map_err(|_| wrong(format!("{} is not a bound of this type", quoted(text)))),
    }
}

/// The types that there are, for one that there is not.
fn known(name: &str) -> String {
    let all = format!("the types are {}", TYPES.join(", "));
    let usual = match name.to_ascii_lowercase().as_str() {
        "int" | "long" | "int64" | "number" => Some("did you mean 'integer'?".to_owned()),
        "bool" => Some("did you mean 'boolean'?".to_owned()),
        "double" | "real" => Some("did you mean 'float'?".to_owned()),
        "str" | "text" => Some("did you mean 'string'?".to_owned()),
        _ => did_you_mean(name, TYPES),
    };
    match usual {
        Some(meant) => format!("{meant} {all}"),
        None => all,
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Domain, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_with_bounds() {
        let text = "a|boolean|false\n\nb|integer|true|-3|7\nc|string|true||5\nd|float|false|0.5\n";
        let domain = Domain::parse(text).unwrap();
        let kinds: Vec<AttributeType> = domain.attributes().iter().map(Attribute::kind).collect();
        let expected = [
            AttributeType::Boolean,
            AttributeType::Integer { min: -3, max: 7 },
            AttributeType::String { distinct_max: 5 },
            AttributeType::Float {
                min: 0.5,
                max: f64::INFINITY,
            },
        ];
        assert_eq!(kinds, expected);
        assert_eq!(domain.attribute("c").map(AttributeId::index), Some(2));
        assert_eq!(domain.attribute("e"), None);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, part) in [
            ("a|boolean", "expected name"),
            ("a|boolean|maybe", "must be true or false"),
            ("a|strange|true", "unknown type 'strange'"),
            ("a|integer|true|x", "not a bound"),
            ("a|integer|true|2|1", "above the greatest"),
            ("a|float|true|NaN|1", "above the greatest"),
            ("1a|boolean|true", "not a valid name"),
            ("-a|boolean|true", "not a valid name"),
            ("|boolean|true", "not a valid name"),
            ("not|boolean|true", "keyword of the language"),
            ("a|boolean|true\na|boolean|true", "twice"),
            ("a|boolean|true|1|2|3", "expected name"),
        ] {
            let error = Domain::parse(&format!("\n{text}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Domain);
            assert!(error.to_string().contains(part), "{text}: {error}");
            assert!(error.to_string().contains(" at line "), "{error}");
        }
    }

    #[test]
    fn an_unknown_type_has_its_column_and_the_types() {
        let error = Domain::parse("é| int|true").unwrap_err();
        assert_eq!(error.to_string(), "unknown type 'int' at line 1, column 4");
        let hint = error.hint().unwrap();
        assert!(hint.starts_with("did you mean 'integer'? the types are boolean, "));
        for name in TYPES {
            assert_eq!(AttributeType::parse(name, None, None).unwrap().name(), name);
        }
    }
}
