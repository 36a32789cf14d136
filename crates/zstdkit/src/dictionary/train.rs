//! Dictionaries from samples. libzstd finds what the samples have in common. This module decides which
//! samples it sees, in which order, and which of several results is the best.

use super::evaluate::Evaluation;
use super::method::{self, TrainMethod};
use crate::bounds::{saturate, within};
use crate::digested::Dictionary;
use crate::error::{self, Error, Repr};
use crate::options::EncoderOptions;

/// The smallest dictionary that has room for entropy tables, in bytes.
const SIZE_BYTES_MIN: usize = 256;
/// A dictionary larger than the largest window that most decoders allow would be useless.
const SIZE_BYTES_MAX: usize = 128 << 20;
/// The fewest samples: libzstd holds back a quarter and needs five of the rest.
const SAMPLES_MIN: usize = 7;
/// The fewest samples that are trained on.
const SAMPLES_TRAINED_MIN: usize = 5;
/// libzstd counts the bytes of all samples in 32 bits.
const SAMPLES_BYTES_MAX: u64 = if cfg!(target_pointer_width = "64") {
    u32::MAX as u64 - 1
} else {
    (1 << 30) - 1
};
/// One sample in this many is held out for the evaluation.
const HELD_OUT_EVERY: usize = 5;
/// A larger dictionary must be better by one part in this many to be preferred.
const BETTER_BY: u64 = 200;

/// Trains a dictionary of at most `size_bytes` on all samples.
///
/// Use samples that resemble what will be compressed, ideally a hundred times the size of the dictionary
/// in total. The same samples in the same order give the same dictionary. Its id is derived from its
/// content.
///
/// ```
/// let samples: Vec<String> = (0..200)
///     .map(|n| format!("{{\"user\":{},\"action\":\"login\",\"ok\":true}}", n * n * 31))
///     .collect();
/// let dictionary = zstdkit::dictionary::train(&samples, 1024)?;
/// assert!(dictionary.id().is_some() && dictionary.bytes().len() <= 1024);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "ZDICT_trainFromBuffer")]
pub fn train(samples: &[impl AsRef<[u8]>], size_bytes: usize) -> Result<Dictionary, Error> {
    let samples: Vec<&[u8]> = samples.iter().map(AsRef::as_ref).collect();
    check(&samples, size_bytes, SAMPLES_MIN)?;
    trained(&shuffled(&samples), size_bytes)
}

/// The same by one of libzstd's algorithms, with settings of one's own, for a level.
///
/// ```
/// use zstdkit::dictionary::{self, Cover, TrainMethod};
///
/// let samples: Vec<String> = (0..200)
///     .map(|n| format!("{{\"user\":{},\"action\":\"login\",\"ok\":true}}", n * n * 31))
///     .collect();
/// let method = TrainMethod::Cover(Cover::default().with_k(64).with_d(8));
/// let dictionary = dictionary::train_by(&samples, 1024, method, 3)?;
/// assert!(dictionary.id().is_some() && dictionary.bytes().len() <= 1024);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub fn train_by(
    samples: &[impl AsRef<[u8]>],
    size_bytes: usize,
    method: TrainMethod,
    level: i32,
) -> Result<Dictionary, Error> {
    let samples: Vec<&[u8]> = samples.iter().map(AsRef::as_ref).collect();
    let least = match method {
        TrainMethod::FastCover(_) => SAMPLES_MIN,
        // These may train on all samples.
        TrainMethod::Cover(_) | TrainMethod::Legacy { .. } => SAMPLES_TRAINED_MIN,
    };
    check(&samples, size_bytes, least)?;
    let samples = shuffled(&samples);
    let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
    let content = joined(&samples, sizes.iter().sum())?;
    let mut dictionary = room(size_bytes)?;
    method::train(&mut dictionary, &content, &sizes, method, level).map_err(refused)?;
    dictionary.shrink_to_fit();
    Dictionary::new(dictionary)
}

/// How [`train_best`] trains.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrainOptions {
    /// The largest size of the dictionary, 256 bytes to 128 MiB.
    pub size_bytes: usize,
    /// The settings it will be used with: level and parameters decide how much it helps.
    pub encoder: EncoderOptions,
}

/// Setters, one for each field.
impl TrainOptions {
    /// Sets [`size_bytes`](Self::size_bytes).
    #[must_use]
    pub fn with_size_bytes(mut self, size_bytes: usize) -> Self {
        self.size_bytes = size_bytes;
        self
    }

    /// Sets [`encoder`](Self::encoder).
    #[must_use]
    pub fn with_encoder(mut self, encoder: EncoderOptions) -> Self {
        self.encoder = encoder;
        self
    }
}

impl Default for TrainOptions {
    /// 110 KiB, level 3, frames without checksum.
    fn default() -> Self {
        Self {
            size_bytes: 110 << 10,
            encoder: EncoderOptions {
                checksum: false,
                ..EncoderOptions::default()
            },
        }
    }
}

/// A dictionary and its evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trained {
    /// The best of those tried.
    pub dictionary: Dictionary,
    /// On the fifth of the samples that was held out.
    pub evaluation: Evaluation,
}

/// Trains several dictionaries on four fifths of the samples and returns the one that compresses the other
/// fifth best. It tries a quarter, a half and the whole of the size, and concatenated samples as raw
/// content. An earlier one is preferred unless a later one gains at least 0.5 %.
pub fn train_best(samples: &[impl AsRef<[u8]>], options: &TrainOptions) -> Result<Trained, Error> {
    let samples: Vec<&[u8]> = samples.iter().map(AsRef::as_ref).collect();
    check(&samples, options.size_bytes, SAMPLES_MIN)?;
    let (held_out, shown) = split(&shuffled(&samples));
    check(&shown, options.size_bytes, SAMPLES_MIN)?;
    let quarter = (options.size_bytes / 4).max(SIZE_BYTES_MIN);
    let half = (options.size_bytes / 2).max(SIZE_BYTES_MIN);
    let mut best: Option<Trained> = None;
    let mut failure = None;
    let plain = std::iter::once_with(|| concatenated(&shown, options.size_bytes));
    let sizes = [quarter, half, options.size_bytes].into_iter();
    for candidate in sizes.map(|size| trained(&shown, size)).chain(plain) {
        let candidate = candidate.and_then(|dictionary| {
            let evaluation = dictionary.evaluate(&held_out, &options.encoder)?;
            Ok(Trained {
                dictionary,
                evaluation,
            })
        });
        match candidate {
            Ok(one) if best.as_ref().is_none_or(|best| is_better(&one, best)) => best = Some(one),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
    }
    match (best, failure) {
        (Some(best), _) => Ok(best),
        (None, Some(error)) => Err(error),
        (None, None) => Err(no_common_content()),
    }
}

fn is_better(one: &Trained, than: &Trained) -> bool {
    let (ours, theirs) = (&one.evaluation.total, &than.evaluation.total);
    ours.frame_bytes < theirs.frame_bytes - theirs.frame_bytes / BETTER_BY
}

fn check(samples: &[&[u8]], size_bytes: usize, least: usize) -> Result<(), Error> {
    within(
        "size_bytes",
        saturate(size_bytes),
        saturate(SIZE_BYTES_MIN),
        saturate(SIZE_BYTES_MAX),
    )?;
    let refuse = |reason, help| Err(Repr::Samples { reason, help }.into());
    let filled = samples.iter().filter(|sample| !sample.is_empty()).count();
    if filled < least {
        return refuse(
            if least == SAMPLES_MIN {
                "fewer than 7 samples with content"
            } else {
                "fewer than 5 samples with content"
            },
            "give a hundred samples or more, or split a large one into records",
        );
    }
    let total = samples.iter().try_fold(0_u64, |total, sample| {
        total.checked_add(sample.len() as u64)
    });
    if total.is_none_or(|total| total > SAMPLES_BYTES_MAX) {
        return refuse(
            "4 GiB of samples or more",
            "give every nth sample: a hundred times the size of the dictionary is enough",
        );
    }
    let first = samples.iter().find(|sample| !sample.is_empty());
    if first.is_some_and(|first| samples.iter().all(|one| one.is_empty() || one == first)) {
        return refuse(
            "all samples are equal",
            "use one of them as a raw content dictionary",
        );
    }
    Ok(())
}

/// The samples in a shuffled order, always the same for the same number of samples. libzstd trains on the
/// first three quarters and judges by the rest, which would be of a different kind if samples are sorted.
fn shuffled<'a>(samples: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let filled = samples.iter().filter(|sample| !sample.is_empty());
    let mut samples: Vec<&[u8]> = filled.copied().collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for at in (1..samples.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        samples.swap(at, (state >> 33) as usize % (at + 1));
    }
    samples
}

/// Splits samples into those to judge by and those to train on.
fn split<'a>(samples: &[&'a [u8]]) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let numbered = samples.iter().copied().enumerate();
    let (held_out, shown): (Vec<_>, Vec<_>) =
        numbered.partition(|(at, _)| at % HELD_OUT_EVERY == 0);
    let samples = |numbered: Vec<(usize, &'a [u8])>| numbered.into_iter().map(|one| one.1);
    (samples(held_out).collect(), samples(shown).collect())
}

fn trained(samples: &[&[u8]], size_bytes: usize) -> Result<Dictionary, Error> {
    let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
    let content = joined(samples, sizes.iter().sum())?;
    let mut dictionary = room(size_bytes)?;
    zstd_safe::train_from_buffer(&mut dictionary, &content, &sizes).map_err(refused)?;
    dictionary.shrink_to_fit();
    Dictionary::new(dictionary)
}

/// A raw content dictionary: samples concatenated up to this size.
fn concatenated(samples: &[&[u8]], size_bytes: usize) -> Result<Dictionary, Error> {
    let mut left = size_bytes;
    let fitting = samples.iter().copied().filter(|sample| {
        let fits = sample.len() <= left;
        left -= if fits { sample.len() } else { 0 };
        fits
    });
    let fitting: Vec<&[u8]> = fitting.collect();
    let content = joined(&fitting, size_bytes - left)?;
    match content.is_empty() {
        true => Err(no_common_content()),
        false => Dictionary::new(content),
    }
}

fn joined(samples: &[&[u8]], bytes: usize) -> Result<Vec<u8>, Error> {
    let mut content = room(bytes)?;
    samples
        .iter()
        .for_each(|sample| content.extend_from_slice(sample));
    Ok(content)
}

fn room(bytes: usize) -> Result<Vec<u8>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Repr::Memory {
        bytes: Some(bytes as u64),
        what: "the samples of a dictionary",
    })?;
    Ok(room)
}

fn refused(code: usize) -> Error {
    if error::is_out_of_memory(code) {
        return Repr::Memory {
            bytes: None,
            what: "training a dictionary",
        }
        .into();
    }
    no_common_content()
}

fn no_common_content() -> Error {
    Repr::Samples {
        reason: "the samples have too little in common or are too small",
        help: "give a hundred samples or more of one kind, or use raw content",
    }
    .into()
}
