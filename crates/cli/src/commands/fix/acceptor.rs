//! `perfkit fix acceptor`: the acceptor sessions of a settings file on one thread.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use fixsession::{Application, Credentials, Echo, Orders, OrdersOptions, Role};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::fix::session_flags::{AcceptorArgs, App, FillName};
use crate::commands::fix::sessions::{Running, WAIT, id_prefix};
use crate::failure::{Failure, Result};
use crate::io::ready::Ready;
use crate::session::{Session, Setup};
use crate::term::message;

/// The most that a file of users may have.
const USERS_BYTES_MAX: u64 = 1 << 20;

/// Runs the command.
pub(super) fn run(
    args: &AcceptorArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let ready = Ready::clear(args.ready_file.as_deref())?;
    let stated = [
        (args.fill.is_some(), "--fill"),
        (args.reject_every.is_some(), "--reject-every"),
    ];
    if let Some((_, flag)) = stated.iter().find(|flag| flag.0 && args.app != App::Orders) {
        let message = format!("{flag} has no effect with --app {}", args.app.name());
        return Err(Failure::usage(message).help("--app orders fills and rejects orders"));
    }
    let shared = &args.sessions;
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &shared.output)
    })?;
    let mut outcome = Outcome::new("fix acceptor");
    let mut running = Running::open(shared, Role::Acceptor, &session)?;
    if let Some(path) = &args.users {
        let users = users(path)?;
        if shared.output.terminal.wants_warnings() {
            warn(path, &users);
        }
        running.users = Some(users);
    }
    tell(args, &running, &ready)?;
    match args.app {
        App::Discard => {
            serve(&mut running, &mut ())?;
            running.conclude(&mut outcome);
        }
        App::Echo => {
            let mut echo = Echo::default();
            serve(&mut running, &mut echo)?;
            running.conclude(&mut outcome);
            let echoed = echo.echoed();
            outcome.did(echoed, ["message returned", "messages returned"]);
        }
        App::Orders => {
            let mut orders = Orders::new(options(args));
            serve(&mut running, &mut orders)?;
            // Sessions and messages first: one line has no room for all.
            running.conclude(&mut outcome);
            let counts = orders.counts();
            outcome.did(counts.accepted, ["order accepted", "orders accepted"]);
            outcome.did(counts.rejected, ["order rejected", "orders rejected"]);
            outcome.did(counts.canceled, ["order canceled", "orders canceled"]);
            outcome.did(
                counts.cancels_rejected,
                ["cancel rejected", "cancels rejected"],
            );
        }
    }
    let params = &mut outcome.workload.params;
    params.insert("app".to_owned(), args.app.name().into());
    session.finish(outcome)
}

/// How orders are answered.
fn options(args: &AcceptorArgs) -> OrdersOptions {
    let mut options = OrdersOptions::default();
    options.fill = args.fill.unwrap_or(FillName::Full).into();
    options.reject_every = args.reject_every;
    options.id_prefix = id_prefix();
    options
}

/// Reads who may log on.
fn users(path: &Path) -> Result<Credentials> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(USERS_BYTES_MAX + 1).read_to_end(&mut text))
        .map_err(|error| Failure::io("read", path, &error))?;
    if text.len() as u64 > USERS_BYTES_MAX {
        let path = files::display(path);
        let message = format!("{path} has more than {USERS_BYTES_MAX} bytes");
        return Err(Failure::new(message).help("--users reads lines NAME:PASSWORD"));
    }
    Credentials::parse(&text).map_err(|error| {
        let path = files::display(path);
        Failure::new(format!("cannot read {path}: {error}"))
            .help("--users reads lines NAME:PASSWORD; lines that begin with # are left out")
    })
}

/// What a file of users probably does not mean.
fn warn(path: &Path, users: &Credentials) {
    let path = files::display(path);
    if users.is_empty() {
        message::remark(&format!("{path} has no users: every Logon is refused"));
    }
    if let Some(line) = users.unprotected().first() {
        message::remark(&format!(
            "{path}: line {line}: the password is empty, so that a Logon without Password (554) is accepted"
        ));
    }
}

fn serve(running: &mut Running<'_>, app: &mut impl Application) -> Result<()> {
    while !running.is_over() {
        running.turn(app, WAIT)?;
    }
    running.stop(app)
}

/// Says where it listens.
fn tell(args: &AcceptorArgs, running: &Running<'_>, ready: &Ready<'_>) -> Result<()> {
    let addresses = running.engine.addresses().iter();
    let addresses: Vec<String> = addresses.map(ToString::to_string).collect();
    ready.write(&addresses.join("\n"))?;
    if args.sessions.output.terminal.wants_report() {
        message::status(&format!("listening at {}", addresses.join(" and ")));
    }
    Ok(())
}
