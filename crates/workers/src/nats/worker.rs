//! The engine: blocks of a durable pull consumer, answers to a stream of the same or another server.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::context::{ConsumerInfoErrorKind, PublishError, PublishErrorKind};
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::jetstream::{AckKind, ErrorCode, Message};
use futures_util::StreamExt as _;

use crate::block::{Block, BlockId, Delivery, Place, token};
use crate::engine::{Engine, Published, TAKEN_LOOK, To, Verdict};
use crate::error::{Error, Result};
use crate::lost::Lost;
use crate::nats::connect::{Connection, code, reasons};
use crate::nats::consumers::Wanted;
use crate::nats::headers::{headers, headers_len, labels};
use crate::nats::losses::Losses;
use crate::nats::streams::Facts;
use crate::settings::{
    Common, Once, check_answers, check_apart, check_consumer, check_dead_letters,
};

/// How long the server looks for blocks before it says that there are none.
const PULL: Duration = Duration::from_secs(1);
/// How long the end may take once all is done.
const CLOSE: Duration = Duration::from_secs(2);
/// How often to look whether a consumer is gone before it is believed, and the pause between two looks.
const GONE_LOOKS: u32 = 3;
const GONE_PAUSE: Duration = Duration::from_secs(1);
/// The pause before a server that has answered is asked again whether it does.
const AWAY_ASK: Duration = Duration::from_millis(500);
/// A message is longer than its stream takes.
const MESSAGE_TOO_LONG: ErrorCode = ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM;

/// What a worker works on.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The stream of blocks.
    pub from: Facts,
    /// The stream of answers.
    pub to: Facts,
    /// The stream of dead letters, on the server of the blocks.
    pub dead: Facts,
    /// The consumer, which all workers of a shard share.
    pub consumer: String,
    /// Which part of the expressions it has.
    pub shard: String,
    /// What else all workers of the consumer have in common, besides shard and stream of answers.
    pub common: Common,
    /// What this worker is called, if it may change that.
    pub takes_over: Option<String>,
    /// How strongly an answer is given once.
    pub once: Once,
    /// The wait for an acknowledgement, of a new consumer.
    pub ack_wait: Duration,
    /// How often a block is given out before it is a dead letter.
    pub deliveries: u64,
}

/// An engine of NATS JetStream.
pub struct Worker {
    blocks: Connection,
    answers: Connection,
    consumer: Consumer<pull::Config>,
    setup: Setup,
    ack_wait: Duration,
    is_marked: bool,
    /// What the consumer is to say of its workers.
    common: Common,
    /// When it was last asked.
    looked: Cell<Instant>,
    losses: Losses,
    asked: RefCell<Option<Asked>>,
}

/// Blocks that the server was asked for.
struct Asked {
    batch: pull::Batch,
    came: usize,
}

impl Worker {
    /// Finds or creates the consumer, and checks all settings.
    ///
    /// # Errors
    ///
    /// If they cannot keep what `once` promises, or the server refuses.
    pub async fn open(blocks: Connection, answers: Connection, setup: Setup) -> Result<Self> {
        let identities = [&setup.from, &setup.to, &setup.dead].map(|facts| facts.identity.as_str());
        check_apart(identities)?;
        let common = setup.common.clone().with("shard", &setup.shard);
        let wanted = Wanted {
            stream: setup.from.answers.name.clone(),
            name: token(&setup.consumer),
            ack_wait: setup.ack_wait,
            common: common.with("to", &setup.to.identity),
            takes_over: setup.takes_over.clone(),
        };
        // A worker that is refused leaves nothing behind: the consumer is created last.
        let settings = wanted.look(&blocks).await?;
        check_consumer(&settings, setup.deliveries)?;
        let ack_wait = settings.ack_wait;
        check_answers(&setup.to.answers, setup.once, ack_wait, setup.deliveries)?;
        check_dead_letters(&setup.dead.answers)?;
        for facts in [&setup.to, &setup.dead] {
            facts.subjects.check_shared()?;
        }
        let subjects = &setup.to.subjects;
        if setup.once == Once::Always && subjects.own(&["a"], None).is_none() {
            return Err(subjects.too_few("answer", ", or use --once window"));
        }
        let (consumer, settings, is_marked) = wanted.open(&blocks).await?;
        // Another worker may have created it meanwhile.
        check_consumer(&settings, setup.deliveries)?;
        let ack_wait = settings.ack_wait;
        check_answers(&setup.to.answers, setup.once, ack_wait, setup.deliveries)?;
        let losses = Losses::open(&blocks, &consumer, setup.from.born).await?;
        Ok(Self {
            blocks,
            answers,
            consumer,
            setup,
            ack_wait,
            is_marked,
            common: wanted.common,
            looked: Cell::new(Instant::now()),
            losses,
            asked: RefCell::new(None),
        })
    }

    /// How long the server waits for an acknowledgement.
    #[must_use]
    pub fn ack_wait(&self) -> Duration {
        self.ack_wait
    }

    /// Whether the server keeps what workers of the consumer have in common, so that others are refused.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Blocks that are not done: not given out, or not acknowledged.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub async fn left(&self) -> Result<u64> {
        match self.losses.check().await? {
            // The last ones may have been removed since the first look.
            0 => self.losses.check().await,
            left => Ok(left),
        }
    }

    /// Blocks that the stream removed before any worker had them, as far as they were noticed since the last call.
    pub fn take_lost(&self) -> Vec<Lost> {
        self.losses.take()
    }

    /// The stream of answers.
    #[must_use]
    pub fn answers(&self) -> &Facts {
        &self.setup.to
    }

    /// The version of the server of the blocks.
    #[must_use]
    pub fn server_version(&self) -> String {
        self.blocks.server_version()
    }

    /// Takes a last look at what is left, and waits until everything is sent; for two seconds at most.
    pub async fn close(&self) {
        let close = async {
            // If the server is away, there is nothing to see.
            let _ = self.left().await;
            self.blocks.flush().await;
            self.answers.flush().await;
        };
        let _ = tokio::time::timeout(CLOSE, close).await;
    }

    /// Looks now and then whether another worker has taken the consumer over. What cannot be seen is seen later.
    async fn check_still(&self) -> Result<()> {
        if !self.is_marked || self.looked.get().elapsed() < TAKEN_LOOK {
            return Ok(());
        }
        let info = self.consumer.get_info().await;
        self.looked.set(Instant::now());
        match info {
            Ok(info) => (self.common).check_still(&info.name, &info.config.metadata),
            Err(_) => Ok(()),
        }
    }

    async fn ask(&self, free: usize) -> Result<Asked> {
        self.check_still().await?;
        let batch = self.consumer.batch().max_messages(free).expires(PULL);
        let batch = batch.messages().await;
        let batch = batch.map_err(|error| self.blocks.later(&error))?;
        Ok(Asked { batch, came: 0 })
    }

    async fn delivery(&self, message: Message) -> Result<Delivery<Acker>> {
        let wrong =
            |error: async_nats::Error| Error::Later(format!("a message is no delivery: {error}"));
        let info = message.info().map_err(wrong)?;
        self.losses.given(&info).await;
        let place = Place {
            stream: self.setup.from.identity.clone(),
            sequence: info.stream_sequence,
        };
        let count = u64::try_from(info.delivered).unwrap_or(1).max(1);
        let (message, token) = message.split();
        let block = Block {
            labels: labels(message.headers.as_ref()),
            bytes: message.payload,
        };
        Ok(Delivery {
            block,
            place,
            count,
            token,
        })
    }

    /// Why pulling failed, and whether for ever: where the consumer, or its stream, is gone, as a server with another
    /// store says it too.
    async fn pull_failed(&self, reason: String) -> Error {
        if let Err(refused) = self.blocks.check_permitted() {
            return refused;
        }
        // A server that has just started may not know all yet.
        for look in 0..GONE_LOOKS {
            if look > 0 {
                tokio::time::sleep(GONE_PAUSE).await;
            }
            match self.consumer.get_info().await.map_err(|error| error.kind()) {
                Err(ConsumerInfoErrorKind::NotFound | ConsumerInfoErrorKind::StreamNotFound) => {}
                _ => return Error::Later(reason),
            }
        }
        Error::absent(
            format!(
                "the consumer {} of {} is gone: {reason}",
                self.setup.consumer, self.setup.from.identity
            ),
            "see that its stream is there, and start workers again: the consumer is created anew, and begins with the first \
             block of the stream",
        )
    }

    fn subject(&self, to: To, block: &Block) -> String {
        let shard = token(&self.setup.shard);
        let subject = match (to, self.setup.once, &block.labels.answers) {
            (To::Answers, Once::Always, Some(place)) => {
                let parts = [token(&place.stream), shard];
                let parts = parts.each_ref().map(String::as_str);
                self.setup.to.subjects.own(&parts, Some(place.sequence))
            }
            _ => {
                let facts = match to {
                    To::Answers => &self.setup.to,
                    To::DeadLetters => &self.setup.dead,
                };
                let parts = [token(&self.setup.from.answers.name), shard];
                let parts = parts.each_ref().map(String::as_str);
                facts.subjects.shared(&parts)
            }
        };
        // There is one: that was checked when it was opened.
        subject.unwrap_or_default()
    }

    /// What an error of the server means: that it has the answer, that the message is too long, or that it may be
    /// tried again.
    async fn refused(
        &self,
        to: To,
        subject: &str,
        size: usize,
        error: PublishError,
    ) -> Result<Published> {
        let (connection, facts) = match to {
            To::Answers => (&self.answers, &self.setup.to),
            To::DeadLetters => (&self.blocks, &self.setup.dead),
        };
        let too_long = Err(Error::TooLong {
            bytes: size,
            bytes_max: facts.longest(connection.payload_max()),
        });
        match (error.kind(), code(&error)) {
            (PublishErrorKind::MaxPayloadExceeded, _) | (_, Some(MESSAGE_TOO_LONG)) => too_long,
            (PublishErrorKind::Other, Some(_))
                if to == To::Answers && self.setup.once == Once::Always =>
            {
                match self.has_answer(subject).await {
                    Ok(true) => Ok(Published::Duplicate),
                    _ => Err(connection.later(&error)),
                }
            }
            _ => Err(connection.later(&error)),
        }
    }

    /// Whether the stream of answers has a message of this subject.
    async fn has_answer(&self, subject: &str) -> Result<bool> {
        let later = |error: &dyn std::error::Error| Error::Later(reasons(error));
        let stream = self
            .answers
            .context
            .get_stream_no_info(&self.setup.to.answers.name);
        let stream = stream.await.map_err(|error| later(&error))?;
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(false),
            Err(error) => Err(later(&error)),
        }
    }

    /// Whether the server of the blocks does not answer a request.
    async fn is_silent(&self) -> bool {
        let info = self.consumer.get_info().await;
        info.is_err_and(|error| error.kind() == ConsumerInfoErrorKind::TimedOut)
    }

    fn connection(&self, to: To) -> &Connection {
        match to {
            To::Answers => &self.answers,
            To::DeadLetters => &self.blocks,
        }
    }
}

impl Engine for Worker {
    type Token = Acker;

    async fn next_block(&self, free: usize) -> Result<Option<Delivery<Acker>>> {
        loop {
            // While it is waited for, it is here alone: the caller waits for one block at a time.
            let asked = self.asked.borrow_mut().take();
            let mut asked = match asked {
                Some(asked) => asked,
                None if free == 0 => return Ok(None),
                None => self.ask(free).await?,
            };
            match asked.batch.next().await {
                Some(Ok(message)) => {
                    asked.came += 1;
                    *self.asked.borrow_mut() = Some(asked);
                    return self.delivery(message).await.map(Some);
                }
                Some(Err(error)) => return Err(self.pull_failed(error.to_string()).await),
                // All that were asked for have come, and there may be more.
                None if asked.came > 0 && free > 0 => {}
                None => return self.blocks.check_permitted().map(|()| None),
            }
        }
    }

    async fn publish(&self, to: To, _: &Place, id: &BlockId, block: &Block) -> Result<Published> {
        let subject = self.subject(to, block);
        let size = block.bytes.len() + headers_len(block, id);
        let message = PublishMessage::build()
            .payload(block.bytes.clone())
            .headers(headers(block, id));
        let connection = self.connection(to);
        let sent = connection
            .context
            .send_publish(subject.clone(), message)
            .await;
        let stored = match sent {
            Ok(acknowledged) => acknowledged.await,
            Err(error) => Err(error),
        };
        match stored {
            Ok(stored) if stored.duplicate => Ok(Published::Duplicate),
            Ok(_) => Ok(Published::Stored),
            Err(error) => self.refused(to, &subject, size, error).await,
        }
    }

    async fn away(&self) {
        let silent = async {
            // A request that gets no answer took its time.
            while !self.is_silent().await {
                tokio::time::sleep(AWAY_ASK).await;
            }
        };
        tokio::select! {
            () = self.blocks.lost() => {}
            () = self.answers.lost() => {}
            () = silent => {}
        }
    }

    async fn ack(&self, token: &Acker, verdict: Verdict) -> Result<()> {
        let kind = match verdict {
            Verdict::Done => AckKind::Ack,
            Verdict::Progress => AckKind::Progress,
            Verdict::Again(pause) => AckKind::Nak(Some(pause)),
            Verdict::Never => AckKind::Term,
        };
        let sent = token.ack_with(kind).await;
        sent.map_err(|error| Error::Later(error.to_string()))
    }
}
