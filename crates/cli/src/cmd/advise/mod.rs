//! `perfkit advise`: what may run in an event loop on this machine, and what it does to one.
//!
//! [`data`] is what is compressed, [`cost`] the tables of times and verdicts, [`stall`] the
//! measurement beside a runtime. Nothing here decides for a program; that is `zstdkit::schedule`.

mod cost;
mod data;
#[cfg(feature = "async")]
mod stall;

use std::ffi::OsString;

use latency::report::Validation;
use serde_json::json;

use crate::args::advise::{AdviseArgs, Plan};
use crate::exit::ExitStatus;
use crate::export::MainStream;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;

/// What was checked, outside the timed spans.
#[derive(Debug, Default)]
struct Checks {
    done: u64,
    wrong: u64,
}

impl Checks {
    /// A frame has to hold the content.
    fn frame(&mut self, frame: &[u8], content: &[u8]) {
        let back = zstdkit::decompress(frame, &zstdkit::DecoderOptions::default());
        self.that(back.is_ok_and(|back| back == content));
    }

    fn that(&mut self, right: bool) {
        self.done += 1;
        self.wrong += u64::from(!right);
    }
}

/// Runs the command.
pub(crate) fn run(args: &AdviseArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: MainStream::Stdout,
        report: &args.report,
        terminal: &args.terminal,
        force: args.force,
        seed: Some(args.seed),
        rows: &[],
    })?;
    let mut outcome = Outcome::new(name);
    let mut checks = Checks::default();
    let largest = plan.sizes.last().copied().unwrap_or(0);
    let data = data::Data::new(&args.files, args.seed, largest, &plan.recipes, &mut outcome)?;
    describe(args, &plan, &mut outcome);
    cost::part(&plan, &data, &mut outcome, &mut checks)?;
    #[cfg(feature = "async")]
    if !args.no_stalls {
        stall::part(args, &plan, &data, &mut outcome, &mut checks)?;
    }
    outcome.validation = Some(Validation {
        checked: checks.done,
        method: "round trip of a frame a cell and mode".to_owned(),
        ok: checks.wrong == 0,
    });
    if signal::interrupted() {
        outcome.complete = false;
        outcome.status = ExitStatus::Interrupted;
    } else if checks.wrong > 0 {
        outcome.status = ExitStatus::Failure;
    }
    session.finish(outcome)
}

fn describe(args: &AdviseArgs, plan: &Plan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    let ns = |time: std::time::Duration| json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    params.insert("threshold_ns".into(), ns(plan.threshold));
    params.insert("run_ns".into(), ns(plan.run));
    params.insert("workers".into(), json!(args.workers));
    params.insert("load_percent".into(), json!(args.load));
}

fn failed(error: zstdkit::Error) -> Failure {
    Failure::new(error.to_string())
}
