//! Runs `fix certify`: the rows of each session one after the other, several sessions at a time.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use files::target::Target;
use fixsession::certify::{Finished, Verdict, begin_string, junit};
use report::{ExitStatus, Outcome};

use crate::commands::fix::certify::drive::drive;
use crate::commands::fix::certify::flags::CertifyArgs;
use crate::commands::fix::certify::plan::{Plan, Row};
use crate::commands::fix::certify::results::{self, Done};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::signal;

/// Runs the command.
pub(in crate::commands::fix) fn run(
    args: &CertifyArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let plan = Plan::new(args)?;
    let setup = Setup::analysis(name, argv, &args.output).listing(args.list);
    if args.list {
        let session = Session::start(&setup)?;
        let mut outcome = Outcome::new("fix certify");
        results::list(&plan, &mut outcome);
        return session.finish(outcome);
    }
    let address = args.address.as_deref().unwrap_or_default();
    let addresses = resolved(address)?;
    let file = match &args.junit {
        Some(path) => Some(Target::create(path, args.output.force, None, context())?),
        None => None,
    };
    let session = Session::start(&setup)?;
    let mut outcome = Outcome::new("fix certify");
    let results = all(&plan, args, &addresses);
    if let Some(why) = unconnected(&results) {
        let message = format!("cannot connect to {address}: {why}");
        return Err(Failure::new(message)
            .help("start the engine that is to be certified, and name its address"));
    }
    if let Some(target) = file {
        let rows = results
            .iter()
            .map(|(row, done)| (row.scenario, row.version, done.clone()));
        let xml = junit(&rows.collect::<Vec<_>>());
        let written = target.writer().write_all(xml.as_bytes());
        written.map_err(|error| target.error(error))?;
        target.commit()?;
    }
    results::conclude(&plan, &results, &mut outcome);
    if signal::interrupted() {
        outcome.complete = false;
        outcome.status = ExitStatus::Interrupted;
    }
    session.finish(outcome)
}

fn resolved(address: &str) -> Result<Vec<SocketAddr>> {
    let found = address.to_socket_addrs().map(Iterator::collect);
    found.map_err(|error| {
        Failure::usage(format!("'{address}' is no address: {error}"))
            .help("name a host and a port, as 127.0.0.1:5001")
    })
}

/// Why the engine cannot be reached, if no scenario of a version could be run.
fn unconnected(results: &[Done]) -> Option<&str> {
    let is_run = |done: &Done| {
        !matches!(
            done.1.verdict,
            Verdict::Skipped(_) | Verdict::NoConnection(_)
        )
    };
    if results.iter().any(is_run) {
        return None;
    }
    results.iter().find_map(|done| match &done.1.verdict {
        Verdict::NoConnection(why) => Some(why.as_str()),
        _ => None,
    })
}

/// Every row with its verdict, in the order of the plan.
fn all(plan: &Plan, args: &CertifyArgs, addresses: &[SocketAddr]) -> Vec<Done> {
    let rows = plan.rows();
    // One identity has one connection at a time: versions with the same BeginString wait for each other.
    let mut sessions: Vec<(&str, Vec<(usize, Row)>)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let begin = begin_string(row.version);
        match sessions.iter_mut().find(|session| session.0 == begin) {
            Some(session) => session.1.push((at, *row)),
            None => sessions.push((begin, vec![(at, *row)])),
        }
    }
    let progress = Progress::steps(args.output.terminal.wants_progress(), rows.len() as u64);
    let queue = Mutex::new(VecDeque::from(sessions));
    let done = Mutex::new(Vec::with_capacity(rows.len()));
    let is_lost = AtomicBool::new(false);
    let work = || {
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
            let Some((_, rows)) = next else {
                return;
            };
            for (at, row) in rows {
                let finished = one(row, plan, args, addresses, &is_lost);
                progress.add(1);
                if let Ok(mut done) = done.lock() {
                    done.push((at, (row, finished)));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.parallel {
            scope.spawn(work);
        }
    });
    progress.finish();
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(at, _): &(usize, Done)| *at);
    done.into_iter().map(|(_, done)| done).collect()
}

fn one(
    row: Row,
    plan: &Plan,
    args: &CertifyArgs,
    addresses: &[SocketAddr],
    is_lost: &AtomicBool,
) -> Finished {
    let why = match row.scenario.skipped(row.version, &plan.engine) {
        Some(why) => why,
        None if signal::interrupted() => "interrupted",
        None if is_lost.load(Ordering::Relaxed) => "the engine cannot be connected to any more",
        None => {
            let finished = drive(row, &plan.engine, addresses);
            if matches!(finished.verdict, Verdict::NoConnection(_)) {
                is_lost.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(args.pause);
            return finished;
        }
    };
    Finished::skipped(why)
}
