//! What a parsed expression consists of.

use std::ops::Range;

/// A parsed expression, which borrows its text.
///
/// ```
/// let expression = betree::Expression::parse("age >= 18 and not (country in ('FR', 'DE'))")?;
/// assert_eq!(expression.leaves(), 2);
/// let error = betree::Expression::parse("age >= and").unwrap_err();
/// assert_eq!(error.to_string(), "expected a constant, found 'and' at column 8");
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression<'s> {
    pub(crate) text: &'s str,
    /// Operators and operands, operands first.
    pub(crate) nodes: Vec<Node>,
    pub(crate) leaves: Vec<Leaf<'s>>,
    /// The elements of lists.
    pub(crate) literals: Vec<Literal<'s>>,
}

impl Expression<'_> {
    /// The number of tests of attributes.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }
}

/// One step of an expression in postfix order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    And,
    Or,
    Not,
    Constant(bool),
    /// A position in `leaves`.
    Leaf(u32),
}

/// A test, and the byte at which it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf<'s> {
    pub(crate) offset: usize,
    pub(crate) test: Test<'s>,
}

/// A constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Literal<'s> {
    Integer(i64),
    Float(f64),
    Text(&'s str),
}

/// Which side of a constant a value has to be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// How many elements of a list have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    One,
    None,
    All,
}

/// Where in a text a pattern has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Position {
    Anywhere,
    Start,
    End,
}

/// What a counter counts, not including the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CapKind {
    Advertiser,
    Campaign,
    CampaignGroup,
    Flight,
    Product,
}

impl CapKind {
    /// The kind of a word, and whether it counts by address.
    pub(crate) fn parse(word: &str) -> Option<(Self, bool)> {
        let (word, by_address) = match word.strip_suffix(":ip") {
            Some(word) => (word, true),
            None => (word, false),
        };
        let kind = match word {
            "advertiser" => Self::Advertiser,
            "campaign" => Self::Campaign,
            "campaign_group" => Self::CampaignGroup,
            "flight" => Self::Flight,
            "product" => Self::Product,
            _ => return None,
        };
        Some((kind, by_address))
    }

    /// The kinds, by their numbers in files.
    pub(crate) const ALL: [Self; 5] = [
        Self::Advertiser,
        Self::Campaign,
        Self::CampaignGroup,
        Self::Flight,
        Self::Product,
    ];

    /// Its number in files.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The kind of a number in a file.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The word of the kind.
    pub(crate) fn word(self, by_address: bool) -> String {
        let word = match self {
            Self::Advertiser => "advertiser",
            Self::Campaign => "campaign",
            Self::CampaignGroup => "campaign_group",
            Self::Flight => "flight",
            Self::Product => "product",
        };
        format!("{word}{}", if by_address { ":ip" } else { "" })
    }
}

/// A test of one attribute, or of an implied attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test<'s> {
    Variable(&'s str),
    Compare(&'s str, Relation, Literal<'s>),
    Equal {
        name: &'s str,
        negated: bool,
        value: Literal<'s>,
    },
    In {
        name: &'s str,
        negated: bool,
        list: Range<usize>,
    },
    Has {
        name: &'s str,
        negated: bool,
        value: Literal<'s>,
    },
    Of(&'s str, Quantity, Range<usize>),
    Null {
        name: &'s str,
        negated: bool,
    },
    Empty(&'s str),
    Text(&'s str, Position, &'s str),
    Geo {
        latitude: f64,
        longitude: f64,
        radius_km: f64,
    },
    Segment {
        name: Option<&'s str>,
        within: bool,
        id: i64,
        seconds: i64,
    },
    Cap {
        kind: CapKind,
        by_address: bool,
        namespace: &'s str,
        value: i64,
        length: i64,
    },
}
