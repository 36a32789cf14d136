//! What one command line reads and writes, declared by its command and checked in one place.

use std::path::{Path, PathBuf};

use super::{
    Conflict, Found, Identity, Result, in_place, is_stdout, of_handle, standard, stream_is_read,
};

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
    read: Vec<(&'static str, &'a Path)>,
    packed: Vec<&'a Path>,
    below: Vec<&'a Path>,
    written: Vec<(&'static str, &'a Path)>,
    archive: Option<&'a Path>,
    stdout: Stdout,
    stderr: bool,
}

impl<'a> Files<'a> {
    /// A file that is read, and what it is to the command: a flag, or a word such as `the log`.
    pub fn reads(mut self, what: &'static str, path: &'a Path) -> Self {
        self.read.push((what, path));
        self
    }

    /// The same for a flag that may be absent.
    pub fn reads_some(self, flag: &'static str, path: &'a Option<PathBuf>) -> Self {
        match path {
            Some(path) => self.reads(flag, path),
            None => self,
        }
    }

    /// Sources, one after the other; directories among them are walked if `recursive`.
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
    pub fn reads_below(mut self, directory: &'a Path) -> Self {
        self.below.push(directory);
        self
    }

    /// What goes into an archive. The archive may be among it: it is left out when sources are
    /// looked for.
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
    pub fn archive(mut self, path: &'a Path) -> Self {
        self.archive = Some(path);
        if is_stdout(path) {
            self.stdout = Stdout::Data;
        }
        self
    }

    /// A file that is written, and what it is to the command.
    pub fn writes(mut self, what: &'static str, path: &'a Path) -> Self {
        self.written.push((what, path));
        self
    }

    /// Several of these.
    pub fn writes_all(mut self, files: impl IntoIterator<Item = (&'static str, &'a Path)>) -> Self {
        self.written.extend(files);
        self
    }

    /// What goes to standard output.
    pub fn stdout(mut self, stdout: Stdout) -> Self {
        self.stdout = stdout;
        self
    }

    /// Whether anything goes to standard error.
    pub fn stderr(mut self, used: bool) -> Self {
        self.stderr = used;
        self
    }

    /// Every path of it, with what it is to the command.
    pub fn paths(&self) -> Vec<&'a Path> {
        let named = self.read.iter().chain(&self.written).map(|(_, path)| *path);
        named
            .chain(self.packed.iter().copied())
            .chain(self.below.iter().copied())
            .chain(self.archive)
            .collect()
    }

    /// Refuses a file that would be read and written, or written twice. Opens nothing.
    pub fn check(&self) -> Result<()> {
        self.check_streams()?;
        let mut written = self.written()?;
        for (stream, file) in self.streams() {
            if let Some(path) = self.read_in_place(&file) {
                return Err(stream_is_read(stream, path));
            }
            if let Some((_, what, path)) = written.iter().find(|(found, ..)| *found == file) {
                return Err(Conflict::StreamIsWritten {
                    path: path.to_path_buf(),
                    what,
                    stream,
                });
            }
        }
        self.check_below(&written)?;
        if let Some(archive) = self.archive
            && let Some(identity) = Found::default().named(archive)
        {
            if let Some((_, what, path)) = written.iter().find(|(found, ..)| *found == identity) {
                return Err(twice(path, "the archive", what));
            }
            written.push((identity, "the archive", archive));
        }
        if written.is_empty() {
            return Ok(());
        }
        let packed = self.packed.iter().map(|path| ("packed", *path));
        for (what, path) in self.read.iter().copied().chain(packed) {
            let Some(identity) = Found::default().source(path) else {
                continue;
            };
            let clash = written.iter().find(|(found, role, _)| {
                *found == identity && (what, *role) != ("packed", "the archive")
            });
            if let Some((_, role, _)) = clash {
                return Err(both(path, what, role));
            }
        }
        Ok(())
    }

    /// Refuses to mix two things on standard output.
    fn check_streams(&self) -> Result<()> {
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

    /// The regular files that are written under a name of their own.
    fn written(&self) -> Result<Vec<(Identity, &'static str, &'a Path)>> {
        let mut written: Vec<(Identity, &'static str, &'a Path)> = Vec::new();
        for (what, path) in &self.written {
            let Some(identity) = Found::default().named(path) else {
                continue;
            };
            if let Some((_, other, _)) = written.iter().find(|(found, ..)| *found == identity) {
                return Err(twice(path, other, what));
            }
            written.push((identity, what, path));
        }
        Ok(written)
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
    /// what it is written to.
    fn read_in_place(&self, stream: &Identity) -> Option<&'a Path> {
        let packs_itself = self.archive.is_some();
        let read = self.read.iter().map(|(_, path)| *path);
        let packed = self.packed.iter().copied().filter(|_| !packs_itself);
        in_place(read.chain(packed), stream)
    }

    /// Refuses to replace a file in a directory of which every file is read.
    fn check_below(&self, written: &[(Identity, &'static str, &'a Path)]) -> Result<()> {
        if self.below.is_empty() {
            return Ok(());
        }
        let mut existing: Vec<(&'static str, PathBuf)> = Vec::new();
        for (_, what, path) in written {
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
                return Err(both(path, "a file of a directory that is read", what));
            }
        }
        Ok(())
    }
}

fn twice(path: &Path, first: &'static str, second: &'static str) -> Conflict {
    Conflict::NamedTwice {
        path: path.to_owned(),
        first,
        second,
    }
}

fn both(path: &Path, read: &'static str, written: &'static str) -> Conflict {
    let read = match read {
        "packed" => "a source",
        read => read,
    };
    Conflict::Overwritten {
        path: path.to_owned(),
        read,
        written,
    }
}

/// The path of the regular file behind standard output, where the system tells.
fn stdout_path() -> Option<PathBuf> {
    let metadata = standard::output().ok()?.metadata().ok()?;
    let path = std::fs::read_link("/proc/self/fd/1").ok()?;
    metadata.is_file().then_some(path)
}

#[cfg(test)]
mod tests;
