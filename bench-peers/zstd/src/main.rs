//! perfkit next to the zstd command, over kinds of data, levels, threads and ways: what `cargo xtask peers
//! zstd-sweep` runs.
//!
//! `zstd-peers PERFKIT ZSTD REPOSITORY [--quick] [--kinds NAME,…] [--levels N,…] [--parts sweep,small,large]` prints
//! one JSON object. Both programs take turns, in memory (`/dev/shm`) where there is some. Each cell states, for both,
//! the median of wall and processor time, the largest resident size, and the size of the output. Every output is read
//! back by the other program before anything is timed. Cells that are over the limit after the first pass are
//! measured again, twice as often, because a machine that does other work makes some of them so.

#![forbid(unsafe_code)]

mod cell;
mod data;
#[path = "../../deflate/src/kinds/mod.rs"]
#[allow(dead_code, reason = "only some of the kinds are wanted here")]
mod kinds;
mod run;
mod small;
mod sweep;

use std::path::PathBuf;

use cell::Cell;
use serde::Serialize;

/// What the whole run found.
#[derive(Serialize)]
struct Found {
    cells: Vec<Cell>,
}

/// What is asked for.
pub(crate) struct Options {
    pub(crate) perfkit: PathBuf,
    pub(crate) zstd: PathBuf,
    /// The root of the repository, whose sources are one kind of data.
    pub(crate) repository: PathBuf,
    pub(crate) quick: bool,
    kinds: Vec<String>,
    levels: Vec<i32>,
    parts: Vec<String>,
}

impl Options {
    fn of_arguments() -> Self {
        let mut words = std::env::args().skip(1);
        let mut path = |what: &str| {
            let word = words.next().unwrap_or_else(|| panic!("expected {what}"));
            std::path::absolute(word).expect("a path")
        };
        let mut options = Self {
            perfkit: path("the program perfkit"),
            zstd: path("the program zstd"),
            repository: path("the root of the repository"),
            quick: false,
            kinds: Vec::new(),
            levels: Vec::new(),
            parts: Vec::new(),
        };
        while let Some(word) = words.next() {
            if word == "--quick" {
                options.quick = true;
                continue;
            }
            let value = words.next().unwrap_or_default();
            let list = value.split(',');
            match word.as_str() {
                "--kinds" => options.kinds = list.map(str::to_owned).collect(),
                "--levels" => options.levels = list.filter_map(|n| n.parse().ok()).collect(),
                "--parts" => options.parts = list.map(str::to_owned).collect(),
                other => panic!("unknown argument '{other}'"),
            }
        }
        options
    }

    pub(crate) fn takes_kind(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind)
    }

    pub(crate) fn takes_level(&self, level: i32) -> bool {
        self.levels.is_empty() || self.levels.contains(&level)
    }

    fn takes_part(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| name == part)
    }
}

fn main() {
    let options = Options::of_arguments();
    let mut cells = Vec::new();
    if options.takes_part("small") {
        cells.extend(small::measure(&options));
    }
    if options.takes_part("large") {
        cells.extend(sweep::large(&options));
    }
    if options.takes_part("sweep") {
        cells.extend(sweep::all(&options));
    }
    let found = serde_json::to_string(&Found { cells }).expect("numbers and names");
    println!("{found}");
}
