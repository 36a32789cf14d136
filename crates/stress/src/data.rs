//! The content of blocks: generated, or pieces of the caller's bytes.
//!
//! A block is a function of the seed, its producer and its number. Kinds that need a vocabulary are
//! generated once, and blocks are pieces of that.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use latency::SplitMix64;
#[cfg(feature = "zstd")]
use zstdkit::workload::{self, Kind};

use crate::error::Error;
use crate::random::of_block;

/// Least bytes to generate for cutting blocks out of.
#[cfg(feature = "zstd")]
const CORPUS_BYTES: usize = 1 << 20;
/// Least size of these bytes in largest blocks.
#[cfg(feature = "zstd")]
const CORPUS_BLOCKS: usize = 4;
/// The largest block.
pub(crate) const BLOCK_BYTES_MAX: usize = 64 << 20;

/// The content of blocks.
///
/// ```
/// use perfkit_stress::DataKind;
/// assert_eq!("uuid".parse(), Ok(DataKind::Uuid));
/// assert_eq!(DataKind::Zeros.to_string(), "zeros");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataKind {
    /// UUIDs as text, one after the other, 36 characters each.
    Uuid,
    /// Bytes that cannot be compressed.
    Random,
    /// Zero bytes.
    Zeros,
    /// Pieces of what zstdkit generates (feature `zstd`).
    #[cfg(feature = "zstd")]
    Generated(Kind),
    /// Pieces of these bytes.
    Bytes(Arc<[u8]>),
}

/// The text is not the name of a data kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseDataKindError(String);

impl FromStr for DataKind {
    type Err = ParseDataKindError;

    /// Reads `uuid`, `random`, `zeros` and, with the feature `zstd`, the names of zstdkit's kinds.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "uuid" => Ok(Self::Uuid),
            "random" => Ok(Self::Random),
            "zeros" => Ok(Self::Zeros),
            #[cfg(feature = "zstd")]
            name => match name.parse() {
                Ok(kind) => Ok(Self::Generated(kind)),
                Err(error) => Err(ParseDataKindError(workload::UnknownKind::to_string(&error))),
            },
            #[cfg(not(feature = "zstd"))]
            _ => Err(ParseDataKindError(
                "expected one of uuid, random, zeros".to_owned(),
            )),
        }
    }
}

impl fmt::Display for DataKind {
    /// The name that [`FromStr`] reads; `bytes` for the caller's own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid => f.pad("uuid"),
            Self::Random => f.pad("random"),
            Self::Zeros => f.pad("zeros"),
            #[cfg(feature = "zstd")]
            Self::Generated(kind) => f.pad(&kind.to_string()),
            Self::Bytes(_) => f.pad("bytes"),
        }
    }
}

/// Makes blocks.
#[derive(Debug, Clone)]
pub struct Data {
    kind: DataKind,
    corpus: Arc<[u8]>,
    seed: u64,
    bytes_min: usize,
    bytes_max: usize,
}

impl Data {
    /// Blocks of this kind, from `bytes_min` up to but excluding `bytes_max`, or of `bytes_min` where the two
    /// are equal.
    ///
    /// # Errors
    /// When the sizes are out of order or above 64 MiB, or there are no bytes to cut blocks out of.
    pub fn new(
        kind: DataKind,
        seed: u64,
        bytes_min: usize,
        bytes_max: usize,
    ) -> Result<Self, Error> {
        if bytes_min == 0 || bytes_max < bytes_min || bytes_max > BLOCK_BYTES_MAX {
            let reason = format!(
                "{bytes_min} to {bytes_max} bytes: must ascend and lie within 1 byte to 64 MiB"
            );
            return Err(Error::plan("block sizes", reason));
        }
        let corpus: Arc<[u8]> = match &kind {
            DataKind::Bytes(bytes) if bytes.is_empty() => {
                return Err(Error::plan(
                    "data",
                    "empty: at least 1 byte is needed to cut blocks out of",
                ));
            }
            DataKind::Bytes(bytes) => bytes.clone(),
            #[cfg(feature = "zstd")]
            DataKind::Generated(kind) => {
                let bytes = CORPUS_BYTES.max(bytes_max.saturating_mul(CORPUS_BLOCKS));
                workload::generate(*kind, seed, bytes).into()
            }
            _ => Arc::default(),
        };
        Ok(Self {
            kind,
            corpus,
            seed,
            bytes_min,
            bytes_max,
        })
    }

    /// The largest content of a block.
    #[must_use]
    pub fn block_bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Replaces the bytes of `block` by the `nth` block of a producer.
    pub fn fill(&self, producer: u32, nth: u64, block: &mut Vec<u8>) {
        let mut random = of_block(self.seed, producer, nth);
        let more = random.below((self.bytes_max - self.bytes_min) as u64) as usize;
        let bytes = self.bytes_min + more;
        block.clear();
        match self.kind {
            DataKind::Uuid => uuids(&mut random, bytes, block),
            DataKind::Random => {
                while block.len() < bytes {
                    block.extend_from_slice(&random.next().to_le_bytes());
                }
                block.truncate(bytes);
            }
            DataKind::Zeros => block.resize(bytes, 0),
            #[cfg(feature = "zstd")]
            DataKind::Generated(_) => self.cut(&mut random, bytes, block),
            DataKind::Bytes(_) => self.cut(&mut random, bytes, block),
        }
    }

    /// A piece from a random place; at the end of the bytes it continues at their start.
    fn cut(&self, random: &mut SplitMix64, bytes: usize, block: &mut Vec<u8>) {
        let mut from = random.below(self.corpus.len() as u64) as usize;
        if self.corpus.len() >= bytes {
            from = from.min(self.corpus.len() - bytes);
        }
        while block.len() < bytes {
            let piece = &self.corpus[from..];
            block.extend_from_slice(&piece[..piece.len().min(bytes - block.len())]);
            from = 0;
        }
    }
}

const UUID_BYTES: usize = 36;

/// Two hexadecimal digits for each byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Random version 4 UUIDs.
fn uuids(random: &mut SplitMix64, bytes: usize, block: &mut Vec<u8>) {
    // The place of each byte's digits; dashes are in between.
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    while block.len() < bytes {
        let (high, low) = (random.next(), random.next());
        let mut raw = [0; 16];
        raw[..8].copy_from_slice(&high.to_be_bytes());
        raw[8..].copy_from_slice(&low.to_be_bytes());
        raw[6] = raw[6] & 0x0f | 0x40;
        raw[8] = raw[8] & 0x3f | 0x80;
        let mut text = [b'-'; UUID_BYTES];
        for (byte, at) in raw.into_iter().zip(PLACES) {
            text[at..at + 2].copy_from_slice(&HEX[usize::from(byte)]);
        }
        block.extend_from_slice(&text);
    }
    block.truncate(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: DataKind, min: usize, max: usize, nth: u64) -> Vec<u8> {
        let mut block = vec![1; 3];
        Data::new(kind, 7, min, max)
            .unwrap()
            .fill(2, nth, &mut block);
        block
    }

    #[test]
    fn uuid_text_is_uuids() {
        let text = block(DataKind::Uuid, 72, 72, 0);
        for uuid in text.chunks(UUID_BYTES) {
            let uuid = std::str::from_utf8(uuid).unwrap();
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
            assert_eq!(&uuid[14..15], "4");
            assert!(uuid.bytes().all(|c| c == b'-' || c.is_ascii_hexdigit()));
        }
        assert_ne!(text[..36], text[36..]);
    }

    #[test]
    fn a_block_is_the_same_bytes_for_ever() {
        let text = block(DataKind::Uuid, 36, 36, 0);
        // Computed by another program by the same rule.
        assert_eq!(text, b"9d11e435-ec0e-4c1d-9f2e-6fce00d95700");
    }

    #[test]
    fn blocks_repeat_by_number_and_differ_otherwise() {
        let names: &[&str] = match cfg!(feature = "zstd") {
            true => &["uuid", "json", "html", "log", "source", "binary", "random"],
            false => &["uuid", "random"],
        };
        for name in names {
            let kind: DataKind = name.parse().unwrap();
            assert_eq!(kind.to_string(), *name);
            let one = block(kind.clone(), 500, 500, 1);
            assert_eq!(one.len(), 500);
            assert_eq!(one, block(kind.clone(), 500, 500, 1), "{name}");
            assert_ne!(one, block(kind, 500, 500, 2), "{name}");
        }
        assert_eq!(block(DataKind::Zeros, 9, 9, 0), [0; 9]);
    }

    #[test]
    fn sizes_are_within_their_bounds_and_the_greatest_is_excluded() {
        let sizes: Vec<usize> = (0..300)
            .map(|nth| block(DataKind::Zeros, 10, 14, nth).len())
            .collect();
        assert_eq!(
            (sizes.iter().min(), sizes.iter().max()),
            (Some(&10), Some(&13))
        );
    }

    #[test]
    fn short_bytes_are_repeated() {
        let kind = DataKind::Bytes(Arc::from(&b"abc"[..]));
        let text = block(kind, 8, 8, 0);
        assert!(
            b"abcabcabcabc".windows(8).any(|window| window == text),
            "{text:?}"
        );
    }

    #[test]
    fn sizes_and_data_that_cannot_be_are_refused() {
        let refused = |kind, min, max| Data::new(kind, 1, min, max).is_err();
        assert!(refused(DataKind::Uuid, 0, 9));
        assert!(refused(DataKind::Uuid, 9, 8));
        assert!(refused(DataKind::Uuid, 1, BLOCK_BYTES_MAX + 1));
        assert!(refused(DataKind::Bytes(Arc::default()), 1, 2));
    }
}
