//! A store of perfkit becomes files of QuickFIX or QuickFIX/J.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use fixcore::Timestamp;
use fixcore::store::{Options, Store, is_store};

use super::import::sync_parent;
use super::parts::{FileFormat, ForeignError, Numbers, Place, path, prefix_of};
use super::{quickfix, quickfix_j};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// How many messages there are.
    pub messages: u64,
    /// Their total size.
    pub message_bytes: u64,
    /// The number of the next message to send.
    pub next_sender: u64,
    /// The number expected in the next message from the other side.
    pub next_target: u64,
    /// When the numbers began.
    pub created: Timestamp,
    /// The files.
    pub files: Vec<PathBuf>,
}

/// Writes the store in `dir` as files whose names begin with `prefix`. The store must not be open, and no such
/// file may exist, unless `overwrite` says so. `now` is when the numbers began if the store does not say. The files
/// get their names when all are on the disk.
///
/// # Errors
///
/// There is no store, it is open or damaged, a file exists, a number is too large for the engine, or the
/// system refuses.
pub fn export(
    dir: &Path,
    prefix: &Path,
    format: FileFormat,
    overwrite: bool,
    now: Timestamp,
) -> Result<Exported, ForeignError> {
    if !dir.is_dir() || !is_store(dir)? {
        let dir = dir.to_owned();
        return Err(ForeignError::NoStore { dir });
    }
    let prefix = prefix_of(prefix);
    let store = Store::open(dir, Options::default())?;
    let numbers = Numbers {
        next_sender: store.next_sender(),
        next_target: store.next_target(),
        created: store.created().unwrap_or(now),
    };
    let largest = numbers.next_sender.max(numbers.next_target);
    if largest > format.number_max() {
        return Err(ForeignError::Number {
            number: largest,
            format,
        });
    }
    // All names are free, or nothing is written.
    for ending in format.endings().iter().filter(|_| !overwrite) {
        let path = path(&prefix, ending);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(ForeignError::Exists { path });
        }
    }
    let mut written = Written { files: Vec::new() };
    let (messages, message_bytes) = written.messages(&store, &prefix, format)?;
    let files = match format {
        FileFormat::QuickFixJ => quickfix_j::files(numbers),
        FileFormat::QuickFix | FileFormat::QuickFix115 => quickfix::files(numbers, format),
    };
    for (ending, content) in files {
        let mut file = written.create(path(&prefix, ending))?;
        file.write_all(&content)
            .map_err(ForeignError::io("write", &path(&prefix, ending)))?;
        written.finish(file)?;
    }
    let files = written.rename()?;
    sync_parent(&prefix);
    Ok(Exported {
        messages,
        message_bytes,
        next_sender: numbers.next_sender,
        next_target: numbers.next_target,
        created: numbers.created,
        files,
    })
}

/// Files under temporary names, each with its own. They are removed unless all are written.
struct Written {
    files: Vec<(PathBuf, PathBuf)>,
}

impl Drop for Written {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Written {
    fn create(&mut self, path: PathBuf) -> Result<BufWriter<File>, ForeignError> {
        let mut temporary = path.clone().into_os_string();
        temporary.push(format!(".{}.new", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let mut options = OpenOptions::new();
        let created = options.write(true).create_new(true).open(&temporary);
        let file = created.map_err(ForeignError::io("create", &temporary))?;
        self.files.push((temporary, path));
        Ok(BufWriter::with_capacity(1 << 16, file))
    }

    /// Completes the file that was created last.
    fn finish(&self, file: BufWriter<File>) -> Result<(), ForeignError> {
        let path = self
            .files
            .last()
            .map_or(Path::new(""), |(_, path)| path.as_path());
        let synced = file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all());
        synced.map_err(ForeignError::io("write", path))
    }

    /// Gives all files their names, the one that makes a store of them last.
    fn rename(mut self) -> Result<Vec<PathBuf>, ForeignError> {
        for (temporary, path) in &self.files {
            fs::rename(temporary, path).map_err(ForeignError::io("rename to", path))?;
        }
        let files = std::mem::take(&mut self.files);
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    /// The header and the body: how many messages and bytes they have.
    fn messages(
        &mut self,
        store: &Store,
        prefix: &Path,
        format: FileFormat,
    ) -> Result<(u64, u64), ForeignError> {
        let (header_path, body_path) = (path(prefix, "header"), path(prefix, "body"));
        let mut header = self.create(header_path.clone())?;
        let mut body = self.create(body_path.clone())?;
        let (mut messages, mut offset) = (0, 0);
        for (number, message) in store.range(1..=u64::MAX) {
            let message = message?;
            let place = Place {
                offset,
                bytes: message.len() as u64,
                stated_at: 0,
            };
            let entry = match format {
                FileFormat::QuickFixJ => quickfix_j::entry(number, place)
                    .ok_or(ForeignError::Number { number, format })?,
                FileFormat::QuickFix | FileFormat::QuickFix115 => quickfix::triple(number, place),
            };
            header
                .write_all(&entry)
                .map_err(ForeignError::io("write", &header_path))?;
            body.write_all(message)
                .map_err(ForeignError::io("write", &body_path))?;
            messages += 1;
            offset += place.bytes;
        }
        self.finish(body)?;
        self.finish(header)?;
        Ok((messages, offset))
    }
}
