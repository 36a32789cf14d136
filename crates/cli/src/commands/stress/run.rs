//! `perfkit stress`: codecs and pools under load.
//!
//! The runs and what they mean are in `bench::stress`. [`lines`] says on the way how it goes, [`metrics`]
//! tells a scraper.

use std::ffi::OsString;
use std::time::Duration;

use bench::stress::{Complaint, Plan, pair_name};
use latency::report::{Input, LatencyName};
use report::{ExitStatus, Outcome};
use stress::{DataKind, Loop, Pace};

use crate::commands::content;
#[cfg(feature = "workers")]
use crate::commands::stress::agents;
use crate::commands::stress::flags::{SOAK, StressArgs, StressPlan};
use crate::commands::stress::follow::Follower;
use crate::commands::stress::metrics::Metrics;
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::message;

/// Runs the command.
pub(crate) fn run(args: &StressArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    #[cfg(feature = "workers")]
    {
        args.agents.check(&args.access)?;
        if let Some(address) = &args.agents.lead {
            return agents::lead(args, address, name, argv);
        }
        if let Some(address) = &args.agents.join {
            return agents::join(args, address, name, argv);
        }
    }
    let StressPlan { mut plan, metrics } = args.plan()?;
    if plan.run.threads == 0 {
        plan.run.threads = std::thread::available_parallelism().map_or(1, usize::from);
    }
    let live = Live::start(args.live.live, "stress");
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        live: live.as_ref().map(Live::rows),
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
    if let Some(live) = &live {
        plan.turn_intervals = live.log().filter(|_| plan.pairs.len() > 1);
        if let Some(time) = takes(&plan) {
            live.takes(time);
        }
    }
    describe(&plan, &mut outcome);
    let said = args.output.terminal.wants_warnings();
    let metrics = metrics
        .map(|address| Metrics::start(address, said))
        .transpose()?;
    plan.run.live = metrics.is_some();
    let watcher = Watcher::new(false);
    let mut follower = Follower::new(said, metrics.as_ref(), live.as_ref());
    let context = watcher.of(&session);
    let complaints =
        bench::stress::run(&plan, context, &mut follower, &mut outcome).map_err(failed)?;
    drop(live);
    complaints.iter().for_each(complain);
    session.finish(outcome)
}

/// How long the runs of a plan take together, unless they end by the number of their blocks or by a signal.
fn takes(plan: &Plan) -> Option<Duration> {
    if plan.run.blocks_max.is_some() || plan.run.duration >= SOAK {
        return None;
    }
    Some(bench::stress::duration(plan))
}

pub(super) fn failed(error: bench::Error) -> Failure {
    match error {
        error @ bench::Error::Settings { .. } => {
            Failure::from(error).help("see `perfkit stress --help`")
        }
        error => error.into(),
    }
}

/// Says why the run fails its gate.
pub(super) fn complain(complaint: &Complaint) {
    let help = match complaint {
        Complaint::Leak { .. } => "use a longer --duration, and look at the slopes",
        _ => "choose a higher level, or lower --min-ratio",
    };
    message::failure(&Failure::new(complaint.to_string()).help(help));
}

/// Data that is generated during the run has no size.
pub(super) fn note_generated(outcome: &mut Outcome, kind: &str) {
    outcome.workload.inputs.push(Input {
        path: format!("generated:{kind}"),
        bytes: 0,
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
}

pub(super) fn describe(plan: &Plan, outcome: &mut Outcome) {
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
