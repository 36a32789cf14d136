//! Connections that were accepted: their first message says which session they are for.

use fixcore::io::Id;

use super::clock::Clock;
use super::connection::{Connection, Stage};
use super::core::Engine;
use super::happening::{Happening, TurnedAway};
use super::listen::Accepted;
use crate::application::Application;
use crate::first::{First, first_message};
use crate::id::SessionId;
use crate::now::Now;

impl Engine {
    /// Takes the connections that other threads opened.
    pub(super) fn visitors(&mut self, now: Now, app: &mut impl Application) {
        while let Ok(accepted) = self.accepted.try_recv() {
            self.accept(accepted, now);
        }
        while let Ok(dialed) = self.dialed.try_recv() {
            self.dialed(dialed, now, app);
        }
    }

    fn accept(&mut self, accepted: Accepted, now: Now) {
        let Accepted {
            stream,
            listener,
            peer,
        } = accepted;
        if self.stopping.is_some() {
            return;
        }
        let owner = self
            .slots
            .iter()
            .find(|slot| slot.listener == Some(listener));
        let socket = owner.map(|slot| &slot.settings.endpoint.socket);
        let template = self
            .templates
            .iter()
            .find(|template| template.listener == Some(listener));
        let socket = socket.or(template.map(|template| &template.settings.endpoint.socket));
        if let Some(socket) = socket {
            super::dialing::set(&stream, socket);
        }
        let tls = owner.map(|slot| &slot.tls);
        let tls = tls
            .or(template.map(|template| &template.tls))
            .cloned()
            .flatten();
        let tls = tls.map(|config| config.connect("")).transpose();
        let added = tls
            .ok()
            .and_then(|tls| Some((self.streams.add(stream).ok()?, tls)));
        match added {
            Some((id, tls)) => {
                let stated = self.logon_timeouts.get(listener).copied().flatten();
                let timeout = stated.unwrap_or(self.options.first_message_timeout);
                let until = now.monotonic.saturating_add(timeout);
                let bytes = Vec::new();
                let stage = Stage::First {
                    bytes,
                    listener,
                    until,
                };
                let mut connection = Connection::new(id, Some(peer), stage, now.monotonic);
                connection.tls = tls.map(Box::new);
                self.connect(connection);
                self.connection_timers.arm(id.place(), until);
            }
            None => {
                let why = TurnedAway::Full;
                self.happenings
                    .push_back(Happening::TurnedAway { peer, why });
            }
        }
    }

    /// More of a first message came. How many messages were handled.
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
