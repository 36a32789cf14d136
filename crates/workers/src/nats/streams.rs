//! Streams of a server: their settings as [`crate::settings`] judges them, and new ones with settings that keep the
//! promise. Not here: consumers.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Info, LastRawMessageErrorKind, RetentionPolicy, StorageType,
};

use crate::block::token;
use crate::error::{Error, Result};
use crate::nats::connect::{Connection, reasons};
use crate::settings::{AnswerStream, Once, Retention, window_min};
use crate::subjects::Subjects;

/// The duplicate window of new streams, unless more is needed.
const WINDOW: Duration = Duration::from_secs(120);

/// What a server says that will soon know of its streams.
const BUSY: [&str; 2] = ["timed out", "temporarily unavailable"];

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
    /// The number that its first message had.
    pub born: u64,
    /// The longest message that it takes, headers included; none if the server alone says.
    pub message_max: Option<usize>,
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

impl Facts {
    /// The longest message that the stream takes of a server that takes this much.
    pub(super) fn longest(&self, payload_max: usize) -> usize {
        self.message_max.unwrap_or(usize::MAX).min(payload_max)
    }
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
            Error::absent(
                format!("the server of {} has no stream {name}", self.address()),
                "create it with `nats stream add`; `perfkit betree feed --create` creates one for blocks, and \
                 `perfkit betree match --create` those for answers and dead letters",
            )
        })
    }

    /// Up to which number no blocks are left of a stream, if it lacks the block of this number.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub async fn gone(&self, name: &str, number: u64) -> Result<Option<u64>> {
        let later = |error: &dyn std::error::Error| self.later(error);
        let stream = self.context.get_stream(name).await;
        let stream = stream.map_err(|error| later(&error))?;
        let first = stream.cached_info().state.first_sequence;
        if first > number {
            return Ok(Some(first - 1));
        }
        match stream.get_raw_message(number).await {
            Ok(_) => Ok(None),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                Ok(Some(number))
            }
            Err(error) => Err(later(&error)),
        }
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
            self.refused(
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
                    let reason = reasons(&error);
                    let message = format!("cannot ask about the stream {name}: {reason}");
                    // One that has just started, or chooses who leads.
                    let is_busy = BUSY.iter().any(|busy| reason.contains(busy));
                    match is_busy && self.check_permitted().is_ok() {
                        true => Err(Error::absent(message, help)),
                        false => Err(self.refused(message, help)),
                    }
                }
            },
        }
    }
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
        born: config.first_sequence.unwrap_or(1).max(1),
        message_max: usize::try_from(config.max_message_size)
            .ok()
            .filter(|max| *max > 0),
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
