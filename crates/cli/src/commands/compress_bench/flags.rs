//! `perfkit compress-bench`: its flags, and the plan that they give.

use std::path::PathBuf;
use std::time::Duration;

use bench::compress::{Candidate, Mode, Plan};
use clap::{ArgAction, Args};
use files::conflicts::{Files, Stdout};
use zstdkit::{EncoderOptions, Recipe};

use crate::args::live::LiveArgs;
use crate::args::output::OutputArgs;
use crate::args::settings::{Compat, RecipePlan};
use crate::args::{levels, units};
use crate::failure::{Failure, Result};

/// Levels measured by default: the ends, the default, and one between.
const LEVELS: [i32; 4] = [1, 3, 9, 19];
/// The first level of a range without -b.
const LEVEL_DEFAULT: i32 = 3;
/// Longest time per candidate.
const SECONDS_MAX: f64 = 86_400.0;
/// Smallest and largest block.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 16..=1 << 30;
/// Smallest and largest size of each kind of generated data.
const SIZE_BYTES: std::ops::RangeInclusive<u64> = 1024..=1 << 30;

/// Measure levels and recipes on your data, and rank them.
///
/// Measures each FILE separately, a directory (-r) as one input; without FILE, six kinds of generated
/// data. All candidates take turns in random order in many rounds, so that a busy machine affects all
/// of them equally. Speeds are medians over the rounds, in wall time and CPU time, with the slowest
/// and the fastest round. All output is decompressed and compared, untimed.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit compress-bench --level 1-9 access.log --export-json bench.json
  perfkit compress-bench --level 1-19 --recipes --pareto -B 16K,128K -r logs/ --rank-at 4
  perfkit compress-bench --matrix --recipe-compat exzstandard --duration 5s picture.png page.html")]
pub(crate) struct CompressBenchArgs {
    /// Files to measure; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Measure level N, or from N to -e, as the zstd program has it
    #[arg(
        short = 'b',
        value_name = "N",
        allow_negative_numbers = true,
        hide = true
    )]
    begin: Option<i32>,
    /// Measure up to level N, as the zstd program has it
    #[arg(
        short = 'e',
        value_name = "N",
        allow_negative_numbers = true,
        hide = true
    )]
    end: Option<i32>,
    /// Measure this level, or those of a range such as 1-9; repeatable
    ///
    /// -b1 -e9, as the zstd program has it, is the same range.
    #[arg(long, value_name = "N[-M]", action = ArgAction::Append, allow_negative_numbers = true, value_parser = level_range)]
    level: Vec<(i32, i32)>,
    /// Measure a level below 1 as well; repeatable
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", action = ArgAction::Append)]
    fast: Vec<u32>,
    /// Allow levels 20 to 22
    #[arg(long, overrides_with = "_no_ultra")]
    ultra: bool,
    #[arg(long = "no-ultra", overrides_with = "ultra", hide = true)]
    _no_ultra: bool,
    /// Measure all recipes
    #[arg(long, overrides_with = "_no_recipes")]
    recipes: bool,
    #[arg(long = "no-recipes", overrides_with = "recipes", hide = true)]
    _no_recipes: bool,
    /// Measure this recipe as well; repeatable
    ///
    /// fast, balanced, binary, text, structured_data, maximum, or auto, which chooses one of them by
    /// the first block of each input.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    recipe: Vec<Recipe>,
    /// Also measure another program's recipes of the same names
    ///
    /// In the tables their names start with `exz`.
    #[arg(long, value_name = "PROGRAM", value_enum, hide_short_help = true)]
    recipe_compat: Option<Compat>,
    /// Time per candidate and input
    ///
    /// There is always at least one pass over the whole input, however long it takes.
    #[arg(short_alias = 'i', long, value_name = "TIME", default_value = "1s", value_parser = seconds)]
    duration: Duration,
    /// Cut inputs into blocks, one operation each
    ///
    /// Several sizes, separated by commas, are measured one after another. Without -B an operation is a
    /// whole file.
    #[arg(short = 'B', long, value_name = "SIZE", value_delimiter = ',', value_parser = block)]
    block_size: Vec<u64>,
    /// Threads for compression; 0: one per CPU
    #[arg(short = 'T', long, value_name = "N", default_value_t = 1)]
    threads: u32,
    /// Dictionary for both directions
    #[arg(short = 'D', long, value_name = "FILE", overrides_with = "dictionary")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Take directories as inputs
    #[arg(short, long, overrides_with = "_no_recursive")]
    pub(crate) recursive: bool,
    #[arg(long = "no-recursive", overrides_with = "recursive", hide = true)]
    _no_recursive: bool,
    /// Use streams of unknown size, in calls of 128 KiB
    #[arg(long, overrides_with = "_no_streaming")]
    streaming: bool,
    #[arg(long = "no-streaming", overrides_with = "streaming", hide = true)]
    _no_streaming: bool,
    /// Measure each candidate one-shot and streamed, both ways, with percentiles and memory
    ///
    /// A stream has an unknown size and is flushed after every 128 KiB; its row is about one such
    /// chunk, in both directions. Without named candidates, all recipes are measured. The tables show
    /// how long a call takes (p50, p99), and the predicted and the real memory of contexts.
    #[arg(
        long,
        overrides_with = "_no_matrix",
        conflicts_with_all = ["streaming", "decompress_only"]
    )]
    matrix: bool,
    #[arg(long = "no-matrix", overrides_with = "matrix", hide = true)]
    _no_matrix: bool,
    /// Measure only decompression
    ///
    /// zstd files are decompressed frame by frame; other files are compressed first, untimed.
    #[arg(long, overrides_with = "_no_decompress_only")]
    decompress_only: bool,
    #[arg(
        long = "no-decompress-only",
        overrides_with = "decompress_only",
        hide = true
    )]
    _no_decompress_only: bool,
    /// Rank candidates of at least RATIO, fastest first
    ///
    /// By bytes per CPU-second. Separate several ratios by commas. A candidate that is slower than the
    /// first by less than the noise counts as equally good.
    #[arg(long, value_name = "RATIO", value_delimiter = ',', value_parser = ratio)]
    rank_at: Vec<f64>,
    /// Mark candidates that others beat in ratio and speed
    ///
    /// A candidate is dominated if another has at least its ratio, and processes more bytes per
    /// CPU-second by more than the noise: the larger spread of the two, from slowest to fastest round,
    /// as a share of the median. With fewer than three rounds the spread counts as 25 %.
    #[arg(long, overrides_with = "_no_pareto")]
    pareto: bool,
    #[arg(long = "no-pareto", overrides_with = "pareto", hide = true)]
    _no_pareto: bool,
    /// Bytes of each kind of generated data
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size, hide_short_help = true)]
    pub(crate) size: u64,
    /// Seed of the random order and of generated data
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// One way to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A level of zstd.
    Level(i32),
    /// A recipe.
    Recipe(RecipePlan),
}

impl Choice {
    /// The same as settings to measure.
    fn candidate(self) -> Candidate<'static> {
        Candidate::new(self.name(), move |first, content_bytes| match self {
            Self::Level(level) => EncoderOptions::default().with_level(level),
            Self::Recipe(recipe) => recipe.options(first, content_bytes),
        })
    }

    /// What it is called in tables.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Level(level) if level < 0 => format!("fast {}", level.unsigned_abs()),
            Self::Level(level) => format!("level {level}"),
            Self::Recipe(RecipePlan { recipe, compat, .. }) => match compat {
                None => recipe.name().to_owned(),
                Some(Compat::Exzstandard) => format!("exz {}", recipe.name()),
            },
        }
    }
}

impl CompressBenchArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<Plan<'static>> {
        let mut block_bytes: Vec<Option<usize>> = Vec::new();
        for size in self.block_size.iter().map(|size| *size as usize) {
            if !block_bytes.contains(&Some(size)) {
                block_bytes.push(Some(size));
            }
        }
        if block_bytes.is_empty() {
            block_bytes.push(None);
        }
        let candidates = self.choices()?.into_iter().map(Choice::candidate);
        let mut plan = Plan::new(candidates.collect());
        plan.time = self.duration;
        plan.block_bytes = block_bytes;
        plan.threads = levels::threads(self.threads)?;
        plan.modes = self.modes();
        plan.matrix = self.matrix;
        plan.decompress_only = self.decompress_only;
        plan.rank_at.clone_from(&self.rank_at);
        plan.pareto = self.pareto;
        plan.seed = self.seed;
        Ok(plan)
    }

    fn modes(&self) -> Vec<Mode> {
        match (self.matrix, self.streaming) {
            (true, _) => vec![Mode::Whole, Mode::Flushed],
            (_, true) => vec![Mode::Stream],
            _ => vec![Mode::Whole],
        }
    }

    fn choices(&self) -> Result<Vec<Choice>> {
        let mut found = Vec::new();
        for n in &self.fast {
            found.push(Choice::Level(levels::fast(*n)?));
        }
        if let Some((begin, end)) = self.range() {
            found.extend(self.between(begin, end, &format!("-b{begin} -e{end}"))?);
        }
        for (first, last) in &self.level {
            found.extend(self.between(*first, *last, &format!("{first}-{last}"))?);
        }
        found.extend(self.recipe_choices(self.matrix && found.is_empty()));
        if found.is_empty() {
            found.extend(LEVELS.map(Choice::Level));
        }
        let mut choices = Vec::with_capacity(found.len());
        for choice in found {
            if !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        Ok(choices)
    }

    /// The named recipes, or all by default.
    fn recipe_choices(&self, default: bool) -> Vec<Choice> {
        let default = default || self.recipe_compat.is_some();
        let all = self.recipes || (default && self.recipe.is_empty());
        let recipes = match all {
            true => Recipe::ALL.to_vec(),
            false => self.recipe.clone(),
        };
        // The other program has no `auto`.
        let theirs = |recipe: &&Recipe| **recipe != Recipe::Auto;
        let theirs = recipes
            .iter()
            .filter(theirs)
            .map(|r| (*r, self.recipe_compat));
        let theirs = theirs.filter(|(_, compat)| compat.is_some());
        let all = recipes.iter().map(|recipe| (*recipe, None)).chain(theirs);
        all.map(|(recipe, compat)| {
            Choice::Recipe(RecipePlan {
                recipe,
                level: None,
                compat,
            })
        })
        .collect()
    }

    /// The range of `-b` and `-e`.
    fn range(&self) -> Option<(i32, i32)> {
        match (self.begin, self.end) {
            (None, None) => None,
            (Some(begin), None) => Some((begin, begin)),
            (begin, Some(end)) => Some((begin.unwrap_or(LEVEL_DEFAULT), end)),
        }
    }

    /// The levels of a range, which is named as it was typed.
    fn between(&self, first: i32, last: i32, typed: &str) -> Result<Vec<Choice>> {
        levels::level(first, self.ultra)?;
        levels::level(last, self.ultra)?;
        if first > last {
            return Err(Failure::usage(format!("{typed} is no range of levels"))
                .help("a range goes up, such as 1-19"));
        }
        if last.abs_diff(first) > 64 {
            return Err(Failure::usage(format!("{typed} are too many levels"))
                .help("name at most 64, or single ones with --level and --fast=N"));
        }
        let levels = (first..=last).filter(|level| *level != 0 || first == last);
        Ok(levels.map(Choice::Level).collect())
    }
}

/// `5`, or `1-9`.
fn level_range(text: &str) -> std::result::Result<(i32, i32), String> {
    let wrong = || format!("'{text}' is not a level or a range of levels (such as 5 or 1-9)");
    if let Ok(level) = text.parse() {
        return Ok((level, level));
    }
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u16>().map(i32::from).map_err(|_| wrong());
    Ok((number(first)?, number(last)?))
}

/// A time, or a number of seconds as the zstd program takes it.
fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let Ok(number) = text.parse::<f64>() else {
        return units::duration(text);
    };
    if (0.0..=SECONDS_MAX).contains(&number) {
        Ok(Duration::from_secs_f64(number))
    } else {
        Err("expected 0 to 86400 seconds".to_owned())
    }
}

fn ratio(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite());
    number
        .filter(|number| *number >= 0.0)
        .ok_or_else(|| format!("'{text}' is not a ratio (such as 3 or 2.5)"))
}

fn block(text: &str) -> std::result::Result<u64, String> {
    within(text, BLOCK_BYTES, "a block has 16 bytes to 1 GiB")
}

fn size(text: &str) -> std::result::Result<u64, String> {
    within(text, SIZE_BYTES, "expected 1 KiB to 1 GiB")
}

fn within(
    text: &str,
    range: std::ops::RangeInclusive<u64>,
    rule: &str,
) -> std::result::Result<u64, String> {
    units::size(text).and_then(|bytes| match range.contains(&bytes) {
        true => Ok(bytes),
        false => Err(rule.to_owned()),
    })
}

impl CompressBenchArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, self.recursive)
            .reads_some("--dictionary", &self.dictionary)
            .stdout(Stdout::Report)
    }
}

#[cfg(test)]
mod tests;
