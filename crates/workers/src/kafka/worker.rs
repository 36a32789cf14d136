//! The engine: blocks of a consumer group, answers and dead letters in transactions.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::block::{Block, BlockId, Delivery, Place, WHOLE, token};
use crate::engine::{Engine, Published, To, Verdict};
use crate::error::{Error, Result};
use crate::kafka::group::start;
use crate::kafka::headers::{message_len, partition, place};
use crate::kafka::mark;
use crate::kafka::plan::Plan;
use crate::kafka::scan::Scanner;
use crate::kafka::shared::{LOOK, Look, Shared};
use crate::kafka::topics::{Cluster, Facts, blocking, check_topic};
use crate::lost::Lost;
use crate::settings::{Common, check_apart};

/// How long to wait for a block before saying that there is none.
const PULL: Duration = Duration::from_secs(1);

/// How long leaving the group may take, last looks included.
const CLOSE: Duration = Duration::from_secs(4);

/// What a worker works on.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The topic of blocks.
    pub from: Facts,
    /// The topic of answers.
    pub to: Facts,
    /// The topic of dead letters.
    pub dead: Facts,
    /// The name of the group that all workers of a shard share; the topic is put before it, and a shard after it.
    pub consumer: String,
    /// Which part of the expressions it has.
    pub shard: String,
    /// What else all workers of the group have in common, besides shard and topic of answers.
    pub common: Common,
    /// What this worker is called, if it may change that.
    pub takes_over: Option<String>,
    /// How long the servers wait for a sign of life before they give partitions to other workers.
    pub ack_wait: Duration,
    /// How often a block may fail before it is a dead letter.
    pub deliveries: u64,
}

/// An engine of Kafka.
pub struct Worker {
    plan: Arc<Plan>,
    group: Mutex<Option<JoinHandle<()>>>,
    scanner: Arc<Mutex<Scanner>>,
    server: String,
}

/// A block that was given out.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    partition: i32,
    epoch: u64,
    offset: i64,
}

impl Worker {
    /// Checks all settings, and joins the group.
    ///
    /// # Errors
    ///
    /// If topics or servers cannot keep what is promised, or refuse.
    pub async fn open(cluster: Cluster, setup: Setup) -> Result<Self> {
        check_apart([&setup.from, &setup.to, &setup.dead].map(|facts| facts.name.as_str()))?;
        let times = Some((setup.ack_wait, setup.deliveries));
        for facts in [&setup.from, &setup.to, &setup.dead] {
            check_topic(facts, times)?;
        }
        let group = group_name(&setup.from.name, &setup.consumer, &setup.shard);
        let common = setup.common.with("shard", &setup.shard);
        let plan = Arc::new(Plan {
            consumer: setup.consumer,
            common: common.with("to", &setup.to.name),
            takes_over: setup.takes_over,
            cluster,
            from: setup.from,
            to: setup.to,
            dead: setup.dead,
            group,
            session: setup.ack_wait,
            shared: Shared::default(),
        });
        blocking(move || {
            mark::look(&plan)?;
            if plan.takes_over.is_some() {
                // Before it has blocks: those before it may hold them all.
                mark::write(&plan)?;
            }
            let scanner = Scanner::open(&plan.cluster, &plan.from, Some(&plan.group))?;
            let server = plan.cluster.name();
            let group = start(Arc::clone(&plan))?;
            Ok(Self {
                server,
                plan,
                group: Mutex::new(Some(group)),
                scanner: Arc::new(Mutex::new(scanner)),
            })
        })
        .await
    }

    /// How long the servers wait for a sign of life.
    #[must_use]
    pub fn ack_wait(&self) -> Duration {
        self.plan.session
    }

    /// Whether blocks of the topic are not done, by whichever worker.
    ///
    /// # Errors
    ///
    /// If the servers do not answer.
    pub async fn has_left(&self) -> Result<bool> {
        if self.plan.shared.is_busy() {
            return Ok(true);
        }
        let scanner = Arc::clone(&self.scanner);
        blocking(move || {
            let scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            has_left(&scanner)
        })
        .await
    }

    /// Blocks that the servers removed before any worker had them, as far as they were noticed since the last call.
    pub fn take_lost(&self) -> Vec<Lost> {
        self.plan.shared.take_lost()
    }

    /// What tells the servers from others.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Leaves the group, so that others get its blocks at once. Where the servers are away, it is only told to end: they give
    /// its partitions to others when they miss it.
    pub async fn close(&self, is_away: bool) {
        if is_away {
            return self.plan.shared.stop();
        }
        self.plan.shared.leave();
        let group = self
            .group
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(group) = group {
            let joined = move || {
                // It has told what went wrong.
                let _ = group.join();
                Ok(())
            };
            let _ = tokio::time::timeout(CLOSE, blocking(joined)).await;
        }
    }

    fn publishable(&self, to: To, block: &Block) -> Result<()> {
        let (bytes, bytes_max) = (message_len(block), self.plan.bytes_max(to));
        match bytes > bytes_max {
            true => Err(Error::TooLong { bytes, bytes_max }),
            false => Ok(()),
        }
    }
}

/// The name of a group. Shards have groups of their own, whatever the consumer: each of them gets all blocks.
fn group_name(topic: &str, consumer: &str, shard: &str) -> String {
    let consumer = match consumer.contains('/') {
        true => token(consumer),
        false => consumer.to_owned(),
    };
    match shard {
        WHOLE => format!("{topic}.{consumer}"),
        _ => format!("{topic}.{consumer}/{}", token(shard)),
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.plan.shared.stop();
    }
}

/// Looks for a block behind the place up to which the group is done. Between them are ends of transactions, which are
/// no blocks.
fn has_left(scanner: &Scanner) -> Result<bool> {
    let committed = scanner.committed()?;
    let ends = scanner.ends()?;
    let place = |partition: &i32| committed.get(partition).copied().unwrap_or(0);
    // Whoever holds the partition will say that blocks are lost, and go on behind them.
    if ends
        .iter()
        .any(|(partition, (first, _))| place(partition) < *first)
    {
        return Ok(true);
    }
    let is_open = |(partition, (_, end)): (&i32, &(i64, i64))| place(partition) < *end;
    if !ends.iter().any(is_open) {
        return Ok(false);
    }
    let mut has_left = false;
    scanner.read(&committed, |_| {
        has_left = true;
        ControlFlow::Break(())
    })?;
    Ok(has_left)
}

impl Engine for Worker {
    type Token = Token;

    async fn next_block(&self, free: usize) -> Result<Option<Delivery<Token>>> {
        let asked = Instant::now();
        loop {
            let due = match self.plan.shared.look(free > 0) {
                Look::Block(partition, epoch, offset, block, count) => {
                    return Ok(Some(Delivery {
                        block: *block,
                        place: place(&self.plan.from.name, partition, offset),
                        count,
                        token: Token {
                            partition,
                            epoch,
                            offset,
                        },
                    }));
                }
                Look::Trouble(error) => return Err(error),
                Look::Idle => return Ok(None),
                Look::Nothing(due) => due,
            };
            let now = Instant::now();
            if free > 0 && now - asked >= PULL {
                return Ok(None);
            }
            let wait = due.map_or(LOOK, |due| due.saturating_duration_since(now).min(LOOK));
            self.plan
                .shared
                .changed(wait.max(Duration::from_millis(1)))
                .await;
        }
    }

    async fn publish(&self, to: To, of: &Place, _: &BlockId, block: &Block) -> Result<Published> {
        self.publishable(to, block)?;
        let place = partition(&self.plan.from.name, of);
        let outcome = place.and_then(|(number, offset)| {
            let mut state = self.plan.shared.lock();
            let partition = state.partitions.get_mut(&number)?;
            partition.publish(offset, to, block.clone())
        });
        // Without one, and where nobody says it any more, the block is done, or another worker's: it answers.
        let Some(outcome) = outcome else {
            return Ok(Published::Duplicate);
        };
        self.plan.shared.published();
        outcome.await.unwrap_or(Ok(Published::Duplicate))
    }

    async fn away(&self) {
        loop {
            let cluster = self.plan.cluster.clone();
            match blocking(move || Ok(cluster.is_away())).await {
                Ok(true) => return,
                _ => tokio::time::sleep(PULL).await,
            }
        }
    }

    async fn ack(&self, token: &Token, verdict: Verdict) -> Result<()> {
        // The rest is in the transaction of the answer.
        if let Verdict::Again(pause) = verdict {
            let mut state = self.plan.shared.lock();
            let partition = state.partitions.get_mut(&token.partition);
            if let Some(partition) = partition.filter(|partition| partition.epoch == token.epoch) {
                partition.fail(token.offset, Instant::now() + pause);
            }
            drop(state);
            self.plan.shared.notify();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_of_one_consumer_are_groups_of_their_own() {
        assert_eq!(group_name("in", "match", WHOLE), "in.match");
        assert_eq!(group_name("in", "match", "a"), "in.match/a");
        let names = [
            ("match", "all"),
            ("match", "1/2"),
            ("match", "2/2"),
            ("match/a", "all"),
            ("match", "a"),
            ("match.a", "all"),
        ];
        let names = names.map(|(consumer, shard)| group_name("in", consumer, shard));
        let apart: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(apart.len(), names.len(), "{names:?}");
    }
}
