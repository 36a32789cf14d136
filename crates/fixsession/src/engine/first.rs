//! Connections that were accepted: their first message says which session they are for.

use std::time::Duration;

use fixcore::io::Id;

use super::clock::Clock;
use super::connection::{Connection, Stage};
use super::core::Engine;
use super::happening::{Happening, TurnedAway};
use super::lobby::{Accepted, Note};
use super::tls::Config;
use crate::application::Application;
use crate::first::{First, first_message};
use crate::id::SessionId;
use crate::now::Now;
use crate::settings::SocketOptions;

impl Engine {
    /// Takes connections that other threads opened: some of them, for the sessions have their turn, too. How many
    /// messages were handled.
    pub(super) fn visitors(&mut self, clock: &impl Clock, app: &mut impl Application) -> usize {
        let mut handled = 0;
        let start = clock.now();
        let until = start.monotonic.saturating_add(self.options.turn_time_max);
        self.visitors_wait = false;
        while let Ok(note) = self.notes.try_recv() {
            self.happenings.push_back(match note {
                Note::Away(peer, why) => Happening::TurnedAway { peer, why },
                Note::More(more) => Happening::MoreTurnedAway(more),
            });
        }
        while let Ok(dialed) = self.dialed.try_recv() {
            self.dialed(dialed, clock.now(), app);
        }
        while let Ok(accepted) = self.accepted.try_recv() {
            handled += self.accept(accepted, clock, app);
            if clock.now().monotonic >= until {
                self.visitors_wait = true;
                break;
            }
        }
        handled
    }

    /// How long a Logon at a port may take.
    pub(super) fn logon_timeout(&self, listener: usize) -> Duration {
        let stated = self.logon_timeouts.get(listener).copied().flatten();
        stated.unwrap_or(self.options.first_message_timeout)
    }

    /// What the first session or template of a port states about its sockets, and what encrypts its connections.
    fn port(&self, listener: usize) -> Option<(&SocketOptions, &Option<Config>)> {
        let mut slots = self.slots.iter();
        let owner = slots.find(|slot| slot.listener == Some(listener));
        let owner = owner.map(|slot| (&slot.settings.endpoint.socket, &slot.tls));
        let mut templates = self.templates.iter();
        let template = templates.find(|template| template.listener == Some(listener));
        owner.or(template.map(|template| (&template.settings.endpoint.socket, &template.tls)))
    }

    /// What encrypts the connections of a port.
    pub(super) fn encryption_at(&self, listener: usize) -> Option<&Config> {
        self.port(listener)?.1.as_ref()
    }

    fn accept(
        &mut self,
        accepted: Accepted,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let Accepted {
            stream,
            listener,
            peer,
            bytes,
        } = accepted;
        if self.stopping.is_some() {
            return 0;
        }
        let now = clock.now();
        if let Some((socket, _)) = self.port(listener) {
            super::dialing::set(&stream, socket);
        }
        let tls = self.encryption_at(listener);
        let tls = tls.map(|config| config.connect("")).transpose();
        let added = tls
            .ok()
            .and_then(|tls| Some((self.streams.add(stream).ok()?, tls)));
        match added {
            Some((id, tls)) => {
                let until = now.monotonic.saturating_add(self.logon_timeout(listener));
                let has_logon = !bytes.is_empty();
                let stage = Stage::First {
                    bytes,
                    listener,
                    until,
                };
                let mut connection = Connection::new(id, Some(peer), stage, now.monotonic);
                connection.tls = tls.map(Box::new);
                self.connect(connection);
                self.connection_timers.arm(id.place(), until);
                match has_logon {
                    true => self.first(id, clock, app),
                    false => 0,
                }
            }
            None => {
                let why = TurnedAway::Full;
                self.happenings
                    .push_back(Happening::TurnedAway { peer, why });
                0
            }
        }
    }

    /// A first message, or more of one with TLS, came. How many messages were handled.
    pub(super) fn first(
        &mut self,
        id: Id,
        clock: &impl Clock,
        app: &mut impl Application,
    ) -> usize {
        let bytes_max = self.options.first_message_bytes_max;
        let Some(connection) = self.connection_mut(id) else {
            return 0;
        };
        let Stage::First {
            bytes, listener, ..
        } = &mut connection.stage
        else {
            return 0;
        };
        let listener = *listener;
        let name = match first_message(bytes, bytes_max) {
            First::NeedMore => return 0,
            First::Refused(_) => return self.turn_away(id, TurnedAway::NoLogon),
            First::Logon { id } => id,
        };
        let bytes = std::mem::take(bytes);
        let peer = connection.peer;
        let now = clock.now();
        let at = match self.find(&name, listener, now) {
            Ok(at) => at,
            Err(why) => return self.turn_away(id, why),
        };
        let renewed = self.slots.get_mut(at).map(|slot| slot.renew(now));
        let Some(slot) = self.slots.get_mut(at) else {
            return 0;
        };
        let name = || slot.name();
        if let Some(Err(failure)) = renewed {
            let (id_, what) = (name(), failure.to_string());
            self.happenings
                .push_back(Happening::Failed { id: id_, what });
            return self.turn_away(id, TurnedAway::Full);
        }
        let refused = if peer.is_some_and(|peer| !slot.allows(peer)) {
            Some(TurnedAway::NotAllowed(name()))
        } else if slot.connection.is_some() {
            Some(TurnedAway::Duplicate(name()))
        } else if !slot.in_hours || !slot.enabled {
            Some(TurnedAway::Closed(name()))
        } else {
            None
        };
        if let Some(why) = refused {
            return self.turn_away(id, why);
        }
        self.happenings
            .push_back(Happening::Connected { id: name(), peer });
        slot.connection = Some(id);
        slot.fed = bytes.len();
        let (session, mut logged) = slot.split(app, now);
        session.connected(now, &mut logged);
        let progress = session.bytes(&bytes, 1, now, &mut logged);
        if let Some(connection) = self.connection_mut(id) {
            connection.stage = Stage::Session(at);
        }
        self.handle(at, progress, now, clock, app)
    }

    /// The session of an identity, made of a template if it has to be.
    fn find(&mut self, name: &SessionId, listener: usize, now: Now) -> Result<usize, TurnedAway> {
        let mut short = name.clone();
        for part in [
            &mut short.sender_sub,
            &mut short.sender_location,
            &mut short.target_sub,
            &mut short.target_location,
        ] {
            part.clear();
        }
        // Sub and location ids are part of an identity only where the settings state them.
        let known = self
            .by_id
            .get(name)
            .or_else(|| self.by_id.get(&short))
            .copied();
        let here = |at: &usize| {
            let slot = self.slots.get(*at);
            slot.is_some_and(|slot| slot.listener == Some(listener))
        };
        if let Some(at) = known {
            return match here(&at) {
                true => Ok(at),
                false => Err(TurnedAway::Unknown(Box::new(name.clone()))),
            };
        }
        let template = self.templates.iter().find(|template| {
            template.listener == Some(listener) && template.settings.matches(name)
        });
        let Some(template) = template else {
            let near = self.templates.iter().find(|template| {
                template.listener == Some(listener) && template.settings.matches(&short)
            });
            let id = Box::new(name.clone());
            return Err(match near {
                Some(near) => TurnedAway::Unstated {
                    id,
                    line: near.settings.line,
                    keys: unstated(&near.settings.session.id, name),
                },
                None => TurnedAway::Unknown(id),
            });
        };
        if self.dynamic >= self.options.dynamic_sessions_max {
            return Err(TurnedAway::Full);
        }
        let mut settings = template.settings.for_session(name.clone());
        settings.is_template = false;
        match self.add(settings, Some(listener), now) {
            Ok(at) => {
                self.dynamic += 1;
                Ok(at)
            }
            Err(error) => {
                let (id, what) = (Box::new(name.clone()), error.to_string());
                self.happenings.push_back(Happening::Failed { id, what });
                Err(TurnedAway::Full)
            }
        }
    }

    /// Closes a connection without an answer. 0, for it handled no message.
    pub(super) fn turn_away(&mut self, id: Id, why: TurnedAway) -> usize {
        if let Some(peer) = self.connection(id).and_then(|connection| connection.peer) {
            self.happenings
                .push_back(Happening::TurnedAway { peer, why });
        }
        self.drop_connection(id);
        0
    }

    /// Closes the connections that have no session yet.
    pub(super) fn drop_first(&mut self, _: Now) {
        let first = self.connections.iter().flatten();
        let first = first.filter(|connection| matches!(connection.stage, Stage::First { .. }));
        let ids: Vec<Id> = first.map(|connection| connection.id).collect();
        for id in ids {
            self.drop_connection(id);
        }
    }
}

/// The keys of the parts of an identity that a Logon has and a template does not state.
fn unstated(template: &SessionId, name: &SessionId) -> Vec<&'static str> {
    let parts = [
        ("SenderSubID", &template.sender_sub, &name.sender_sub),
        (
            "SenderLocationID",
            &template.sender_location,
            &name.sender_location,
        ),
        ("TargetSubID", &template.target_sub, &name.target_sub),
        (
            "TargetLocationID",
            &template.target_location,
            &name.target_location,
        ),
    ];
    let lacking = parts
        .into_iter()
        .filter(|(_, pattern, part)| pattern.is_empty() && !part.is_empty());
    lacking.map(|(key, ..)| key).collect()
}
