//! What a feeder reads: a file from any byte on, or a pipe; in pieces, by a thread, so that the connection lives on while
//! a pipe is silent.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use files::{BUFFER_BYTES, standard};
use tokio::sync::mpsc::{Receiver, channel};
use twox_hash::XxHash64;
use workers::Known;

use crate::commands::nats::is_standard;
use crate::failure::{Failure, Result};
use crate::io::open::open;

/// Pieces that were read and wait.
const PIECES_AHEAD: usize = 2;

/// An open file or pipe.
pub(super) struct Source {
    file: File,
    /// Its name in the stream.
    pub(super) name: String,
    /// Whether it can be read from any byte on.
    pub(super) is_file: bool,
}

impl Source {
    /// Opens it. Without a `name` it gets one of its path and inode, or, if it is a pipe, one of its own.
    pub(super) fn open(path: &Path, name: Option<&str>) -> Result<Self> {
        let failed = |error| Failure::io("read", path, &error);
        let file = match is_standard(path) {
            true => standard::input(),
            false => open(path, OpenOptions::new().read(true)),
        };
        let file = file.map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        let is_file = facts.is_file() && !is_standard(path);
        let name = match name {
            Some(name) => name.to_owned(),
            None if is_file => file_name(path, &facts).map_err(failed)?,
            None => pipe_name(),
        };
        Ok(Self {
            file,
            name,
            is_file,
        })
    }

    /// Checks that the last block that the stream has stands in the file, and goes on behind it.
    pub(super) fn go_on(&mut self, path: &Path, known: &Known) -> Result<(u64, u64)> {
        let failed = |error| Failure::io("read", path, &error);
        let mut bytes = vec![0; known.bytes.len()];
        self.file
            .seek(SeekFrom::Start(known.offset))
            .map_err(failed)?;
        let is_same = match self.file.read_exact(&mut bytes) {
            Ok(()) => bytes == known.bytes,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(failed(error)),
        };
        let (name, offset) = (path.display(), known.offset);
        if !is_same {
            let message = format!(
                "'{name}' is not what was fed before as {}: the stream has other bytes at byte {offset}",
                self.name
            );
            return Err(
                Failure::new(message).help("give a new file a name of its own: --source NAME")
            );
        }
        let (end, line) = known.end();
        let ends = known.bytes.ends_with(b"\n");
        if !ends && self.file.read(&mut [0]).map_err(failed)? > 0 {
            let message = format!(
                "'{name}' has grown within line {line}: the part of it before byte {end} was fed as an event"
            );
            return Err(Failure::new(message).help("feed files whose last line is complete"));
        }
        self.file.seek(SeekFrom::Start(end)).map_err(failed)?;
        Ok((end, line))
    }

    /// Reads on, piece by piece, until the end.
    pub(super) fn pieces(mut self) -> Result<Receiver<io::Result<Vec<u8>>>> {
        let (sender, pieces) = channel(PIECES_AHEAD);
        // Never joined: the process may end while a pipe is still open.
        let started = std::thread::Builder::new()
            .name("events".to_owned())
            .spawn(move || {
                loop {
                    let mut piece = vec![0; BUFFER_BYTES];
                    let sent = match self.file.read(&mut piece) {
                        Ok(0) => return,
                        Ok(count) => {
                            piece.truncate(count);
                            sender.blocking_send(Ok(piece))
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Err(error) => sender.blocking_send(Err(error)),
                    };
                    if sent.is_err() {
                        return;
                    }
                }
            });
        started.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        Ok(pieces)
    }
}

/// The name of the file with a hash of its path and inode.
fn file_name(path: &Path, facts: &std::fs::Metadata) -> io::Result<String> {
    let whole = path.canonicalize()?;
    let mut key = whole.as_os_str().as_encoded_bytes().to_vec();
    #[cfg(unix)]
    key.extend_from_slice(&std::os::unix::fs::MetadataExt::ino(facts).to_le_bytes());
    #[cfg(not(unix))]
    let _ = facts;
    let short = whole.file_name().unwrap_or_default().to_string_lossy();
    let short: String = short.chars().take(40).collect();
    Ok(format!("{short}-{:016x}", XxHash64::oneshot(0, &key)))
}

/// A name that no other pipe has.
fn pipe_name() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("pipe-{nanos:x}-{:x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn known(offset: u64, line: u64, bytes: &'static [u8]) -> Known {
        Known {
            offset,
            line,
            bytes: bytes.into(),
        }
    }

    #[test]
    fn a_file_is_gone_on_with_where_the_stream_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events");
        std::fs::write(&path, "a\nbb\nccc").unwrap();
        let mut source = Source::open(&path, None).unwrap();
        let name = source.name.clone();
        assert!(name.starts_with("events-") && source.is_file);
        assert_eq!(Source::open(&path, None).unwrap().name, name);
        assert_eq!(source.go_on(&path, &known(2, 2, b"bb\n")), Ok((5, 3)));
        for (other, said) in [
            (known(2, 2, b"bc\n"), "other bytes at byte 2"),
            (known(5, 3, b"ccc\nd\n"), "other bytes at byte 5"),
            (known(5, 3, b"cc"), "within line 3"),
        ] {
            let failure = source.go_on(&path, &other).unwrap_err();
            assert!(failure.message().contains(said), "{}", failure.message());
        }
        assert_eq!(source.go_on(&path, &known(5, 3, b"ccc")), Ok((8, 3)));
        // A file of the same name need not be the same file, nor a pipe the same pipe.
        let mut other = File::create(directory.path().join("new")).unwrap();
        other.write_all(b"a\n").unwrap();
        std::fs::rename(directory.path().join("new"), &path).unwrap();
        assert_ne!(Source::open(&path, None).unwrap().name, name);
        assert_ne!(pipe_name(), pipe_name());
        assert_eq!(Source::open(&path, Some("day")).unwrap().name, "day");
    }
}
