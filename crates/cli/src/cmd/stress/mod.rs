//! `perfkit stress`: codecs and pools under load, each pair in a run of its own.
//!
//! The runs are `perfkit-stress`'s. [`lines`] says on the way how it goes, [`metrics`] tells a scraper,
//! [`tables`] shows what was found, [`verdict`] what it means for the exit code. What connects them is
//! here.

mod lines;
mod metrics;
mod tables;
mod verdict;

use std::ffi::OsString;
use std::time::Duration;

use latency::report::{Input, LatencyName, Load, LoadModel};
use stress::{DataKind, Finding, Loop, Pace, Plan, PoolKind, codec};

use self::lines::Lines;
use self::metrics::Metrics;
pub(super) use self::tables::{Row, ranking};
pub(super) use self::verdict::unexpected;
use super::checks::Checks;
use super::content;
use crate::args::stress::{StressArgs, StressPlan};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;

/// Runs the command.
pub(crate) fn run(args: &StressArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let mut plan = args.plan()?;
    if plan.run.threads == 0 {
        plan.run.threads = std::thread::available_parallelism().map_or(1, usize::from);
    }
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: match plan.run.pace {
            Pace::Closed => &[LatencyName::Service],
            _ => &[LatencyName::Response, LatencyName::Service],
        },
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("stress");
    if args.files.is_empty() {
        let data = args.data_name();
        note_generated(&mut outcome, data);
    } else {
        let bytes = content::read(&args.files, &mut outcome)?;
        outcome.bytes_in = 0;
        plan.run.data = DataKind::Bytes(bytes.into());
    }
    plan.run.intervals = session.intervals();
    describe(&plan, &mut outcome);
    let said = args.output.terminal.wants_warnings();
    let metrics = match plan.metrics {
        Some(address) => Some(Metrics::start(address, said)?),
        None => None,
    };
    plan.run.live = metrics.is_some();
    let rows = measure(&plan, said, metrics.as_ref(), &mut outcome)?;
    verdict::conclude(&rows, plan.min_ratio, &mut outcome);
    session.finish(outcome)
}

/// Data that is made as it goes has no size of its own.
fn note_generated(outcome: &mut Outcome, kind: &str) {
    outcome.workload.inputs.push(Input {
        path: format!("generated:{kind}"),
        bytes: 0,
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
}

fn describe(plan: &StressPlan, outcome: &mut Outcome) {
    let names: Vec<String> = plan.pairs.iter().map(pair_name).collect();
    let run = &plan.run;
    let params = &mut outcome.workload.params;
    params.insert("pairs".to_owned(), names.into());
    let work = match run.work {
        Loop::Honest => "honest",
        Loop::Seed => "seed",
    };
    params.insert("loop".to_owned(), work.into());
    params.insert("producers".to_owned(), run.producers.into());
    params.insert("consumers".to_owned(), run.consumers.into());
    params.insert("threads".to_owned(), run.threads_used().into());
    params.insert("batch_blocks".to_owned(), run.batch().into());
    params.insert("queue_batches".to_owned(), run.queue().into());
    params.insert("block_bytes_min".to_owned(), run.bytes_min.into());
    params.insert("block_bytes_max".to_owned(), run.bytes_max.into());
    if let Some(ratio) = plan.min_ratio {
        params.insert("ratio_min".to_owned(), ratio.into());
    }
}

fn pair_name((codec, pool): &(String, PoolKind)) -> String {
    format!("{codec} {}", pool.name())
}

/// Runs every pair, or as many as there is time for until an interrupt.
fn measure(
    plan: &StressPlan,
    said: bool,
    metrics: Option<&Metrics>,
    outcome: &mut Outcome,
) -> Result<Vec<Row>> {
    let several = plan.pairs.len() > 1;
    let mut rows = Vec::with_capacity(plan.pairs.len());
    let mut checks = Checks::default();
    for pair in &plan.pairs {
        if signal::interrupted() {
            break;
        }
        let run = Plan {
            pool: pair.1,
            label: several.then(|| pair_name(pair)),
            ..plan.run.clone()
        };
        let codec = codec::by_name(&pair.0).map_err(refused)?;
        let mut lines = Lines::new(said, several.then(|| pair_name(pair)));
        let name = codec.name().to_owned();
        if let Some(metrics) = metrics {
            metrics.begin(&name, pair.1);
        }
        let found = stress::run(&run, codec, &mut |progress| {
            lines.see(progress);
            if let Some(metrics) = metrics {
                metrics.see(&name, pair.1, progress);
            }
            !signal::interrupted()
        })
        .map_err(failed)?;
        checks.add(found.counts.received, unexpected(&found, &run.faults));
        add(&found, &run, several, outcome);
        if !several {
            outcome.tables.extend(tables::single(&found));
            outcome.tables.extend(lines.table());
        }
        rows.push(Row::new(&found, pair.1));
    }
    outcome.tables.insert(0, ranking(&rows, plan.min_ratio));
    checks.conclude("comparing every block that came out", outcome);
    Ok(rows)
}

/// A plan that cannot be is a mistake of the command line.
fn failed(error: stress::Error) -> Failure {
    let message = error.to_string();
    match error {
        stress::Error::Plan { .. } | stress::Error::Rate(_) => {
            Failure::usage(message).help("see `perfkit stress --help`")
        }
        _ => Failure::new(message),
    }
}

fn refused(error: stress::CodecError) -> Failure {
    Failure::usage(error.to_string()).help("see `perfkit stress --help`")
}

/// Adds a run to the outcome: of several, the whole way of a block alone.
fn add(found: &Finding, run: &Plan, several: bool, outcome: &mut Outcome) {
    let counts = &found.counts;
    let (read, written) = match run.work {
        Loop::Honest => (counts.content_bytes, counts.block_bytes),
        Loop::Seed => (counts.sent_bytes, counts.decompressed_bytes),
    };
    outcome.bytes_in += read;
    outcome.bytes_out += written;
    outcome.bytes_content += counts.decompressed_bytes;
    outcome.ops = Some(outcome.ops.unwrap_or(0) + counts.received);
    outcome.add(&found.latencies.end_to_end);
    if !several {
        outcome.add(&found.latencies.compress);
        outcome.add(&found.latencies.queue);
        outcome.add(&found.latencies.decompress);
        outcome.load = found.load.clone();
    } else if found.load.model == LoadModel::Open {
        let saturated = outcome.load.saturated || found.load.saturated;
        outcome.load = Load {
            rate_achieved_per_s: None,
            late_start_ratio: None,
            backlog_max: None,
            saturated,
            ..found.load.clone()
        };
    }
}

/// Time as tables have it.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
