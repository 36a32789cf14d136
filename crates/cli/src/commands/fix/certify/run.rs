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

use crate::commands::fix::certify::drive::{Way, drive};
use crate::commands::fix::certify::flags::CertifyArgs;
use crate::commands::fix::certify::listening::Listening;
use crate::commands::fix::certify::plan::{Plan, Row};
use crate::commands::fix::certify::results::{self, Done};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::ready::Ready;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Why scenarios of a version that never came are left out.
const NO_VERSION: &str = "the engine did not connect in this version";

/// Runs the command.
pub(in crate::commands::fix) fn run(
    args: &CertifyArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let ready = Ready::clear(args.ready_file.as_deref())?;
    let plan = Plan::new(args)?;
    let setup = Setup::analysis(name, argv, &args.output).listing(args.list);
    if args.list {
        let session = Session::start(&setup)?;
        let mut outcome = Outcome::new("fix certify");
        results::list(&plan, &mut outcome);
        return session.finish(outcome);
    }
    let way = way(args, &plan, &ready)?;
    let file = match &args.junit {
        Some(path) => Some(Target::create(path, args.output.force, None, context())?),
        None => None,
    };
    let session = Session::start(&setup)?;
    let mut outcome = Outcome::new("fix certify");
    let mut results = all(&plan, args, &way);
    if let Some(why) = unconnected(&results) {
        let address = args.address.as_deref().unwrap_or_default();
        return Err(match &way {
            Way::Connect(_) => Failure::new(format!("cannot connect to {address}: {why}"))
                .help("start the engine that is to be certified, and name its address"),
            Way::Listen(listening, _) => Failure::new(format!("{}: {why}", listening.address))
                .help("start the engine with ReconnectInterval=1 and this address as its SocketConnectHost and SocketConnectPort"),
        });
    }
    if !plan.needs_all {
        // What was not asked for by name may be missing: the exit code and the verdicts agree.
        for (_, finished) in &mut results {
            if let Verdict::NoConnection(_) = finished.verdict {
                *finished = Finished::skipped(NO_VERSION);
            }
        }
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

/// Resolves the address, or listens.
fn way(args: &CertifyArgs, plan: &Plan, ready: &Ready<'_>) -> Result<Way> {
    let Some(address) = &args.listen else {
        let address = args.address.as_deref();
        let address = address.ok_or_else(|| {
            Failure::usage("which engine is to be certified?").help(
                "name an acceptor as HOST:PORT, or wait for an initiator with --listen ADDR:PORT",
            )
        })?;
        return Ok(Way::Connect(resolved(address)?));
    };
    let listening = Listening::at(address, &plan.versions)?;
    ready.write(&listening.address.to_string())?;
    if args.output.terminal.wants_report() {
        message::status(&format!("listening at {}", listening.address));
    }
    Ok(Way::Listen(listening, args.wait))
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
fn all(plan: &Plan, args: &CertifyArgs, way: &Way) -> Vec<Done> {
    let rows = plan.rows();
    // One identity has one connection at a time: versions with the same BeginString wait for each other,
    // unless the engine's Logon says which one it is.
    let mut sessions: Vec<(&str, Vec<(usize, Row)>)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let name = match way {
            Way::Connect(_) => begin_string(row.version),
            Way::Listen(..) => row.version.name(),
        };
        match sessions.iter_mut().find(|session| session.0 == name) {
            Some(session) => session.1.push((at, *row)),
            None => sessions.push((name, vec![(at, *row)])),
        }
    }
    let progress = Progress::steps(args.output.terminal.wants_progress(), rows.len() as u64);
    let queue = Mutex::new(VecDeque::from(sessions));
    let done = Mutex::new(Vec::with_capacity(rows.len()));
    let lost = AtomicBool::new(false);
    let work = || {
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
            let Some((_, rows)) = next else {
                return;
            };
            let mut session = Engine {
                plan,
                args,
                way,
                was_there: false,
                lost: match way {
                    Way::Connect(_) => Lost::All(&lost),
                    Way::Listen(..) => Lost::Version(false),
                },
            };
            let version = rows.first().map(|row| row.1.version);
            if let (Way::Listen(listening, _), Some(version)) = (way, version) {
                listening.open(version);
            }
            for (at, row) in rows {
                let finished = session.one(row);
                progress.add(1);
                if let Ok(mut done) = done.lock() {
                    done.push((at, (row, finished)));
                }
            }
            if let (Way::Listen(listening, _), Some(version)) = (way, version) {
                listening.close(version);
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

/// Whether the engine cannot be connected to any more.
enum Lost<'l> {
    /// An acceptor, which is one for all versions.
    All(&'l AtomicBool),
    /// The session of one version of an initiator.
    Version(bool),
}

/// The engine, as the scenarios of one session find it.
struct Engine<'e> {
    plan: &'e Plan,
    args: &'e CertifyArgs,
    way: &'e Way,
    /// Whether it connected once.
    was_there: bool,
    lost: Lost<'e>,
}

impl Engine<'_> {
    fn one(&mut self, row: Row) -> Finished {
        let (is_lost, is_one) = match &self.lost {
            Lost::All(lost) => (lost.load(Ordering::Relaxed), true),
            Lost::Version(lost) => (*lost, self.was_there),
        };
        let why = match row.scenario.skipped(row.version, &self.plan.engine) {
            Some(why) => why,
            None if signal::interrupted() => "interrupted",
            None if is_lost && is_one => "the engine cannot be connected to any more",
            None if is_lost => NO_VERSION,
            None => return self.driven(row),
        };
        Finished::skipped(why)
    }

    fn driven(&mut self, row: Row) -> Finished {
        let mut finished = drive(row, &self.plan.engine, self.way);
        match &finished.verdict {
            Verdict::NoConnection(why) => {
                let why = why.clone();
                match &mut self.lost {
                    Lost::All(lost) => lost.store(true, Ordering::Relaxed),
                    Lost::Version(lost) => {
                        *lost = true;
                        if self.was_there {
                            let step = "connect".to_owned();
                            finished.verdict = Verdict::Failed { step, why };
                        }
                    }
                }
            }
            _ => self.was_there = true,
        }
        std::thread::sleep(self.args.pause);
        finished
    }
}
