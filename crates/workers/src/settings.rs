//! Whether settings of streams and of a consumer can keep what `--once` promises. Plain values, so that every rule is
//! tested without a server.

mod blocks;
mod common;

use std::time::Duration;

use crate::error::Error;
pub use blocks::{Drops, check_blocks, drops, drops_of_topic};
pub use common::{Common, switch};

/// How strongly an answer is given once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once {
    /// The broker refuses a second answer within its duplicate window.
    Window,
    /// The broker refuses a second answer as long as it keeps the first: each has a subject of its own.
    Always,
}

/// Settings of a stream that answers go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerStream {
    /// Its name.
    pub name: String,
    /// How long ids of messages are remembered.
    pub duplicate_window: Duration,
    /// The most messages of one subject; none if there is no limit.
    pub per_subject_max: Option<u64>,
    /// The most messages; none if there is no limit.
    pub messages_max: Option<u64>,
    /// The most bytes; none if there is no limit.
    pub bytes_max: Option<u64>,
    /// Whether a full stream refuses what is new. Otherwise it removes what is old.
    pub refuses_when_full: bool,
    /// Whether a full stream, and a full subject, refuse what is new.
    pub refuses_new: bool,
    /// What else removes messages.
    pub retention: Retention,
    /// How long messages are kept; none if for ever.
    pub age_max: Option<Duration>,
    /// Whether it acknowledges what it stores.
    pub acknowledges: bool,
}

/// What removes messages of a stream besides its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Nothing.
    Limits,
    /// That no consumer wants them.
    Interest,
    /// That one consumer has acknowledged them.
    Acknowledged,
}

/// Settings of the consumer that blocks come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockConsumer {
    /// Its name.
    pub name: String,
    /// How long the broker waits for an acknowledgement.
    pub ack_wait: Duration,
    /// How often a block is given out at most; none if there is no limit.
    pub deliveries_max: Option<u64>,
    /// Whether each block is acknowledged by itself.
    pub acknowledges_each: bool,
    /// Whether pauses between deliveries are set by a list, which replaces the wait.
    pub has_backoff: bool,
}

/// The shortest duplicate window that keeps the promise: a block may be given out `deliveries` times, each time after
/// `ack_wait`, and there is as much again three times for restarts and stalls.
#[must_use]
pub fn window_min(ack_wait: Duration, deliveries: u64) -> Duration {
    let times = u32::try_from(deliveries.saturating_mul(4)).unwrap_or(u32::MAX);
    ack_wait.saturating_mul(times)
}

/// Checks that the streams of blocks, of answers and of dead letters, by what tells streams apart, are three.
///
/// # Errors
///
/// If two of them are one: what is written would be a block again, or an answer.
pub fn check_apart([blocks, answers, dead]: [&str; 3]) -> Result<(), Error> {
    let refuse = |what: &str, other: &str, then: &str| Error::Settings {
        what: what.to_owned(),
        reason: format!("it is the stream of {other}, so that {then}"),
        help: "name another stream".to_owned(),
    };
    if answers == blocks {
        return Err(refuse(
            "--to",
            "--from",
            "answers would be blocks to match, without end",
        ));
    }
    if dead == blocks {
        let then = "what failed would be a block to match, without end";
        return Err(refuse("--dead-letters", "--from", then));
    }
    if dead == answers {
        return Err(refuse(
            "--dead-letters",
            "--to",
            "what failed would be read as an answer",
        ));
    }
    Ok(())
}

/// Checks the consumer.
///
/// # Errors
///
/// If a block could be lost with these settings.
pub fn check_consumer(consumer: &BlockConsumer, deliveries: u64) -> Result<(), Error> {
    let refuse = |reason: String, help: &str| Error::Settings {
        what: format!("consumer {}", consumer.name),
        reason,
        help: help.to_owned(),
    };
    if !consumer.acknowledges_each {
        let reason = "it does not wait for an acknowledgement of each block, so that a block of a killed worker is lost";
        let help =
            "create it with ack policy `explicit`, or let perfkit create one: --consumer NAME";
        return Err(refuse(reason.to_owned(), help));
    }
    if consumer.has_backoff {
        let reason =
            "it has a list of pauses (backoff), which replaces the wait for acknowledgements";
        let help = "create it with an ack wait and without a backoff list";
        return Err(refuse(reason.to_owned(), help));
    }
    if let Some(most) = consumer.deliveries_max.filter(|most| *most <= deliveries) {
        let reason = format!(
            "it gives a block out {most} times at most, and then drops it without an answer; a dead letter needs \
             delivery {}",
            deliveries + 1
        );
        let help = "set max_deliver to -1";
        return Err(refuse(reason, help));
    }
    if consumer.ack_wait < Duration::from_millis(100) {
        let reason = format!("its ack wait of {:?} is below 100 ms", consumer.ack_wait);
        return Err(refuse(reason, "set an ack wait of some seconds"));
    }
    Ok(())
}

/// Checks the stream of answers.
///
/// # Errors
///
/// If an event could be answered twice, or its answer be lost, with these settings.
pub fn check_answers(
    stream: &AnswerStream,
    once: Once,
    ack_wait: Duration,
    deliveries: u64,
) -> Result<(), Error> {
    let refuse = |reason: String, help: String| Error::Settings {
        what: format!("stream {}", stream.name),
        reason,
        help,
    };
    let needed = window_min(ack_wait, deliveries);
    let why = format!(
        "4 x ack wait {} x {deliveries} deliveries = {}",
        seconds(ack_wait),
        seconds(needed)
    );
    if !stream.acknowledges {
        let reason = "it does not acknowledge what it stores (no_ack), so that a block could be acknowledged without an answer";
        return Err(refuse(reason.to_owned(), "set no_ack to false".to_owned()));
    }
    check_full(stream, "answers")?;
    let removes = match stream.retention {
        Retention::Limits => None,
        Retention::Interest => {
            Some("it removes an answer that no consumer waits for (retention interest)")
        }
        Retention::Acknowledged => {
            Some("it removes an answer once one reader has acknowledged it (retention workqueue)")
        }
    };
    if let Some(reason) = removes {
        return Err(refuse(reason.to_owned(), RETENTION.to_owned()));
    }
    match once {
        Once::Window if stream.per_subject_max.is_some() => {
            let help = match (stream.per_subject_max, stream.refuses_new) {
                (Some(1), true) => "use --once always, for which this stream is made".to_owned(),
                _ => unlimited(stream),
            };
            Err(refuse(of_one_subject(stream, "answers of a shard"), help))
        }
        Once::Window if stream.duplicate_window < needed => {
            let reason = format!(
                "its duplicate window of {} is shorter than {why}: a block that is given out again could be answered twice",
                seconds(stream.duplicate_window)
            );
            let help = format!(
                "set the duplicate window to {} (`nats stream edit {} --dupe-window {}`), shorten the ack wait of the \
                 consumer, or use --once always",
                seconds(needed),
                stream.name,
                seconds(needed)
            );
            Err(refuse(reason, help))
        }
        Once::Always if stream.per_subject_max != Some(1) || !stream.refuses_new => {
            let reason = "it does not refuse a second message of a subject, so that an event could be answered twice";
            let help = "it needs max_msgs_per_subject 1, discard new and discard_new_per_subject, as \
                        `perfkit betree match --create` sets them, or use --once window";
            Err(refuse(reason.to_owned(), help.to_owned()))
        }
        Once::Always if stream.age_max.is_some_and(|age| age < needed) => {
            let age = seconds(stream.age_max.unwrap_or_default());
            let reason = format!(
                "it forgets answers after {age}, sooner than {why}: a block that is given out again could be answered twice"
            );
            let help = format!("set max_age to {} or more", seconds(needed));
            Err(refuse(reason, help))
        }
        _ => Ok(()),
    }
}

/// Checks a stream of dead letters.
///
/// # Errors
///
/// If one could be lost with these settings, and with it the reason why a block has no answer.
pub fn check_dead_letters(stream: &AnswerStream) -> Result<(), Error> {
    check_full(stream, "dead letters")?;
    check_subject(stream, "dead letters of a shard")
}

const RETENTION: &str =
    "use another stream, with retention limits, as `perfkit betree match --create` makes it";

fn check_full(stream: &AnswerStream, what: &str) -> Result<(), Error> {
    let Some((limit, flag)) = blocks::full(stream) else {
        return Ok(());
    };
    let name = &stream.name;
    Err(Error::Settings {
        what: format!("stream {name}"),
        reason: format!(
            "once it is full ({limit}, discard old), it removes its oldest {what}, whether they were read or not"
        ),
        help: format!(
            "let it refuse new ones, for which workers wait (`nats stream edit {name} --discard new`), or have no limit \
             (`nats stream edit {name} {flag}`)"
        ),
    })
}

fn check_subject(stream: &AnswerStream, what: &str) -> Result<(), Error> {
    match stream.per_subject_max {
        None => Ok(()),
        Some(_) => Err(Error::Settings {
            what: format!("stream {}", stream.name),
            reason: of_one_subject(stream, what),
            help: unlimited(stream),
        }),
    }
}

fn of_one_subject(stream: &AnswerStream, what: &str) -> String {
    let max = stream.per_subject_max.unwrap_or_default();
    let then = match stream.refuses_new {
        true => "refuses others",
        false => "removes older ones",
    };
    format!(
        "it keeps {max} messages of a subject (max_msgs_per_subject) and {then}, and all {what} have one subject"
    )
}

fn unlimited(stream: &AnswerStream) -> String {
    format!(
        "`nats stream edit {} --max-msgs-per-subject=-1`",
        stream.name
    )
}

/// A time as servers and people write it.
fn seconds(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    }
}

#[cfg(test)]
mod tests;
