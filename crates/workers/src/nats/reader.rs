//! All messages of a stream in order, once, without a trace on the server: for those who want to see answers.

use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use futures_util::StreamExt as _;

use crate::block::{Block, Place};
use crate::error::{Error, Result};
use crate::nats::connect::{Connection, reasons};
use crate::nats::headers::labels;
use crate::nats::streams::Facts;

/// Reads a stream from its first message on.
pub struct Reader {
    messages: Ordered,
    identity: String,
    /// The number of the last message when reading began.
    last: u64,
    is_caught_up: bool,
}

impl Reader {
    /// A reader of a stream.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub async fn open(connection: &Connection, facts: &Facts) -> Result<Self> {
        let name = &facts.answers.name;
        let failed = |reason: String| {
            connection.refused(
                format!("cannot read the stream {name}: {reason}"),
                "see that this user may create consumers of it",
            )
        };
        let stream = connection.context.get_stream(name).await;
        let stream = stream.map_err(|error| failed(reasons(&error)))?;
        let consumer = stream.create_consumer(OrderedConfig::default()).await;
        let consumer = consumer.map_err(|error| failed(reasons(&error)))?;
        let is_caught_up = consumer.cached_info().num_pending == 0;
        let messages = consumer.messages().await;
        Ok(Self {
            messages: messages.map_err(|error| failed(reasons(&error)))?,
            identity: facts.identity.clone(),
            last: facts.last_sequence,
            is_caught_up,
        })
    }

    /// Whether all messages were given out that there were when reading began.
    #[must_use]
    pub fn is_caught_up(&self) -> bool {
        self.is_caught_up
    }

    /// Waits for the next message: where it stands, and what it holds.
    ///
    /// # Errors
    ///
    /// If the server does not answer; trying again may help.
    pub async fn next(&mut self) -> Result<(Place, Block)> {
        let next = self.messages.next().await;
        let message = match next {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Err(Error::Later(reasons(&error))),
            None => return Err(Error::Later("the stream of messages has ended".to_owned())),
        };
        let info = message.info();
        let info = info.map_err(|error| Error::Later(error.to_string()))?;
        let sequence = info.stream_sequence;
        // The last one may be gone since.
        self.is_caught_up |= sequence >= self.last || info.pending == 0;
        let place = Place {
            stream: self.identity.clone(),
            sequence,
        };
        let block = Block {
            labels: labels(message.headers.as_ref()),
            bytes: message.message.payload,
        };
        Ok((place, block))
    }
}
