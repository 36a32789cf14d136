//! Options of encoders and decoders, and their bounds. Nothing here touches a context.

use std::sync::Arc;

use crate::dictionary::Dictionary;
use crate::error::{Error, Repr};
use crate::parameters::Parameters;

/// The largest window exponent libzstd can use on this platform.
pub(crate) const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") {
    31
} else {
    30
};
/// The smallest window exponent of the format.
pub(crate) const WINDOW_LOG_MIN: u32 = 10;
const OVERLAP_LOG_MAX: u32 = 9;
const WORKERS_MAX: u32 = if cfg!(target_pointer_width = "64") {
    256
} else {
    64
};
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
/// let options = EncoderOptions { level: 9, workers: 2, ..EncoderOptions::default() };
/// assert!(options.checksum);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderOptions {
    /// The compression level, −131072 (fastest) to 22 (smallest). 0 means the default, 3.
    pub level: i32,
    /// Whether to end each frame with a checksum of its content.
    pub checksum: bool,
    /// The window exponent, 10 to 31 (30 on 32-bit platforms). `None`: the level's own.
    /// A decoder needs as much memory; above 27 most refuse unless told otherwise.
    pub window_log: Option<u32>,
    /// Whether to look for matches far back as well. Without a `window_log` this widens the
    /// window to 128 MiB.
    pub long_distance: bool,
    /// Worker threads. 0: everything happens in the call.
    pub workers: u32,
    /// Bytes of input a worker takes at a time, 512 KiB to 1 GiB. `None`: four windows or so.
    /// Only with workers.
    pub job_size: Option<usize>,
    /// How much of its window a job re-reads from the job before it: 1 (nothing) to 9 (a whole
    /// window), each step doubling. `None` or 0: the level's own. Only with workers.
    pub overlap_log: Option<u32>,
    /// Whether a frame whose size is known in advance states it in its header.
    pub content_size: bool,
    /// Settings of the match finder in place of the level's own.
    pub parameters: Parameters,
    /// The most content of a block, 1 KiB to 128 KiB. `None`: the format's own, 128 KiB. Smaller
    /// blocks make for shorter calls and cost ratio.
    pub block_bytes_max: Option<u32>,
    /// Whether jobs end where the content says so, so that a change of the content changes the
    /// frame around it only. Only with workers.
    pub rsyncable: bool,
    /// What frames may refer back to. A decoder needs the same dictionary.
    pub dictionary: Option<Dictionary>,
    /// Whether a frame names its dictionary in its header.
    pub dictionary_id: bool,
    /// Content that each frame may refer back to as if it stood right before it, for patches. A
    /// decoder needs the same bytes. Not together with a dictionary.
    pub prefix: Option<Arc<[u8]>>,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        Self {
            level: 3,
            checksum: true,
            window_log: None,
            long_distance: false,
            workers: 0,
            job_size: None,
            overlap_log: None,
            content_size: true,
            parameters: Parameters::default(),
            block_bytes_max: None,
            rsyncable: false,
            dictionary: None,
            dictionary_id: true,
            prefix: None,
        }
    }
}

impl EncoderOptions {
    /// These options for a patch: a frame of content of this size that may refer back to all of
    /// `reference`. The window covers both, and matches are looked for far back where a level
    /// would not look so far. A decoder needs [`DecoderOptions::for_patch`] with the same
    /// reference, or `zstd -d --patch-from`.
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
    #[must_use]
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
        self.parameters.validate()?;
        not_both(self.dictionary.is_some(), self.prefix.is_some())
    }
}

/// How to decompress, and what not to let a frame do.
///
/// ```
/// use zstdkit::DecoderOptions;
///
/// // At most 8 MiB of window and 1 GiB of output.
/// let options =
///     DecoderOptions { window_log_max: 23, output_limit: Some(1 << 30), ..Default::default() };
/// assert!(options.verify_checksum);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderOptions {
    /// Frames that need a larger window than 2 to this power are refused, 10 to 31 (30 on 32-bit
    /// platforms). The default, 27, is 128 MiB and what other decoders allow.
    pub window_log_max: u32,
    /// The same limit in bytes, for one that is no power of two; the smaller of both holds.
    pub window_limit: Option<u64>,
    /// Frames whose decoding needs more memory than this are refused before it is allocated.
    /// It covers context and window, not the output, which is the caller's.
    pub memory_limit: Option<u64>,
    /// Whether to compare the checksum of frames that have one.
    pub verify_checksum: bool,
    /// Decoding fails rather than produce more than this many bytes in all.
    pub output_limit: Option<u64>,
    /// The dictionaries that frames may name. The first also serves frames that name none.
    pub dictionaries: Vec<Dictionary>,
    /// The content that frames were compressed against, for patches. Not together with a
    /// dictionary.
    pub prefix: Option<Arc<[u8]>>,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        Self {
            window_log_max: 27,
            window_limit: None,
            memory_limit: None,
            verify_checksum: true,
            output_limit: None,
            dictionaries: Vec::new(),
            prefix: None,
        }
    }
}

impl DecoderOptions {
    /// These options for patches against `reference`. The window limit is raised to what a patch
    /// of a content of up to the same size again may ask for.
    #[must_use]
    pub fn for_patch(mut self, reference: impl Into<Arc<[u8]>>) -> Self {
        let reference = reference.into();
        let log = log_to_cover((reference.len() as u64).saturating_mul(2));
        self.window_log_max = self.window_log_max.max(log);
        self.dictionaries.clear();
        self.prefix = Some(reference);
        self
    }

    /// The largest window that a frame may have.
    pub(crate) fn window_bytes_max(&self) -> u64 {
        let by_log = 1 << self.window_log_max;
        self.window_limit.map_or(by_log, |limit| limit.min(by_log))
    }

    /// Checks every option against its bounds.
    pub fn validate(&self) -> Result<(), Error> {
        let log = self.window_log_max;
        within(
            "window_log_max",
            log.into(),
            WINDOW_LOG_MIN.into(),
            WINDOW_LOG_MAX.into(),
        )?;
        not_both(!self.dictionaries.is_empty(), self.prefix.is_some())
    }
}

/// The window exponent whose window holds this much.
fn log_to_cover(bytes: u64) -> u32 {
    let log = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX)
}

fn not_both(dictionary: bool, prefix: bool) -> Result<(), Error> {
    match dictionary && prefix {
        true => Err(Repr::Conflict {
            one: "a dictionary",
            other: "a prefix",
        }
        .into()),
        false => Ok(()),
    }
}

pub(crate) fn within(option: &'static str, value: i64, low: i64, high: i64) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(Repr::Parameter {
            option,
            value,
            low,
            high,
        }
        .into())
    }
}

pub(crate) fn saturate(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
