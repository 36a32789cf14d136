//! The table sizes that libzstd chooses for a level and a size of content, and the memory that
//! follows from them. Nothing here is set on a context; it predicts what one will take.
//!
//! Exact prediction would need functions of libzstd that the safe bindings do not have, so this
//! is a model of them, held to the real figures by a test over levels and sizes.

use crate::options::{EncoderOptions, WINDOW_LOG_MAX, WINDOW_LOG_MIN};
use crate::parameters::Strategy;

/// What the memory of a context depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tables {
    pub(crate) window_log: u32,
    chain_log: u32,
    hash_log: u32,
    min_match: u32,
    pub(crate) strategy: u32,
}

/// libzstd's strategies, in the order of its own numbers.
const FAST: u32 = 1;
pub(crate) const DFAST: u32 = 2;
pub(crate) const GREEDY: u32 = 3;
const LAZY: u32 = 4;
const LAZY2: u32 = 5;
pub(crate) const BTLAZY2: u32 = 6;
pub(crate) const BTOPT: u32 = 7;
const BTULTRA: u32 = 8;
const BTULTRA2: u32 = 9;

type Row = (u8, u8, u8, u8, u32);

/// Window, chain and hash exponents, shortest match and strategy of level 0 (which stands for
/// the negative ones) to 22, for contents of any size, up to 256 KiB, up to 128 KiB and up to
/// 16 KiB, as libzstd 1.5.7 has them.
#[rustfmt::skip]
const LEVELS: [[Row; 23]; 4] = [
    [
        (19, 12, 13, 6, FAST),
        (19, 13, 14, 7, FAST),
        (20, 15, 16, 6, FAST),
        (21, 16, 17, 5, DFAST),
        (21, 18, 18, 5, DFAST),
        (21, 18, 19, 5, GREEDY),
        (21, 18, 19, 5, LAZY),
        (21, 19, 20, 5, LAZY),
        (21, 19, 20, 5, LAZY2),
        (22, 20, 21, 5, LAZY2),
        (22, 21, 22, 5, LAZY2),
        (22, 21, 22, 5, LAZY2),
        (22, 22, 23, 5, LAZY2),
        (22, 22, 22, 5, BTLAZY2),
        (22, 22, 23, 5, BTLAZY2),
        (22, 23, 23, 5, BTLAZY2),
        (22, 22, 22, 5, BTOPT),
        (23, 23, 22, 4, BTOPT),
        (23, 23, 22, 3, BTULTRA),
        (23, 24, 22, 3, BTULTRA2),
        (25, 25, 23, 3, BTULTRA2),
        (26, 26, 24, 3, BTULTRA2),
        (27, 27, 25, 3, BTULTRA2),
    ],
    [
        (18, 12, 13, 5, FAST),
        (18, 13, 14, 6, FAST),
        (18, 14, 14, 5, DFAST),
        (18, 16, 16, 4, DFAST),
        (18, 16, 17, 5, GREEDY),
        (18, 17, 18, 5, GREEDY),
        (18, 18, 19, 5, LAZY),
        (18, 18, 19, 4, LAZY),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, BTLAZY2),
        (18, 19, 19, 4, BTLAZY2),
        (18, 18, 19, 4, BTOPT),
        (18, 18, 19, 3, BTOPT),
        (18, 18, 19, 3, BTOPT),
        (18, 19, 19, 3, BTULTRA),
        (18, 19, 19, 3, BTULTRA),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
    ],
    [
        (17, 12, 12, 5, FAST),
        (17, 12, 13, 6, FAST),
        (17, 13, 15, 5, FAST),
        (17, 15, 16, 5, DFAST),
        (17, 17, 17, 4, DFAST),
        (17, 16, 17, 4, GREEDY),
        (17, 16, 17, 4, LAZY),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 17, 17, 4, BTLAZY2),
        (17, 18, 17, 4, BTLAZY2),
        (17, 18, 17, 4, BTOPT),
        (17, 18, 17, 3, BTOPT),
        (17, 18, 17, 3, BTOPT),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
    ],
    [
        (14, 12, 13, 5, FAST),
        (14, 14, 15, 5, FAST),
        (14, 14, 15, 4, FAST),
        (14, 14, 15, 4, DFAST),
        (14, 14, 14, 4, GREEDY),
        (14, 14, 14, 4, LAZY),
        (14, 14, 14, 4, LAZY2),
        (14, 14, 14, 4, LAZY2),
        (14, 14, 14, 4, LAZY2),
        (14, 15, 14, 4, BTLAZY2),
        (14, 15, 14, 4, BTLAZY2),
        (14, 15, 14, 4, BTOPT),
        (14, 15, 14, 3, BTOPT),
        (14, 15, 14, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
    ],
];

const BLOCK_BYTES: u64 = 128 << 10;
/// The context itself, its scratch space and entropy tables, the same for all.
const FIXED_BYTES: u64 = 32 << 10;
/// What the optimal parsers keep beside their tables.
const OPTIMAL_BYTES: u64 = 152 << 10;
/// What a decoder or decompressor holds before its first window.
pub(crate) const DECODER_BYTES: u64 = 100 << 10;
/// The content for which libzstd sizes the tables of a digest.
const DIGEST_CONTENT_BYTES: u64 = 513;
/// What a digest takes beside its tables and the dictionary, and what a frame with one takes beyond
/// this model.
const DIGEST_FIXED_BYTES: u64 = 16 << 10;
const LONG_DISTANCE_WINDOW_LOG: u32 = 27;
/// Content up to this size is not split into jobs.
const JOB_BYTES_MIN: u64 = 512 << 10;

impl EncoderOptions {
    /// An upper estimate, mostly within a tenth, of what an [`Encoder`](crate::Encoder) with
    /// these options will hold for a frame of this size (`None`: unknown). With workers it is
    /// what they hold when all of them are busy, which short streams do not reach.
    pub fn memory_estimate_bytes(&self, pledged: Option<u64>) -> u64 {
        let parameters = Tables::choose(self, pledged);
        let long = self.long_distance_for(&parameters);
        let content = pledged.unwrap_or(u64::MAX);
        if self.workers == 0 || content <= JOB_BYTES_MIN {
            return FIXED_BYTES
                + self.all_table_bytes(&parameters, pledged)
                + parameters.long_distance_bytes(long, content)
                + parameters.buffer_bytes(content);
        }
        self.threaded_bytes(&parameters, long, content)
    }

    /// The same of a [`Compressor`](crate::Compressor), which reads and writes in place and so
    /// holds no window.
    pub fn one_shot_estimate_bytes(&self, content_bytes: Option<u64>) -> u64 {
        let content = content_bytes.unwrap_or(u64::MAX);
        if self.workers > 0 && content > JOB_BYTES_MIN {
            return self.memory_estimate_bytes(content_bytes);
        }
        let parameters = Tables::choose(self, content_bytes);
        let long = self.long_distance_for(&parameters);
        FIXED_BYTES
            + self.all_table_bytes(&parameters, content_bytes)
            + parameters.long_distance_bytes(long, content)
    }

    /// Tables of a frame with these parameters, and of its dictionary where the context holds it.
    fn all_table_bytes(&self, parameters: &Tables, pledged: Option<u64>) -> u64 {
        let content = pledged.unwrap_or(u64::MAX);
        let (dictionary, prefix) = match (&self.dictionary, &self.prefix) {
            (Some(dictionary), _) => (dictionary.bytes().len() as u64, false),
            (None, Some(prefix)) => (prefix.len() as u64, true),
            (None, None) => return parameters.table_bytes(content),
        };
        let window_log = parameters.window_log;
        let digested = Tables::choose(self, Some(dictionary + DIGEST_CONTENT_BYTES));
        let digest = digested.table_bytes_within(window_log, content);
        // Without settings of its own the digest is shared, and not this context's; of a prefix
        // there is none.
        let shared = self.parameters.is_default();
        let own = match shared || prefix {
            true => DIGEST_FIXED_BYTES,
            false => 2 * (dictionary + DIGEST_FIXED_BYTES) + digest,
        };
        // libzstd refers to the digest from tables cut to a small content, copies its tables, or
        // makes some for both together.
        let tables = match pledged {
            Some(size) if !prefix && size <= digested.attached_bytes_max() => {
                let mut cut = digested;
                cut.fit(Some(size));
                cut.table_bytes_within(window_log, content)
            }
            Some(size) => {
                let both = Tables::choose(self, Some(size.saturating_add(dictionary)));
                let copied = !prefix && (!shared || size < BLOCK_BYTES.max(6 * dictionary));
                let tables = if copied { digested } else { both };
                tables.table_bytes_within(both.window_log, content)
            }
            None if prefix => digest.max(parameters.table_bytes(content)),
            None => digest,
        };
        tables + own
    }

    /// The level in use: 3 where 0 was asked for.
    pub fn effective_level(&self) -> i32 {
        match self.level {
            0 => 3,
            level => level,
        }
    }

    /// The window exponent of a frame of this content size (`None`: unknown).
    pub fn effective_window_log(&self, content_bytes: Option<u64>) -> u32 {
        Tables::choose(self, content_bytes).window_log
    }

    /// The strategy for a frame of this content size (`None`: unknown).
    pub fn effective_strategy(&self, content_bytes: Option<u64>) -> Strategy {
        let number = Tables::choose(self, content_bytes).strategy;
        Strategy::ALL[(number as usize).clamp(FAST as usize, BTULTRA2 as usize) - 1]
    }

    fn long_distance_for(&self, parameters: &Tables) -> bool {
        self.long_distance || (parameters.strategy >= BTOPT && parameters.window_log >= 27)
    }

    fn threaded_bytes(&self, parameters: &Tables, long: bool, content: u64) -> u64 {
        let job_log = match long {
            true => (parameters.cycle_log() + 3).max(21),
            false => (parameters.window_log + 2).max(20),
        };
        let job_log = job_log.min(WINDOW_LOG_MAX - 1);
        let overlap = 9 - match self.overlap_log.unwrap_or(0) {
            0 => match parameters.strategy {
                BTULTRA2 => 9,
                BTOPT | BTULTRA => 8,
                LAZY2 | BTLAZY2 => 7,
                _ => 6,
            },
            chosen => chosen.min(9),
        };
        let prefix = match (overlap, long) {
            (8.., _) => 0,
            (_, true) => 1_u64 << (parameters.window_log.min(job_log - 2) - overlap),
            (_, false) => 1_u64 << (parameters.window_log - overlap),
        };
        let job = self
            .job_size
            .map_or(1 << job_log, |size| size as u64)
            .max(prefix);
        let workers = u64::from(self.workers);
        let window = if long {
            1_u64 << parameters.window_log
        } else {
            0
        };
        let round = window.max(job * workers) + job * if prefix > 0 { 3 } else { 2 };
        // One output for every job that runs, one that waits, and one that is written out.
        let outputs = (workers + 2) * compress_bound(job);
        let sequences = if long {
            (workers + 2) * (job / 32) * 12
        } else {
            0
        };
        let tables = FIXED_BYTES + parameters.table_bytes(content.min(job + prefix));
        FIXED_BYTES
            + round
            + outputs
            + sequences
            + workers * tables
            + parameters.long_distance_bytes(long, content)
    }
}

impl Tables {
    pub(crate) fn choose(options: &EncoderOptions, pledged: Option<u64>) -> Self {
        let size = pledged.unwrap_or(u64::MAX);
        let table = [256 << 10, 128 << 10, 16 << 10]
            .iter()
            .filter(|&&most| size <= most)
            .count();
        let row = options.effective_level().clamp(0, 22);
        let (window, chain, hash, min_match, strategy) = LEVELS[table][row as usize];
        let mut parameters = Self {
            window_log: window.into(),
            chain_log: chain.into(),
            hash_log: hash.into(),
            min_match: min_match.into(),
            strategy,
        };
        if options.long_distance {
            parameters.window_log = LONG_DISTANCE_WINDOW_LOG;
        }
        let own = &options.parameters;
        parameters.chain_log = own.chain_log.unwrap_or(parameters.chain_log);
        parameters.hash_log = own.hash_log.unwrap_or(parameters.hash_log);
        parameters.min_match = own.min_match.unwrap_or(parameters.min_match);
        parameters.strategy = own.strategy.map_or(parameters.strategy, Strategy::number);
        if let Some(log) = options.window_log {
            parameters.window_log = log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX);
        }
        parameters.fit(pledged);
        parameters
    }

    /// Shrinks the tables to what content of a known size can use.
    fn fit(&mut self, pledged: Option<u64>) {
        if let Some(size) = pledged {
            let size_log = u64::BITS - size.saturating_sub(1).leading_zeros();
            self.window_log = self.window_log.min(size_log.max(6));
            self.hash_log = self.hash_log.min(self.window_log + 1);
            self.chain_log -= self.cycle_log().saturating_sub(self.window_log);
        }
        self.window_log = self.window_log.max(WINDOW_LOG_MIN);
    }

    /// How much of the window the chain table can point into.
    fn cycle_log(&self) -> u32 {
        self.chain_log - u32::from(self.strategy >= BTLAZY2)
    }

    fn window_bytes(&self, content: u64) -> u64 {
        (1 << self.window_log).min(content.max(1))
    }

    fn table_bytes(&self, content: u64) -> u64 {
        let rows = (GREEDY..=LAZY2).contains(&self.strategy) && self.window_log > 14;
        let hash = 4_u64 << self.hash_log;
        let tags = if rows { 1_u64 << self.hash_log } else { 0 };
        let chain = if self.strategy == FAST || rows {
            0
        } else {
            4_u64 << self.chain_log
        };
        let threes = if self.min_match == 3 {
            4_u64 << self.window_log.min(17)
        } else {
            0
        };
        let optimal = if self.strategy >= BTOPT {
            OPTIMAL_BYTES
        } else {
            0
        };
        let block = self.window_bytes(content).min(BLOCK_BYTES);
        let sequences = block / if self.min_match == 3 { 3 } else { 4 } * 11;
        hash + tags + chain + threes + optimal + block + sequences
    }

    /// The same where the frame has another window. Whether rows are used, which need no chains,
    /// may then be decided by either.
    fn table_bytes_within(&self, window_log: u32, content: u64) -> u64 {
        let wide = Self {
            window_log,
            ..*self
        };
        self.table_bytes(content).max(wide.table_bytes(content))
    }

    /// The largest content for which libzstd refers to a digest with these tables in place.
    fn attached_bytes_max(&self) -> u64 {
        match self.strategy {
            FAST | BTULTRA | BTULTRA2 => 8 << 10,
            DFAST => 16 << 10,
            _ => 32 << 10,
        }
    }

    fn long_distance_bytes(&self, long: bool, content: u64) -> u64 {
        if !long {
            return 0;
        }
        let hash_log = self.window_log.saturating_sub(7 - self.strategy / 3).max(6);
        let bucket_log = self.strategy.clamp(4, 8).min(hash_log);
        let match_bytes = if self.strategy >= BTULTRA { 32 } else { 64 };
        let block = self.window_bytes(content).min(BLOCK_BYTES);
        (8_u64 << hash_log) + (1 << (hash_log - bucket_log)) + block / match_bytes * 12
    }

    /// The input and output buffers of streaming.
    fn buffer_bytes(&self, content: u64) -> u64 {
        let window = self.window_bytes(content);
        let block = window.min(BLOCK_BYTES);
        window + block + compress_bound(block) + 1
    }
}

fn compress_bound(bytes: u64) -> u64 {
    bytes + (bytes >> 8) + BLOCK_BYTES.saturating_sub(bytes) / 2048 + 64
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{
        Compressor, Decoder, DecoderOptions, Decompressor, Dictionary, Encoder, Operation,
        Parameters, Recipe,
    };

    /// What an encoder holds once a frame of this size is open.
    fn actual(options: &EncoderOptions, pledged: Option<u64>) -> u64 {
        let mut encoder = Encoder::new(options).unwrap();
        encoder.begin(pledged).unwrap();
        let step = encoder
            .push(b"", &mut [0; 64], Operation::Continue)
            .unwrap();
        assert_eq!(step.produced, 0);
        encoder.memory_bytes() as u64
    }

    fn check(options: &EncoderOptions, pledged: Option<u64>) {
        let actual = actual(options, pledged) as f64;
        let estimate = options.memory_estimate_bytes(pledged) as f64;
        let ratio = estimate / actual;
        assert!(
            (1.0..1.1).contains(&ratio) || (estimate >= actual && estimate - actual < 40_000.0),
            "level {} of {pledged:?}: {estimate} estimated, {actual} held: {ratio}",
            options.level
        );
    }

    #[test]
    fn estimates_every_level_and_size_class() {
        let sizes = [
            0,
            1,
            500,
            5000,
            16 << 10,
            60_000,
            128 << 10,
            200_000,
            256 << 10,
            1_000_000,
        ];
        for level in (-7..=19).chain([-131_072]) {
            let options = EncoderOptions {
                level,
                ..EncoderOptions::default()
            };
            check(&options, None);
            for size in sizes {
                check(&options, Some(size));
            }
            check(&options, Some(10 << 20));
        }
    }

    /// The same for whole contents, which repeat themselves and so take no time.
    fn check_one_shot(options: &EncoderOptions, content: &[u8]) {
        let mut compressor = Compressor::new(options).unwrap();
        let fresh = options.one_shot_estimate_bytes(Some(0));
        assert!(fresh >= compressor.memory_bytes() as u64);
        compressor.compress(content).unwrap();
        let actual = compressor.memory_bytes() as f64;
        let estimate = options.one_shot_estimate_bytes(Some(content.len() as u64)) as f64;
        let ratio = estimate / actual;
        assert!(
            (1.0..1.1).contains(&ratio) || (estimate >= actual && estimate - actual < 40_000.0),
            "level {} of {}: {estimate} estimated, {actual} held: {ratio}",
            options.level,
            content.len()
        );
    }

    #[test]
    fn estimates_whole_contents() {
        let content = vec![7; 3 << 20];
        for level in (-7..=19).chain([-131_072]) {
            for size in [
                0,
                1,
                500,
                2000,
                16 << 10,
                60_000,
                200_000,
                1_000_000,
                3 << 20,
            ] {
                let options = EncoderOptions {
                    level,
                    ..EncoderOptions::default()
                };
                check_one_shot(&options, &content[..size]);
            }
        }
        for window_log in [10, 20, 24] {
            let options = EncoderOptions {
                window_log: Some(window_log),
                long_distance: true,
                ..EncoderOptions::default()
            };
            check_one_shot(&options, &content);
        }
    }

    #[test]
    fn estimates_with_a_dictionary_are_never_too_low() {
        let content = vec![7; 1 << 20];
        for dictionary in [10, 5000, 112_640, 300_000] {
            let noise = (0..dictionary).map(|n: u32| (n.wrapping_mul(2_654_435_769) >> 24) as u8);
            let dictionary = Dictionary::new(noise.collect::<Vec<_>>()).unwrap();
            for level in [-3, 1, 3, 6, 16] {
                for min_match in [None, Some(4)] {
                    let mut options = EncoderOptions {
                        level,
                        dictionary: Some(dictionary.clone()),
                        ..EncoderOptions::default()
                    };
                    options.parameters.min_match = min_match;
                    for size in [0, 300, 2000, 30_000, 200_000, 1 << 20] {
                        let mut compressor = Compressor::new(&options).unwrap();
                        compressor.compress(&content[..size]).unwrap();
                        let held = compressor.memory_bytes() as u64;
                        let estimate = options.one_shot_estimate_bytes(Some(size as u64));
                        assert!(estimate >= held, "{options:?} {size}: {estimate} < {held}");
                        // Empty content takes no tables at all.
                        if size > 0 {
                            let times = estimate as f64 / held as f64;
                            assert!(times < 3.0, "{options:?} {size}: {estimate}, {held} held");
                        }
                        let held = actual(&options, Some(size as u64));
                        let estimate = options.memory_estimate_bytes(Some(size as u64));
                        assert!(estimate >= held, "{options:?} {size}: {estimate} < {held}");
                    }
                    let (held, estimate) =
                        (actual(&options, None), options.memory_estimate_bytes(None));
                    assert!(estimate >= held, "{options:?}: {estimate} < {held}");
                }
            }
        }
    }

    #[test]
    fn decoders_hold_no_more_than_is_set_aside() {
        let options = DecoderOptions::default();
        let held = [
            Decoder::new(&options).unwrap().memory_bytes(),
            Decompressor::new(&options).unwrap().memory_bytes(),
        ];
        for held in held {
            assert!(
                (80 << 10..=DECODER_BYTES).contains(&(held as u64)),
                "{held}"
            );
        }
    }

    #[test]
    fn estimates_windows_and_long_distance() {
        for level in [1, 3, 6, 12, 16, 19] {
            for window_log in [10, 14, 15, 20, 24] {
                for long_distance in [false, true] {
                    let options = EncoderOptions {
                        level,
                        window_log: Some(window_log),
                        long_distance,
                        ..EncoderOptions::default()
                    };
                    check(&options, None);
                    check(&options, Some(100_000));
                    check(&options, Some(3 << 20));
                }
            }
        }
        check(
            &EncoderOptions {
                long_distance: true,
                ..EncoderOptions::default()
            },
            None,
        );
    }

    #[test]
    fn estimates_parameters_of_ones_own() {
        let logs = [
            (6, 6, 14),
            (13, 12, 17),
            (16, 20, 18),
            (22, 19, 21),
            (24, 22, 23),
        ];
        for strategy in Strategy::ALL {
            for (index, (chain_log, hash_log, window_log)) in logs.into_iter().enumerate() {
                for min_match in [3, 6] {
                    let options = EncoderOptions {
                        level: 3,
                        window_log: Some(window_log),
                        parameters: Parameters {
                            chain_log: Some(chain_log),
                            hash_log: Some(hash_log),
                            search_log: Some(1 + 2 * index as u32),
                            min_match: Some(min_match),
                            target_length: Some(16),
                            strategy: Some(strategy),
                        },
                        ..EncoderOptions::default()
                    };
                    for size in [None, Some(2000), Some(40_000), Some(5 << 20)] {
                        check(&options, size);
                    }
                }
            }
        }
    }

    #[test]
    fn estimates_every_recipe() {
        for recipe in Recipe::ALL {
            check(&recipe.options(None), None);
            for size in [
                0,
                100,
                5000,
                16 << 10,
                100_000,
                256 << 10,
                1 << 20,
                20 << 20,
            ] {
                check(&recipe.options(Some(size)), Some(size));
                check(&recipe.exzstandard(None), Some(size));
            }
        }
    }

    #[test]
    fn maximum_level_of_unknown_size_is_known_to_be_huge() {
        let options = EncoderOptions {
            level: 22,
            ..EncoderOptions::default()
        };
        check(&options, None);
        assert!(options.memory_estimate_bytes(None) > 800 << 20);
        assert!(options.memory_estimate_bytes(Some(2000)) < 1 << 20);
    }
}
