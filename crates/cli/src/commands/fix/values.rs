//! Values of flags that several parts of `fix` have.

use clap::ValueEnum;

/// The separator between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Separator {
    /// That of the first message
    Auto,
    /// SOH, byte 1
    Soh,
    /// `|`, at least one message per line
    Pipe,
    /// `^A`, at least one message per line
    Caret,
    /// `\x01` as text, at least one message per line
    Hex,
}

impl From<Separator> for fixlog::Separator {
    fn from(separator: Separator) -> Self {
        match separator {
            Separator::Auto => Self::Auto,
            Separator::Soh => Self::Soh,
            Separator::Pipe => Self::Pipe,
            Separator::Caret => Self::Caret,
            Separator::Hex => Self::Hex,
        }
    }
}

/// Parses how many times faster.
pub(super) fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (0.0..=1e9).contains(speed));
    speed.ok_or_else(|| "expected a number from 0 to 1000000000".to_owned())
}

/// Parses messages per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| "expected a number from 0.001 to 1000000000".to_owned())
}
