//! `perfkit stress`: its flags, and the plan that they give. [`parse`] parses their values.

impl StressArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self
            .output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report);
        #[cfg(feature = "workers")]
        let files = self.access.files(files);
        files
    }
}

#[cfg(feature = "workers")]
pub(crate) mod agents;
mod parse;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bench::stress::{Plan, Rate};
use clap::{ArgAction, Args, ValueEnum};
use stress::{DataKind, Loop, Pace, Plan as Load, PoolKind, codec};

use files::conflicts::{Files, Stdout};

use crate::args::live::LiveArgs;
use crate::args::metrics::MetricsArgs;
use crate::args::output::OutputArgs;
use crate::args::units;
use crate::commands::stress::flags::parse::Fault;
use crate::failure::{Failure, Result};

/// Default duration of a single run, and of each of several runs.
const DURATION: Duration = Duration::from_secs(10);
const DURATION_RANKED: Duration = Duration::from_secs(2);
/// Duration of a soak: a century, that is, until it is interrupted.
pub(crate) const SOAK: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Codec names of the program whose load `--loop seed` repeats, with our codec and pool for each.
const ALIASES: [(&str, &str, PoolKind); 3] = [
    ("zstd-old", "zstd", PoolKind::Fresh),
    ("zstd-fixed", "zstd", PoolKind::Sharded),
    ("zstd-chanpool", "zstd", PoolKind::Queue),
];

/// Put codecs and pools under load: do they err, do they leak?
///
/// Producers generate and compress blocks; consumers decompress and compare every block. Both are
/// tasks on a few threads. The report has latencies of both directions, bytes per CPU-second with the
/// ratio, the memory of contexts, and a verdict on leaks: exit 4, and it names what grew. Several
/// codecs or pools take turns in rounds and are ranked.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit stress --codec zstd:1 --pool mutex --duration 5s
  perfkit stress --codec all --pool all --min-ratio 1.5 --duration 1s
  perfkit stress --codec zstd:1 --rate 50%,80%,95%,120% --duration 2s
  perfkit stress --codec lz4 --rate 20000 --slo 'response.p99<=5ms' --fault corrupt=500")]
pub(crate) struct StressArgs {
    /// Files to take blocks from, instead of --data
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Codecs: zstd[:LEVEL], lz4, snappy, gzip[:LEVEL], none, all
    ///
    /// Separate several by commas. zstd also takes the name of a recipe (zstd:auto). zstd is the C
    /// library, and zstd-rust is in Rust; lz4 and gzip are in Rust, and lz4-c and gzip-c are C
    /// libraries. A build with the feature brotli has brotli[:QUALITY]. zstd-old is zstd with fresh
    /// contexts, zstd-fixed with sharded ones, zstd-chanpool with a queue, unless --pool is given.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "zstd"
    )]
    codec: Vec<String>,
    /// Pools: fresh, thread-local, mutex, queue, sharded, leaking, or all
    ///
    /// fresh makes a context for each call; queue is a bounded lock-free queue; leaking loses one
    /// context in 256 calls, to show that leaks are found. all is every pool except leaking.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pool: Vec<String>,
    /// Number of producers
    #[arg(long, value_name = "N", default_value_t = 100)]
    producers: u32,
    /// Number of consumers
    #[arg(long, value_name = "N", default_value_t = 100)]
    consumers: u32,
    /// Threads that producers and consumers share; 0: one per CPU
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    threads: usize,
    /// Smallest block
    #[arg(long, alias = "min_size", value_name = "SIZE", default_value = "2048", value_parser = units::size)]
    min_size: u64,
    /// Limit of block sizes, exclusive, if above --min-size
    #[arg(long, alias = "max_size", value_name = "SIZE", default_value = "2048", value_parser = units::size,
          hide_short_help = true)]
    max_size: u64,
    /// Data: uuid, json, log, html, source, binary, random or zeros
    #[arg(
        long,
        value_name = "KIND",
        default_value = "uuid",
        conflicts_with = "files"
    )]
    data: String,
    /// honest (the default), or seed: repeat one block
    ///
    /// In the seed loop, each producer compresses one block and sends it again and again.
    #[arg(
        long = "loop",
        value_name = "NAME",
        default_value = "honest",
        hide_default_value = true,
        hide_possible_values = true
    )]
    work: LoopArg,
    /// Open loop: N blocks per second, or N% of capacity
    ///
    /// For a percentage, or for several rates separated by commas, a closed loop runs first to measure
    /// the capacity. Each rate is then a separate run.
    #[arg(
        long,
        value_name = "N[%]",
        value_delimiter = ',',
        value_parser = parse::rate,
        overrides_with = "interval"
    )]
    rate: Vec<Rate>,
    /// Open loop: each producer sends one block every TIME
    ///
    /// Has no effect with --loop seed.
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = units::duration, overrides_with = "rate")]
    interval: Option<Duration>,
    /// When blocks of --rate are due: poisson or uniform
    #[arg(
        long,
        value_name = "HOW",
        default_value = "poisson",
        hide_possible_values = true,
        hide_short_help = true
    )]
    arrivals: ArrivalsArg,
    /// Duration of each run: 10s, or 2s if there are several
    #[arg(short_alias = 'd', long, value_name = "TIME", value_parser = units::duration, overrides_with = "soak")]
    duration: Option<Duration>,
    /// Run until interrupted
    #[arg(long, overrides_with = "duration", hide_short_help = true)]
    soak: bool,
    /// Stop after N blocks
    #[arg(long, value_name = "N", hide_short_help = true)]
    blocks: Option<u64>,
    /// Exit 4 below this ratio, and do not rank the codec
    ///
    /// Without this flag, codecs with a ratio below 1.1 have no rank, and nothing fails.
    #[arg(long, alias = "min_ratio", value_name = "RATIO", value_parser = parse::ratio)]
    min_ratio: Option<f64>,
    /// corrupt[=N], panic[=N], slow[=TIME], full; repeatable
    ///
    /// corrupt flips a bit in every Nth block in transit; panic makes every Nth call of the codec panic
    /// (N is 1000 by default); slow makes consumers pause after each batch (1ms by default); full makes
    /// consumers wait until the queue is full. The report counts what became of the blocks.
    #[arg(long, value_name = "FAULT", action = ArgAction::Append, value_parser = parse::fault)]
    fault: Vec<Fault>,
    #[command(flatten)]
    metrics: MetricsArgs,
    /// Blocks per batch
    #[arg(long, value_name = "N", hide_short_help = true)]
    batch: Option<usize>,
    /// Capacity of the queue, in batches
    #[arg(long, value_name = "N", hide_short_help = true)]
    queue: Option<usize>,
    /// Seed of contents and arrivals
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    #[cfg(feature = "workers")]
    #[command(flatten)]
    pub(crate) agents: agents::AgentsArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    // Last, for its heading holds for what follows.
    #[cfg(feature = "workers")]
    #[command(flatten)]
    pub(crate) access: crate::args::nats::AccessArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LoopArg {
    /// Each block is generated, compressed, sent, decompressed and verified
    Honest,
    /// Each producer compresses one block and sends it again and again
    Seed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArrivalsArg {
    /// At exponentially distributed intervals
    Poisson,
    /// At equal intervals; threads take turns
    Uniform,
}

/// What `stress` is to do, whatever the flags were called. 0 threads means one per CPU.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StressPlan {
    /// What is put under load.
    pub(crate) plan: Plan,
    /// Where live metrics are served.
    pub(crate) metrics: Option<SocketAddr>,
}

impl StressArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<StressPlan> {
        let pairs = self.pairs()?;
        let several = pairs.len() > 1;
        if several && self.soak {
            return Err(
                Failure::usage("--soak needs exactly one codec and one pool")
                    .help("name one of each, or use --duration"),
            );
        }
        let sweep = match self.rate[..] {
            [] | [Rate::PerSecond(_)] => &[],
            ref rates => rates,
        };
        if !sweep.is_empty() && (several || self.soak) {
            return Err(Failure::usage(
                "several rates need exactly one codec and one pool, without --soak",
            )
            .help("name one of each, and use --duration"));
        }
        let data: DataKind = self
            .data
            .parse()
            .map_err(|error| Failure::usage(format!("--data '{}': {error}", self.data)))?;
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let bytes_min = size(self.min_size);
        let work = match self.work {
            LoopArg::Honest => Loop::Honest,
            LoopArg::Seed => Loop::Seed,
        };
        let run = Load::default()
            .work(work)
            .pace(self.pace(work))
            .producers(self.producers)
            .consumers(self.consumers)
            .threads(self.threads)
            .batch_blocks(self.batch)
            .queue_batches(self.queue)
            .data(data)
            .block_bytes(bytes_min, size(self.max_size).max(bytes_min))
            .seed(self.seed)
            .duration(match (self.soak, self.duration) {
                (true, _) => SOAK,
                (false, Some(duration)) => duration,
                (false, None) if several || !sweep.is_empty() => DURATION_RANKED,
                (false, None) => DURATION,
            })
            .blocks_max(self.blocks)
            .faults(parse::faults(&self.fault));
        let mut plan = Plan::new(pairs, run);
        plan.min_ratio = self.min_ratio;
        plan.rates = sweep.to_vec();
        plan.uniform = self.arrivals == ArrivalsArg::Uniform;
        Ok(StressPlan {
            plan,
            metrics: self.metrics()?,
        })
    }

    /// Where live metrics are served, if that is as safe as it was asked to be.
    pub(crate) fn metrics(&self) -> Result<Option<SocketAddr>> {
        self.metrics.address()
    }

    /// The kind of generated data, as typed.
    pub(crate) fn data_name(&self) -> &str {
        &self.data
    }

    fn pace(&self, work: Loop) -> Pace {
        match (&self.rate[..], self.interval, self.arrivals) {
            ([Rate::PerSecond(rate)], _, ArrivalsArg::Poisson) => Pace::Poisson(*rate),
            ([Rate::PerSecond(rate)], _, ArrivalsArg::Uniform) => Pace::Uniform(*rate),
            ([], Some(interval), _) if work == Loop::Honest => {
                Pace::Uniform(f64::from(self.producers) / interval.as_secs_f64())
            }
            _ => Pace::Closed,
        }
    }

    fn pairs(&self) -> Result<Vec<(String, PoolKind)>> {
        let pools = self.pools()?;
        let mut pairs = Vec::new();
        for name in &self.codec {
            let alias = ALIASES.iter().find(|(alias, ..)| alias == name);
            let codecs: Vec<&str> = match (alias, name.as_str()) {
                (Some((_, codec, _)), _) => vec![codec],
                (None, "all") => codec::NAMES.to_vec(),
                (None, name) => vec![name],
            };
            let own = alias.map_or(Load::default().pool, |(.., pool)| *pool);
            let pools = if pools.is_empty() { &vec![own] } else { &pools };
            for codec in codecs {
                codec::by_name(codec).map_err(|error| {
                    Failure::usage(error.to_string()).help("see `perfkit stress --help`")
                })?;
                let new = pools.iter().map(|pool| (codec.to_owned(), *pool));
                for pair in new {
                    if !pairs.contains(&pair) {
                        pairs.push(pair);
                    }
                }
            }
        }
        Ok(pairs)
    }

    fn pools(&self) -> Result<Vec<PoolKind>> {
        let mut pools = Vec::new();
        for name in &self.pool {
            match name.as_str() {
                "all" => {
                    let sound = PoolKind::ALL.into_iter();
                    pools.extend(sound.filter(|pool| *pool != PoolKind::Leaking));
                }
                name => pools.push(name.parse().map_err(|expected| {
                    Failure::usage(format!("unknown pool '{name}': {expected}, all"))
                        .help("see `perfkit stress --help`")
                })?),
            }
        }
        Ok(pools)
    }
}
