//! What is measured, and how.

use std::time::Duration;

use zstdkit::{Dictionary, EncoderOptions};

/// How content is handed to a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All at once.
    Whole,
    /// As a stream of unknown size.
    Stream,
    /// As such a stream, flushed after every chunk.
    Flushed,
}

impl Mode {
    /// Whether there are calls within an operation.
    #[must_use]
    pub fn is_stream(self) -> bool {
        self != Self::Whole
    }
}

/// Makes settings for content that starts with these bytes, and has this size where it is known.
type Settings<'a> = dyn Fn(&[u8], Option<u64>) -> EncoderOptions + 'a;

/// Settings that are measured against others.
pub struct Candidate<'a> {
    pub(crate) name: String,
    pub(crate) options: Box<Settings<'a>>,
}

impl std::fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Candidate").field(&self.name).finish()
    }
}

impl<'a> Candidate<'a> {
    /// Settings by content: `options` gets how it starts, and its size where that is known.
    pub fn new(
        name: impl Into<String>,
        options: impl Fn(&[u8], Option<u64>) -> EncoderOptions + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            options: Box::new(options),
        }
    }

    /// What it is called in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A level of zstd, called `level N`.
    #[must_use]
    pub fn level(level: i32) -> Self {
        Self::new(format!("level {level}"), move |_, _| {
            EncoderOptions::default().with_level(level)
        })
    }
}

/// What is measured, and how.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan<'a> {
    /// What is measured, each once, in the order of the tables.
    pub candidates: Vec<Candidate<'a>>,
    /// Time that each candidate gets on each input, in each size of blocks.
    pub time: Duration,
    /// Sizes of blocks that inputs are cut into, in bytes; `None` is a whole part.
    pub block_bytes: Vec<Option<usize>>,
    /// Threads that compress, at least 1.
    pub threads: u32,
    /// Ways in which each candidate is measured.
    pub modes: Vec<Mode>,
    /// Whether the tables are those of the matrix: one-shot and streamed calls side by side.
    pub matrix: bool,
    /// Whether compression is not timed.
    pub decompress_only: bool,
    /// Ratios at which candidates are ranked.
    pub rank_at: Vec<f64>,
    /// Whether what another candidate dominates is marked.
    pub pareto: bool,
    /// What orders of turns are drawn from.
    pub seed: u64,
    /// What every candidate compresses with.
    pub dictionary: Option<Dictionary>,
}

impl<'a> Plan<'a> {
    /// Candidates on whole contents, one thread, three seconds each.
    #[must_use]
    pub fn new(candidates: Vec<Candidate<'a>>) -> Self {
        Self {
            candidates,
            time: Duration::from_secs(3),
            block_bytes: vec![None],
            threads: 1,
            modes: vec![Mode::Whole],
            matrix: false,
            decompress_only: false,
            rank_at: Vec::new(),
            pareto: false,
            seed: 1,
            dictionary: None,
        }
    }
}
