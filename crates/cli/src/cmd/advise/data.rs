//! What is compressed: the user's files taken together, or generated data that suits the recipe.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use latency::report::Input;
use twox_hash::XxHash64;
use zstdkit::Recipe;
use zstdkit::workload::{self, Kind};

use crate::failure::{Failure, Result};
use crate::session::Outcome;

/// The most that is read of the files together.
const READ_BYTES_MAX: u64 = 256 << 20;
/// Pieces that the largest size can be cut into, so that operations differ.
const PIECES: usize = 2;
/// Where one piece begins after another: odd, so that they do not fall on records.
const STRIDE_BYTES: usize = 10_007;

/// Content for each recipe.
pub(super) struct Data {
    /// One, or one a kind.
    all: Vec<(Option<Kind>, &'static str, Vec<u8>)>,
}

impl Data {
    /// Reads or generates enough for contents of up to `largest` bytes.
    pub(super) fn new(
        files: &[PathBuf],
        seed: u64,
        largest: usize,
        recipes: &[Recipe],
        outcome: &mut Outcome,
    ) -> Result<Self> {
        let mut all = Vec::new();
        if !files.is_empty() {
            all.push((None, "files", read(files, outcome)?));
            return Ok(Self { all });
        }
        let mut kinds: Vec<Kind> = recipes.iter().map(|&recipe| kind(recipe)).collect();
        kinds.sort_by_key(|kind| kind.name());
        kinds.dedup();
        for kind in kinds {
            let bytes = largest * PIECES + STRIDE_BYTES * 64;
            let content = workload::generate(kind, seed, bytes);
            note(outcome, format!("generated:{kind}"), &content);
            all.push((Some(kind), kind.name(), content));
        }
        Ok(Self { all })
    }

    /// The name of the data for a recipe, and the data.
    pub(super) fn of(&self, recipe: Recipe) -> (&'static str, &[u8]) {
        let own = self.all.iter().find(|(of, ..)| *of == Some(kind(recipe)));
        match own.or(self.all.first()) {
            Some((_, name, content)) => (name, content),
            None => ("none", &[]),
        }
    }

    /// The data that is decompressed.
    pub(super) fn any(&self) -> &[u8] {
        self.all.first().map_or(&[], |(.., content)| content)
    }
}

/// The piece of content for one operation, and shorter if there is not as much.
pub(super) fn piece(content: &[u8], nth: usize, bytes: usize) -> &[u8] {
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

fn read(files: &[PathBuf], outcome: &mut Outcome) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    for path in files {
        let before = content.len();
        let room = READ_BYTES_MAX.saturating_sub(before as u64);
        let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
        file.take(room)
            .read_to_end(&mut content)
            .map_err(|error| Failure::io("read", path, &error))?;
        note(
            outcome,
            path.to_string_lossy().into_owned(),
            &content[before..],
        );
    }
    if content.is_empty() {
        return Err(Failure::new("the files hold nothing to compress")
            .help("give other files, or none for generated data"));
    }
    Ok(content)
}

fn note(outcome: &mut Outcome, path: String, content: &[u8]) {
    outcome.bytes_in += content.len() as u64;
    outcome.workload.inputs.push(Input {
        path,
        bytes: content.len() as u64,
        xxh64: Some(format!("{:016x}", XxHash64::oneshot(0, content))),
    });
    outcome.workload.inputs_total += 1;
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
