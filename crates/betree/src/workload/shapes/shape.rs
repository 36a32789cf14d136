//! What a shape is.

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
    /// A text of this many words, and how many words there are, at most 1,048,576.
    Words(u64, u64),
}

/// A test that expressions make of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ask {
    /// One of this many values at most, at least one; a list has any of them.
    Any(u64),
    /// One of exactly this many values, or of all if there are fewer.
    Long(u64),
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
    /// A text has a word.
    Contains,
    /// A text lacks a word.
    Lacks,
    /// A text begins with a word.
    Starts,
    /// A text ends with a word.
    Ends,
    /// Any of these tests, each of the attribute at a position.
    Either(&'static [(usize, Ask)]),
}

impl Ask {
    /// How many values it names at most.
    fn values(self) -> u64 {
        match self {
            Self::Any(count) | Self::Long(count) | Self::None(count) | Self::All(count) => count,
            Self::Either(asks) => asks.iter().map(|(_, ask)| ask.values()).sum(),
            _ => 1,
        }
    }
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

impl Shape {
    /// Whether expressions have frequency caps, and so need the constants of [`constants`](super::constants).
    #[must_use]
    pub fn has_caps(&self) -> bool {
        self.has(|ask| ask == Ask::Cap)
    }

    /// How many values an expression names at most, on average: a range has one.
    #[must_use]
    pub fn values(&self) -> u64 {
        let of_clause = |clause: &Clause| clause.ask.values() * clause.share;
        let of_conjunction = self.clauses.iter().map(of_clause).sum::<u64>() / 1000;
        let (least, most) = self.conjunctions;
        (of_conjunction * (least + most) / 2).max(1)
    }

    /// What it is made of, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut kinds = [
            ("texts", 0),
            ("integers", 0),
            ("floats", 0),
            ("lists", 0),
            ("booleans", 0),
            ("texts of words", 0),
        ];
        let mut most = 0;
        for (values, _) in &self.attributes {
            let (at, count) = match *values {
                Values::Text(count) => (0, count),
                Values::Integer(count) => (1, count),
                Values::Float(count) => (2, count),
                Values::List(_, count) => (3, count),
                Values::Boolean => (4, 2),
                Values::Words(_, count) => (5, count),
            };
            kinds[at].1 += 1;
            most = most.max(count);
        }
        let mut parts: Vec<String> = kinds
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| {
                format!(
                    "{count} {}",
                    match *count {
                        1 => kind.replacen('s', "", 1),
                        _ => (*kind).to_owned(),
                    }
                )
            })
            .collect();
        parts.push(format!("at most {most} values"));
        let has_radius = self.has(|ask| matches!(ask, Ask::Radius(_)));
        parts.extend(has_radius.then(|| "radius".to_owned()));
        parts.extend(self.has_caps().then(|| "frequency cap".to_owned()));
        let (least, most) = self.conjunctions;
        parts.extend((most > 1).then(|| format!("{least} to {most} conjunctions")));
        parts.join(", ")
    }

    pub(super) fn has(&self, wanted: impl Fn(Ask) -> bool) -> bool {
        self.clauses.iter().any(|clause| wanted(clause.ask))
    }
}

/// A shape of one conjunction an expression, whose events have all attributes.
pub(super) fn shape(name: &str, attributes: &[Values], clauses: &[(usize, Ask, u64)]) -> Shape {
    let clause = |(attribute, ask, share): &(usize, Ask, u64)| Clause {
        attribute: *attribute,
        ask: *ask,
        share: *share,
    };
    Shape {
        name: name.to_owned(),
        attributes: attributes.iter().map(|values| (*values, 0)).collect(),
        clauses: clauses.iter().map(clause).collect(),
        conjunctions: (1, 1),
        clauses_max: usize::MAX,
        skew: 0,
    }
}
