//! The key of a cost: the kind of work, the settings and the size class.

use crate::memory::Tables;
use crate::options::EncoderOptions;

/// Content of up to 1 KiB is the first class, each doubling the next, more than 512 KiB the last.
const CLASS_LOG_MIN: u32 = 10;
const CLASS_LOG_MAX: u32 = 20;

/// Nanoseconds per KiB assumed for each strategy before anything was measured. They are high, so that
/// unknown work does not run where others wait.
const PRIOR_NS_PER_KIB: [f32; 9] = [6e3, 6e3, 15e3, 22e3, 30e3, 90e3, 150e3, 300e3, 600e3];
const PRIOR_DECODE_NS_PER_KIB: f32 = 2.5e3;

/// Identifies work of one kind, whose time is proportional to its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CostKey {
    hash: u64,
    strategy: u8,
}

#[derive(Debug, Clone, Copy)]
#[repr(u64)]
enum Work {
    Compress = 1,
    CompressSlice = 2,
    Decompress = 3,
    DecompressSlice = 4,
}

impl CostKey {
    /// Compressing a whole buffer of this size in one call.
    pub fn compress(options: &EncoderOptions, content_bytes: usize) -> Self {
        let class = class(Some(content_bytes as u64));
        Self::of(
            Work::Compress,
            settings(options),
            class,
            strategy(options, class),
        )
    }

    /// Compressing a slice of content of this total size (`None`: unknown).
    pub fn compress_slice(options: &EncoderOptions, content_bytes: Option<u64>) -> Self {
        let class = class(content_bytes);
        Self::of(
            Work::CompressSlice,
            settings(options),
            class,
            strategy(options, class),
        )
    }

    /// Both, with the shared part computed once.
    pub(super) fn pair(options: &EncoderOptions, content_bytes: usize) -> [Self; 2] {
        let class = class(Some(content_bytes as u64));
        let (settings, strategy) = (settings(options), strategy(options, class));
        [Work::Compress, Work::CompressSlice].map(|kind| Self::of(kind, settings, class, strategy))
    }

    /// Decompressing a whole buffer with this much content.
    pub fn decompress(content_bytes: usize) -> Self {
        Self::of(Work::Decompress, 0, class(Some(content_bytes as u64)), 0)
    }

    /// Decompressing a block of a stream.
    pub fn decompress_slice() -> Self {
        Self::of(Work::DecompressSlice, 0, CLASS_LOG_MAX, 0)
    }

    /// What such work on this much content is assumed to take before any of it was observed, in nanoseconds: rather more than
    /// it does.
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    /// use zstdkit::schedule::CostKey;
    ///
    /// let of = |level| CostKey::compress(&EncoderOptions::default().with_level(level), 2_000);
    /// assert!(of(1).assumed_ns(2_000) < of(19).assumed_ns(2_000));
    /// ```
    pub fn assumed_ns(self, content_bytes: usize) -> u64 {
        (self.prior_ns_per_kib() * content_bytes as f32 / 1024.0) as u64
    }

    fn of(kind: Work, settings: u64, class: u32, strategy: u8) -> Self {
        let hash = mix(mix(settings, kind as u64), class.into());
        Self {
            // 0 means an empty cell.
            hash: hash.max(1),
            strategy,
        }
    }

    pub(super) fn hash(self) -> u64 {
        self.hash
    }

    pub(super) fn prior_ns_per_kib(self) -> f32 {
        match self.strategy {
            0 => PRIOR_DECODE_NS_PER_KIB,
            strategy => PRIOR_NS_PER_KIB[usize::from(strategy - 1).min(8)],
        }
    }

    pub(super) fn strategy(self) -> u32 {
        self.strategy.into()
    }
}

fn class(content_bytes: Option<u64>) -> u32 {
    let Some(bytes) = content_bytes else {
        return CLASS_LOG_MAX;
    };
    let log = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    log.clamp(CLASS_LOG_MIN, CLASS_LOG_MAX)
}

fn strategy(options: &EncoderOptions, class: u32) -> u8 {
    let size = (class < CLASS_LOG_MAX).then_some(1 << class);
    Tables::choose(options, size).strategy as u8
}

/// Everything that the time depends on, as one number that is the same in every run.
fn settings(options: &EncoderOptions) -> u64 {
    let own = &options.parameters;
    let flags = u64::from(options.checksum)
        | u64::from(options.long_distance) << 1
        | u64::from(options.dictionary.is_some()) << 2
        | u64::from(options.prefix.is_some()) << 3;
    let pair = |high: Option<u32>, low: Option<u32>| {
        let number = |value: Option<u32>| u64::from(value.map_or(u32::MAX, |value| value));
        number(high) << 32 | number(low)
    };
    let words = [
        u64::from(options.level as u32) << 32 | flags,
        pair(options.window_log, own.chain_log),
        pair(own.hash_log, own.search_log),
        pair(own.min_match, own.target_length),
        u64::from(own.strategy.map_or(0, |strategy| strategy.number())) << 32
            | u64::from(options.workers),
    ];
    words.into_iter().fold(0, mix)
}

/// A step of a multiply-and-fold hash: few cycles, and no two settings in a process ever met.
fn mix(hash: u64, word: u64) -> u64 {
    let product =
        u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use std::collections::HashSet;

    #[test]
    fn sizes_fall_into_classes() {
        let classes = [
            0,
            1,
            1024,
            1025,
            2048,
            2049,
            512 << 10,
            (512 << 10) + 1,
            u64::MAX,
        ]
        .map(|bytes| class(Some(bytes)));
        assert_eq!(classes, [10, 10, 10, 11, 11, 12, 19, 20, 20]);
        assert_eq!(class(None), 20);
    }

    #[test]
    fn settings_and_sizes_have_keys_of_their_own() {
        let mut keys = HashSet::new();
        let mut count = 0;
        for level in -50..=22 {
            for size in (10..=20).map(|log| 1_usize << log) {
                let options = EncoderOptions {
                    level,
                    ..EncoderOptions::default()
                };
                keys.extend(CostKey::pair(&options, size).map(CostKey::hash));
                count += 2;
            }
        }
        for recipe in [Recipe::Text, Recipe::StructuredData, Recipe::Binary] {
            for size in (10..=20).map(|log| 1_usize << log) {
                keys.extend(
                    CostKey::pair(&recipe.options(Some(size as u64)), size).map(CostKey::hash),
                );
                count += 2;
            }
        }
        assert_eq!(keys.len(), count);
        let options = EncoderOptions::default();
        assert_eq!(
            CostKey::pair(&options, 5000),
            [
                CostKey::compress(&options, 5000),
                CostKey::compress_slice(&options, Some(5000))
            ]
        );
    }

    #[test]
    fn a_key_is_the_same_in_every_run() {
        let key = CostKey::compress(&EncoderOptions::default(), 2000);
        assert_eq!(
            key.hash(),
            GOLDEN,
            "saved costs are no longer valid: raise their version"
        );
    }

    const GOLDEN: u64 = 2_742_855_535_872_011_317;
}
