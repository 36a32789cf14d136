//! Turns paths into entries, in the order in which they are packed.

use std::collections::{HashMap, HashSet};
use std::fs::FileType;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Component, Path, PathBuf};

use files::conflicts::{self, Written};
use files::rights::Rights;
use files::url;
use walkdir::WalkDir;
use zipstream::{EntryKind, Merge};

use crate::commands::zip::entry_name::{name, named, not_utf8, unchecked};
use crate::commands::zip::flags::Symlinks;
use crate::commands::zip::listed::{Listed, Source};
use crate::commands::zip::plan::{Edit, ZipPlan};
use crate::failure::Failure;

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
    /// The names of what is there and is left out, if entries without a source are to go.
    pub(super) left: HashSet<String>,
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

/// What is to be packed.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Paths of the command line; `-` is standard input. Directories are walked, or refused.
    pub(super) named: Vec<PathBuf>,
    /// Paths of a list. Directories are walked, or entries of their own: `find` lists what is in them, too.
    pub(super) listed: Vec<PathBuf>,
    /// Paths that the archive has entries of. Directories are entries of their own.
    pub(super) held: Vec<PathBuf>,
}

/// What becomes of directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directories {
    Walked,
    Refused,
    /// They become entries, without what is in them.
    Alone,
}

/// Finds everything that is wanted, without the archive that is written to `output`, even if standard
/// output goes to that file.
pub(super) fn find(wanted: &Wanted, plan: &ZipPlan, output: &Path) -> Sources {
    let mut found = Sources {
        sources: Listed::new(plan.junk),
        ..Sources::default()
    };
    let archive = conflicts::written(output);
    let otherwise = |directories| match plan.recursive {
        true => Directories::Walked,
        false => directories,
    };
    let (named, listed) = (
        otherwise(Directories::Refused),
        otherwise(Directories::Alone),
    );
    let mut count = 0;
    for (paths, directories) in [
        (&wanted.named, named),
        (&wanted.listed, listed),
        (&wanted.held, Directories::Alone),
    ] {
        count += paths.len();
        for path in paths {
            if path.as_os_str() == "-" {
                found.sources.push("-", EntryKind::File);
                continue;
            }
            walk(path, directories, plan, archive.as_ref(), &mut found);
        }
    }
    // Below one path all names are different.
    if count > 1 || plan.junk {
        found.refuse_twins();
    }
    found
}

fn walk(
    path: &Path,
    directories: Directories,
    plan: &ZipPlan,
    archive: Option<&Written>,
    found: &mut Sources,
) {
    if let Some(url) = url::of(path) {
        match url::local(url) {
            Some(local) => walk(&local, directories, plan, archive, found),
            None => found.add(path, EntryKind::File, plan, None),
        }
        return;
    }
    // An invalid name makes all names below it invalid.
    if let Err(failure) = name(path) {
        if !is_left_out(path, plan) {
            found.failures.push(failure);
        }
        return;
    }
    let follow = plan.symlinks == Symlinks::Follow;
    let depth = match directories {
        Directories::Walked => usize::MAX,
        Directories::Refused | Directories::Alone => 0,
    };
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
            if directories == Directories::Refused {
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

/// Whether the flags exclude a name that no entry can have: of one that is not text, judged by its readable part.
fn is_left_out(path: &Path, plan: &ZipPlan) -> bool {
    let text = path.to_string_lossy();
    let name = unchecked(Path::new(&*text));
    name.is_ok_and(|name| name.is_some_and(|name| !plan.selection.takes(&name)))
}

/// Whether two paths differ only in how they are written.
fn is_same(one: &Path, other: &Path) -> bool {
    let parts = |path| Path::components(path).filter(|part| *part != Component::CurDir);
    // A link is not what it leads to, but the way to it may be another one.
    let real = |path: &Path| {
        let directory = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(directory.join(path.file_name()?))
    };
    parts(one).eq(parts(other)) || real(one).is_some_and(|one| real(other) == Some(one))
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
        let taken = wanted
            .as_ref()
            .is_some_and(|name| plan.selection.takes(name));
        self.leave(wanted, plan);
        if !taken {
            return;
        }
        let what = special(kind);
        if named {
            let name = path.display();
            let failure = Failure::new(format!("'{name}' is {what}, which is not packed"));
            let help = format!("to pack its content, name - in its place and add < '{name}'");
            self.failures.push(failure.help(help));
            return;
        }
        self.specials += 1;
        if self.special.len() < SPECIALS_NAMED {
            let path = path.to_owned();
            self.special.push(Special { path, what });
        }
    }

    /// Remembers the name of something that is left out.
    fn leave(&mut self, name: Option<String>, plan: &ZipPlan) {
        if plan.edit == Some(Edit::Merge(Merge::Sync)) {
            self.left.extend(name);
        }
    }

    fn add(&mut self, path: &Path, kind: EntryKind, plan: &ZipPlan, archive: Option<&Written>) {
        let wanted = match kind {
            EntryKind::Directory => plan.directories && !plan.junk,
            EntryKind::Symlink => plan.symlinks == Symlinks::Store,
            EntryKind::File => true,
        };
        if !wanted {
            return;
        }
        let name = match named(path, plan.junk) {
            Ok(Some(name)) => name,
            // The directory that contains all names.
            Ok(None) => return,
            Err(_) if is_left_out(path, plan) => return,
            Err(failure) => return self.failures.push(failure),
        };
        // Patterns mean whole names, with -j too.
        let whole = if plan.junk {
            self::name(path)
        } else {
            Ok(None)
        };
        let whole = whole.ok().flatten();
        let whole = whole.as_ref().unwrap_or(&name);
        let taken = match kind {
            EntryKind::Directory => plan.selection.takes_directory(whole),
            EntryKind::File | EntryKind::Symlink => plan.selection.takes(whole),
        };
        if !taken {
            return self.leave(Some(name), plan);
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
