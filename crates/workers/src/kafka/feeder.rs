//! The source of a feeder: blocks of one file or pipe, each stored once, in turns on the partitions of a topic.
//!
//! Blocks are stored in transactions together with the places behind them, under the name of a group that has no other
//! use. A feeder that starts again shuts out the one before, and finds the last block of its source by reading on from
//! those places; servers forget them after a week without a feeder (`offsets.retention.minutes`), and then the whole
//! topic is read.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rdkafka::consumer::Consumer as _;
use rdkafka::message::Message as _;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::block::{Block, Labels, token};
use crate::cutter::Cut;
use crate::engine::Published;
use crate::error::{Error, Result};
use crate::kafka::client::{meaning, writer};
use crate::kafka::headers::{block, message_len};
use crate::kafka::scan::Scanner;
use crate::kafka::topics::{Cluster, Facts, blocking, check_topic};
use crate::kafka::transaction::{Fault, Message, Writer};
use crate::known::Known;

/// How long to try to begin. The caller tries again.
const TRY: Duration = Duration::from_secs(10);

/// Stores the blocks of a source in order.
pub struct Feeder {
    source: String,
    bytes_max: usize,
    was_fed: bool,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    cluster: Cluster,
    facts: Facts,
    source: String,
    /// The group that keeps places, and the id of transactions.
    id: String,
    scanner: Scanner,
    writer: Option<Writer>,
    /// Up to where each partition was looked through.
    seen: BTreeMap<i32, i64>,
    /// The last block of the source.
    last: Option<Known>,
    /// The partition of the next block.
    turn: i32,
}

impl Feeder {
    /// A feeder of the source of that name, and the last block of it that the topic has. With `is_new` the name is known
    /// to be used for the first time.
    ///
    /// # Errors
    ///
    /// If the topic does not keep blocks, or the servers do not answer or allow no transactions.
    pub async fn open(
        cluster: &Cluster,
        facts: &Facts,
        source: &str,
        is_new: bool,
    ) -> Result<(Self, Option<Known>)> {
        check_topic(facts, None)?;
        let (cluster, facts, source) = (cluster.clone(), facts.clone(), source.to_owned());
        blocking(move || {
            let id = format!("{}.feed.{}", facts.name, token(&source));
            let scanner = Scanner::open(&cluster, &facts, Some(&id))?;
            let mut inner = Inner {
                cluster,
                source: source.clone(),
                id,
                scanner,
                writer: None,
                seen: BTreeMap::new(),
                last: None,
                turn: 0,
                facts,
            };
            inner.begin(is_new)?;
            let known = inner.last.clone();
            let was_fed = !inner.scanner.committed()?.is_empty();
            let feeder = Self {
                was_fed,
                source,
                bytes_max: inner.facts.bytes_max,
                inner: Arc::new(Mutex::new(inner)),
            };
            Ok((feeder, known))
        })
        .await
    }

    /// The longest block that fits in with its labels.
    #[must_use]
    pub fn block_bytes_max(&self) -> usize {
        let empty = labelled(
            &self.source,
            &Cut {
                offset: u64::MAX,
                line: u64::MAX,
                bytes: Bytes::new(),
            },
        );
        self.bytes_max.saturating_sub(message_len(&empty))
    }

    /// Whether blocks of a source of this name were stored before, as far as the servers remember.
    #[must_use]
    pub fn was_fed(&self) -> bool {
        self.was_fed
    }

    /// Stores blocks that follow on each other, all or none, once. To be repeated with the same ones until it succeeds.
    ///
    /// # Errors
    ///
    /// If the servers did not answer, or another feeder has fed this source meanwhile.
    pub async fn publish(&self, cuts: &[Cut]) -> Result<Published> {
        let (inner, cuts) = (Arc::clone(&self.inner), cuts.to_vec());
        blocking(move || {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.publish(&cuts)
        })
        .await
    }
}

fn labelled(source: &str, cut: &Cut) -> Block {
    Block {
        labels: Labels {
            source: Some(source.to_owned()),
            offset: Some(cut.offset),
            line: Some(cut.line),
            ..Labels::default()
        },
        bytes: cut.bytes.clone(),
    }
}

impl Inner {
    /// Shuts out other feeders of the source, and finds its last block.
    fn begin(&mut self, is_new: bool) -> Result<()> {
        let bytes_max = self.facts.bytes_max;
        let config = writer(
            &self.cluster.address,
            &self.cluster.access,
            &self.id,
            bytes_max,
        );
        let started = Instant::now();
        let writer = Writer::open(&config, || started.elapsed() < TRY)?;
        let ends = self.scanner.ends()?;
        if !is_new {
            self.look()?;
        }
        for (partition, (_, end)) in ends {
            let seen = self.seen.entry(partition).or_default();
            *seen = end.max(*seen);
        }
        self.writer = Some(writer);
        Ok(())
    }

    fn look(&mut self) -> Result<()> {
        let mut from = self.scanner.committed()?;
        for (partition, offset) in &mut from {
            // The block before the place is the last one of the source there, if there is one.
            let seen = self.seen.get(partition).copied().unwrap_or(0);
            *offset = (*offset - 1).max(seen).max(0);
        }
        let (mut last, mut turn) = (self.last.take(), self.turn);
        let source = self.source.as_str();
        let seen = &mut self.seen;
        let read = self.scanner.read(&from, |message| {
            let at = seen.entry(message.partition()).or_default();
            *at = (*at).max(message.offset() + 1);
            let block = block(message);
            let Labels {
                source: Some(of),
                offset: Some(offset),
                line: Some(line),
                ..
            } = &block.labels
            else {
                return ControlFlow::Continue(());
            };
            if of == source && last.as_ref().is_none_or(|last| *offset >= last.offset) {
                turn = message.partition() + 1;
                last = Some(Known {
                    offset: *offset,
                    line: *line,
                    bytes: block.bytes,
                });
            }
            ControlFlow::Continue(())
        });
        (self.last, self.turn) = (last, turn);
        read
    }

    fn publish(&mut self, cuts: &[Cut]) -> Result<Published> {
        let (Some(first), Some(end)) = (cuts.first(), cuts.last()) else {
            return Ok(Published::Stored);
        };
        if self.writer.is_none() {
            self.begin(false)?;
            match &self.last {
                // It was stored, and only that was not heard.
                Some(known) if known.offset == end.offset && known.bytes == end.bytes => {
                    return Ok(Published::Duplicate);
                }
                Some(known) if known.offset >= first.offset => {
                    let message = format!(
                        "another feeder has fed {} meanwhile: the topic has byte {}, and this one is at {}",
                        self.source, known.offset, first.offset
                    );
                    let help = "let one feeder feed a source; start this one again to go on where the topic ends";
                    return Err(Error::refused(message, help));
                }
                _ => {}
            }
        }
        let Some(writer) = self.writer.take() else {
            return Err(Error::Later("there is no writer".to_owned()));
        };
        let group = self.scanner.consumer.group_metadata();
        let group = group.ok_or_else(|| Error::Later("there is no group".to_owned()))?;
        let blocks: Vec<Block> = cuts.iter().map(|cut| labelled(&self.source, cut)).collect();
        let partitions = self.facts.partitions.max(1);
        let messages: Vec<Message<'_>> = (self.turn..)
            .zip(&blocks)
            .map(|(turn, block)| Message {
                topic: &self.facts.name,
                partition: turn % partitions,
                block,
            })
            .collect();
        let mut seen = self.seen.clone();
        let stored = writer.store(
            &messages,
            &group,
            || true,
            |ends| {
                seen.extend(ends);
                let mut list = TopicPartitionList::new();
                for (partition, seen) in &seen {
                    list.add_partition_offset(&self.facts.name, *partition, Offset::Offset(*seen))?;
                }
                Ok(list)
            },
        );
        match stored {
            Ok(()) => {
                self.seen = seen;
                let count = i32::try_from(blocks.len()).unwrap_or(0);
                self.turn = (self.turn % partitions).wrapping_add(count) % partitions;
                self.last = Some(Known {
                    offset: end.offset,
                    line: end.line,
                    bytes: end.bytes.clone(),
                });
                self.writer = Some(writer);
                Ok(Published::Stored)
            }
            Err(Fault::TooLong(number)) => {
                self.writer = Some(writer);
                Err(Error::TooLong {
                    bytes: cuts[number].bytes.len(),
                    bytes_max: self.facts.bytes_max,
                })
            }
            Err(Fault::Lost(error)) => Err(meaning("blocks are not stored yet", &error)),
        }
    }
}
