//! What is extracted, and how.

use std::borrow::Cow;
use std::fmt;
use std::fs::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::Context;
use files::rights::Rights;

use super::objects::Objects;
use super::observer::ExtractObserver;
use crate::crypt::Decryption;
use crate::error::Error;
use crate::name::{self, NameFault};
use crate::read::Entry;

/// Where contents go.
#[non_exhaustive]
pub enum Destination<'a> {
    /// To files in this directory, which is made where there is none.
    Directory(&'a Path),
    /// One after the other to a writer, on one thread.
    Writer(&'a mut (dyn Write + Send)),
    /// To a store, in which each file becomes an object; directories do not, and a link is a failure. Whether an
    /// object may replace another one is up to the store. Not for archives of a pipe, which states last what is a link.
    Objects(&'a dyn Objects),
    /// Nowhere: they are verified.
    Nowhere,
}

impl fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => f.debug_tuple("Directory").field(path).finish(),
            Self::Writer(_) => f.write_str("Writer"),
            Self::Objects(_) => f.write_str("Objects"),
            Self::Nowhere => f.write_str("Nowhere"),
        }
    }
}

/// What happens to files that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Existing {
    /// They are kept, and each is a failure.
    #[default]
    Refuse,
    /// They are kept, and counted.
    Skip,
    /// They are replaced, each when its new content is verified.
    Overwrite,
    /// They are replaced where the archive states a later time; others are kept, and counted. A symbolic link
    /// is older than any entry, whatever it leads to, and is replaced itself. Out of a pipe, whose times may come last, all are kept.
    Older,
    /// The same, and entries that have no file are not extracted.
    Freshen,
}

impl Existing {
    /// Whether a file may take the place of another one.
    pub(super) fn replaces(self) -> bool {
        matches!(self, Self::Overwrite | Self::Older | Self::Freshen)
    }
}

/// What happens to symbolic links of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Links {
    /// Those that lead to a place inside the directory are made; each other one is a failure.
    #[default]
    Inside,
    /// All are made, wherever they lead. Nothing is written through them all the same; who opens one later has to
    /// trust the archive.
    Any,
    /// None is made.
    Skip,
    /// None is made, and each is a failure.
    Refuse,
}

/// What happens to a path that differs from another one of the archive in case only, so that not every
/// file system can hold both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CaseClashes {
    /// It is extracted, and counted.
    #[default]
    Count,
    /// It is a failure.
    Refuse,
}

/// Which of several entries becomes the file of a path that they share. The others are counted
/// ([`repeats`](super::ExtractReport::repeats)). It is a failure in any case where one is a directory, and in the
/// strict profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Repeats {
    /// The last, as of most programs: unzip, 7-Zip, libarchive, Python. It may have been appended to replace the
    /// others. Where files that exist are kept ([`Existing::Skip`](super::Existing::Skip)) it is the first.
    #[default]
    Last,
    /// The first.
    First,
    /// The first, and each other one is a failure.
    Refuse,
}

type Filter<'a> = Box<dyn Fn(&str) -> bool + 'a>;
/// Tells texts from other contents.
pub(super) type IsText<'a> = dyn Fn(&Entry<'_>) -> bool + Sync + 'a;
type EntryFilter<'a> = Box<dyn Fn(&Entry<'_>) -> bool + 'a>;
/// Gives entries other names.
pub(super) type Rename<'a> = dyn Fn(&str) -> Option<String> + Sync + 'a;
/// The moment when a clock showed a local time, both in seconds.
pub(super) type ToUtc = Arc<dyn Fn(i64) -> i64 + Send + Sync>;
type AskPassword<'a> = Box<dyn Fn() -> Result<Option<Decryption>, Error> + 'a>;

/// How an archive is extracted.
///
/// ```
/// use zipstream::extract::{Existing, ExtractOptions, Links};
///
/// let options = ExtractOptions::default()
///     .existing(Existing::Skip)
///     .links(Links::Refuse)
///     .filter(|name| name.ends_with(".txt"));
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct ExtractOptions<'a> {
    pub(super) existing: Existing,
    pub(super) links: Links,
    pub(super) case_clashes: CaseClashes,
    pub(super) repeats: Repeats,
    pub(super) threads: usize,
    pub(super) no_modes: bool,
    pub(super) owners: bool,
    pub(super) no_times: bool,
    pub(super) no_directory_times: bool,
    pub(super) to_utc: Option<ToUtc>,
    pub(super) exact_modes: bool,
    pub(super) special_bits: bool,
    pub(super) rename: Option<Box<Rename<'a>>>,
    pub(super) filter: Option<Filter<'a>>,
    pub(super) entry_filter: Option<EntryFilter<'a>>,
    pub(super) texts: Option<Box<IsText<'a>>>,
    pub(super) observer: Option<&'a dyn ExtractObserver>,
    pub(super) password: Option<AskPassword<'a>>,
    pub(super) rights: Rights,
    pub(super) protected: Vec<PathBuf>,
    pub(super) context: Context,
}

impl fmt::Debug for ExtractOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractOptions")
            .field("existing", &self.existing)
            .field("links", &self.links)
            .field("case_clashes", &self.case_clashes)
            .field("repeats", &self.repeats)
            .field("threads", &self.threads)
            .field("modes", &!self.no_modes)
            .field("times", &!self.no_times)
            .field("filter", &self.filter.is_some())
            .field("observer", &self.observer.is_some())
            .finish_non_exhaustive()
    }
}

impl<'a> ExtractOptions<'a> {
    /// The defaults: existing files are refused, links stay inside, one thread per processor, modes and
    /// times as stated.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens to files that exist.
    #[must_use]
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Sets what happens to symbolic links.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Sets what happens to paths that differ in case only.
    #[must_use]
    pub fn case_clashes(mut self, clashes: CaseClashes) -> Self {
        self.case_clashes = clashes;
        self
    }

    /// Sets which of several entries of one path is extracted.
    #[must_use]
    pub fn repeats(mut self, repeats: Repeats) -> Self {
        self.repeats = repeats;
        self
    }

    /// Sets the number of threads; 0, the default, is one per processor. A pipe is read by one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether files and directories get the permission bits that the archive states, less the
    /// umask. They do by default.
    #[must_use]
    pub fn modes(mut self, modes: bool) -> Self {
        self.no_modes = !modes;
        self
    }

    /// Sets whether modes are those that the archive states, without the umask. They are not by default.
    #[must_use]
    pub fn exact_modes(mut self, exact: bool) -> Self {
        self.exact_modes = exact;
        self
    }

    /// Sets whether files and directories get the set-user-ID, set-group-ID and sticky bits that the archive states.
    /// They do not by default: who may run a set-user-ID file runs it as whoever has extracted it.
    #[must_use]
    pub fn special_bits(mut self, special: bool) -> Self {
        self.special_bits = special;
        self
    }

    /// Sets whether files and directories get the users and groups whose numbers the archive states (field
    /// 0x7875), for which a process mostly needs to be the superuser: an owner that cannot be set is a failure
    /// of its entry. They do not by default. Links and entries that state none belong to who extracts. Does
    /// nothing on systems other than Unix.
    #[must_use]
    pub fn owners(mut self, owners: bool) -> Self {
        self.owners = owners;
        self
    }

    /// Extracts entries under other names, which are checked as those of the archive are; `None` leaves an
    /// entry out. It is called several times per entry, from any thread, and must give the same each time.
    ///
    /// ```
    /// use zipstream::extract::ExtractOptions;
    /// use zipstream::name;
    ///
    /// // Files without their directories.
    /// let options = ExtractOptions::new().rename(|entry| name::file_name(entry).map(str::to_owned));
    /// ```
    #[must_use]
    pub fn rename(mut self, rename: impl Fn(&str) -> Option<String> + Sync + 'a) -> Self {
        self.rename = Some(Box::new(rename));
        self
    }

    /// Sets whether files, directories and links get the modification times that the archive states. They
    /// do by default.
    #[must_use]
    pub fn times(mut self, times: bool) -> Self {
        self.no_times = !times;
        self
    }

    /// Sets whether directories get times where files do. They do by default.
    #[must_use]
    pub fn directory_times(mut self, times: bool) -> Self {
        self.no_directory_times = !times;
        self
    }

    /// Sets where clocks showed the times of entries that state only that: see
    /// [`EntryTime::Local`](crate::EntryTime::Local). By default it is the zone of this system, see
    /// [`local_to_utc`](super::local_to_utc).
    #[must_use]
    pub fn local_times(mut self, to_utc: impl Fn(i64) -> i64 + Send + Sync + 'static) -> Self {
        self.to_utc = Some(Arc::new(to_utc));
        self
    }

    /// Extracts only entries whose name `takes` accepts. It is called once per entry, on the calling
    /// thread.
    #[must_use]
    pub fn filter(mut self, takes: impl Fn(&str) -> bool + 'a) -> Self {
        self.filter = Some(Box::new(takes));
        self
    }

    /// Extracts only entries that `takes` accepts, of those whose names are taken. Unlike
    /// [`filter`](Self::filter) it can tell entries of one name apart. It is called once per entry, on the calling
    /// thread, and not for entries of a pipe, which do not state all that an entry states.
    #[must_use]
    pub fn filter_entries(mut self, takes: impl Fn(&Entry<'_>) -> bool + 'a) -> Self {
        self.entry_filter = Some(Box::new(takes));
        self
    }

    /// Gives files of which `is_text` says so the line ends of Unix ([`UnixLines`](super::UnixLines)), after their
    /// contents are verified. Not for entries of a pipe.
    #[must_use]
    pub fn texts(mut self, is_text: impl Fn(&Entry<'_>) -> bool + Sync + 'a) -> Self {
        self.texts = Some(Box::new(is_text));
        self
    }

    /// Reports entries as they are extracted.
    #[must_use]
    pub fn observer(mut self, observer: &'a dyn ExtractObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Is called before the first encrypted entry of a pipe. An [`ArchiveReader`] has its password
    /// before: see [`set_decryption`].
    ///
    /// [`ArchiveReader`]: crate::ArchiveReader
    /// [`set_decryption`]: crate::ArchiveReader::set_decryption
    #[must_use]
    pub fn password(mut self, ask: impl Fn() -> Result<Option<Decryption>, Error> + 'a) -> Self {
        self.password = Some(Box::new(ask));
        self
    }

    /// Bounds the mode of files for which the archive states none: they are no more readable than the
    /// file that has this metadata, which is the archive.
    #[must_use]
    pub fn readable_as(mut self, archive: &Metadata) -> Self {
        self.rights.narrow(archive);
        self
    }

    /// Never replaces this file, whatever the archive says: it is read meanwhile.
    #[must_use]
    pub fn protect(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
        self
    }

    /// Sets the flag that ends the extraction between two pieces of content, and who hears of temporary
    /// files.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    pub(super) fn takes(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|takes| takes(name)) && self.renamed(name).is_some()
    }

    pub(super) fn takes_entry(&self, entry: &Entry<'_>) -> bool {
        self.entry_filter.as_ref().is_none_or(|takes| takes(entry))
    }

    /// The name under which an entry is extracted.
    pub(super) fn renamed<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        match &self.rename {
            Some(rename) => rename(name).map(Cow::Owned),
            None => Some(Cow::Borrowed(name)),
        }
    }

    /// The path of an entry below the directory.
    pub(super) fn path(&self, name: &str) -> Result<String, NameFault> {
        name::path(&self.renamed(name).ok_or(NameFault::Empty)?)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.context.cancelled().is_set()
    }
}
