//! How to decompress, and what a frame is not allowed to demand.

use std::sync::Arc;

use crate::bounds::{WINDOW_LOG_MAX, WINDOW_LOG_MIN, log_to_cover, not_both, within};
use crate::digested::Dictionary;
use crate::error::Error;

/// How to decompress, and the limits that frames are held to.
///
/// ```
/// use zstdkit::DecoderOptions;
///
/// // At most 8 MiB of window and 1 GiB of output.
/// let options = DecoderOptions::default().with_window_log_max(23).with_output_limit(1 << 30);
/// assert!(options.verify_checksum);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecoderOptions {
    /// Frames that need a larger window than 2 to this power are refused, 10 to 31 (30 on 32-bit
    /// platforms). The default, 27, is 128 MiB, as in other decoders.
    pub window_log_max: u32,
    /// The same limit in bytes, for one that is not a power of two. The smaller of both holds.
    pub window_limit: Option<u64>,
    /// Frames whose decoding needs more memory than this are refused before it is allocated.
    /// It covers context and window, but not the output, which belongs to the caller.
    pub memory_limit: Option<u64>,
    /// Whether to verify the checksum of frames that have one. Default: true.
    pub verify_checksum: bool,
    /// Decoding fails rather than produce more than this many bytes in total.
    pub output_limit: Option<u64>,
    /// The dictionaries that frames may name. The first also serves frames that name none.
    pub dictionaries: Vec<Dictionary>,
    /// The content that frames were compressed against, for patches. Cannot be combined with a
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

/// Setters, one for each field.
impl DecoderOptions {
    /// Sets [`window_log_max`](Self::window_log_max).
    #[must_use]
    pub fn with_window_log_max(mut self, window_log_max: u32) -> Self {
        self.window_log_max = window_log_max;
        self
    }

    /// Sets [`window_limit`](Self::window_limit).
    #[must_use]
    pub fn with_window_limit(mut self, window_limit: impl Into<Option<u64>>) -> Self {
        self.window_limit = window_limit.into();
        self
    }

    /// Sets [`memory_limit`](Self::memory_limit).
    #[must_use]
    pub fn with_memory_limit(mut self, memory_limit: impl Into<Option<u64>>) -> Self {
        self.memory_limit = memory_limit.into();
        self
    }

    /// Sets [`verify_checksum`](Self::verify_checksum).
    #[must_use]
    pub fn with_verify_checksum(mut self, verify_checksum: bool) -> Self {
        self.verify_checksum = verify_checksum;
        self
    }

    /// Sets [`output_limit`](Self::output_limit).
    #[must_use]
    pub fn with_output_limit(mut self, output_limit: impl Into<Option<u64>>) -> Self {
        self.output_limit = output_limit.into();
        self
    }

    /// Sets [`dictionaries`](Self::dictionaries).
    #[must_use]
    pub fn with_dictionaries(mut self, dictionaries: impl IntoIterator<Item = Dictionary>) -> Self {
        self.dictionaries = dictionaries.into_iter().collect();
        self
    }

    /// Sets [`prefix`](Self::prefix).
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<Option<Arc<[u8]>>>) -> Self {
        self.prefix = prefix.into();
        self
    }
}

impl DecoderOptions {
    /// These options for patches against `reference`. The window limit is raised to what a patch
    /// for content of up to the same size needs.
    #[must_use]
    #[doc(alias = "patch_from")]
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
