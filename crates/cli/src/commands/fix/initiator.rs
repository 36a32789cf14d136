//! `perfkit fix initiator`: the initiator sessions of a settings file on one thread, and the messages of a log
//! sent in them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use fixcore::Decoder;
use fixsession::{Application, Echo, Orders, OrdersOptions, Role, SendError, SessionId, Status};
use latency::report::{LatencyName, Timing};
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome};

use crate::commands::fix::conclude::{BAD_NAMED, conclude_bad, ended_file};
use crate::commands::fix::feed::{self, Fed, Item, Routes};
use crate::commands::fix::pace::Pace;
use crate::commands::fix::session_flags::{App, InitiatorArgs};
use crate::commands::fix::sessions::{Running, WAIT, id_prefix};
use crate::commands::fix_logs;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::{message, signal};

/// Messages that are sent before the engine has its turn.
const SENT_PER_TURN: usize = 256;
/// With more unsent bytes than this, the next message waits.
const UNSENT_BYTES_MAX: usize = 1 << 20;
/// How long to wait for what another thread or the peer does.
const SOON: Duration = Duration::from_millis(1);

/// Messages of a log on their way.
struct Sender {
    fed: Receiver<Fed>,
    files: [PathBuf; 1],
    sessions: Vec<SessionId>,
    pace: Pace,
    /// The next message, and when it is due.
    next: Option<(Item, Option<Instant>)>,
    done: bool,
    sent: u64,
    passed_over: u64,
    /// Messages of sessions that the settings do not have, and the names of the first.
    foreign: u64,
    first_foreign: Option<[String; 3]>,
    bad: u64,
    named: Vec<(usize, u64, String)>,
    response: Recorder,
}

/// Runs the command.
pub(super) fn run(
    args: &InitiatorArgs,
    decoder: Decoder,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let shared = &args.sessions;
    let session = Session::start(&Setup {
        rows: &[
            LatencyName::Response,
            LatencyName::Service,
            LatencyName::Hold,
        ],
        ..Setup::filter_of(name, argv, &shared.output)
    })?;
    let mut outcome = Outcome::new("fix initiator");
    let mut running = Running::open(shared, Role::Initiator, &session)?;
    let mut sender = match &args.send {
        Some(path) => Some(Sender::start(
            args,
            path,
            decoder,
            &running,
            &session,
            &mut outcome,
        )?),
        None => None,
    };
    match args.app {
        App::Discard => serve(&mut running, &mut sender, &mut (), &mut outcome)?,
        App::Echo => {
            let mut echo = Echo::default();
            serve(&mut running, &mut sender, &mut echo, &mut outcome)?;
            let echoed = echo.echoed();
            outcome.did(echoed, ["message returned", "messages returned"]);
        }
        App::Orders => {
            let mut options = OrdersOptions::default();
            options.id_prefix = id_prefix();
            let mut orders = Orders::new(options);
            serve(&mut running, &mut sender, &mut orders, &mut outcome)?;
        }
    }
    let params = &mut outcome.workload.params;
    params.insert("app".to_owned(), args.app.name().into());
    let unfinished = match &sender {
        Some(sender) => !sender.done,
        None => running.lacks_logon(),
    };
    if unfinished || (sender.is_some() && running.refused.count > 0) {
        outcome.complete = false;
    }
    if let Some(sender) = sender {
        sender.conclude(&mut outcome);
    }
    running.conclude(&mut outcome);
    session.finish(outcome)
}

/// Runs until a signal, the time, or the end of the log; then logs out.
fn serve(
    running: &mut Running<'_>,
    sender: &mut Option<Sender>,
    app: &mut impl Application,
    outcome: &mut Outcome,
) -> Result<()> {
    while !running.is_over() {
        let wait = match sender {
            Some(sender) if sender.done => break,
            Some(sender) => sender.pump(running, app, outcome)?,
            None => WAIT,
        };
        running.turn(app, wait)?;
    }
    running.stop(app)
}

impl Sender {
    fn start(
        args: &InitiatorArgs,
        path: &std::path::Path,
        decoder: Decoder,
        running: &Running<'_>,
        session: &Session,
        outcome: &mut Outcome,
    ) -> Result<Self> {
        let sessions: Vec<SessionId> = running.engine.sessions().map(|state| state.id).collect();
        let separator = args.separator.into();
        let version = |id: &SessionId| running.appl_ver_ids.get(id).cloned();
        let routes = sessions.iter().map(|id| (id.clone(), version(id)));
        let routes = Routes::new(routes.collect());
        let fed = feed::start(path.to_owned(), separator, decoder, routes);
        let fed = fed.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        let spec = Spec::new(LatencyName::Response, "message sent").timing(Timing::Intended);
        let mut sender = Self {
            fed,
            files: [path.to_owned()],
            sessions,
            pace: Pace::new(args.speed, args.rate),
            next: None,
            done: false,
            sent: 0,
            passed_over: 0,
            foreign: 0,
            first_foreign: None,
            bad: 0,
            named: Vec::new(),
            response: Recorder::new(session.spec(spec), session.run_start()),
        };
        sender.first(outcome)?;
        Ok(sender)
    }

    /// Waits for the first valid message, before anything is connected to.
    fn first(&mut self, outcome: &mut Outcome) -> Result<()> {
        while !signal::flag().load(Relaxed) {
            match self.fed.recv_timeout(WAIT) {
                Ok(Fed::Item(item)) => {
                    self.next = Some((item, None));
                    return Ok(());
                }
                Ok(fed @ (Fed::PassedOver | Fed::Foreign(_))) => {
                    self.note(fed, outcome);
                    return Ok(());
                }
                Ok(Fed::Bad(offset, why)) => self.note(Fed::Bad(offset, why), outcome),
                Ok(Fed::Ended(_, Some(error))) => {
                    return Err(fix_logs::failure(&self.files, error));
                }
                Ok(Fed::Ended(_, None)) => {
                    let [file] = &self.files;
                    let name = files::display(file);
                    let failure = match self.named.first() {
                        None => Failure::new(format!("there are no messages in {name}")),
                        Some((_, offset, why)) => Failure::new(format!(
                            "no message of {name} is valid: the first, at byte {offset}: {why}"
                        )),
                    };
                    return Err(failure.help("`perfkit fix validate` names what is wrong"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Sends what is due; how long the engine may wait.
    fn pump(
        &mut self,
        running: &mut Running<'_>,
        app: &mut impl Application,
        outcome: &mut Outcome,
    ) -> Result<Duration> {
        for _ in 0..SENT_PER_TURN {
            let (item, due) = match self.next.take() {
                Some(next) => next,
                None => match self.fed.try_recv() {
                    Ok(Fed::Item(item)) => (item, None),
                    Ok(other) => {
                        self.note(other, outcome);
                        continue;
                    }
                    Err(TryRecvError::Empty) => return Ok(SOON),
                    Err(TryRecvError::Disconnected) => {
                        self.done = true;
                        return Ok(Duration::ZERO);
                    }
                },
            };
            let Some(id) = self.sessions.get(item.session) else {
                continue;
            };
            let on = running.engine.status(id) == Some(Status::LoggedOn);
            if !on || running.engine.unsent_bytes(id) > UNSENT_BYTES_MAX {
                self.next = Some((item, due));
                return Ok(SOON);
            }
            let now = Instant::now();
            let due = due.or_else(|| self.pace.due(item.sent, now));
            if let Some(due) = due.filter(|due| *due > now) {
                self.next = Some((item, Some(due)));
                return Ok(due - now);
            }
            let clock = running.clock;
            let sent = running
                .engine
                .send(id, &item.msg_type, &item.body, &clock, app);
            match sent {
                Some(Ok(_)) => self.sent += 1,
                // The session logs out, and connects again: there may be room then.
                Some(Err(SendError::Store(_))) => {
                    self.next = Some((item, due));
                    return Ok(SOON);
                }
                Some(Err(error)) => {
                    let message =
                        format!("cannot send message {} of the log: {error}", self.sent + 1);
                    return Err(Failure::new(message));
                }
                None => {}
            }
            if let Some(due) = due {
                self.response.record_span(due, Instant::now());
            }
        }
        Ok(Duration::ZERO)
    }

    fn note(&mut self, fed: Fed, outcome: &mut Outcome) {
        match fed {
            Fed::Item(_) => {}
            Fed::PassedOver => self.passed_over += 1,
            Fed::Foreign(names) => {
                self.foreign += 1;
                self.first_foreign.get_or_insert(names);
            }
            Fed::Bad(offset, why) => {
                self.bad += 1;
                if self.named.len() < BAD_NAMED {
                    self.named.push((0, offset, why));
                }
            }
            Fed::Ended(bytes, error) => ended_file(&self.files, 0, bytes, error, outcome),
        }
    }

    fn conclude(self, outcome: &mut Outcome) {
        outcome.did(
            self.sent,
            ["message of the log sent", "messages of the log sent"],
        );
        let params = &mut outcome.workload.params;
        params.insert("sent_of_log".to_owned(), self.sent.into());
        params.insert("passed_over".to_owned(), self.passed_over.into());
        params.insert("messages_bad".to_owned(), self.bad.into());
        params.insert("of_other_sessions".to_owned(), self.foreign.into());
        if let Some([begin_string, sender, target]) = self.first_foreign {
            outcome.complete = false;
            let [file] = &self.files;
            message::remark(&format!(
                "{}: {} {} not sent: the settings have no session for them; the first is of {begin_string} from '{sender}' to '{target}'",
                files::display(file),
                self.foreign,
                if self.foreign == 1 {
                    "message was"
                } else {
                    "messages were"
                },
            ));
        }
        if !self.response.is_empty() {
            outcome.add(&self.response.finish());
        }
        conclude_bad(self.bad, self.named, &self.files, outcome);
    }
}
