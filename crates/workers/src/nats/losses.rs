//! What a worker notices of blocks that the stream removed before it, or another worker of the consumer, had them.

use std::cell::RefCell;

use async_nats::jetstream::consumer::{DeliverPolicy, Info, pull};
use async_nats::jetstream::{self, consumer::Consumer};

use crate::error::{Error, Result};
use crate::lost::{Deliveries, Lost};
use crate::nats::connect::{Connection, reasons};

/// What was noticed.
pub(super) struct Losses {
    blocks: Connection,
    consumer: Consumer<pull::Config>,
    /// Without it blocks that the consumer passes over by itself would seem to be lost.
    takes_all: bool,
    deliveries: RefCell<Deliveries>,
    found: RefCell<Vec<Lost>>,
}

/// What a stream has.
struct Has {
    /// The number of the first block.
    first: u64,
    /// Whether blocks behind it are gone.
    has_gaps: bool,
}

impl Losses {
    /// Looks at the consumer from now on, and for what is missing already. `born` is the number of the stream's first block.
    pub(super) async fn open(
        blocks: &Connection,
        consumer: &Consumer<pull::Config>,
        born: u64,
    ) -> Result<Self> {
        let config = &consumer.cached_info().config;
        let takes_all = config.filter_subject.is_empty() && config.filter_subjects.is_empty();
        let losses = Self {
            blocks: blocks.clone(),
            consumer: consumer.clone(),
            takes_all,
            deliveries: RefCell::new(Deliveries::new(0, 0)),
            found: RefCell::default(),
        };
        let first = losses.has().await?;
        let info = losses.info().await?;
        let (given, last) = (
            info.delivered.consumer_sequence,
            info.delivered.stream_sequence,
        );
        // A new consumer says that it has had all that was removed before it.
        let is_new = given == 0 && info.config.deliver_policy == DeliverPolicy::All;
        let last = if is_new { born - 1 } else { last };
        *losses.deliveries.borrow_mut() = Deliveries::new(given, last);
        losses.removed(&first);
        Ok(losses)
    }

    /// What was noticed since the last call.
    pub(super) fn take(&self) -> Vec<Lost> {
        std::mem::take(&mut self.found.borrow_mut())
    }

    /// A block was given out.
    pub(super) async fn given(&self, info: &jetstream::message::Info<'_>) {
        let (consumer, block) = (info.consumer_sequence, info.stream_sequence);
        if info.delivered > 1 {
            return self.deliveries.borrow_mut().repeated(consumer);
        }
        let missing = self.deliveries.borrow_mut().given(consumer, block);
        self.missing(missing).await;
    }

    /// Looks for blocks that are gone and were not given out, and returns what the consumer has left.
    pub(super) async fn check(&self) -> Result<u64> {
        let has = self.has().await?;
        let info = self.info().await?;
        let (consumer, block) = (
            info.delivered.consumer_sequence,
            info.delivered.stream_sequence,
        );
        let missing = {
            let mut deliveries = self.deliveries.borrow_mut();
            let is_news = block > deliveries.block();
            is_news.then(|| deliveries.given(consumer, block)).flatten()
        };
        self.missing(missing).await;
        self.removed(&has);
        Ok(info.num_pending + info.num_ack_pending as u64)
    }

    /// Notes blocks that were passed over, if the stream lacks them.
    async fn missing(&self, missing: Option<(u64, u64, u64)>) {
        let Some((first, last, count)) = missing.filter(|_| self.takes_all) else {
            return;
        };
        // If the server does not say, it is believed.
        let last = match self.has().await {
            Ok(has) if has.has_gaps => last,
            Ok(has) if has.first <= first => return,
            Ok(has) => last.min(has.first - 1),
            Err(_) => last,
        };
        self.note(first, last, count.min(last + 1 - first));
    }

    /// Notes blocks behind those that were given out, and before those that are still there.
    fn removed(&self, has: &Has) {
        let mut deliveries = self.deliveries.borrow_mut();
        let first = deliveries.block() + 1;
        if self.takes_all && has.first > first {
            deliveries.skip(has.first - 1);
            drop(deliveries);
            self.note(first, has.first - 1, has.first - first);
        }
    }

    fn note(&self, first: u64, last: u64, count: u64) {
        self.found.borrow_mut().push(Lost {
            stream: self.consumer.cached_info().stream_name.clone(),
            first,
            last,
            count,
        });
    }

    async fn has(&self) -> Result<Has> {
        let name = &self.consumer.cached_info().stream_name;
        let stream = self.blocks.context.get_stream(name).await;
        let stream = stream.map_err(|error| Error::Later(reasons(&error)))?;
        let state = &stream.cached_info().state;
        Ok(Has {
            first: state.first_sequence,
            has_gaps: state.deleted_count.unwrap_or(0) > 0,
        })
    }

    async fn info(&self) -> Result<Info> {
        let info = self.consumer.get_info().await;
        info.map_err(|error| Error::Later(reasons(&error)))
    }
}
