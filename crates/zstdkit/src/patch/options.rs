//! How to make patches, and what sizes follow from it.

use super::index::Index;
use crate::bounds::{log_to_cover, within};
use crate::error::{Error, Repr};
use crate::options::EncoderOptions;

/// The largest segment, in bytes.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 30;
/// The largest prefix of a segment, in bytes.
pub const PREFIX_BYTES_MAX: u64 = 1 << 30;
/// The memory that a patch is made in unless another limit is set, in bytes.
pub const MEMORY_LIMIT_BYTES: u64 = 1400 << 20;

const SEGMENT_BYTES_MIN: u64 = 1 << 10;
/// Segments that are chosen by the memory are multiples of this, or smaller powers of two.
const SEGMENT_UNIT_BYTES: u64 = 64 << 20;
/// A segment is held in pieces of this size. Allocators give memory of more than 32 MiB back to the system as soon as it
/// is freed, and it is freed as the encoder takes it into its window.
pub(super) const PIECE_BYTES: u64 = 36 << 20;

/// How to make a patch.
///
/// ```
/// use zstdkit::EncoderOptions;
/// use zstdkit::patch::PatchOptions;
///
/// let options = PatchOptions::default()
///     .with_encoder(EncoderOptions::default().with_level(9))
///     .with_memory_limit(600 << 20);
/// // Less than four ninths of the memory: its prefix may be a quarter larger, and there are tables.
/// let bytes = options.segment_bytes_for(6 << 30)?;
/// assert!((128 << 20..=256 << 20).contains(&bytes));
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatchOptions {
    /// How the frames are compressed. Its window, dictionary, prefix and workers are not used.
    pub encoder: EncoderOptions,
    /// The content of a segment, 1 KiB to 1 GiB. `None`: what fits the memory.
    pub segment_bytes: Option<u64>,
    /// The most of the older file that a segment refers back to, up to 1 GiB. `None`: a quarter more than the segment.
    pub prefix_bytes_max: Option<u64>,
    /// The memory for all together: a segment, its prefix, the tables of the encoder and those of the older file.
    pub memory_limit: u64,
}

impl Default for PatchOptions {
    fn default() -> Self {
        Self {
            encoder: EncoderOptions::default(),
            segment_bytes: None,
            prefix_bytes_max: None,
            memory_limit: MEMORY_LIMIT_BYTES,
        }
    }
}

/// Setters, one for each field.
impl PatchOptions {
    /// Sets [`encoder`](Self::encoder).
    #[must_use]
    pub fn with_encoder(mut self, encoder: EncoderOptions) -> Self {
        self.encoder = encoder;
        self
    }

    /// Sets [`segment_bytes`](Self::segment_bytes).
    #[must_use]
    pub fn with_segment_bytes(mut self, segment_bytes: impl Into<Option<u64>>) -> Self {
        self.segment_bytes = segment_bytes.into();
        self
    }

    /// Sets [`prefix_bytes_max`](Self::prefix_bytes_max).
    #[must_use]
    pub fn with_prefix_bytes_max(mut self, prefix_bytes_max: impl Into<Option<u64>>) -> Self {
        self.prefix_bytes_max = prefix_bytes_max.into();
        self
    }

    /// Sets [`memory_limit`](Self::memory_limit).
    #[must_use]
    pub fn with_memory_limit(mut self, memory_limit: u64) -> Self {
        self.memory_limit = memory_limit;
        self
    }
}

/// The sizes of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) segment: u64,
    pub(super) prefix_max: u64,
}

impl PatchOptions {
    /// The content of each segment but the last, for an older file of this size.
    ///
    /// # Errors
    /// An option is out of its bounds, or the memory is not enough.
    pub fn segment_bytes_for(&self, older_bytes: u64) -> Result<u64, Error> {
        self.sizes(older_bytes).map(|sizes| sizes.segment)
    }

    /// The memory that a patch from an older file of this size is made in, in bytes: an upper estimate.
    ///
    /// # Errors
    /// An option is out of its bounds, or the memory is not enough.
    pub fn memory_estimate_bytes(&self, older_bytes: u64) -> Result<u64, Error> {
        let sizes = self.sizes(older_bytes)?;
        Ok(self.need(sizes.segment, older_bytes))
    }

    pub(super) fn sizes(&self, older_bytes: u64) -> Result<Sizes, Error> {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        if let Some(bytes) = self.segment_bytes {
            let (low, high) = (number(SEGMENT_BYTES_MIN), number(SEGMENT_BYTES_MAX));
            within("segment_bytes", number(bytes), low, high)?;
        }
        if let Some(bytes) = self.prefix_bytes_max {
            within(
                "prefix_bytes_max",
                number(bytes),
                0,
                number(PREFIX_BYTES_MAX),
            )?;
        }
        self.encoder_for(SEGMENT_BYTES_MAX).validate()?;
        let chosen = std::iter::successors(Some(SEGMENT_BYTES_MAX), |&bytes| match bytes {
            SEGMENT_BYTES_MIN => None,
            bytes if bytes > SEGMENT_UNIT_BYTES => Some(bytes - SEGMENT_UNIT_BYTES),
            bytes => Some(bytes / 2),
        });
        let least = self.segment_bytes.unwrap_or(SEGMENT_BYTES_MIN);
        let segment = match self.segment_bytes {
            Some(bytes) => Some(bytes),
            None => chosen
                .into_iter()
                .find(|&bytes| self.fits(bytes, older_bytes)),
        };
        let segment = segment.filter(|&bytes| self.fits(bytes, older_bytes));
        let segment = segment.ok_or_else(|| Repr::MemoryEstimate {
            need: self.need(least, older_bytes),
            limit: self.memory_limit,
        })?;
        Ok(Sizes {
            segment,
            prefix_max: self.prefix_max(segment),
        })
    }

    /// How a segment of this size is compressed.
    pub(super) fn encoder_for(&self, segment_bytes: u64) -> EncoderOptions {
        let mut encoder = self.encoder.clone();
        let reach = segment_bytes.max(self.prefix_max(segment_bytes));
        encoder.window_log = Some(log_to_cover(reach));
        encoder.long_distance = true;
        encoder.content_size = true;
        encoder.workers = 0;
        encoder.job_size = None;
        encoder.overlap_log = None;
        encoder.rsyncable = false;
        encoder.dictionary = None;
        encoder.prefix = None;
        encoder
    }

    fn prefix_max(&self, segment_bytes: u64) -> u64 {
        let usual = segment_bytes + segment_bytes / 4;
        self.prefix_bytes_max.unwrap_or(usual).min(PREFIX_BYTES_MAX)
    }

    fn fits(&self, segment_bytes: u64, older_bytes: u64) -> bool {
        self.need(segment_bytes, older_bytes) <= self.memory_limit
    }

    fn need(&self, segment_bytes: u64, older_bytes: u64) -> u64 {
        let prefix = self.prefix_max(segment_bytes).min(older_bytes);
        let encoder = self.encoder_for(segment_bytes);
        let both = segment_bytes.saturating_add(prefix);
        let index = Index::memory_bytes(older_bytes, segment_bytes);
        // The window of the encoder takes over the segment piece by piece.
        [
            both,
            PIECE_BYTES.min(segment_bytes),
            encoder.one_shot_estimate_bytes(Some(both)),
            index,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_follow_from_the_memory() {
        let older = 6 << 30;
        let options = PatchOptions::default();
        let sizes = options.sizes(older).expect("enough");
        assert_eq!((sizes.segment, sizes.prefix_max), (512 << 20, 640 << 20));
        for level in [-5, 1, 3, 9, 15, 19, 22] {
            let encoder = EncoderOptions::default().with_level(level);
            let options = options.clone().with_encoder(encoder);
            let need = options.memory_estimate_bytes(older).expect("enough");
            assert!(need <= MEMORY_LIMIT_BYTES, "level {level}: {need}");
            assert!(options.segment_bytes_for(older).expect("enough") >= 128 << 20);
        }
        let large = options.with_memory_limit(4 << 30);
        assert_eq!(large.segment_bytes_for(older).expect("enough"), 1 << 30);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let options = PatchOptions::default();
        let small = options.clone().with_memory_limit(1 << 20);
        assert!(small.sizes(1 << 40).is_err());
        for bytes in [0, 1023, (1 << 30) + 1, u64::MAX] {
            assert!(options.clone().with_segment_bytes(bytes).sizes(0).is_err());
        }
        let prefix = options.with_prefix_bytes_max(PREFIX_BYTES_MAX + 1);
        assert!(prefix.sizes(0).is_err());
    }
}
