//! The parameters of every recipe for every class of content size. The parent module says what they are
//! for; `xtask/src/bin/tune` found them.

use std::ops::RangeInclusive;

use super::detect::ContentKind;
use super::purpose::Recipe;
use crate::memory::Tables;
use crate::options::EncoderOptions;
use crate::parameters::{Parameters, Strategy};
use Strategy::{Btopt, Btultra, Btultra2, Dfast, Fast, Greedy, Lazy, Lazy2};

/// The largest window of a recipe, 8 MiB: decoders are not required to accept more.
pub(super) const WINDOW_LOG_MAX: u32 = 23;
/// The upper bounds of the size classes. Larger content, and content of unknown size, is one more class.
const CLASS_BYTES_MAX: [u64; 5] = [4 << 10, 16 << 10, 128 << 10, 256 << 10, 1 << 20];
/// The classes in which only `MAXIMUM` compresses random digits better than `FAST`.
const FAST_CLASSES_OF_DIGITS: RangeInclusive<usize> = 1..=2;
/// The windows of content up to 16 KiB and up to 256 KiB.
const NEAR_LOG: u32 = 14;
const FAR_LOG: u32 = 18;
const CLASSES: usize = CLASS_BYTES_MAX.len() + 1;

/// A value for every parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    /// The closest native level. It has no effect, because every parameter is set.
    level: i32,
    /// Exponents of window, chain table or tree, hash table, and number of candidates.
    logs: [u32; 4],
    min_match: u32,
    target_length: u32,
    strategy: Strategy,
}

/// A set in the order of libzstd's own tables: window, chain, hash, search, shortest match, target
/// length, strategy.
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
    row(1, [14, 10, 12, 1], [5, 0], Fast),
    row(1, [14, 10, 12, 1], [6, 0], Fast),
    row(1, [17, 10, 14, 1], [7, 0], Fast),
    row(1, [18, 10, 14, 1], [7, 0], Fast),
    row(1, [22, 10, 14, 1], [7, 0], Fast),
    row(1, [22, 10, 14, 1], [7, 0], Fast),
];

const BALANCED: [Set; CLASSES] = [
    row(3, [14, 10, 11, 1], [5, 0], Dfast),
    row(4, [14, 14, 14, 3], [4, 4], Greedy),
    row(5, [17, 16, 16, 3], [6, 4], Greedy),
    row(5, [18, 18, 17, 3], [6, 4], Greedy),
    row(5, [22, 18, 18, 4], [6, 4], Greedy),
    row(5, [22, 18, 18, 4], [6, 4], Greedy),
];

const BINARY: [Set; CLASSES] = [
    row(5, [14, 14, 14, 3], [4, 16], Lazy),
    row(5, [14, 14, 14, 3], [4, 16], Lazy),
    row(6, [17, 16, 17, 4], [4, 16], Lazy),
    row(7, [18, 18, 18, 5], [4, 16], Lazy),
    row(7, [22, 18, 19, 5], [5, 64], Lazy),
    row(7, [22, 18, 19, 5], [5, 64], Lazy),
];

const TEXT: [Set; CLASSES] = [
    row(7, [14, 14, 14, 5], [4, 32], Lazy2),
    row(7, [14, 14, 15, 6], [4, 64], Lazy2),
    row(9, [17, 17, 17, 6], [4, 32], Lazy),
    row(10, [18, 18, 18, 6], [4, 32], Lazy2),
    row(11, [22, 18, 19, 6], [5, 64], Lazy2),
    row(11, [22, 18, 21, 6], [5, 64], Lazy2),
];

const STRUCTURED_DATA: [Set; CLASSES] = [
    row(6, [14, 14, 14, 4], [4, 16], Lazy),
    row(6, [14, 14, 14, 4], [4, 16], Lazy2),
    row(8, [17, 17, 17, 5], [4, 16], Lazy),
    row(10, [18, 18, 18, 6], [5, 32], Lazy2),
    row(10, [22, 18, 19, 6], [6, 64], Lazy2),
    row(10, [22, 18, 20, 6], [6, 64], Lazy2),
];

const MAXIMUM: [Set; CLASSES] = [
    row(19, [14, 15, 15, 8], [3, 256], Btultra2),
    row(22, [14, 15, 15, 10], [3, 999], Btultra2),
    row(22, [17, 18, 17, 11], [3, 999], Btultra2),
    row(22, [18, 19, 19, 13], [3, 999], Btultra2),
    row(22, [23, 24, 22, 9], [3, 999], Btultra2),
    row(22, [23, 24, 22, 9], [3, 999], Btultra2),
];

/// `MAXIMUM` for random digits: the more digits, the worse do the cost estimates of short matches get.
const MAXIMUM_OF_DIGITS: [Set; CLASSES] = [
    row(22, [14, 15, 15, 10], [6, 999], Btultra2),
    row(22, [14, 15, 15, 10], [3, 999], Btultra2),
    row(18, [17, 18, 17, 10], [3, 512], Btultra),
    row(12, [18, 18, 18, 6], [6, 64], Lazy2),
    row(12, [22, 18, 19, 6], [6, 64], Lazy2),
    row(16, [22, 22, 22, 5], [5, 48], Btopt),
];

/// The settings of a level with two things of a recipe: its largest window, and its shortest match if
/// both search for matches in the same way.
pub(super) fn at_level(recipe: Recipe, level: i32, content_bytes: Option<u64>) -> EncoderOptions {
    let mut options = EncoderOptions {
        level,
        ..EncoderOptions::default()
    };
    let native = Tables::choose(&options, content_bytes);
    if native.window_log > WINDOW_LOG_MAX {
        options.window_log = Some(WINDOW_LOG_MAX);
        // A tree has two entries per byte of the window, the hash table only its roots.
        options.parameters.chain_log = Some(WINDOW_LOG_MAX + 1);
        options.parameters.hash_log = Some(WINDOW_LOG_MAX - 1);
    }
    let set = set(recipe, content_bytes);
    let chained = Greedy.number()..=Lazy2.number();
    if chained.contains(&native.strategy) && chained.contains(&set.strategy.number()) {
        options.parameters.min_match = Some(set.min_match);
    }
    options
}

/// The parameters of a recipe for content of this size.
pub(super) fn set(recipe: Recipe, content_bytes: Option<u64>) -> Set {
    let sets = match recipe {
        Recipe::Fast => &FAST,
        Recipe::Balanced | Recipe::Auto => &BALANCED,
        Recipe::Binary => &BINARY,
        Recipe::Text => &TEXT,
        Recipe::StructuredData => &STRUCTURED_DATA,
        Recipe::Maximum => &MAXIMUM,
    };
    sets[class(content_bytes)]
}

/// The parameters of a recipe for content of this size and kind.
pub(super) fn set_for(recipe: Recipe, kind: ContentKind, content_bytes: Option<u64>) -> Set {
    let class = class(content_bytes);
    let own = match (recipe, kind) {
        (Recipe::Auto, kind) => kind.recipe(),
        (Recipe::Maximum, ContentKind::RandomDigits) => return MAXIMUM_OF_DIGITS[class],
        (_, ContentKind::RandomDigits) if FAST_CLASSES_OF_DIGITS.contains(&class) => Recipe::Fast,
        // Looking two bytes ahead does not help with machine code.
        (Recipe::Text | Recipe::StructuredData, ContentKind::Binary) => Recipe::Binary,
        (recipe, _) => recipe,
    };
    let mut set = set(own, content_bytes);
    // In machine code of this size fine cost estimates of longer matches take time and save nothing.
    if kind == ContentKind::Binary && set.strategy == Btultra2 && set.logs[0] == FAR_LOG {
        set.target_length = 512;
    }
    if let Some(shortest) = set.shortest_match_for(kind) {
        set.min_match = shortest;
    }
    set
}

fn class(content_bytes: Option<u64>) -> usize {
    let bytes = content_bytes.unwrap_or(u64::MAX);
    CLASS_BYTES_MAX.iter().filter(|&&most| bytes > most).count()
}

impl Set {
    /// The best shortest match for the kind, if known. In a larger window more short matches are
    /// accidental.
    fn shortest_match_for(&self, kind: ContentKind) -> Option<u32> {
        let far = u32::from(self.logs[0] > FAR_LOG);
        match (kind, self.strategy) {
            (ContentKind::RandomDigits | ContentKind::Incompressible, Fast | Dfast) => Some(7),
            (ContentKind::RandomDigits | ContentKind::Incompressible, Greedy | Lazy | Lazy2) => {
                Some(6)
            }
            (ContentKind::Structured, Lazy) if self.logs[0] > NEAR_LOG => Some(5 + far),
            (ContentKind::Structured, Lazy2) if self.logs[0] > NEAR_LOG => Some(5),
            (ContentKind::Text, Lazy | Lazy2) if self.logs[0] > NEAR_LOG => Some(4 + far),
            _ => None,
        }
    }

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
