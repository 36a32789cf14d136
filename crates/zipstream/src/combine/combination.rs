//! Archives that are combined, and how their entries become new ones.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use super::archive::{NewArchive, Piece};
use super::extents::{self, Extent};
use super::options::{CombineOptions, Duplicates};
use super::record::put_moved;
use crate::entry_kind::EntryKind;
use crate::error::{Error, ErrorKind};
use crate::read::{Directory, Entry};

/// Archives that are combined; see the [module](super).
#[derive(Debug)]
pub struct Combination {
    options: CombineOptions,
    sources: Vec<Arc<Directory>>,
    entries: Vec<Taken>,
    /// Entries by the hashes of their names, with a key of this combination.
    names: HashMap<u64, usize>,
    hasher: RandomState,
    dropped: u64,
}

#[derive(Debug)]
struct Taken {
    source: usize,
    extent: Extent,
    dropped: bool,
}

impl Combination {
    /// Without archives yet.
    pub fn new(options: CombineOptions) -> Self {
        Self {
            options,
            sources: Vec::new(),
            entries: Vec::new(),
            names: HashMap::new(),
            hasher: RandomState::new(),
            dropped: 0,
        }
    }

    /// Adds the entries of an archive, and returns its number. Bytes before its first entry are left out;
    /// bytes between entries that belong to none are copied with the entry before them. The strict profile
    /// refuses archives that have such bytes.
    ///
    /// # Errors
    /// Entries that share bytes or reach into the directory, and names that are there already, unless
    /// [`CombineOptions::duplicates`] says which to take. The combination is of no use then.
    pub fn add(&mut self, directory: Arc<Directory>) -> Result<usize, Error> {
        let source = self.sources.len();
        let extents = extents::of(&directory)?;
        self.sources.push(Arc::clone(&directory));
        for (entry, extent) in directory.iter().zip(extents) {
            let entry = entry?;
            let number = self.entries.len();
            let name = entry.name_lossy();
            let hash = self.hasher.hash_one(name.trim_end_matches('/'));
            let twin = self.names.get(&hash).copied();
            let twin = match twin {
                Some(twin) => self.same_name(twin, &entry)?.map(|kind| (twin, kind)),
                None => None,
            };
            let mut dropped = false;
            match (twin, self.options.duplicates) {
                (None, _) => {
                    self.names.insert(hash, number);
                }
                (Some((_, EntryKind::Directory)), _) if entry.kind() == EntryKind::Directory => {
                    dropped = true;
                }
                (Some(_), Duplicates::First) => dropped = true,
                (Some((twin, _)), Duplicates::Last) => {
                    self.names.insert(hash, number);
                    self.entries[twin].dropped = true;
                    self.dropped += 1;
                }
                (Some((twin, _)), Duplicates::Refuse) => {
                    let other = self.entries[twin].source;
                    let what = match other == source {
                        true => format!("archive {} has two entries of this name", source + 1),
                        false => format!("archives {} and {} have it", other + 1, source + 1),
                    };
                    return Err(Error::new(ErrorKind::Duplicate, what)
                        .entry(name)
                        .help("say whether the first or the last is taken"));
                }
            }
            self.dropped += u64::from(dropped);
            self.entries.push(Taken {
                source,
                extent,
                dropped,
            });
        }
        Ok(source)
    }

    /// Entries that were left out because another has their name.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The kind of an entry that was taken, if it has the name of this one: the hashes alone are equal by
    /// chance only.
    fn same_name(&self, twin: usize, entry: &Entry<'_>) -> Result<Option<EntryKind>, Error> {
        let taken = &self.entries[twin];
        let directory = &self.sources[taken.source];
        let Some(other) = directory.iter_at(taken.extent.position).next() else {
            return Ok(None);
        };
        let other = other?;
        let (other_name, name) = (other.name_lossy(), entry.name_lossy());
        let same = other_name.trim_end_matches('/') == name.trim_end_matches('/');
        Ok(same.then(|| other.kind()))
    }

    /// The new archives: one, or as many as the limits ask for, each complete by itself. Entries keep their
    /// order.
    ///
    /// # Errors
    /// An entry that is larger than an archive may be, or a comment that is too long.
    pub fn finish(self) -> Result<Vec<NewArchive>, Error> {
        let options = &self.options;
        if options.comment.len() > usize::from(u16::MAX) {
            let what = "the comment of the archive is longer than 65535 bytes";
            return Err(Error::new(ErrorKind::Setting, what));
        }
        let most = (options.archive_bytes, options.archive_entries);
        let mut archives = Vec::new();
        let mut open = NewArchive::default();
        let mut record = Vec::new();
        for taken in self.entries.iter().filter(|taken| !taken.dropped) {
            let directory = &self.sources[taken.source];
            let Some(entry) = directory.iter_at(taken.extent.position).next() else {
                return Err(Error::new(ErrorKind::Order, "no record at this position"));
            };
            let entry = entry?;
            let piece = Piece {
                source: taken.source,
                range: taken.extent.range.clone(),
            };
            let bytes = piece.range.end - piece.range.start;
            record.clear();
            put_moved(&mut record, directory, &entry, open.offset())?;
            if !open.fits(bytes, record.len(), most, &options.comment) {
                if !open.is_empty() {
                    archives.push(std::mem::take(&mut open).close(&options.comment));
                    record.clear();
                    put_moved(&mut record, directory, &entry, 0)?;
                }
                if !open.fits(bytes, record.len(), most, &options.comment) {
                    let (most, entries) = most;
                    let what = match entries {
                        0 => "no archive may have entries".to_owned(),
                        _ => format!(
                            "its {bytes} bytes do not fit into an archive of at most {most} bytes"
                        ),
                    };
                    return Err(Error::new(ErrorKind::Limit, what)
                        .entry(entry.name_lossy())
                        .help("allow larger archives"));
                }
            }
            open.records().extend_from_slice(&record);
            open.push(piece, entry.content_bytes());
        }
        if !open.is_empty() || archives.is_empty() {
            archives.push(open.close(&options.comment));
        }
        Ok(archives)
    }
}
