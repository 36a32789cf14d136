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
}

/// A place in a stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The stream, with what tells it from an earlier one of that name.
    pub stream: String,
    /// The number of the message in it.
    pub sequence: u64,
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

/// The names of labels.
const NAMES: [&str; 8] = [
    "Perfkit-Source",
    "Perfkit-Offset",
    "Perfkit-Line",
    "Perfkit-Stream",
    "Perfkit-Sequence",
    "Perfkit-Shard",
    "Perfkit-Epoch",
    "Perfkit-Reason",
];

impl Labels {
    /// The labels as names and values.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
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
        ];
        let pairs = NAMES.into_iter().zip(values);
        pairs
            .filter_map(|(name, value)| Some((name, plain(&value?))))
            .collect()
    }

    /// Reads labels. `find` gives the value of a name. What is missing, too long or no number is absent: blocks may
    /// come from other programs.
    pub fn read<'a>(find: impl Fn(&str) -> Option<&'a str>) -> Self {
        let text = |at: usize| find(NAMES[at]).filter(|value| value.len() <= LABEL_BYTES_MAX);
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
        }
    }
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
}
