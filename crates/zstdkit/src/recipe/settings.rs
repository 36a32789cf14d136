//! The encoder settings of a recipe.

use super::detect::ContentKind;
use super::purpose::Recipe;
use super::table;
use crate::options::EncoderOptions;
use crate::parameters::{Parameters, Strategy};

impl Recipe {
    /// The settings for content of this size in bytes. `None`: not known yet.
    ///
    /// Windows are at most 8 MiB, which every decoder accepts. `Auto`, which has no content to examine
    /// here, is the same as `Balanced`.
    pub fn options(self, content_bytes: Option<u64>) -> EncoderOptions {
        table::set(self, content_bytes).options()
    }

    /// The settings for content that starts with `first` and has `content_bytes` in total (`None`: not
    /// known yet): those of [`Recipe::options`], adapted to the kind of content. Random digits and
    /// already compressed data get a longer shortest match, machine code is searched differently from
    /// text, and `Auto` is the recipe of [`Recipe::choose`].
    ///
    /// Examining the content takes as long as in [`Recipe::choose`]. Do it once for a context that
    /// compresses much content of one kind.
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
            // The fastest recipe spends no time on detection.
            Self::Fast => ContentKind::TooShort,
            _ => ContentKind::of(first, content_bytes),
        };
        table::set_for(self, kind, content_bytes).options()
    }

    /// The settings of a level for the purpose of the recipe. The level decides how thorough the search
    /// for matches is. The recipe keeps its largest window, 8 MiB, and from `Greedy` to `Lazy2` (about
    /// levels 5 to 10) its shortest match: where short matches cost more than they save, a deeper
    /// search for them does harm.
    ///
    /// The level is validated like [`EncoderOptions::level`], when a context is made.
    pub fn options_at_level(self, level: i32, content_bytes: Option<u64>) -> EncoderOptions {
        table::at_level(self, level, content_bytes)
    }

    /// The settings of exzstandard 0.1 under these names: a strategy on top of the parameters of a
    /// level, 3 for `balanced`, 22 for `maximum` and so on. Another level keeps the strategy. `Auto`,
    /// which it did not have, is the same as `Balanced`.
    ///
    /// For frames that must not change. [`Recipe::options`] is better and faster.
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

    /// The recipe that `Auto` uses for content that starts with `first` and has `content_bytes` in total
    /// (`None`: unknown). Never `Auto` or `Maximum`.
    ///
    /// Content without redundancy (already compressed, or random digits) gets `Fast`. Content that is
    /// too short or too uniform to detect gets `Balanced`.
    ///
    /// It examines a sample of at most 16 KiB of the first 128 KiB, which takes some tens of
    /// microseconds. The result is the same for the same bytes on every platform.
    pub fn choose(first: &[u8], content_bytes: Option<u64>) -> Self {
        ContentKind::of(first, content_bytes).recipe()
    }
}
