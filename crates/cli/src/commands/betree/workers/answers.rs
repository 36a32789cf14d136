//! Answers of a stream of blocks, from whichever broker, with the numbers of their blocks.

#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats::{Connection, Facts, Reader};
use workers::{Block, Lost, Merge, Message};

use crate::commands::absent::Wait;
use crate::commands::betree::workers::access::Pair;
use crate::commands::betree::workers::flags::JoinArgs;
use crate::commands::nats::failed;
use crate::failure::Result;

/// Answers and dead letters.
pub(super) enum Answers {
    Nats(Box<Nats>),
    #[cfg(feature = "kafka")]
    Kafka(Box<kafka::Reader>),
}

/// Those of a stream of NATS.
pub(super) struct Nats {
    server: Connection,
    blocks: Facts,
    answers: Reader,
    dead: Option<Reader>,
    /// Whether it was said that the answers have caught up.
    is_said: bool,
}

impl Answers {
    /// Opens the streams.
    pub(super) async fn open(args: &JoinArgs, pair: &Pair<'_>, tells: bool) -> Result<Self> {
        let waits = Wait::new(&args.broker.wait, tells);
        match pair {
            Pair::Nats(of, from, access) => {
                let blocks = waits.connect(of, access).await?;
                let answers = match from.is_same_cluster(of) {
                    true => blocks.clone(),
                    false => waits.connect(from, access).await?,
                };
                let answered = waits.until_there(async || answers.stream(from.stream()).await);
                let answered = answered.await?;
                let facts = waits.until_there(async || blocks.stream(of.stream()).await);
                let facts = facts.await?;
                let dead = dead_letters(args, &blocks).await?;
                let server = blocks.clone();
                let dead = match dead {
                    Some(facts) => Some(Reader::open(&blocks, &facts).await.map_err(failed)?),
                    None => None,
                };
                Ok(Self::Nats(Box::new(Nats {
                    server,
                    blocks: facts,
                    answers: Reader::open(&answers, &answered).await.map_err(failed)?,
                    dead,
                    is_said: false,
                })))
            }
            #[cfg(feature = "kafka")]
            Pair::Kafka(of, from, access) => {
                let cluster = waits.cluster(of, access).await?;
                let other = match from.is_same_cluster(of) {
                    true => cluster.clone(),
                    false => waits.cluster(from, access).await?,
                };
                let answers = waits.until_there(async || other.topic(from.topic()).await);
                let answers = answers.await?;
                let blocks = waits.until_there(async || cluster.topic(of.topic()).await);
                let blocks = blocks.await?;
                let dead = match cluster.topic(&args.dead_name()).await {
                    Ok(facts) => Some(facts),
                    Err(error) if args.dead_letters.is_some() => return Err(failed(error)),
                    Err(_) => None,
                };
                let opened =
                    kafka::Reader::open((&cluster, &blocks), (&other, &answers), dead.as_ref());
                Ok(Self::Kafka(Box::new(opened.await.map_err(failed)?)))
            }
        }
    }

    /// The number of the first block, whether it is still there or not.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::Nats(nats) => nats.blocks.born,
            #[cfg(feature = "kafka")]
            Self::Kafka(_) => 1,
        }
    }

    /// The number of the first block that was there at the start.
    pub(super) fn kept_from(&self) -> u64 {
        match self {
            Self::Nats(nats) => nats.blocks.first_sequence,
            #[cfg(feature = "kafka")]
            Self::Kafka(_) => 1,
        }
    }

    /// Blocks that have no number, as they were removed.
    pub(super) fn removed(&self) -> Vec<Lost> {
        match self {
            Self::Nats(_) => Vec::new(),
            #[cfg(feature = "kafka")]
            Self::Kafka(reader) => reader.removed().to_vec(),
        }
    }

    /// Looks whether the block that is due is still there. True: it is not, nor are perhaps others.
    pub(super) async fn look_for_gone(&self, merge: &mut Merge) -> workers::Result<bool> {
        match self {
            Self::Nats(nats) => {
                let number = merge.next();
                let gone = nats.server.gone(&nats.blocks.answers.name, number).await?;
                match gone {
                    Some(last) if last > number => merge.lose_below(last + 1),
                    Some(_) => merge.lose(number),
                    None => return Ok(false),
                }
                Ok(true)
            }
            #[cfg(feature = "kafka")]
            Self::Kafka(reader) => {
                let gone = reader.gone().await?;
                let due = merge.next();
                let is_news = gone.contains(&due);
                gone.into_iter().for_each(|number| merge.lose(number));
                Ok(is_news)
            }
        }
    }

    /// The number of the last block, 0 for none.
    pub(super) fn last(&self) -> u64 {
        match self {
            Self::Nats(nats) => nats.blocks.last_sequence,
            #[cfg(feature = "kafka")]
            Self::Kafka(reader) => reader.blocks(),
        }
    }

    /// The number of the block to which this is the answer. `None`: of another stream.
    pub(super) fn number(&self, answer: &Block) -> Option<u64> {
        match self {
            Self::Nats(nats) => {
                let place = answer.labels.answers.as_ref();
                let place = place.filter(|place| place.stream == nats.blocks.identity);
                place.map(|place| place.sequence)
            }
            #[cfg(feature = "kafka")]
            Self::Kafka(reader) => reader.number(answer),
        }
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> workers::Result<Message> {
        match self {
            Self::Nats(nats) => nats.next().await,
            #[cfg(feature = "kafka")]
            Self::Kafka(reader) => reader.next().await,
        }
    }
}

impl Nats {
    async fn next(&mut self) -> workers::Result<Message> {
        if !self.is_said && self.answers.is_caught_up() {
            self.is_said = true;
            return Ok(Message::CaughtUp);
        }
        let Some(dead) = &mut self.dead else {
            return Ok(Message::Answer(self.answers.next().await?.1));
        };
        tokio::select! {
            got = self.answers.next() => Ok(Message::Answer(got?.1)),
            got = dead.next() => Ok(Message::Dead(got?.1)),
        }
    }
}

/// The stream of dead letters. That there is none is an error only if it was asked for.
async fn dead_letters(args: &JoinArgs, blocks: &Connection) -> Result<Option<Facts>> {
    match blocks.stream(&args.dead_name()).await {
        Ok(facts) => Ok(Some(facts)),
        Err(error) if args.dead_letters.is_some() => Err(failed(error)),
        Err(_) => Ok(None),
    }
}
