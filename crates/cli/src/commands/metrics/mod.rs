//! `--metrics`: what a run has done so far, for Prometheus, and whether it is well. [`server`] serves it, [`request`]
//! parses requests. What is registered is with the command that it is of.

mod request;
mod server;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prometheus_client::registry::Registry;

use crate::commands::metrics::server::Server;
use crate::failure::{Failure, Result};
use crate::term::message;

/// Whether a run does its work, for those who ask `/healthz`. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Health(Arc<AtomicBool>);

impl Health {
    pub(crate) fn new(is_well: bool) -> Self {
        Self(Arc::new(AtomicBool::new(is_well)))
    }

    #[cfg(feature = "workers")]
    pub(crate) fn set(&self, is_well: bool) {
        self.0.store(is_well, Ordering::Relaxed);
    }

    fn is_well(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is served.
struct Page {
    registry: Registry,
    health: Health,
}

/// The server; it ends when this is dropped.
pub(crate) struct Metrics {
    _server: Server,
}

impl Metrics {
    /// Listens, and prints the address if `said`.
    pub(crate) fn start(
        address: SocketAddr,
        registry: Registry,
        health: Health,
        said: bool,
    ) -> Result<Self> {
        let server = Server::start(address, Page { registry, health }).map_err(|error| {
            Failure::new(format!("cannot serve metrics at {address}: {error}"))
                .help("choose another port with --metrics; 0 is any free port")
        })?;
        if said {
            message::status(&format!("metrics at http://{}/metrics", server.address()));
        }
        Ok(Self { _server: server })
    }
}
