//! `perfkit stress`: codecs and pools under load.
//!
//! The runs are `perfkit-stress`'s. [`runner`] makes one of them, [`turns`] those of several pairs in
//! rounds, [`sweep`] those at several rates. [`lines`] says on the way how it goes, [`metrics`] tells a
//! scraper, [`row`] keeps what was found, [`rank`] and [`tables`] show it, [`verdict`] says what it means
//! for the exit code. What connects them is here.

use std::ffi::OsString;
use std::time::Duration;

use latency::report::{Input, LatencyName};
use stress::{DataKind, Loop, Pace, PoolKind};

use crate::commands::content;
use crate::commands::stress::flags::{StressArgs, StressPlan};
use crate::commands::stress::metrics::Metrics;
pub(crate) use crate::commands::stress::rank::{Control, ranking};
pub(crate) use crate::commands::stress::row::Row;
use crate::commands::stress::runner::{Runner, add_volume};
pub(crate) use crate::commands::stress::verdict::unexpected;
use crate::commands::stress::{sweep, tables, turns, verdict};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;
use bench::Checks;

/// Runs the command.
pub(crate) fn run(args: &StressArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let mut plan = args.plan()?;
    if plan.run.threads == 0 {
        plan.run.threads = std::thread::available_parallelism().map_or(1, usize::from);
    }
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: match plan.run.pace {
            Pace::Closed if plan.rates.is_empty() => &[LatencyName::Service],
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

pub(crate) fn pair_name((codec, pool): &(String, PoolKind)) -> String {
    format!("{codec} {}", pool.name())
}

/// The runs: one, the rates of one after each other, or turns of several.
fn measure(
    plan: &StressPlan,
    said: bool,
    metrics: Option<&Metrics>,
    outcome: &mut Outcome,
) -> Result<Vec<Row>> {
    let mut runner = Runner {
        said,
        metrics,
        checks: Checks::default(),
    };
    let rows = match &plan.pairs[..] {
        _ if !plan.rates.is_empty() => sweep::measure(plan, &mut runner, outcome)?,
        [pair] => vec![single(plan, pair, &mut runner, outcome)?],
        _ => turns::measure(plan, &mut runner, outcome)?,
    };
    runner.checks.conclude(
        "comparing every block that came out",
        outcome,
        signal::interrupted(),
    );
    Ok(rows)
}

/// The only run.
fn single(
    plan: &StressPlan,
    pair: &(String, PoolKind),
    runner: &mut Runner<'_>,
    outcome: &mut Outcome,
) -> Result<Row> {
    let run = plan.run.clone().pool(pair.1);
    let (found, lines) = runner.run(&run, &pair.0, None)?;
    add_volume(&found, &run, outcome);
    outcome.add(&found.latencies.end_to_end);
    outcome.add(&found.latencies.compress);
    outcome.add(&found.latencies.queue);
    outcome.add(&found.latencies.decompress);
    outcome.load = found.load.clone();
    let row = Row::new(&found, pair.1);
    let rows = std::slice::from_ref(&row);
    outcome
        .tables
        .push(ranking(rows, &Control::default(), plan.min_ratio));
    outcome.tables.extend(tables::single(&found));
    outcome.tables.extend(lines.table());
    Ok(row)
}

/// Time as tables have it.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
