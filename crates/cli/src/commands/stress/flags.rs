//! `perfkit stress`: flags, and what they come to. What single words mean is in [`words`].

impl StressArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report)
    }
}

#[cfg(test)]
mod tests;
mod words;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};
use stress::{DataKind, Loop, Pace, Plan, PoolKind, codec};

use crate::args::output::OutputArgs;
use crate::args::units;
use crate::commands::stress::flags::words::Fault;
pub(crate) use crate::commands::stress::flags::words::Rate;
use crate::failure::{Failure, Result};
use crate::io::conflicts::{Files, Stdout};

/// How long one run takes, and one of several.
const DURATION: Duration = Duration::from_secs(10);
const DURATION_RANKED: Duration = Duration::from_secs(2);
/// A soak: a century, or until it is interrupted.
const SOAK: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Codecs of a program whose load this repeats, by the names that it has for them: what each is here.
const ALIASES: [(&str, &str, PoolKind); 3] = [
    ("zstd-old", "zstd", PoolKind::Fresh),
    ("zstd-fixed", "zstd", PoolKind::Sharded),
    ("zstd-chanpool", "zstd", PoolKind::Queue),
];

/// Put codecs and pools under load: do they hold, do they leak?
///
/// Producers generate and compress blocks, consumers decompress and compare every one of them. Both are
/// tasks over a few threads. The report has latencies of each direction, bytes a CPU-second with the
/// ratio beside them, what contexts held, and a verdict on leaks: exit 4 names what grew. Several
/// codecs or pools take turns in rounds and are ranked.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit stress --codec zstd:1 --pool mutex --duration 5s
  perfkit stress --codec all --pool all --min-ratio 1.5 --duration 1s
  perfkit stress --codec zstd:1 --rate 50%,80%,95%,120% --duration 2s
  perfkit stress --codec lz4 --rate 20000 --slo 'response.p99<=5ms' --fault corrupt=500")]
pub(crate) struct StressArgs {
    /// Files to cut blocks out of, in place of --data
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Codecs: zstd[:LEVEL], lz4, snappy, gzip[:LEVEL], none, all
    ///
    /// Several are separated by commas. zstd also takes the name of a recipe (zstd:auto). There are zstd-rust, lz4-c and gzip-c too, the same formats by the other kind of library: zstd
    /// alone is the C library, lz4 and gzip are written in Rust. A build with the feature brotli has
    /// brotli[:QUALITY]. zstd-old is zstd with fresh contexts,
    /// zstd-fixed with sharded ones, zstd-chanpool with a queue of them, unless --pool says otherwise.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "zstd"
    )]
    codec: Vec<String>,
    /// Pools: fresh, thread-local, mutex, queue, sharded, leaking, or all but that
    ///
    /// fresh makes a context for each call; queue is a bounded queue without locks; leaking loses one
    /// context in 256 calls, to show that it is found.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pool: Vec<String>,
    /// Producers
    #[arg(long, value_name = "N", default_value_t = 100)]
    producers: u32,
    /// Consumers
    #[arg(long, value_name = "N", default_value_t = 100)]
    consumers: u32,
    /// Threads that they take turns on, 0 for one a processor
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    threads: usize,
    /// Least content of a block
    #[arg(long, alias = "min_size", value_name = "SIZE", default_value = "2048", value_parser = units::size)]
    min_size: u64,
    /// Content below this, if more
    #[arg(long, alias = "max_size", value_name = "SIZE", default_value = "2048", value_parser = units::size)]
    max_size: u64,
    /// Content: uuid, json, log, html, source, binary, random, zeros
    #[arg(
        long,
        value_name = "KIND",
        default_value = "uuid",
        conflicts_with = "files"
    )]
    data: String,
    /// honest (the default), or seed: one block for ever
    ///
    /// The seed loop compresses one block a producer and sends it again and again.
    #[arg(
        long = "loop",
        value_name = "NAME",
        default_value = "honest",
        hide_default_value = true,
        hide_possible_values = true
    )]
    work: LoopArg,
    /// An open loop: blocks a second, or N% of capacity
    ///
    /// For a share, or several rates separated by commas, a closed loop runs first and shows what this
    /// machine can do. Each rate is then a run of its own.
    #[arg(
        long,
        value_name = "N[%]",
        value_delimiter = ',',
        value_parser = words::rate,
        overrides_with = "interval"
    )]
    rate: Vec<Rate>,
    /// An open loop of one block a producer every TIME
    ///
    /// In the seed loop it does nothing, as in the program that the loop repeats.
    #[arg(long, value_name = "TIME", value_parser = units::duration, overrides_with = "rate")]
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
    /// How long, each; 10s, or 2s of several
    #[arg(short, long, value_name = "TIME", value_parser = units::duration, overrides_with = "soak")]
    duration: Option<Duration>,
    /// Until it is interrupted
    #[arg(long, overrides_with = "duration")]
    soak: bool,
    /// Stop after N blocks
    #[arg(long, value_name = "N", hide_short_help = true)]
    blocks: Option<u64>,
    /// Exit 4 below this ratio; not in the ranking then
    #[arg(long, alias = "min_ratio", value_name = "RATIO", value_parser = words::ratio)]
    min_ratio: Option<f64>,
    /// corrupt[=N], panic[=N], slow[=TIME], full; repeatable
    ///
    /// corrupt flips a bit of every Nth block on its way, panic has every Nth call of the codec panic
    /// (each 1000th unless given); slow has a consumer do nothing for a time after each batch (1ms);
    /// full has consumers wait until the queue is full. What they do to blocks is counted.
    #[arg(long, value_name = "FAULT", action = ArgAction::Append, value_parser = words::fault)]
    fault: Vec<Fault>,
    /// Serve live metrics for Prometheus at HOST:PORT
    ///
    /// Counters, gauges and histograms by codec and pool, at /metrics. A port alone is on 127.0.0.1, and
    /// an address that others can reach needs --metrics-remote.
    #[arg(long, value_name = "ADDRESS", value_parser = words::address)]
    metrics: Option<SocketAddr>,
    /// Let --metrics be reached from other machines, by anyone
    #[arg(long, requires = "metrics", hide_short_help = true)]
    metrics_remote: bool,
    /// Blocks that are sent together
    #[arg(long, value_name = "N", hide_short_help = true)]
    batch: Option<usize>,
    /// Batches that may wait
    #[arg(long, value_name = "N", hide_short_help = true)]
    queue: Option<usize>,
    /// Seed of contents and arrivals
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LoopArg {
    /// Each block is generated, compressed, sent, decompressed and verified
    Honest,
    /// Each producer compresses one block and sends it for ever
    Seed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArrivalsArg {
    /// At exponentially distributed distances
    Poisson,
    /// At equal distances
    Uniform,
}

/// What `stress` shall do, free of spelling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StressPlan {
    /// Codecs and their pools, each pair once.
    pub(crate) pairs: Vec<(String, PoolKind)>,
    /// Everything else of a run. Threads are 0 for one a processor.
    pub(crate) run: Plan,
    /// Least ratio.
    pub(crate) min_ratio: Option<f64>,
    /// Where live metrics are served.
    pub(crate) metrics: Option<SocketAddr>,
    /// Open loops to run one after the other, each at its rate; none: the one run that there is.
    pub(crate) rates: Vec<Rate>,
    /// Whether their blocks are due at equal distances.
    uniform: bool,
}

impl StressPlan {
    /// The pace of so many blocks a second.
    pub(crate) fn paced(&self, per_s: f64) -> Pace {
        match self.uniform {
            true => Pace::Uniform(per_s),
            false => Pace::Poisson(per_s),
        }
    }
}

impl StressArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<StressPlan> {
        let pairs = self.pairs()?;
        let several = pairs.len() > 1;
        if several && self.soak {
            return Err(Failure::usage("--soak is for one codec and one pool")
                .help("name one of each, or give a --duration"));
        }
        let sweep = match self.rate[..] {
            [] | [Rate::PerSecond(_)] => &[],
            ref rates => rates,
        };
        if !sweep.is_empty() && (several || self.soak) {
            return Err(
                Failure::usage("several rates are for one codec and one pool")
                    .help("name one of each, and give a --duration"),
            );
        }
        let far = |address: &SocketAddr| !address.ip().is_loopback() && !self.metrics_remote;
        if let Some(address) = self.metrics.filter(far) {
            return Err(Failure::usage(format!(
                "--metrics {address} can be reached from other machines"
            ))
            .help("use 127.0.0.1, or add --metrics-remote if that is meant"));
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
        let run = Plan::default()
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
            .faults(words::faults(&self.fault));
        Ok(StressPlan {
            pairs,
            run,
            min_ratio: self.min_ratio,
            metrics: self.metrics,
            rates: sweep.to_vec(),
            uniform: self.arrivals == ArrivalsArg::Uniform,
        })
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
            let own = alias.map_or(Plan::default().pool, |(.., pool)| *pool);
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
