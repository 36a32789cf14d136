//! The contents: generated ones, and two that are real: sources and machine code of this repository.

use std::fs;
use std::path::Path;

use zstdkit::workload::{Kind as Workload, generate};

use crate::Options;
use crate::kinds::KINDS;

const SEED: u64 = 20_261_125;

/// Names of all kinds. Recipes of zstdkit were tuned on generators of the first three; not on the others.
pub(crate) const NAMES: [&str; 11] = [
    "json-logs",
    "html",
    "access-log",
    "csv",
    "sql",
    "prose",
    "records",
    "real-source",
    "real-program",
    "zeros",
    "random",
];

/// A content of this kind and size.
pub(crate) fn make(options: &Options, name: &str, bytes: usize) -> Vec<u8> {
    match name {
        "real-source" => sources(&options.repository, bytes),
        "real-program" => repeated(fs::read(&options.perfkit).expect("the program"), bytes),
        // Far quicker than the generator of the sweep of deflate, which asks for a byte at a time.
        "random" => generate(Workload::Random, SEED, bytes),
        _ => {
            let kind = KINDS.iter().find(|kind| kind.name == name);
            (kind.expect("a known kind").make)(SEED, bytes)
        }
    }
}

/// Rust sources of the repository, in order of their names.
fn sources(repository: &Path, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut left = vec![repository.join("crates")];
    while let Some(folder) = left.pop() {
        let entries = fs::read_dir(&folder).expect("a folder");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                all.extend(fs::read(&path).expect("a source"));
            }
        }
    }
    repeated(all, bytes)
}

/// Cut, or turned around and appended until there is enough: a plain copy would be one match.
fn repeated(mut content: Vec<u8>, bytes: usize) -> Vec<u8> {
    let mut part = content.clone();
    while content.len() < bytes && !part.is_empty() {
        part.reverse();
        content.extend(&part);
        part.iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
    }
    content.truncate(bytes);
    content
}
