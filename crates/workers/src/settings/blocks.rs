//! Streams of blocks: what may remove blocks that no worker has had. Not here: what answers need (`settings`).

use std::time::Duration;

use super::{AnswerStream, check_subject, seconds};
use crate::error::Error;

/// Why a stream may remove blocks that no worker has had, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drops {
    /// The setting, and what it does.
    pub reason: String,
    /// What to do.
    pub help: String,
}

/// Checks a stream of blocks. That it removes old ones is how it is bounded, and [`drops`] says so; that it does so
/// within a source is an error.
///
/// # Errors
///
/// If blocks could be lost as soon as the next one comes.
pub fn check_blocks(stream: &AnswerStream) -> Result<(), Error> {
    check_subject(stream, "blocks of a source")
}

/// The limits by which a stream removes old blocks, answered or not.
#[must_use]
pub fn drops(stream: &AnswerStream) -> Vec<Drops> {
    let name = &stream.name;
    let by_size = full(stream).map(|(limit, flag)| Drops {
        reason: format!(
            "the stream {name} removes its oldest blocks when it is full ({limit}, discard old), answered or not"
        ),
        help: format!(
            "let it refuse new ones, for which feed waits (`nats stream edit {name} --discard new`), or have no limit \
             (`nats stream edit {name} {flag}`)"
        ),
    });
    let by_age = stream.age_max.map(|age| Drops {
        reason: format!(
            "the stream {name} removes blocks after {} (max_age), answered or not",
            seconds(age)
        ),
        help: format!(
            "keep them for longer than the longest outage of the workers: `nats stream edit {name} --max-age TIME`"
        ),
    });
    by_size.into_iter().chain(by_age).collect()
}

/// The limits by which a topic of Kafka removes old blocks, answered or not.
#[must_use]
pub fn drops_of_topic(name: &str, age: Option<Duration>, bytes: Option<u64>) -> Vec<Drops> {
    let by_size = bytes.map(|bytes| Drops {
        reason: format!(
            "the topic {name} removes its oldest blocks when a partition has {bytes} bytes (retention.bytes), answered or not"
        ),
        help: "set retention.bytes of the topic to -1, or so that a partition holds what the workers may lag behind"
            .to_owned(),
    });
    let by_age = age.map(|age| Drops {
        reason: format!(
            "the topic {name} removes blocks after {} (retention.ms), answered or not",
            seconds(age)
        ),
        help:
            "set retention.ms of the topic to -1, or to more than the longest outage of the workers"
                .to_owned(),
    });
    by_size.into_iter().chain(by_age).collect()
}

/// The limit at which a full stream removes what is old, and the flag that lifts it.
pub(super) fn full(stream: &AnswerStream) -> Option<(String, &'static str)> {
    if stream.refuses_when_full {
        return None;
    }
    match (stream.messages_max, stream.bytes_max) {
        (Some(max), _) => Some((format!("max_msgs {max}"), "--max-msgs=-1")),
        (None, Some(max)) => Some((format!("max_bytes {max}"), "--max-bytes=-1")),
        (None, None) => None,
    }
}
