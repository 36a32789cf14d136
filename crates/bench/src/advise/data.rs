//! What is compressed: one content for all recipes, or generated data that suits the recipe.

use zstdkit::Recipe;
use zstdkit::workload::{self, Kind};

/// Pieces of the largest size in the data, so that operations differ.
const PIECES: usize = 2;
/// Distance between the starts of pieces: odd, so that they do not align with records.
const STRIDE_BYTES: usize = 10_007;

/// Content for each recipe.
#[derive(Debug)]
pub struct Data {
    /// One, or one a kind.
    all: Vec<(Option<Kind>, &'static str, Vec<u8>)>,
}

impl Data {
    /// This content, for every recipe.
    #[must_use]
    pub fn of_files(content: Vec<u8>) -> Self {
        Self {
            all: vec![(None, "files", content)],
        }
    }

    /// Generated data that suits the recipes, enough for contents of up to `largest` bytes.
    #[must_use]
    pub fn generated(seed: u64, largest: usize, recipes: &[Recipe]) -> Self {
        let mut kinds: Vec<Kind> = recipes.iter().map(|&recipe| kind(recipe)).collect();
        if kinds.is_empty() {
            kinds.push(kind(Recipe::Balanced));
        }
        kinds.sort_by_key(|kind| kind.name());
        kinds.dedup();
        let bytes = largest * PIECES + STRIDE_BYTES * 64;
        let all = kinds.into_iter().map(|kind| {
            let content = workload::generate(kind, seed, bytes);
            (Some(kind), kind.name(), content)
        });
        Self { all: all.collect() }
    }

    /// The names of the contents, and the contents.
    pub fn contents(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.all
            .iter()
            .map(|(_, name, content)| (*name, content.as_slice()))
    }

    /// The name of the data for a recipe, and the data.
    pub(crate) fn of(&self, recipe: Recipe) -> (&'static str, &[u8]) {
        let own = self.all.iter().find(|(of, ..)| *of == Some(kind(recipe)));
        match own.or(self.all.first()) {
            Some((_, name, content)) => (name, content),
            None => ("none", &[]),
        }
    }

    /// The data to decompress.
    pub(crate) fn any(&self) -> &[u8] {
        self.all.first().map_or(&[], |(.., content)| content)
    }
}

/// The content of one operation, shorter if there is not enough data.
pub(crate) fn piece(content: &[u8], nth: usize, bytes: usize) -> &[u8] {
    let bytes = bytes.min(content.len());
    let from = nth.wrapping_mul(STRIDE_BYTES) % (content.len() - bytes + 1);
    &content[from..from + bytes]
}

fn kind(recipe: Recipe) -> Kind {
    match recipe {
        Recipe::Text => Kind::Html,
        Recipe::Binary => Kind::Binary,
        _ => Kind::JsonLines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_within_the_content() {
        let content: Vec<u8> = (0..100_u8).collect();
        for nth in [0, 1, 7, usize::MAX] {
            assert_eq!(piece(&content, nth, 30).len(), 30);
            assert_eq!(piece(&content, nth, 1000), content);
        }
        assert_ne!(piece(&content, 0, 30), piece(&content, 1, 30));
    }
}
