//! `perfkit fix acceptor`: the acceptor sessions of a settings file on one thread.

use std::ffi::OsString;
use std::io::Write as _;

use files::target::Target;
use fixsession::{Application, Echo, Role};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::fix::session_flags::{AcceptorArgs, App};
use crate::commands::fix::sessions::{Running, WAIT};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::message;

/// Runs the command.
pub(super) fn run(
    args: &AcceptorArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let shared = &args.sessions;
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter_of(name, argv, &shared.output)
    })?;
    let mut outcome = Outcome::new("fix acceptor");
    let mut running = Running::open(shared, Role::Acceptor, &session)?;
    tell(args, &running)?;
    match args.app {
        App::Discard => serve(&mut running, &mut ())?,
        App::Echo => {
            let mut echo = Echo::default();
            serve(&mut running, &mut echo)?;
            let echoed = echo.echoed();
            outcome.did(echoed, ["message returned", "messages returned"]);
        }
    }
    let params = &mut outcome.workload.params;
    params.insert("app".to_owned(), args.app.name().into());
    running.conclude(&mut outcome);
    session.finish(outcome)
}

fn serve(running: &mut Running<'_>, app: &mut impl Application) -> Result<()> {
    while !running.is_over() {
        running.turn(app, WAIT)?;
    }
    running.stop(app)
}

/// Says where it listens.
fn tell(args: &AcceptorArgs, running: &Running<'_>) -> Result<()> {
    let addresses = running.engine.addresses().iter();
    let addresses: Vec<String> = addresses.map(ToString::to_string).collect();
    if let Some(path) = &args.ready_file {
        let target = Target::create(path, true, None, context())?;
        let written = writeln!(target.writer(), "{}", addresses.join("\n"));
        written.map_err(|error| Failure::io("write", path, &error))?;
        target.commit()?;
    }
    if args.sessions.output.terminal.wants_report() {
        message::status(&format!("listening at {}", addresses.join(" and ")));
    }
    Ok(())
}
