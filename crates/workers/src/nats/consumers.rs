//! Consumers of a stream: their settings as [`crate::settings`] judges them, and new ones with settings that keep the
//! promise, marked with what their workers have in common.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, Config, Consumer, FromConsumer as _, pull};
use async_nats::jetstream::context::ConsumerInfoErrorKind;
use async_nats::jetstream::stream::Stream;

use crate::error::{Error, Result};
use crate::nats::connect::{Connection, reasons};
use crate::settings::{BlockConsumer, Common};

/// The most deliveries without an acknowledgement, of all workers together.
const PENDING_MAX: i64 = 65_536;
/// What names of metadata start with that are the server's own.
const OF_SERVER: &str = "_nats.";

/// What a worker wants of its consumer.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) stream: String,
    pub(super) name: String,
    /// The wait for an acknowledgement, of a new one.
    pub(super) ack_wait: Duration,
    /// What its workers have in common.
    pub(super) common: Common,
    /// What this worker is called, if it may change that.
    pub(super) takes_over: Option<String>,
}

impl Wanted {
    fn failed(&self, connection: &Connection, reason: &str) -> Error {
        let Self { name, stream, .. } = self;
        connection.refused(
            format!("cannot use the consumer {name} of {stream}: {reason}"),
            "see that it is a pull consumer, and that this user may create and use it",
        )
    }

    async fn stream(&self, connection: &Connection) -> Result<Stream> {
        let stream = connection.context.get_stream(&self.stream).await;
        stream.map_err(|error| self.failed(connection, &reasons(&error)))
    }

    async fn find(
        &self,
        connection: &Connection,
        stream: &Stream,
    ) -> Result<Option<Consumer<pull::Config>>> {
        match stream.consumer_info(&self.name).await {
            Ok(_) => {}
            Err(error) => match error.kind() {
                ConsumerInfoErrorKind::NotFound => return Ok(None),
                ConsumerInfoErrorKind::JetStream(error)
                    if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
                {
                    return Ok(None);
                }
                _ => return Err(self.failed(connection, &reasons(&error))),
            },
        }
        let consumer = stream.get_consumer(&self.name).await;
        consumer
            .map(Some)
            .map_err(|error| self.failed(connection, &error.to_string()))
    }

    /// The settings of the consumer, or those that it will have. Changes nothing.
    pub(super) async fn look(&self, connection: &Connection) -> Result<BlockConsumer> {
        let stream = self.stream(connection).await?;
        let Some(consumer) = self.find(connection, &stream).await? else {
            return Ok(BlockConsumer {
                name: self.name.clone(),
                ack_wait: self.ack_wait,
                deliveries_max: None,
                acknowledges_each: true,
                has_backoff: false,
            });
        };
        let found = &consumer.cached_info().config;
        self.common
            .check(&self.name, &found.metadata, self.takes_over.is_some())?;
        Ok(self.settings(found))
    }

    /// The consumer, new if there is none. What its workers have in common is kept with it; the last value says whether the
    /// server keeps all of it.
    pub(super) async fn open(
        &self,
        connection: &Connection,
    ) -> Result<(Consumer<pull::Config>, BlockConsumer, bool)> {
        let stream = self.stream(connection).await?;
        let consumer = match self.find(connection, &stream).await? {
            Some(consumer) => consumer,
            None => {
                // Strictly: else it would write over what another worker has just created.
                match stream.create_consumer_strict(self.new_one()).await {
                    Ok(consumer) => consumer,
                    Err(error) => self
                        .find(connection, &stream)
                        .await?
                        .ok_or_else(|| self.failed(connection, &reasons(&error)))?,
                }
            }
        };
        let found = &consumer.cached_info().config;
        let mut is_kept =
            self.common
                .check(&self.name, &found.metadata, self.takes_over.is_some())?;
        let settings = self.settings(found);
        if !is_kept && let Ok(mut config) = pull::Config::try_from_consumer_config(found.clone()) {
            config
                .metadata
                .retain(|name, _| !name.starts_with(OF_SERVER));
            config
                .metadata
                .extend(self.common.kept_by(self.takes_over.as_deref()));
            // It is of an earlier version or other expressions, or of somebody who may do what this user may not.
            match stream.update_consumer(config).await {
                Ok(updated) => {
                    let kept = &updated.cached_info().config.metadata;
                    is_kept = self.common.check(&self.name, kept, false)?;
                }
                Err(_) => connection.forgive(),
            }
        }
        Ok((consumer, settings, is_kept))
    }

    fn new_one(&self) -> pull::Config {
        pull::Config {
            durable_name: Some(self.name.clone()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            max_deliver: -1,
            max_ack_pending: PENDING_MAX,
            metadata: self.common.kept(),
            ..pull::Config::default()
        }
    }

    fn settings(&self, found: &Config) -> BlockConsumer {
        BlockConsumer {
            name: self.name.clone(),
            ack_wait: found.ack_wait,
            deliveries_max: u64::try_from(found.max_deliver).ok().filter(|max| *max > 0),
            acknowledges_each: found.ack_policy == AckPolicy::Explicit,
            has_backoff: !found.backoff.is_empty(),
        }
    }
}
