//! Why a text is no expression.

/// Why a text is no expression. Columns are characters, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionError {
    /// Something else belongs here.
    #[error("expected {expected}, found {found} at column {column}")]
    Unexpected {
        /// What belongs here.
        expected: &'static str,
        /// What is here.
        found: String,
        /// Where.
        column: usize,
    },
    /// No dictionary has a field of this name.
    #[error("no dictionary has the field {name} at column {column}; state its tag")]
    UnknownField {
        /// The name as stated, quoted.
        name: String,
        /// Where.
        column: usize,
    },
    /// A quoted text that does not end.
    #[error("the text that begins at column {column} has no closing quote")]
    NoClosingQuote {
        /// Where it begins.
        column: usize,
    },
    /// Too many parentheses or `not` within each other.
    #[error("more than {most} parentheses and 'not' within each other at column {column}")]
    TooDeep {
        /// How many there may be.
        most: usize,
        /// Where.
        column: usize,
    },
    /// A number that is no tag.
    #[error("{text} at column {column} is no tag: tags are 1 to 2147483647")]
    NoTag {
        /// The number as stated, quoted.
        text: String,
        /// Where.
        column: usize,
    },
    /// A value that the field cannot have, and that is not quoted.
    #[error("{value} at column {column} is no {expected}; in quotes it is compared byte by byte")]
    NoValue {
        /// The value as stated, quoted.
        value: String,
        /// Where.
        column: usize,
        /// What the field has: `value of OrdStatus`, `number such as 41.5`.
        expected: String,
    },
}
