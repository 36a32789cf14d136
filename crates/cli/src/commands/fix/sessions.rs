//! What `fix acceptor` and `fix initiator` share: sessions from settings, turns of their engine, the report.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixsession::engine::{
    Engine, EngineError, EngineOptions, Happening, SessionState, SystemClock, Timing,
};
use fixsession::settings::Settings;
use fixsession::{Application, Credentials, Role, SessionId, Status};
use latency::report::{LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome};

use crate::commands::fix::session_flags::SessionsArgs;
use crate::commands::fix::shown::{Refused, SHOWN_MAX, Screens, Shown};
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// How long a turn waits at most, so that signals are seen.
pub(super) const WAIT: Duration = Duration::from_millis(50);
/// Sessions that a report lists.
const SESSIONS_LISTED: usize = 1000;

/// An engine at work.
pub(super) struct Running<'a> {
    pub(super) engine: Engine,
    pub(super) clock: SystemClock,
    args: &'a SessionsArgs,
    began: Instant,
    service: Recorder,
    hold: Recorder,
    warns: bool,
    /// Events that are still shown.
    shown_left: u32,
    screens: Screens,
    /// Whether a store or a log could not be written.
    failed: bool,
    /// Who may log on; `None` for everybody.
    pub(super) users: Option<Credentials>,
    /// What peers refused.
    pub(super) refused: Refused,
    /// DefaultApplVerID of the sessions that state one.
    pub(super) appl_ver_ids: HashMap<SessionId, String>,
    progress: Progress,
}

impl<'a> Running<'a> {
    /// Reads the settings, and opens the sessions of a role.
    pub(super) fn open(args: &'a SessionsArgs, role: Role, session: &Session) -> Result<Self> {
        let warns = args.output.terminal.wants_warnings();
        let settings = Settings::read(&args.settings).map_err(|failure| {
            for error in failure.errors.iter().skip(1) {
                message::failure(&Failure::new(error.to_string()));
            }
            Failure::new(failure.to_string())
                .help("`perfkit fix settings check` says what each line does")
        })?;
        if warns {
            for warning in &settings.warnings {
                message::remark(&warning.to_string());
            }
        }
        let sessions: Vec<_> = settings
            .sessions
            .into_iter()
            .filter(|session| session.session.role == role)
            .collect();
        let screens = Screens::new(&sessions);
        let stated = sessions.iter().filter_map(|settings| {
            let version = settings.session.default_appl_ver_id.clone()?;
            Some((settings.session.id.clone(), version))
        });
        let appl_ver_ids = stated.collect();
        let mut options = EngineOptions::default();
        options.interface = args.interface;
        options.busy_poll = args.busy_poll;
        options.budget_messages = args.budget as usize;
        options.timings = session.has_report();
        let clock = SystemClock::new();
        let now = fixsession::engine::Clock::now(&clock);
        let engine = Engine::open(sessions, options, now).map_err(|error| failed(&error))?;
        let recorder = |name, what: &str| {
            let spec = Spec::new(name, what);
            Recorder::new(session.spec(spec), session.run_start())
        };
        let calls = format!("turn of up to {} messages", args.budget);
        Ok(Self {
            engine,
            clock,
            args,
            began: Instant::now(),
            service: recorder(LatencyName::Service, "message"),
            hold: recorder(LatencyName::Hold, &calls),
            warns,
            shown_left: if warns { SHOWN_MAX } else { 0 },
            screens,
            failed: false,
            users: None,
            refused: Refused::default(),
            appl_ver_ids,
            progress: Progress::counting(args.output.terminal.wants_progress(), "messages"),
        })
    }

    /// Whether a signal or `--duration` asks to stop.
    pub(super) fn is_over(&self) -> bool {
        let over = |duration| self.began.elapsed() >= duration;
        signal::flag().load(Relaxed) || self.args.duration.is_some_and(over)
    }

    /// One turn.
    pub(super) fn turn(&mut self, app: &mut impl Application, wait: Duration) -> Result<()> {
        let mut app = Shown {
            app,
            left: &mut self.shown_left,
            screens: &self.screens,
            failed: &mut self.failed,
            users: self.users.as_ref(),
            refused: &mut self.refused,
        };
        let handled = self.engine.turn(wait, &self.clock, &mut app);
        let handled = handled.map_err(|error| failed(&error))? as u64;
        self.progress.add(handled);
        for timing in self.engine.timings() {
            let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            match timing {
                Timing::Message(time) => self.service.record_ns(ns(time)),
                Timing::Call(time) => self.hold.record_ns(ns(time)),
                _ => {}
            }
        }
        let mut ended = Vec::new();
        for happening in self.engine.happenings() {
            self.failed |= matches!(happening, Happening::Failed { .. });
            if let Happening::Disconnected { id, error: None } = &happening {
                ended.push((**id).clone());
            }
            match happening {
                _ if !self.warns => {}
                Happening::Connected { .. } | Happening::Disconnected { error: None, .. } => {
                    message::status(&happening.to_string());
                }
                _ => message::remark(&happening.to_string()),
            }
        }
        for id in ended {
            self.unknown(&id);
        }
        Ok(())
    }

    /// Says what to look at if the peer of a session that connects closed the connection without an answer.
    fn unknown(&mut self, id: &SessionId) {
        let is_it = |state: &SessionState| {
            state.id == *id && state.connects && state.logons == 0 && state.last_reason.is_none()
        };
        if !self.engine.sessions().any(|state| is_it(&state)) {
            return;
        }
        let why = no_answer(id);
        if self.shown_left > 0 {
            self.shown_left -= 1;
            message::remark(&format!("{id}: {why}"));
        }
        self.refused.last.insert(id.clone(), why);
    }

    /// Logs every session out.
    pub(super) fn stop(&mut self, app: &mut impl Application) -> Result<()> {
        let mut shown = Shown {
            app: &mut *app,
            left: &mut self.shown_left,
            screens: &self.screens,
            failed: &mut self.failed,
            users: self.users.as_ref(),
            refused: &mut self.refused,
        };
        self.engine.stop(self.args.grace, &self.clock, &mut shown);
        while !self.engine.is_stopped(&self.clock) {
            self.turn(app, Duration::from_millis(20))?;
        }
        self.engine.flush();
        Ok(())
    }

    /// Whether a session that connects by itself, and is within its hours, was never logged on; the first of them is
    /// named.
    pub(super) fn lacks_logon(&self) -> bool {
        let lacks = |state: &SessionState| state.connects && state.in_hours && state.logons == 0;
        let first = self.engine.sessions().find(lacks);
        if let Some(state) = &first
            && self.warns
        {
            let why = state.last_reason.as_ref();
            let why = why.or_else(|| self.refused.last.get(&state.id));
            let why = why.map_or("no time", String::as_str);
            message::remark(&format!("{} never logged on: {why}", state.id));
        }
        first.is_some()
    }

    /// What came of it.
    pub(super) fn conclude(self, outcome: &mut Outcome) {
        self.progress.finish();
        let columns = [
            ("session", Unit::Text),
            ("status", Unit::Text),
            ("next sender", Unit::Count),
            ("next target", Unit::Count),
            ("received", Unit::Count),
            ("sent", Unit::Count),
            ("logons", Unit::Count),
            ("last reason", Unit::Text),
        ];
        let mut table = Table::new("sessions", &columns);
        let (mut count, mut received, mut sent) = (0_u64, 0, 0);
        for state in self.engine.sessions() {
            (count, sent) = (count + 1, sent + state.sent);
            received += state.received;
            if table.rows.len() < SESSIONS_LISTED {
                let refused = || self.refused.last.get(&state.id).cloned();
                let reason = state.last_reason.clone().or_else(refused);
                table.rows.push(vec![
                    state.id.to_string().into(),
                    status(state.status).into(),
                    state.next_sender.into(),
                    state.next_target.into(),
                    state.received.into(),
                    state.sent.into(),
                    state.logons.into(),
                    reason.into(),
                ]);
            }
        }
        outcome.tables.push(table);
        outcome.ops = Some(received);
        outcome.did(count, ["session", "sessions"]);
        outcome.did(received, ["message received", "messages received"]);
        outcome.did(sent, ["message sent", "messages sent"]);
        if self.refused.count > 0 {
            outcome.did(
                self.refused.count,
                [
                    "message refused by the peer",
                    "messages refused by the peer",
                ],
            );
        }
        let counts = self.engine.counts();
        let params = &mut outcome.workload.params;
        let interface = self.engine.backend().to_string();
        params.insert("interface".to_owned(), interface.into());
        params.insert("refused_by_peer".to_owned(), self.refused.count.into());
        params.insert("busy_poll".to_owned(), self.args.busy_poll.into());
        params.insert("budget_messages".to_owned(), self.args.budget.into());
        params.insert("syscalls".to_owned(), counts.syscalls.into());
        for recorder in [self.service, self.hold] {
            if !recorder.is_empty() {
                outcome.add(&recorder.finish());
            }
        }
        outcome.complete &= !self.failed;
        if outcome.status == ExitStatus::Ok && !outcome.complete {
            outcome.status = ExitStatus::Partial;
        }
    }
}

/// Why a peer may close a connection after our Logon without an answer.
fn no_answer(id: &SessionId) -> String {
    let SessionId {
        sender,
        target,
        begin_string,
        ..
    } = id;
    format!(
        "the peer closed the connection after our Logon; it may not know SenderCompID {sender} with TargetCompID {target} in {begin_string}"
    )
}

/// What the order ids of this run begin with: its time, so that they do not come again.
pub(super) fn id_prefix() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    format!("{:X}-", since.map_or(0, |since| since.as_millis()))
}

/// The name of a status in reports.
fn status(status: Status) -> &'static str {
    match status {
        Status::Disconnected => "disconnected",
        Status::AwaitingLogon => "awaiting logon",
        Status::LogonSent => "logon sent",
        Status::LoggedOn => "logged on",
        Status::LogoutSent => "logout sent",
        _ => "closing",
    }
}

/// What the user reads of an engine that fails.
pub(super) fn failed(error: &EngineError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        EngineError::NoSessions => {
            failure.help("set ConnectionType=acceptor or initiator in the settings")
        }
        EngineError::Listen { .. } => failure.help("choose another SocketAcceptPort"),
        EngineError::Store { .. } => failure.help(
            "check FileStorePath and FileLogPath, and that no other process has the store open",
        ),
        _ => failure,
    }
}
