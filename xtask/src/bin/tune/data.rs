//! The samples: pieces of one size, spread evenly over a file or over generated data.

use std::fs;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use zstdkit::workload::{Kind, generate};

/// Bytes that are generated of a kind, more than any case takes.
const GENERATED_BYTES: usize = 16 << 20;

/// Which of the data: what parameters were chosen on must not be what they are judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    First,
    Second,
}

impl Part {
    fn cut(self, mut bytes: Vec<u8>) -> Vec<u8> {
        let half = bytes.len() / 2;
        match self {
            Self::Whole => bytes,
            Self::First => {
                bytes.truncate(half);
                bytes
            }
            Self::Second => bytes.split_off(half),
        }
    }
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(word: &str) -> Result<Self> {
        Ok(match word {
            "whole" => Self::Whole,
            "first" => Self::First,
            "second" => Self::Second,
            _ => bail!("{word}: no part of the data (whole, first, second)"),
        })
    }
}

/// All the data of a kind.
pub(crate) struct Source {
    kind: String,
    bytes: Vec<u8>,
}

/// What candidates are measured on.
pub(crate) struct Case {
    pub(crate) kind: String,
    /// Bytes of each sample.
    pub(crate) size: usize,
    pub(crate) samples: Vec<Vec<u8>>,
}

pub(crate) fn load(files: &[(String, String)], kinds: &[Kind], part: Part) -> Result<Vec<Source>> {
    if files.is_empty() {
        return Ok(kinds
            .iter()
            .map(|&kind| Source {
                kind: kind.name().to_owned(),
                bytes: part.cut(generate(kind, 1, GENERATED_BYTES)),
            })
            .collect());
    }
    files
        .iter()
        .map(|(kind, path)| {
            let bytes = fs::read(path).with_context(|| format!("cannot read {path}"))?;
            Ok(Source {
                kind: kind.clone(),
                bytes: part.cut(bytes),
            })
        })
        .collect()
}

impl Source {
    /// Samples of `size` bytes, about `total` in all; `None` if there is not one.
    pub(crate) fn case(&self, size: usize, total: usize) -> Option<Case> {
        let room = self.bytes.len().checked_sub(size)?;
        let count = (total / size).clamp(1, 1 + room / size);
        let stride = room / count.saturating_sub(1).max(1);
        let samples = (0..count)
            .map(|index| self.bytes[index * stride..][..size].to_vec())
            .collect();
        Some(Case {
            kind: self.kind.clone(),
            size,
            samples,
        })
    }
}

impl Case {
    pub(crate) fn bytes(&self) -> usize {
        self.size * self.samples.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_disjoint() {
        let bytes: Vec<u8> = (0..=8).collect();
        assert_eq!(Part::First.cut(bytes.clone()), [0, 1, 2, 3]);
        assert_eq!(Part::Second.cut(bytes.clone()), [4, 5, 6, 7, 8]);
        assert_eq!(Part::Whole.cut(bytes.clone()), bytes);
    }

    #[test]
    fn samples_are_whole_and_spread() {
        let source = Source {
            kind: "numbers".to_owned(),
            bytes: (0..=255).collect(),
        };
        let case = source.case(16, 64).unwrap();
        assert_eq!(case.bytes(), 64);
        assert_eq!(case.samples[0][0], 0);
        assert_eq!(case.samples[3][15], 255);
        assert_eq!(source.case(200, 1000).unwrap().samples.len(), 1);
        assert!(source.case(257, 1000).is_none());
    }
}
