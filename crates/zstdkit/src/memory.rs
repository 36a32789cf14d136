//! Predicts the memory of a context: the table sizes that libzstd chooses for a level and a content
//! size, and what they take. Nothing here sets anything on a context.
//!
//! The safe bindings lack the functions of libzstd that would compute this exactly. This is a model of
//! them; a test compares it with real figures over levels and sizes.

mod levels;
mod limit;

pub(crate) use self::levels::{BTLAZY2, BTOPT, DFAST, GREEDY};
use self::levels::{BTULTRA, BTULTRA2, FAST, LAZY2, LEVELS};
use crate::bounds::{WINDOW_LOG_MAX, WINDOW_LOG_MIN};
use crate::options::{EncoderOptions, LongDistance};
use crate::parameters::{Parameters, Strategy};

/// The parameters that decide how much memory a context takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tables {
    pub(crate) window_log: u32,
    chain_log: u32,
    hash_log: u32,
    search_log: u32,
    min_match: u32,
    target_length: u32,
    pub(crate) strategy: u32,
    /// Whether rows are used where a strategy can; `None`: with windows that are not small.
    rows: Option<bool>,
}

const BLOCK_BYTES: u64 = 128 << 10;
/// The context itself, its scratch space and entropy tables: the same for all settings.
const FIXED_BYTES: u64 = 32 << 10;
/// What the optimal parsers keep in addition to their tables.
const OPTIMAL_BYTES: u64 = 152 << 10;
/// What a decoder or decompressor holds before its first window.
pub(crate) const DECODER_BYTES: u64 = 100 << 10;
/// The content for which libzstd sizes the tables of a digest.
const DIGEST_CONTENT_BYTES: u64 = 513;
/// What a digest takes in addition to its tables and the dictionary, and what a frame with one takes
/// in addition to this model.
const DIGEST_FIXED_BYTES: u64 = 16 << 10;
const LONG_DISTANCE_WINDOW_LOG: u32 = 27;
/// The most that a level below 0 means as a target length.
const TARGET_LENGTH_MAX: u32 = 128 << 10;
/// Content up to this size is not split into jobs.
const JOB_BYTES_MIN: u64 = 512 << 10;

impl EncoderOptions {
    /// An upper estimate, mostly within 10 %, of the memory that an [`Encoder`](crate::Encoder) with
    /// these options holds for a frame of this size (`None`: unknown). With workers it is what they
    /// hold when all are busy; short streams stay below.
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

    /// The same for a [`Compressor`](crate::Compressor), which works in place and needs no window.
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

    /// What a context clears for each frame, also if it has made its tables before: other tables stay as they are, and the
    /// positions in them go on.
    #[cfg(feature = "tokio")]
    pub(crate) fn cleared_bytes(&self, content_bytes: Option<u64>) -> u64 {
        let parameters = Tables::choose(self, content_bytes);
        let long = self.long_distance_for(&parameters);
        parameters.long_distance_bytes(long, content_bytes.unwrap_or(u64::MAX))
    }

    /// Tables of a frame with these parameters, and of its dictionary if the context holds it.
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
        // With default parameters the digest is shared and does not count here. A prefix has no digest.
        let shared = self.parameters.is_default();
        let own = match shared || prefix {
            true => DIGEST_FIXED_BYTES,
            false => 2 * (dictionary + DIGEST_FIXED_BYTES) + digest,
        };
        // libzstd either refers to the digest from tables sized for small content, or copies its
        // tables, or makes tables for both together.
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

    /// The level in use: 3 if `level` is 0.
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

    /// All settings of the match finder for a frame of this content size (`None`: unknown): those of the
    /// level, where the options have none of their own.
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    ///
    /// let parameters = EncoderOptions::default().with_level(19).effective_parameters(None);
    /// assert_eq!((parameters.search_log, parameters.target_length), (Some(7), Some(256)));
    /// ```
    pub fn effective_parameters(&self, content_bytes: Option<u64>) -> Parameters {
        let tables = Tables::choose(self, content_bytes);
        Parameters {
            chain_log: Some(tables.chain_log),
            hash_log: Some(tables.hash_log),
            search_log: Some(tables.search_log),
            min_match: Some(tables.min_match),
            target_length: Some(tables.target_length),
            strategy: Some(self.effective_strategy(content_bytes)),
        }
    }

    /// The strategy for a frame of this content size (`None`: unknown).
    pub fn effective_strategy(&self, content_bytes: Option<u64>) -> Strategy {
        let number = Tables::choose(self, content_bytes).strategy;
        Strategy::ALL[(number as usize).clamp(FAST as usize, BTULTRA2 as usize) - 1]
    }

    /// How distant matches are searched for, if they are.
    fn long_distance_for(&self, parameters: &Tables) -> Option<&LongDistance> {
        let long =
            self.long_distance || (parameters.strategy >= BTOPT && parameters.window_log >= 27);
        long.then_some(&self.long_distance_parameters)
    }

    fn threaded_bytes(
        &self,
        parameters: &Tables,
        long_distance: Option<&LongDistance>,
        content: u64,
    ) -> u64 {
        let long = long_distance.is_some();
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
        // One output for each running job, one that waits, and one that is written out.
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
            + parameters.long_distance_bytes(long_distance, content)
    }
}

impl Tables {
    pub(crate) fn choose(options: &EncoderOptions, pledged: Option<u64>) -> Self {
        let pledged = pledged.or(options.size_hint);
        let size = pledged.unwrap_or(u64::MAX);
        let table = [256 << 10, 128 << 10, 16 << 10]
            .iter()
            .filter(|&&most| size <= most)
            .count();
        let row = options.effective_level().clamp(0, 22);
        let (window, chain, hash, search, min_match, target, strategy) =
            LEVELS[table][row as usize];
        let mut parameters = Self {
            window_log: window.into(),
            chain_log: chain.into(),
            hash_log: hash.into(),
            search_log: search.into(),
            min_match: min_match.into(),
            target_length: match options.effective_level() {
                level @ ..0 => level.unsigned_abs().min(TARGET_LENGTH_MAX),
                _ => target.into(),
            },
            strategy,
            rows: options.row_match_finder,
        };
        if options.long_distance {
            parameters.window_log = LONG_DISTANCE_WINDOW_LOG;
        }
        let own = &options.parameters;
        parameters.chain_log = own.chain_log.unwrap_or(parameters.chain_log);
        parameters.hash_log = own.hash_log.unwrap_or(parameters.hash_log);
        parameters.search_log = own.search_log.unwrap_or(parameters.search_log);
        parameters.min_match = own.min_match.unwrap_or(parameters.min_match);
        parameters.target_length = own.target_length.unwrap_or(parameters.target_length);
        parameters.strategy = own.strategy.map_or(parameters.strategy, Strategy::number);
        if let Some(log) = options.window_log {
            parameters.window_log = log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX);
        }
        parameters.fit(pledged);
        parameters
    }

    /// Shrinks the tables to what content of this size can use.
    fn fit(&mut self, pledged: Option<u64>) {
        if let Some(size) = pledged {
            let size_log = u64::BITS - size.saturating_sub(1).leading_zeros();
            self.window_log = self.window_log.min(size_log.max(6));
            self.hash_log = self.hash_log.min(self.window_log + 1);
            self.chain_log -= self.cycle_log().saturating_sub(self.window_log);
        }
        self.window_log = self.window_log.max(WINDOW_LOG_MIN);
    }

    /// The exponent of the part of the window that the chain table can address.
    fn cycle_log(&self) -> u32 {
        self.chain_log - u32::from(self.strategy >= BTLAZY2)
    }

    /// The exponents of the chain and the hash table.
    fn logs(&self) -> (u32, u32) {
        (self.chain_log, self.hash_log)
    }

    fn window_bytes(&self, content: u64) -> u64 {
        (1 << self.window_log).min(content.max(1))
    }

    fn table_bytes(&self, content: u64) -> u64 {
        let rows =
            (GREEDY..=LAZY2).contains(&self.strategy) && self.rows.unwrap_or(self.window_log > 14);
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

    /// The same for a frame with a different window. Either window may decide whether rows are used,
    /// which need no chains.
    fn table_bytes_within(&self, window_log: u32, content: u64) -> u64 {
        let wide = Self {
            window_log,
            ..*self
        };
        self.table_bytes(content).max(wide.table_bytes(content))
    }

    /// The largest content for which libzstd uses a digest with these tables in place.
    fn attached_bytes_max(&self) -> u64 {
        match self.strategy {
            FAST | BTULTRA | BTULTRA2 => 8 << 10,
            DFAST => 16 << 10,
            _ => 32 << 10,
        }
    }

    /// The table of distant matches, and the matches of a block. `None`: they are not searched for.
    fn long_distance_bytes(&self, long: Option<&LongDistance>, content: u64) -> u64 {
        let Some(own) = long else {
            return 0;
        };
        let given = |value: Option<u32>| value.filter(|&value| value > 0);
        let rate = given(own.hash_rate_log).unwrap_or(7 - self.strategy / 3);
        let derived = self.window_log.saturating_sub(rate).clamp(6, 30);
        let hash_log = given(own.hash_log).unwrap_or(derived);
        let bucket_log = given(own.bucket_log).unwrap_or(self.strategy.clamp(4, 8));
        let bucket_log = bucket_log.min(hash_log);
        let shortest = if self.strategy >= BTULTRA { 32 } else { 64 };
        let match_bytes = u64::from(given(own.min_match).unwrap_or(shortest));
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
mod tests;
