//! Streams and consumers of a server: their settings as [`crate::settings`] judges them, and new ones with settings
//! that keep the promise.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, FromConsumer as _, pull};
use async_nats::jetstream::context::{ConsumerInfoErrorKind, GetStreamErrorKind};
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Info, RetentionPolicy, StorageType, Stream,
};

use crate::block::token;
use crate::error::{Error, Result};
use crate::nats::connect::{Connection, reasons};
use crate::settings::{AnswerStream, BlockConsumer, Common, Once, Retention, window_min};
use crate::subjects::Subjects;

/// The duplicate window of new streams, unless more is needed.
const WINDOW: Duration = Duration::from_secs(120);
/// The most deliveries without an acknowledgement, of all workers together.
const PENDING_MAX: i64 = 65_536;
/// What names of metadata start with that are the server's own.
const OF_SERVER: &str = "_nats.";

/// What is to be known of a stream.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Its name, with what tells it from an earlier one of that name.
    pub identity: String,
    /// The subjects that it takes.
    pub subjects: Subjects,
    /// The number of the last message, 0 for none.
    pub last_sequence: u64,
    /// The number of the first message that is still there.
    pub first_sequence: u64,
    /// Whether messages stay when they are acknowledged.
    pub keeps: bool,
    /// Whether messages survive the end of the server.
    pub on_disk: bool,
    /// Copies in the cluster.
    pub replicas: usize,
    /// The settings for answers.
    pub answers: AnswerStream,
}

/// What a new stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Blocks of events, or dead letters.
    Blocks,
    /// Answers.
    Answers {
        /// How strongly an answer is given once.
        once: Once,
        /// How long a worker may be silent.
        ack_wait: Duration,
        /// How often a block is given out.
        deliveries: u64,
    },
}

impl Connection {
    /// A stream of the server.
    ///
    /// # Errors
    ///
    /// If there is none, or the server does not say.
    pub async fn stream(&self, name: &str) -> Result<Facts> {
        let found = self.find(name).await?;
        found.ok_or_else(|| {
            Error::refused(
                format!("the server of {} has no stream {name}", self.address()),
                "create it with `nats stream add`; `perfkit betree feed --create` creates one for blocks, and \
                 `perfkit betree match --create` those for answers and dead letters",
            )
        })
    }

    /// The same, and if there is none, creates it with so many copies.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub async fn stream_or_create(&self, name: &str, keep: Keep, replicas: usize) -> Result<Facts> {
        if let Some(facts) = self.find(name).await? {
            return Ok(facts);
        }
        let config = new_stream(name, keep, replicas);
        let created = self.context.get_or_create_stream(config).await;
        let created = created.map_err(|error| {
            Error::refused(
                format!("cannot create the stream {name}: {}", reasons(&error)),
                "see that the server has JetStream (`nats-server -js`) and that this user may create streams",
            )
        })?;
        Ok(facts(created.cached_info()))
    }

    async fn find(&self, name: &str) -> Result<Option<Facts>> {
        let help = "see that the server has JetStream (`nats-server -js`) and that this user may read the stream";
        match self.context.get_stream(name).await {
            Ok(stream) => Ok(Some(facts(stream.cached_info()))),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(error)
                    if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    Ok(None)
                }
                _ => {
                    let message =
                        format!("cannot ask about the stream {name}: {}", reasons(&error));
                    Err(Error::refused(message, help))
                }
            },
        }
    }

    /// The consumer of that name, new if there is none: then it waits for so long. What its workers have in `common` is
    /// kept with it; the last value says whether the server keeps all of it.
    pub(super) async fn consumer(
        &self,
        stream: &str,
        name: &str,
        ack_wait: Duration,
        common: &Common,
    ) -> Result<(Consumer<pull::Config>, BlockConsumer, bool)> {
        let failed = |reason: String| {
            Error::refused(
                format!("cannot use the consumer {name} of {stream}: {reason}"),
                "see that it is a pull consumer, and that this user may create and use it",
            )
        };
        let stream = self.context.get_stream(stream).await;
        let stream = stream.map_err(|error| failed(reasons(&error)))?;
        let consumer = match consumer_info(&stream, name).await? {
            Some(consumer) => consumer,
            None => {
                let config = pull::Config {
                    durable_name: Some(name.to_owned()),
                    ack_policy: AckPolicy::Explicit,
                    ack_wait,
                    max_deliver: -1,
                    max_ack_pending: PENDING_MAX,
                    metadata: common.kept(),
                    ..pull::Config::default()
                };
                // Strictly: else it would write over what another worker has just created.
                match stream.create_consumer_strict(config).await {
                    Ok(consumer) => consumer,
                    Err(error) => consumer_info(&stream, name)
                        .await?
                        .ok_or_else(|| failed(reasons(&error)))?,
                }
            }
        };
        let found = &consumer.cached_info().config;
        let mut is_kept = common.check(name, &found.metadata)?;
        let settings = BlockConsumer {
            name: name.to_owned(),
            ack_wait: found.ack_wait,
            deliveries_max: u64::try_from(found.max_deliver).ok().filter(|max| *max > 0),
            acknowledges_each: found.ack_policy == AckPolicy::Explicit,
            has_backoff: !found.backoff.is_empty(),
        };
        if !is_kept && let Ok(mut config) = pull::Config::try_from_consumer_config(found.clone()) {
            config
                .metadata
                .retain(|name, _| !name.starts_with(OF_SERVER));
            config.metadata.extend(common.kept());
            // It is of an earlier version, or of somebody who may do what this user may not.
            if let Ok(updated) = stream.update_consumer(config).await {
                is_kept = common.check(name, &updated.cached_info().config.metadata)?;
            }
        }
        Ok((consumer, settings, is_kept))
    }
}

/// The consumer of that name, if there is one.
async fn consumer_info(stream: &Stream, name: &str) -> Result<Option<Consumer<pull::Config>>> {
    let failed = |reason: String| {
        Error::refused(
            format!("cannot use the consumer {name}: {reason}"),
            "see that it is a pull consumer, and that this user may read it",
        )
    };
    match stream.consumer_info(name).await {
        Ok(_) => {}
        Err(error) => match error.kind() {
            ConsumerInfoErrorKind::NotFound => return Ok(None),
            ConsumerInfoErrorKind::JetStream(error)
                if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
            {
                return Ok(None);
            }
            _ => return Err(failed(reasons(&error))),
        },
    }
    let consumer = stream.get_consumer(name).await;
    consumer
        .map(Some)
        .map_err(|error| failed(error.to_string()))
}

/// The settings of a new stream.
fn new_stream(name: &str, keep: Keep, replicas: usize) -> Config {
    let mut config = Config {
        name: name.to_owned(),
        subjects: vec![format!("{name}.>")],
        storage: StorageType::File,
        num_replicas: replicas,
        duplicate_window: WINDOW,
        ..Config::default()
    };
    if let Keep::Answers {
        once,
        ack_wait,
        deliveries,
    } = keep
    {
        match once {
            Once::Window => config.duplicate_window = WINDOW.max(window_min(ack_wait, deliveries)),
            Once::Always => {
                config.max_messages_per_subject = 1;
                config.discard = DiscardPolicy::New;
                config.discard_new_per_subject = true;
            }
        }
    }
    config
}

fn facts(info: &Info) -> Facts {
    let config = &info.config;
    let name = &config.name;
    let replicas = config.num_replicas.max(1);
    Facts {
        identity: format!("{}-{:x}", token(name), info.created.unix_timestamp()),
        subjects: Subjects::new(name, &config.subjects),
        last_sequence: info.state.last_sequence,
        first_sequence: info.state.first_sequence,
        keeps: config.retention == RetentionPolicy::Limits,
        on_disk: config.storage == StorageType::File,
        replicas,
        answers: AnswerStream {
            name: name.clone(),
            duplicate_window: config.duplicate_window,
            per_subject_max: u64::try_from(config.max_messages_per_subject)
                .ok()
                .filter(|max| *max > 0),
            messages_max: u64::try_from(config.max_messages)
                .ok()
                .filter(|max| *max > 0),
            bytes_max: u64::try_from(config.max_bytes).ok().filter(|max| *max > 0),
            refuses_when_full: config.discard == DiscardPolicy::New,
            refuses_new: config.discard == DiscardPolicy::New && config.discard_new_per_subject,
            retention: match config.retention {
                RetentionPolicy::Limits => Retention::Limits,
                RetentionPolicy::Interest => Retention::Interest,
                RetentionPolicy::WorkQueue => Retention::Acknowledged,
            },
            age_max: Some(config.max_age).filter(|age| !age.is_zero()),
            acknowledges: !config.no_ack,
        },
    }
}
