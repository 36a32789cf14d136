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
}
