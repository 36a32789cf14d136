//! The recipes by name. Their settings are in `settings`.

use std::fmt;
use std::str::FromStr;

/// The purpose of compression: what the data is, or what matters about it.
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
#[doc(alias = "preset")]
#[doc(alias = "profile")]
pub enum Recipe {
    /// The least time with a useful ratio.
    Fast,
    /// Little time and a good ratio: for data in transit.
    Balanced,
    /// Machine code and records of numbers.
    Binary,
    /// Markup, prose and source code.
    Text,
    /// JSON, logs, tables: short fields that repeat.
    StructuredData,
    /// The fewest bytes that an 8 MiB window allows, whatever the time.
    Maximum,
    /// One of the others, chosen by the content: [`Recipe::choose`].
    Auto,
}

impl Recipe {
    /// All of them, from the fastest to the smallest output, then `Auto`.
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
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a [`Recipe`].
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
