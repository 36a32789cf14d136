//! Extracting into a directory: nothing leaves it, nothing damaged gets a name, and every way of reading
//! gives the same tree.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;
use zipstream::extract::{ExtractOptions, ExtractReport, Failed, extract_pipe_to, extract_to};
use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, PipeReader, ReadOptions};

mod hostile;
mod objects;
mod observed;
mod trees;

const MODIFIED: i64 = 1_700_000_000;

/// An archive of these entries.
fn archive(entries: &[(&str, EntryOptions, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, options, content) in entries {
        let options = options.modified(MODIFIED);
        writer.add(name, &options, &mut &content[..]).unwrap();
    }
    writer.finish().unwrap().0
}

/// The same with a name replaced by one of the same length that no writer would take.
fn renamed(archive: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut renamed = archive.to_vec();
    let mut count = 0;
    for at in 0..=archive.len() - from.len() {
        if &archive[at..at + from.len()] == from.as_bytes() {
            renamed[at..at + from.len()].copy_from_slice(to.as_bytes());
            count += 1;
        }
    }
    assert_eq!(
        count, 2,
        "once before the content and once in the directory"
    );
    renamed
}

fn file() -> EntryOptions {
    EntryOptions::default()
}

/// Both ways to read an archive.
const WAYS: [bool; 2] = [false, true];

fn extract(archive: &[u8], piped: bool, to: &Path, options: &ExtractOptions<'_>) -> ExtractReport {
    if piped {
        let mut pipe = PipeReader::new(archive, &ReadOptions::default());
        return extract_pipe_to(&mut pipe, to, options).unwrap();
    }
    extract_to(&ArchiveReader::open(archive).unwrap(), to, options).unwrap()
}

/// A directory to extract into, in one of its own: whatever leaves it is seen there.
fn nested() -> (TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    (outer, inner)
}

/// What a path is: its content or the target of a link, its permission bits and its time.
#[derive(Debug, PartialEq, Eq)]
enum Node {
    Directory(u32, i64),
    File(Vec<u8>, u32, i64),
    Link(String, i64),
}

fn tree(root: &Path) -> BTreeMap<String, Node> {
    fn walk(at: &Path, name: &str, tree: &mut BTreeMap<String, Node>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            #[cfg(unix)]
            let (mode, modified) = {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.mode() & 0o7777, metadata.mtime())
            };
            #[cfg(not(unix))]
            let (mode, modified) = (0, 0);
            if metadata.is_dir() {
                walk(&path, &name, tree);
                // One that the archive does not state has the time of the run.
                let modified = if modified == MODIFIED { modified } else { 0 };
                tree.insert(name, Node::Directory(mode, modified));
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                let target = target.to_str().unwrap().to_owned();
                tree.insert(name, Node::Link(target, modified));
            } else {
                let content = std::fs::read(&path).unwrap();
                tree.insert(name, Node::File(content, mode, modified));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, "", &mut found);
    found
}

fn names(root: &Path) -> Vec<String> {
    tree(root).into_keys().collect()
}

fn only(report: &ExtractReport) -> &Failed {
    assert_eq!((report.failed, report.failures.len()), (1, 1), "{report:?}");
    &report.failures[0]
}
