//! `perfkit fix-bench session`: an acceptor under load. How it is measured is in `bench::fix::session`.

use std::ffi::OsString;

use report::ExitStatus;

use crate::commands::fix_bench::session_flags::SessionArgs;
#[cfg(not(target_os = "linux"))]
use crate::failure::Failure;
use crate::failure::Result;

/// Runs the command.
#[cfg(target_os = "linux")]
pub(super) fn run(args: &SessionArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    use crate::commands::watch::Watcher;
    use crate::session::{Session, Setup};
    use latency::report::LatencyName;
    use report::Outcome;

    let rows: &[LatencyName] = match args.rate {
        0 => &[LatencyName::Service],
        _ => &LatencyName::ALL,
    };
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("fix-bench");
    let watcher = Watcher::new(args.output.terminal.wants_progress());
    bench::fix::session::run(&plan(args), watcher.of(&session), &mut outcome)?;
    session.finish(outcome)
}

/// Engines need `epoll`.
#[cfg(not(target_os = "linux"))]
pub(super) fn run(_: &SessionArgs, _: &'static str, _: &[OsString]) -> Result<ExitStatus> {
    Err(Failure::new("sessions can only be measured on Linux"))
}

#[cfg(target_os = "linux")]
fn plan(args: &SessionArgs) -> bench::fix::session::Plan {
    use bench::fix::session::{Other, Plan};

    let mut plan = Plan::default();
    plan.sessions.clone_from(&args.sessions);
    if !args.transport.is_empty() {
        plan.transports.clone_from(&args.transport);
    }
    plan.other = args.connect.map(|address| Other {
        name: args.name.clone(),
        address,
        pid: args.pid,
    });
    plan.messages = args.messages;
    plan.rounds = args.rounds;
    plan.rate = (args.rate > 0).then(|| f64::from(args.rate));
    plan.duration = args.duration;
    plan.resend = args.resend;
    plan.is_durable = args.durable;
    plan.store_dir.clone_from(&args.store_dir);
    let cpus = args.output.report.cpu.as_ref();
    plan.cpus = cpus.map_or_else(Vec::new, |cpus| cpus.0.clone());
    plan.seed = args.seed;
    plan
}
