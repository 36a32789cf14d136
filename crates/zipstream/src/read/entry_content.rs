//! The content of one entry in pieces, decoded on demand: what [`EntryReader`](super::EntryReader) and
//! its counterpart for tokio share.

use std::ops::Range;

use super::encrypted::{self, Body};
use super::entry::Entry;
#[cfg(feature = "tokio")]
use super::reader::PIECE_BYTES;
use super::reader::{ArchiveReader, Scratch, is_small};
use super::source::ReadAt;
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
            match self.step(archive, entry, scratch) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.fail(entry, error)),
            }
        }
        Ok(true)
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

    /// About how much content the next [`fill`](Self::fill) decodes.
    #[cfg(feature = "tokio")]
    pub(crate) fn next_bytes(&self, entry: &Entry<'_>) -> u64 {
        match &self.stage {
            _ if self.has_unread() => 0,
            Stage::Start if is_small(entry) => entry.content_bytes(),
            Stage::Start | Stage::Large(_) => PIECE_BYTES as u64,
            Stage::End | Stage::Failed(_) => 0,
        }
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

    /// Decodes the next piece, which may be empty; `false` at the end.
    fn step<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        match &mut self.stage {
            Stage::Failed(error) => return Err(error.clone()),
            Stage::End => return Ok(false),
            Stage::Start => {
                let data = archive.locate(entry, scratch)?;
                let is_stored = entry.method() == Method::Stored;
                if is_small(entry) {
                    let bytes = archive.whole(entry, scratch, data)?.len();
                    self.held = match (is_stored, entry.is_encrypted()) {
                        (true, true) => Held::Plain,
                        (true, false) => Held::Window(data),
                        (false, _) => Held::Output,
                    };
                    self.unread = 0..bytes;
                    self.stage = Stage::End;
                } else {
                    let body = archive.begin(entry, scratch, data)?;
                    let own = entry.method() == Method::Deflate && !body.is_encrypted();
                    self.held = if own { Held::Inflater } else { Held::Output };
                    self.stage = Stage::Large(Box::new(body));
                }
            }
            Stage::Large(body) => match archive.piece(entry, scratch, body)? {
                Some(piece) => self.unread = 0..piece.len(),
                None => self.stage = Stage::End,
            },
        }
        Ok(true)
    }
}

impl std::fmt::Debug for EntryContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryContent")
            .field("unread", &self.unread)
            .finish_non_exhaustive()
    }
}
