//! Expressions and events as plain data.

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
    /// A text has this word, lacks it, begins or ends with it.
    Contains(usize, i64),
    /// See [`Test::Contains`].
    Lacks(usize, i64),
    /// See [`Test::Contains`].
    Starts(usize, i64),
    /// See [`Test::Contains`].
    Ends(usize, i64),
    /// A boolean has this value.
    Is(usize, bool),
    /// Any of these tests.
    Either(Vec<Test>),
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
    /// A list, in ascending order, without repetition; or the words of a text, one after the other.
    List(Vec<i64>),
}

impl Value {
    /// What an inverted index looks up: an integer, or each element of a list.
    pub(super) fn elements(&self) -> &[i64] {
        match self {
            Self::Integer(value) => std::slice::from_ref(value),
            Self::List(list) => list,
            Self::Float(_) | Self::Absent => &[],
        }
    }
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
