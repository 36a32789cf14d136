//! `perfkit betree-bench`: searches in one call against the same searches in slices. How they are measured
//! is in `bench::betree`.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use bench::betree::{self as method, EVENTS, Plan, Workload};
use betree::{Budget, Undefined};
use files::display;
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::args::expressions::{ExpressionsForm, kind};
use crate::commands::betree_bench::flags::{BetreeBenchArgs, BetreeBenchPart};
use crate::commands::betree_bench::shapes;
use crate::commands::expressions::{self, Files};
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::live::Live;

/// Runs the command.
pub(crate) fn run(
    args: &BetreeBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    match &args.part {
        Some(BetreeBenchPart::Shapes(args)) => return shapes::run(args, name, argv),
        #[cfg(feature = "serve")]
        Some(BetreeBenchPart::Serve(args)) => {
            return crate::commands::betree_bench::serve::run(args, name, argv);
        }
        None => {}
    }
    let live = Live::start(args.live.live, "betree-bench");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        seed: Some(args.size.seed),
        rows: &[
            LatencyName::Service,
            LatencyName::Hold,
            LatencyName::Response,
        ],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("betree-bench");
    let watcher = Watcher::new(args.output.terminal.wants_progress()).live(live.as_ref());
    let context = watcher.of(&session);
    let workload = match (&args.expression_file, &args.event_file) {
        (Some(expressions), Some(events)) => read(args, expressions, events)?,
        _ => {
            let kind = kind(args.kind, &args.size);
            Workload::generated(kind, args.size.expressions, args.size.seed, context.watch)?
        }
    };
    let mut plan = Plan::default();
    plan.buckets = args.buckets;
    plan.bucket_size = args.bucket_size;
    plan.budget = args.budget;
    plan.seed = args.size.seed;
    method::run(&plan, workload, context, &mut outcome)?;
    drop(live);
    session.finish(outcome)
}

/// The workload of files. Of the events as many are taken as would be generated.
fn read(args: &BetreeBenchArgs, expressions: &Path, events: &Path) -> Result<Workload> {
    let start = Instant::now();
    let files_of = Files {
        domains: args.domain_file.as_deref(),
        expressions,
        form: ExpressionsForm::Auto,
        constants: None,
        undefined: Undefined::False,
    };
    let mut built = expressions::tree(&files_of, args.output.terminal.wants_progress())?;
    let snapshot = built.tree.snapshot();
    let bytes = std::fs::metadata(expressions).map_or(0, |found| found.len() as usize);
    let build = start.elapsed();
    let text = expressions::text(events)?;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if found.len() == EVENTS || line.trim().is_empty() {
            continue;
        }
        let event = expressions::event_json(snapshot.domain(), line.as_bytes()).and_then(|json| {
            let mut reader = snapshot.event_reader(&json, false);
            reader.step(Budget::UNLIMITED)?;
            reader.finish()
        });
        found.push(event.map_err(|error| {
            let name = display(events);
            Failure::new(format!("cannot read {name}: line {number}: {error}"))
        })?);
    }
    match found.is_empty() {
        true => Err(Failure::new(format!("{} has no events", display(events)))),
        false => Ok(Workload::new(snapshot, found, bytes, build)),
    }
}
