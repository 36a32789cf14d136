//! Teaches a model the speed of a machine in under a second.

use std::time::Duration;

use super::key::CostKey;
use super::model::CostModel;
use crate::error::Error;
use crate::memory::BTOPT;
use crate::oneshot::{Compressor, Decompressor};
use crate::options::{DecoderOptions, EncoderOptions};
use crate::recipe::Recipe;
use crate::sliced::{Budget, SLICE_BYTES, SlicedDecoder, SlicedEncoder};
use crate::step::{Operation, State};

/// Every size class, by the logarithm of its largest content.
const CLASS_LOGS: std::ops::RangeInclusive<u32> = 10..=20;
/// How often each kind of work is timed.
const REPEATS: usize = 6;
const SLICES: usize = 8;
/// Work that is expected to take this many thresholds is not timed: it is offloaded anyway.
const THRESHOLDS_MAX: u64 = 20;
const SAMPLE_BYTES: usize = 1 << 20;

/// A plan of work to time.
///
/// ```
/// use std::time::{Duration, Instant};
/// use zstdkit::schedule::{Calibration, CostModel};
///
/// let model = CostModel::default();
/// let start = Instant::now();
/// let calibration = Calibration::default().limit(Duration::from_millis(50));
/// let complete = calibration.run(&model, || start.elapsed())?;
/// # let _ = complete;
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Calibration {
    recipes: Vec<Recipe>,
    sample: Vec<u8>,
    limit: Duration,
}

impl Default for Calibration {
    /// All recipes, on generated prose, for at most 900 ms.
    fn default() -> Self {
        Self {
            recipes: Recipe::ALL
                .into_iter()
                .filter(|&recipe| recipe != Recipe::Auto)
                .collect(),
            sample: prose(SAMPLE_BYTES),
            limit: Duration::from_millis(900),
        }
    }
}

impl Calibration {
    /// Only these recipes.
    #[must_use]
    pub fn recipes(mut self, recipes: &[Recipe]) -> Self {
        self.recipes = recipes.to_vec();
        self
    }

    /// On this content, repeated to 1 MiB.
    #[must_use]
    pub fn sample(mut self, content: &[u8]) -> Self {
        if !content.is_empty() {
            self.sample = content.iter().copied().cycle().take(SAMPLE_BYTES).collect();
        }
        self
    }

    /// For about this long: work that was begun by then is completed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the plan on this thread and teaches the model how long it took. `clock` returns the time
    /// since any fixed moment. Cheap work comes first. Returns whether the whole plan ran within the
    /// limit.
    pub fn run(&self, model: &CostModel, clock: impl FnMut() -> Duration) -> Result<bool, Error> {
        let mut timer = Timer::new(clock, self.limit);
        self.decompression(model, &mut timer)?;
        for &recipe in &self.recipes {
            for log in CLASS_LOGS {
                if timer.is_over() {
                    return Ok(false);
                }
                let bytes = 1_usize << log;
                let options = recipe.options(Some(bytes as u64));
                self.whole(model, &options, bytes, &mut timer)?;
                self.slices(model, &options, bytes, &mut timer)?;
            }
        }
        Ok(!timer.is_over())
    }

    fn whole(
        &self,
        model: &CostModel,
        options: &EncoderOptions,
        bytes: usize,
        timer: &mut Timer<impl FnMut() -> Duration>,
    ) -> Result<(), Error> {
        let key = CostKey::compress(options, bytes);
        let most_ns = model.threshold_ns().saturating_mul(THRESHOLDS_MAX);
        if model.predict_ns(key, bytes) > most_ns {
            return Ok(());
        }
        let mut compressor = Compressor::new(options)?;
        let mut frame = Vec::new();
        // The first one makes the tables.
        for repeat in 0..=REPEATS {
            let content = self.piece(repeat * 7919, bytes);
            let (_, ns) = timer.time(|| compressor.compress_into(content, &mut frame))?;
            if repeat > 0 {
                model.observe(key, bytes, ns);
            }
            if timer.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn slices(
        &self,
        model: &CostModel,
        options: &EncoderOptions,
        bytes: usize,
        timer: &mut Timer<impl FnMut() -> Duration>,
    ) -> Result<(), Error> {
        let key = CostKey::compress_slice(options, Some(bytes as u64));
        if bytes <= SLICE_BYTES || key.strategy() >= BTOPT {
            return Ok(());
        }
        let mut encoder = SlicedEncoder::new(options)?;
        encoder.begin(Some(bytes as u64))?;
        let mut frame = Vec::new();
        let mut rest = self.piece(0, bytes);
        for slice in 0..=SLICES {
            let mut budget = Budget::slices(1);
            let (state, ns) = timer
                .time(|| encoder.step_into(&mut rest, &mut frame, Operation::End, &mut budget))?;
            // The first one makes the tables, the last one is not a full slice.
            if state == State::Done || timer.is_over() {
                break;
            }
            if slice > 0 {
                model.observe(key, SLICE_BYTES, ns);
            }
        }
        Ok(())
    }

    fn decompression(
        &self,
        model: &CostModel,
        timer: &mut Timer<impl FnMut() -> Duration>,
    ) -> Result<(), Error> {
        let options = DecoderOptions::default();
        let mut decompressor = Decompressor::new(&options)?;
        let mut frame = Vec::new();
        let mut content = Vec::new();
        for log in CLASS_LOGS {
            let bytes = 1_usize << log;
            let own = Recipe::Balanced.options(Some(bytes as u64));
            Compressor::new(&own)?.compress_into(self.piece(0, bytes), &mut frame)?;
            for repeat in 0..=REPEATS {
                let (_, ns) = timer.time(|| decompressor.decompress_into(&frame, &mut content))?;
                if repeat > 0 {
                    model.observe(CostKey::decompress(bytes), bytes, ns);
                }
            }
        }
        let mut decoder = SlicedDecoder::new(&options)?;
        let (mut rest, mut state) = (&frame[..], State::MoreOutput);
        content.clear();
        while state == State::MoreOutput && !timer.is_over() {
            let before = content.len();
            let mut budget = Budget::slices(1);
            let (next, ns) =
                timer.time(|| decoder.step_into(&mut rest, &mut content, &mut budget))?;
            model.observe(CostKey::decompress_slice(), content.len() - before, ns);
            state = next;
        }
        Ok(())
    }

    /// This many bytes of the sample, from about this position.
    fn piece(&self, from: usize, bytes: usize) -> &[u8] {
        let bytes = bytes.min(self.sample.len());
        let from = from % (self.sample.len() - bytes + 1);
        &self.sample[from..from + bytes]
    }
}

struct Timer<C> {
    clock: C,
    end: Duration,
    last: Duration,
}

impl<C: FnMut() -> Duration> Timer<C> {
    fn new(mut clock: C, limit: Duration) -> Self {
        let last = clock();
        Self {
            clock,
            end: last.saturating_add(limit),
            last,
        }
    }

    fn time<T>(&mut self, work: impl FnOnce() -> Result<T, Error>) -> Result<(T, u64), Error> {
        let start = (self.clock)();
        let value = work()?;
        self.last = (self.clock)();
        let ns = self.last.saturating_sub(start).as_nanos();
        Ok((value, u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    fn is_over(&self) -> bool {
        self.last >= self.end
    }
}

/// Words from a vocabulary of a thousand, with frequencies as in a language. Compresses to about a third,
/// which takes about as long as compression ever does.
fn prose(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let words: Vec<Vec<u8>> = (0..1000)
        .map(|_| {
            (0..2 + next(9))
                .map(|_| b'a' + next(26).min(next(26)) as u8)
                .collect()
        })
        .collect();
    let mut content = Vec::with_capacity(bytes + 16);
    while content.len() < bytes {
        let most = 1 + next(1000);
        content.extend_from_slice(&words[next(most) as usize]);
        content.push(if next(12) == 0 { b'\n' } else { b' ' });
    }
    content.truncate(bytes);
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Decision;

    /// A clock that says each piece of work took so long.
    fn clock(step: Duration) -> impl FnMut() -> Duration {
        let mut now = Duration::ZERO;
        move || {
            now += step;
            now
        }
    }

    #[test]
    fn a_calibration_teaches_every_recipe() {
        let model = CostModel::default();
        let calibration = Calibration::default().limit(Duration::MAX);
        assert!(
            calibration
                .run(&model, clock(Duration::from_micros(3)))
                .unwrap()
        );
        for recipe in [Recipe::Fast, Recipe::Balanced, Recipe::Binary] {
            for bytes in [2 << 10, 16 << 10] {
                let options = recipe.options(Some(bytes as u64));
                assert!(
                    model.knows(CostKey::compress(&options, bytes)),
                    "{recipe} {bytes}"
                );
            }
            let options = recipe.options(Some(4 << 20));
            assert!(
                model.knows(CostKey::compress_slice(&options, Some(4 << 20))),
                "{recipe}"
            );
            assert!(matches!(
                model.decide(&options, 40 << 20),
                Decision::Sliced { .. }
            ));
        }
        let options = Recipe::Maximum.options(Some(2 << 10));
        assert!(model.knows(CostKey::compress(&options, 2 << 10)));
        assert!(
            model.knows(CostKey::decompress(2 << 10)) && model.knows(CostKey::decompress_slice())
        );
    }

    #[test]
    fn a_calibration_ends_soon_after_its_limit() {
        let model = CostModel::default();
        let calibration = Calibration::default().limit(Duration::from_millis(100));
        let mut now = Duration::ZERO;
        let complete = calibration.run(&model, || {
            now += Duration::from_millis(1);
            now
        });
        assert!(!complete.unwrap());
        // Decompression is run whole: eleven sizes, seven times, two readings each.
        assert!(now < Duration::from_millis(200), "{now:?}");
    }

    #[test]
    fn the_sample_is_as_good_as_prose() {
        let frame = crate::compress(&prose(1 << 20), &EncoderOptions::default()).unwrap();
        let ratio = f64::from(1 << 20) / frame.len() as f64;
        assert!((2.0..4.0).contains(&ratio), "{ratio}");
        let own = Calibration::default().sample(b"abc");
        assert_eq!(
            (own.sample.len(), &own.sample[..4]),
            (SAMPLE_BYTES, &b"abca"[..])
        );
    }
}
