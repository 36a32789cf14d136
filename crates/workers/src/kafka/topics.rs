//! Topics of a cluster: their settings, new ones, and whether they can keep what is promised.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rdkafka::admin::{
    AdminClient, AdminOptions, ConfigResource, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::time::sleep;

use crate::engine::AWAY;
use crate::error::{Error, Result};
use crate::kafka::access::Access;
use crate::kafka::address::{Address, is_topic};
use crate::kafka::client::{
    ANSWER, Heard, check, config, heard_after_poll, is_unreached, meaning, open_reader, reader,
    reason, wrong,
};
use crate::settings::{Drops, drops_of_topic, window_min};

/// The partitions of a new topic: as many workers can share its blocks.
const PARTITIONS: i32 = 8;
/// How often to look whether a new topic is there.
const LOOK: Duration = Duration::from_millis(100);
/// How many looks it gets.
const LOOKS_MAX: u32 = 100;

/// What is to be known of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// Copies of a partition.
    pub replicas: usize,
    /// The longest batch of messages that it takes.
    pub bytes_max: usize,
    /// How long messages are kept; none if for ever.
    pub retention: Option<Duration>,
    /// How many bytes of a partition are kept; none if all.
    pub bytes_kept: Option<u64>,
    /// Whether only the last message of each key is kept.
    pub is_compacted: bool,
    /// Whether a copy that lacks messages may become the one that counts.
    pub is_unclean: bool,
}

/// Servers, and what is asked about their topics.
#[derive(Clone)]
pub struct Cluster {
    pub(super) address: Address,
    pub(super) access: Access,
    consumer: Arc<BaseConsumer<Heard>>,
    admin: Arc<AdminClient<Heard>>,
}

impl Cluster {
    /// Connects.
    ///
    /// # Errors
    ///
    /// If no server answers, or none lets us in.
    pub async fn open(address: &Address, access: &Access) -> Result<Self> {
        let consumer = Arc::new(open_reader(&reader(address, access))?);
        let admin = config(address, access).create_with_context(Heard::default());
        let admin: AdminClient<Heard> = admin.map_err(|error| wrong(&error))?;
        let cluster = Self {
            address: address.clone(),
            access: access.clone(),
            consumer: Arc::clone(&consumer),
            admin: Arc::new(admin),
        };
        let address = address.clone();
        blocking(move || check(&consumer, &address)).await?;
        Ok(cluster)
    }

    /// A topic of the servers.
    ///
    /// # Errors
    ///
    /// If there is none, or the servers do not say.
    pub async fn topic(&self, name: &str) -> Result<Facts> {
        let found = self.find(name).await?;
        found.ok_or_else(|| {
            Error::absent(
                format!(
                    "there is no topic {name} at kafka://{}",
                    self.address.servers()
                ),
                "create it with kafka-topics.sh; `perfkit betree feed --create` creates one for blocks, and \
                 `perfkit betree match --create` those for answers and dead letters",
            )
        })
    }

    /// The same, and if there is none, creates it with so many copies.
    ///
    /// # Errors
    ///
    /// If the servers refuse.
    pub async fn topic_or_create(&self, name: &str, replicas: usize) -> Result<Facts> {
        if let Some(facts) = self.find(name).await? {
            return Ok(facts);
        }
        let failed = |reason: String| {
            Error::refused(
                format!("cannot create the topic {name}: {reason}"),
                "see that this user may create topics, and that there are as many servers as --replicas says",
            )
        };
        let copies = i32::try_from(replicas).unwrap_or(1);
        let mut topic = NewTopic::new(name, PARTITIONS, TopicReplication::Fixed(copies))
            .set("cleanup.policy", "delete")
            .set("retention.ms", "-1")
            .set("retention.bytes", "-1");
        if replicas > 2 {
            topic = topic.set("min.insync.replicas", "2");
        }
        let created = self.admin.create_topics([&topic], &options()).await;
        let created = created.map_err(|error| failed(reason(&error)))?;
        match created.into_iter().next() {
            // Another one may have created it just now.
            Some(Ok(_) | Err((_, Code::TopicAlreadyExists))) => {}
            Some(Err((_, code))) => return Err(failed(code.to_string())),
            None => return Err(failed("the servers do not say whether".to_owned())),
        }
        for _ in 0..LOOKS_MAX {
            if let Some(facts) = self.find(name).await? {
                return Ok(facts);
            }
            sleep(LOOK).await;
        }
        Err(failed("it does not appear".to_owned()))
    }

    /// The first offset of a partition, and the one behind all that is stored for good.
    pub(super) fn ends(&self, topic: &str, partition: i32) -> Result<(i64, i64)> {
        let found = self.consumer.fetch_watermarks(topic, partition, ANSWER);
        found.map_err(|error| meaning("cannot ask where a partition ends", &error))
    }

    /// What tells these servers from others.
    pub(super) fn name(&self) -> String {
        let id = self.consumer.client().fetch_cluster_id(ANSWER);
        format!("kafka cluster {}", id.as_deref().unwrap_or("without an id"))
    }

    /// Whether no server is reached, or those that are do not answer for as long as any answer may take.
    pub(super) fn is_away(&self) -> bool {
        let heard = self.consumer.context();
        heard.forget();
        let started = Instant::now();
        while started.elapsed() < ANSWER {
            let asked = self.consumer.client();
            if asked
                .fetch_metadata(Some(self.address.topic()), AWAY)
                .is_ok()
            {
                return false;
            }
            if heard_after_poll(&self.consumer).is_some_and(|reason| is_unreached(&reason)) {
                return true;
            }
        }
        true
    }

    async fn find(&self, name: &str) -> Result<Option<Facts>> {
        if !is_topic(name) {
            return Err(Error::refused(
                format!("{name} cannot be the name of a topic"),
                "names have up to 249 letters, digits, dots, `_` and `-`",
            ));
        }
        let failed = |reason: String| {
            Error::refused(
                format!("cannot ask about the topic {name}: {reason}"),
                "see that this user may describe the topic and its settings",
            )
        };
        let (consumer, topic) = (Arc::clone(&self.consumer), name.to_owned());
        let asked = move || Ok(consumer.client().fetch_metadata(Some(&topic), ANSWER));
        let metadata = blocking(asked)
            .await?
            .map_err(|error| failed(reason(&error)))?;
        let Some(topic) = metadata.topics().first() else {
            return Ok(None);
        };
        let code = topic.error().map(Code::from);
        match code {
            None => {}
            Some(Code::UnknownTopicOrPartition | Code::LeaderNotAvailable) => return Ok(None),
            Some(code) => return Err(failed(code.to_string())),
        }
        let partitions = topic.partitions();
        if partitions.is_empty() || partitions.iter().any(|partition| partition.leader() < 0) {
            return Ok(None);
        }
        let named = [ResourceSpecifier::Topic(name)];
        let described = self.admin.describe_configs(&named, &options()).await;
        let described = described.map_err(|error| failed(reason(&error)))?;
        let settings = match described.into_iter().next() {
            Some(Ok(settings)) => settings,
            Some(Err(Code::UnknownTopicOrPartition)) => return Ok(None),
            Some(Err(code)) => return Err(failed(code.to_string())),
            None => return Err(failed("the servers do not say".to_owned())),
        };
        Ok(Some(Facts {
            name: name.to_owned(),
            partitions: i32::try_from(partitions.len()).unwrap_or(i32::MAX),
            replicas: partitions[0].replicas().len(),
            ..facts(&settings)
        }))
    }
}

fn options() -> AdminOptions {
    AdminOptions::new()
        .request_timeout(Some(ANSWER))
        .operation_timeout(Some(ANSWER))
}

fn facts(settings: &ConfigResource) -> Facts {
    let text = |name: &str| settings.get(name)?.value.as_deref();
    let number = |name: &str| text(name)?.parse::<i64>().ok();
    let millis = number("retention.ms").and_then(|millis| u64::try_from(millis).ok());
    let bytes = number("max.message.bytes").and_then(|bytes| usize::try_from(bytes).ok());
    Facts {
        name: String::new(),
        partitions: 0,
        replicas: 0,
        bytes_max: bytes.unwrap_or(1_000_000),
        retention: millis.map(Duration::from_millis),
        bytes_kept: number("retention.bytes").and_then(|bytes| u64::try_from(bytes).ok()),
        is_compacted: text("cleanup.policy").is_some_and(|policy| policy.contains("compact")),
        is_unclean: text("unclean.leader.election.enable") == Some("true"),
    }
}

/// The limits by which a topic removes old blocks, answered or not.
#[must_use]
pub fn drops(facts: &Facts) -> Vec<Drops> {
    drops_of_topic(&facts.name, facts.retention, facts.bytes_kept)
}

/// Does what blocks on a thread for that.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Error::Later("a thread has ended".to_owned())))
}

/// Checks a topic of blocks, answers or dead letters. `times` are the wait for a worker and the number of attempts;
/// feeders know neither.
///
/// # Errors
///
/// If an event could be lost or answered twice with these settings.
pub fn check_topic(facts: &Facts, times: Option<(Duration, u64)>) -> Result<()> {
    let refuse = |reason: String, help: String| Error::Settings {
        what: format!("topic {}", facts.name),
        reason,
        help,
    };
    if facts.is_compacted {
        let reason = "it keeps only the last message of each key (cleanup.policy compact), so that blocks and answers \
                      are lost";
        let help = "set cleanup.policy to delete";
        return Err(refuse(reason.to_owned(), help.to_owned()));
    }
    if facts.is_unclean && facts.replicas > 1 {
        let reason = "a copy that lacks messages may replace the one that has them \
                      (unclean.leader.election.enable), so that what was stored is lost";
        let help = "set unclean.leader.election.enable to false";
        return Err(refuse(reason.to_owned(), help.to_owned()));
    }
    let Some((ack_wait, attempts)) = times else {
        return Ok(());
    };
    let needed = window_min(ack_wait, attempts);
    match facts.retention {
        Some(retention) if retention < needed => {
            let reason = format!(
                "it removes messages after {} s (retention.ms), sooner than 4 x ack wait {} s x {attempts} attempts = \
                 {} s: a block could be lost before it is answered, or its answer before it is read",
                retention.as_secs_f64(),
                ack_wait.as_secs_f64(),
                needed.as_secs_f64()
            );
            let help = format!("set retention.ms to {} or more", needed.as_millis());
            Err(refuse(reason, help))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_that_lose_messages_are_refused() {
        let right = Facts {
            name: "IN".to_owned(),
            partitions: 8,
            replicas: 3,
            bytes_max: 1 << 20,
            retention: Some(Duration::from_secs(120)),
            bytes_kept: None,
            is_compacted: false,
            is_unclean: false,
        };
        let wait = Duration::from_secs(6);
        assert_eq!(check_topic(&right, Some((wait, 5))), Ok(()));
        assert_eq!(check_topic(&right, None), Ok(()));
        let for_ever = Facts {
            retention: None,
            ..right.clone()
        };
        assert_eq!(check_topic(&for_ever, Some((wait, 5))), Ok(()));
        for (wrong, said) in [
            (
                Facts {
                    is_compacted: true,
                    ..right.clone()
                },
                "cleanup.policy compact",
            ),
            (
                Facts {
                    is_unclean: true,
                    ..right.clone()
                },
                "unclean",
            ),
            (
                Facts {
                    retention: Some(Duration::from_secs(119)),
                    ..right
                },
                "after 119 s (retention.ms), sooner than 4 x ack wait 6 s x 5 attempts = 120 s",
            ),
        ] {
            let error = check_topic(&wrong, Some((wait, 5))).unwrap_err();
            let shown = error.to_string();
            assert!(
                shown.starts_with("topic IN: ") && shown.contains(said),
                "{shown}"
            );
            assert!(error.help().is_some());
        }
    }
}
