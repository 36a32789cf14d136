//! The feeder of whichever broker.

use report::units::counted;
#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats::{self, Keep};
use workers::settings::drops;
use workers::{Cut, Known, Published};

use crate::commands::absent::Wait;
use crate::commands::betree::workers::access::Pair;
use crate::commands::betree::workers::flags::FeedArgs;
use crate::commands::betree::workers::losses;
use crate::commands::betree::workers::source::Source;
use crate::commands::nats::failed;
use crate::failure::Result;
use crate::term::message;

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
        let waits = Wait::new(&args.broker.wait, tells);
        match pair {
            Pair::Nats(to, _, access) => {
                let connection = waits.connect(to, access).await?;
                let stream = to.stream();
                let create = || connection.stream_or_create(stream, Keep::Blocks, copies);
                let facts = match args.create {
                    // That it is busy: it has just started.
                    true => waits.until_there(async || create().await).await?,
                    false => connection.stream(stream).await.map_err(failed)?,
                };
                let opened = nats::Feeder::open(&connection, &facts, &source.name).await;
                let (feeder, known) = opened.map_err(failed)?;
                if tells {
                    losses::warn(&drops(&facts.answers));
                    let removed = facts.first_sequence.saturating_sub(facts.born);
                    if known.is_none() && source.is_file && removed > 0 {
                        say_fed_again(args, removed, None);
                    }
                }
                Ok((Self::Nats(Box::new(feeder)), known))
            }
            #[cfg(feature = "kafka")]
            Pair::Kafka(to, _, access) => {
                let cluster = waits.cluster(to, access).await?;
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
                    if known.is_none() && source.is_file && feeder.was_fed() {
                        say_fed_again(args, 0, Some(&source.name));
                    }
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

/// Says that all of a file is fed, and that it may have been before: the stream has removed blocks, and has none of it.
fn say_fed_again(args: &FeedArgs, removed: u64, fed_before: Option<&str>) {
    let name = files::display(&args.events);
    let length = std::fs::metadata(&args.events).map_or(0, |facts| facts.len());
    let stream = args.to.stream();
    let why = match fed_before {
        Some(source) => format!("{stream} had blocks of it, as {source}, and has removed them"),
        None => {
            let removed = counted(removed, ["block", "blocks"]);
            format!(
                "{stream} has removed its first {removed}, and has none of it: if these were of it, it is fed again"
            )
        }
    };
    message::note(
        &format!("{name} is fed from its start, all {length} bytes: {why}"),
        "its events are then answered again; to go on behind what was fed, keep blocks for longer than a feeder is away \
         (max_age; of Kafka retention.ms), or feed the rest of the file: tail -c +BYTE",
    );
}
