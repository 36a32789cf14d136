//! The tables of times, verdicts and memory, by recipe and size.

use std::time::{Duration, Instant};

use latency::percentile::{earned_n, rank};
use latency::report::{Table, Unit};
use zstdkit::sliced::{Budget, SlicedDecoder, SlicedEncoder};
use zstdkit::{
    Compressor, DecoderOptions, Decompressor, EncoderOptions, Operation, Recipe, State, Strategy,
};

use crate::advise::data::{Data, piece};
use crate::advise::plan::Plan;
use crate::{Checks, Context, Error, Watch};
use report::Outcome;

/// Operations to time per cell, if there is enough time.
const OPERATIONS: std::ops::RangeInclusive<usize> = 3..=5_000;

/// What an async runtime allows: the threshold of the second verdict.
const ASYNC_THRESHOLD: Duration = Duration::from_nanos(zstdkit::schedule::THRESHOLD_NS);

const COLUMNS: [(&str, Unit); 12] = [
    ("recipe", Unit::Text),
    ("data", Unit::Text),
    ("size_bytes", Unit::Bytes),
    ("n", Unit::Count),
    ("p50_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("slice_p99_ns", Unit::Nanoseconds),
    ("verdict", Unit::Text),
    ("async_verdict", Unit::Text),
    ("ratio", Unit::Ratio),
    ("one_shot_memory_bytes", Unit::Bytes),
    ("stream_memory_bytes", Unit::Bytes),
];

const DECODE_COLUMNS: [(&str, Unit); 8] = [
    ("size_bytes", Unit::Bytes),
    ("n", Unit::Count),
    ("p50_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("block_p99_ns", Unit::Nanoseconds),
    ("verdict", Unit::Text),
    ("async_verdict", Unit::Text),
    ("memory_bytes", Unit::Bytes),
];

/// Adds the tables to the outcome.
pub(crate) fn part(
    plan: &Plan,
    data: &Data,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let mut compress = Table::new("compress", &COLUMNS);
    for &recipe in &plan.recipes {
        for &bytes in &plan.sizes {
            if context.watch.is_stopped() {
                break;
            }
            compress
                .rows
                .push(row((plan, context.watch), data, recipe, bytes, checks)?);
        }
    }
    outcome.tables.push(compress);
    let mut decompress = Table::new("decompress", &DECODE_COLUMNS);
    for &bytes in &plan.sizes {
        if context.watch.is_stopped() {
            break;
        }
        decompress.rows.push(decode_row(
            (plan, context.watch),
            data.any(),
            bytes,
            checks,
        )?);
    }
    outcome.tables.push(decompress);
    Ok(())
}

fn row(
    (plan, watch): (&Plan, &dyn Watch),
    data: &Data,
    recipe: Recipe,
    bytes: usize,
    checks: &mut Checks,
) -> Result<Vec<latency::report::Cell>, Error> {
    let (name, content) = data.of(recipe);
    let bytes = bytes.min(content.len());
    let options = recipe.options(Some(bytes as u64));
    let mut compressor = Compressor::new(&options)?;
    let mut frame = Vec::new();
    // The first call creates the tables.
    let first = piece(content, 0, bytes);
    compressor.compress_into(first, &mut frame)?;
    checks.frame(&frame, first);
    let ratio = bytes as f64 / frame.len() as f64;
    let whole = measure(plan.cell, watch, |nth, times| {
        let content = piece(content, nth, bytes);
        let start = Instant::now();
        compressor.compress_into(content, &mut frame)?;
        times.add(start.elapsed());
        Ok(())
    })?;
    let slices = match slicable(&options, bytes) {
        true => Some(slices((plan.cell, watch), content, &options, bytes)?),
        false => None,
    };
    Ok(vec![
        recipe.name().into(),
        name.into(),
        (bytes as u64).into(),
        whole.n().into(),
        whole.p50_ns().into(),
        whole.p99_ns().into(),
        slices.as_ref().and_then(Times::p99_ns).into(),
        judged(plan.threshold, &whole, slices.as_ref()).into(),
        judged(ASYNC_THRESHOLD, &whole, slices.as_ref()).into(),
        ratio.into(),
        (compressor.memory_bytes() as u64).into(),
        options.memory_estimate_bytes(Some(bytes as u64)).into(),
    ])
}

/// Whether the strategy works in slices and there is more than one.
fn slicable(options: &EncoderOptions, bytes: usize) -> bool {
    let whole_blocks = options
        .parameters
        .strategy
        .is_some_and(|strategy| strategy >= Strategy::Btopt);
    !whole_blocks && bytes > zstdkit::sliced::SLICE_BYTES
}

fn slices(
    (time, watch): (Duration, &dyn Watch),
    content: &[u8],
    options: &EncoderOptions,
    bytes: usize,
) -> Result<Times, Error> {
    let mut encoder = SlicedEncoder::new(options)?;
    let mut frame = Vec::new();
    measure(time, watch, |nth, times| {
        let mut rest = piece(content, nth, bytes);
        frame.clear();
        encoder.begin(Some(bytes as u64))?;
        encoder.open()?;
        loop {
            let mut budget = Budget::slices(1);
            let start = Instant::now();
            let state = encoder.step_into(&mut rest, &mut frame, Operation::End, &mut budget);
            times.add(start.elapsed());
            if state? == State::Done || times.is_over() {
                return Ok(());
            }
        }
    })
}

fn decode_row(
    (plan, watch): (&Plan, &dyn Watch),
    content: &[u8],
    bytes: usize,
    checks: &mut Checks,
) -> Result<Vec<latency::report::Cell>, Error> {
    let first = piece(content, 0, bytes);
    let options = Recipe::Balanced.options(Some(first.len() as u64));
    let frame = zstdkit::compress(first, &options)?;
    let mut decompressor = Decompressor::new(&DecoderOptions::default())?;
    let mut back = Vec::new();
    decompressor.decompress_into(&frame, &mut back)?;
    checks.that(back == first);
    let whole = measure(plan.cell, watch, |_, times| {
        let start = Instant::now();
        decompressor.decompress_into(&frame, &mut back)?;
        times.add(start.elapsed());
        Ok(())
    })?;
    let mut decoder = SlicedDecoder::new(&DecoderOptions::default())?;
    let mut room = vec![0; 128 << 10];
    let blocks = measure(plan.cell, watch, |_, times| {
        decoder.reset();
        let mut rest = &frame[..];
        loop {
            let start = Instant::now();
            let step = decoder.step(rest, &mut room, &mut Budget::slices(1));
            times.add(start.elapsed());
            let step = step?;
            rest = &rest[step.consumed..];
            if step.state != State::MoreOutput || times.is_over() {
                return Ok(());
            }
        }
    })?;
    Ok(vec![
        (first.len() as u64).into(),
        whole.n().into(),
        whole.p50_ns().into(),
        whole.p99_ns().into(),
        blocks.p99_ns().into(),
        judged(plan.threshold, &whole, Some(&blocks)).into(),
        judged(ASYNC_THRESHOLD, &whole, Some(&blocks)).into(),
        (decompressor.memory_bytes() as u64).into(),
    ])
}

/// The verdict on calls and their slices. Where there are too few for a 99th percentile, the slowest alone decides
/// nothing: unknown.
fn judged(threshold: Duration, whole: &Times, slices: Option<&Times>) -> &'static str {
    let unsure = |times: &Times| {
        let fits = |ns: u64| Duration::from_nanos(ns) <= threshold;
        times.p99_ns().is_none() && !fits(times.worst_ns()) && times.p50_ns().is_some_and(fits)
    };
    let said = verdict(threshold, whole.worst_ns(), slices.map(Times::worst_ns));
    match unsure(whole) || said == "offload" && slices.is_some_and(unsure) {
        true => "unknown",
        false => said,
    }
}

/// Inline if calls fit the threshold, sliced if their slices do, else on another thread.
fn verdict(threshold: Duration, whole_ns: u64, slice_ns: Option<u64>) -> &'static str {
    let fits = |ns: u64| Duration::from_nanos(ns) <= threshold;
    match slice_ns {
        _ if fits(whole_ns) => "inline",
        Some(slice_ns) if fits(slice_ns) => "sliced",
        _ => "offload",
    }
}

/// Times of like calls.
#[derive(Debug)]
struct Times {
    ns: Vec<u64>,
    end: Instant,
}

impl Times {
    fn add(&mut self, time: Duration) {
        self.ns
            .push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    fn n(&self) -> u64 {
        self.ns.len() as u64
    }

    fn is_over(&self) -> bool {
        let n = self.ns.len();
        n >= *OPERATIONS.end() || (n >= *OPERATIONS.start() && Instant::now() >= self.end)
    }

    /// The value of a percentile, if there are enough values for it.
    fn percentile(&self, p: f64) -> Option<u64> {
        let place = rank(self.n(), p).saturating_sub(1) as usize;
        self.ns.get(place).copied()
    }

    fn p50_ns(&self) -> Option<u64> {
        self.percentile(50.0)
    }

    fn p99_ns(&self) -> Option<u64> {
        self.percentile(99.0).filter(|_| self.n() >= earned_n(99.0))
    }

    /// What verdicts depend on: the 99th percentile, or the longest time if there are too few.
    fn worst_ns(&self) -> u64 {
        self.p99_ns().or(self.ns.last().copied()).unwrap_or(0)
    }
}

/// Repeats `work`, which adds its times, until the time or the number of operations is reached.
fn measure(
    time: Duration,
    watch: &dyn Watch,
    mut work: impl FnMut(usize, &mut Times) -> Result<(), Error>,
) -> Result<Times, Error> {
    let mut times = Times {
        ns: Vec::new(),
        end: Instant::now() + time,
    };
    let mut nth = 0;
    while !times.is_over() && !watch.is_stopped() {
        work(nth, &mut times)?;
        nth += 1;
    }
    times.ns.sort_unstable();
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_threshold() {
        let of = |whole, slice| verdict(Duration::from_micros(100), whole, slice);
        assert_eq!(of(100_000, None), "inline");
        assert_eq!(of(100_001, Some(100_000)), "sliced");
        assert_eq!(of(100_001, Some(100_001)), "offload");
        assert_eq!(of(100_001, None), "offload");
    }

    #[test]
    fn a_percentile_that_is_not_earned_is_absent() {
        let times = |n: u64| Times {
            ns: (1..=n).collect(),
            end: Instant::now(),
        };
        let few = times(100);
        assert_eq!(
            (few.p50_ns(), few.p99_ns(), few.worst_ns()),
            (Some(50), None, 100)
        );
        let many = times(1000);
        assert_eq!((many.p99_ns(), many.worst_ns()), (Some(990), 990));
        // One slow call of 100 does not show that calls are slow.
        let (fit, over) = (times(49), times(50));
        let of = |ns: u64, slices| judged(Duration::from_nanos(ns), &few, slices);
        assert_eq!(of(100, None), "inline");
        assert_eq!(of(99, None), "unknown");
        assert_eq!(of(49, None), "offload");
        assert_eq!(of(49, Some(&fit)), "sliced");
        assert_eq!(of(49, Some(&over)), "unknown");
    }

    #[test]
    fn strategies_that_weigh_blocks_are_not_sliced() {
        let options = Recipe::Maximum.options(Some(1 << 20));
        assert!(!slicable(&options, 1 << 20));
        let options = Recipe::Fast.options(Some(1 << 20));
        assert!(slicable(&options, 1 << 20) && !slicable(&options, 16 << 10));
    }
}
