//! One guard that every command passes before it starts: nothing that is written may be what is
//! read, or be written twice.
//!
//! [`Files`] says what a command line reads and writes; [`refuse`] does the same for jobs, whose
//! targets are known once directories have been walked. A file that exists is known by its device
//! and inode, one that does not by its directory and name: two spellings, a symbolic link or a
//! second mount do not hide that two names are one file. What stands behind standard output and
//! standard error is written, too.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::plan::{Destination, Job};
use crate::target::{display, is_stdout};
use crate::{standard, url};

mod conflict;
mod files;

pub use conflict::Conflict;
pub use files::{Files, Stdout};

type Result<T> = std::result::Result<T, Conflict>;

/// What makes a file itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    /// An existing file, by device and inode.
    Number(u64, u64),
    /// A file that does not exist yet, or one of several hard links: replacing one of those leaves
    /// the others as they are.
    Name(Arc<Path>, OsString),
}

/// What a file is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role<'a> {
    Source(&'a Path),
    /// What frames refer back to, or what else is needed, by the flag that names it.
    Reference(&'static str),
    /// The target of a source.
    Target(&'a Path),
    /// The file of an export, by its flag.
    Export(&'static str),
}

/// A file as a flag names it: the flag and the file.
pub type Flagged<'a> = (&'static str, &'a Path);

/// Refuses jobs, what several of them become, and exports, of which one would overwrite or mix up
/// what another reads or writes. `references` are read, and needed again to read what was written.
pub fn refuse(
    jobs: &[Job],
    joined: Option<&Path>,
    references: &[Flagged<'_>],
    exports: &[Flagged<'_>],
) -> Result<()> {
    let fresh = |job: &Job| match &job.destination {
        Destination::File(path) => path.symlink_metadata().is_err(),
        Destination::Nowhere => true,
        Destination::Stdout | Destination::Joined => false,
    };
    let alone = references.is_empty() && exports.is_empty();
    let mut found = Found {
        fresh: alone && jobs.iter().all(fresh),
        ..Found::default()
    };
    for (flag, path) in references {
        if let Some(identity) = found.named(path) {
            found.roles.insert(identity, Role::Reference(flag));
        }
    }
    for job in jobs {
        if let Some(identity) = found.source(&job.source) {
            found.roles.insert(identity, Role::Source(&job.source));
        }
    }
    if jobs
        .iter()
        .any(|job| job.destination == Destination::Stdout)
    {
        if let Some((flag, _)) = exports.iter().find(|(_, path)| is_stdout(path)) {
            return Err(Conflict::Mixed {
                flag,
                data: "the data",
            });
        }
        let stdout = standard::output().ok().and_then(|file| of_handle(&file));
        let read = jobs.iter().map(|job| job.source.as_path());
        if let Some(source) = stdout.and_then(|stdout| in_place(read, &stdout)) {
            return Err(stream_is_read("standard output", source));
        }
    }
    for job in jobs {
        if let Destination::File(path) = &job.destination {
            found.add(path, Role::Target(&job.source))?;
        }
    }
    if let (Some(path), Some(first)) = (joined, jobs.first()) {
        found.add(path, Role::Target(&first.source))?;
    }
    for (flag, path) in exports {
        found.add(path, Role::Export(flag))?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Found<'a> {
    /// Whether no target exists and nothing else is in question. Then names tell all, without a
    /// look at any source.
    fresh: bool,
    roles: HashMap<Identity, Role<'a>>,
    /// The directory asked for last, and what it is called in full.
    directory: Option<(PathBuf, Arc<Path>)>,
}

impl<'a> Found<'a> {
    /// Takes `path` for `role`, unless it has one.
    fn add(&mut self, path: &'a Path, role: Role<'a>) -> Result<()> {
        let Some(identity) = self.named(path) else {
            return Ok(());
        };
        match self.roles.insert(identity, role) {
            Some(before) => Err(clash(path, before, role)),
            None => Ok(()),
        }
    }

    fn source(&mut self, path: &Path) -> Option<Identity> {
        if path.as_os_str() == "-" {
            return stdin();
        }
        self.named(path)
    }

    fn named(&mut self, path: &Path) -> Option<Identity> {
        if is_stdout(path) {
            return None;
        }
        let local = url::of(path).map(url::local);
        let path = match &local {
            Some(local) => local.as_deref()?,
            None => path,
        };
        if self.fresh {
            return self.name(path);
        }
        match std::fs::metadata(path) {
            Ok(metadata) => self.existing(path, &metadata),
            Err(_) => self.name(path),
        }
    }

    /// Devices and pipes take what several send.
    fn existing(&mut self, path: &Path, metadata: &Metadata) -> Option<Identity> {
        if !metadata.is_file() {
            return None;
        }
        let number = number(metadata).filter(|_| has_one_name(metadata));
        number.or_else(|| self.name(&std::fs::canonicalize(path).ok()?))
    }

    fn name(&mut self, path: &Path) -> Option<Identity> {
        let name = path.file_name()?.to_owned();
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if let Some((asked, whole)) = &self.directory
            && asked == parent
        {
            return Some(Identity::Name(whole.clone(), name));
        }
        let whole: Arc<Path> = std::fs::canonicalize(parent).ok()?.into();
        self.directory = Some((parent.to_owned(), whole.clone()));
        Some(Identity::Name(whole, name))
    }
}

/// A file that is written.
#[derive(Debug)]
pub struct Written {
    name: Option<(OsString, PathBuf)>,
    inode: Option<Identity>,
}

/// What is written to `path`, if it exists already. Standard output is the file that it goes to.
pub fn written(path: &Path) -> Option<Written> {
    if is_stdout(path) {
        let inode = of_handle(&standard::output().ok()?)?;
        return Some(Written {
            name: None,
            inode: Some(inode),
        });
    }
    let whole = std::fs::canonicalize(path).ok()?;
    Some(Written {
        name: Some((path.file_name()?.to_owned(), whole)),
        inode: None,
    })
}

impl Written {
    /// Whether `path` leads to it. A second hard link is a different file if the target is
    /// replaced, and the same file if it is written in place.
    pub fn is(&self, path: &Path) -> bool {
        match (&self.name, &self.inode) {
            (Some((name, whole)), _) => {
                path.file_name() == Some(name)
                    && std::fs::canonicalize(path).is_ok_and(|path| path == *whole)
            }
            (None, written) => written.is_some() && inode(path) == *written,
        }
    }
}

/// The file behind a handle, if it is a regular one.
fn of_handle(file: &File) -> Option<Identity> {
    number(&file.metadata().ok().filter(Metadata::is_file)?)
}

/// The file behind standard input, if it is a regular one.
fn stdin() -> Option<Identity> {
    of_handle(&standard::input().ok()?)
}

/// The regular file that a path leads to (standard input for `-`), whatever other names it has.
fn inode(path: &Path) -> Option<Identity> {
    if path.as_os_str() == "-" {
        return stdin();
    }
    let local = url::of(path).map(url::local);
    let path = match &local {
        Some(local) => local.as_deref()?,
        None => path,
    };
    number(&std::fs::metadata(path).ok().filter(Metadata::is_file)?)
}

/// The first of the files that are read which is `written` in its place, under any hard link.
fn in_place<'p>(mut read: impl Iterator<Item = &'p Path>, written: &Identity) -> Option<&'p Path> {
    read.find(|path| inode(path).as_ref() == Some(written))
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(Identity::Number(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<Identity> {
    None
}

/// Whether a file has no other name.
#[cfg(unix)]
fn has_one_name(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink() == 1
}

#[cfg(not(unix))]
fn has_one_name(_: &Metadata) -> bool {
    false
}

fn stream_is_read(stream: &'static str, source: &Path) -> Conflict {
    Conflict::StreamIsRead {
        stream,
        path: source.to_owned(),
    }
}

fn clash(path: &Path, before: Role<'_>, role: Role<'_>) -> Conflict {
    let path = path.to_owned();
    match (before, role) {
        (Role::Source(source), Role::Target(from)) if source == from => Conflict::Itself { path },
        _ => Conflict::TwoRoles {
            path,
            first: before.words(),
            second: role.words(),
            report: matches!(role, Role::Export(_)),
        },
    }
}

impl Role<'_> {
    fn words(self) -> String {
        match self {
            Self::Source(_) => "a source".to_owned(),
            Self::Target(source) => format!("the target of {}", display(source)),
            Self::Reference(flag) | Self::Export(flag) => format!("the file of {flag}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(dir: &Path, source: &str, target: &str) -> Job {
        Job {
            source: dir.join(source),
            destination: Destination::File(dir.join(target)),
        }
    }

    #[test]
    fn two_roles_of_one_file_are_found_under_any_spelling() {
        let directory = tempfile::tempdir().expect("a directory");
        let dir = directory.path();
        std::fs::create_dir(dir.join("sub")).expect("made");
        for name in ["a", "b"] {
            std::fs::write(dir.join(name), name).expect("written");
        }
        let message = |jobs: &[Job], export: Option<&Path>| {
            let exports: Vec<Flagged<'_>> = export
                .map(|path| ("--export-json", path))
                .into_iter()
                .collect();
            refuse(jobs, None, &[], &exports)
                .expect_err("refused")
                .to_string()
        };
        let same = [job(dir, "a", "x"), job(dir, "b", "sub/../x")];
        assert!(message(&same, None).contains("the target of"));
        let source = [job(dir, "a", "b"), job(dir, "b", "y")];
        assert!(message(&source, None).contains("is a source and the target"));
        assert!(message(&[job(dir, "a", "./a")], None).ends_with("would become itself"));
        let one = [job(dir, "a", "x")];
        assert!(message(&one, Some(&dir.join("sub/../x"))).contains("--export-json"));
        assert!(message(&one, Some(&dir.join("a"))).contains("a source and the file"));
        let apart = [
            job(dir, "a", "x"),
            job(dir, "b", "y"),
            job(dir, "gone", "z"),
        ];
        assert_eq!(
            refuse(&apart, None, &[], &[("--export-json", &dir.join("r"))]),
            Ok(())
        );
    }

    #[cfg(unix)]
    #[test]
    fn names_of_one_file_are_replaced_one_by_one_and_devices_take_all() {
        let directory = tempfile::tempdir().expect("a directory");
        let dir = directory.path();
        std::fs::write(dir.join("x"), "x").expect("written");
        std::fs::hard_link(dir.join("x"), dir.join("y")).expect("linked");
        assert_eq!(
            refuse(&[job(dir, "a", "x"), job(dir, "b", "y")], None, &[], &[]),
            Ok(())
        );
        std::os::unix::fs::symlink("x", dir.join("link")).expect("linked");
        let link = [job(dir, "a", "x"), job(dir, "b", "link")];
        assert!(refuse(&link, None, &[], &[]).is_err());
    }
}
