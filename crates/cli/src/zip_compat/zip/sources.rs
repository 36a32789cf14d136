//! The files that a command line means, with the names of their entries.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};

use files::conflicts::{self, Written};
use walkdir::WalkDir;
use zipstream::{EntryKind, FileVersion, Merge, name};

use crate::failure::Failure;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::zip::flags::{Action, Line, Walk};
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
    /// Whether it is a named pipe, whose content is read.
    pub(super) pipe: bool,
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
    /// The names of what is there and is left out.
    pub(super) left: HashSet<String>,
}

impl Found {
    /// Whether the file of an entry may be there, although it is none of the items. What a link that leads nowhere
    /// led to may be there again another day, so that what is below its name counts, too.
    pub(super) fn may_have(&self, name: &str) -> bool {
        let above = || name.match_indices('/').map(|(at, _)| &name[..at]);
        self.unnamed + self.unseen > 0
            || self.left.contains(name)
            || (!self.left.is_empty() && above().any(|above| self.left.contains(above)))
    }

    /// The exit code of a run that does what it can.
    pub(super) fn code(&self) -> u8 {
        match self.unnamed + self.unseen {
            0 => 0,
            _ => code::OPEN,
        }
    }
}

/// What a path leads to.
enum Seen {
    There(Metadata),
    /// It has nothing that can be packed, which was said.
    LeftOut,
    /// Nothing has its name.
    Missing,
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
        ends: line.patterns(),
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
            return self.add(Item {
                name: "-".to_owned(),
                path: path.to_owned(),
                kind: EntryKind::File,
                version,
                pipe: false,
            });
        }
        let metadata = match self.look(path) {
            Seen::There(metadata) => metadata,
            Seen::LeftOut => return Ok(()),
            Seen::Missing => return self.by_archive(path, held),
        };
        if metadata.is_dir() && self.line.walk == Walk::Paths {
            return self.walk(path);
        }
        self.file(path, &metadata)
    }

    /// What a path leads to; links are followed unless they are packed.
    fn look(&mut self, path: &Path) -> Seen {
        let found = match self.line.links {
            true => path.symlink_metadata(),
            false => path.metadata(),
        };
        match found {
            Ok(metadata) => Seen::There(metadata),
            Err(error) => self.unread(path, &error),
        }
    }

    /// Something that cannot be looked at: it is gone, or a link that leads nowhere, or out of reach.
    fn unread(&mut self, path: &Path, error: &Error) -> Seen {
        let name = path.display();
        let is_gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let is_gone = is_gone || (is_loop(error) && path.is_symlink());
        if !is_gone {
            let why = files::reason(error);
            message::remark(&format!("cannot look at '{name}': {why}; it is left out"));
            self.found.unseen += 1;
        } else if path.symlink_metadata().is_ok() {
            let text = format!("'{name}' is a link that leads nowhere, and is left out");
            warnings::warn(self.line, &text);
            if let Some(plain) = self.name(path) {
                self.left_out(&plain);
            }
        } else {
            return Seen::Missing;
        }
        Seen::LeftOut
    }

    /// A link to a directory that it is in, whose contents are packed without it.
    fn looped(&mut self, error: &walkdir::Error) {
        let (Some(path), Some(above)) = (error.path(), error.loop_ancestor()) else {
            message::remark(&format!("left out: {error}"));
            self.found.unseen += 1;
            return;
        };
        let (name, above) = (path.display(), above.display());
        let text = format!("'{name}' leads to '{above}', which it is in, and is left out");
        warnings::warn(self.line, &text);
        if let Some(plain) = self.name(path) {
            self.left_out(&plain);
        }
    }

    /// Remembers that something of this name is there, and is left out, if an entry would go without it.
    fn left_out(&mut self, plain: &str) {
        if self.line.action != Action::Merge(Merge::Sync) {
            return;
        }
        let name = self.of_entry(plain);
        self.found.left.extend(name);
    }

    /// The name of the entry of a file whose path is this.
    fn of_entry(&self, plain: &str) -> Option<String> {
        let name = match self.line.junk {
            true => name::file_name(plain).unwrap_or(plain),
            false => plain,
        };
        match self.line.dos_names {
            true => dos_name(name),
            false => Some(name.to_owned()),
        }
    }

    /// A name that is no file may be a pattern for entries of the archive, whose files are meant.
    fn by_archive(&mut self, path: &Path, held: &[String]) -> Ended<()> {
        let mut pattern = self.line.patterns();
        let mut met = false;
        if pattern.add(path.as_os_str()).is_ok() {
            let matching: Vec<_> = held.iter().filter(|name| pattern.matches(name)).collect();
            for name in matching {
                let path = name::system_path(name);
                match self.look(&path) {
                    Seen::There(metadata) => self.file(&path, &metadata)?,
                    Seen::LeftOut => {}
                    Seen::Missing => continue,
                }
                met = true;
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
            let entry = match step {
                Ok(entry) => entry,
                Err(error) => {
                    match (error.path(), error.io_error()) {
                        (Some(path), Some(error)) => {
                            self.unread(path, error);
                        }
                        _ => self.looped(&error),
                    }
                    continue;
                }
            };
            if let Seen::There(metadata) = self.look(entry.path()) {
                self.file(entry.path(), &metadata)?;
            }
        }
        Ok(())
    }

    /// A file, a directory or a link.
    fn file(&mut self, path: &Path, metadata: &Metadata) -> Ended<()> {
        let pipe = is_pipe(metadata.file_type());
        let kind = if metadata.is_dir() {
            Some(EntryKind::Directory)
        } else if metadata.is_symlink() {
            Some(EntryKind::Symlink)
        } else if metadata.is_file() || is_socket(metadata.file_type()) || (pipe && self.line.pipes)
        {
            // A socket is a file that cannot be read.
            Some(EntryKind::File)
        } else {
            None
        };
        if kind == Some(EntryKind::Directory) && (!self.line.directories || self.line.junk) {
            return Ok(());
        }
        if kind == Some(EntryKind::File) && self.archive.as_ref().is_some_and(|own| own.is(path)) {
            return Ok(());
        }
        let Some(mut plain) = self.name(path) else {
            return Ok(());
        };
        let Some(kind) = kind else {
            let name = path.display();
            let text = match pipe {
                true => format!("'{name}' is a named pipe and is left out; -FI reads it"),
                false => format!("'{name}' is a device and is left out"),
            };
            warnings::warn(self.line, &text);
            self.left_out(&plain);
            return Ok(());
        };
        if kind == EntryKind::Directory {
            plain.push('/');
        }
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
        let modified = modified.map_or(0, jiff::Timestamp::as_second);
        if self.line.walk == Walk::Patterns && !self.ends.matches_end(&plain) {
            return Ok(());
        }
        // Patterns are about names as the files have them.
        if !self.line.wants(&plain, modified) {
            self.left_out(&plain);
            return Ok(());
        }
        let Some(name) = self.of_entry(&plain) else {
            let path = path.display();
            message::remark(&format!("'{path}' has no name on DOS; it is left out"));
            self.found.unnamed += 1;
            return Ok(());
        };
        // What not every program takes for the same path is no reason to leave out all other files.
        let fault = match name::check_portable(&name) {
            _ if cfg!(not(unix)) && path.to_str().is_none() => "the name is not UTF-8".to_owned(),
            Err(fault) => fault.to_string(),
            Ok(()) => String::new(),
        };
        if !fault.is_empty() {
            let path = path.display();
            message::remark(&format!("'{path}' is left out: {fault}"));
            self.found.unnamed += 1;
            return Ok(());
        }
        let version = FileVersion {
            modified,
            bytes: metadata.len(),
            directory: kind == EntryKind::Directory,
        };
        self.add(Item {
            name,
            path: path.to_owned(),
            kind,
            version,
            pipe,
        })
    }

    fn add(&mut self, item: Item) -> Ended<()> {
        let at = self.found.items.len();
        let first = *self.found.by_name.entry(item.name.clone()).or_insert(at);
        if first == at {
            self.found.items.push(item);
            return Ok(());
        }
        let first = &self.found.items[first].path;
        if *first == item.path {
            return Ok(());
        }
        let (one, other, name) = (first.display(), item.path.display(), &item.name);
        let failure = Failure::new(format!(
            "'{one}' and '{other}' would both be entry '{name}'"
        ));
        let failure = failure.help("pack them in two archives, or without -j");
        Err(Stop::new(code::USAGE, failure))
    }

    /// The path as a name; `None` for the directory that contains all names.
    fn name(&self, path: &Path) -> Option<String> {
        let mut parts = Vec::new();
        let mut climbs = false;
        for part in path.components() {
            match part {
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
                Component::ParentDir => climbs |= parts.pop().is_none(),
                Component::Normal(part) => parts.push(name::of_bytes(part.as_encoded_bytes())),
            }
        }
        if climbs && !self.line.quiet && !parts.is_empty() {
            message::remark(&format!(
                "'{}': the entry's name does not contain '..'",
                path.display()
            ));
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }
}

/// Whether links lead to one another and nowhere else.
#[cfg(unix)]
fn is_loop(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &Error) -> bool {
    false
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(unix)]
fn is_socket(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

#[cfg(not(unix))]
fn is_socket(_: FileType) -> bool {
    false
}

/// A name as DOS has it; `None` if nothing of its last part is left.
fn dos_name(name: &str) -> Option<String> {
    let (path, slash) = match name.strip_suffix('/') {
        Some(path) => (path, "/"),
        None => (name, ""),
    };
    let mut parts: Vec<_> = path.split('/').map(name::dos_part).collect();
    parts.last().filter(|last| !last.is_empty())?;
    parts.retain(|part| !part.is_empty());
    Some(parts.join("/") + slash)
}
