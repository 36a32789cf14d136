//! Flags of `advise`. Those of its streams are in [`streams`].

#[cfg(feature = "async")]
mod streams;

use std::path::PathBuf;
use std::time::Duration;

use bench::advise::Plan;
use clap::Args;
use files::conflicts::{Files, Stdout};
use zstdkit::Recipe;

use crate::args::output::OutputArgs;
use crate::args::units;
use crate::failure::{Failure, Result};

/// Sizes shown by default.
const SIZES: [u64; 5] = [2 << 10, 16 << 10, 128 << 10, 512 << 10, 4 << 20];
/// Largest content of one operation.
pub(crate) const SIZE_MAX: u64 = 64 << 20;
/// Levels of zstd and of deflate measured by default.
const LEVELS: [i32; 4] = [1, 3, 9, 19];
const ZIP_LEVELS: [i32; 3] = [1, 6, 9];
const THRESHOLD: Duration = Duration::from_millis(1);
/// The content of a stream, by default.
#[cfg(feature = "async")]
const STREAM_BYTES: u64 = 1 << 20;
const ASYNC_THRESHOLD: Duration = Duration::from_micros(100);

/// Show which calls may run in an event loop, and measure them.
///
/// First the advice, a sentence for each size with each recipe, level of zstd, and level of deflate in ZIP
/// archives, and for the validation of FIX messages: call it inline, slice it, or offload it to another thread.
/// The 99th percentile decides, with its 95 % interval: where the threshold lies within it, it says that this is
/// undecided. How the time grows with the size is said as a ratio.
///
/// The tables show the times behind it, the same verdicts for the 100 µs of an async runtime, and the memory of
/// contexts. --code prints code for tokio that decides by itself, as advised, for each call.
///
/// The stall table is measured under load: every 200 µs, another thread wakes a probe task of a tokio
/// runtime. The delay of the probe, minus its delay without load, is what the load costs other tasks.
/// The load runs always inline, always in spawn_blocking, or by the scheduler of zstdkit with its
/// threshold of 100 µs: auto with ordinary offload threads, auto_background with threads of lowest
/// priority. The modes take turns. Response times of the load count from when each operation was due;
/// offload_response is the median of spawn_blocking divided by that of the mode.
///
/// With --async, several streams are then compressed at once: in their tasks, by spawn_blocking and by
/// zstdkit's AsyncEncoder. The advice is a sentence: the fastest way that lets other tasks wait for no
/// more than 1 ms longer than in an idle runtime. Waits for memory of contexts have a table as well.
///
/// Without files the data is generated to suit the recipe: JSON lines, HTML or binary.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit advise
  perfkit advise --quick --async access.log
  perfkit advise --async --streams 64 --level 9 --no-tables --no-stalls access.log")]
pub(crate) struct AdviseArgs {
    /// Files to measure with, taken together; without any, data is generated
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Longest time that a call may keep its thread (such as 1ms, 100us)
    ///
    /// The verdicts depend on it. The default, 1 ms, is what the scheduler of an actor runtime allows.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    threshold: Option<Duration>,
    /// Use the threshold of an async runtime, 100 µs
    #[arg(long = "async", conflicts_with = "threshold")]
    for_async: bool,
    /// Only this recipe; repeatable
    #[arg(short_alias = 'r', long = "recipe", value_name = "NAME", value_parser = recipe)]
    recipes: Vec<Recipe>,
    /// Only this level of zstd; repeatable
    #[arg(long = "zstd-level", value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    levels: Vec<i32>,
    /// Only this level of deflate, in ZIP archives; repeatable
    #[arg(long = "zip-level", value_name = "N", value_parser = clap::value_parser!(i32).range(0..=10))]
    zip_levels: Vec<i32>,
    /// Print tokio code that follows advice for any data, and measure nothing
    #[arg(long, conflicts_with_all = ["files", "threshold", "for_async", "recipes", "levels", "zip_levels", "sizes"])]
    pub(crate) code: bool,
    /// Only contents of this size, up to 64M; repeatable
    #[arg(long = "size", value_name = "SIZE", value_parser = units::size)]
    sizes: Vec<u64>,
    /// Duration of each stall measurement
    #[arg(short_alias = 'd', long, value_name = "TIME", value_parser = units::duration, default_value = "1s")]
    duration: Duration,
    /// Take a fifth of the time, with rougher numbers
    #[arg(long)]
    quick: bool,
    /// Worker threads of the runtime under load
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) workers: u8,
    /// Load, in percent of one CPU
    #[arg(long, value_name = "PCT", default_value_t = 40, value_parser = clap::value_parser!(u8).range(1..=95), hide_short_help = true)]
    pub(crate) load: u8,
    /// Do not measure the tables
    #[arg(long)]
    #[cfg(feature = "async")]
    pub(crate) no_tables: bool,
    /// Do not measure stalls
    #[arg(long)]
    pub(crate) no_stalls: bool,
    /// Seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    #[cfg(feature = "async")]
    #[command(flatten)]
    streams: streams::StreamArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl AdviseArgs {
    /// The plan, or what is wrong with the flags.
    pub(crate) fn plan(&self) -> Result<Plan> {
        let mut sizes = match self.sizes.as_slice() {
            [] => SIZES.to_vec(),
            given => given.to_vec(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(size) = sizes.iter().find(|&&size| size == 0 || size > SIZE_MAX) {
            return Err(Failure::usage(format!("--size {size} is out of range"))
                .help("choose a size between 1 byte and 64M"));
        }
        let all = self.recipes.is_empty() && self.levels.is_empty() && self.zip_levels.is_empty();
        let recipes = match self.recipes.as_slice() {
            [] if all => Recipe::ALL
                .into_iter()
                .filter(|&recipe| recipe != Recipe::Auto)
                .collect(),
            given => given.to_vec(),
        };
        let default = if self.for_async {
            ASYNC_THRESHOLD
        } else {
            THRESHOLD
        };
        let run = if self.quick {
            self.duration / 5
        } else {
            self.duration
        };
        let sizes = sizes.iter().map(|&size| size as usize);
        let mut plan = Plan::new(recipes, sizes.collect());
        if all {
            plan.levels = LEVELS.to_vec();
            plan.deflate_levels = ZIP_LEVELS.to_vec();
            plan.fix = self.files.is_empty();
        } else {
            plan.levels.clone_from(&self.levels);
            plan.deflate_levels.clone_from(&self.zip_levels);
        }
        plan.threshold = self.threshold.unwrap_or(default);
        plan.cell = run.min(Duration::from_millis(500));
        plan.run = run;
        plan.stalls = !self.no_stalls;
        #[cfg(feature = "async")]
        {
            plan.tables = !self.no_tables;
            if self.for_async && !self.streams.no_streams {
                let largest = self.sizes.iter().max().copied();
                let bytes = largest.unwrap_or(STREAM_BYTES) as usize;
                plan.streams = Some(self.streams.streams(bytes)?);
            }
            if !plan.tables && !plan.stalls && plan.streams.is_none() {
                let what = "--no-tables and --no-stalls leave nothing to measure";
                return Err(Failure::usage(what).help("add --async to measure streams only"));
            }
        }
        plan.workers = self.workers.into();
        plan.load = f64::from(self.load) / 100.0;
        Ok(plan)
    }
}

fn recipe(name: &str) -> std::result::Result<Recipe, String> {
    match name.parse() {
        Ok(Recipe::Auto) => Err("auto only chooses among the other recipes: name one".to_owned()),
        Ok(recipe) => Ok(recipe),
        Err(error) => Err(zstdkit::UnknownRecipe::to_string(&error)),
    }
}

impl AdviseArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::{Command, parse};

    fn plan(line: &str) -> Option<Plan> {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&argv).map(|cli| cli.command) {
            Ok(Command::Advise(args)) => args.plan().ok(),
            _ => None,
        }
    }

    #[test]
    fn the_threshold_is_a_millisecond_or_what_async_needs() {
        let threshold = |line| plan(line).map(|plan| plan.threshold.as_micros());
        assert_eq!(threshold("perfkit advise"), Some(1000));
        assert_eq!(threshold("perfkit advise --async"), Some(100));
        assert_eq!(threshold("perfkit advise --threshold 250us"), Some(250));
        assert_eq!(threshold("perfkit advise --threshold 5"), None);
        assert_eq!(threshold("perfkit advise --async --threshold 1ms"), None);
    }

    #[test]
    fn everything_is_measured_unless_some_is_named() {
        let all = plan("perfkit advise").unwrap();
        assert_eq!((all.recipes.len(), all.sizes.len()), (6, 5));
        assert_eq!((all.levels.len(), all.deflate_levels.len()), (4, 3));
        assert!(all.fix && !plan("perfkit advise some.log").unwrap().fix);
        let levels = plan("perfkit advise --zstd-level -1 --zstd-level 19 --zip-level 9").unwrap();
        assert_eq!(
            (levels.levels, levels.deflate_levels),
            (vec![-1, 19], vec![9])
        );
        assert!(levels.recipes.is_empty() && !levels.fix);
        assert_eq!(plan("perfkit advise --zip-level 11"), None);
        let some =
            plan("perfkit advise --recipe fast -r structured-data --size 4K --size 1K").unwrap();
        assert_eq!(some.recipes, [Recipe::Fast, Recipe::StructuredData]);
        assert_eq!(some.sizes, [1024, 4096]);
        assert_eq!(plan("perfkit advise --recipe auto"), None);
        assert_eq!(plan("perfkit advise --size 65M"), None);
        assert_eq!(plan("perfkit advise --size 0"), None);
    }

    #[test]
    #[cfg(feature = "async")]
    fn streams_are_measured_for_async_only() {
        let streams = |line| plan(line).and_then(|plan| plan.streams);
        assert_eq!(streams("perfkit advise"), None);
        let usual = streams("perfkit advise --async").unwrap();
        assert_eq!((usual.count, usual.bytes, usual.level), (16, 1 << 20, 3));
        let line = "perfkit advise --async --streams 1000 --size 4K --size 256K --write 1 --flush \
                    --level 9 --memory 1G --no-tables --no-stalls";
        let own = streams(line).unwrap();
        assert_eq!(
            (own.count, own.bytes, own.write_bytes),
            (1000, 256 << 10, 1)
        );
        assert_eq!((own.flush, own.level, own.memory_bytes), (true, 9, 1 << 30));
        assert_eq!(streams("perfkit advise --async --no-streams"), None);
        // Out of range, without --async, and nothing left.
        assert_eq!(streams("perfkit advise --async --streams 0"), None);
        assert_eq!(streams("perfkit advise --async --write 0"), None);
        assert_eq!(streams("perfkit advise --async --write 65M"), None);
        assert_eq!(streams("perfkit advise --async --level 23"), None);
        for line in [
            "--streams 4",
            "--flush",
            "--no-streams",
            "--no-tables --no-stalls",
        ] {
            assert_eq!(plan(&format!("perfkit advise {line}")), None, "{line}");
        }
        assert_eq!(
            plan("perfkit advise --async --no-streams --no-tables --no-stalls"),
            None
        );
    }

    #[test]
    fn quick_is_a_fifth() {
        let plan = plan("perfkit advise --quick -d 2s").unwrap();
        assert_eq!(
            (plan.run, plan.cell),
            (Duration::from_millis(400), Duration::from_millis(400))
        );
    }
}
