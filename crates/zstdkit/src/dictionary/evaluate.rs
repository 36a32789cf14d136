//! How much a dictionary saves: the same samples compressed without it and with it.

use crate::digested::Dictionary;
use crate::error::Error;
use crate::oneshot::Compressor;
use crate::options::EncoderOptions;

/// The upper bounds of the size classes, in bytes. Larger samples are one more class.
const CLASSES_BYTES_MAX: [usize; 4] = [512, 2 << 10, 8 << 10, 32 << 10];

/// Samples of similar size, compressed without a dictionary and with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SizeClass {
    /// The largest sample size of the class in bytes. `None`: no limit.
    pub sample_bytes_max: Option<usize>,
    /// The number of samples.
    pub samples: u64,
    /// Bytes of content.
    pub content_bytes: u64,
    /// Bytes of the frames without a dictionary.
    pub plain_bytes: u64,
    /// Bytes of the frames with it.
    pub frame_bytes: u64,
}

impl SizeClass {
    /// The compression ratio without a dictionary. `None`: no samples.
    pub fn plain_ratio(&self) -> Option<f64> {
        ratio(self.content_bytes, self.plain_bytes)
    }

    /// The compression ratio with it. `None`: no samples.
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.content_bytes, self.frame_bytes)
    }

    /// Bytes that the dictionary saves. Negative if it makes frames larger.
    pub fn saved_bytes(&self) -> i64 {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        signed(self.plain_bytes) - signed(self.frame_bytes)
    }

    /// How many such samples save as many bytes as a dictionary of this size takes. `None`: it never
    /// pays off.
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

/// How much a dictionary saves on some samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// By sample size, small samples first, without empty classes.
    pub classes: Vec<SizeClass>,
    /// All samples.
    pub total: SizeClass,
}

impl Dictionary {
    /// Compresses each sample without the dictionary and with it. Use samples that it was not trained on,
    /// as [`train_best`](super::train_best) does: on others the result is too good.
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
