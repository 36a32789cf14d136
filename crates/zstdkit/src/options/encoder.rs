//! How to compress.

use std::sync::Arc;

use crate::bounds::{WINDOW_LOG_MAX, WINDOW_LOG_MIN, log_to_cover, not_both, saturate, within};
use crate::digested::Dictionary;
use crate::error::Error;
use crate::options::long_distance::LongDistance;
use crate::parameters::Parameters;

const OVERLAP_LOG_MAX: u32 = 9;
const WORKERS_MAX: u32 = if cfg!(target_pointer_width = "64") {
    256
} else {
    64
};
const TARGET_BLOCK_BYTES_MIN: i64 = 1340;
const JOB_SIZE_MIN: usize = 512 << 10;
const JOB_SIZE_MAX: usize = if cfg!(target_pointer_width = "64") {
    1 << 30
} else {
    512 << 20
};

/// How to compress.
///
/// ```
/// use zstdkit::EncoderOptions;
///
/// let options = EncoderOptions::default().with_level(9).with_workers(2);
/// assert!(options.checksum);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncoderOptions {
    /// The compression level, −131072 (fastest) to 22 (smallest). 0 means the default, 3.
    pub level: i32,
    /// Whether each frame ends with a checksum of its content. Default: true.
    pub checksum: bool,
    /// The window exponent, 10 to 31 (30 on 32-bit platforms). `None`: chosen by the level.
    /// A decoder needs as much memory; most refuse more than 27 by default.
    pub window_log: Option<u32>,
    /// Whether to search for distant matches too. Without a `window_log` this widens the window to
    /// 128 MiB.
    #[doc(alias = "ldm")]
    pub long_distance: bool,
    /// How it searches for them. Only with `long_distance`.
    pub long_distance_parameters: LongDistance,
    /// Worker threads. 0: all work is done by the calling thread.
    #[doc(alias = "threads")]
    #[doc(alias = "multithreading")]
    pub workers: u32,
    /// Bytes of input that a worker takes at a time, 512 KiB to 1 GiB. `None`: about four windows.
    /// Only with workers.
    pub job_size: Option<usize>,
    /// How much of its window a job re-reads from the job before it: 1 (nothing) to 9 (a whole
    /// window), each step doubling. `None` or 0: chosen by the level. Only with workers.
    pub overlap_log: Option<u32>,
    /// Whether a frame whose size is known in advance states it in its header. Default: true.
    pub content_size: bool,
    /// Settings of the match finder that override those of the level.
    pub parameters: Parameters,
    /// Whether the strategies `Greedy`, `Lazy` and `Lazy2` search rows of a table, which is faster, or chains.
    /// `None`: rows, but with windows of up to 16 KiB.
    pub row_match_finder: Option<bool>,
    /// Whether literals are compressed. `None`: not by levels below 0, which are fast for that reason.
    pub literals: Option<bool>,
    /// The size of compressed blocks to aim at, 1,340 bytes to 128 KiB: a reader gets the first bytes of a slow
    /// stream earlier. It is no limit. `None`: whole blocks.
    #[doc(alias = "targetCBlockSize")]
    pub target_block_bytes: Option<u32>,
    /// About the size of content whose size is not pledged, up to 2 GiB: settings and tables are chosen for it.
    /// Any size is compressed correctly.
    #[doc(alias = "srcSizeHint")]
    pub size_hint: Option<u64>,
    /// The most content of a block, 1 KiB to 128 KiB. `None`: 128 KiB, the limit of the format.
    /// Smaller blocks make calls shorter and compress less.
    pub block_bytes_max: Option<u32>,
    /// Whether job boundaries depend on the content, so that a local change of the content changes
    /// the frame only locally. Only with workers.
    pub rsyncable: bool,
    /// A dictionary that frames may refer back to. A decoder needs the same one.
    pub dictionary: Option<Dictionary>,
    /// Whether a frame names its dictionary in its header. Default: true.
    pub dictionary_id: bool,
    /// Content that each frame may refer back to as if it stood right before it, for patches. A
    /// decoder needs the same bytes. Cannot be combined with a dictionary.
    pub prefix: Option<Arc<[u8]>>,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        Self {
            level: 3,
            checksum: true,
            window_log: None,
            long_distance: false,
            long_distance_parameters: LongDistance::default(),
            workers: 0,
            job_size: None,
            overlap_log: None,
            content_size: true,
            parameters: Parameters::default(),
            row_match_finder: None,
            literals: None,
            target_block_bytes: None,
            size_hint: None,
            block_bytes_max: None,
            rsyncable: false,
            dictionary: None,
            dictionary_id: true,
            prefix: None,
        }
    }
}

/// Setters, one for each field.
impl EncoderOptions {
    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn with_level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// Sets [`checksum`](Self::checksum).
    #[must_use]
    pub fn with_checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    /// Sets [`window_log`](Self::window_log).
    #[must_use]
    pub fn with_window_log(mut self, window_log: impl Into<Option<u32>>) -> Self {
        self.window_log = window_log.into();
        self
    }

    /// Sets [`long_distance`](Self::long_distance).
    #[must_use]
    pub fn with_long_distance(mut self, long_distance: bool) -> Self {
        self.long_distance = long_distance;
        self
    }

    /// Sets [`long_distance_parameters`](Self::long_distance_parameters).
    #[must_use]
    pub fn with_long_distance_parameters(mut self, parameters: LongDistance) -> Self {
        self.long_distance_parameters = parameters;
        self
    }

    /// Sets [`workers`](Self::workers).
    #[must_use]
    pub fn with_workers(mut self, workers: u32) -> Self {
        self.workers = workers;
        self
    }

    /// Sets [`job_size`](Self::job_size).
    #[must_use]
    pub fn with_job_size(mut self, job_size: impl Into<Option<usize>>) -> Self {
        self.job_size = job_size.into();
        self
    }

    /// Sets [`overlap_log`](Self::overlap_log).
    #[must_use]
    pub fn with_overlap_log(mut self, overlap_log: impl Into<Option<u32>>) -> Self {
        self.overlap_log = overlap_log.into();
        self
    }

    /// Sets [`content_size`](Self::content_size).
    #[must_use]
    pub fn with_content_size(mut self, content_size: bool) -> Self {
        self.content_size = content_size;
        self
    }

    /// Sets [`parameters`](Self::parameters).
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets [`row_match_finder`](Self::row_match_finder).
    #[must_use]
    pub fn with_row_match_finder(mut self, row_match_finder: impl Into<Option<bool>>) -> Self {
        self.row_match_finder = row_match_finder.into();
        self
    }

    /// Sets [`literals`](Self::literals).
    #[must_use]
    pub fn with_literals(mut self, literals: impl Into<Option<bool>>) -> Self {
        self.literals = literals.into();
        self
    }

    /// Sets [`target_block_bytes`](Self::target_block_bytes).
    #[must_use]
    pub fn with_target_block_bytes(mut self, target_block_bytes: impl Into<Option<u32>>) -> Self {
        self.target_block_bytes = target_block_bytes.into();
        self
    }

    /// Sets [`size_hint`](Self::size_hint).
    #[must_use]
    pub fn with_size_hint(mut self, size_hint: impl Into<Option<u64>>) -> Self {
        self.size_hint = size_hint.into();
        self
    }

    /// Sets [`block_bytes_max`](Self::block_bytes_max).
    #[must_use]
    pub fn with_block_bytes_max(mut self, block_bytes_max: impl Into<Option<u32>>) -> Self {
        self.block_bytes_max = block_bytes_max.into();
        self
    }

    /// Sets [`rsyncable`](Self::rsyncable).
    #[must_use]
    pub fn with_rsyncable(mut self, rsyncable: bool) -> Self {
        self.rsyncable = rsyncable;
        self
    }

    /// Sets [`dictionary`](Self::dictionary).
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: impl Into<Option<Dictionary>>) -> Self {
        self.dictionary = dictionary.into();
        self
    }

    /// Sets [`dictionary_id`](Self::dictionary_id).
    #[must_use]
    pub fn with_dictionary_id(mut self, dictionary_id: bool) -> Self {
        self.dictionary_id = dictionary_id;
        self
    }

    /// Sets [`prefix`](Self::prefix).
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<Option<Arc<[u8]>>>) -> Self {
        self.prefix = prefix.into();
        self
    }
}

impl EncoderOptions {
    /// These options for a patch: a frame of content of this size that may refer back to all of
    /// `reference`. The window covers both. Long distance matching is switched on where the level's
    /// own search would not reach that far. To decode it use [`DecoderOptions::for_patch`] with the
    /// same reference, or `zstd -d --patch-from`.
    ///
    /// ```
    /// use zstdkit::{DecoderOptions, EncoderOptions};
    ///
    /// let (old, new) = (b"to be or not to be".repeat(9), b"to be, or not to be?".repeat(9));
    /// let options = EncoderOptions::default().for_patch(old.clone(), new.len() as u64);
    /// let patch = zstdkit::compress(&new, &options)?;
    /// let options = DecoderOptions::default().for_patch(old);
    /// assert_eq!(zstdkit::decompress(&patch, &options)?, new);
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    ///
    /// [`DecoderOptions::for_patch`]: crate::DecoderOptions::for_patch
    #[must_use]
    #[doc(alias = "patch_from")]
    pub fn for_patch(mut self, reference: impl Into<Arc<[u8]>>, content_bytes: u64) -> Self {
        let reference = reference.into();
        let log = log_to_cover((reference.len() as u64).saturating_add(content_bytes));
        let window_log = self.window_log.unwrap_or(0).max(log);
        self.long_distance |= window_log > self.effective_window_log(None);
        self.window_log = Some(window_log);
        self.dictionary = None;
        self.prefix = Some(reference);
        self
    }

    /// The lowest and the highest level.
    pub fn levels() -> std::ops::RangeInclusive<i32> {
        zstd_safe::min_c_level()..=zstd_safe::max_c_level()
    }

    /// Checks every option against its bounds.
    pub fn validate(&self) -> Result<(), Error> {
        let levels = Self::levels();
        within(
            "level",
            self.level.into(),
            (*levels.start()).into(),
            (*levels.end()).into(),
        )?;
        if let Some(log) = self.window_log {
            within(
                "window_log",
                log.into(),
                WINDOW_LOG_MIN.into(),
                WINDOW_LOG_MAX.into(),
            )?;
        }
        within("workers", self.workers.into(), 0, WORKERS_MAX.into())?;
        if let Some(size) = self.job_size {
            within(
                "job_size",
                saturate(size),
                saturate(JOB_SIZE_MIN),
                saturate(JOB_SIZE_MAX),
            )?;
        }
        if let Some(log) = self.overlap_log {
            within("overlap_log", log.into(), 0, OVERLAP_LOG_MAX.into())?;
        }
        if let Some(bytes) = self.block_bytes_max {
            within("block_bytes_max", bytes.into(), 1 << 10, 128 << 10)?;
        }
        if let Some(bytes) = self.target_block_bytes {
            within(
                "target_block_bytes",
                bytes.into(),
                TARGET_BLOCK_BYTES_MIN,
                128 << 10,
            )?;
        }
        if let Some(bytes) = self.size_hint {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            within("size_hint", bytes, 0, i32::MAX.into())?;
        }
        self.long_distance_parameters.validate()?;
        self.parameters.validate()?;
        not_both(self.dictionary.is_some(), self.prefix.is_some())
    }
}
