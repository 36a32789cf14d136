//! How a stream is split into jobs for worker threads if memory matters.
//!
//! libzstd gives a worker four windows at a time, and holds several times that: the input of the jobs,
//! their output, and what is read ahead. Smaller jobs need less memory. But each job starts by indexing
//! the end of the job before it, which costs time, or skips that, which costs ratio. The sizes below
//! gave the same ratio and the same CPU time within 1 to 2 %. Strategies that search binary trees are
//! left alone, because indexing is slow for them.

use crate::memory::{BTLAZY2, DFAST, GREEDY, Tables};
use crate::options::EncoderOptions;

/// The smallest job worth a thread.
const JOB_BYTES_MIN: usize = 1 << 20;
/// An overlap of a whole and of a quarter window, on libzstd's scale.
const OVERLAP_WHOLE: u32 = 9;
const OVERLAP_QUARTER: u32 = 7;

impl EncoderOptions {
    /// These options with small jobs that save memory, if that costs neither ratio nor time.
    ///
    /// Nothing changes without workers, with long distance matching, if a job size or overlap is set,
    /// or at levels whose strategy searches binary trees (13 and up).
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    ///
    /// let plain = EncoderOptions::default().with_workers(2);
    /// let lean = plain.clone().lean_jobs();
    /// assert!(lean.memory_estimate_bytes(None) * 2 < plain.memory_estimate_bytes(None));
    /// ```
    #[must_use]
    pub fn lean_jobs(mut self) -> Self {
        let parameters = Tables::choose(&self, None);
        let chosen = self.job_size.is_some() || self.overlap_log.is_some();
        if self.workers == 0 || self.long_distance || chosen || parameters.strategy >= BTLAZY2 {
            return self;
        }
        let window = 1_usize << parameters.window_log;
        // The fast strategies index as fast as they read. For the others a job of twice the size halves
        // the share of indexing.
        let windows = if parameters.strategy < GREEDY { 1 } else { 2 };
        self.job_size = Some((window * windows).max(JOB_BYTES_MIN));
        self.overlap_log = Some(if parameters.strategy < DFAST {
            OVERLAP_WHOLE
        } else {
            OVERLAP_QUARTER
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
    fn jobs_are_a_window_or_two_and_never_tiny() {
        assert_eq!(lean(at(-5)), (Some(1 << 20), Some(9)));
        assert_eq!(lean(at(1)), (Some(1 << 20), Some(9)));
        assert_eq!(lean(at(3)), (Some(2 << 20), Some(7)));
        assert_eq!(lean(at(9)), (Some(8 << 20), Some(7)));
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
