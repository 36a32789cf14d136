//! A thread for each partition that a worker holds: stores answers together with the place up to which blocks are done.
//!
//! After anything went wrong it begins anew with a writer of the same id. That ends what the one before had begun, so
//! that the place which the servers then state says whether the last answers were stored.

use std::cell::Cell;
use std::sync::Weak;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::engine::{Published, To};
use crate::error::{Error, Result};
use crate::kafka::client::{ANSWER, code, meaning};
use crate::kafka::mark;
use crate::kafka::partition::Item;
use crate::kafka::plan::Plan;
use crate::kafka::shared::{LOOK, Storable};
use crate::kafka::transaction::{Fault, Message, Writer};
use crate::life::pause;

/// How long a transaction may still take when its partition goes to another worker.
const CLOSING: Duration = Duration::from_secs(2);
/// The longest pause after something went wrong: others may wait for the partition.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// One partition.
pub(super) struct Committer<C: ConsumerContext> {
    pub(super) plan: std::sync::Arc<Plan>,
    /// The member of the group that holds the partition.
    pub(super) member: Weak<BaseConsumer<C>>,
    pub(super) partition: i32,
    /// The settings of its writers.
    pub(super) config: ClientConfig,
}

impl<C: ConsumerContext> Committer<C> {
    /// Stores until the partition goes to another worker. `started` hears once others are shut out.
    pub(super) fn run(self, started: &Sender<()>) {
        let (mut failures, mut tried, mut is_news) = (0, None, true);
        let mut has_begun = false;
        while self.is_held() {
            let begun = &mut has_begun;
            let done = self.work(started, &mut failures, &mut tried, (&mut is_news, begun));
            let Err(error) = done else { return };
            failures += 1;
            let is_passing = error.is_passing();
            // Of a partition that goes elsewhere, and of others that come, nobody wants to hear.
            if (self.is_held() && is_news) || !is_passing {
                self.plan.shared.tell(error);
            }
            if !is_passing {
                return;
            }
            let until = Instant::now() + pause(failures).min(PAUSE_MAX);
            while Instant::now() < until && self.is_held() {
                std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
            }
        }
    }

    fn is_held(&self) -> bool {
        self.plan.shared.is_held(self.partition)
    }

    /// Works with one writer, until it is of no more use. `tried` is what the last transaction would have stored.
    fn work(
        &self,
        started: &Sender<()>,
        failures: &mut u64,
        tried: &mut Option<i64>,
        (is_news, has_begun): (&mut bool, &mut bool),
    ) -> Result<()> {
        *is_news = true;
        let writer = Writer::open(&self.config, || self.is_held())?;
        if !*has_begun {
            self.begin()?;
            *has_begun = true;
        }
        // Once is enough; whoever waited may be gone.
        let _ = started.send(());
        let shared = &self.plan.shared;
        if shared.is_partition_busy(self.partition)
            && let Some(offset) = self.committed()?
        {
            // What is below was stored by the writer before, or by another worker.
            let published = match *tried == Some(offset) {
                true => Published::Stored,
                false => Published::Duplicate,
            };
            shared.done(self.partition, offset, published);
        }
        while let Some(storable) = shared.wait_ready(self.partition) {
            let (items, end) = match storable {
                Storable::Items(items) => {
                    let end = items.last().map_or(0, |item| item.offset + 1);
                    (items, end)
                }
                Storable::Place(end) => (Vec::new(), end),
            };
            *tried = Some(end);
            match self.store(&writer, &items, end) {
                Ok(()) => {
                    *failures = 0;
                    shared.done(self.partition, end, Published::Stored);
                }
                Err(Fault::TooLong(number)) => {
                    let item = &items[number];
                    let error = Error::TooLong {
                        bytes: item.block.bytes.len(),
                        bytes_max: self.plan.bytes_max(item.to),
                    };
                    shared.refuse(self.partition, item.offset, &error);
                }
                Err(Fault::Lost(error)) => {
                    // Workers come and go, and the group counts how often.
                    let shares = [Code::IllegalGeneration, Code::UnknownMemberId];
                    *is_news = !code(&error).is_some_and(|code| shares.contains(&code));
                    return Err(self.meaning(&error));
                }
            }
        }
        Ok(())
    }

    /// What an error means: all of it may pass, but for what the servers will never allow.
    fn meaning(&self, error: &KafkaError) -> Error {
        let what = format!(
            "answers of partition {} of {} are not stored yet",
            self.partition, self.plan.from.name
        );
        meaning(&what, error)
    }

    /// Looks where the group is, now that no other worker can change it, and whether what follows there was removed.
    fn begin(&self) -> Result<()> {
        let place = self.committed()?.unwrap_or(0);
        if let Some(partition) = self.plan.shared.lock().partitions.get_mut(&self.partition) {
            partition.start(place);
        }
        let (first, _) = self
            .plan
            .cluster
            .ends(&self.plan.from.name, self.partition)?;
        if first > place {
            self.plan.lose(self.partition, place, first);
        }
        Ok(())
    }

    /// Stores answers, and that everything before `end` is done.
    fn store(&self, writer: &Writer, items: &[Item], end: i64) -> std::result::Result<(), Fault> {
        let messages: Vec<Message<'_>> = items
            .iter()
            .map(|item| {
                let topic = match item.to {
                    To::Answers => &self.plan.to,
                    To::DeadLetters => &self.plan.dead,
                };
                Message {
                    topic: &topic.name,
                    partition: self.partition % topic.partitions.max(1),
                    block: &item.block,
                }
            })
            .collect();
        let member = self.member.upgrade();
        let group = member.and_then(|member| member.group_metadata());
        let group = group.ok_or(KafkaError::Canceled)?;
        // A partition that goes to another worker is held for a moment, for what is on its way.
        let closed = Cell::new(None);
        let is_wanted = || {
            if self.is_held() {
                return true;
            }
            let since = closed.get().unwrap_or_else(Instant::now);
            closed.set(Some(since));
            since.elapsed() < CLOSING
        };
        let text = mark::text(&self.plan.common.kept());
        writer.store(&messages, &group, is_wanted, |_| {
            mark::place(&self.plan.from.name, self.partition, end, &text)
        })
    }

    /// Up to where the group is done with the partition.
    fn committed(&self) -> Result<Option<i64>> {
        let what = "cannot ask what is done";
        let failed = |error: &KafkaError| meaning(what, error);
        let member = self.member.upgrade();
        let member = member.ok_or_else(|| Error::Later(what.to_owned()))?;
        let mut list = TopicPartitionList::new();
        list.add_partition(&self.plan.from.name, self.partition);
        let found = member.committed_offsets(list, ANSWER);
        let found = found.map_err(|error| failed(&error))?;
        let elements = found.elements();
        let Some(element) = elements.first() else {
            return Err(Error::Later(what.to_owned()));
        };
        element.error().map_err(|error| failed(&error))?;
        match element.offset() {
            Offset::Offset(offset) => Ok(Some(offset)),
            _ => Ok(None),
        }
    }
}
