//! Answers and dead letters of a topic of blocks, once, without a trace on the servers: for those who want to see answers
//! in the order of their blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rdkafka::consumer::Consumer as _;
use rdkafka::error::KafkaError;
use rdkafka::message::Message as _;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::block::{Block, Message};
use crate::error::{Error, Result};
use crate::kafka::client::{meaning, open_reader, reader};
use crate::kafka::headers::{block, partition, place};
use crate::kafka::order::{Entry, Ordered, order};
use crate::kafka::scan::Scanner;
use crate::kafka::topics::{Cluster, Facts, blocking};
use crate::lost::Lost;

/// Messages that were read and wait.
const AHEAD: usize = 64;
/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(100);

/// Reads answers from their first on.
pub struct Reader {
    blocks: String,
    order: HashMap<(i32, i64), Ordered>,
    cluster: Cluster,
    /// Messages that were removed before reading began.
    removed: Vec<Lost>,
    messages: Receiver<Result<Message>>,
    is_stopping: Arc<AtomicBool>,
}

impl Reader {
    /// A reader of answers to blocks, and of dead letters among them. Reads all blocks first, for their order.
    ///
    /// # Errors
    ///
    /// If the servers refuse or do not answer.
    pub async fn open(
        blocks: (&Cluster, &Facts),
        answers: (&Cluster, &Facts),
        dead: Option<&Facts>,
    ) -> Result<Self> {
        let (cluster, facts) = (blocks.0.clone(), blocks.1.clone());
        let (order, removed) = blocking(move || read_order(&cluster, &facts)).await?;
        let (sender, messages) = channel(AHEAD);
        let is_stopping = Arc::new(AtomicBool::new(false));
        let mut topics = vec![(answers.0.clone(), answers.1.clone(), false)];
        topics.extend(dead.map(|facts| (blocks.0.clone(), facts.clone(), true)));
        for (cluster, facts, is_dead) in topics {
            let (sender, is_stopping) = (sender.clone(), Arc::clone(&is_stopping));
            let spawned = std::thread::Builder::new()
                .name("kafka-read".to_owned())
                .spawn(move || {
                    if let Err(error) = read(&cluster, &facts, is_dead, &sender, &is_stopping) {
                        // Who waited may be gone.
                        let _ = sender.blocking_send(Err(error));
                    }
                });
            spawned.map_err(|error| Error::Later(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self {
            blocks: blocks.1.name.clone(),
            order,
            cluster: blocks.0.clone(),
            removed,
            messages,
            is_stopping,
        })
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.order.len() as u64
    }

    /// The number of the block, from 1, to which this is the answer. `None`: it was none of these blocks.
    #[must_use]
    pub fn number(&self, answer: &Block) -> Option<u64> {
        let place = partition(&self.blocks, answer.labels.answers.as_ref()?)?;
        let ordered = self.order.get(&place)?;
        // An older topic of that name had other blocks there.
        let is_same = ordered.byte.is_none() || ordered.byte == answer.labels.offset;
        is_same.then_some(ordered.number)
    }

    /// Messages that were removed before reading began: nothing is known of the order of their answers.
    #[must_use]
    pub fn removed(&self) -> &[Lost] {
        &self.removed
    }

    /// The numbers of blocks that have been removed since.
    ///
    /// # Errors
    ///
    /// If the servers do not answer.
    pub async fn gone(&self) -> Result<Vec<u64>> {
        let (cluster, topic) = (self.cluster.clone(), self.blocks.clone());
        let partitions: BTreeSet<i32> = self.order.keys().map(|(at, _)| *at).collect();
        let asked = move || {
            let ends = partitions
                .iter()
                .map(|at| Ok((*at, cluster.ends(&topic, *at)?.0)));
            ends.collect::<Result<BTreeMap<i32, i64>>>()
        };
        let begins = blocking(asked).await?;
        let is_gone =
            |(at, offset): &(i32, i64)| begins.get(at).is_some_and(|first| offset < first);
        let gone = self.order.iter().filter(|(place, _)| is_gone(place));
        Ok(gone.map(|(_, ordered)| ordered.number).collect())
    }

    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// If the servers do not answer; trying again may help.
    pub async fn next(&mut self) -> Result<Message> {
        let ended = || Err(Error::refused("reading has ended", "start again"));
        self.messages.recv().await.unwrap_or_else(ended)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }
}

/// The order of blocks, and what was removed before them.
type Read = (HashMap<(i32, i64), Ordered>, Vec<Lost>);

fn read_order(cluster: &Cluster, facts: &Facts) -> Result<Read> {
    let scanner = Scanner::open(cluster, facts, None)?;
    let removed = scanner
        .ends()?
        .into_iter()
        .filter(|(_, (first, _))| *first > 0);
    let removed = removed.map(|(at, (first, _))| {
        let count = u64::try_from(first).unwrap_or(0);
        Lost {
            stream: place(&facts.name, at, 0).stream,
            first: 0,
            last: count - 1,
            count,
        }
    });
    let removed = removed.collect();
    let mut partitions: BTreeMap<i32, VecDeque<Entry>> = BTreeMap::new();
    scanner.read(&BTreeMap::new(), |message| {
        let block = block(message);
        let entries = partitions.entry(message.partition()).or_default();
        entries.push_back(Entry {
            offset: message.offset(),
            source: block.labels.source.zip(block.labels.offset),
            bytes: block.bytes.len() as u64,
            millis: message.timestamp().to_millis().unwrap_or(0),
        });
        ControlFlow::Continue(())
    })?;
    Ok((order(partitions), removed))
}

fn read(
    cluster: &Cluster,
    facts: &Facts,
    is_dead: bool,
    sender: &Sender<Result<Message>>,
    is_stopping: &AtomicBool,
) -> Result<()> {
    let failed = |error| meaning("cannot read answers", &error);
    let mut config = reader(&cluster.address, &cluster.access);
    config.set("enable.partition.eof", "true");
    let consumer = open_reader(&config)?;
    let mut list = TopicPartitionList::new();
    for partition in 0..facts.partitions {
        list.add_partition_offset(&facts.name, partition, Offset::Beginning)
            .map_err(failed)?;
    }
    consumer.assign(&list).map_err(failed)?;
    // Partitions of answers whose end was not reached yet.
    let mut open: BTreeSet<i32> = match is_dead {
        true => BTreeSet::new(),
        false => (0..facts.partitions).collect(),
    };
    while !is_stopping.load(Ordering::Relaxed) {
        let message = match consumer.poll(LOOK) {
            Some(Ok(message)) if is_dead => Ok(Message::Dead(block(&message))),
            Some(Ok(message)) => Ok(Message::Answer(block(&message))),
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                if !open.remove(&partition) || !open.is_empty() {
                    continue;
                }
                Ok(Message::CaughtUp)
            }
            Some(Err(error)) => Err(failed(error)),
            None => continue,
        };
        if sender.blocking_send(message).is_err() {
            break;
        }
    }
    Ok(())
}
