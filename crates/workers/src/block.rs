//! What goes through streams: blocks of lines with labels, the ids that make a second copy recognisable, and
//! deliveries. How a broker carries labels is its engine's; what lines say is the caller's.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// Lines, and what is said about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Names and values, none of which has control characters.
    pub labels: Labels,
    /// The lines, each with its end.
    pub bytes: Bytes,
}

/// What is said about a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// What the block was made of: a file, a pipe.
    pub source: Option<String>,
    /// The byte of the source at which it starts.
    pub offset: Option<u64>,
    /// The number of its first line, from 1.
    pub line: Option<u64>,
    /// Of an answer: the stream and the sequence of the block that is answered.
    pub answers: Option<Place>,
    /// Of an answer: which part of the expressions gave it.
    pub shard: Option<String>,
    /// Of an answer: which state of the expressions gave it.
    pub epoch: Option<String>,
    /// Of a block that could not be answered: why.
    pub reason: Option<String>,
    /// Of an answer: how many events of its block were refused, if any.
    pub refused: Option<u64>,
    /// Of an answer: the first of them and why, in a form of the caller's.
    pub refusals: Option<String>,
    /// Headers that whoever made the block gave it, such as `traceparent`: they go along with its answer. At most
    /// [`CARRIED_MAX`], in [`CARRIED_BYTES_MAX`].
    pub carried: Vec<(String, String)>,
}

/// A place in a stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The stream, with what tells it from an earlier one of that name.
    pub stream: String,
    /// The number of the message in it.
    pub sequence: u64,
}

impl Place {
    /// The name that people gave to the stream, without what tells it from an earlier one: of Kafka with its partition.
    #[must_use]
    pub fn name(&self) -> &str {
        let is_partition = self.stream.contains('/');
        let parts = self.stream.rsplit_once('-').filter(|_| !is_partition);
        parts.map_or(&self.stream, |(name, _)| name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "block {} of {}", self.sequence, self.name())
    }
}

/// What a reader of answers hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// An answer.
    Answer(Block),
    /// A block that could not be answered.
    Dead(Block),
    /// All answers have been given out that there were when reading began.
    CaughtUp,
}

/// The name of the shard that is all expressions.
pub const WHOLE: &str = "all";

/// The longest value of a label.
pub const LABEL_BYTES_MAX: usize = 1024;

/// The most headers of others that go along with an answer.
pub const CARRIED_MAX: usize = 32;

/// The most bytes of their names and values. One that does not fit is left out as a whole.
pub const CARRIED_BYTES_MAX: usize = 4096;

/// What names of headers start with that are the engine's or the broker's own, and not carried.
const OWN: [&str; 2] = ["perfkit-", "nats-"];

/// The names of labels.
const NAMES: [&str; 10] = [
    "Perfkit-Source",
    "Perfkit-Offset",
    "Perfkit-Line",
    "Perfkit-Stream",
    "Perfkit-Sequence",
    "Perfkit-Shard",
    "Perfkit-Epoch",
    "Perfkit-Reason",
    "Perfkit-Refused",
    "Perfkit-Refusals",
];

impl Labels {
    /// The labels as names and values, and then the headers of others.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&str, String)> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let place = self.answers.as_ref();
        let values = [
            self.source.clone(),
            number(self.offset),
            number(self.line),
            place.map(|place| place.stream.clone()),
            number(place.map(|place| place.sequence)),
            self.shard.clone(),
            self.epoch.clone(),
            self.reason.clone(),
            number(self.refused),
            self.refusals.clone(),
        ];
        let own = NAMES.into_iter().zip(values);
        let own = own.filter_map(|(name, value)| Some((name, plain(&value?))));
        let carried = self.carried.iter();
        own.chain(carried.map(|(name, value)| (name.as_str(), value.clone())))
            .collect()
    }

    /// Reads labels from headers, of several of one name the first. What is missing, too long or no number is absent:
    /// blocks may come from other programs. Headers that this crate does not know are carried.
    pub fn read<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut own = [None; NAMES.len()];
        let mut others = Vec::new();
        for (name, value) in headers {
            match NAMES.iter().position(|own| *own == name) {
                Some(at) => {
                    own[at].get_or_insert(value);
                }
                None => others.push((name, value)),
            }
        }
        let text = |at: usize| own[at].filter(|value| value.len() <= LABEL_BYTES_MAX);
        let owned = |at| text(at).map(str::to_owned);
        let number = |at| text(at).and_then(|value| value.parse().ok());
        let answers = match (owned(3), number(4)) {
            (Some(stream), Some(sequence)) => Some(Place { stream, sequence }),
            _ => None,
        };
        Self {
            source: owned(0),
            offset: number(1),
            line: number(2),
            answers,
            shard: owned(5),
            epoch: owned(6),
            reason: owned(7),
            refused: number(8),
            refusals: owned(9),
            carried: carried(others),
        }
    }
}

/// Of headers of others those that can go along: as many as fit, by their names.
fn carried(mut others: Vec<(&str, &str)>) -> Vec<(String, String)> {
    let is_own = |name: &str| {
        let starts = |own: &str| {
            let start = name.as_bytes().get(..own.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(own.as_bytes()))
        };
        OWN.into_iter().any(starts)
    };
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_graphic() && byte != b':';
        !name.is_empty() && name.bytes().all(fits)
    };
    others.retain(|(name, value)| {
        is_name(name) && !is_own(name) && !value.chars().any(char::is_control)
    });
    // Some brokers keep no order.
    others.sort();
    let mut left = CARRIED_BYTES_MAX;
    let fits = |(name, value): &(&str, &str)| match left.checked_sub(name.len() + value.len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    others
        .into_iter()
        .filter(fits)
        .take(CARRIED_MAX)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A value without line ends and other control characters, of a bounded length.
fn plain(value: &str) -> String {
    let mut text: String = value
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    let mut end = text.len().min(LABEL_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The longest [`token`] that is the text itself.
const TOKEN_MOST: usize = 64;

/// What may stand in a name of a subject: letters, digits, `-` and `_`. A text of nothing else, of 1 to 64 bytes, is its own token.
/// Of another one, anything else becomes `_`, and a hash of the text follows, so that two texts do not have one token.
#[must_use]
pub fn token(text: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if (1..=TOKEN_MOST).contains(&text.len()) && text.chars().all(keep) {
        return text.to_owned();
    }
    let hash = format!("-{:016x}", twox_hash::XxHash64::oneshot(0, text.as_bytes()));
    let kept = |letter| if keep(letter) { letter } else { '_' };
    let start: String = text
        .chars()
        .take(TOKEN_MOST - hash.len())
        .map(kept)
        .collect();
    start + &hash
}

impl Block {
    /// Whether it is a dead letter: another block that could not be answered, with the reason.
    #[must_use]
    pub fn is_dead_letter(&self) -> bool {
        self.labels.reason.is_some() && self.labels.answers.is_some()
    }
}

/// What tells copies of one message from other messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockId(String);

impl BlockId {
    /// The id of a block of a source. The bytes are in it, so that a source that has changed is no copy.
    #[must_use]
    pub fn of_source(source: &str, offset: u64, bytes: &[u8]) -> Self {
        let hash = twox_hash::XxHash64::oneshot(0, bytes);
        Self(format!("{}.{offset}.{hash:016x}", token(source)))
    }

    /// The id of the answer to a block.
    #[must_use]
    pub fn of_answer(place: &Place, shard: &str) -> Self {
        let Place { stream, sequence } = place;
        Self(format!("{}.{}.{sequence}", token(stream), token(shard)))
    }

    /// As text, of letters, digits, `-`, `_` and dots.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A block that was given out to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery<T> {
    /// The block.
    pub block: Block,
    /// Where it stands.
    pub place: Place,
    /// How often it was given out, this time included.
    pub count: u64,
    /// What the engine needs to acknowledge it.
    pub token: T,
}

impl<T> Delivery<T> {
    /// The place of the block that its answer is to: its own, or of a dead letter that of the block that could not be
    /// answered, so that it gets the answer that it lacks, and no second one.
    #[must_use]
    pub fn answered(&self) -> &Place {
        let original = self.block.labels.answers.as_ref();
        original
            .filter(|_| self.block.is_dead_letter())
            .unwrap_or(&self.place)
    }
}

/// Steps that the work on a block has made. Who works counts; who reports to the broker looks whether they go on.
#[derive(Debug, Clone, Default)]
pub struct Steps(Arc<AtomicU64>);

impl Steps {
    /// Counts a step.
    pub fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The steps so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_have_tokens_that_do() {
        let long = "n".repeat(TOKEN_MOST);
        let longer = format!("{long}n");
        let texts = [
            "", "_", "__", "eu_west", "eu.west", "eu west", "eu/west", "EU_west", "ü", "ö", "*",
            ">", &long, &longer,
        ];
        for text in texts {
            let own = token(text);
            assert!((1..=TOKEN_MOST).contains(&own.len()), "{own}");
            let keeps =
                |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
            assert!(own.bytes().all(keeps), "{own}");
            for other in texts.into_iter().filter(|other| *other != text) {
                assert_ne!(own, token(other), "{text:?} and {other:?}");
            }
        }
        assert_eq!(token("eu_west-1"), "eu_west-1");
        assert_eq!(token(&long), long);
    }

    #[test]
    fn headers_of_others_are_carried_within_bounds() {
        let long = "v".repeat(CARRIED_BYTES_MAX);
        let labels = Labels::read(
            [
                ("tracestate", "a=1"),
                ("traceparent", "00-0af7-01"),
                ("Perfkit-Line", "7"),
                ("perfkit-future", "own"),
                ("Nats-Msg-Id", "own"),
                ("nats-ttl", "5s"),
                ("two words", "no name"),
                ("a:b", "no name"),
                ("", "no name"),
                ("split", "a\r\nPerfkit-Line: 9"),
                ("long", long.as_str()),
                ("traceparent", "second"),
            ]
            .into_iter(),
        );
        let carried = [
            ("traceparent", "00-0af7-01"),
            ("traceparent", "second"),
            ("tracestate", "a=1"),
        ];
        let carried = carried.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!((labels.line, &labels.carried[..]), (Some(7), &carried[..]));
        let pairs = labels.pairs();
        let again = Labels::read(pairs.iter().map(|(name, value)| (*name, value.as_str())));
        assert_eq!(again, labels);
        let names: Vec<String> = (0..100).map(|at| format!("h{at:02}")).collect();
        let many = Labels::read(names.iter().map(|name| (name.as_str(), "v")));
        assert_eq!(many.carried.len(), CARRIED_MAX);
    }

    #[test]
    fn places_are_shown_by_the_names_that_people_gave() {
        for (stream, shown) in [
            ("EV-IN-6b0d2114", "block 7 of EV-IN"),
            ("in-1/3", "block 7 of in-1/3"),
            ("memory", "block 7 of memory"),
        ] {
            let (stream, sequence) = (stream.to_owned(), 7);
            assert_eq!(Place { stream, sequence }.to_string(), shown);
        }
    }

    #[test]
    fn a_dead_letter_is_answered_in_the_place_of_its_block() {
        let place = |stream: &str| Place {
            stream: stream.to_owned(),
            sequence: 7,
        };
        let mut delivery = Delivery {
            block: Block::default(),
            place: place("IN-dead"),
            count: 1,
            token: (),
        };
        delivery.block.labels.answers = Some(place("IN"));
        assert_eq!(delivery.answered(), &place("IN-dead"));
        delivery.block.labels.reason = Some("too long".to_owned());
        assert_eq!(delivery.answered(), &place("IN"));
    }
}
