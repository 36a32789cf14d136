//! A member of a consumer group on a thread of its own: gets partitions and gives them back, reads blocks, and has a
//! [`Committer`] for each partition.
//!
//! A partition is read only after its committer has shut out the one of the worker before. Then nobody else can store
//! answers of it, and the place from which it is read is the last one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;
use rdkafka::message::Message as _;
use rdkafka::statistics::Statistics;
use rdkafka::topic_partition_list::TopicPartitionList;

use crate::error::{Error, Result};
use crate::kafka::client::{meaning, reader, writer, wrong};
use crate::kafka::committer::Committer;
use crate::kafka::headers::block;
use crate::kafka::mark;
use crate::kafka::plan::Plan;
use crate::kafka::removed::Removed;
use crate::kafka::shared::LOOK;

/// A worker answers within this time when partitions are shared anew, or loses its own; the others wait for it. Matching
/// is done elsewhere and does not count.
const POLL_MAX_MS: u128 = 30_000;

/// The member, as the client calls it back.
pub(super) struct Member {
    plan: Arc<Plan>,
    itself: OnceLock<Weak<BaseConsumer<Member>>>,
    committers: Mutex<HashMap<i32, JoinHandle<()>>>,
    /// Whether it was written down what workers have in common.
    is_marked: AtomicBool,
}

/// Joins the group, and reads until the end is wanted.
pub(super) fn start(plan: Arc<Plan>) -> Result<JoinHandle<()>> {
    let mut config = reader(&plan.cluster.address, &plan.cluster.access);
    let session = plan.session.as_millis();
    config.set("group.id", &plan.group);
    config.set("session.timeout.ms", session.to_string());
    config.set(
        "heartbeat.interval.ms",
        (session / 4).clamp(1, 3_000).to_string(),
    );
    config.set("max.poll.interval.ms", POLL_MAX_MS.max(session).to_string());
    config.set("partition.assignment.strategy", "cooperative-sticky");
    let member = Member {
        plan: Arc::clone(&plan),
        itself: OnceLock::new(),
        committers: Mutex::default(),
        // Who takes over has written it.
        is_marked: AtomicBool::new(plan.takes_over.is_some()),
    };
    let consumer: BaseConsumer<Member> = config
        .create_with_context(member)
        .map_err(|error| wrong(&error))?;
    let consumer = Arc::new(consumer);
    // It is set once.
    let _ = consumer.context().itself.set(Arc::downgrade(&consumer));
    consumer
        .subscribe(&[&plan.from.name])
        .map_err(|error| meaning("cannot join the group", &error))?;
    thread("kafka-group", move || read(&plan, consumer))
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let started = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work);
    started.map_err(|error| Error::Later(format!("cannot start a thread: {error}")))
}

fn read(plan: &Plan, consumer: Arc<BaseConsumer<Member>>) {
    let mut removed = Removed::new(plan);
    let mut still = mark::Still::new(plan);
    while !plan.shared.lock().is_stopping {
        match consumer.poll(LOOK) {
            Some(Ok(message)) => {
                let block = block(&message);
                let (partition, offset) = (message.partition(), message.offset());
                removed.follows(partition, offset);
                if let Some(partition) = plan.shared.lock().partitions.get_mut(&partition) {
                    partition.push(offset, block);
                }
                plan.shared.notify();
            }
            Some(Err(error)) => plan.shared.tell(meaning("cannot read blocks", &error)),
            None => removed.look(),
        }
        toggle(plan, &consumer);
        if let Err(error) = still.check() {
            plan.shared.tell(error);
        }
        if plan.shared.lock().is_leaving {
            removed.last_look();
            plan.shared.stop();
        }
    }
    let held: Vec<i32> = plan.shared.lock().partitions.keys().copied().collect();
    consumer.context().close(&held);
    // It leaves the group when it is dropped, so that others get its partitions at once.
    drop(consumer);
}

/// Pauses partitions of which enough waits, and lets others go on.
fn toggle(plan: &Plan, consumer: &BaseConsumer<Member>) {
    let toggled: Vec<(i32, bool)> = {
        let mut state = plan.shared.lock();
        let all = state.partitions.iter_mut();
        all.filter_map(|(number, partition)| Some((*number, partition.toggle()?)))
            .collect()
    };
    for (number, pauses) in toggled {
        let mut list = TopicPartitionList::new();
        list.add_partition(&plan.from.name, number);
        let done = match pauses {
            true => consumer.pause(&list),
            false => consumer.resume(&list),
        };
        if let Err(error) = done {
            plan.shared.tell(meaning("cannot read blocks", &error));
        }
    }
}

impl Member {
    /// Holds partitions: returns once others are shut out.
    fn hold(&self, partitions: &[i32]) {
        let Some(member) = self.itself.get() else {
            return;
        };
        let plan = &self.plan;
        // Without it nothing is held, so that nothing is given out.
        if !partitions.is_empty() && !self.mark() {
            return;
        }
        let (sender, started) = channel();
        for partition in partitions {
            plan.shared.hold(*partition);
            let bytes_max = plan.to.bytes_max.min(plan.dead.bytes_max);
            let id = format!("{}.{partition}", plan.group);
            let committer = Committer {
                plan: Arc::clone(plan),
                member: member.clone(),
                partition: *partition,
                config: writer(&plan.cluster.address, &plan.cluster.access, &id, bytes_max),
            };
            let sender = sender.clone();
            match thread("kafka-commit", move || committer.run(&sender)) {
                Ok(handle) => {
                    let mut committers = self
                        .committers
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    committers.insert(*partition, handle);
                }
                Err(error) => plan.shared.tell(error),
            }
        }
        drop(sender);
        let mut waits = partitions.len();
        while waits > 0 && !plan.shared.lock().is_stopping {
            match started.recv_timeout(LOOK) {
                Ok(()) => waits -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                // A committer has ended, and told why.
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Writes down what workers have in common, once. False: this one differs, or is to end.
    fn mark(&self) -> bool {
        let shared = &self.plan.shared;
        while !self.is_marked.load(Ordering::Relaxed) {
            let Err(error) = mark::write(&self.plan) else {
                self.is_marked.store(true, Ordering::Relaxed);
                return true;
            };
            let is_passing = error.is_passing();
            shared.tell(error);
            if !is_passing || shared.lock().is_stopping {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    /// Gives partitions back: what is being stored is stored before.
    fn close(&self, partitions: &[i32]) {
        for partition in partitions {
            self.plan.shared.close(*partition);
        }
        for partition in partitions {
            let handle = {
                let mut committers = self
                    .committers
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                committers.remove(partition)
            };
            if let Some(handle) = handle {
                // It says itself what went wrong.
                let _ = handle.join();
            }
            self.plan.shared.drop(*partition);
        }
    }
}

impl ClientContext for Member {
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn stats(&self, _: Statistics) {}

    fn error(&self, error: KafkaError, said: &str) {
        // Of what passes there is no end while a server is away.
        let meaning = meaning(said, &error);
        if !meaning.is_passing() {
            self.plan.shared.tell(meaning);
        }
    }
}

fn numbers(list: &TopicPartitionList) -> Vec<i32> {
    list.elements()
        .iter()
        .map(|element| element.partition())
        .collect()
}

impl ConsumerContext for Member {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(list) => self.hold(&numbers(list)),
            Rebalance::Revoke(list) => self.close(&numbers(list)),
            Rebalance::Error(error) => {
                self.plan
                    .shared
                    .tell(meaning("cannot share blocks with other workers", error));
            }
        }
    }
}
