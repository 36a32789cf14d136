//! Messages between programs that are there at the moment: no stream keeps them, and no server with JetStream is needed.

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::error::{Error, Result};
use crate::nats::connect::{Connection, reasons};

/// Hears what is said on a subject.
pub struct Listener(Subscriber);

impl Connection {
    /// Listens to a subject from now on.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub async fn listen(&self, subject: &str) -> Result<Listener> {
        let failed = |error: &dyn std::error::Error| {
            Error::refused(
                format!("cannot listen to {subject}: {}", reasons(error)),
                "see that this user may subscribe to it",
            )
        };
        let heard = self.client.subscribe(subject.to_owned()).await;
        let heard = heard.map_err(|error| failed(&error))?;
        self.flush().await;
        Ok(Listener(heard))
    }

    /// Says something on a subject, to whoever listens there. It may get lost.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub async fn tell(&self, subject: &str, message: Vec<u8>) -> Result<()> {
        let sent = self.client.publish(subject.to_owned(), message.into());
        sent.await.map_err(|error| Error::Later(reasons(&error)))
    }
}

impl Listener {
    /// Waits for what is said next. `None`: the connection has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.0.next().await.map(|message| message.payload)
    }
}
