//! An engine from settings: sessions, stores, dictionaries, ports.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::net::{IpAddr, TcpListener, ToSocketAddrs as _};
use std::sync::mpsc::{channel, sync_channel};
use std::time::Duration;

use fixcore::io::{Options, Streams};

use super::core::{Engine, Template};
use super::dictionaries::Read;
use super::error::EngineError;
use super::hosts::Hosts;
use super::listen::{self, Listeners};
use super::lobby::{Port, Ways};
use super::logged::Counts;
use super::options::EngineOptions;
use super::scheduled::Scheduled;
use super::slot::Slot;
use super::strangers::Limits;
use super::timers::Timers;
use super::tls::{self, Config};
use super::wake::Waker;
use crate::now::Now;
use crate::options::Role;
use crate::session::Session;
use crate::settings::{RemoteAddress, SessionSettings};
use crate::store::StoreFailure;
use crate::stores::SessionLog;

/// Connections with a Logon that wait for the engine, and notes of those that were turned away.
const ACCEPTED_MAX: usize = 1024;
const NOTES_MAX: usize = 256;

/// Ports by their address, each opened once.
#[derive(Default)]
struct Ports {
    places: HashMap<String, usize>,
    listeners: Vec<TcpListener>,
}

impl Ports {
    fn place(&mut self, settings: &SessionSettings) -> Result<usize, EngineError> {
        let Some(port) = settings.endpoint.accept_port else {
            return Err(lacks(settings, "SocketAcceptPort"));
        };
        let host = settings
            .endpoint
            .accept_address
            .as_deref()
            .unwrap_or("0.0.0.0");
        let address = format!("{host}:{port}");
        if let Some(place) = self.places.get(&address) {
            return Ok(*place);
        }
        let bound = listen::open(host, port, settings.endpoint.socket.reuse_address);
        let listener = bound.map_err(|error| EngineError::Listen {
            address: address.clone(),
            error,
        })?;
        self.listeners.push(listener);
        self.places.insert(address, self.listeners.len() - 1);
        Ok(self.listeners.len() - 1)
    }
}

fn lacks(settings: &SessionSettings, key: &'static str) -> EngineError {
    EngineError::Lacks {
        id: Box::new(settings.session.id.clone()),
        line: settings.line,
        lacks: key,
    }
}

impl Engine {
    /// Opens the stores, dictionaries and ports of these sessions. Nothing is sent before the first
    /// [`turn`](Self::turn).
    ///
    /// # Errors
    /// Something in the settings cannot be had; the error names it.
    pub fn open(
        sessions: Vec<SessionSettings>,
        options: EngineOptions,
        now: Now,
    ) -> Result<Self, EngineError> {
        if sessions.is_empty() {
            return Err(EngineError::NoSessions);
        }
        let limits = Options::default()
            .choice(options.interface)
            .connections_max(options.connections_max.saturating_add(1));
        let mut streams = Streams::open(&limits)?;
        let (waker, watched) = Waker::pair()?;
        let wake = streams.add(watched)?;
        let (to_accepted, accepted) = sync_channel(ACCEPTED_MAX);
        let (to_notes, notes) = sync_channel(NOTES_MAX);
        let (to_dialed, dialed) = channel();
        let mut ports = Ports::default();
        let mut engine = Self {
            options,
            streams,
            wake,
            waker,
            slots: Vec::new(),
            by_id: HashMap::new(),
            templates: Vec::new(),
            dictionaries: Read::default(),
            connections: Vec::new(),
            listeners: None,
            accepted,
            notes,
            visitors_wait: false,
            dialed,
            to_dialed,
            dialing: 0,
            dynamic: 0,
            session_timers: Timers::default(),
            connection_timers: Timers::default(),
            schedule_timers: Timers::default(),
            dial_timers: Timers::default(),
            ready: VecDeque::new(),
            turn_until: Duration::ZERO,
            next_sweep: now.monotonic,
            log_due: Vec::new(),
            plain: Vec::new(),
            happenings: VecDeque::new(),
            timings: Vec::new(),
            logon_timeouts: Vec::new(),
            stopping: None,
        };
        for settings in sessions {
            let acceptor = settings.session.role == Role::Acceptor;
            let listener = match acceptor {
                true => Some(ports.place(&settings)?),
                false => None,
            };
            if let (Some(at), stated) = (listener, settings.endpoint.logon_timeout) {
                if engine.logon_timeouts.len() <= at {
                    engine.logon_timeouts.resize(at + 1, None);
                }
                if let Some(longest) = engine.logon_timeouts.get_mut(at) {
                    *longest = stated.max(*longest);
                }
            }
            if settings.is_template {
                let tls = encryption(&settings)?;
                engine.templates.push(Template {
                    settings,
                    listener,
                    tls,
                });
            } else {
                engine.add(settings, listener, now)?;
            }
        }
        if !ports.listeners.is_empty() {
            let ways = Ways {
                accepted: to_accepted,
                notes: to_notes,
                waker: engine.waker.try_clone()?,
            };
            let limits = Limits {
                most: engine
                    .options
                    .strangers_max
                    .min(engine.options.connections_max),
                most_of_an_address: engine.options.strangers_of_an_address_max,
                bytes_max: engine.options.first_message_bytes_max,
            };
            let listeners = ports.listeners.into_iter().enumerate();
            let ports = listeners.map(|(at, listener)| Port {
                listener,
                logon_timeout: engine.logon_timeout(at),
                has_tls: engine.encryption_at(at).is_some(),
            });
            let listeners = Listeners::start(ports.collect(), limits, ways)?;
            engine.listeners = Some(listeners);
        }
        Ok(engine)
    }

    /// Adds a session; its place.
    pub(super) fn add(
        &mut self,
        settings: SessionSettings,
        listener: Option<usize>,
        now: Now,
    ) -> Result<usize, EngineError> {
        let id = settings.session.id.clone();
        if let Some(first) = self.by_id.get(&id).and_then(|at| self.slots.get(*at)) {
            return Err(EngineError::Twice {
                id: Box::new(id),
                first: first.settings.line,
                second: settings.line,
            });
        }
        let tls = encryption(&settings)?;
        let failed = |failure| EngineError::Store {
            id: Box::new(id.clone()),
            failure,
        };
        let dictionaries = self.dictionaries.of(&settings)?;
        let store = settings.storage.open(&id, now.utc).map_err(failed)?;
        let log = SessionLog::open(&settings.log, &id);
        let log =
            log.map_err(|error| failed(StoreFailure(format!("cannot open its log: {error}"))))?;
        let endpoint = &settings.endpoint;
        let connects = listener.is_none() && !endpoint.is_dynamic;
        if connects && endpoint.connect.is_empty() {
            return Err(lacks(&settings, "SocketConnectHost"));
        }
        let hosts = connects.then(|| {
            Hosts::new(
                endpoint.connect.clone(),
                endpoint.host_selection,
                endpoint.reconnect_intervals.clone(),
            )
        });
        let slot = Slot {
            session: Session::new(settings.session.clone(), dictionaries, store),
            log,
            log_due: false,
            counts: Counts::default(),
            scheduled: Scheduled::new(endpoint.socket.max_scheduled_write_requests),
            last_reason: None,
            connection: None,
            listener,
            allowed: addresses(&endpoint.allowed_remote_addresses),
            tls,
            hosts,
            dialing: false,
            in_hours: false,
            enabled: true,
            logged_on_since: None,
            ready: false,
            ended: false,
            fed: 0,
            paused: false,
            settings,
        };
        let at = self.slots.len();
        self.slots.push(slot);
        self.by_id.insert(id, at);
        self.schedule_timers.arm(at, now.monotonic);
        Ok(at)
    }
}

/// What encrypts the connections of a session.
pub(super) fn encryption(settings: &SessionSettings) -> Result<Option<Config>, EngineError> {
    let Some(options) = &settings.endpoint.tls else {
        return Ok(None);
    };
    let config = match settings.session.role {
        Role::Acceptor => tls::server(options),
        Role::Initiator => tls::client(options),
    };
    let config = config.map_err(|why| EngineError::Unsupported {
        id: Box::new(settings.session.id.clone()),
        line: settings.line,
        key: "SocketUseSSL",
        why,
    });
    config.map(Some)
}

/// The addresses of those that are names.
fn addresses(allowed: &[RemoteAddress]) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for one in allowed {
        if let RemoteAddress::Name(name) = one
            && let Ok(found) = (name.as_str(), 0).to_socket_addrs()
        {
            addresses.extend(found.map(|address| address.ip().to_canonical()));
        }
    }
    addresses
}
