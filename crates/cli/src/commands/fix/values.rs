//! Values of flags that several parts of `fix` have.

use clap::ValueEnum;

/// The separator between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// This text, at least one message per line
    Text(&'static [u8]),
}

/// Bytes of the longest separator.
const SEPARATOR_BYTES_MAX: usize = 8;

/// Parses a separator: a name, or the text itself.
pub(crate) fn separator(text: &str) -> Result<Separator, String> {
    Ok(match text {
        "auto" => Separator::Auto,
        "soh" | "\u{1}" => Separator::Soh,
        "pipe" | "|" => Separator::Pipe,
        "caret" | "^A" => Separator::Caret,
        "hex" | "\\x01" => Separator::Hex,
        "\\t" => Separator::Text(b"\t"),
        text => {
            let is_sign = |letter: char| {
                !letter.is_alphanumeric() && !matches!(letter, '.' | '=' | '\n' | '\r')
            };
            if !text.starts_with(is_sign) || text.len() > SEPARATOR_BYTES_MAX {
                return Err(format!(
                    "expected auto, soh, pipe, caret, hex, or what stands between fields: at most {SEPARATOR_BYTES_MAX} \
                     bytes that begin with a sign, such as '##'"
                ));
            }
            // There is one for the whole of the process.
            Separator::Text(Box::leak(text.as_bytes().to_vec().into_boxed_slice()))
        }
    })
}

impl From<Separator> for fixlog::Separator {
    fn from(separator: Separator) -> Self {
        match separator {
            Separator::Auto => Self::Auto,
            Separator::Soh => Self::Soh,
            Separator::Pipe => Self::Pipe,
            Separator::Caret => Self::Caret,
            Separator::Hex => Self::Hex,
            Separator::Text(text) => Self::Text(text),
        }
    }
}

/// What may be wrong with messages that are counted all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Accepted {
    /// CheckSum (10)
    Checksum,
    /// BodyLength (9)
    Length,
}

/// All that may be wrong. A wrong length makes the sum wrong too, unless somebody put that right.
pub(crate) fn accept(all: &[Accepted]) -> fixlog::Accept {
    let mut accept = fixlog::Accept::default();
    for one in all {
        match one {
            Accepted::Checksum => accept.checksum = true,
            Accepted::Length => accept.length = true,
        }
    }
    accept
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
