//! Settings lowered until their memory fits a limit. What they take is estimated in the module above.

use crate::bounds::WINDOW_LOG_MIN;
use crate::error::{Error, Repr};
use crate::memory::{BTLAZY2, Tables};
use crate::options::EncoderOptions;

/// The smallest job of a worker.
const JOB_BYTES_MIN: usize = 512 << 10;

impl EncoderOptions {
    /// These options with fewer workers, smaller jobs and a smaller window, as far as that is needed for
    /// [`memory_estimate_bytes`](Self::memory_estimate_bytes) to stay within `limit_bytes`. Jobs shrink first, then
    /// workers leave, and the window with its tables shrinks last.
    ///
    /// A window that was set, and the content that a patch refers back to, are never lowered. What still does not fit
    /// is an error, before anything is allocated.
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    ///
    /// let options = EncoderOptions::default().with_level(19).with_workers(4);
    /// assert!(options.memory_estimate_bytes(None) > 600 << 20);
    /// let small = options.within_memory(32 << 20, None)?;
    /// assert!(small.memory_estimate_bytes(None) <= 32 << 20);
    /// assert_eq!((small.level, small.workers), (19, 0));
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    pub fn within_memory(
        mut self,
        limit_bytes: u64,
        content_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        let fits = |options: &Self| options.memory_estimate_bytes(content_bytes) <= limit_bytes;
        if fits(&self) {
            return Ok(self);
        }
        let tables = Tables::choose(&self, content_bytes);
        if self.workers > 0 && self.job_size.is_none() {
            let window = 1_usize << tables.window_log;
            self.job_size = Some(window.clamp(JOB_BYTES_MIN, 1 << 30));
            if fits(&self) {
                return Ok(self);
            }
        }
        while self.workers > 0 {
            self.workers -= 1;
            if fits(&self) {
                break;
            }
        }
        if self.workers == 0 {
            // These are for workers only.
            self.job_size = None;
            self.overlap_log = None;
            self.rsyncable = false;
        }
        let is_fixed = self.window_log.is_some() || self.prefix.is_some();
        let mut log = tables.window_log;
        while !fits(&self) && !is_fixed && log > WINDOW_LOG_MIN {
            log -= 1;
            self.window_log = Some(log);
            let (chain, hash) = tables.logs();
            let binary = u32::from(tables.strategy >= BTLAZY2);
            self.parameters.chain_log = Some(chain.min(log + binary));
            self.parameters.hash_log = Some(hash.min(log + 1));
        }
        match self.memory_estimate_bytes(content_bytes) {
            need if need <= limit_bytes => Ok(self),
            need => Err(Repr::MemoryEstimate {
                need,
                limit: limit_bytes,
            }
            .into()),
        }
    }
}
