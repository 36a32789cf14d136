//! The engine: its state, and one turn of it.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use fixcore::io::{Backend, Counts, Id, StreamEvent, Streams, Wait};

use super::clock::Clock;
use super::connection::Connection;
use super::dial::Dialed;
use super::dictionaries::Read;
use super::error::EngineError;
use super::happening::Happening;
use super::listen::Listeners;
use super::lobby::{Accepted, Note};
use super::options::EngineOptions;
use super::slot::Slot;
use super::status::SessionState;
use super::timers::Timers;
use super::timing::Timing;
use super::tls::Config;
use super::wake::Waker;
use crate::application::Application;
use crate::id::SessionId;
use crate::now::Now;
use crate::session::{SendError, Sent, Status};
use crate::settings::SessionSettings;

/// How often connections are checked for progress.
const SWEEP: Duration = Duration::from_secs(1);
/// Happenings that are kept for whoever asks; older ones are dropped.
const HAPPENINGS_MAX: usize = 1024;
/// Timings of a turn that are kept.
const TIMINGS_MAX: usize = 1 << 16;

/// Acceptor sessions that are made when their first Logon comes.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) settings: SessionSettings,
    pub(super) listener: Option<usize>,
    pub(super) tls: Option<Config>,
}

/// Many sessions on one thread, which opens the engine and then calls [`turn`](Self::turn).
#[derive(Debug)]
pub struct Engine {
    pub(super) options: EngineOptions,
    pub(super) streams: Streams,
    /// The stream that other threads wake this one by.
    pub(super) wake: Id,
    pub(super) waker: Waker,
    pub(super) slots: Vec<Slot>,
    pub(super) by_id: HashMap<SessionId, usize>,
    pub(super) templates: Vec<Template>,
    pub(super) dictionaries: Read,
    /// By the place of their stream.
    pub(super) connections: Vec<Option<Connection>>,
    pub(super) listeners: Option<Listeners>,
    pub(super) accepted: Receiver<Accepted>,
    pub(super) notes: Receiver<Note>,
    /// Whether more of what other threads opened may wait.
    pub(super) visitors_wait: bool,
    pub(super) dialed: Receiver<Dialed>,
    pub(super) to_dialed: Sender<Dialed>,
    pub(super) dialing: usize,
    /// How many sessions templates have made.
    pub(super) dynamic: usize,
    pub(super) session_timers: Timers,
    pub(super) connection_timers: Timers,
    pub(super) schedule_timers: Timers,
    pub(super) dial_timers: Timers,
    /// Sessions with more to do than their budget allowed.
    pub(super) ready: VecDeque<usize>,
    /// Until when sessions go on with what waits; later each handles one message of its turn.
    pub(super) turn_until: Duration,
    pub(super) next_sweep: Duration,
    /// Sessions whose logs have lines that were not written.
    pub(super) log_due: Vec<usize>,
    /// Decrypted bytes, for the moment.
    pub(super) plain: Vec<u8>,
    pub(super) happenings: VecDeque<Happening>,
    pub(super) timings: Vec<Timing>,
    /// `LogonTimeout` of each listener: the longest that its sessions state.
    pub(super) logon_timeouts: Vec<Option<Duration>>,
    /// Once asked to stop: until when sessions may log out.
    pub(super) stopping: Option<Duration>,
}

impl Engine {
    /// Where it listens, one address for each port of the settings.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        self.listeners.as_ref().map_or(&[], Listeners::addresses)
    }

    /// The system interface of its connections.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.streams.backend()
    }

    /// The counters of its connections.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.streams.counts()
    }

    /// The state of every session.
    pub fn sessions(&self) -> impl Iterator<Item = SessionState> {
        self.slots.iter().map(|slot| {
            let connection = slot.connection.and_then(|id| self.connection(id));
            slot.state(connection.and_then(|connection| connection.peer))
        })
    }

    /// Where a session is in its life, or `None` if there is none of this name.
    #[must_use]
    pub fn status(&self, id: &SessionId) -> Option<Status> {
        let at = *self.by_id.get(id)?;
        Some(self.slots.get(at)?.session.status())
    }

    /// What happened to connections since the last call, the oldest first.
    pub fn happenings(&mut self) -> impl Iterator<Item = Happening> {
        self.happenings.drain(..)
    }

    /// How long messages and calls took since the last call, with [`EngineOptions::timings`].
    pub fn timings(&mut self) -> impl Iterator<Item = Timing> {
        self.timings.drain(..)
    }

    /// Sends an application message: `body` has its fields behind MsgType (35), each `tag=value` and a
    /// byte 1.
    ///
    /// # Errors
    /// There is no such session (`None`), or the session does not send it.
    pub fn send(
        &mut self,
        id: &SessionId,
        msg_type: &[u8],
        body: &[u8],
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> Option<Result<Sent, SendError>> {
        let at = *self.by_id.get(id)?;
        let now = clock.now();
        let (session, mut app_) = self.slots.get_mut(at)?.split(app, now);
        let sent = session.send(msg_type, body, now, &mut app_);
        self.after(at, now, app);
        Some(sent)
    }

    /// How many bytes of a session wait to be sent.
    #[must_use]
    pub fn unsent_bytes(&self, id: &SessionId) -> usize {
        let slot = self.by_id.get(id).and_then(|at| self.slots.get(*at));
        slot.map_or(0, |slot| {
            let queued = slot.connection.map_or(0, |id| self.streams.queued(id));
            slot.session.output().len() + queued
        })
    }

    /// Logs a session out and keeps it so until [`log_on`](Self::log_on). Whether there is such a session.
    pub fn log_out(
        &mut self,
        id: &SessionId,
        text: &str,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> bool {
        let Some(at) = self.by_id.get(id).copied() else {
            return false;
        };
        if let Some(slot) = self.slots.get_mut(at) {
            slot.enabled = false;
        }
        self.log_out_at(at, text, clock.now(), app);
        true
    }

    /// Lets a session log on again. Whether there is such a session.
    pub fn log_on(&mut self, id: &SessionId, clock: &impl Clock) -> bool {
        let at = self.by_id.get(id).copied();
        let Some((at, slot)) = at.and_then(|at| Some((at, self.slots.get_mut(at)?))) else {
            return false;
        };
        slot.enabled = true;
        self.dial_timers.arm(at, clock.now().monotonic);
        true
    }

    /// Stops: takes no new connection, logs out every session, and gives them this time to answer. Go on with
    /// [`turn`](Self::turn) until [`is_stopped`](Self::is_stopped).
    pub fn stop(&mut self, grace: Duration, clock: &impl Clock, app: &mut impl Application) {
        let now = clock.now();
        self.stopping = Some(now.monotonic + grace);
        self.listeners = None;
        for at in 0..self.slots.len() {
            if let Some(slot) = self.slots.get_mut(at) {
                slot.enabled = false;
            }
            self.log_out_at(at, "", now, app);
        }
        self.drop_first(now);
    }

    /// Whether it was asked to stop, and every connection is closed or its time is over.
    #[must_use]
    pub fn is_stopped(&self, clock: &impl Clock) -> bool {
        self.stopping.is_some_and(|until| {
            let now = clock.now().monotonic;
            let mut open = self.connections.iter().flatten();
            now >= until || open.all(|connection| connection.is_done(now))
        })
    }

    /// Writes what the logs of sessions have gathered.
    pub fn flush(&mut self) {
        while let Some(at) = self.log_due.pop() {
            let Some(slot) = self.slots.get_mut(at) else {
                continue;
            };
            slot.log_due = false;
            if let Err(failure) = slot.log.flush() {
                let (id, what) = (slot.name(), failure.to_string());
                self.happenings.push_back(Happening::Failed { id, what });
            }
        }
    }

    /// Does what is due, and waits at most this long for something to do. How many messages were handled.
    ///
    /// # Errors
    /// The system fails. What ends one connection is a [`Happening`].
    pub fn turn(
        &mut self,
        wait_max: Duration,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> Result<usize, EngineError> {
        let mut now = clock.now();
        self.time(now, app);
        let mut handled = match self.visitors_wait {
            true => self.visitors(clock, app),
            false => 0,
        };
        self.turn_until = now.monotonic.saturating_add(self.options.turn_time_max);
        for _ in 0..self.ready.len() {
            let Some(at) = self.ready.pop_front() else {
                break;
            };
            handled += self.go_on(at, clock, app);
            now = clock.now();
            if now.monotonic >= self.turn_until {
                // What came meanwhile goes before the others, which are behind anyway.
                break;
            }
        }
        if !self.log_due.is_empty() && !self.options.busy_poll {
            // Answers first, then the logs, then sleep.
            handled += self.look(Wait::Poll, now, clock, app)?;
            if self.ready.is_empty() {
                self.flush();
            }
            now = clock.now();
        }
        let wait = self.wait(wait_max, now);
        handled += self.look(wait, now, clock, app)?;
        if self.happenings.len() > HAPPENINGS_MAX {
            let dropped = self.happenings.len() - HAPPENINGS_MAX;
            self.happenings.drain(..dropped);
        }
        Ok(handled)
    }

    /// Sends, handles what happened to streams, and sends what that led to. A poll takes no time, so that `now`,
    /// when it began, holds for its first event; later ones, and those after a wait, get the time of their own.
    fn look(
        &mut self,
        wait: Wait,
        now: Now,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> Result<usize, EngineError> {
        self.streams.turn(wait)?;
        let mut handled = 0;
        let is_known = wait == Wait::Poll && !self.options.timings;
        let mut known = is_known.then_some(now);
        let mut is_first = true;
        while let Some(event) = self.streams.next_event() {
            let now = known.take().unwrap_or_else(|| clock.now());
            if std::mem::take(&mut is_first) {
                self.turn_until = now.monotonic.saturating_add(self.options.turn_time_max);
            }
            handled += self.event(event, now, clock, app);
        }
        // A ring takes what is to be sent together with the next wait, in one call.
        if wait == Wait::Poll || self.streams.backend() == Backend::Epoll {
            self.streams.flush()?;
        }
        Ok(handled)
    }

    /// How long the streams may wait.
    fn wait(&self, wait_max: Duration, now: Now) -> Wait {
        let is_behind = !self.ready.is_empty() || self.visitors_wait;
        if self.options.busy_poll || is_behind || wait_max.is_zero() {
            return Wait::Poll;
        }
        let timers = [
            &self.session_timers,
            &self.connection_timers,
            &self.schedule_timers,
            &self.dial_timers,
        ];
        let next = timers.iter().filter_map(|timers| timers.next()).min();
        let next = next.map_or(self.next_sweep, |next| next.min(self.next_sweep));
        let until = next.saturating_sub(now.monotonic).min(wait_max);
        match until.is_zero() {
            true => Wait::Poll,
            false => Wait::For(until),
        }
    }

    /// Calls whose time has come.
    fn time(&mut self, now: Now, app: &mut impl Application) {
        while let Some(at) = self.session_timers.due(now.monotonic) {
            self.tick(at, now, app);
        }
        while let Some(place) = self.connection_timers.due(now.monotonic) {
            self.expire(place, now);
        }
        while let Some(at) = self.schedule_timers.due(now.monotonic) {
            self.check_schedule(at, now, app);
        }
        while let Some(at) = self.dial_timers.due(now.monotonic) {
            self.dial(at, now);
        }
        if now.monotonic >= self.next_sweep {
            self.next_sweep = now.monotonic + SWEEP;
            self.flush();
            self.sweep(now, app);
        }
    }

    /// Handles what happened to a stream.
    fn event(
        &mut self,
        event: StreamEvent,
        now: Now,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        match event {
            StreamEvent::Received(id, lent) if id == self.wake => {
                self.streams.release(lent);
                self.visitors(clock, app)
            }
            StreamEvent::Received(id, lent) => self.received(id, lent, now, clock, app),
            StreamEvent::Sent(id) => {
                self.sent(id, now, app);
                0
            }
            StreamEvent::Ended(id, error) => {
                self.ended(id, error, now, app);
                0
            }
            _ => 0,
        }
    }

    /// Keeps a timing.
    pub(super) fn took(&mut self, timing: Timing) {
        if self.timings.len() < TIMINGS_MAX {
            self.timings.push(timing);
        }
    }

    pub(super) fn connection(&self, id: Id) -> Option<&Connection> {
        let connection = self.connections.get(id.place())?.as_ref();
        connection.filter(|connection| connection.id == id)
    }

    pub(super) fn connection_mut(&mut self, id: Id) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(id.place())?.as_mut();
        connection.filter(|connection| connection.id == id)
    }
}
