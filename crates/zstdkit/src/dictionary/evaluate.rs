//! What a dictionary is worth: the same samples compressed without it and with it.

use crate::digested::Dictionary;
use crate::error::Error;
use crate::oneshot::Compressor;
use crate::options::EncoderOptions;

/// The upper ends of the size classes, in bytes. What is larger is one class more.
const CLASSES_BYTES_MAX: [usize; 4] = [512, 2 << 10, 8 << 10, 32 << 10];

/// Samples of about one size, without a dictionary and with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SizeClass {
    /// No sample of the class is larger, in bytes. `None`: it has no end.
    pub sample_bytes_max: Option<usize>,
    /// How many samples.
    pub samples: u64,
    /// Their content in bytes.
    pub content_bytes: u64,
    /// Their frames without a dictionary, in bytes.
    pub plain_bytes: u64,
    /// Their frames with it, in bytes.
    pub frame_bytes: u64,
}

impl SizeClass {
    /// Content over frames without a dictionary. `None`: no samples.
    pub fn plain_ratio(&self) -> Option<f64> {
        ratio(self.content_bytes, self.plain_bytes)
    }

    /// Content over frames with it. `None`: no samples.
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.content_bytes, self.frame_bytes)
    }

    /// Bytes that the dictionary saves, less than 0 where it costs some.
    pub fn saved_bytes(&self) -> i64 {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        signed(self.plain_bytes) - signed(self.frame_bytes)
    }

    /// How many such samples it takes to save as much as a dictionary of this size takes once.
    /// `None`: it never does.
    pub fn break_even_samples(&self, dictionary_bytes: u64) -> Option<u64> {
        let saved = u128::try_from(self.saved_bytes()).ok().filter(|&n| n > 0)?;
        let needed = (u128::from(dictionary_bytes) * u128::from(self.samples)).div_ceil(saved);
        u64::try_from(needed).ok()
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.content_bytes += other.content_bytes;
        self.plain_bytes += other.plain_bytes;
        self.frame_bytes += other.frame_bytes;
    }
}

fn ratio(content: u64, frames: u64) -> Option<f64> {
    (frames > 0).then(|| content as f64 / frames as f64)
}

/// What a dictionary is worth for some samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// By size of the sample, small ones first, without the classes that have none.
    pub classes: Vec<SizeClass>,
    /// All of them.
    pub total: SizeClass,
}

impl Dictionary {
    /// Compresses each sample without the dictionary and with it. Samples that it was trained on
    /// flatter it: keep some for this alone, as [`train_best`](super::train_best) does.
    pub fn evaluate(
        &self,
        samples: &[impl AsRef<[u8]>],
        options: &EncoderOptions,
    ) -> Result<Evaluation, Error> {
        let with = |dictionary| EncoderOptions {
            dictionary,
            ..options.clone()
        };
        let mut plain = Compressor::new(&with(None))?;
        let mut ours = Compressor::new(&with(Some(self.clone())))?;
        let mut classes = [SizeClass::default(); CLASSES_BYTES_MAX.len() + 1];
        for (class, most) in classes.iter_mut().zip(CLASSES_BYTES_MAX) {
            class.sample_bytes_max = Some(most);
        }
        let mut frame = Vec::new();
        for sample in samples {
            let sample = sample.as_ref();
            let at = CLASSES_BYTES_MAX.partition_point(|&most| most < sample.len());
            classes[at].add(&SizeClass {
                sample_bytes_max: None,
                samples: 1,
                content_bytes: sample.len() as u64,
                plain_bytes: plain.compress_into(sample, &mut frame)? as u64,
                frame_bytes: ours.compress_into(sample, &mut frame)? as u64,
            });
        }
        let mut total = SizeClass::default();
        classes.iter().for_each(|class| total.add(class));
        let classes = classes.into_iter().filter(|class| class.samples > 0);
        Ok(Evaluation {
            classes: classes.collect(),
            total,
        })
    }
}
