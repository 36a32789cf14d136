//! The check: every file has one role, or several that go together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::conflict::Conflict;
use super::files::{Files, Flagged, Stdout};
use super::identity::{Finder, Identity, in_place, of_handle};
use crate::display::display;
use crate::plan::Destination;
use crate::standard;
use crate::target::is_stdout;

type Result<T> = std::result::Result<T, Conflict>;

/// What the archive is called.
const ARCHIVE: &str = "the archive";

/// What a file is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role<'a> {
    /// It goes into an archive, which may be among its sources.
    Packed,
    /// It is read: by the flag that names it, or a word for it.
    Read(&'static str),
    /// It is the source of a job.
    Source(&'a Path),
    /// It is the target of a source.
    Target(&'a Path),
    /// It is written: by the flag that names it, or a word for it.
    Written(&'static str),
}

impl Role<'_> {
    fn words(self) -> String {
        match self {
            Self::Packed | Self::Source(_) => "a source".to_owned(),
            Self::Target(source) => format!("the target of {}", display(source)),
            Self::Read(flag) | Self::Written(flag) if flag.starts_with('-') => {
                format!("the file of {flag}")
            }
            Self::Read(what) | Self::Written(what) => what.to_owned(),
        }
    }
}

/// The files of a run by what makes them themselves, with their roles and names.
#[derive(Debug, Default)]
struct Roles<'a> {
    finder: Finder,
    found: HashMap<Identity, (Role<'a>, &'a Path)>,
}

impl<'a> Roles<'a> {
    /// A file that is read; a role that says more than one before replaces it.
    fn read(&mut self, path: &'a Path, role: Role<'a>) {
        if let Some(identity) = self.finder.source(path) {
            self.found.insert(identity, (role, path));
        }
    }

    /// A file that is written, unless it has another role.
    fn write(&mut self, path: &'a Path, role: Role<'a>) -> Result<()> {
        let Some(identity) = self.finder.named(path) else {
            return Ok(());
        };
        match self.found.insert(identity, (role, path)) {
            None | Some((Role::Packed, _)) if role == Role::Written(ARCHIVE) => Ok(()),
            None => Ok(()),
            Some(before) => Err(conflict(before, role, path)),
        }
    }
}

impl Files<'_> {
    /// Refuses a file that would be read and written, or written twice. Opens nothing.
    ///
    /// # Errors
    /// The first such file.
    pub fn check(&self) -> Result<()> {
        self.check_mixing()?;
        let streams = self.streams();
        for (stream, file) in &streams {
            if let Some(path) = self.read_in_place(file) {
                return Err(Conflict::StreamIsRead {
                    stream,
                    path: path.to_owned(),
                });
            }
        }
        self.check_below()?;
        if self.written.is_empty() && self.archive.is_none() && self.jobs.is_empty() {
            return Ok(());
        }
        let mut roles = Roles {
            finder: Finder::new(self.is_fresh()),
            found: HashMap::new(),
        };
        self.packed
            .iter()
            .for_each(|path| roles.read(path, Role::Packed));
        for (what, path) in &self.read {
            roles.read(path, Role::Read(what));
        }
        for job in self.jobs {
            roles.read(&job.source, Role::Source(&job.source));
        }
        self.write_all(&mut roles)?;
        for (stream, file) in streams {
            match roles.found.get(&file) {
                Some((Role::Written(what), path)) if *what != ARCHIVE => {
                    return Err(Conflict::StreamIsWritten {
                        path: path.to_path_buf(),
                        what,
                        stream,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write_all<'a>(&'a self, roles: &mut Roles<'a>) -> Result<()> {
        for job in self.jobs {
            if let Destination::File(path) = &job.destination {
                roles.write(path, Role::Target(&job.source))?;
            }
        }
        if let (Some(path), Some(first)) = (self.joined, self.jobs.first()) {
            roles.write(path, Role::Target(&first.source))?;
        }
        if let Some(archive) = self.archive {
            roles.write(archive, Role::Written(ARCHIVE))?;
        }
        for (what, path) in &self.written {
            roles.write(path, Role::Written(what))?;
        }
        Ok(())
    }

    /// Whether no target of any job exists, and only jobs are checked.
    fn is_fresh(&self) -> bool {
        let alone = self.read.is_empty()
            && self.packed.is_empty()
            && self.written.is_empty()
            && self.archive.is_none();
        let is_absent = |path: &Path| path.symlink_metadata().is_err();
        let fresh = |destination: &Destination| match destination {
            Destination::File(path) => is_absent(path),
            Destination::Nowhere => true,
            Destination::Stdout | Destination::Joined => false,
        };
        alone
            && self.joined.is_none_or(is_absent)
            && self.jobs.iter().all(|job| fresh(&job.destination))
    }

    /// Refuses to mix two things on standard output.
    fn check_mixing(&self) -> Result<()> {
        let mut exports = self.written.iter().filter(|(_, path)| is_stdout(path));
        let first = exports.next();
        if let (Some((first, _)), Some((second, _))) = (first, exports.next()) {
            return Err(Conflict::TwoReports { first, second });
        }
        match (first, self.stdout, self.archive.is_some_and(is_stdout)) {
            (Some((flag, _)), Stdout::Data, archive) => {
                let data = if archive { "the archive" } else { "the data" };
                Err(Conflict::Mixed { flag, data })
            }
            _ => Ok(()),
        }
    }

    /// The regular files behind the standard streams that this command writes to.
    fn streams(&self) -> Vec<(&'static str, Identity)> {
        let mut streams = Vec::new();
        let of = |file: std::io::Result<std::fs::File>| of_handle(&file.ok()?);
        // What is read is not to be there even where nothing more will be written to it.
        streams.extend(of(standard::output()).map(|file| ("standard output", file)));
        if self.stderr {
            streams.extend(of(standard::error()).map(|file| ("standard error", file)));
        }
        streams
    }

    /// The file that is read of those that a stream writes in their place. An archive leaves out
    /// what it is written to; sources of jobs are looked at if data goes there.
    fn read_in_place(&self, stream: &Identity) -> Option<&Path> {
        let packs_itself = self.archive.is_some();
        let read = self.read.iter().map(|(_, path)| *path);
        let packed = self.packed.iter().copied().filter(|_| !packs_itself);
        let data = self.stdout == Stdout::Data;
        let sources = self.jobs.iter().filter(|_| data);
        let sources = sources.map(|job| job.source.as_path());
        in_place(read.chain(packed).chain(sources), stream)
    }

    /// What is written under a name of its own, and is neither a stream nor a device.
    fn regular(&self) -> impl Iterator<Item = &Flagged<'_>> {
        let regular = |path: &Path| Finder::default().named(path).is_some();
        self.written.iter().filter(move |(_, path)| regular(path))
    }

    /// Refuses to replace a file in a directory of which every file is read.
    fn check_below(&self) -> Result<()> {
        if self.below.is_empty() {
            return Ok(());
        }
        let mut existing: Vec<(&'static str, PathBuf)> = Vec::new();
        for (what, path) in self.regular() {
            existing.extend(std::fs::canonicalize(path).map(|path| (*what, path)));
        }
        if self.stdout != Stdout::Nothing && self.archive.is_none() {
            existing.extend(stdout_path().map(|path| ("standard output", path)));
        }
        for directory in &self.below {
            let Ok(directory) = std::fs::canonicalize(directory) else {
                continue;
            };
            let found = existing
                .iter()
                .find(|(_, path)| path.starts_with(&directory));
            if let Some((what, path)) = found.filter(|_| directory.is_dir()) {
                return Err(Conflict::Overwritten {
                    path: path.clone(),
                    read: "a file of a directory that is read",
                    written: what,
                });
            }
        }
        Ok(())
    }
}

fn conflict((before, read): (Role<'_>, &Path), role: Role<'_>, path: &Path) -> Conflict {
    match (before, role) {
        (Role::Source(source), Role::Target(from)) if source == from => Conflict::Itself {
            path: path.to_owned(),
        },
        (Role::Read(what), Role::Written(written)) => Conflict::Overwritten {
            path: read.to_owned(),
            read: what,
            written,
        },
        (Role::Packed, Role::Written(written)) => Conflict::Overwritten {
            path: read.to_owned(),
            read: "a source",
            written,
        },
        (Role::Written(first), Role::Written(second)) => Conflict::NamedTwice {
            path: path.to_owned(),
            first,
            second,
        },
        _ => Conflict::TwoRoles {
            path: path.to_owned(),
            first: before.words(),
            second: role.words(),
            report: matches!(role, Role::Written(_)),
        },
    }
}

/// The path of the regular file behind standard output, where the system tells.
fn stdout_path() -> Option<PathBuf> {
    let metadata = standard::output().ok()?.metadata().ok()?;
    let path = std::fs::read_link("/proc/self/fd/1").ok()?;
    metadata.is_file().then_some(path)
}
