//! What is wrong in a settings file: the line, what was stated and what was expected.

use std::fmt;
use std::path::PathBuf;

/// Something in a settings file that is wrong, or that needs attention.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong at a line. Values of passwords are never stated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file could not be read.
    #[error("cannot read it: {0}")]
    Unreadable(String),
    /// The file has bytes that no text has.
    #[error("it is no settings file: it has bytes of value 0")]
    NotText,
    /// What the settings name cannot be used.
    #[error("{why}")]
    Unusable {
        /// What, and why.
        why: String,
    },
    /// A limit on the file.
    #[error("{what}: the limit is {limit}")]
    Limit {
        /// What exceeds it.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A line that is nothing.
    #[error("'{stated}': expected [DEFAULT], [SESSION], key=value or # comment")]
    Line {
        /// The line.
        stated: String,
    },
    /// A line that is not UTF-8.
    #[error("the line is not UTF-8")]
    Encoding,
    /// A section with another name; its lines have no effect.
    #[error("section [{stated}] has no effect: expected [DEFAULT] or [SESSION]")]
    Section {
        /// Its name.
        stated: String,
    },
    /// A key outside of a section.
    #[error("{key} has no effect before the first section: put it below [DEFAULT] or [SESSION]")]
    Outside {
        /// The key.
        key: String,
    },
    /// A key that no engine has.
    #[error("{key} is not known and has no effect{}", like.map_or_else(String::new, |like| format!(": is it {like}?")))]
    Unknown {
        /// The key.
        key: String,
        /// A key with a similar name.
        like: Option<&'static str>,
    },
    /// A value that is none.
    #[error("{key}={stated}: expected {expected}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        stated: String,
        /// What it should be.
        expected: String,
    },
    /// A key that a session needs.
    #[error("{key} is missing: expected {expected}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: String,
    },
    /// A key that perfkit cannot serve.
    #[error("{key} cannot be served: {instead}")]
    Refused {
        /// The key.
        key: String,
        /// What to do.
        instead: String,
    },
    /// A key that other engines know and that has no effect here.
    #[error("{key} has no effect: {why}")]
    NoEffect {
        /// The key.
        key: String,
        /// Why.
        why: String,
    },
    /// A key that a section states twice.
    #[error("{key} replaces what line {first} states")]
    Repeated {
        /// The key.
        key: String,
        /// The line that no longer counts.
        first: u32,
    },
    /// An environment variable that is not set.
    #[error("{key}: the environment variable {name} is not set")]
    Variable {
        /// The key.
        key: String,
        /// The variable.
        name: String,
    },
    /// A value that fits no other.
    #[error("{key}: {conflict}")]
    Conflict {
        /// The key.
        key: String,
        /// What it contradicts, and what to do.
        conflict: String,
    },
    /// A session that is stated twice.
    #[error("session {id} is already stated by the [SESSION] of line {first}")]
    Twice {
        /// The session.
        id: String,
        /// The other line.
        first: u32,
    },
    /// There is no session.
    #[error("there is no [SESSION]")]
    NoSession,
}

/// `FILE:LINE: what is wrong`.
impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(f, " {}", self.problem)
    }
}

impl std::error::Error for SettingsError {}

/// A settings file that cannot be used: everything that is wrong in it, by line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SettingsFailure {
    /// What is wrong. There is one at least.
    pub errors: Vec<SettingsError>,
    /// What needs attention besides.
    pub warnings: Vec<SettingsError>,
}

/// The first error, and how many more there are.
impl fmt::Display for SettingsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.errors.first() else {
            return f.write_str("the settings cannot be used");
        };
        first.fmt(f)?;
        match self.errors.len() {
            0 | 1 => Ok(()),
            2 => f.write_str(" (and 1 more error)"),
            all => write!(f, " (and {} more errors)", all - 1),
        }
    }
}

impl std::error::Error for SettingsFailure {}
