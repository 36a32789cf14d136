//! Where contents go, for one thread: files below a directory, objects of a store, a writer, or nowhere.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use files::beneath::{Attributes, Beneath, Held, Placed, leads_out};

use super::objects::Objects;
use super::options::{Destination, Existing, ExtractOptions, Links, ToUtc};
use super::reason::Reason;
use super::report::{ExtractReport, Failed};
use super::writing::{Pieces, Writing};
use super::zone::local_to_utc;
use crate::entry_kind::EntryKind;
use crate::entry_time::EntryTime;
use crate::error::{Error, ErrorKind};
use crate::name::{of_bytes, system_path};
use crate::read::Entry;

/// Longer than any path that a system takes.
pub(super) const LINK_BYTES_MAX: u64 = 4096;
/// Systems whose attributes have the read-only bit of DOS: DOS, OS/2, Windows and its file systems, and those that have
/// no modes of their own.
const SYSTEMS_LIKE_DOS: [u8; 10] = [0, 4, 6, 7, 8, 9, 10, 11, 14, 15];
/// Content up to this comes in one piece and is written at once.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// Where contents go.
pub(super) enum Place<'d> {
    Nowhere,
    Writer(&'d mut (dyn Write + Send)),
    Directory(Directory),
    Store(Store<'d>),
}

/// A store of objects.
#[derive(Clone, Copy)]
pub(super) struct Store<'d> {
    objects: &'d dyn Objects,
    existing: Existing,
}

/// A directory that nothing leaves, and what is done to it.
pub(super) struct Directory {
    pub(super) root: Beneath,
    existing: Existing,
    links: Links,
    modes: bool,
    owners: bool,
    directory_times: bool,
    /// If files get times.
    to_utc: Option<ToUtc>,
}

impl<'d> Place<'d> {
    /// Opens the destination.
    pub(super) fn open(
        destination: Destination<'d>,
        options: &ExtractOptions<'_>,
    ) -> Result<Self, Error> {
        Ok(match destination {
            Destination::Nowhere => Self::Nowhere,
            Destination::Writer(writer) => Self::Writer(writer),
            Destination::Directory(path) => Self::Directory(Directory::open(path, options)?),
            Destination::Objects(objects) => Self::Store(Store {
                objects,
                existing: options.existing,
            }),
        })
    }

    /// The same place for another thread; `None` where only one can write.
    pub(super) fn another(&self) -> Option<Place<'d>> {
        match self {
            Self::Nowhere => Some(Place::Nowhere),
            Self::Writer(_) => None,
            Self::Directory(directory) => Some(Place::Directory(Directory {
                root: directory.root.another(),
                to_utc: directory.to_utc.clone(),
                ..*directory
            })),
            Self::Store(store) => Some(Place::Store(*store)),
        }
    }

    /// Whether each content has a path of its own.
    pub(super) fn has_paths(&self) -> bool {
        matches!(self, Self::Directory(_) | Self::Store(_))
    }

    /// Whether there are no links and no directories.
    pub(super) fn is_store(&self) -> bool {
        matches!(self, Self::Store(_))
    }

    /// Whether an entry is extracted to this path, as far as times of files that exist decide it.
    pub(super) fn wants(&mut self, path: &str, entry: &Entry<'_>) -> bool {
        match self.directory() {
            Some(directory) => directory.wants(path, entry),
            None => true,
        }
    }

    /// The directory that files go to, if they do.
    pub(super) fn directory(&mut self) -> Option<&mut Directory> {
        match self {
            Self::Directory(directory) => Some(directory),
            Self::Nowhere | Self::Writer(_) | Self::Store(_) => None,
        }
    }

    /// Starts a file at `path` for content of `bytes`, if that is known.
    pub(super) fn start<'a>(
        &'a mut self,
        path: &'a str,
        bytes: Option<u64>,
        attributes: Attributes,
    ) -> Result<Writing<'a>, Reason> {
        match self {
            Self::Nowhere => Ok(Writing::Nowhere),
            Self::Writer(writer) => Ok(Writing::Writer(&mut **writer)),
            Self::Directory(directory) => {
                let root = &mut directory.root;
                if bytes.is_some_and(|bytes| bytes <= WHOLE_BYTES_MAX) {
                    return Ok(Writing::Whole {
                        root,
                        path,
                        attributes,
                        placed: None,
                    });
                }
                let part = root.part(system_path(path)).map_err(Reason::Write)?;
                Ok(Writing::Pieces(Box::new(Pieces { part, attributes })))
            }
            Self::Store(store) => match store.objects.start(path).map_err(Reason::Write)? {
                Some(object) => Ok(Writing::Object(object)),
                None => Ok(Writing::Kept),
            },
        }
    }

    /// Counts a file that existed, or says that none may.
    pub(super) fn placed(&self, placed: Placed, report: &mut ExtractReport) -> Result<(), Reason> {
        match self {
            Self::Directory(directory) => directory.placed(placed, report),
            Self::Store(store) => count(placed, store.existing, report),
            Self::Nowhere | Self::Writer(_) => Ok(()),
        }
    }
}

impl Directory {
    fn open(path: &Path, options: &ExtractOptions<'_>) -> Result<Self, Error> {
        let overwrites = options.existing.replaces();
        let root = Beneath::open(path, overwrites, &options.context).map_err(|error| {
            let reason = files::reason(&error);
            let what = format!("cannot write '{}': {reason}", path.display());
            Error::new(ErrorKind::Io(error.kind()), what)
        })?;
        let protected: Vec<&Path> = options.protected.iter().map(|path| &**path).collect();
        let mut root = root.sparing(&protected);
        root.bound(&options.rights);
        if options.exact_modes {
            root.keep_modes();
        }
        if options.special_bits {
            root.keep_special_bits();
        }
        Ok(Self {
            root,
            existing: options.existing,
            links: options.links,
            modes: !options.no_modes,
            owners: options.owners,
            directory_times: !options.no_directory_times,
            to_utc: (!options.no_times).then(|| match &options.to_utc {
                Some(to_utc) => Arc::clone(to_utc),
                None => Arc::new(local_to_utc),
            }),
        })
    }

    /// Counts a file that existed, or says that none may.
    pub(super) fn placed(&self, placed: Placed, report: &mut ExtractReport) -> Result<(), Reason> {
        count(placed, self.existing, report)
    }

    /// Whether an entry is extracted to this path, as far as times of files that exist decide it. Directories
    /// are made wherever something may be made.
    pub(super) fn wants(&mut self, path: &str, entry: &Entry<'_>) -> bool {
        let freshens = match self.existing {
            Existing::Older => false,
            Existing::Freshen => true,
            _ => return true,
        };
        if entry.kind() == EntryKind::Directory {
            return !freshens;
        }
        match self.root.held(system_path(path)).unwrap_or(None) {
            None => !freshens,
            Some(Held::Link) => true,
            // Whole seconds, as most archives state them.
            Some(Held::Since(held)) => self
                .time_of(entry.time())
                .is_some_and(|stated| seconds(stated) > seconds(held)),
        }
    }

    /// Whether files that are not there are not made.
    pub(super) fn only_older(&self) -> bool {
        self.existing == Existing::Freshen
    }

    /// The properties of an entry that its file gets.
    pub(super) fn attributes(&self, entry: &Entry<'_>) -> Attributes {
        Attributes {
            mode: entry
                .mode()
                .or_else(|| self.mode_of_dos(entry))
                .filter(|_| self.modes),
            modified: self.time(entry.time()),
            owner: entry
                .owner()
                .filter(|_| self.owners)
                .map(|owner| (owner.user, owner.group)),
        }
    }

    /// The mode of a file that a system without modes has marked as read-only.
    fn mode_of_dos(&self, entry: &Entry<'_>) -> Option<u32> {
        let [_, system] = entry.made_by().to_le_bytes();
        let marked = SYSTEMS_LIKE_DOS.contains(&system) && entry.external_attributes() & 1 != 0;
        // Many directories of Windows have the mark, where it means something else.
        let is_file = entry.kind() == EntryKind::File;
        (marked && is_file).then(|| self.root.unstated() & !0o222)
    }

    /// The time of a file whose mode comes later: until then it is its owner's alone.
    pub(super) fn first_attributes(&self, time: EntryTime) -> Attributes {
        Attributes {
            mode: Some(MODE_UNTIL_KNOWN),
            modified: self.time(time),
            owner: None,
        }
    }

    /// The time of a file that was modified then, if it gets one and the system has such times.
    fn time(&self, time: EntryTime) -> Option<SystemTime> {
        self.to_utc.as_ref().and_then(|_| self.time_of(time))
    }

    /// The same for a comparison, which needs it in any case.
    fn time_of(&self, time: EntryTime) -> Option<SystemTime> {
        let seconds = time.seconds_utc(|local| match &self.to_utc {
            Some(to_utc) => to_utc(local),
            None => local_to_utc(local),
        });
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let start = match seconds < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(whole),
            false => SystemTime::UNIX_EPOCH.checked_add(whole),
        };
        start?.checked_add(Duration::from_nanos(time.nanoseconds().into()))
    }

    /// What a file that had [`first_attributes`](Self::first_attributes) gets.
    pub(super) fn last_attributes(&self, entry: &Entry<'_>) -> Attributes {
        let mut attributes = self.attributes(entry);
        attributes.mode.get_or_insert(self.root.unstated());
        attributes
    }

    /// Whether a file of this name exists and is to be kept, so that nothing of it is decoded.
    pub(super) fn keeps(&mut self, path: &str) -> bool {
        let keeps = matches!(
            self.existing,
            Existing::Skip | Existing::Older | Existing::Freshen
        );
        keeps && self.root.exists(system_path(path)).unwrap_or(false)
    }

    /// Whether links are looked at at all; if not, one is counted.
    pub(super) fn makes_links(&self, name: &str, report: &mut ExtractReport) -> bool {
        match self.links {
            Links::Inside | Links::Any => return true,
            Links::Skip => report.links_skipped += 1,
            Links::Refuse => {
                let why = "links are not wanted".to_owned();
                report.fail(Failed::new(name, Reason::Link(why)));
            }
        }
        false
    }

    /// Makes a symbolic link, if it stays below the root.
    pub(super) fn link(
        &mut self,
        path: &str,
        content: &[u8],
        time: EntryTime,
    ) -> Result<Placed, Reason> {
        let modified = self.time(time);
        let refused = |why: &str| Err(Reason::Link(why.to_owned()));
        if content.len() as u64 > LINK_BYTES_MAX {
            return refused(&too_long());
        }
        let target = of_bytes(content);
        let root = &mut self.root;
        if self.links == Links::Any {
            if content.is_empty() || content.contains(&0) {
                return refused("it leads to no path");
            }
        } else if let Some(why) =
            leads_out(path, &target, |path| root.is_directory(system_path(path)))
        {
            return refused(&why);
        }
        root.link(system_path(path), system_path(&target), modified)
            .map_err(Reason::Write)
    }

    /// Sets modes and times of directories, which writing into them would change; the deepest first, for
    /// a mode may close a directory.
    pub(super) fn finish(&mut self, mut directories: Vec<(String, Attributes)>) {
        directories.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        for (path, mut attributes) in directories {
            if !self.directory_times {
                attributes.modified = None;
            }
            // A directory that was there before may be another's.
            let _ = self.root.set_directory(system_path(&path), attributes);
        }
    }
}

/// Counts what existed, or says that nothing may.
fn count(placed: Placed, existing: Existing, report: &mut ExtractReport) -> Result<(), Reason> {
    match (placed, existing) {
        (Placed::Kept, Existing::Refuse) => return Err(Reason::Exists),
        (Placed::Kept, _) => report.kept += 1,
        (Placed::Done, _) => {}
    }
    Ok(())
}

/// Whole seconds since 1970.
fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            -whole - i64::from(before.subsec_nanos() > 0)
        }
    }
}

/// The mode of a file whose own mode comes later.
const MODE_UNTIL_KNOWN: u32 = 0o600;

/// Why a link with such a target is not made.
pub(super) fn too_long() -> String {
    format!("it leads to a path of more than {LINK_BYTES_MAX} bytes")
}
