//! The old end of a file while a new one is written over it, in a file of its own in the same directory.
//!
//! It says of which file it is: by the identity of that, and by a checksum of what stands before the
//! end. An undo file that is not whole is one that was being written, before anything was changed.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crc32fast::Hasher as Crc32;

use super::bytes::{Bytes, copy};

/// What follows the name of the file.
const SUFFIX: &str = ".perfkit-undo";
const MAGIC: &[u8; 16] = b"perfkit undo 2\n\0";
/// What the magic bytes of every version begin with.
const KNOWN_BYTES: usize = 13;
/// The magic bytes, where the end starts and how long it is, how long the file is when the change is
/// done, the identity of the file, the checksum of what stands before the end, and that of all of this
/// with the end.
const HEADER_BYTES: usize = 16 + 8 + 8 + 8 + 16 + 4 + 4;
/// What the checksum is at.
const SUM_AT: usize = HEADER_BYTES - 4;
/// The most before the end that is compared.
const BEFORE_BYTES: u64 = 4096;

/// The old end of a file.
#[derive(Debug)]
pub struct Undo {
    file: File,
    path: PathBuf,
    at: u64,
    bytes: u64,
}

impl Undo {
    /// Where the old end of this file would be.
    pub fn path_of(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(SUFFIX);
        name.into()
    }

    /// Whether a change of this file was cut off, or goes on: there is an undo file.
    #[must_use]
    pub fn is_there(path: &Path) -> bool {
        let path = std::fs::canonicalize(path);
        path.is_ok_and(|path| Self::path_of(&path).exists())
    }

    /// Keeps all from byte `at` on, of a file that will have `new` bytes.
    pub(super) fn keep(of: &File, path: &Path, at: u64, new: u64) -> io::Result<Self> {
        let path = Self::path_of(path);
        let bytes = of.metadata()?.len().saturating_sub(at);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let undo = Self {
            file,
            path,
            at,
            bytes,
        };
        match undo.fill(of, new) {
            Ok(()) => Ok(undo),
            Err(error) => {
                let _ = undo.discard();
                Err(error)
            }
        }
    }

    fn fill(&self, of: &File, new: u64) -> io::Result<()> {
        let mut header = header(of, self.at, self.bytes, new)?;
        let mut sum = Crc32::new();
        sum.update(&header[..SUM_AT]);
        copy(of, self.at, self.at + self.bytes, |bytes, from| {
            sum.update(bytes);
            let place = HEADER_BYTES as u64 + (from - self.at);
            self.file.put(bytes, place)
        })?;
        header[SUM_AT..].copy_from_slice(&sum.clone().finalize().to_le_bytes());
        self.file.put(&header, 0)
    }

    /// Removes what is left of a change to a file that has been replaced since.
    pub fn forget(path: &Path) {
        let path = Self::path_of(path);
        let ours = File::open(&path).and_then(|file| is_ours(&file));
        if ours.unwrap_or(false) {
            let _ = std::fs::remove_file(&path);
        }
    }

    /// The old end of a file that a process which was killed has left; one that is not whole is
    /// removed. A file of that name which is somebody's own, and one of a file that another program
    /// has changed since, are errors.
    pub(super) fn find(of: &File, path: &Path) -> io::Result<Option<Self>> {
        let path = Self::path_of(path);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let name = path.display();
        if !is_ours(&file)? {
            let what = format!("'{name}' is no file of perfkit's: move it away");
            return Err(io::Error::other(what));
        }
        let Some((at, bytes, new, header)) = whole(&file)? else {
            std::fs::remove_file(&path)?;
            return Ok(None);
        };
        let now = of.metadata()?.len();
        if now > new.max(at.saturating_add(bytes)) {
            let what = format!(
                "another program has changed it since an --append was cut off: test it, then remove \
                 '{name}'"
            );
            return Err(io::Error::other(what));
        }
        if now < at || self::header(of, at, bytes, new)?[..SUM_AT] != header[..SUM_AT] {
            let what = format!("'{name}' is of another file that had its name: remove it");
            return Err(io::Error::other(what));
        }
        Ok(Some(Self {
            file,
            path,
            at,
            bytes,
        }))
    }

    /// Puts it back, where it is not in its place: who may write nothing has changed nothing either.
    pub(super) fn put_back(&self, to: &impl Bytes) -> io::Result<()> {
        let (start, shift) = (HEADER_BYTES as u64, self.at);
        let mut there = Vec::new();
        copy(&self.file, start, start + self.bytes, |bytes, from| {
            let place = from - start + shift;
            there.resize(bytes.len(), 0);
            let got = to.get(&mut there, place)?;
            if there[..got] == *bytes {
                return Ok(());
            }
            to.put(bytes, place)
        })?;
        to.cut(self.end())
    }

    /// Removes the file.
    pub(super) fn discard(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    /// Where the end starts.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Where it ends.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes
    }

    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// All of a header but its checksum.
fn header(of: &File, at: u64, bytes: u64, new: u64) -> io::Result<[u8; HEADER_BYTES]> {
    let mut before = Crc32::new();
    copy(of, at.saturating_sub(BEFORE_BYTES), at, |bytes, _| {
        before.update(bytes);
        Ok(())
    })?;
    let mut header = [0; HEADER_BYTES];
    header[..16].copy_from_slice(MAGIC);
    header[16..24].copy_from_slice(&at.to_le_bytes());
    header[24..32].copy_from_slice(&bytes.to_le_bytes());
    header[32..40].copy_from_slice(&new.to_le_bytes());
    header[40..56].copy_from_slice(&identity(&of.metadata()?));
    header[56..SUM_AT].copy_from_slice(&before.clone().finalize().to_le_bytes());
    Ok(header)
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> [u8; 16] {
    use std::os::unix::fs::MetadataExt as _;
    let mut identity = [0; 16];
    identity[..8].copy_from_slice(&metadata.dev().to_le_bytes());
    identity[8..].copy_from_slice(&metadata.ino().to_le_bytes());
    identity
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [u8; 16] {
    [0; 16]
}

/// Whether a file begins as an undo file does. Its header is written last: until then there are zeros.
fn is_ours(file: &File) -> io::Result<bool> {
    let mut ours = true;
    let known = &MAGIC[..KNOWN_BYTES];
    let there = file.metadata()?.len().min(KNOWN_BYTES as u64);
    copy(file, 0, there, |bytes, from| {
        let magic = known.get(from as usize..).unwrap_or_default();
        ours &= bytes.iter().all(|byte| *byte == 0) || magic.starts_with(bytes);
        Ok(())
    })?;
    Ok(ours)
}

/// What an undo file says.
type Whole = (u64, u64, u64, [u8; HEADER_BYTES]);

/// The place and length of the end that an undo file keeps, the length of the file to be, and its
/// header; `None` if it is not whole.
fn whole(file: &File) -> io::Result<Option<Whole>> {
    let total = file.metadata()?.len();
    let mut header = [0; HEADER_BYTES];
    if total < HEADER_BYTES as u64 {
        return Ok(None);
    }
    copy(file, 0, HEADER_BYTES as u64, |bytes, from| {
        header[from as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    })?;
    let number = |at: usize| {
        let bytes = header[at..].first_chunk().copied();
        u64::from_le_bytes(bytes.unwrap_or_default())
    };
    let (at, bytes, new) = (number(16), number(24), number(32));
    if header[..16] != *MAGIC || total - HEADER_BYTES as u64 != bytes {
        return Ok(None);
    }
    let mut sum = Crc32::new();
    sum.update(&header[..SUM_AT]);
    copy(file, HEADER_BYTES as u64, total, |bytes, _| {
        sum.update(bytes);
        Ok(())
    })?;
    Ok((sum.clone().finalize().to_le_bytes() == header[SUM_AT..])
        .then_some((at, bytes, new, header)))
}
