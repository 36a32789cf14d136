//! What the workers of a group have in common, kept by the servers: as text beside the offset that a group has no other use
//! for, and beside every place that is stored with answers.
//!
//! The first is written in a transaction by whoever comes, and read before by the same writer. Servers let only the newest
//! writer of an id go on, so that of two workers that start at once the second finds what the first one wrote. Servers
//! forget the first after a week without a new worker, and the second never, as long as there are answers.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rdkafka::consumer::Consumer as _;
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::engine::TAKEN_LOOK;
use crate::error::{Error, Result};
use crate::kafka::client::{ANSWER, meaning, writer};
use crate::kafka::plan::Plan;
use crate::kafka::scan::Scanner;
use crate::kafka::shared::LOOK;
use crate::kafka::transaction::{Fault, Writer};

/// How long to try.
const TRY: Duration = Duration::from_secs(30);
/// The partition beside whose offset the text is kept.
const PARTITION: i32 = 0;

/// What the servers keep, as text.
pub(super) fn text(kept: &HashMap<String, String>) -> String {
    let mut lines: Vec<String> = kept
        .iter()
        .map(|(name, value)| format!("{name}={}", value.replace(['\n', '\r'], " ")))
        .collect();
    lines.sort();
    lines.join("\n")
}

fn parse(text: &str) -> HashMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Checks that this worker has what those of its group have, and changes nothing. Shows as well whether the servers allow
/// transactions at all: that is to be known before blocks are taken.
pub(super) fn look(plan: &Plan) -> Result<()> {
    match Marks::open(plan)?.check() {
        Ok(_) => Ok(()),
        Err(Error::Later(reason)) => Err(Error::refused(
            reason,
            "see that the servers have the topic of transactions: with one server, \
             transaction.state.log.replication.factor must be 1",
        )),
        Err(error) => Err(error),
    }
}

/// The same, and writes it down. Only who gets blocks does so: whoever is refused leaves nothing behind.
pub(super) fn write(plan: &Plan) -> Result<()> {
    let marks = Marks::open(plan)?;
    let kept = plan.common.kept_by(plan.takes_over.as_deref());
    loop {
        let writer = marks.check()?;
        let group = marks.own.consumer.group_metadata();
        let group = group.ok_or_else(|| Error::Later("there is no group".to_owned()))?;
        let stored = writer.store(
            &[],
            &group,
            || marks.is_wanted(),
            |_| place(&plan.from.name, PARTITION, 0, &text(&kept)),
        );
        match stored {
            Ok(()) => return Ok(()),
            // Another worker came meanwhile, and perhaps it differs.
            Err(_) if marks.is_wanted() => {}
            Err(Fault::Lost(error)) => {
                return Err(meaning(
                    "cannot write down what workers have in common",
                    &error,
                ));
            }
            Err(Fault::TooLong(_)) => return Ok(()),
        }
    }
}

/// Looks now and then whether another worker has taken the group over.
pub(super) struct Still<'a> {
    plan: &'a Plan,
    own: Option<Scanner>,
    looked: Instant,
}

impl<'a> Still<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            own: None,
            looked: Instant::now(),
        }
    }

    /// What cannot be seen is seen later.
    pub(super) fn check(&mut self) -> Result<()> {
        if self.looked.elapsed() < TAKEN_LOOK {
            return Ok(());
        }
        let plan = self.plan;
        let own = match self.own.take() {
            Some(own) => own,
            None => own(plan)?,
        };
        let texts = own.texts(TAKEN_LOOK);
        self.own = Some(own);
        self.looked = Instant::now();
        for text in texts.unwrap_or_default() {
            plan.common.check_still(&plan.consumer, &parse(&text))?;
        }
        Ok(())
    }
}

/// A reader of what the workers that started last had in common.
fn own(plan: &Plan) -> Result<Scanner> {
    let group = format!("{}.workers", plan.group);
    Scanner::open(&plan.cluster, &plan.from, Some(&group))
}

/// Where the texts are.
struct Marks<'a> {
    plan: &'a Plan,
    own: Scanner,
    places: Scanner,
    started: Instant,
}

impl<'a> Marks<'a> {
    fn open(plan: &'a Plan) -> Result<Self> {
        Ok(Self {
            plan,
            own: own(plan)?,
            places: Scanner::open(&plan.cluster, &plan.from, Some(&plan.group))?,
            started: Instant::now(),
        })
    }

    fn is_wanted(&self) -> bool {
        self.started.elapsed() < TRY
    }

    /// Shuts out others who would write, and compares. The writer stores what it is given unless another one comes.
    fn check(&self) -> Result<Writer> {
        let plan = self.plan;
        let id = format!("{}.try", plan.group);
        let bytes_max = plan.to.bytes_max;
        let config = writer(&plan.cluster.address, &plan.cluster.access, &id, bytes_max);
        let writer = Writer::open(&config, || self.is_wanted())?;
        for text in self.texts()? {
            (plan.common).check(&plan.consumer, &parse(&text), plan.takes_over.is_some())?;
        }
        Ok(writer)
    }

    fn texts(&self) -> Result<BTreeSet<String>> {
        loop {
            let found = match self.own.texts(ANSWER) {
                Ok(own) if own.is_empty() => self.places.texts(ANSWER),
                found => found,
            };
            match found {
                // Servers that have just started do not know yet who keeps what a group has.
                Err(error) if error.is_passing() && self.is_wanted() => std::thread::sleep(LOOK),
                found => return found,
            }
        }
    }
}

/// A place up to which a group is done, with a text beside it.
pub(super) fn place(
    topic: &str,
    partition: i32,
    offset: i64,
    text: &str,
) -> std::result::Result<TopicPartitionList, KafkaError> {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, Offset::Offset(offset))?;
    if let Some(mut element) = list.find_partition(topic, partition) {
        element.set_metadata(text);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Common;

    #[test]
    fn what_is_kept_is_read_back() {
        let common = Common::new([("format", Some("ids".to_owned())), ("top", None)]);
        let common = common.with("event-id", "a=b");
        let kept = parse(&text(&common.kept()));
        assert_eq!(kept, common.kept());
        assert_eq!(common.check("match", &kept, false), Ok(true));
        assert_eq!(parse(""), HashMap::new());
    }
}
