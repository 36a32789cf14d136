//! The parameters of every recipe for every class of content size. What they are for is said in
//! the parent module; how they were found, in `xtask/src/bin/tune`.

use super::Recipe;
use crate::memory::Tables;
use crate::options::EncoderOptions;
use crate::parameters::{Parameters, Strategy};
use Strategy::{Btlazy2, Btopt, Btultra, Btultra2, Dfast, Fast, Lazy, Lazy2};

/// The largest window of a recipe, 8 MiB: decoders need not accept more.
pub(super) const WINDOW_LOG_MAX: u32 = 23;
/// Content of up to so many bytes is a class of its own. What is larger is one more class, and
/// so is what is of unknown size.
const CLASS_BYTES_MAX: [u64; 4] = [4 << 10, 16 << 10, 128 << 10, 256 << 10];
const CLASSES: usize = CLASS_BYTES_MAX.len() + 2;

/// Every parameter there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    /// What `Encoder` users see as the level; with every parameter set it decides nothing.
    level: i32,
    /// Exponents of window, chain table or tree, hash table, and candidates looked at.
    logs: [u32; 4],
    min_match: u32,
    target_length: u32,
    strategy: Strategy,
}

/// A set, in the order in which libzstd lists its own: window, chain, hash, search, shortest
/// match, target length, strategy.
const fn row(level: i32, logs: [u32; 4], lengths: [u32; 2], strategy: Strategy) -> Set {
    Set {
        level,
        logs,
        min_match: lengths[0],
        target_length: lengths[1],
        strategy,
    }
}

const FAST: [Set; CLASSES] = [
    row(1, [14, 14, 15, 1], [5, 0], Fast),
    row(1, [14, 14, 15, 1], [5, 0], Fast),
    row(1, [17, 12, 13, 1], [6, 0], Fast),
    row(1, [18, 13, 14, 1], [6, 0], Fast),
    row(1, [19, 13, 14, 1], [7, 0], Fast),
    row(1, [19, 13, 14, 1], [7, 0], Fast),
];

const BALANCED: [Set; CLASSES] = [
    row(3, [14, 14, 15, 2], [4, 0], Dfast),
    row(3, [14, 14, 15, 2], [4, 0], Dfast),
    row(3, [17, 15, 16, 2], [5, 0], Dfast),
    row(3, [18, 16, 16, 1], [4, 0], Dfast),
    row(3, [21, 16, 17, 1], [5, 0], Dfast),
    row(3, [21, 16, 17, 1], [5, 0], Dfast),
];

const BINARY: [Set; CLASSES] = [
    row(6, [14, 14, 14, 4], [4, 8], Lazy2),
    row(6, [14, 14, 14, 4], [4, 8], Lazy2),
    row(7, [17, 16, 17, 3], [4, 8], Lazy2),
    row(7, [18, 18, 19, 4], [4, 4], Lazy),
    row(7, [21, 19, 20, 4], [5, 8], Lazy),
    row(7, [21, 19, 20, 4], [5, 8], Lazy),
];

const TEXT: [Set; CLASSES] = [
    row(11, [14, 15, 14, 3], [4, 12], Btopt),
    row(11, [14, 15, 14, 3], [4, 12], Btopt),
    row(9, [17, 16, 17, 5], [4, 8], Lazy2),
    row(10, [18, 18, 19, 6], [4, 8], Lazy2),
    row(11, [22, 21, 22, 6], [5, 16], Lazy2),
    row(11, [22, 21, 22, 6], [5, 16], Lazy2),
];

const STRUCTURED_DATA: [Set; CLASSES] = [
    row(13, [14, 15, 14, 5], [3, 32], Btultra),
    row(13, [14, 15, 14, 5], [3, 32], Btultra),
    row(13, [17, 18, 17, 3], [4, 12], Btopt),
    row(11, [18, 18, 19, 5], [4, 12], Btlazy2),
    row(12, [22, 22, 23, 6], [5, 32], Lazy2),
    row(12, [22, 22, 23, 6], [5, 32], Lazy2),
];

const MAXIMUM: [Set; CLASSES] = [
    row(22, [14, 15, 15, 10], [3, 999], Btultra2),
    row(22, [14, 15, 15, 10], [3, 999], Btultra2),
    row(22, [17, 18, 17, 11], [3, 999], Btultra2),
    row(22, [18, 19, 19, 13], [3, 999], Btultra2),
    row(22, [23, 24, 22, 9], [3, 999], Btultra2),
    row(19, [23, 24, 22, 7], [3, 256], Btultra2),
];

/// The same options with the window of a recipe at most.
pub(super) fn capped(mut options: EncoderOptions, content_bytes: Option<u64>) -> EncoderOptions {
    if Tables::choose(&options, content_bytes).window_log > WINDOW_LOG_MAX {
        options.window_log = Some(WINDOW_LOG_MAX);
        // A tree over the window has two entries a byte.
        options.parameters.chain_log = Some(WINDOW_LOG_MAX + 1);
    }
    options
}

/// The parameters of a recipe for content of this size.
pub(super) fn set(recipe: Recipe, content_bytes: Option<u64>) -> Set {
    let class = match content_bytes {
        None => CLASSES - 1,
        Some(bytes) => CLASS_BYTES_MAX.iter().filter(|&&most| bytes > most).count(),
    };
    let sets = match recipe {
        Recipe::Fast => &FAST,
        Recipe::Balanced | Recipe::Auto => &BALANCED,
        Recipe::Binary => &BINARY,
        Recipe::Text => &TEXT,
        Recipe::StructuredData => &STRUCTURED_DATA,
        Recipe::Maximum => &MAXIMUM,
    };
    sets[class]
}

impl Set {
    pub(super) fn options(self) -> EncoderOptions {
        let [window_log, chain_log, hash_log, search_log] = self.logs;
        EncoderOptions {
            level: self.level,
            window_log: Some(window_log),
            parameters: Parameters {
                chain_log: Some(chain_log),
                hash_log: Some(hash_log),
                search_log: Some(search_log),
                min_match: Some(self.min_match),
                target_length: Some(self.target_length),
                strategy: Some(self.strategy),
            },
            ..EncoderOptions::default()
        }
    }
}
