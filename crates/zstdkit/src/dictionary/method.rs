//! The ways in which libzstd can train a dictionary, with all of their settings. `train` prepares samples for
//! them and chooses among results.
//!
//! The safe bindings have one of these functions, with fixed settings. The others are called here.

use zstd_safe::zstd_sys;
use zstd_safe::zstd_sys::{
    ZDICT_cover_params_t, ZDICT_fastCover_params_t, ZDICT_legacy_params_t, ZDICT_params_t,
};

/// How segments of samples are chosen for a dictionary. 0 leaves a setting to libzstd, which tries several
/// where `k` or `d` is 0.
///
/// ```
/// use zstdkit::dictionary::Cover;
///
/// let settings = Cover::default().with_k(200).with_d(8);
/// assert_eq!((settings.k, settings.steps), (200, 0));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cover {
    /// Bytes of a segment.
    pub k: u32,
    /// Bytes of what is counted: 6 or 8; any up to `k` by [`TrainMethod::Cover`].
    pub d: u32,
    /// Entries of the table of counts, as an exponent to base 2. Only of [`TrainMethod::FastCover`].
    pub f: u32,
    /// Values of `k` to try, 40 by default.
    pub steps: u32,
    /// Share of the samples that are trained on, in percent; the others judge. At 100 all do both.
    pub split_percent: u32,
    /// 1 (all samples are read) to 10 (few). Only of [`TrainMethod::FastCover`].
    pub accel: u32,
    /// Choose the smallest dictionary that is worse by at most as many percent as this.
    pub shrink: Option<u32>,
}

/// Setters, one for each field.
impl Cover {
    /// Sets [`k`](Self::k).
    #[must_use]
    pub fn with_k(mut self, k: u32) -> Self {
        self.k = k;
        self
    }

    /// Sets [`d`](Self::d).
    #[must_use]
    pub fn with_d(mut self, d: u32) -> Self {
        self.d = d;
        self
    }

    /// Sets [`f`](Self::f).
    #[must_use]
    pub fn with_f(mut self, f: u32) -> Self {
        self.f = f;
        self
    }

    /// Sets [`steps`](Self::steps).
    #[must_use]
    pub fn with_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// Sets [`split_percent`](Self::split_percent).
    #[must_use]
    pub fn with_split_percent(mut self, split_percent: u32) -> Self {
        self.split_percent = split_percent;
        self
    }

    /// Sets [`accel`](Self::accel).
    #[must_use]
    pub fn with_accel(mut self, accel: u32) -> Self {
        self.accel = accel;
        self
    }

    /// Sets [`shrink`](Self::shrink).
    #[must_use]
    pub fn with_shrink(mut self, shrink: impl Into<Option<u32>>) -> Self {
        self.shrink = shrink.into();
        self
    }
}

/// An algorithm of libzstd that makes dictionaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrainMethod {
    /// Counts all substrings exactly: slow, and needs ten times the memory of the samples.
    Cover(Cover),
    /// Counts them in a hash table: what [`train`](super::train) uses.
    FastCover(Cover),
    /// The first algorithm of libzstd, by a suffix array.
    Legacy {
        /// A higher one gives smaller dictionaries; 9 by default.
        selectivity: u32,
    },
}

/// Trains on `content`, samples of these sizes one behind the other, for this level; the dictionary goes into
/// `room`, which is cut to its size. The error is libzstd's code.
pub(super) fn train(
    room: &mut Vec<u8>,
    content: &[u8],
    sizes: &[usize],
    method: TrainMethod,
    level: i32,
) -> Result<(), usize> {
    /// libzstd's code for samples of a wrong size.
    const WRONG_SIZE: usize = 72_usize.wrapping_neg();
    let total = sizes
        .iter()
        .try_fold(0_usize, |sum, &size| sum.checked_add(size));
    let (Some(total), Ok(count)) = (total, u32::try_from(sizes.len())) else {
        return Err(WRONG_SIZE);
    };
    if total > content.len() {
        return Err(WRONG_SIZE);
    }
    room.clear();
    room.resize(room.capacity(), 0);
    let general = ZDICT_params_t {
        compressionLevel: level,
        notificationLevel: 0,
        dictID: 0,
    };
    let (target, capacity) = (room.as_mut_ptr().cast(), room.len());
    let (samples, sample_sizes) = (content.as_ptr().cast(), sizes.as_ptr());
    // All of these functions begin alike.
    macro_rules! call {
        ($function:ident, $settings:expr) => {
            zstd_sys::$function(target, capacity, samples, sample_sizes, count, $settings)
        };
    }
    let share = |percent: u32| f64::from(percent) / 100.0;
    #[allow(
        unsafe_code,
        reason = "the safe bindings lack these functions of libzstd"
    )]
    let trained = match method {
        TrainMethod::Cover(one) => {
            let mut settings = ZDICT_cover_params_t {
                k: one.k,
                d: one.d,
                steps: one.steps,
                nbThreads: 1,
                splitPoint: share(one.split_percent),
                shrinkDict: one.shrink.is_some().into(),
                shrinkDictMaxRegression: one.shrink.unwrap_or(0),
                zParams: general,
            };
            // SAFETY: `target` is writable for `capacity` bytes, `sample_sizes` readable for `count` numbers, and
            // `samples` for their sum: all were just taken off slices that live on, and the sum is checked above.
            // Settings out of range are refused by libzstd.
            unsafe {
                if one.k == 0 || one.d == 0 {
                    call!(ZDICT_optimizeTrainFromBuffer_cover, &raw mut settings)
                } else {
                    call!(ZDICT_trainFromBuffer_cover, settings)
                }
            }
        }
        TrainMethod::FastCover(one) => {
            let mut settings = ZDICT_fastCover_params_t {
                k: one.k,
                d: one.d,
                f: one.f,
                steps: one.steps,
                nbThreads: 1,
                splitPoint: share(one.split_percent),
                accel: one.accel,
                shrinkDict: one.shrink.is_some().into(),
                shrinkDictMaxRegression: one.shrink.unwrap_or(0),
                zParams: general,
            };
            // SAFETY: as above.
            unsafe {
                if one.k == 0 || one.d == 0 {
                    call!(ZDICT_optimizeTrainFromBuffer_fastCover, &raw mut settings)
                } else {
                    call!(ZDICT_trainFromBuffer_fastCover, settings)
                }
            }
        }
        TrainMethod::Legacy { selectivity } => {
            let settings = ZDICT_legacy_params_t {
                selectivityLevel: selectivity,
                zParams: general,
            };
            // SAFETY: as above. libzstd copies the samples and adds the guard band that it reads behind them.
            unsafe { call!(ZDICT_trainFromBuffer_legacy, settings) }
        }
    };
    // Error codes count down from 0, far above any size.
    if trained > room.len() {
        room.clear();
        return Err(trained);
    }
    room.truncate(trained);
    match trained {
        // The legacy algorithm says so if samples have nothing in common.
        0 => Err(WRONG_SIZE),
        _ => Ok(()),
    }
}
