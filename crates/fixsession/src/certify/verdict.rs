//! What a run of a scenario came to.

use std::fmt;
use std::time::Duration;

use fixcore::SOH;

use super::scenario::Connection;

/// The verdict on a scenario in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The engine did what it has to.
    Passed,
    /// It did something else.
    Failed {
        /// The line of the scenario that was not met.
        step: String,
        /// What was expected, and what was found.
        why: String,
    },
    /// It was not run, because of this.
    Skipped(String),
    /// The engine could not be connected to.
    NoConnection(String),
}

impl Verdict {
    /// Its name: `passed`, `failed`, `skipped` or `no connection`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed { .. } => "failed",
            Self::Skipped(_) => "skipped",
            Self::NoConnection(_) => "no connection",
        }
    }

    /// Why, if it did not pass.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Passed => None,
            Self::Failed { step, why } => Some(format!("{why}; at: {step}")),
            Self::Skipped(why) | Self::NoConnection(why) => Some(why.clone()),
        }
    }
}

/// Which way bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the engine.
    Sent,
    /// From the engine.
    Received,
}

/// A message, or what else came, of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// Since the beginning of the run.
    pub at: Duration,
    /// Over which connection.
    pub connection: Connection,
    /// Which way.
    pub direction: Direction,
    /// The bytes; none for an end of the connection.
    pub bytes: Vec<u8>,
}

/// `> 8=FIX.4.4|9=…`: with `|` between fields, and an end as `closed`.
impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = match self.connection {
            Connection::A => "",
            Connection::B => "b: ",
        };
        let arrow = match self.direction {
            Direction::Sent => '>',
            Direction::Received => '<',
        };
        write!(f, "{second}{arrow} ")?;
        if self.bytes.is_empty() {
            return f.write_str("closed");
        }
        let text = String::from_utf8_lossy(&self.bytes);
        for letter in text.chars() {
            match letter {
                _ if u32::from(letter) == u32::from(SOH) => f.write_str("|")?,
                _ if letter.is_control() => write!(f, "{}", letter.escape_default())?,
                _ => write!(f, "{letter}")?,
            }
        }
        Ok(())
    }
}

/// A run that has ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finished {
    /// Its verdict.
    pub verdict: Verdict,
    /// Everything that was sent and received.
    pub exchange: Vec<Exchange>,
    /// How long it took.
    pub took: Duration,
}

impl Finished {
    /// A scenario that was not run, and why.
    #[must_use]
    pub fn skipped(why: &str) -> Self {
        Self {
            verdict: Verdict::Skipped(why.to_owned()),
            exchange: Vec::new(),
            took: Duration::ZERO,
        }
    }
}
