//! Opens the streams of a worker, and has their settings checked.

use clap::ValueEnum as _;
use workers::Once;
#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats::{self, Keep};
use workers::settings::{Common, switch};

use crate::commands::absent::Wait;
use crate::commands::betree::flags::MatchArgs;
use crate::commands::betree::workers::epochs::State;
#[cfg(feature = "kafka")]
use crate::commands::betree::workers::flags::{OnceArg, WorkerArgs};
use crate::commands::betree::workers::losses;
use crate::commands::nats::{failed, process_name};
#[cfg(feature = "kafka")]
use crate::failure::Failure;
use crate::failure::Result;
use crate::term::message;

/// How often a block is given out before it is a dead letter.
pub(super) const DELIVERIES: u64 = 5;

/// Finds or creates streams of NATS and the consumer.
pub(super) async fn nats(
    args: &MatchArgs,
    (from, to): (&nats::Address, &nats::Address),
    access: &nats::Access,
    common: Common,
    tells: bool,
) -> Result<nats::Worker> {
    let own = &args.workers;
    let once = own.once.map_or(Once::Window, Once::from);
    let waits = Wait::new(&own.broker.wait, tells);
    let blocks = waits.connect(from, access).await?;
    let answers = match to.is_same_cluster(from) {
        true => blocks.clone(),
        false => waits.connect(to, access).await?,
    };
    let copies = usize::from(own.replicas);
    let keep = Keep::Answers {
        once,
        ack_wait: own.ack_wait,
        deliveries: DELIVERIES,
    };
    let dead = own.dead_name(from.stream());
    let facts = waits
        .until_there(async || blocks.stream(from.stream()).await)
        .await?;
    let (answered, dead) = match own.create {
        true => (
            answers.stream_or_create(to.stream(), keep, copies).await,
            blocks.stream_or_create(&dead, Keep::Blocks, copies).await,
        ),
        false => (
            answers.stream(to.stream()).await,
            blocks.stream(&dead).await,
        ),
    };
    let drops = workers::settings::drops(&facts.answers);
    let setup = nats::Setup {
        from: facts,
        to: answered.map_err(failed)?,
        dead: dead.map_err(failed)?,
        consumer: own.consumer.clone(),
        shard: own.shard.clone(),
        common,
        takes_over: own.take_over.then(process_name),
        once,
        ack_wait: own.ack_wait,
        deliveries: DELIVERIES,
    };
    let opened = nats::Worker::open(blocks, answers, setup).await;
    let worker = opened.map_err(failed)?;
    if tells {
        losses::warn(&drops);
        say_strength(once, &worker, to);
        if !worker.is_marked() {
            message::remark(&format!(
                "the consumer {} cannot be marked with what its workers have in common: workers of another --shard or with other \
                 flags would take blocks of this one; let perfkit create it",
                own.consumer
            ));
        }
    }
    Ok(worker)
}

/// Flags that decide what an answer says, and the expressions. With `--keep-going` more events are answered, with others as
/// before.
pub(super) fn common(args: &MatchArgs, state: &State) -> Common {
    let format = args.format.to_possible_value();
    // Of those that follow newer ones, each takes them by itself.
    let hash = |hash: Option<String>| match args.workers.follow {
        true => switch(hash.is_some()),
        false => hash,
    };
    Common::new([
        ("format", format.map(|value| value.get_name().to_owned())),
        ("event-id", args.event_id.clone()),
        ("first", args.first.map(|count| count.to_string())),
        ("top", args.top.map(|count| count.to_string())),
        ("priorities", hash(state.priorities_hash.clone())),
        ("ignore-unknown", switch(args.ignore_unknown)),
        ("snapshot", hash(Some(state.hash.clone()))),
    ])
}

/// Says how strong the promise is.
fn say_strength(once: Once, worker: &nats::Worker, to: &nats::Address) {
    let answers = worker.answers();
    if once == Once::Window {
        let window = answers.answers.duplicate_window.as_secs();
        message::remark(&format!(
            "--once window: an outage of more than {window} s may repeat answers; --once always does not"
        ));
    }
    if let Some(age) = answers.answers.age_max {
        message::remark(&format!(
            "the stream {} removes answers after {} s (max_age): read them sooner",
            to.stream(),
            age.as_secs_f64()
        ));
    }
    if !answers.on_disk {
        message::remark(&format!(
            "the stream {} is kept in memory: its answers are lost when the server ends",
            to.stream()
        ));
    }
}

/// Finds or creates topics of Kafka, and joins the group.
#[cfg(feature = "kafka")]
pub(super) async fn kafka(
    own: &WorkerArgs,
    (from, to): (&kafka::Address, &kafka::Address),
    access: &kafka::Access,
    common: Common,
    tells: bool,
) -> Result<kafka::Worker> {
    if own.once == Some(OnceArg::Window) {
        let message = "--once window has no meaning on Kafka, which remembers no ids of messages";
        return Err(Failure::usage(message)
            .help("leave it out: transactions answer each block once, as --once always says"));
    }
    if !to.is_same_cluster(from) {
        let message = format!(
            "{from} and {to} are of different servers, and a transaction cannot store in both"
        );
        return Err(Failure::usage(message)
            .help("write both addresses with the same servers, and copy answers to other ones"));
    }
    let waits = Wait::new(&own.broker.wait, tells);
    let cluster = waits.cluster(from, access).await?;
    let copies = usize::from(own.replicas);
    let dead = own.dead_name(from.topic());
    let facts = waits
        .until_there(async || cluster.topic(from.topic()).await)
        .await?;
    let (answered, dead) = match own.create {
        true => (
            cluster.topic_or_create(to.topic(), copies).await,
            cluster.topic_or_create(&dead, copies).await,
        ),
        false => (cluster.topic(to.topic()).await, cluster.topic(&dead).await),
    };
    if tells {
        losses::warn(&kafka::drops(&facts));
    }
    let setup = kafka::Setup {
        from: facts,
        to: answered.map_err(failed)?,
        dead: dead.map_err(failed)?,
        consumer: own.consumer.clone(),
        shard: own.shard.clone(),
        common,
        takes_over: own.take_over.then(process_name),
        ack_wait: own.ack_wait,
        deliveries: DELIVERIES,
    };
    kafka::Worker::open(cluster, setup).await.map_err(failed)
}
