//! Runs the server, and reports when it has ended.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use latency::report::LatencyName;
use matcher::http::{HttpStatus, Server, ServerOptions};
use matcher::{Error, Matcher, Observer, Options, Recovery, Specs, Status, Trouble};
use report::units::counted;
use report::{ExitStatus, Outcome};

use crate::commands::betree::serve::first::first;
use crate::commands::betree::serve::flags::ServeArgs;
use crate::failure::{Failure, Result};
use crate::io::ready::Ready;
use crate::session::{Session, Setup};
use crate::term::{message, signal};
use files::display;

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let ready = Ready::clear(args.ready_file.as_deref())?;
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &args.output)
    })?;
    let (matcher, recovery) = open(args, &session)?;
    tell(args, &recovery, &matcher.status());
    let mut options = ServerOptions::default();
    options.threads = args.threads.map_or(options.threads, usize::from);
    options.budget = args.budget;
    options.ignore_unknown = args.ignore_unknown;
    options.connections_max = args.connections as usize;
    options.timeout = args.timeout;
    options.event_bytes_max = usize::try_from(args.event_bytes).unwrap_or(usize::MAX);
    options.idle = args.idle;
    options.grace = args.grace;
    let threads = options.threads;
    let bound = Server::bind(matcher.clone(), options, &args.listen).map_err(|error| {
        Failure::new(error.to_string()).help("choose another --listen; port 0 is any free one")
    });
    let served = bound.and_then(|server| serve(args, server, &ready));
    // Whatever happened, what was acknowledged is written.
    let recordings = matcher.close().map_err(|error| failed(args, &error));
    let (http, answered) = served?;
    let recordings = recordings?;
    let status = matcher.status();
    let mut outcome = Outcome::new("serve");
    describe(&mut outcome, (&status, &http), args, threads);
    for recording in &recordings {
        outcome.add(recording);
    }
    if !answered {
        message::note(
            "not every request was answered before the grace period ended",
            "give them more time with --grace",
        );
        outcome.complete = false;
        outcome.status = ExitStatus::Partial;
    }
    if status.log_failed {
        outcome.complete = false;
        outcome.status = ExitStatus::Failure;
    }
    session.finish(outcome)
}

fn open(args: &ServeArgs, session: &Session) -> Result<(Matcher, Recovery)> {
    let mut options = Options::default();
    options.directory.clone_from(&args.log);
    options.sync = args.sync;
    options.snapshot_log_bytes = Some(args.snapshot_every);
    options.observer = Some(Observer::new(tell_trouble));
    options.specs = Specs::default().map(|spec| session.spec(spec));
    options.start = session.run_start();
    enum Stop {
        First(Failure),
        Matcher(Error),
    }
    impl From<Error> for Stop {
        fn from(error: Error) -> Self {
            Self::Matcher(error)
        }
    }
    Matcher::open(options, || first(args).map_err(Stop::First)).map_err(|stop| match stop {
        Stop::First(failure) => failure,
        Stop::Matcher(error) => failed(args, &error),
    })
}

fn failed(args: &ServeArgs, error: &Error) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        Error::Locked { .. } => failure.help("stop the other server, or choose another --log"),
        Error::Gap { .. } | Error::Snapshot { .. } | Error::Replay { .. } => {
            let directory = args.log.as_deref().unwrap_or(Path::new("."));
            failure.help(format!("restore {} from a copy", display(directory)))
        }
        Error::NoSnapshot { .. } => failure.help(
            "restore the snapshot from a copy, or move all files away to begin with an empty directory",
        ),
        _ => failure,
    }
}

/// Says what failed in the background.
fn tell_trouble(trouble: &Trouble) {
    match trouble {
        Trouble::Snapshot { reason, retry } => {
            let again = match retry {
                Some(pause) => format!("it is tried again in {} s", pause.as_secs_f64()),
                None => "it is not tried again by itself".to_owned(),
            };
            message::note(
                &format!("no snapshot was written: {reason}; {again}"),
                "see that the directory of --log has room and can be written; the log has every change until then",
            );
        }
        Trouble::Log { reason } => message::note(
            &format!("the log failed, and no change is taken any more: {reason}"),
            "see that the directory of --log has room and can be written, then restart; matches go on",
        ),
        _ => {}
    }
}

/// Says what was recovered.
fn tell(args: &ServeArgs, recovery: &Recovery, status: &Status) {
    if let Some(cut) = &recovery.cut {
        let message = format!(
            "{} broke off in the middle of a record: {} bytes were cut at byte {}",
            display(&cut.path),
            cut.bytes,
            cut.at
        );
        message::remark(&message);
    }
    if let Some(path) = &recovery.missing_log {
        message::remark(&format!(
            "{} is missing: changes after the snapshot are lost, if there were any",
            display(path)
        ));
    }
    if let Some(lost) = &recovery.lost_texts {
        message::remark(&format!(
            "{}: {}: matches are right, but GET shows some expressions as null",
            display(&lost.path),
            lost.reason
        ));
    }
    if recovery.found && args.output.terminal.wants_warnings() {
        let begun = args.snapshot.is_some() || args.domains.is_some() || args.expressions.is_some();
        let directory = args.log.as_deref().unwrap_or(Path::new("."));
        let instead = if begun {
            "; --snapshot, --domains and --expressions are for the first start"
        } else {
            ""
        };
        message::status(&format!(
            "{}: {}, {} repeated from the log{instead}",
            display(directory),
            counted(status.expressions, ["expression", "expressions"]),
            counted(recovery.replayed, ["change", "changes"]),
        ));
    }
}

fn serve(args: &ServeArgs, server: Server, ready: &Ready<'_>) -> Result<(HttpStatus, bool)> {
    let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    ready.write(&addresses.join("\n"))?;
    if args.output.terminal.wants_report() {
        message::status(&format!("listening at {}", addresses.join(" and ")));
    }
    let stop = signal::flag();
    if let Some(duration) = args.duration {
        let (until, stop) = (Instant::now() + duration, Arc::clone(&stop));
        // Sleeping in one go would outlive a signal, which does not matter: the process ends.
        std::thread::spawn(move || {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            stop.store(true, Relaxed);
        });
    }
    Ok(server.run(&stop))
}

fn describe(
    outcome: &mut Outcome,
    (status, http): (&Status, &HttpStatus),
    args: &ServeArgs,
    threads: usize,
) {
    outcome.ops = Some(http.events);
    outcome.did(http.events, ["event", "events"]);
    outcome.did(http.matches, ["match", "matches"]);
    outcome.did(status.changes, ["change", "changes"]);
    outcome.did(status.expressions, ["expression", "expressions"]);
    let params = &mut outcome.workload.params;
    for (name, value) in [
        ("threads", threads as u64),
        ("budget_reductions", args.budget),
        ("requests", http.requests),
        ("requests_refused", http.problems),
        ("connections", http.connections),
        ("connections_turned_away", http.connections_turned_away),
        ("events_refused", http.events_refused),
        ("events_late", http.events_late),
        ("changes_refused", status.refused),
        ("publications", status.publications),
        ("merges", status.merges),
        ("snapshots", status.snapshots),
        ("snapshot_failures", status.snapshot_failures),
        ("sequence", status.sequence),
    ] {
        params.insert(name.to_owned(), value.into());
    }
}
