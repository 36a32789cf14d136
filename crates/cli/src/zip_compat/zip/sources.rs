//! The files that a command line means, with the names of their entries.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use files::conflicts::{self, Written};
use walkdir::WalkDir;
use zipstream::name::dos_part;
use zipstream::{EntryKind, FileVersion};

use crate::failure::Failure;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::zip::flags::{Line, Walk};
use crate::zip_compat::zip::warnings;

/// A file that may be packed.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The name of its entry; of a directory, with `/` at the end.
    pub(super) name: String,
    /// Where it is; `-` is standard input.
    pub(super) path: PathBuf,
    pub(super) kind: EntryKind,
    pub(super) version: FileVersion,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    /// Items by the names of their entries.
    pub(super) by_name: HashMap<String, usize>,
    /// The number of files that are left out for their names.
    pub(super) unnamed: u64,
    /// The number of files and directories that could not be looked at.
    pub(super) unseen: u64,
}

impl Found {
    /// Whether an entry without a file here has none at all.
    pub(super) fn is_whole(&self) -> bool {
        self.unnamed == 0 && self.unseen == 0
    }
}

/// Finds the files of a command line. `held` are the names of an archive that is changed.
pub(super) fn find(
    line: &mut Line,
    names: &[OsString],
    archive: &Path,
    held: &[String],
) -> Ended<Found> {
    let mut finder = Finder {
        archive: conflicts::written(archive),
        found: Found::default(),
        ends: Patterns::default(),
        line,
    };
    if finder.line.walk == Walk::Patterns {
        for name in names {
            finder
                .ends
                .add(name)
                .map_err(|failure| Stop::new(code::USAGE, failure))?;
        }
        finder.walk(Path::new("."))?;
        return Ok(finder.found);
    }
    for name in names {
        finder.named(Path::new(name), held)?;
    }
    Ok(finder.found)
}

struct Finder<'a> {
    line: &'a mut Line,
    archive: Option<Written>,
    found: Found,
    /// What the ends of names match, if directories are walked by patterns.
    ends: Patterns,
}

impl Finder<'_> {
    /// A name of the command line.
    fn named(&mut self, path: &Path, held: &[String]) -> Ended<()> {
        if path.as_os_str() == "-" {
            let version = FileVersion {
                modified: jiff::Timestamp::now().as_second(),
                bytes: 0,
                directory: false,
            };
            return self.add("-".to_owned(), path.to_owned(), EntryKind::File, version);
        }
        let Some(metadata) = self.look(path) else {
            return self.by_archive(path, held);
        };
        if metadata.is_dir() && self.line.walk == Walk::Paths {
            return self.walk(path);
        }
        self.file(path, &metadata)
    }

    /// What a path leads to; links are followed unless they are packed.
    fn look(&self, path: &Path) -> Option<Metadata> {
        match self.line.links {
            true => path.symlink_metadata().ok(),
            false => path.metadata().ok(),
        }
    }

    /// A name that is no file may be a pattern for entries of the archive, whose files are meant.
    fn by_archive(&mut self, path: &Path, held: &[String]) -> Ended<()> {
        let mut pattern = Patterns::default();
        let mut met = false;
        if pattern.add(path.as_os_str()).is_ok() {
            let matching: Vec<_> = held.iter().filter(|name| pattern.matches(name)).collect();
            for name in matching {
                let path = Path::new(name);
                if let Some(metadata) = self.look(path) {
                    met = true;
                    self.file(path, &metadata)?;
                }
            }
        }
        if !met {
            let name = path.display();
            warnings::warn(self.line, &format!("no file has the name '{name}'"));
        }
        Ok(())
    }

    fn walk(&mut self, path: &Path) -> Ended<()> {
        let walk = WalkDir::new(path)
            .follow_links(!self.line.links)
            .follow_root_links(!self.line.links)
            .sort_by_file_name();
        for step in walk {
            match step {
                Ok(entry) => {
                    let metadata = match self.line.links {
                        true => entry.path().symlink_metadata(),
                        false => entry.path().metadata(),
                    };
                    match metadata {
                        Ok(metadata) => self.file(entry.path(), &metadata)?,
                        Err(error) => {
                            let failure = Failure::io("read", entry.path(), &error);
                            message::remark(failure.message());
                            self.unseen(error.kind());
                        }
                    }
                }
                Err(error) => {
                    message::remark(&format!("left out: {error}"));
                    let kind = error.io_error().map(std::io::Error::kind);
                    self.unseen(kind.unwrap_or(ErrorKind::Other));
                }
            }
        }
        Ok(())
    }

    /// Something was not looked at, unless it is gone.
    fn unseen(&mut self, kind: ErrorKind) {
        self.found.unseen += u64::from(kind != ErrorKind::NotFound);
    }

    /// A file, a directory or a link.
    fn file(&mut self, path: &Path, metadata: &Metadata) -> Ended<()> {
        let kind = if metadata.is_dir() {
            EntryKind::Directory
        } else if metadata.is_file() {
            EntryKind::File
        } else if metadata.is_symlink() {
            EntryKind::Symlink
        } else {
            warnings::warn(
                self.line,
                &format!(
                    "'{}' is a pipe, a socket or a device and is left out",
                    path.display()
                ),
            );
            return Ok(());
        };
        if kind == EntryKind::Directory && (!self.line.directories || self.line.junk) {
            return Ok(());
        }
        if kind == EntryKind::File && self.archive.as_ref().is_some_and(|own| own.is(path)) {
            return Ok(());
        }
        let Some(mut plain) = self.name(path) else {
            return Ok(());
        };
        if kind == EntryKind::Directory {
            plain.push('/');
        }
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
        let modified = modified.map_or(0, jiff::Timestamp::as_second);
        let too_old = self.line.after.is_some_and(|after| modified < after);
        if too_old || self.line.before.is_some_and(|before| modified >= before) {
            return Ok(());
        }
        let line = &mut *self.line;
        // Patterns are about names as the files have them.
        let wanted = line.includes.is_empty() || line.includes.matches(&plain);
        if !wanted || line.excludes.matches(&plain) {
            return Ok(());
        }
        if line.walk == Walk::Patterns && !self.ends.matches_end(&plain) {
            return Ok(());
        }
        let name = match line.dos_names {
            true => dos_name(&plain),
            false => Some(plain),
        };
        let Some(name) = name else {
            let path = path.display();
            message::remark(&format!("'{path}' has no name on DOS; it is left out"));
            self.found.unnamed += 1;
            return Ok(());
        };
        if path.to_str().is_none() {
            // Names are UTF-8 here. It is no reason to leave out all other files.
            let path = path.display();
            message::remark(&format!(
                "the name of '{path}' is not UTF-8; it is left out"
            ));
            self.found.unnamed += 1;
            return Ok(());
        }
        let version = FileVersion {
            modified,
            bytes: metadata.len(),
            directory: kind == EntryKind::Directory,
        };
        self.add(name, path.to_owned(), kind, version)
    }

    fn add(
        &mut self,
        name: String,
        path: PathBuf,
        kind: EntryKind,
        version: FileVersion,
    ) -> Ended<()> {
        if let Some(first) = self.found.by_name.get(&name) {
            let first = &self.found.items[*first].path;
            if *first == path {
                return Ok(());
            }
            let (one, other) = (first.display(), path.display());
            return Err(Stop::new(
                code::USAGE,
                Failure::new(format!(
                    "'{one}' and '{other}' would both be entry '{name}'"
                ))
                .help("pack them in two archives, or without -j"),
            ));
        }
        self.found
            .by_name
            .insert(name.clone(), self.found.items.len());
        self.found.items.push(Item {
            name,
            path,
            kind,
            version,
        });
        Ok(())
    }

    /// The name of the entry of a path; `None` for the directory that contains all names.
    fn name(&self, path: &Path) -> Option<String> {
        let mut parts = Vec::new();
        let mut climbs = false;
        for part in path.components() {
            match part {
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
                Component::ParentDir => climbs |= parts.pop().is_none(),
                Component::Normal(part) => parts.push(part.to_string_lossy()),
            }
        }
        if climbs && !self.line.quiet && !parts.is_empty() {
            message::remark(&format!(
                "'{}': the entry's name does not contain '..'",
                path.display()
            ));
        }
        if self.line.junk {
            parts.drain(..parts.len().saturating_sub(1));
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }
}

/// A name as DOS has it; `None` if nothing of its last part is left.
fn dos_name(name: &str) -> Option<String> {
    let (path, slash) = match name.strip_suffix('/') {
        Some(path) => (path, "/"),
        None => (name, ""),
    };
    let mut parts: Vec<_> = path.split('/').map(dos_part).collect();
    parts.last().filter(|last| !last.is_empty())?;
    parts.retain(|part| !part.is_empty());
    Some(parts.join("/") + slash)
}
