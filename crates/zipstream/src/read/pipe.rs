//! The stream decoder over anything that gives bytes.

use std::io::{self, Read};

use super::directory::Entry;
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
    decoder: StreamDecoder,
    input: Vec<u8>,
    /// What of `input` is still to be taken.
    start: usize,
    end: usize,
    at_end: bool,
    output: Vec<u8>,
    /// The event that was seen last, and not asked for.
    waiting: Option<StreamEvent>,
    inside: bool,
}

impl<R: Read> PipeReader<R> {
    /// Reads from the first byte on.
    pub fn new(source: R, options: &ReadOptions) -> Self {
        Self {
            source,
            decoder: StreamDecoder::new(options),
            input: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            output: vec![0; PIECE_BYTES],
            waiting: None,
            inside: false,
        }
    }

    /// Has encrypted entries read, as [`StreamDecoder::set_decryption`] does.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.decoder.set_decryption(decryption);
    }

    /// Passes over the entry at hand: without decoding it where its header says how long it is.
    pub fn skip(&mut self) -> Result<(), Error> {
        if self.inside && self.decoder.skip_entry() {
            self.inside = false;
        }
        self.content(&mut |_: &[u8]| Ok::<_, Error>(())).map(|_| ())
    }

    /// The next entry; what is left of the one before is passed over. `None` where the directory
    /// starts.
    pub fn next_entry(&mut self) -> Result<Option<&StreamEntry>, Error> {
        if self.inside {
            self.content(&mut |_: &[u8]| Ok::<_, Error>(()))?;
        }
        loop {
            match self.event()?.0 {
                StreamEvent::Entry => {
                    self.inside = true;
                    return Ok(self.decoder.entry());
                }
                event @ (StreamEvent::Record | StreamEvent::End) => {
                    self.waiting = Some(event);
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    /// Gives the content of the entry at hand to `sink`, in pieces of up to 128 KiB; its size. It is
    /// verified when this returns.
    pub fn content<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut total = 0;
        while self.inside {
            let (event, produced) = self.event()?;
            if produced > 0 {
                sink(&self.output[..produced])?;
                total += produced as u64;
            }
            self.inside = event != StreamEvent::EntryEnd;
        }
        Ok(total)
    }

    /// The next record of the directory, once there are no more entries; `None` at the end of the
    /// archive.
    pub fn next_record(&mut self) -> Result<Option<Entry<'_>>, Error> {
        loop {
            match self.event()?.0 {
                StreamEvent::Record => return Ok(self.decoder.record()),
                StreamEvent::End => {
                    self.waiting = Some(StreamEvent::End);
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    /// Bytes of the archive that were taken.
    pub fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    /// The next event that is more than a need for input, and the content that came with it.
    fn event(&mut self) -> Result<(StreamEvent, usize), Error> {
        if let Some(event) = self.waiting.take() {
            return Ok((event, 0));
        }
        loop {
            let input = &self.input[self.start..self.end];
            let step = self.decoder.push(input, &mut self.output)?;
            self.start += step.consumed;
            let idle = step.event == StreamEvent::NeedInput
                || (step.event == StreamEvent::Content && step.consumed == 0 && step.produced == 0);
            if step.event == StreamEvent::End && !self.at_end {
                // What follows the archive is to be seen, or refused.
                self.fill()?;
            } else if !idle {
                return Ok((step.event, step.produced));
            } else if self.at_end {
                self.decoder.finish()?;
                return Ok((StreamEvent::End, 0));
            } else {
                self.fill()?;
            }
        }
    }

    fn fill(&mut self) -> Result<(), Error> {
        loop {
            match self.source.read(&mut self.input) {
                Ok(bytes) => {
                    (self.start, self.end) = (0, bytes);
                    self.at_end = bytes == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&error).at(self.decoder.offset())),
            }
        }
    }
}
