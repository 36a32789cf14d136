//! Names on a command line that lead to one file, found before anything is opened for writing.
//!
//! A file that exists is known by its device and number, one that does not by its directory and
//! name: two spellings, a symbolic link or a second mount do not hide that two things are one.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::{Destination, Job};
use super::target::{display, duplicate_stdout, is_stdout};
use crate::failure::{Failure, Result};

/// What makes a file itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    /// An existing file of one name.
    Number(u64, u64),
    /// A file that does not exist yet, or one of several names: those are replaced one by one.
    Name(Arc<Path>, OsString),
}

/// What a file is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role<'a> {
    Source(&'a Path),
    /// What frames refer back to, by the flag that names it.
    Reference(&'static str),
    /// The target of a source.
    Target(&'a Path),
    /// The file of an export, by its flag.
    Export(&'static str),
}

/// A file as a flag names it: the flag and the file.
pub(crate) type Flagged<'a> = (&'static str, &'a Path);

/// Refuses jobs, what several of them become, and exports, of which one would overwrite or mix up
/// what another reads or writes. `references` are read, and needed again to read what was written.
pub(crate) fn refuse(
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
            return Err(Failure::usage(format!(
                "{flag} - would mix the report with the data on standard output"
            ))
            .help(format!("name a file: {flag} FILE")));
        }
        let stdout = duplicate_stdout().ok().and_then(|file| of_handle(&file));
        if let Some(Role::Source(source)) = stdout.and_then(|identity| found.roles.get(&identity)) {
            return Err(Failure::usage(format!(
                "standard output goes to {}, which is also read",
                display(source)
            ))
            .help("send it to another file"));
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

/// Refuses two exports to one file, or both to standard output.
pub(crate) fn refuse_exports(exports: &[Flagged<'_>]) -> Result<()> {
    let mut streams = exports.iter().filter(|(_, path)| is_stdout(path));
    if let (Some((first, _)), Some((second, _))) = (streams.next(), streams.next()) {
        return Err(Failure::usage(format!(
            "{first} and {second} would mix two reports on standard output"
        ))
        .help("name a file for one of them"));
    }
    refuse(&[], None, &[], exports)
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
            let stdin = super::source::duplicate_stdin().ok()?;
            return of_handle(&stdin);
        }
        self.named(path)
    }

    fn named(&mut self, path: &Path) -> Option<Identity> {
        if is_stdout(path) {
            return None;
        }
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
        number(metadata).or_else(|| self.name(&std::fs::canonicalize(path).ok()?))
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

fn of_handle(file: &File) -> Option<Identity> {
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    number(&metadata)
}

/// The number of a file that has but one name.
#[cfg(unix)]
fn number(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.nlink() == 1).then(|| Identity::Number(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<Identity> {
    None
}

fn clash(path: &Path, before: Role<'_>, role: Role<'_>) -> Failure {
    let name = path.display();
    let message = match (before, role) {
        (Role::Source(source), Role::Target(from)) if source == from => {
            format!("'{name}' would become itself")
        }
        _ => format!("'{name}' is {} and {}", before.words(), role.words()),
    };
    Failure::usage(message).help(match role {
        Role::Export(_) => "name another file for the report",
        _ => "name another target with -o, or use separate runs",
    })
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
                .message()
                .to_owned()
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
        assert!(
            refuse_exports(&[("--a", Path::new("-")), ("--b", Path::new("/dev/stdout"))]).is_err()
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
        let null = Path::new("/dev/null");
        assert_eq!(refuse_exports(&[("--a", null), ("--b", null)]), Ok(()));
    }
}
