//! The feeder of whichever broker.

#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats::{self, Keep};
use workers::settings::drops;
use workers::{Cut, Known, Published};

use crate::commands::betree::workers::access::Pair;
use crate::commands::betree::workers::flags::FeedArgs;
use crate::commands::betree::workers::losses;
use crate::commands::betree::workers::source::Source;
use crate::commands::nats::{connect, failed};
use crate::failure::Result;

/// Stores blocks of one source.
pub(super) enum Feeder {
    Nats(Box<nats::Feeder>),
    #[cfg(feature = "kafka")]
    Kafka(kafka::Feeder),
}

impl Feeder {
    /// A feeder of a source, and the last block of it that the stream has.
    pub(super) async fn open(
        args: &FeedArgs,
        pair: &Pair<'_>,
        source: &Source,
        tells: bool,
    ) -> Result<(Self, Option<Known>)> {
        let copies = usize::from(args.replicas);
        match pair {
            Pair::Nats(to, _, access) => {
                let connection = connect(to, access, tells).await?;
                let stream = to.stream();
                let facts = match args.create {
                    true => {
                        connection
                            .stream_or_create(stream, Keep::Blocks, copies)
                            .await
                    }
                    false => connection.stream(stream).await,
                };
                let facts = facts.map_err(failed)?;
                let opened = nats::Feeder::open(&connection, &facts, &source.name).await;
                let (feeder, known) = opened.map_err(failed)?;
                if tells {
                    losses::warn(&drops(&facts.answers));
                }
                Ok((Self::Nats(Box::new(feeder)), known))
            }
            #[cfg(feature = "kafka")]
            Pair::Kafka(to, _, access) => {
                let cluster = crate::commands::kafka::connect(to, access).await?;
                let facts = match args.create {
                    true => cluster.topic_or_create(to.topic(), copies).await,
                    false => cluster.topic(to.topic()).await,
                };
                let facts = facts.map_err(failed)?;
                let is_new = !source.is_file && args.source.is_none();
                let opened = kafka::Feeder::open(&cluster, &facts, &source.name, is_new).await;
                let (feeder, known) = opened.map_err(failed)?;
                if tells {
                    losses::warn(&kafka::drops(&facts));
                }
                Ok((Self::Kafka(feeder), known))
            }
        }
    }

    /// The longest block that fits in with its labels.
    pub(super) fn block_bytes_max(&self) -> usize {
        match self {
            Self::Nats(feeder) => feeder.block_bytes_max(),
            #[cfg(feature = "kafka")]
            Self::Kafka(feeder) => feeder.block_bytes_max(),
        }
    }

    /// The most blocks that are stored at a time.
    pub(super) fn blocks_max(&self) -> usize {
        match self {
            // One at a time: so the stream has the order of the source, and its last block says where to go on.
            Self::Nats(_) => 1,
            // All or none, in order.
            #[cfg(feature = "kafka")]
            Self::Kafka(_) => 64,
        }
    }

    /// Stores blocks, at most [`Self::blocks_max`], once. To be repeated with the same ones until it succeeds.
    pub(super) async fn publish(&mut self, cuts: &[Cut]) -> workers::Result<Published> {
        match self {
            Self::Nats(feeder) => {
                let mut published = Published::Stored;
                for cut in cuts {
                    published = feeder.publish(cut).await?;
                }
                Ok(published)
            }
            #[cfg(feature = "kafka")]
            Self::Kafka(feeder) => feeder.publish(cuts).await,
        }
    }
}
