//! From a recipe to the settings of an encoder.

use super::detect::ContentKind;
use super::purpose::Recipe;
use super::table;
use crate::options::EncoderOptions;
use crate::parameters::{Parameters, Strategy};

impl Recipe {
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
