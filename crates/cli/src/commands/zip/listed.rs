//! Sources of an archive. There may be very many of them, so they are kept in one buffer, with a few bytes
//! in addition to each path.

use std::path::{Path, PathBuf};

use files::url;
use zipstream::EntryKind;

use crate::commands::zip::entry_name::named;

/// A future entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Where it is, a URL of an object included; `-` is standard input.
    pub(super) path: PathBuf,
    /// Its name in the archive.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: EntryKind,
}

impl Source {
    /// Whether a URL names it.
    pub(super) fn is_object(&self) -> bool {
        url::of(&self.path).is_some()
    }

    /// Whether it is read from its start to its end, once.
    pub(super) fn is_stream(&self) -> bool {
        self.path.as_os_str() == "-" || self.is_object()
    }
}

/// Future entries, one after another: the kind, the length of the path, the path. The name is derived from
/// the path.
#[derive(Debug, Default)]
pub(super) struct Listed {
    bytes: Vec<u8>,
    /// Whether names are without directories.
    junk: bool,
}

/// Bytes in addition to each path.
const HEAD_BYTES: usize = 5;

impl Listed {
    /// None yet; with `junk`, names will be without directories.
    pub(super) fn new(junk: bool) -> Self {
        let bytes = Vec::new();
        Self { bytes, junk }
    }

    pub(super) fn push(&mut self, path: &str, kind: EntryKind) {
        self.bytes.push(match kind {
            EntryKind::File => 0,
            EntryKind::Directory => 1,
            EntryKind::Symlink => 2,
        });
        // No path is nearly as long.
        self.bytes
            .extend_from_slice(&(path.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(path.as_bytes());
    }

    /// The entry at this byte, and the position of the next one.
    pub(super) fn at(&self, at: usize) -> Option<(Source, usize)> {
        let (head, rest) = self.bytes.get(at..)?.split_first_chunk::<HEAD_BYTES>()?;
        let [kind, bytes @ ..] = *head;
        let bytes = u32::from_le_bytes(bytes) as usize;
        let path = Path::new(std::str::from_utf8(rest.get(..bytes)?).ok()?);
        let source = Source {
            path: path.to_owned(),
            name: named(path, self.junk).ok()??,
            kind: match kind {
                0 => EntryKind::File,
                1 => EntryKind::Directory,
                _ => EntryKind::Symlink,
            },
        };
        Some((source, at + HEAD_BYTES + bytes))
    }

    /// All entries with their positions.
    pub(super) fn placed(&self) -> impl Iterator<Item = (usize, Source)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let (source, behind) = self.at(next)?;
            Some((std::mem::replace(&mut next, behind), source))
        })
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = Source> {
        self.placed().map(|(_, source)| source)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes the entries that `stays`, called with position and entry, rejects.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(usize, &Source) -> bool) {
        let (mut next, mut kept) = (0, 0);
        while let Some((source, behind)) = self.at(next) {
            if stays(next, &source) {
                self.bytes.copy_within(next..behind, kept);
                kept += behind - next;
            }
            next = behind;
        }
        self.bytes.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_comes_back_but_for_what_is_left_out() {
        let mut listed = Listed::default();
        for (path, kind) in [
            ("./a", EntryKind::File),
            ("dir", EntryKind::Directory),
            ("-", EntryKind::File),
        ] {
            listed.push(path, kind);
        }
        listed.push("link", EntryKind::Symlink);
        listed.retain(|at, source| at > 0 || source.name != "a");
        listed.retain(|_, source| source.kind != EntryKind::Directory);
        let found: Vec<_> = listed
            .iter()
            .map(|source| (source.name, source.kind))
            .collect();
        let expected = [("-", EntryKind::File), ("link", EntryKind::Symlink)];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert!(!listed.is_empty());
        listed.retain(|_, _| false);
        assert!(listed.is_empty() && listed.iter().next().is_none());
    }
}
