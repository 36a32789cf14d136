//! How connections end: by the peer, by their session, by time, or because the peer does not read.

use std::io;
use std::time::Duration;

use fixcore::io::Id;

use super::connection::{FINISH_TIME, Stage};
use super::core::Engine;
use super::happening::{Happening, Slow, TurnedAway};
use crate::application::Application;
use crate::now::Now;

/// How long the rest of a closed session may take to be sent.
const FLUSH_TIME: Duration = Duration::from_secs(2);

impl Engine {
    /// No more bytes will come.
    pub(super) fn ended(
        &mut self,
        id: Id,
        error: Option<io::Error>,
        now: Now,
        app: &mut impl Application,
    ) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        connection.peer_ended = true;
        match connection.stage {
            Stage::First { .. } => {
                self.turn_away(id, TurnedAway::Gone);
            }
            Stage::Session(at) => {
                if let Some(slot) = self.slots.get_mut(at) {
                    slot.ended = true;
                    // What it sent before is handled first.
                    if slot.ready && error.is_none() {
                        return;
                    }
                }
                self.part(at, error, now, app);
            }
            Stage::Flushing(_) if error.is_none() => {}
            Stage::Flushing(_) | Stage::Finished(_) => self.drop_connection(id),
        }
    }

    /// A session and its connection part: what is left is sent, and the session may have another one.
    pub(super) fn part(
        &mut self,
        at: usize,
        error: Option<io::Error>,
        now: Now,
        app: &mut impl Application,
    ) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        let Some(id) = slot.connection.take() else {
            return;
        };
        let connection = self
            .connections
            .get_mut(id.place())
            .and_then(Option::as_mut);
        if let Some(connection) = connection.filter(|connection| connection.id == id) {
            connection.leave(slot.session.output());
            connection.stage = Stage::Flushing(now.monotonic + FLUSH_TIME);
            self.connection_timers
                .arm(id.place(), now.monotonic + FLUSH_TIME);
        }
        (slot.ended, slot.fed, slot.paused) = (false, 0, false);
        let (session, mut logged) = slot.split(app, now);
        session.disconnected(now, &mut logged);
        if slot.takes_log() {
            self.log_due.push(at);
        }
        slot.logged_on_since = None;
        let failed = error.is_some();
        let name = slot.name();
        self.happenings
            .push_back(Happening::Disconnected { id: name, error });
        match failed {
            true => self.drop_connection(id),
            false => self.flushed(id, now),
        }
        if let Some(slot) = self.slots.get_mut(at)
            && let Some(hosts) = &mut slot.hosts
        {
            hosts.failed(now.monotonic);
            self.dial_timers.arm(at, hosts.next_attempt());
        }
        self.check_schedule(at, now, app);
    }

    /// Sends the rest of a closed session; once that is with the kernel, says so to the peer.
    pub(super) fn flushed(&mut self, id: Id, now: Now) {
        let connection = self
            .connections
            .get_mut(id.place())
            .and_then(Option::as_mut);
        let Some(connection) = connection.filter(|connection| connection.id == id) else {
            return;
        };
        if !connection.flush(&mut self.streams) {
            return;
        }
        if connection.peer_ended {
            self.drop_connection(id);
        } else {
            let until = now.monotonic + FINISH_TIME;
            connection.stage = Stage::Finished(until);
            self.connection_timers.arm(id.place(), until);
            self.streams.finish(id);
        }
    }

    /// The time of a connection is over.
    pub(super) fn expire(&mut self, place: usize, now: Now) {
        let Some(Some(connection)) = self.connections.get(place) else {
            return;
        };
        let id = connection.id;
        let until = match &connection.stage {
            Stage::First { until, .. } | Stage::Flushing(until) | Stage::Finished(until) => *until,
            Stage::Session(_) => return,
        };
        if until > now.monotonic {
            self.connection_timers.arm(place, until);
        } else if matches!(connection.stage, Stage::First { .. }) {
            self.turn_away(id, TurnedAway::Silent);
        } else {
            self.drop_connection(id);
        }
    }

    /// Disconnects whoever does not read.
    pub(super) fn sweep(&mut self, now: Now, app: &mut impl Application) {
        let time_max = self.options.unsent_time_max;
        for at in 0..self.slots.len() {
            let Some(slot) = self.slots.get(at) else {
                continue;
            };
            let Some(id) = slot.connection else {
                continue;
            };
            let waiting = slot.session.output().len();
            let connection = self
                .connections
                .get_mut(id.place())
                .and_then(Option::as_mut);
            let stuck = connection.map(|connection| {
                connection.stuck(&self.streams, waiting, now.monotonic, time_max)
            });
            if let Some(Err(slow)) = stuck {
                self.too_slow(at, id, slow, now, app);
            }
        }
    }

    pub(super) fn too_slow(
        &mut self,
        at: usize,
        id: Id,
        why: Slow,
        now: Now,
        app: &mut impl Application,
    ) {
        if let Some(slot) = self.slots.get_mut(at) {
            let name = slot.name();
            self.happenings.push_back(Happening::Slow { id: name, why });
        }
        // Dropped first: what waits for the peer need not be kept for it.
        self.drop_connection(id);
        self.part(at, None, now, app);
    }

    /// Closes a connection at once.
    pub(super) fn drop_connection(&mut self, id: Id) {
        if let Some(place) = self.connections.get_mut(id.place())
            && place.as_ref().is_some_and(|connection| connection.id == id)
        {
            *place = None;
            self.streams.close(id);
        }
    }
}
