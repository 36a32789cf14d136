//! The stream decoder with buffers, and over a [`Read`].

use std::io::{self, Read};
use std::ops::Range;

use super::entry::Entry;
use super::options::ReadOptions;
use super::stream::{StreamDecoder, StreamEntry, StreamEvent};
use crate::crypt::Decryption;
use crate::error::Error;

/// One read.
const READ_BYTES: usize = 128 << 10;
/// Content of one piece.
const PIECE_BYTES: usize = 128 << 10;

/// Reads an archive from a [`Read`], in the order of its bytes.
///
/// ```
/// use zipstream::{ArchiveWriter, EntryOptions, PipeReader, ReadOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
/// while let Some(entry) = pipe.next_entry()? {
///     assert_eq!(entry.name, "a.txt");
///     pipe.content(&mut |piece: &[u8]| {
///         assert_eq!(piece, b"first");
///         Ok::<_, zipstream::Error>(())
///     })?;
/// }
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct PipeReader<R> {
    source: R,
    pub(super) pipe: Buffered,
}

impl<R: Read> PipeReader<R> {
    /// Reads from the first byte of the archive on.
    pub fn new(source: R, options: &ReadOptions) -> Self {
        Self {
            source,
            pipe: Buffered::new(options),
        }
    }

    /// Sets the password for encrypted entries, as [`StreamDecoder::set_decryption`] does.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.pipe.set_decryption(decryption);
    }

    /// Skips the current entry, without decoding it if its header states its size.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.pipe.skip();
        self.content(&mut |_: &[u8]| Ok::<_, Error>(())).map(|_| ())
    }

    /// The next entry; skips the rest of the current one. `None` where the directory starts.
    pub fn next_entry(&mut self) -> Result<Option<&StreamEntry>, Error> {
        let entry = loop {
            match self.pipe.next_entry(usize::MAX)? {
                Next::Is(entry) => break entry,
                Next::Missing => self.fill()?,
                Next::Spent => {}
            }
        };
        Ok(if entry { self.pipe.entry() } else { None })
    }

    /// Passes the unread content of the current entry to `sink`, in pieces of up to 128 KiB, and
    /// returns its size. The content is verified when this call returns.
    pub fn content<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut total = 0;
        loop {
            match self.pipe.next_piece(usize::MAX)? {
                Piece::Missing => self.fill()?,
                Piece::Spent => {}
                Piece::Content => {
                    let piece = self.pipe.take_piece();
                    sink(piece)?;
                    total += piece.len() as u64;
                }
                Piece::End => return Ok(total),
            }
        }
    }

    /// The next record of the directory, after the last entry; `None` at the end of the archive.
    pub fn next_record(&mut self) -> Result<Option<Entry<'_>>, Error> {
        let record = loop {
            match self.pipe.next_record(usize::MAX)? {
                Next::Is(record) => break record,
                Next::Missing => self.fill()?,
                Next::Spent => {}
            }
        };
        Ok(if record { self.pipe.record() } else { None })
    }

    /// The options it was made with.
    pub fn options(&self) -> &ReadOptions {
        self.pipe.options()
    }

    /// Bytes of the archive read so far.
    pub fn offset(&self) -> u64 {
        self.pipe.offset()
    }

    /// The number of bytes before the first entry, such as the program of a self-extracting archive, once
    /// that was read. The strict profile takes none.
    pub fn preceding_bytes(&self) -> u64 {
        self.pipe.preceding_bytes()
    }

    /// Whether reading can continue with the next entry after an error, as
    /// [`StreamDecoder::can_go_on`] says.
    pub fn can_go_on(&self) -> bool {
        self.pipe.can_go_on()
    }

    /// Reads more input from the source.
    pub(super) fn fill(&mut self) -> Result<(), Error> {
        loop {
            match self.source.read(self.pipe.room()) {
                Ok(bytes) => {
                    self.pipe.filled(bytes);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&error).at(self.offset())),
            }
        }
    }
}

/// The decoder and its buffers, without I/O. It reports when input is missing and is called again
/// with more. A call does one step, on about `most` bytes of content and of input, or all there is to do if that is the
/// largest number.
#[derive(Debug)]
pub(crate) struct Buffered {
    decoder: StreamDecoder,
    input: Vec<u8>,
    /// The part of `input` that has not been decoded.
    start: usize,
    end: usize,
    at_end: bool,
    output: Vec<u8>,
    /// The part of `output` that has not been taken.
    unread: Range<usize>,
    /// Why the content of the current entry failed; every later read of it fails the same way.
    failed: Option<Error>,
    /// The last event, if it has not been handled yet.
    waiting: Option<StreamEvent>,
    inside: bool,
    /// Whether the last error allows reading the next entry.
    refused: bool,
    /// How much was worked on.
    #[cfg(feature = "tokio")]
    worked: u64,
}

/// The next step through a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// More input is needed.
    Missing,
    /// Content: see [`Buffered::piece`].
    Content,
    /// The end: all content was returned and verified.
    End,
    /// Nothing yet: a step was done.
    Spent,
}

/// Whether something follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Is(bool),
    /// More input is needed.
    Missing,
    /// It is not known yet: a step was done.
    Spent,
}

impl Buffered {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            decoder: StreamDecoder::new(options),
            input: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            output: vec![0; PIECE_BYTES],
            unread: 0..0,
            failed: None,
            waiting: None,
            inside: false,
            refused: false,
            #[cfg(feature = "tokio")]
            worked: 0,
        }
    }

    /// Room for input; earlier input has been decoded.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.input
    }

    /// Counts input written into the room; 0 is the end of the input.
    pub(crate) fn filled(&mut self, bytes: usize) {
        (self.start, self.end) = (0, bytes);
        self.at_end = bytes == 0;
    }

    pub(crate) fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.decoder.set_decryption(decryption);
    }

    /// Leaves the current entry if its header states its size; otherwise its content still has to
    /// be decoded.
    pub(crate) fn skip(&mut self) {
        self.unread = 0..0;
        if self.inside && self.decoder.skip_entry() {
            self.inside = false;
        }
    }

    /// Whether an entry follows.
    pub(crate) fn next_entry(&mut self, most: usize) -> Result<Next, Error> {
        self.failed = None;
        loop {
            match self.next_piece(most)? {
                Piece::Missing => return Ok(Next::Missing),
                Piece::Spent => return Ok(Next::Spent),
                Piece::Content if most < usize::MAX => {
                    self.unread = 0..0;
                    return Ok(Next::Spent);
                }
                Piece::Content => self.unread = 0..0,
                Piece::End => break,
            }
        }
        loop {
            match self.event(most)? {
                None => return Ok(Next::Missing),
                Some((StreamEvent::Entry, _)) => {
                    self.inside = true;
                    return Ok(Next::Is(true));
                }
                Some((event @ (StreamEvent::Record | StreamEvent::End), _)) => {
                    self.waiting = Some(event);
                    return Ok(Next::Is(false));
                }
                Some(_) if most < usize::MAX => return Ok(Next::Spent),
                Some(_) => {}
            }
        }
    }

    /// Decodes the current entry until some content can be taken.
    pub(crate) fn next_piece(&mut self, most: usize) -> Result<Piece, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        while self.unread.is_empty() {
            if !self.inside {
                return Ok(Piece::End);
            }
            let event = self.event(most).inspect_err(|error| {
                self.failed = Some(error.clone());
            });
            let Some((event, produced)) = event? else {
                return Ok(Piece::Missing);
            };
            self.inside = event != StreamEvent::EntryEnd;
            self.unread = 0..produced;
            if self.inside && produced == 0 && most < usize::MAX {
                return Ok(Piece::Spent);
            }
        }
        Ok(Piece::Content)
    }

    /// Whether a record follows.
    pub(crate) fn next_record(&mut self, most: usize) -> Result<Next, Error> {
        loop {
            match self.event(most)? {
                None => return Ok(Next::Missing),
                Some((StreamEvent::Record, _)) => return Ok(Next::Is(true)),
                Some((StreamEvent::End, _)) => {
                    self.waiting = Some(StreamEvent::End);
                    return Ok(Next::Is(false));
                }
                Some(_) if most < usize::MAX => return Ok(Next::Spent),
                Some(_) => {}
            }
        }
    }

    /// How much was worked on since the last call.
    #[cfg(feature = "tokio")]
    pub(crate) fn take_worked(&mut self) -> u64 {
        std::mem::take(&mut self.worked)
    }

    pub(crate) fn can_go_on(&self) -> bool {
        self.refused
    }

    /// The current entry.
    pub(crate) fn entry(&self) -> Option<&StreamEntry> {
        self.decoder.entry()
    }

    /// The current record.
    pub(crate) fn record(&self) -> Option<Entry<'_>> {
        self.decoder.record()
    }

    /// The decoded content that has not been taken.
    pub(crate) fn piece(&self) -> &[u8] {
        &self.output[self.unread.clone()]
    }

    /// Takes bytes of that content.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.unread.start = (self.unread.start + bytes).min(self.unread.end);
    }

    /// Takes all of that content.
    pub(crate) fn take_piece(&mut self) -> &[u8] {
        let piece = std::mem::replace(&mut self.unread, 0..0);
        &self.output[piece]
    }

    pub(crate) fn options(&self) -> &ReadOptions {
        self.decoder.options()
    }

    pub(crate) fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    pub(crate) fn preceding_bytes(&self) -> u64 {
        self.decoder.preceding_bytes()
    }

    /// The next event, and the size of its content; `None` if input is missing. A request for input is one where only a part of
    /// it was taken.
    fn event(&mut self, most: usize) -> Result<Option<(StreamEvent, usize)>, Error> {
        if let Some(event) = self.waiting.take() {
            return Ok(Some((event, 0)));
        }
        let held = &self.input[self.start..self.end];
        let input = &held[..held.len().min(most)];
        let is_part = input.len() < held.len();
        let room = self.output.len().min(most);
        let step = self.decoder.push(input, &mut self.output[..room]);
        // The refused entry has been skipped.
        self.refused = step.is_err() && self.decoder.can_go_on();
        self.inside &= !self.refused;
        let step = step?;
        self.start += step.consumed;
        #[cfg(feature = "tokio")]
        {
            self.worked += step.consumed.max(step.produced) as u64;
        }
        let idle = step.event == StreamEvent::NeedInput
            || (step.event == StreamEvent::Content && step.consumed == 0 && step.produced == 0);
        // Bytes after the archive must be seen, to be accepted or refused.
        let ended = step.event == StreamEvent::End;
        if !idle && !ended {
            return Ok(Some((step.event, step.produced)));
        }
        if is_part && !ended {
            return match step.consumed {
                // It may need more than that at once.
                0 => self.event(usize::MAX),
                _ => Ok(Some((step.event, 0))),
            };
        }
        if self.at_end {
            self.decoder.finish()?;
            return Ok(Some((StreamEvent::End, 0)));
        }
        Ok(None)
    }
}
