//! Named settings for a purpose: what to ask for when a level number says too little.
//!
//! A recipe is a full set of parameters for each class of content size ([`table`]), found by
//! measuring (`cargo xtask tune`). [`Recipe::Auto`] looks at the content first ([`choose`]).
//! Nothing here touches a context.
//!
//! Ratio and MB/s on 1 MiB of real data at a time, out of `bench-peers/record/zstd-recipes.md`,
//! which has the other sizes, every native level, and where a level is better all the same:
//!
//! | recipe | context | html | JSON | source | ELF | log | UUIDs |
//! |---|---:|---:|---:|---:|---:|---:|---:|
//! | `fast` | 0.6 MB | 18.23 @ 1332 | 12.84 @ 1003 | 6.72 @ 641 | 10.73 @ 894 | 12.83 @ 1004 | 1.95 @ 1103 |
//! | `balanced` | 1.8 MB | 23.98 @ 369 | 17.12 @ 332 | 7.78 @ 210 | 12.63 @ 260 | 14.63 @ 260 | 1.97 @ 96 |
//! | `binary` | 3.1 MB | 25.70 @ 240 | 18.00 @ 223 | 8.21 @ 130 | 13.21 @ 133 | 15.16 @ 176 | 1.97 @ 78 |
//! | `structured_data` | 3.1 MB | 26.60 @ 174 | 18.42 @ 138 | 8.30 @ 84 | 13.21 @ 133 | 15.38 @ 115 | 1.97 @ 61 |
//! | `text` | 3.1 MB | 26.60 @ 170 | 18.42 @ 138 | 8.30 @ 84 | 13.21 @ 133 | 15.38 @ 114 | 1.97 @ 60 |
//! | `maximum` | 18.1 MB | 29.68 @ 1 | 20.30 @ 3 | 8.96 @ 3 | 16.23 @ 3 | 17.21 @ 2 | 1.97 @ 61 |
//! | level 3 | 1.3 MB | 19.34 @ 960 | 13.84 @ 751 | 7.20 @ 454 | 11.15 @ 684 | 13.15 @ 767 | 1.90 @ 151 |
//! | level 11 | 11.0 MB | 26.60 @ 158 | 18.43 @ 121 | 8.31 @ 69 | 13.25 @ 67 | 15.39 @ 101 | 1.89 @ 34 |
//!
//! Most of the gain is in the shortest match, and which serves depends on the content: 4 bytes up to
//! 256 KiB and 5 beyond, one more for short fields that repeat, 6 for random digits, on which shorter
//! matches cost more than they save. [`Recipe::options_for`] looks at the content for that, and the
//! figures are with that look. [`Recipe::options`] knows the size alone: there `binary`, `text` and
//! `structured_data` make more of random digits than `fast` does.

mod detect;
mod table;

use std::fmt;
use std::str::FromStr;

use detect::ContentKind;

use crate::options::EncoderOptions;
use crate::parameters::{Parameters, Strategy};

/// What the data is, or what matters about it.
///
/// ```
/// use zstdkit::Recipe;
///
/// let page = b"<p>A page that says the same, a page that says the same.</p>";
/// let options = Recipe::Text.options(Some(page.len() as u64));
/// let frame = zstdkit::compress(page, &options)?;
/// assert!(frame.len() < page.len());
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recipe {
    /// As little time as a useful ratio takes.
    Fast,
    /// For what passes by: little time, a good ratio.
    Balanced,
    /// Machine code and records of numbers.
    Binary,
    /// Markup, prose and source code.
    Text,
    /// JSON, logs, tables: short fields that repeat.
    StructuredData,
    /// As few bytes as an 8 MiB window allows, whatever the time.
    Maximum,
    /// One of the others, by a look at the content: [`Recipe::choose`].
    Auto,
}

impl Recipe {
    /// All of them: the quickest first, the smallest frames and `Auto` last.
    pub const ALL: [Self; 7] = [
        Self::Fast,
        Self::Balanced,
        Self::Binary,
        Self::Text,
        Self::StructuredData,
        Self::Maximum,
        Self::Auto,
    ];

    /// The name that [`FromStr`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Binary => "binary",
            Self::Text => "text",
            Self::StructuredData => "structured_data",
            Self::Maximum => "maximum",
            Self::Auto => "auto",
        }
    }

    /// The settings for content of this size in bytes; `None`: not known yet.
    ///
    /// Windows stay within 8 MiB, which every decoder accepts. `Auto`, which has seen nothing
    /// here, gives what `Balanced` gives.
    pub fn options(self, content_bytes: Option<u64>) -> EncoderOptions {
        table::set(self, content_bytes).options()
    }

    /// The settings for content that starts with `first` and has `content_bytes` in all (`None`:
    /// not known yet): those of [`Recipe::options`], but where a look at `first` shows what they do
    /// not suit. Random digits and what is compressed already get longer shortest matches, machine
    /// code is not searched as text is, and `Auto` is what [`Recipe::choose`] comes to.
    ///
    /// The look takes as long as that of [`Recipe::choose`]: take it once for a context that serves
    /// much content of a kind.
    ///
    /// ```
    /// use zstdkit::Recipe;
    ///
    /// let page = b"<p>A page that says the same, a page that says the same.</p>".repeat(9);
    /// let options = Recipe::Auto.options_for(&page, Some(page.len() as u64));
    /// assert!(zstdkit::compress(&page, &options)?.len() < page.len());
    /// # Ok::<(), zstdkit::Error>(())
    /// ```
    pub fn options_for(self, first: &[u8], content_bytes: Option<u64>) -> EncoderOptions {
        let kind = match self {
            // The quickest has no time to look.
            Self::Fast => ContentKind::TooShort,
            _ => ContentKind::of(first, content_bytes),
        };
        table::set_for(self, kind, content_bytes).options()
    }

    /// The settings of a level, within the purpose of the recipe. The level says how hard to look
    /// for matches. The recipe keeps its largest window, 8 MiB, and from `Greedy` to `Lazy2` (levels
    /// 5 to 10 or so) its shortest match: where short matches cost more than they save, a deeper
    /// search for them does harm.
    ///
    /// The level is that of [`EncoderOptions::level`] and is checked where that is.
    pub fn options_at_level(self, level: i32, content_bytes: Option<u64>) -> EncoderOptions {
        table::at_level(self, level, content_bytes)
    }

    /// The settings that exzstandard 0.1 had under these names: a strategy over the parameters
    /// of a level, 3 for `balanced`, 22 for `maximum` and so on. Another level keeps the strategy.
    /// `Auto`, which it did not have, gives what `Balanced` gives.
    ///
    /// For frames that have to stay as they were. [`Recipe::options`] is better and quicker.
    pub fn exzstandard(self, level_override: Option<i32>) -> EncoderOptions {
        let (level, strategy) = match self {
            Self::Fast => (1, Strategy::Fast),
            Self::Balanced | Self::Auto => (3, Strategy::Dfast),
            Self::Binary => (6, Strategy::Lazy2),
            Self::Text => (9, Strategy::Btopt),
            Self::StructuredData => (9, Strategy::Btultra),
            Self::Maximum => (22, Strategy::Btultra2),
        };
        EncoderOptions {
            level: level_override.unwrap_or(level),
            parameters: Parameters {
                strategy: Some(strategy),
                ..Parameters::default()
            },
            ..EncoderOptions::default()
        }
    }

    /// What `Auto` comes to for content that starts with `first` and has `content_bytes` in all
    /// (`None`: not known). Never `Auto` or `Maximum`.
    ///
    /// What holds nothing to find, compressed already or random digits, is `Fast`'s; what is too
    /// short or too plain to tell is `Balanced`'s.
    ///
    /// It looks at a sample of at most 16 KiB out of the first 128 KiB, which takes some tens of
    /// microseconds, and gives the same answer for the same bytes everywhere.
    pub fn choose(first: &[u8], content_bytes: Option<u64>) -> Self {
        ContentKind::of(first, content_bytes).recipe()
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no [`Recipe`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown recipe (expected fast, balanced, binary, text, structured_data, maximum or auto)")]
pub struct UnknownRecipe;

impl FromStr for Recipe {
    type Err = UnknownRecipe;

    /// Reads a [name](Recipe::name); `-` stands for `_`.
    fn from_str(name: &str) -> Result<Self, UnknownRecipe> {
        let name = name.replace('-', "_");
        Self::ALL
            .into_iter()
            .find(|recipe| recipe.name() == name)
            .ok_or(UnknownRecipe)
    }
}
