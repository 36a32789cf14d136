//! How a stream is cut into jobs for worker threads, when memory matters.
//!
//! libzstd gives a worker four windows at a time. What it holds is then several times that: the
//! jobs' input, their output, and what is read ahead. Jobs of half a window, each of which re-reads
//! half a window of the job before it, need a quarter of that and find as many matches; only the
//! strategies that search binary trees lose by it, for re-reading is slow for them.

use crate::memory::{BTLAZY2, Parameters};
use crate::options::EncoderOptions;

/// The smallest job worth handing to a thread.
const JOB_BYTES_MIN: usize = 1 << 20;
/// Overlap of a whole and of half a window, in libzstd's scale.
const OVERLAP_WHOLE: u32 = 9;
const OVERLAP_HALF: u32 = 8;

impl EncoderOptions {
    /// These options with jobs sized for little memory, where that costs neither ratio nor time.
    ///
    /// Nothing changes without workers, with long distance matching, when a size was chosen
    /// already, and at levels whose strategy searches binary trees (from 13 on).
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    ///
    /// let plain = EncoderOptions { workers: 2, ..EncoderOptions::default() };
    /// let lean = plain.clone().lean_jobs();
    /// assert!(lean.memory_estimate_bytes(None) * 2 < plain.memory_estimate_bytes(None));
    /// ```
    #[must_use]
    pub fn lean_jobs(mut self) -> Self {
        let parameters = Parameters::choose(&self, None);
        let chosen = self.job_size.is_some() || self.overlap_log.is_some();
        if self.workers == 0 || self.long_distance || chosen || parameters.strategy >= BTLAZY2 {
            return self;
        }
        let half = (1_usize << parameters.window_log) / 2;
        self.job_size = Some(half.max(JOB_BYTES_MIN));
        self.overlap_log = Some(if half < JOB_BYTES_MIN {
            OVERLAP_WHOLE
        } else {
            OVERLAP_HALF
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lean(options: EncoderOptions) -> (Option<usize>, Option<u32>) {
        let options = options.lean_jobs();
        options.validate().expect("valid options");
        (options.job_size, options.overlap_log)
    }

    fn at(level: i32) -> EncoderOptions {
        EncoderOptions {
            level,
            workers: 2,
            ..EncoderOptions::default()
        }
    }

    #[test]
    fn jobs_are_half_a_window_and_never_tiny() {
        assert_eq!(lean(at(-5)), (Some(1 << 20), Some(9)));
        assert_eq!(lean(at(1)), (Some(1 << 20), Some(9)));
        assert_eq!(lean(at(3)), (Some(1 << 20), Some(8)));
        assert_eq!(lean(at(9)), (Some(2 << 20), Some(8)));
        for level in EncoderOptions::levels().start().max(&-7).to_owned()..=22 {
            lean(at(level));
        }
    }

    #[test]
    fn what_was_chosen_or_does_not_pay_is_left_alone() {
        assert_eq!(
            lean(EncoderOptions {
                workers: 0,
                ..at(3)
            }),
            (None, None)
        );
        assert_eq!(
            lean(EncoderOptions {
                long_distance: true,
                ..at(3)
            }),
            (None, None)
        );
        assert_eq!(
            lean(EncoderOptions {
                overlap_log: Some(3),
                ..at(3)
            }),
            (None, Some(3))
        );
        assert_eq!(lean(at(13)), (None, None));
        assert_eq!(lean(at(19)), (None, None));
    }
}
