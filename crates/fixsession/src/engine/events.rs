//! What bytes and time do to sessions, and what follows: output, deadlines, further turns.

use fixcore::io::{Id, Lent};

use super::clock::Clock;
use super::connection::{Connection, Stage};
use super::core::Engine;
use super::happening::Slow;
use super::timing::Timing;
use crate::application::Application;
use crate::now::Now;

/// Bytes that a session may have ahead of what it handled before receiving is paused.
const AHEAD_BYTES_MAX: usize = 256 << 10;

impl Engine {
    /// Adds a connection.
    pub(super) fn connect(&mut self, connection: Connection) {
        let place = connection.id.place();
        if self.connections.len() <= place {
            self.connections.resize_with(place + 1, || None);
        }
        if let Some(free) = self.connections.get_mut(place) {
            *free = Some(connection);
        }
    }

    /// Bytes came. How many messages were handled.
    pub(super) fn received(
        &mut self,
        id: Id,
        lent: Lent,
        start: Now,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let bytes = self.streams.bytes(&lent);
        let connection = self
            .connections
            .get_mut(id.place())
            .and_then(Option::as_mut);
        let at = match connection.filter(|connection| connection.id == id) {
            Some(connection) => match (&mut connection.stage, &connection.tls) {
                (Stage::Session(at), None) => Some(*at),
                // What comes without TLS has a session, or had one.
                (_, None) => None,
                _ => {
                    // Copied, for the connection sends while the streams still own the bytes.
                    let bytes = bytes.to_vec();
                    self.streams.release(lent);
                    return self.encrypted(id, &bytes, clock, app);
                }
            },
            None => {
                self.streams.release(lent);
                return 0;
            }
        };
        let Some((at, slot)) = at.and_then(|at| Some((at, self.slots.get_mut(at)?))) else {
            self.streams.release(lent);
            return 0;
        };
        slot.fed += bytes.len();
        let budget = slot.budget();
        let (session, mut logged) = slot.split(app, start);
        let progress = session.bytes(bytes, budget, start, &mut logged);
        self.streams.release(lent);
        self.handle(at, progress, start, clock, app)
    }

    /// The same for a connection with TLS.
    fn encrypted(
        &mut self,
        id: Id,
        bytes: &[u8],
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let connection = self
            .connections
            .get_mut(id.place())
            .and_then(Option::as_mut);
        let Some(connection) = connection.filter(|connection| connection.id == id) else {
            return 0;
        };
        let result = connection.decrypt(&mut self.streams, bytes, &mut plain);
        let handled = match &mut connection.stage {
            Stage::First { bytes: first, .. } => {
                first.extend_from_slice(&plain);
                self.first(id, clock, app)
            }
            Stage::Session(at) => {
                let at = *at;
                let start = clock.now();
                let slot = self.slots.get_mut(at);
                let progress = slot.map(|slot| {
                    slot.fed += plain.len();
                    let budget = slot.budget();
                    let (session, mut logged) = slot.split(app, start);
                    session.bytes(&plain, budget, start, &mut logged)
                });
                progress.map_or(0, |progress| self.handle(at, progress, start, clock, app))
            }
            Stage::Flushing(_) | Stage::Finished(_) => 0,
        };
        self.plain = plain;
        if let Err(error) = result {
            self.ended(id, Some(error), clock.now(), app);
        }
        handled
    }

    /// Goes on with a session that had more to do.
    pub(super) fn go_on(
        &mut self,
        at: usize,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let start = clock.now();
        let Some(slot) = self.slots.get_mut(at) else {
            return 0;
        };
        slot.ready = false;
        if slot.connection.is_none() {
            return 0;
        }
        let (session, mut logged) = slot.split(app, start);
        let progress = session.bytes(&[], 1, start, &mut logged);
        self.handle(at, progress, start, clock, app)
    }

    /// After the first message of a session's turn: the others of its budget, then what they led to.
    pub(super) fn handle(
        &mut self,
        at: usize,
        first: crate::session::Progress,
        start: Now,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let (mut progress, mut handled, mut last) = (first, 0, start);
        loop {
            handled += progress.handled;
            let idle = progress.handled == 0;
            let is_done =
                !progress.more || progress.close || idle || handled >= self.options.budget_messages;
            let mut is_over = is_done;
            if self.options.timings || !is_done {
                let now = clock.now();
                is_over |= now.monotonic >= self.turn_until;
                if self.options.timings && !idle {
                    let took = now.monotonic.saturating_sub(last.monotonic);
                    self.took(Timing::Message(took));
                }
                last = now;
            }
            if is_over {
                break;
            }
            let Some(slot) = self.slots.get_mut(at) else {
                break;
            };
            let (session, mut logged) = slot.split(app, last);
            progress = session.bytes(&[], 1, last, &mut logged);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            if !progress.more {
                slot.fed = 0;
            }
            self.pace(at);
            if progress.more && !progress.close {
                self.queue(at);
            }
        }
        self.after(at, last, app);
        if self.options.timings && handled > 0 {
            let end = clock.now().monotonic;
            self.took(Timing::Call(end.saturating_sub(start.monotonic)));
        }
        handled
    }

    /// Pauses receiving for a session that is behind, and goes on with one that has caught up.
    fn pace(&mut self, at: usize) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        let behind = slot.fed > AHEAD_BYTES_MAX;
        if behind != slot.paused
            && let Some(id) = slot.connection
        {
            slot.paused = behind;
            self.streams.pause(id, behind);
        }
    }

    /// A session gets a further turn.
    fn queue(&mut self, at: usize) {
        if let Some(slot) = self.slots.get_mut(at)
            && !std::mem::replace(&mut slot.ready, true)
        {
            self.ready.push_back(at);
        }
    }

    /// What follows any call into a session: its output goes out, its deadline is armed, its end is seen.
    pub(super) fn after(&mut self, at: usize, now: Now, app: &mut impl Application) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        if slot.takes_log() {
            self.log_due.push(at);
        }
        let on = slot.is_logged_on();
        if on != slot.logged_on_since.is_some() {
            slot.logged_on_since = on.then_some(now.monotonic);
            if on && let Some(hosts) = &mut slot.hosts {
                hosts.succeeded();
            }
        }
        if let Some(deadline) = slot.session.deadline() {
            self.session_timers.arm(at, deadline);
        }
        let Some(id) = slot.connection else {
            return;
        };
        let connection = self
            .connections
            .get_mut(id.place())
            .and_then(Option::as_mut);
        let Some(connection) = connection.filter(|connection| connection.id == id) else {
            return;
        };
        while !slot.session.output().is_empty() {
            let sent = connection.send(&mut self.streams, slot.session.output());
            if sent == 0 {
                self.streams.tell_sent(id);
                break;
            }
            slot.session.sent(sent);
        }
        let waiting = slot.session.output().len();
        let unsent = waiting + connection.waiting() + self.streams.queued(id);
        let most = self.options.unsent_bytes_max;
        let (close, work) = (slot.session.close(), slot.session.has_work());
        if unsent > most {
            let slow = Slow::Unsent {
                bytes: unsent,
                most,
            };
            self.too_slow(at, id, slow, now, app);
        } else if slot.scheduled.most > 0
            && let Some(messages) = slot.scheduled.too_many(unsent)
        {
            let most = slot.scheduled.most as usize;
            let slow = Slow::Scheduled { messages, most };
            self.too_slow(at, id, slow, now, app);
        } else if close || (slot.ended && !slot.ready) {
            self.part(at, None, now, app);
        } else if work && waiting == 0 {
            self.queue(at);
        }
    }

    /// The deadline of a session may have come.
    pub(super) fn tick(&mut self, at: usize, now: Now, app: &mut impl Application) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        let due = slot
            .session
            .deadline()
            .is_some_and(|deadline| deadline <= now.monotonic);
        if due {
            let (session, mut logged) = slot.split(app, now);
            let progress = session.tick(now, &mut logged);
            if progress.more {
                self.queue(at);
            }
        }
        self.after(at, now, app);
    }

    /// Room became free for a stream's bytes.
    pub(super) fn sent(&mut self, id: Id, now: Now, app: &mut impl Application) {
        match self.connection(id).map(|connection| &connection.stage) {
            Some(Stage::Session(at)) => {
                let at = *at;
                if let Some(Some(connection)) = self.connections.get_mut(id.place()) {
                    connection.pull(&mut self.streams);
                }
                self.after(at, now, app);
            }
            Some(Stage::Flushing(_)) => self.flushed(id, now),
            _ => {}
        }
    }
}
