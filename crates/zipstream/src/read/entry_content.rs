//! The content of one entry in pieces, decoded on demand: what [`EntryReader`](super::EntryReader) and
//! its counterpart for tokio share.

use std::ops::Range;

use super::encrypted::{self, Body};
use super::entry::Entry;
use super::reader::{ArchiveReader, Scratch, is_small};
use super::source::ReadAt;
#[cfg(feature = "tokio")]
use crate::crypt::aes;
use crate::error::{Error, ErrorKind};
use crate::method::Method;

/// How far the content of an entry has been decoded and read.
pub(crate) struct EntryContent {
    stage: Stage,
    held: Held,
    /// The part of the held content that has not been read.
    unread: Range<usize>,
}

enum Stage {
    Start,
    Large(Box<Body>),
    /// Small content in several steps, of which so much is decoded. It is unread content when all of it is verified.
    Gather(Box<Body>, usize),
    End,
    Failed(Error),
}

/// Where the content that was decoded last is.
#[derive(Clone, Copy)]
enum Held {
    Output,
    Plain,
    /// In the window of the archive, from this byte of the archive on.
    Window(u64),
    Inflater,
}

impl EntryContent {
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::Start,
            held: Held::Output,
            unread: 0..0,
        }
    }

    /// Decodes until there is unread content; returns `false` at the verified end of the entry.
    ///
    /// An error of the source leaves everything as it was, so that the call may be repeated. Any other
    /// error is returned again by every later call.
    pub(crate) fn fill<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        while self.unread.is_empty() {
            if self.step(archive, entry, scratch, usize::MAX)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes on with one step, on about `most` bytes of content and of compressed content, and returns how many it was; there may
    /// be unread content then. `None`: the verified end of the entry. Errors are those of [`fill`](Self::fill).
    pub(crate) fn step<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        most: usize,
    ) -> Result<Option<u64>, Error> {
        let step = self.decode(archive, entry, scratch, most);
        step.map_err(|error| self.fail(entry, error))
    }

    /// The decoded content that has not been read.
    pub(crate) fn unread<'s>(&self, scratch: &'s Scratch) -> &'s [u8] {
        let end = self.unread.end;
        let held = match self.held {
            Held::Output => &scratch.output[..end],
            Held::Plain => &scratch.plain[..end],
            Held::Window(offset) => scratch.window.held(offset, end),
            Held::Inflater => scratch.decoder.lent(end),
        };
        &held[self.unread.start..]
    }

    /// Whether there is decoded content that has not been read.
    #[cfg(feature = "tokio")]
    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// About how much the next [`step`](Self::step) works on.
    #[cfg(feature = "tokio")]
    pub(crate) fn next_bytes(&self, entry: &Entry<'_>, most: usize) -> u64 {
        match &self.stage {
            Stage::Start => entry.content_bytes().min(most as u64),
            Stage::Large(_) | Stage::Gather(..) => most as u64,
            Stage::End | Stage::Failed(_) => 0,
        }
    }

    /// Whether the next [`step`](Self::step) is the first one of several.
    #[cfg(feature = "tokio")]
    pub(crate) fn begins_in_steps(&self, entry: &Entry<'_>, most: usize) -> bool {
        matches!(self.stage, Stage::Start) && !is_whole(entry, most)
    }

    /// Whether the next [`step`](Self::step) makes a key of a password, which is not divided.
    #[cfg(feature = "tokio")]
    pub(crate) fn derives_key(&self, entry: &Entry<'_>) -> bool {
        matches!(self.stage, Stage::Start) && entry.central().method == aes::METHOD
    }

    /// Marks bytes of the unread content as read.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.unread.start = (self.unread.start + bytes).min(self.unread.end);
    }

    fn fail(&mut self, entry: &Entry<'_>, error: Error) -> Error {
        let error = encrypted::explain(entry, error).entry(entry.name_lossy());
        if !matches!(error.kind(), ErrorKind::Io(_)) {
            self.stage = Stage::Failed(error.clone());
        }
        error
    }

    fn decode<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        most: usize,
    ) -> Result<Option<u64>, Error> {
        let bytes = match &mut self.stage {
            Stage::Failed(error) => return Err(error.clone()),
            Stage::End => return Ok(None),
            Stage::Start if is_whole(entry, most) => {
                let data = archive.locate(entry, scratch)?;
                let bytes = archive.whole(entry, scratch, data)?.len();
                let is_stored = entry.method() == Method::Stored;
                self.held = match (is_stored, entry.is_encrypted()) {
                    (true, true) => Held::Plain,
                    (true, false) => Held::Window(data),
                    (false, _) => Held::Output,
                };
                self.unread = 0..bytes;
                self.stage = Stage::End;
                bytes.max(entry.compressed_bytes() as usize)
            }
            Stage::Start => {
                let first = entry.compressed_bytes().min(most as u64);
                let data = archive.locate_and_fetch(entry, scratch, first)?;
                let body = Box::new(archive.begin(entry, scratch, data)?);
                let own = entry.method() == Method::Deflate && !body.is_encrypted();
                let large = !is_small(entry);
                self.held = if own && large {
                    Held::Inflater
                } else {
                    Held::Output
                };
                self.stage = match large {
                    true => Stage::Large(body),
                    false => Stage::Gather(body, 0),
                };
                0
            }
            Stage::Large(body) => match archive.piece(entry, scratch, body, most)? {
                Some((bytes, piece)) => {
                    self.unread = 0..piece.len();
                    bytes
                }
                None => {
                    self.stage = Stage::End;
                    0
                }
            },
            Stage::Gather(body, filled) => {
                match archive.gather(entry, scratch, body, filled, most)? {
                    Some(bytes) => bytes,
                    None => {
                        self.unread = 0..*filled;
                        self.stage = Stage::End;
                        0
                    }
                }
            }
        };
        Ok(Some(bytes as u64))
    }
}

/// Whether the content is decoded and verified in one step.
fn is_whole(entry: &Entry<'_>, most: usize) -> bool {
    is_small(entry) && entry.content_bytes().max(entry.compressed_bytes()) <= most as u64
}

impl std::fmt::Debug for EntryContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryContent")
            .field("unread", &self.unread)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
