//! Whether settings of streams and of a consumer can keep what `--once` promises. Plain values, so that every rule is
//! tested without a server.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::error::Error;

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

/// What all workers of a consumer have in common, as names of flags without dashes and their values. Each block goes to
/// one of them, so one that answers otherwise would leave the answers of both incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common(BTreeMap<&'static str, String>);

/// What the names start with where a broker keeps them.
const COMMON: &str = "perfkit-";

impl Common {
    /// These flags; `None` is one that was not given.
    pub fn new(flags: impl IntoIterator<Item = (&'static str, Option<String>)>) -> Self {
        let value = |value: Option<String>| value.unwrap_or_else(|| UNSET.to_owned());
        Self(
            flags
                .into_iter()
                .map(|(name, flag)| (name, value(flag)))
                .collect(),
        )
    }

    /// Adds a value.
    #[cfg(any(feature = "nats", test))]
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.insert(name, value.to_owned());
        self
    }

    /// As a broker keeps it.
    #[cfg(any(feature = "nats", test))]
    pub(crate) fn kept(&self) -> HashMap<String, String> {
        let kept = |(name, value): (&&str, &String)| (format!("{COMMON}{name}"), value.clone());
        self.0.iter().map(kept).collect()
    }

    /// Whether all of it is among what a broker keeps of a consumer.
    ///
    /// # Errors
    ///
    /// If something there is different.
    pub fn check(&self, consumer: &str, kept: &HashMap<String, String>) -> Result<bool, Error> {
        let mut is_whole = true;
        for (name, value) in &self.0 {
            match kept.get(&format!("{COMMON}{name}")) {
                Some(found) if found == value => {}
                None => is_whole = false,
                Some(found) => return Err(differs(consumer, name, value, found)),
            }
        }
        Ok(is_whole)
    }
}

/// What stands for a flag that was not given.
const UNSET: &str = "no";

fn differs(consumer: &str, name: &str, value: &str, found: &str) -> Error {
    let shown = |value: &str| match (name, value) {
        ("to", stream) => format!("--to the stream {stream}"),
        (_, UNSET) => format!("no --{name}"),
        _ => format!("--{name} {value}"),
    };
    let (value, found) = (shown(value), shown(found));
    Error::Settings {
        what: format!("consumer {consumer}"),
        reason: format!(
            "its workers have {found}, this one has {value}, and each block goes to one of them only: the answers of \
             both would be incomplete"
        ),
        help: format!(
            "use another consumer for this worker (--consumer NAME), or {found}; if the others are to be no more, remove \
             theirs with `nats consumer rm`: a new one begins with the first block"
        ),
    }
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
    if stream.retention == Retention::Interest {
        let reason = "it removes an answer that no consumer waits for (retention interest)";
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
        Once::Always if stream.retention != Retention::Limits => {
            let reason = "it removes an answer that is acknowledged (retention workqueue), and a second one would be stored";
            Err(refuse(reason.to_owned(), RETENTION.to_owned()))
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
/// If one could be lost with these settings, so that nobody would know why a block has no answer.
pub fn check_dead_letters(stream: &AnswerStream) -> Result<(), Error> {
    check_full(stream, "dead letters")?;
    check_subject(stream, "dead letters of a shard")
}

/// Checks a stream of blocks. That it removes old ones is how it is bounded; that it does so within a source is not.
///
/// # Errors
///
/// If blocks could be lost as soon as the next one comes.
pub fn check_blocks(stream: &AnswerStream) -> Result<(), Error> {
    check_subject(stream, "blocks of a source")
}

const RETENTION: &str =
    "use another stream, with retention limits, as `perfkit betree match --create` makes it";

fn check_full(stream: &AnswerStream, what: &str) -> Result<(), Error> {
    let (limit, flag) = match (stream.messages_max, stream.bytes_max) {
        (Some(max), _) => (format!("max_msgs {max}"), "--max-msgs=-1"),
        (None, Some(max)) => (format!("max_bytes {max}"), "--max-bytes=-1"),
        (None, None) => return Ok(()),
    };
    if stream.refuses_when_full {
        return Ok(());
    }
    let name = &stream.name;
    Err(Error::Settings {
        what: format!("stream {name}"),
        reason: format!(
            "once it is full ({limit}, discard old), it removes {what} that nobody may have read"
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
mod tests {
    use super::*;

    #[test]
    fn blocks_answers_and_dead_letters_are_three_streams() {
        assert_eq!(check_apart(["IN", "OUT", "IN-dead"]), Ok(()));
        for (streams, flag) in [
            (["IN", "IN", "IN-dead"], "--to"),
            (["IN", "OUT", "IN"], "--dead-letters"),
            (["IN", "OUT", "OUT"], "--dead-letters"),
        ] {
            let error = check_apart(streams).unwrap_err().to_string();
            assert!(error.starts_with(flag), "{error}");
        }
    }

    #[test]
    fn workers_of_a_consumer_have_in_common_what_decides_an_answer() {
        let own =
            Common::new([("format", Some("json".to_owned())), ("top", None)]).with("shard", "a");
        assert_eq!(own.check("match", &own.kept()), Ok(true));
        // A consumer that somebody else made, and one of a version that kept less.
        assert_eq!(own.check("match", &HashMap::new()), Ok(false));
        let mut kept = Common::new([("format", Some("json".to_owned())), ("top", None)]).kept();
        kept.insert("_nats.level".to_owned(), "1".to_owned());
        assert_eq!(own.check("match", &kept), Ok(false));
        let other = own.clone().with("shard", "b");
        let error = other.check("match", &own.kept()).unwrap_err();
        for said in ["consumer match", "have --shard a", "has --shard b"] {
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(error.help().is_some_and(|help| help.contains("--consumer")));
        let error = own.check("match", &own.clone().with("top", "3").kept());
        assert!(error.unwrap_err().to_string().contains("has no --top"));
    }

    const WAIT: Duration = Duration::from_secs(6);

    fn stream() -> AnswerStream {
        AnswerStream {
            name: "OUT".to_owned(),
            duplicate_window: Duration::from_secs(120),
            per_subject_max: None,
            messages_max: None,
            bytes_max: None,
            refuses_when_full: false,
            refuses_new: false,
            retention: Retention::Limits,
            age_max: None,
            acknowledges: true,
        }
    }

    fn consumer() -> BlockConsumer {
        BlockConsumer {
            name: "match".to_owned(),
            ack_wait: WAIT,
            deliveries_max: None,
            acknowledges_each: true,
            has_backoff: false,
        }
    }

    fn refusal(stream: &AnswerStream, once: Once) -> String {
        let error = check_answers(stream, once, WAIT, 5).unwrap_err();
        assert!(error.help().is_some());
        error.to_string()
    }

    #[test]
    fn the_window_covers_every_delivery_four_times() {
        assert_eq!(window_min(WAIT, 5), Duration::from_secs(120));
        assert_eq!(check_answers(&stream(), Once::Window, WAIT, 5), Ok(()));
        let short = AnswerStream {
            duplicate_window: Duration::from_secs(119),
            ..stream()
        };
        let said = refusal(&short, Once::Window);
        assert!(
            said.contains("stream OUT") && said.contains("119s"),
            "{said}"
        );
        assert!(said.contains("4 x ack wait 6s x 5 deliveries = 120s"));
    }

    #[test]
    fn always_needs_a_subject_an_answer_that_refuses_a_second_one() {
        let right = AnswerStream {
            per_subject_max: Some(1),
            refuses_when_full: true,
            refuses_new: true,
            duplicate_window: Duration::ZERO,
            ..stream()
        };
        assert_eq!(check_answers(&right, Once::Always, WAIT, 5), Ok(()));
        for wrong in [
            AnswerStream {
                per_subject_max: None,
                ..right.clone()
            },
            AnswerStream {
                per_subject_max: Some(2),
                ..right.clone()
            },
            AnswerStream {
                refuses_new: false,
                ..right.clone()
            },
            AnswerStream {
                age_max: Some(Duration::from_secs(119)),
                ..right.clone()
            },
            AnswerStream {
                acknowledges: false,
                ..right
            },
        ] {
            refusal(&wrong, Once::Always);
        }
    }

    #[test]
    fn streams_that_drop_answers_are_refused() {
        let full = |messages_max, bytes_max| AnswerStream {
            messages_max,
            bytes_max,
            ..stream()
        };
        for (wrong, said) in [
            (full(Some(9), None), "max_msgs 9, discard old"),
            (full(None, Some(99)), "max_bytes 99, discard old"),
        ] {
            let error = refusal(&wrong, Once::Window);
            assert!(error.contains(said), "{error}");
            assert!(check_dead_letters(&wrong).is_err());
            assert_eq!(check_blocks(&wrong), Ok(()));
            let waits = AnswerStream {
                refuses_when_full: true,
                ..wrong
            };
            assert_eq!(check_answers(&waits, Once::Window, WAIT, 5), Ok(()));
            assert_eq!(check_dead_letters(&waits), Ok(()));
        }
        let few = AnswerStream {
            per_subject_max: Some(3),
            ..stream()
        };
        let error = refusal(&few, Once::Window);
        assert!(error.contains("keeps 3 messages of a subject"), "{error}");
        assert!(check_dead_letters(&few).is_err() && check_blocks(&few).is_err());
        for (retention, of_window) in [
            (Retention::Interest, false),
            (Retention::Acknowledged, true),
        ] {
            let removes = AnswerStream {
                retention,
                ..stream()
            };
            assert_eq!(
                check_answers(&removes, Once::Window, WAIT, 5).is_ok(),
                of_window
            );
            let removes = AnswerStream {
                per_subject_max: Some(1),
                refuses_when_full: true,
                refuses_new: true,
                ..removes
            };
            refusal(&removes, Once::Always);
            assert!(refusal(&removes, Once::Window).contains("retention") || of_window);
        }
    }

    #[test]
    fn consumers_that_lose_blocks_are_refused() {
        assert_eq!(check_consumer(&consumer(), 5), Ok(()));
        let more = BlockConsumer {
            deliveries_max: Some(6),
            ..consumer()
        };
        assert_eq!(check_consumer(&more, 5), Ok(()));
        for wrong in [
            BlockConsumer {
                deliveries_max: Some(5),
                ..consumer()
            },
            BlockConsumer {
                acknowledges_each: false,
                ..consumer()
            },
            BlockConsumer {
                has_backoff: true,
                ..consumer()
            },
            BlockConsumer {
                ack_wait: Duration::from_millis(1),
                ..consumer()
            },
        ] {
            assert!(check_consumer(&wrong, 5).is_err(), "{wrong:?}");
        }
    }
}
