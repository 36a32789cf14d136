//! Turns paths into entries, in the order in which they are packed.
//!
//! There may be very many of them, so they are kept in one buffer, with a few bytes in addition to each
//! path.

use std::collections::{HashMap, HashSet};
use std::fs::FileType;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Component, Path, PathBuf};

use files::conflicts::{self, Written};
use files::rights::Rights;
use walkdir::WalkDir;
use zipstream::EntryKind;

use crate::commands::zip::flags::{Symlinks, ZipPlan};
use crate::failure::{Failure, Result};

/// A future entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Where it is; `-` is standard input.
    pub(super) path: PathBuf,
    /// Its name in the archive.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: EntryKind,
}

/// Future entries, one after another: the kind, the length of the path, the path. The name is derived from
/// the path.
#[derive(Debug, Default)]
pub(super) struct Listed {
    bytes: Vec<u8>,
}

/// Bytes in addition to each path.
const HEAD_BYTES: usize = 5;

impl Listed {
    fn push(&mut self, path: &str, kind: EntryKind) {
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
    fn at(&self, at: usize) -> Option<(Source, usize)> {
        let (head, rest) = self.bytes.get(at..)?.split_first_chunk::<HEAD_BYTES>()?;
        let [kind, bytes @ ..] = *head;
        let bytes = u32::from_le_bytes(bytes) as usize;
        let path = Path::new(std::str::from_utf8(rest.get(..bytes)?).ok()?);
        let source = Source {
            path: path.to_owned(),
            name: name(path).ok()??,
            kind: match kind {
                0 => EntryKind::File,
                1 => EntryKind::Directory,
                _ => EntryKind::Symlink,
            },
        };
        Some((source, at + HEAD_BYTES + bytes))
    }

    /// All entries with their positions.
    fn placed(&self) -> impl Iterator<Item = (usize, Source)> {
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

/// The sources, and paths that could not be sources.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) sources: Listed,
    pub(super) failures: Vec<Failure>,
    /// Who may enter directories that are not entries.
    pub(super) rights: Rights,
    /// The first things that a walk skipped because they are neither file, directory nor link.
    pub(super) special: Vec<Special>,
    /// The number of such things.
    pub(super) specials: u64,
    /// Whether the archive itself was left out.
    pub(super) itself: bool,
}

/// Something that has no content to pack.
#[derive(Debug)]
pub(super) struct Special {
    pub(super) path: PathBuf,
    /// What it is, with its article.
    pub(super) what: &'static str,
}

/// How many skipped things are named; the rest is counted.
const SPECIALS_NAMED: usize = 100;

/// Finds everything that `paths` name, without the archive that is written to `output`, even if standard
/// output goes to that file.
pub(super) fn find(paths: &[PathBuf], plan: &ZipPlan, output: &Path) -> Sources {
    let mut found = Sources::default();
    let archive = conflicts::written(output);
    for path in paths {
        if path.as_os_str() == "-" {
            found.sources.push("-", EntryKind::File);
            continue;
        }
        walk(path, plan, archive.as_ref(), &mut found);
    }
    // Below one path all names are different.
    if paths.len() > 1 {
        found.refuse_twins();
    }
    found
}

fn walk(path: &Path, plan: &ZipPlan, archive: Option<&Written>, found: &mut Sources) {
    // An invalid name makes all names below it invalid.
    if let Err(failure) = name(path) {
        if !is_left_out(path, plan) {
            found.failures.push(failure);
        }
        return;
    }
    let follow = plan.symlinks == Symlinks::Follow;
    let depth = if plan.recursive { usize::MAX } else { 0 };
    let walk = WalkDir::new(path)
        .follow_links(follow)
        .follow_root_links(follow)
        .max_depth(depth)
        .sort_by_file_name();
    for step in walk {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => {
                found.failures.push(unreadable(path, error));
                continue;
            }
        };
        let kind = entry.file_type();
        let kind = if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            if !plan.recursive {
                let name = entry.path().display();
                found.failures.push(
                    Failure::new(format!("'{name}' is a directory"))
                        .help("add -r to pack its content"),
                );
                continue;
            }
            if !plan.directories
                && let Ok(metadata) = entry.metadata()
            {
                found.rights.narrow(&metadata);
            }
            EntryKind::Directory
        } else if kind.is_symlink() {
            if let Some(kind) = unnamed(entry.path()).filter(|_| entry.depth() == 0) {
                found.pass_over(entry.path(), kind, true, plan);
                continue;
            }
            EntryKind::Symlink
        } else {
            found.pass_over(entry.path(), kind, entry.depth() == 0, plan);
            continue;
        };
        found.add(entry.path(), kind, plan, archive);
    }
}

/// What a link leads to, if that is neither file nor directory and has no name of its own, such as a pipe
/// of a shell (`/dev/fd/63`): as an entry, the link would be broken.
fn unnamed(link: &Path) -> Option<FileType> {
    let kind = std::fs::metadata(link).ok()?.file_type();
    let special = !kind.is_file() && !kind.is_dir();
    let named = || std::fs::canonicalize(link).is_ok_and(|path| path.exists());
    (special && !named()).then_some(kind)
}

/// Whether the flags exclude a name that is not text, judged by its readable part.
fn is_left_out(path: &Path, plan: &ZipPlan) -> bool {
    let text = path.to_string_lossy();
    let name = name(Path::new(&*text));
    name.is_ok_and(|name| name.is_some_and(|name| !plan.selection.takes(&name)))
}

/// Whether two paths differ only in how they are written.
fn is_same(one: &Path, other: &Path) -> bool {
    let parts = |path| Path::components(path).filter(|part| *part != Component::CurDir);
    parts(one).eq(parts(other))
}

/// Describes something that is neither file, directory nor link.
fn special(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    let _ = kind;
    "no regular file"
}

impl Sources {
    /// Leaves out what has no content: on the command line it is a failure, elsewhere only reported.
    fn pass_over(&mut self, path: &Path, kind: FileType, named: bool, plan: &ZipPlan) {
        let wanted = name(path).ok().flatten();
        if !wanted.is_some_and(|name| plan.selection.takes(&name)) {
            return;
        }
        let what = special(kind);
        if named {
            let name = path.display();
            let failure = Failure::new(format!("'{name}' is {what}, which is not packed"));
            self.failures
                .push(failure.help(format!("pipe its content in: perfkit zip OUT - < '{name}'")));
            return;
        }
        self.specials += 1;
        if self.special.len() < SPECIALS_NAMED {
            let path = path.to_owned();
            self.special.push(Special { path, what });
        }
    }

    fn add(&mut self, path: &Path, kind: EntryKind, plan: &ZipPlan, archive: Option<&Written>) {
        let wanted = match kind {
            EntryKind::Directory => plan.directories,
            EntryKind::Symlink => plan.symlinks == Symlinks::Store,
            EntryKind::File => true,
        };
        if !wanted {
            return;
        }
        let name = match name(path) {
            Ok(Some(name)) => name,
            // The directory that contains all names.
            Ok(None) => return,
            Err(_) if is_left_out(path, plan) => return,
            Err(failure) => return self.failures.push(failure),
        };
        if !plan.selection.takes(&name) {
            return;
        }
        if kind == EntryKind::File && archive.is_some_and(|archive| archive.is(path)) {
            self.itself = true;
            return;
        }
        match path.to_str() {
            Some(path) => self.sources.push(path, kind),
            None => self.failures.push(not_utf8(path)),
        }
    }

    /// Removes sources whose entry would have the name of another one.
    fn refuse_twins(&mut self) {
        // The position of the first source of each name, by a hash of the name.
        let (hasher, mut names) = (RandomState::new(), HashMap::new());
        let mut twins = HashSet::new();
        for (at, source) in self.sources.placed() {
            let first = *names.entry(hasher.hash_one(&source.name)).or_insert(at);
            if let Some((first, _)) = self.sources.at(first).filter(|_| first != at)
                && first.name == source.name
            {
                twins.insert(at);
                // A path that is named twice is packed once.
                if !is_same(&first.path, &source.path) {
                    self.failures.push(both(&source, &first));
                }
            }
        }
        self.sources.retain(|at, _| !twins.contains(&at));
    }
}

fn both(source: &Source, first: &Source) -> Failure {
    let (path, first, name) = (source.path.display(), first.path.display(), &source.name);
    let what = format!("'{path}' and '{first}' would both be entry '{name}'");
    Failure::new(what).help("pack them from a directory that contains both")
}

fn not_utf8(path: &Path) -> Failure {
    let path = path.display();
    Failure::new(format!("the name of '{path}' is not UTF-8"))
        .help("rename it, or leave it out with -x")
}

/// The entry name of a path, without parts that only say where it starts. `None` if nothing is left.
fn name(path: &Path) -> Result<Option<String>> {
    let mut name = String::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                return Err(Failure::new(format!(
                    "'{}' is outside of the current directory, and entry names cannot contain '..'",
                    path.display()
                ))
                .help("change to a directory above it first"));
            }
            Component::Normal(part) => {
                let Some(part) = part.to_str() else {
                    return Err(not_utf8(path));
                };
                if !name.is_empty() {
                    name.push('/');
                }
                name.push_str(part);
            }
        }
    }
    Ok((!name.is_empty()).then_some(name))
}

fn unreadable(root: &Path, error: walkdir::Error) -> Failure {
    let path = error.path().unwrap_or(root).to_owned();
    if error.loop_ancestor().is_some() {
        return Failure::new(format!(
            "'{}' is a link to a directory that contains it",
            path.display()
        ))
        .help("without --symlinks follow, links are stored");
    }
    match error.into_io_error() {
        Some(error) => Failure::io("read", &path, &error),
        None => Failure::new(format!("cannot read '{}'", path.display())),
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

    #[test]
    fn names_do_not_say_where_they_start() {
        let name = |path: &str| name(Path::new(path)).unwrap();
        assert_eq!(name("./a//b/"), Some("a/b".to_owned()));
        assert_eq!(name("/etc/passwd"), Some("etc/passwd".to_owned()));
        assert_eq!(name("."), None);
        assert!(super::name(Path::new("a/../b")).is_err());
    }
}
