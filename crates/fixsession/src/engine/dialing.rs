//! Initiators: when they connect, and what schedules do to sessions.

use std::net::TcpStream;

use rustix::net::sockopt;

use super::connection::{Connection, Stage};
use super::core::Engine;
use super::dial::{self, Dial, Dialed};
use super::happening::Happening;
use super::logged::shortened;
use crate::application::Application;
use crate::now::Now;
use crate::settings::SocketOptions;

impl Engine {
    /// Connects a session if it is time for that.
    pub(super) fn dial(&mut self, at: usize, now: Now) {
        let connecting_max = self.options.connecting_max;
        let timeout = self.options.connect_timeout;
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        let idle = slot.connection.is_none() && !slot.dialing;
        if !idle || !slot.enabled || !slot.in_hours || self.stopping.is_some() {
            return;
        }
        let Some(hosts) = &mut slot.hosts else {
            return;
        };
        let next = hosts.next_attempt();
        if next > now.monotonic {
            self.dial_timers.arm(at, next);
            return;
        }
        if self.dialing >= connecting_max {
            let later = now.monotonic + std::time::Duration::from_millis(50);
            self.dial_timers.arm(at, later);
            return;
        }
        let Some(target) = hosts.attempt(now.monotonic).cloned() else {
            return;
        };
        let to = format!("{}:{}", target.host, target.port);
        let dial = Dial {
            session: at,
            target,
            proxy: slot.settings.endpoint.proxy.clone(),
            timeout,
        };
        let waker = self.waker.try_clone();
        match waker.and_then(|waker| dial::start(dial, self.to_dialed.clone(), waker)) {
            Ok(()) => {
                slot.dialing = true;
                self.dialing += 1;
            }
            Err(error) => self.not_connected(at, to, error, now),
        }
    }

    /// An attempt to connect has ended.
    pub(super) fn dialed(&mut self, dialed: Dialed, now: Now, app: &mut impl Application) {
        let Dialed {
            session: at,
            to,
            stream,
        } = dialed;
        self.dialing = self.dialing.saturating_sub(1);
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        slot.dialing = false;
        if !slot.enabled || self.stopping.is_some() {
            return;
        }
        let host = to.rsplit_once(':').map_or(to.as_str(), |(host, _)| host);
        let tls = slot
            .tls
            .as_ref()
            .map(|config| config.connect(host))
            .transpose();
        let added = stream.and_then(|stream| {
            let tls = tls.map_err(std::io::Error::other)?;
            set(&stream, &slot.settings.endpoint.socket);
            let peer = stream.peer_addr().ok().map(|peer| peer.ip().to_canonical());
            Ok((self.streams.add(stream)?, peer, tls))
        });
        let (id, peer, tls) = match added {
            Ok(added) => added,
            Err(error) => return self.not_connected(at, to, error, now),
        };
        // The numbers are renewed before the Logon.
        if let Err(failure) = slot.renew(now) {
            let (id_, what) = (slot.name(), failure.to_string());
            self.happenings
                .push_back(Happening::Failed { id: id_, what });
            self.streams.close(id);
            let error = std::io::Error::other("the store failed");
            return self.not_connected(at, to, error, now);
        }
        slot.connection = Some(id);
        let name = slot.name();
        self.happenings
            .push_back(Happening::Connected { id: name, peer });
        let (session, mut logged) = slot.split(app, now);
        session.connected(now, &mut logged);
        let mut connection = Connection::new(id, peer, Stage::Session(at), now.monotonic);
        connection.tls = tls.map(Box::new);
        connection.pull(&mut self.streams);
        self.connect(connection);
        self.after(at, now, app);
    }

    fn not_connected(&mut self, at: usize, to: String, error: std::io::Error, now: Now) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        let Some(hosts) = &mut slot.hosts else {
            return;
        };
        hosts.failed(now.monotonic);
        let next = hosts.next_attempt();
        let retry = next.saturating_sub(now.monotonic);
        let id = slot.name();
        slot.last_reason = Some(shortened(&format!("cannot connect to {to}: {error}")));
        self.dial_timers.arm(at, next);
        self.happenings.push_back(Happening::NotConnected {
            id,
            to,
            error,
            retry,
        });
    }

    /// Looks at the schedule of a session, and does what it asks for.
    pub(super) fn check_schedule(&mut self, at: usize, now: Now, app: &mut impl Application) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        match slot.renew(now) {
            Ok(Some(next)) => self.schedule_timers.arm(at, next),
            Ok(None) => {}
            Err(failure) => {
                let (id, what) = (slot.name(), failure.to_string());
                self.happenings.push_back(Happening::Failed { id, what });
            }
        }
        let over = !slot.in_hours || slot.is_old(now);
        if over && slot.connection.is_some() {
            self.log_out_at(at, "", now, app);
        } else {
            self.dial_timers.arm(at, now.monotonic);
        }
    }

    /// Logs a session out; one without a Logon loses its connection.
    pub(super) fn log_out_at(
        &mut self,
        at: usize,
        text: &str,
        now: Now,
        app: &mut impl Application,
    ) {
        let Some(slot) = self.slots.get_mut(at) else {
            return;
        };
        if slot.connection.is_none() {
            return;
        }
        if slot.is_logged_on() {
            let (session, mut logged) = slot.split(app, now);
            session.logout(text, now, &mut logged);
            self.after(at, now, app);
        } else if slot.logged_on_since.is_none() && !slot.session.close() {
            self.part(at, None, now, app);
        }
    }
}

/// Sets what the settings say about sockets. What the system does not know is left as it is.
pub(super) fn set(stream: &TcpStream, socket: &SocketOptions) {
    let _ = stream.set_nodelay(socket.no_delay);
    let _ = sockopt::set_socket_keepalive(stream, socket.keep_alive);
    if let Some(bytes) = socket.send_buffer_bytes {
        let _ = sockopt::set_socket_send_buffer_size(stream, bytes as usize);
    }
    if let Some(bytes) = socket.receive_buffer_bytes {
        let _ = sockopt::set_socket_recv_buffer_size(stream, bytes as usize);
    }
    if let Some(linger) = socket.linger {
        let _ = sockopt::set_socket_linger(stream, Some(linger));
    }
    if let Some(class) = socket.traffic_class {
        let _ = sockopt::set_ip_tos(stream, class);
    }
}
