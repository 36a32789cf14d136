//! Writes the seeds of the fuzz targets into `fuzz/corpus/`: few and small, one for each thing
//! that a parser can meet. Inputs that once failed are added by hand beside them.
//!
//! `cargo run -p perfkit-fuzz --example seeds`

#![forbid(unsafe_code)]

mod betree;
mod fix;
mod formats;
mod matcher;
mod numbers;
mod stress;
mod zip;
mod zstd;

use std::fs;
use std::io;
use std::path::Path;

/// One seed: its target, its name and its bytes.
pub(crate) struct Seed {
    target: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
}

impl Seed {
    pub(crate) fn new(target: &'static str, name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            target,
            name,
            bytes: bytes.into(),
        }
    }
}

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let seeds = [
        zstd::seeds(),
        zip::seeds(),
        numbers::seeds(),
        betree::seeds(),
        fix::seeds(),
        matcher::seeds(),
        stress::seeds(),
        formats::seeds(),
    ];
    for seed in seeds.into_iter().flatten() {
        let folder = corpus.join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.name), &seed.bytes)?;
    }
    Ok(())
}
