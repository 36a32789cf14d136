//! One session of an engine, with what surrounds its state machine.

use std::net::IpAddr;
use std::time::Duration;

use fixcore::Timestamp;
use fixcore::io::Id;

use super::hosts::Hosts;
use super::logged::{Counts, Logged};
use super::scheduled::Scheduled;
use super::status::SessionState;
use super::tls::Config;
use crate::application::Application;
use crate::id::SessionId;
use crate::now::Now;
use crate::session::{Session, Status};
use crate::settings::SessionSettings;
use crate::store::{Store as _, StoreFailure};
use crate::stores::{AnyStore, SessionLog};

/// A schedule is looked at this often at least: the clock of the machine may be set.
const SCHEDULE_CHECK_MAX: Duration = Duration::from_secs(30);

/// One session.
pub(super) struct Slot {
    pub(super) session: Session<AnyStore>,
    pub(super) settings: SessionSettings,
    pub(super) log: SessionLog,
    /// Whether its log is to be written.
    pub(super) log_due: bool,
    pub(super) counts: Counts,
    /// Messages that wait to be sent, where the settings limit them.
    pub(super) scheduled: Scheduled,
    /// Why something was last refused, lost or ended.
    pub(super) last_reason: Option<String>,
    /// Its connection.
    pub(super) connection: Option<Id>,
    /// The listener of an acceptor.
    pub(super) listener: Option<usize>,
    /// Addresses that may connect; empty if all may.
    pub(super) allowed: Vec<IpAddr>,
    /// What encrypts its connections.
    pub(super) tls: Option<Config>,
    /// Hosts of an initiator that connects by itself.
    pub(super) hosts: Option<Hosts>,
    pub(super) dialing: bool,
    /// Whether it may be logged on: within its hours, and not logged out by the operator.
    pub(super) in_hours: bool,
    pub(super) enabled: bool,
    pub(super) logged_on_since: Option<Duration>,
    /// Whether it waits for its next turn.
    pub(super) ready: bool,
    /// Whether its peer will send nothing more.
    pub(super) ended: bool,
    /// Bytes received since its buffer was last empty, and whether receiving is paused for that.
    pub(super) fed: usize,
    pub(super) paused: bool,
}

impl Slot {
    /// The application as the session calls it: with the log and the counters of this slot.
    pub(super) fn split<'a, A: Application>(
        &'a mut self,
        app: &'a mut A,
        now: Now,
    ) -> (&'a mut Session<AnyStore>, Logged<'a, A>) {
        let logged = Logged::new(
            app,
            &mut self.log,
            &mut self.counts,
            &mut self.scheduled,
            &mut self.last_reason,
            now,
        );
        (&mut self.session, logged)
    }

    /// How many messages are handled at once when bytes come: none while others wait, which have their turn.
    pub(super) fn budget(&self) -> usize {
        usize::from(!self.ready)
    }

    /// Which session, for a [`Happening`](super::Happening).
    pub(super) fn name(&self) -> Box<SessionId> {
        Box::new(self.session.id().clone())
    }

    /// Whether its log is to be written from now on, and was not already.
    pub(super) fn takes_log(&mut self) -> bool {
        self.settings.log.path.is_some() && !std::mem::replace(&mut self.log_due, true)
    }

    /// Whether connections from this address are allowed.
    pub(super) fn allows(&self, peer: IpAddr) -> bool {
        let listed = &self.settings.endpoint.allowed_remote_addresses;
        let named = self.allowed.contains(&peer);
        listed.is_empty() || named || listed.iter().any(|allowed| allowed.has(peer))
    }

    /// Looks at the schedule, and begins a new session if the numbers are of an earlier interval. Returns
    /// when to look again.
    pub(super) fn renew(&mut self, now: Now) -> Result<Option<Duration>, StoreFailure> {
        let schedule = &self.settings.schedule;
        self.in_hours = schedule.is_logon_time(now.utc);
        let created = self.session.store().created();
        let offline = self.connection.is_none();
        if offline
            && schedule.interval_at(now.utc).is_some()
            && !schedule.same_session(created, now.utc)
        {
            self.session.reset(now)?;
        }
        let change = schedule.next_change(now.utc);
        Ok(change.map(|change| now.monotonic + until(change, now.utc).min(SCHEDULE_CHECK_MAX)))
    }

    /// Whether the numbers are of an earlier interval than this time.
    pub(super) fn is_old(&self, now: Now) -> bool {
        let created = self.session.store().created();
        !self.settings.schedule.same_session(created, now.utc)
    }

    pub(super) fn is_logged_on(&self) -> bool {
        matches!(self.session.status(), Status::LoggedOn)
    }

    /// The state as operators see it.
    pub(super) fn state(&self, peer: Option<IpAddr>) -> SessionState {
        SessionState {
            id: self.session.id().clone(),
            status: self.session.status(),
            next_sender: self.session.next_sender(),
            next_target: self.session.next_target(),
            peer,
            logged_on_since: self.logged_on_since,
            received: self.counts.received,
            sent: self.counts.sent,
            logons: self.counts.logons,
            in_hours: self.in_hours,
            connects: self.hosts.is_some(),
            last_reason: self.last_reason.clone(),
        }
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("id", self.session.id())
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

fn until(at: Timestamp, now: Timestamp) -> Duration {
    // A nanosecond later it is certainly past.
    Duration::from_nanos(u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0) + 1)
}
