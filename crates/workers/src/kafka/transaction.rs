//! Messages that are stored together with the place up to which a group is done, or not at all.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::Message as _;
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer as _, ProducerContext};
use rdkafka::statistics::Statistics;
use rdkafka::topic_partition_list::TopicPartitionList;

use crate::block::Block;
use crate::error::Result;
use crate::kafka::client::{ANSWER, TRANSACTION, meaning, wrong};
use crate::kafka::headers::headers;

/// How long one look for acknowledgements takes.
const POLL: Duration = Duration::from_millis(1);

/// How long one call waits; after that it goes on where it was, if it is still wanted.
const SLICE: Duration = Duration::from_millis(500);

/// A message on its way.
pub(super) struct Message<'a> {
    pub(super) topic: &'a str,
    pub(super) partition: i32,
    pub(super) block: &'a Block,
}

/// Why nothing was stored.
#[derive(Debug)]
pub(super) enum Fault {
    /// This message is too long for its topic. The writer goes on.
    TooLong(usize),
    /// Something else, and perhaps everything was stored and only that was not heard. The writer is no longer of use.
    Lost(KafkaError),
}

impl From<KafkaError> for Fault {
    fn from(error: KafkaError) -> Self {
        Self::Lost(error)
    }
}

/// What servers say of messages.
#[derive(Default)]
struct Deliveries {
    /// The numbers of messages that they refused, and why.
    refused: Mutex<Vec<(usize, Code)>>,
    /// The offset behind the last message, for each partition.
    ends: Mutex<BTreeMap<i32, i64>>,
}

impl ClientContext for Deliveries {
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn stats(&self, _: Statistics) {}

    fn error(&self, _: KafkaError, _: &str) {}
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        match result {
            Ok(message) => {
                let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
                let end = ends.entry(message.partition()).or_default();
                *end = (*end).max(message.offset() + 1);
            }
            Err((error, _)) => {
                let code = error.rdkafka_error_code().unwrap_or(Code::Unknown);
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push((number, code));
            }
        }
    }
}

/// Repeats a call that goes on where it was.
fn patiently(
    call: impl Fn() -> std::result::Result<(), KafkaError>,
    is_wanted: impl Fn() -> bool,
) -> std::result::Result<(), KafkaError> {
    loop {
        match call() {
            Err(KafkaError::Transaction(error)) if error.is_retriable() && is_wanted() => {}
            done => return done,
        }
    }
}

/// A client that stores in transactions. The servers let only the newest one of its id do so.
pub(super) struct Writer {
    producer: BaseProducer<Deliveries>,
}

impl Writer {
    /// Makes one, and shuts out those before it: what they have not ended is given up. Tries while it `is_wanted`.
    pub(super) fn open(config: &ClientConfig, is_wanted: impl Fn() -> bool) -> Result<Self> {
        let producer: BaseProducer<Deliveries> = config
            .create_with_context(Deliveries::default())
            .map_err(|error| wrong(&error))?;
        match patiently(|| producer.init_transactions(SLICE), is_wanted) {
            Ok(()) => Ok(Self { producer }),
            Err(error) => Err(meaning("cannot begin transactions", &error)),
        }
    }

    /// Stores messages, and what `offsets` makes of the ends of partitions that they are behind, in one transaction.
    /// Tries while it `is_wanted`, and no longer than a transaction may take.
    pub(super) fn store(
        &self,
        messages: &[Message<'_>],
        group: &ConsumerGroupMetadata,
        is_wanted: impl Fn() -> bool,
        offsets: impl FnOnce(&BTreeMap<i32, i64>) -> std::result::Result<TopicPartitionList, KafkaError>,
    ) -> std::result::Result<(), Fault> {
        let context = self.producer.context();
        let ends = || context.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = || {
            context
                .refused
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        ends().clear();
        refused().clear();
        let started = Instant::now();
        let is_wanted = || started.elapsed() < TRANSACTION && is_wanted();
        self.producer.begin_transaction()?;
        for (number, message) in messages.iter().enumerate() {
            let record: BaseRecord<'_, [u8], [u8], usize> =
                BaseRecord::with_opaque_to(message.topic, number)
                    .partition(message.partition)
                    .payload(&message.block.bytes[..])
                    .headers(headers(message.block));
            match self.producer.send(record) {
                Ok(()) => {}
                Err((error, _))
                    if error.rdkafka_error_code() == Some(Code::MessageSizeTooLarge) =>
                {
                    return Err(self.give_up(number));
                }
                Err((error, _)) => return Err(error.into()),
            }
        }
        while self.producer.in_flight_count() > 0 && is_wanted() {
            self.producer.poll(POLL);
        }
        let failed = refused().first().copied();
        match failed {
            None => {}
            Some((number, Code::MessageSizeTooLarge)) => return Err(self.give_up(number)),
            Some((_, code)) => return Err(Fault::Lost(KafkaError::MessageProduction(code))),
        }
        let offsets = offsets(&ends())?;
        let producer = &self.producer;
        patiently(
            || producer.send_offsets_to_transaction(&offsets, group, SLICE),
            is_wanted,
        )?;
        patiently(|| producer.commit_transaction(SLICE), is_wanted)?;
        Ok(())
    }

    fn give_up(&self, number: usize) -> Fault {
        // The other messages of the transaction are given up with it.
        let started = Instant::now();
        let is_wanted = || started.elapsed() < ANSWER;
        let aborted = patiently(|| self.producer.abort_transaction(SLICE), is_wanted);
        while self.producer.in_flight_count() > 0 && is_wanted() {
            self.producer.poll(POLL);
        }
        match aborted {
            Ok(()) => Fault::TooLong(number),
            Err(error) => Fault::Lost(error),
        }
    }
}
