//! What one run reads and writes, as its command declares it.

use std::path::{Path, PathBuf};

use crate::plan::{Destination, Job};
use crate::target::is_stdout;

/// A file as a flag names it: the flag and the file.
pub type Flagged<'a> = (&'static str, &'a Path);

/// What a command sends to standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stdout {
    /// Nothing.
    #[default]
    Nothing,
    /// Its report, or a listing.
    Report,
    /// Its data: a report cannot go there as well.
    Data,
}

/// The files of a command line. Directories stand for all that is below them.
#[derive(Debug, Default)]
pub struct Files<'a> {
    pub(super) read: Vec<Flagged<'a>>,
    pub(super) packed: Vec<&'a Path>,
    pub(super) below: Vec<&'a Path>,
    pub(super) written: Vec<Flagged<'a>>,
    pub(super) archive: Option<&'a Path>,
    pub(super) jobs: &'a [Job],
    /// What several jobs become.
    pub(super) joined: Option<&'a Path>,
    pub(super) stdout: Stdout,
    pub(super) stderr: bool,
}

impl<'a> Files<'a> {
    /// A file that is read, and what it is to the command: a flag, or a word such as `the log`.
    #[must_use]
    pub fn reads(mut self, what: &'static str, path: &'a Path) -> Self {
        self.read.push((what, path));
        self
    }

    /// The same for a flag that may be absent.
    #[must_use]
    pub fn reads_some(self, flag: &'static str, path: &'a Option<PathBuf>) -> Self {
        match path {
            Some(path) => self.reads(flag, path),
            None => self,
        }
    }

    /// Several files that are read.
    #[must_use]
    pub fn reads_all(mut self, files: &[Flagged<'a>]) -> Self {
        self.read.extend_from_slice(files);
        self
    }

    /// Jobs, and the file that several of them become.
    #[must_use]
    pub fn jobs(mut self, jobs: &'a [Job], joined: Option<&'a Path>) -> Self {
        self.jobs = jobs;
        self.joined = joined;
        if jobs
            .iter()
            .any(|job| job.destination == Destination::Stdout)
        {
            self.stdout = Stdout::Data;
        }
        self
    }

    /// Sources, one after the other; directories among them are walked if `recursive`.
    #[must_use]
    pub fn sources(mut self, paths: &'a [PathBuf], recursive: bool) -> Self {
        for path in paths {
            self.read.push(("a source", path));
            if recursive {
                self.below.push(path);
            }
        }
        self
    }

    /// A directory of which every file may be read.
    #[must_use]
    pub fn reads_below(mut self, directory: &'a Path) -> Self {
        self.below.push(directory);
        self
    }

    /// What goes into an archive. The archive may be among it: it is left out when sources are
    /// looked for.
    #[must_use]
    pub fn packs(mut self, paths: &'a [PathBuf], recursive: bool) -> Self {
        for path in paths {
            self.packed.push(path);
            if recursive {
                self.below.push(path);
            }
        }
        self
    }

    /// The archive that is written.
    #[must_use]
    pub fn archive(mut self, path: &'a Path) -> Self {
        self.archive = Some(path);
        if is_stdout(path) {
            self.stdout = Stdout::Data;
        }
        self
    }

    /// A file that is written, and what it is to the command.
    #[must_use]
    pub fn writes(mut self, what: &'static str, path: &'a Path) -> Self {
        self.written.push((what, path));
        self
    }

    /// Several of these.
    #[must_use]
    pub fn writes_all(mut self, files: impl IntoIterator<Item = (&'static str, &'a Path)>) -> Self {
        self.written.extend(files);
        self
    }

    /// What goes to standard output.
    #[must_use]
    pub fn stdout(mut self, stdout: Stdout) -> Self {
        self.stdout = stdout;
        self
    }

    /// Whether anything goes to standard error.
    #[must_use]
    pub fn stderr(mut self, used: bool) -> Self {
        self.stderr = used;
        self
    }

    /// Every path of it.
    #[must_use]
    pub fn paths(&self) -> Vec<&'a Path> {
        let named = self.read.iter().chain(&self.written).map(|(_, path)| *path);
        named
            .chain(self.packed.iter().copied())
            .chain(self.below.iter().copied())
            .chain(self.archive)
            .collect()
    }
}
