//! An engine of one session without sockets, driven by a run of a scenario under a simulated clock.

use std::time::Duration;

use fixcore::dict::Version;
use fixcore::{Frame, Framer, Timestamp};
use fixsession::certify::{
    Connection, Counterparty, Finished, Request, Reset, Run, Scenario, begin_string,
};
use fixsession::{
    Dictionaries, Echo, First, MemoryStore, Now, Session, SessionId, SessionOptions, Status,
    first_message,
};

/// 2026-01-05 10:00:00 UTC.
const BEGIN: Timestamp = Timestamp(1_767_607_200_000_000_000);
/// A connection without a Logon is closed after this.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// Calls of one run: a run that needs more goes in a circle.
const TURNS_MAX: usize = 100_000;

/// Changes a message of the engine on its way; `None` loses it.
pub(crate) type Change = fn(&[u8]) -> Option<Vec<u8>>;

/// A connection as the engine sees it.
enum Line {
    Closed,
    /// Before the session is known, with the bytes so far.
    First(Vec<u8>, Duration),
    Session,
}

pub(crate) struct Engine {
    session: Session<MemoryStore>,
    echo: Echo,
    lines: [Line; 2],
    framer: Framer,
    monotonic: Duration,
    pub(crate) change: Change,
    /// Whether the engine closes connections when it has to.
    pub(crate) closes: bool,
    /// How often an initiator connects.
    pub(crate) connects: u32,
}

impl Engine {
    /// An engine as `us` expects it.
    pub(crate) fn new(version: Version, us: &Counterparty) -> Self {
        Self::with(version, us, |_| {})
    }

    /// An engine with other options.
    pub(crate) fn with(
        version: Version,
        us: &Counterparty,
        change: fn(&mut SessionOptions),
    ) -> Self {
        let begin = begin_string(version);
        let mut options = SessionOptions::new(SessionId::new(begin, "ENGINE", "CERTIFY"));
        options.reset_on_logon = us.reset == Reset::Engine;
        options.role = us.role;
        let application = match version {
            Version::Fix50 => "7",
            Version::Fix50Sp1 => "8",
            _ => "9",
        };
        options.default_appl_ver_id = Some(application.to_owned());
        change(&mut options);
        let dictionaries = Dictionaries::built_in(begin);
        Self {
            session: Session::new(options, dictionaries, MemoryStore::new(BEGIN)),
            echo: Echo::default(),
            lines: [Line::Closed, Line::Closed],
            framer: Framer::new(),
            monotonic: Duration::ZERO,
            change: |bytes| Some(bytes.to_vec()),
            closes: true,
            connects: u32::MAX,
        }
    }

    fn now(&self) -> Now {
        let ns = i64::try_from(self.monotonic.as_nanos()).unwrap();
        Now {
            monotonic: self.monotonic,
            utc: Timestamp(BEGIN.0 + ns),
        }
    }

    /// Runs a scenario to its end.
    pub(crate) fn run(
        mut self,
        scenario: &Scenario,
        version: Version,
        us: &Counterparty,
    ) -> Finished {
        let mut run = Run::new(scenario, version, us);
        for _ in 0..TURNS_MAX {
            match run.next(self.now()) {
                Request::Connect(connection) => {
                    self.lines[connection as usize] = Line::First(Vec::new(), self.monotonic);
                    run.connected(connection, self.now());
                }
                Request::Accept(connection) if self.connects == 0 => {
                    run.refused(connection, "the engine does not connect");
                }
                Request::Accept(connection) => {
                    self.connects -= 1;
                    self.lines[connection as usize] = Line::Session;
                    self.framer = Framer::new();
                    run.connected(connection, self.now());
                    self.session.connected(self.now(), &mut self.echo);
                    self.deliver(&mut run);
                }
                Request::Send(connection, bytes) => self.bytes(connection, &bytes, &mut run),
                Request::Close(connection) => self.ended(connection),
                Request::Wait(until) => self.wait(until, &mut run),
                Request::Done => return run.finish(),
                _ => unreachable!("requests of this version"),
            }
        }
        run.fail("the run goes in a circle");
        run.finish()
    }

    fn bytes(&mut self, connection: Connection, bytes: &[u8], run: &mut Run) {
        let at = connection as usize;
        // Not all at once: the clock moves.
        self.monotonic += Duration::from_micros(50);
        let now = self.now();
        match &mut self.lines[at] {
            Line::Closed => return,
            Line::Session => {
                self.session.bytes(bytes, usize::MAX, now, &mut self.echo);
            }
            Line::First(first, _) => {
                first.extend_from_slice(bytes);
                match first_message(first, 1 << 20) {
                    First::NeedMore => return,
                    First::Logon { id }
                        if *id == *self.session.id()
                            && self.session.status() == Status::Disconnected =>
                    {
                        let first = std::mem::take(first);
                        self.lines[at] = Line::Session;
                        self.framer = Framer::new();
                        self.session.connected(now, &mut self.echo);
                        self.session.bytes(&first, usize::MAX, now, &mut self.echo);
                    }
                    _ => {
                        self.lines[at] = Line::Closed;
                        run.ended(connection, now);
                        return;
                    }
                }
            }
        }
        self.deliver(run);
    }

    /// Hands over what the session has written, and closes if it wants that.
    fn deliver(&mut self, run: &mut Run) {
        let Some(at) = self
            .lines
            .iter()
            .position(|line| matches!(line, Line::Session))
        else {
            return;
        };
        let connection = [Connection::A, Connection::B][at];
        let now = self.now();
        loop {
            let output = self.session.output().to_vec();
            self.session.sent(output.len());
            self.framer.push(&output);
            while let Some(frame) = self.framer.next_frame() {
                let Frame::Message { bytes, .. } = frame else {
                    panic!("the session wrote {frame:?}");
                };
                if let Some(changed) = (self.change)(bytes) {
                    run.received(connection, &changed, now);
                }
            }
            if !self.session.has_work() && self.session.output().is_empty() {
                break;
            }
            self.session.bytes(&[], usize::MAX, now, &mut self.echo);
        }
        if self.session.close() && self.closes {
            self.ended(connection);
            run.ended(connection, now);
        }
    }

    fn ended(&mut self, connection: Connection) {
        let now = self.now();
        let line = std::mem::replace(&mut self.lines[connection as usize], Line::Closed);
        if matches!(line, Line::Session) {
            self.session.disconnected(now, &mut self.echo);
        }
    }

    /// Moves the clock to the next thing that happens.
    fn wait(&mut self, until: Duration, run: &mut Run) {
        let mut next = until.max(self.monotonic);
        for line in &self.lines {
            match line {
                Line::Closed => {}
                Line::First(_, since) => next = next.min(*since + FIRST_WAIT),
                Line::Session => next = next.min(self.session.deadline().unwrap_or(next)),
            }
        }
        self.monotonic = next.max(self.monotonic);
        let now = self.now();
        for connection in [Connection::A, Connection::B] {
            match &self.lines[connection as usize] {
                Line::First(_, since) if *since + FIRST_WAIT <= now.monotonic => {
                    self.lines[connection as usize] = Line::Closed;
                    run.ended(connection, now);
                }
                Line::Session => {
                    self.session.tick(now, &mut self.echo);
                }
                _ => {}
            }
        }
        self.deliver(run);
    }
}
