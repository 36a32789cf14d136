//! The tables of times, verdicts and memory, by recipe and size.

use std::time::Duration;

use latency::report::{Table, Unit};
use zstdkit::sliced::{Budget, SlicedDecoder, SlicedEncoder};
use zstdkit::{
    Compressor, DecoderOptions, Decompressor, EncoderOptions, Operation, Recipe, State, Strategy,
};

use crate::advise::answer::{Cell, answer, answer_decoding, decoding, growth};
use crate::advise::data::{Data, piece};
use crate::advise::plan::Plan;
use crate::advise::times::{Call, Times, measure};
use crate::{Checks, Context, Error, Watch};
use report::Outcome;

/// What slices are called.
const SLICES: &str = "slices of 16 KiB";

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
    let recipes = plan.recipes.iter().map(|recipe| Setting::Recipe(*recipe));
    let levels = plan.levels.iter().map(|level| Setting::Level(*level));
    for setting in recipes.chain(levels) {
        let mut medians = Vec::new();
        for &bytes in &plan.sizes {
            if context.watch.is_stopped() {
                break;
            }
            let (row, said, median) = row((plan, context.watch), data, setting, bytes, checks)?;
            compress.rows.push(row);
            outcome.findings.push(said);
            medians.extend(median);
        }
        let named = format!("`{}`", setting.name());
        outcome.findings.extend(growth(&named, &medians));
    }
    outcome.tables.push(compress);
    let mut decompress = Table::new("decompress", &DECODE_COLUMNS);
    for &bytes in &plan.sizes {
        if context.watch.is_stopped() {
            break;
        }
        let (row, said) = decode_row((plan, context.watch), data.any(), bytes, checks)?;
        decompress.rows.push(row);
        outcome.findings.push(said);
    }
    outcome.tables.push(decompress);
    Ok(())
}

/// What compresses.
#[derive(Debug, Clone, Copy)]
enum Setting {
    Recipe(Recipe),
    Level(i32),
}

impl Setting {
    fn name(self) -> String {
        match self {
            Self::Recipe(recipe) => recipe.name().to_owned(),
            Self::Level(level) => format!("level {level}"),
        }
    }

    fn options(self, bytes: usize) -> EncoderOptions {
        match self {
            Self::Recipe(recipe) => recipe.options(Some(bytes as u64)),
            Self::Level(level) => EncoderOptions::default().with_level(level),
        }
    }

    /// The recipe whose data it compresses.
    fn like(self) -> Recipe {
        match self {
            Self::Recipe(recipe) => recipe,
            Self::Level(_) => Recipe::Balanced,
        }
    }
}

/// A row of cells.
type Row = Vec<latency::report::Cell>;
/// A size with the median time.
type Median = (u64, u64);

fn row(
    (plan, watch): (&Plan, &dyn Watch),
    data: &Data,
    setting: Setting,
    bytes: usize,
    checks: &mut Checks,
) -> Result<(Row, String, Option<Median>), Error> {
    let (name, content) = data.of(setting.like());
    let bytes = bytes.min(content.len());
    let options = setting.options(bytes);
    let mut compressor = Compressor::new(&options)?;
    let mut frame = Vec::new();
    // The first call creates the tables.
    let first = piece(content, 0, bytes);
    compressor.compress_into(first, &mut frame)?;
    checks.frame(&frame, first);
    let ratio = bytes as f64 / frame.len() as f64;
    let whole = measure(plan.cell, watch, |nth, times| {
        let content = piece(content, nth, bytes);
        let call = Call::start();
        compressor.compress_into(content, &mut frame)?;
        times.add(call.took());
        Ok(())
    })?;
    let slices = match slicable(&options, bytes) {
        true => Some(slices((plan.cell, watch), content, &options, bytes)?),
        false => None,
    };
    let label = setting.name();
    let cell = Cell {
        what: &format!("at `{label}`"),
        bytes: bytes as u64,
        whole: &whole,
        slices: slices.as_ref().map(|slices| (SLICES, slices)),
    };
    let said = cell.sentence(plan.threshold);
    let median = whole.p50_ns().map(|ns| (bytes as u64, ns));
    let row = vec![
        label.into(),
        name.into(),
        (bytes as u64).into(),
        whole.n().into(),
        whole.p50_ns().into(),
        whole.p99_ns().into(),
        slices.as_ref().and_then(Times::p99_ns).into(),
        answer(plan.threshold, &whole, slices.as_ref())
            .name()
            .into(),
        answer(ASYNC_THRESHOLD, &whole, slices.as_ref())
            .name()
            .into(),
        ratio.into(),
        (compressor.memory_bytes() as u64).into(),
        options.memory_estimate_bytes(Some(bytes as u64)).into(),
    ];
    Ok((row, said, median))
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
            let call = Call::start();
            let state = encoder.step_into(&mut rest, &mut frame, Operation::End, &mut budget);
            times.add(call.took());
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
) -> Result<(Row, String), Error> {
    let first = piece(content, 0, bytes);
    let options = Recipe::Balanced.options(Some(first.len() as u64));
    let frame = zstdkit::compress(first, &options)?;
    let mut decompressor = Decompressor::new(&DecoderOptions::default())?;
    let mut back = Vec::new();
    decompressor.decompress_into(&frame, &mut back)?;
    checks.that(back == first);
    let whole = measure(plan.cell, watch, |_, times| {
        let call = Call::start();
        decompressor.decompress_into(&frame, &mut back)?;
        times.add(call.took());
        Ok(())
    })?;
    let mut decoder = SlicedDecoder::new(&DecoderOptions::default())?;
    let mut room = vec![0; 128 << 10];
    let blocks = measure(plan.cell, watch, |_, times| {
        decoder.reset();
        let mut rest = &frame[..];
        loop {
            let call = Call::start();
            let step = decoder.step(rest, &mut room, &mut Budget::slices(1));
            times.add(call.took());
            let step = step?;
            rest = &rest[step.consumed..];
            if step.state != State::MoreOutput || times.is_over() {
                return Ok(());
            }
        }
    })?;
    let said = decoding(first.len() as u64, plan.threshold, &whole, &blocks);
    let row = vec![
        (first.len() as u64).into(),
        whole.n().into(),
        whole.p50_ns().into(),
        whole.p99_ns().into(),
        blocks.p99_ns().into(),
        answer_decoding(plan.threshold, &whole).name().into(),
        answer_decoding(ASYNC_THRESHOLD, &whole).name().into(),
        (decompressor.memory_bytes() as u64).into(),
    ];
    Ok((row, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_weigh_blocks_are_not_sliced() {
        let options = Recipe::Maximum.options(Some(1 << 20));
        assert!(!slicable(&options, 1 << 20));
        let options = Recipe::Fast.options(Some(1 << 20));
        assert!(slicable(&options, 1 << 20) && !slicable(&options, 16 << 10));
    }

    #[test]
    fn a_setting_is_a_recipe_or_a_level() {
        assert_eq!(Setting::Recipe(Recipe::Fast).name(), "fast");
        assert_eq!(Setting::Level(-3).name(), "level -3");
        assert_eq!(Setting::Level(19).options(1 << 20).level, 19);
    }
}
