//! Targets over `zipstream::extract`: any bytes as an archive that is extracted to files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use zipstream::extract::{ExtractOptions, extract_pipe_to, extract_to};
use zipstream::{ArchiveReader, Limits, PipeReader, Profile, ReadOptions};

/// The most content that a target asks for.
const CONTENT_BYTES_MAX: u64 = 1 << 16;

/// Kinds and contents of everything below a folder.
fn tree(folder: &Path, above: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{above}/{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            found.insert(name.clone(), b"a directory".to_vec());
            tree(&entry.path(), &name, found);
        } else if kind.is_symlink() {
            let to = fs::read_link(entry.path()).unwrap_or_default();
            // What it leads to stays below the folder.
            let depth = name.matches('/').count() - 1;
            let up = to
                .components()
                .filter(|part| part.as_os_str() == "..")
                .count();
            assert!(up <= depth && !to.is_absolute(), "{name} leads to {to:?}");
            found.insert(name, to.to_string_lossy().into_owned().into_bytes());
        } else {
            found.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }
}

/// Any bytes as an archive, extracted from a file and from a pipe: nothing is written outside of the
/// target, no link leads out of it, and in the strict profile both give the same tree, or neither is complete.
pub fn zip_extract(data: &[u8]) {
    let Ok(outer) = tempfile::tempdir() else {
        return;
    };
    let limits = Limits::default()
        .entry_bytes(CONTENT_BYTES_MAX)
        .total_bytes(4 * CONTENT_BYTES_MAX)
        .entries(100)
        .window_bytes(1 << 20);
    for profile in [Profile::Default, Profile::Strict] {
        let options = ReadOptions::new().profile(profile).limits(limits);
        let mut trees = Vec::new();
        for piped in [false, true] {
            let target = outer.path().join(format!("{profile}-{piped}"));
            if fs::create_dir(&target).is_err() {
                return;
            }
            let extract = ExtractOptions::default();
            let report = if piped {
                let mut pipe = PipeReader::new(data, &options);
                extract_pipe_to(&mut pipe, &target, &extract).ok()
            } else {
                let reader = ArchiveReader::open_with(data, &options).ok();
                reader.and_then(|reader| extract_to(&reader, &target, &extract).ok())
            };
            let complete = report.is_some_and(|report| report.is_complete());
            let mut found = BTreeMap::new();
            tree(&target, "", &mut found);
            trees.push(complete.then_some(found));
        }
        if let (Profile::Strict, [file, pipe]) = (profile, &trees[..]) {
            assert_eq!(file, pipe, "a file and a pipe differ");
        }
    }
    // Nothing but the four targets.
    let here = fs::read_dir(outer.path()).map_or(4, Iterator::count);
    assert_eq!(here, 4, "something was written next to the targets");
}
