//! Messages between a lead and its agents, over a server of NATS.

use std::time::Duration;

use workers::nats::{Access, Address, Connection, Listener};

use crate::commands::absent::Wait;
use crate::commands::nats::{failed, host};
use crate::failure::{Failure, Result};

/// How often to look at the time.
const LOOK: Duration = Duration::from_millis(20);

/// A side's connection.
pub(super) struct Line {
    connection: Connection,
    inbox: Listener,
    prefix: String,
}

impl Line {
    /// Listens as the lead of a run, or as the agent of that id, once the server is there.
    pub(super) async fn open(
        address: &Address,
        access: &Access,
        agent: Option<&str>,
        waits: Wait,
    ) -> Result<Self> {
        let connection = waits.connect(address, access).await?;
        let prefix = format!("perfkit.stress.{}", address.stream());
        let inbox = connection.listen(&subject(&prefix, agent)).await;
        Ok(Self {
            inbox: inbox.map_err(failed)?,
            connection,
            prefix,
        })
    }

    /// Sends a message to an agent, or to the lead.
    pub(super) async fn send(&self, agent: Option<&str>, message: Vec<u8>) -> Result<()> {
        let subject = subject(&self.prefix, agent);
        self.connection
            .tell(&subject, message)
            .await
            .map_err(failed)
    }

    /// Waits a moment for a message.
    pub(super) async fn next(&mut self) -> Result<Option<bytes::Bytes>> {
        match tokio::time::timeout(LOOK, self.inbox.next()).await {
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => Err(Failure::new("the connection to the server has ended")),
            Err(_) => Ok(None),
        }
    }

    /// Waits until everything is sent.
    pub(super) async fn flush(&self) {
        self.connection.flush().await;
    }
}

fn subject(prefix: &str, agent: Option<&str>) -> String {
    match agent {
        Some(agent) => format!("{prefix}.agent.{agent}"),
        None => format!("{prefix}.lead"),
    }
}

/// An id that no other process has.
pub(super) fn id() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let host = host();
    let key = format!("{host} {nanos} {}", std::process::id());
    let hash = |seed| twox_hash::XxHash64::oneshot(seed, key.as_bytes());
    format!("{:016x}{:016x}", hash(0), hash(1))
}
