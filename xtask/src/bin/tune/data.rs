//! The samples: pieces of one size, spread evenly over a file or over generated data.

use std::fs;

use anyhow::{Context, Result};
use zstdkit::workload::{Kind, generate};

/// Bytes that are generated of a kind, more than any case takes.
const GENERATED_BYTES: usize = 16 << 20;

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

pub(crate) fn load(files: &[(String, String)], kinds: &[Kind]) -> Result<Vec<Source>> {
    if files.is_empty() {
        return Ok(kinds
            .iter()
            .map(|&kind| Source {
                kind: kind.name().to_owned(),
                bytes: generate(kind, 1, GENERATED_BYTES),
            })
            .collect());
    }
    files
        .iter()
        .map(|(kind, path)| {
            Ok(Source {
                kind: kind.clone(),
                bytes: fs::read(path).with_context(|| format!("cannot read {path}"))?,
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
