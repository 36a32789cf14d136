//! `perfkit stress`: flags, and what they come to.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};
use stress::{DataKind, Faults, Loop, Pace, Plan, PoolKind, codec};

use super::output::AnalysisArgs;
use super::units;
use crate::failure::{Failure, Result};

/// How long one run takes, and one of several.
const DURATION: Duration = Duration::from_secs(10);
const DURATION_RANKED: Duration = Duration::from_secs(2);
/// A soak: a century, or until it is interrupted.
const SOAK: Duration = Duration::from_secs(100 * 365 * 86_400);
/// How often a fault comes when nothing else is said.
const EVERY: u64 = 1000;
const CONSUMER_PAUSE: Duration = Duration::from_millis(1);

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
/// codecs or pools are run one after the other and ranked.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit stress --codec zstd:1 --pool mutex --duration 5s
  perfkit stress --codec all --pool all --min-ratio 1.5 --duration 1s
  perfkit stress --codec lz4 --rate 20000 --slo 'response.p99<=5ms' --fault corrupt=500")]
pub(crate) struct StressArgs {
    /// Files to cut blocks out of, in place of --data
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Codecs: zstd[:LEVEL], lz4, snappy, gzip[:LEVEL], none, all
    ///
    /// Several are separated by commas. zstd also takes the name of a recipe (zstd:auto). There are zstd-rust, lz4-c and gzip-c too, the same formats by the other kind of library: zstd
    /// alone is the C library, lz4 and gzip are written in Rust. zstd-old is zstd with fresh contexts,
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
    /// honest, or seed: one block a producer, sent for ever
    #[arg(
        long = "loop",
        value_name = "NAME",
        default_value = "honest",
        hide_possible_values = true
    )]
    work: LoopArg,
    /// An open loop of N blocks a second
    #[arg(long, value_name = "N", overrides_with = "interval")]
    rate: Option<f64>,
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
    #[arg(long, alias = "min_ratio", value_name = "RATIO", value_parser = ratio)]
    min_ratio: Option<f64>,
    /// corrupt[=N], panic[=N], slow[=TIME], full; repeatable
    ///
    /// corrupt flips a bit of every Nth block on its way, panic has every Nth call of the codec panic
    /// (each 1000th unless given); slow has a consumer do nothing for a time after each batch (1ms);
    /// full has consumers wait until the queue is full. What they do to blocks is counted.
    #[arg(long, value_name = "FAULT", action = ArgAction::Append, value_parser = fault)]
    fault: Vec<Fault>,
    /// Serve live metrics for Prometheus at ADDRESS:PORT while it runs
    ///
    /// Counters, gauges and histograms by codec and pool, at /metrics. A port alone is on 127.0.0.1, and
    /// an address that others can reach needs --metrics-remote.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
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
    pub(crate) output: AnalysisArgs,
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

/// One thing that goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Corrupt(NonZeroU64),
    Panic(NonZeroU64),
    Slow(Duration),
    Full,
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
        let run = Plan {
            work,
            pace: self.pace(work),
            producers: self.producers,
            consumers: self.consumers,
            threads: self.threads,
            batch_blocks: self.batch,
            queue_batches: self.queue,
            data,
            bytes_min,
            bytes_max: size(self.max_size).max(bytes_min),
            seed: self.seed,
            duration: match (self.soak, self.duration) {
                (true, _) => SOAK,
                (false, Some(duration)) => duration,
                (false, None) if several => DURATION_RANKED,
                (false, None) => DURATION,
            },
            blocks_max: self.blocks,
            faults: self.faults(),
            ..Plan::default()
        };
        Ok(StressPlan {
            pairs,
            run,
            min_ratio: self.min_ratio,
            metrics: self.metrics,
        })
    }

    /// The kind of generated data, as typed.
    pub(crate) fn data_name(&self) -> &str {
        &self.data
    }

    fn pace(&self, work: Loop) -> Pace {
        match (self.rate, self.interval, self.arrivals) {
            (Some(rate), _, ArrivalsArg::Poisson) => Pace::Poisson(rate),
            (Some(rate), _, ArrivalsArg::Uniform) => Pace::Uniform(rate),
            (None, Some(interval), _) if work == Loop::Honest => {
                Pace::Uniform(f64::from(self.producers) / interval.as_secs_f64())
            }
            _ => Pace::Closed,
        }
    }

    fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        for fault in &self.fault {
            match *fault {
                Fault::Corrupt(every) => faults.corrupt_every = Some(every),
                Fault::Panic(every) => faults.panic_every = Some(every),
                Fault::Slow(pause) => faults.consumer_pause = Some(pause),
                Fault::Full => faults.full_queue = true,
            }
        }
        faults
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

fn fault(text: &str) -> std::result::Result<Fault, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let every = || match value {
        None => NonZeroU64::new(EVERY).ok_or_else(String::new),
        Some(value) => value
            .parse()
            .map_err(|_| format!("'{value}' is not a number of blocks or calls above 0")),
    };
    match (name, value) {
        ("corrupt", _) => every().map(Fault::Corrupt),
        ("panic", _) => every().map(Fault::Panic),
        ("slow", None) => Ok(Fault::Slow(CONSUMER_PAUSE)),
        ("slow", Some(value)) => units::duration(value).map(Fault::Slow),
        ("full", None) => Ok(Fault::Full),
        _ => Err("expected corrupt[=N], panic[=N], slow[=TIME] or full".to_owned()),
    }
}

/// `127.0.0.1:6060`, `[::1]:6060`, `localhost:6060`, `:6060` or `6060`.
fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    match port.strip_prefix(':').unwrap_or(port).parse() {
        Ok(port) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        Err(_) => text
            .parse()
            .map_err(|_| format!("'{text}' is no address and port (as 127.0.0.1:6060)")),
    }
}

fn ratio(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number
        .filter(|number| *number >= 0.0)
        .ok_or_else(|| format!("'{text}' is no ratio (as 1.86)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};

    fn plan(line: &str) -> Option<Result<StressPlan>> {
        let words = format!("perfkit stress {line}");
        let words: Vec<_> = words.split_whitespace().map(Into::into).collect();
        match parse(&words).map(|cli| cli.command) {
            Ok(Command::Stress(args)) => Some(args.plan()),
            _ => None,
        }
    }

    fn good(line: &str) -> StressPlan {
        plan(line).expect("parses").expect("a plan")
    }

    #[test]
    fn the_flags_of_the_program_before_keep_their_names() {
        let line = "--codec=zstd-old --producers=7 --consumers=8 --interval=10ms --min_size=10 --max_size=20";
        let plan = good(line);
        assert_eq!(plan.pairs, [("zstd".to_owned(), PoolKind::Fresh)]);
        assert_eq!((plan.run.producers, plan.run.consumers), (7, 8));
        assert_eq!((plan.run.bytes_min, plan.run.bytes_max), (10, 20));
        assert_eq!(plan.run.pace, Pace::Uniform(700.0));
        let dashes = good("--min-size 10 --max-size 20");
        assert_eq!((dashes.run.bytes_min, dashes.run.bytes_max), (10, 20));
        assert_eq!(
            good("--min-size 9K").run.bytes_max,
            9216,
            "the least counts"
        );
        assert_eq!(good("--loop seed --interval 10ms").run.pace, Pace::Closed);
        let pools = |line| {
            good(line)
                .pairs
                .into_iter()
                .map(|(_, pool)| pool)
                .collect::<Vec<_>>()
        };
        assert_eq!(pools("--codec zstd-chanpool"), [PoolKind::Queue]);
        assert_eq!(
            pools("--codec zstd-chanpool --pool mutex"),
            [PoolKind::Mutex]
        );
    }

    #[test]
    fn all_is_every_codec_and_every_sound_pool() {
        assert_eq!(
            good("--codec all --pool all").pairs.len(),
            codec::NAMES.len() * 5
        );
        assert_eq!(good("--codec zstd,zstd:9,zstd").pairs.len(), 2);
        assert_eq!(good("--codec all").run.duration, DURATION_RANKED);
        assert_eq!(good("").run.duration, DURATION);
        assert_eq!(good("--pool leaking").pairs[0].1, PoolKind::Leaking);
    }

    #[test]
    fn faults_add_up() {
        let faults = good("--fault corrupt --fault panic=7 --fault slow=2ms --fault full")
            .run
            .faults;
        assert_eq!(faults.corrupt_every, NonZeroU64::new(1000));
        assert_eq!(faults.panic_every, NonZeroU64::new(7));
        assert_eq!(faults.consumer_pause, Some(Duration::from_millis(2)));
        assert!(faults.full_queue);
        for wrong in ["", "corrupt=0", "panic=x", "slow=", "full=1", "fire"] {
            assert!(plan(&format!("--fault={wrong}")).is_none(), "{wrong}");
        }
    }

    #[test]
    fn metrics_stay_on_this_machine_unless_it_is_said() {
        let local = |text: &str| good(&format!("--metrics {text}")).metrics;
        let expected = Some(SocketAddr::from(([127, 0, 0, 1], 6060)));
        for text in ["127.0.0.1:6060", "localhost:6060", ":6060", "6060"] {
            assert_eq!(local(text), expected, "{text}");
        }
        assert!(local("[::1]:0").is_some_and(|address| address.is_ipv6()));
        for far in ["0.0.0.0:6060", "[::]:6060", "192.0.2.1:80"] {
            let refused = plan(&format!("--metrics {far}")).expect("parses");
            assert!(refused.is_err(), "{far}");
            assert!(
                good(&format!("--metrics {far} --metrics-remote"))
                    .metrics
                    .is_some()
            );
        }
        for wrong in [
            "--metrics=",
            "--metrics=example.org:80",
            "--metrics=1:2:3",
            "--metrics-remote",
        ] {
            assert!(plan(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_last_of_rate_and_interval_and_of_soak_and_duration_wins() {
        assert_eq!(
            good("--interval 1ms --rate 50").run.pace,
            Pace::Poisson(50.0)
        );
        assert_eq!(
            good("--rate 50 --arrivals uniform").run.pace,
            Pace::Uniform(50.0)
        );
        assert_eq!(
            good("--rate 50 --interval 1s --producers 3").run.pace,
            Pace::Uniform(3.0)
        );
        assert_eq!(good("--duration 1s --soak").run.duration, SOAK);
        assert_eq!(good("--soak -d 1s").run.duration, Duration::from_secs(1));
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_any_work() {
        for line in [
            "--codec zip",
            "--codec zstd:99",
            "--pool pond",
            "--soak --codec all",
            "--data x",
        ] {
            assert!(plan(line).expect("parses").is_err(), "{line}");
        }
        for line in [
            "--min-ratio x",
            "--min-ratio=-1",
            "--loop best",
            "--data json file",
        ] {
            assert!(plan(line).is_none(), "{line}");
        }
    }
}
