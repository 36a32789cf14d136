//! Reads partitions of a topic up to where they end now.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{BorrowedMessage, Message as _};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::error::{Error, Result};
use crate::kafka::client::{ANSWER, Heard, code, meaning, open_reader, reader};
use crate::kafka::topics::{Cluster, Facts};

/// How long to wait for anything at all.
const SILENCE: Duration = Duration::from_secs(20);

/// How long a partition without a leader is left alone.
const NEW_PAUSE: Duration = Duration::from_millis(100);

/// Whether a partition has no leader yet, or one that has not heard of it.
fn is_new(error: &KafkaError) -> bool {
    matches!(
        code(error),
        Some(
            Code::NotLeaderForPartition | Code::LeaderNotAvailable | Code::UnknownTopicOrPartition
        )
    )
}

/// A reader of one topic, in no group, which may ask what a group has done.
pub(super) struct Scanner {
    pub(super) consumer: BaseConsumer<Heard>,
    topic: String,
    partitions: i32,
}

impl Scanner {
    /// A reader of a topic.
    pub(super) fn open(cluster: &Cluster, facts: &Facts, group: Option<&str>) -> Result<Self> {
        let mut config = reader(&cluster.address, &cluster.access);
        config.set("enable.partition.eof", "true");
        if let Some(group) = group {
            config.set("group.id", group);
        }
        Ok(Self {
            consumer: open_reader(&config)?,
            topic: facts.name.clone(),
            partitions: facts.partitions,
        })
    }

    /// Where the group goes on, for each partition that it has worked on.
    pub(super) fn committed(&self) -> Result<BTreeMap<i32, i64>> {
        let list = self.list(&BTreeMap::new())?;
        let found = self.consumer.committed_offsets(list, ANSWER);
        let found = found.map_err(|error| meaning("cannot ask what is done", &error))?;
        let mut offsets = BTreeMap::new();
        for element in found.elements() {
            element
                .error()
                .map_err(|error| meaning("cannot ask what is done", &error))?;
            if let Offset::Offset(offset) = element.offset() {
                offsets.insert(element.partition(), offset);
            }
        }
        Ok(offsets)
    }

    /// The texts that the group keeps beside its places, each once.
    pub(super) fn texts(&self, within: Duration) -> Result<BTreeSet<String>> {
        let list = self.list(&BTreeMap::new())?;
        let found = self.consumer.committed_offsets(list, within);
        let found = found.map_err(|error| meaning("cannot ask what is done", &error))?;
        let elements = found.elements();
        let texts = elements.iter().filter_map(|element| {
            // The client panics at what is no text; that is none of ours.
            catch_unwind(AssertUnwindSafe(|| element.metadata().to_owned())).ok()
        });
        Ok(texts.filter(|text| !text.is_empty()).collect())
    }

    /// The first offset of each partition, and the one behind its last.
    pub(super) fn ends(&self) -> Result<BTreeMap<i32, (i64, i64)>> {
        let until = Instant::now() + SILENCE;
        let ends =
            (0..self.partitions).map(|partition| Ok((partition, self.end(partition, until)?)));
        ends.collect()
    }

    /// The offset behind the last one of each partition.
    pub(super) fn all_ends(&self) -> Result<BTreeMap<i32, i64>> {
        let ends = self.ends()?.into_iter();
        Ok(ends.map(|(partition, (_, end))| (partition, end)).collect())
    }

    /// The same of a partition. One of a topic that was just created has a leader that does not know it yet.
    fn end(&self, partition: i32, until: Instant) -> Result<(i64, i64)> {
        loop {
            let found = (self.consumer).fetch_watermarks(&self.topic, partition, ANSWER);
            match found {
                Err(error) if is_new(&error) && Instant::now() < until => {
                    std::thread::sleep(NEW_PAUSE);
                }
                found => {
                    return found
                        .map_err(|error| meaning("cannot ask where a partition ends", &error));
                }
            }
        }
    }

    fn list(&self, from: &BTreeMap<i32, i64>) -> Result<TopicPartitionList> {
        let mut list = TopicPartitionList::new();
        for partition in 0..self.partitions {
            let offset = from
                .get(&partition)
                .map_or(Offset::Beginning, |from| Offset::Offset(*from));
            list.add_partition_offset(&self.topic, partition, offset)
                .map_err(|error| meaning("cannot read", &error))?;
        }
        Ok(list)
    }

    /// Gives out every message from these offsets on, and from the beginning where there is none, up to the ends of now
    /// or until `each` has seen enough.
    pub(super) fn read(
        &self,
        from: &BTreeMap<i32, i64>,
        mut each: impl FnMut(&BorrowedMessage<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let failed = |error: &KafkaError| meaning("cannot read", error);
        let list = self.list(from)?;
        self.consumer
            .assign(&list)
            .map_err(|error| failed(&error))?;
        let mut ended = vec![false; usize::try_from(self.partitions).unwrap_or(0)];
        let mut heard = Instant::now();
        let mut last = None;
        while ended.iter().any(|ended| !ended) {
            match self.consumer.poll(Duration::from_millis(100)) {
                Some(Ok(message)) => {
                    heard = Instant::now();
                    if each(&message).is_break() {
                        break;
                    }
                    let at = usize::try_from(message.partition()).unwrap_or(0);
                    if let Some(ended) = ended.get_mut(at) {
                        *ended = false;
                    }
                }
                Some(Err(KafkaError::PartitionEOF(partition))) => {
                    heard = Instant::now();
                    let at = usize::try_from(partition).unwrap_or(0);
                    if let Some(ended) = ended.get_mut(at) {
                        *ended = true;
                    }
                }
                Some(Err(error)) => match failed(&error) {
                    Error::Later(reason) => last = Some(reason),
                    error => return Err(error),
                },
                None => {}
            }
            if heard.elapsed() > SILENCE {
                let reason = last.unwrap_or_else(|| "the servers do not answer".to_owned());
                return Err(Error::Later(reason));
            }
        }
        let _ = self.consumer.unassign();
        Ok(())
    }
}
