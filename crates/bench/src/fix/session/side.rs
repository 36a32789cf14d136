//! One side, for one turn: what answers is started, sessions are opened, and what the client does is between that
//! and the end.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Release;
use std::sync::mpsc::channel;

use super::acceptor::{self, DONE, How, LEAVES, MEASURES, Served};
use super::client::Client;
use super::plan::{Other, Plan, Transport};
use super::raw;
use crate::fix::transport::cpus;
use crate::{Error, Watch};

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes as they came.
    Raw,
    /// fixsession.
    Acceptor(Transport),
    /// Another engine.
    Other,
}

impl Kind {
    /// Its name in tables.
    pub(super) fn name(self, plan: &Plan) -> &str {
        match self {
            Self::Raw => "raw",
            Self::Acceptor(transport) => transport.name(),
            Self::Other => plan.other.as_ref().map_or("other", |other| &other.name),
        }
    }
}

/// One turn.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub(super) plan: &'a Plan,
    pub(super) kind: Kind,
    pub(super) sessions: u32,
    pub(super) is_durable: bool,
    pub(super) keeps_times: bool,
    pub(super) watch: &'a dyn Watch,
}

impl Visit<'_> {
    /// Opens sessions, runs `measure`, and closes them.
    pub(super) fn run<T>(
        &self,
        measure: impl FnOnce(&mut Client<'_>) -> Result<T, Error>,
    ) -> Result<(T, Served), Error> {
        self.watch.check()?;
        match self.kind {
            Kind::Raw => self.raw(measure),
            Kind::Acceptor(transport) => self.acceptor(transport, measure),
            Kind::Other => {
                let none = || Error::settings("there is no other engine");
                let Other { address, .. } = *self.plan.other.as_ref().ok_or_else(none)?;
                let phase = AtomicU8::new(0);
                let found = self.client(address, &phase, measure)?;
                Ok((found, Served::default()))
            }
        }
    }

    fn cpu(&self, at: usize) -> Option<u32> {
        cpus(&self.plan.cpus).and_then(|cpus| cpus.get(at).copied())
    }

    fn client<T>(
        &self,
        address: SocketAddr,
        phase: &AtomicU8,
        measure: impl FnOnce(&mut Client<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let pinned = self.cpu(0).map(|cpu| [cpu]);
        pin(pinned.as_ref().map_or(&[], |cpu| cpu))?;
        let mut client =
            Client::connect(address, self.sessions, self.kind != Kind::Raw, self.watch)?;
        phase.store(MEASURES, Release);
        let found = measure(&mut client)?;
        phase.store(DONE, Release);
        client.finish()?;
        // Other threads begin where this one runs.
        pin(&self.plan.cpus)?;
        Ok(found)
    }

    fn raw<T>(
        &self,
        measure: impl FnOnce(&mut Client<'_>) -> Result<T, Error>,
    ) -> Result<(T, Served), Error> {
        let failed = |error| Error::new(format!("the plain loop failed: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (sessions, cpu) = (self.sessions, self.cpu(1));
        let phase = AtomicU8::new(0);
        let phase = &phase;
        std::thread::scope(|scope| {
            let server = scope.spawn(move || raw::serve(&listener, sessions, cpu, phase));
            let found = self.client(address, phase, measure);
            phase.store(LEAVES, Release);
            let served = server.join();
            let served = served.map_err(|_| Error::broken("a thread panicked"))?;
            let found = found?;
            served.map_err(failed)?;
            Ok((found, Served::default()))
        })
    }

    fn acceptor<T>(
        &self,
        transport: Transport,
        measure: impl FnOnce(&mut Client<'_>) -> Result<T, Error>,
    ) -> Result<(T, Served), Error> {
        let folder = self.is_durable.then(|| self.store_folder()).transpose()?;
        let phase = AtomicU8::new(0);
        let how = How {
            transport,
            store: folder.as_ref().map(tempfile::TempDir::path),
            keeps_times: self.keeps_times,
            cpu: self.cpu(1),
            phase: &phase,
        };
        let (to, address) = channel();
        std::thread::scope(|scope| {
            let server = scope.spawn(move || acceptor::serve(how, &to));
            // Without an address the server has an error.
            let found = address
                .recv()
                .ok()
                .map(|address| self.client(address, &phase, measure));
            phase.store(LEAVES, Release);
            let served = server.join();
            let served = served.map_err(|_| Error::broken("a thread panicked"))??;
            match found {
                Some(found) => Ok((found?, served)),
                None => Err(Error::broken("an acceptor without a port")),
            }
        })
    }

    fn store_folder(&self) -> Result<tempfile::TempDir, Error> {
        let parent = self.plan.store_dir.clone();
        let parent: PathBuf = parent.unwrap_or_else(std::env::temp_dir);
        let made = tempfile::Builder::new()
            .prefix("perfkit-sessions-")
            .tempdir_in(&parent);
        made.map_err(|error| Error::io("create a store in", &parent, error))
    }
}

fn pin(cpus: &[u32]) -> Result<(), Error> {
    match cpus {
        [] => Ok(()),
        cpus => latency::pin::pin(cpus).map_err(|error| Error::new(error.to_string())),
    }
}
