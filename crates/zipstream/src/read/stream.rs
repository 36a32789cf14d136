//! An archive as it comes, from its first byte on: local headers, contents, then the directory.
//! No I/O, no seeking.
//!
//! What only the directory says (modes, links) is known at the end; it is told then.

use super::directory::Entry;
use super::options::ReadOptions;
use super::refuse_encrypted;
use crate::engine::content::{Bounds, ContentDecoder, limit};
use crate::error::{Error, ErrorKind};
use crate::format::central::{self, CENTRAL_BYTES, Central};
use crate::format::end::{END_BYTES, END64_BYTES, End, LOCATOR_BYTES};
use crate::format::local::{self, LOCAL_BYTES, Local, descriptor_bytes};
use crate::format::{
    CENTRAL_SIGNATURE, END_SIGNATURE, END64_SIGNATURE, EXTRA_DATA_SIGNATURE, LOCAL_SIGNATURE,
    LOCATOR_SIGNATURE, extra, flag, le32, le64, names, time,
};
use crate::method::Method;

/// The longest descriptor. The end record, the shortest thing that follows one, is not shorter
/// than what may be held too much: no archive ends before it.
const DESCRIPTOR_BYTES_MAX: usize = 24;
/// A ZIP64 end record with more data than this is refused.
const END64_EXTRA_BYTES_MAX: u64 = 1 << 16;

/// An entry as its local header has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamEntry {
    /// The name.
    pub name: String,
    /// How it is compressed.
    pub method: Method,
    /// Its content, where the header states it.
    pub content_bytes: Option<u64>,
    /// Seconds since 1970.
    pub modified: i64,
    /// Where its local header starts in the archive.
    pub offset: u64,
}

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent {
    /// Nothing: more input is needed.
    NeedInput,
    /// An entry starts: see [`StreamDecoder::entry`].
    Entry,
    /// Content was produced, or can be with more input.
    Content,
    /// The entry is complete and verified.
    EntryEnd,
    /// A record of the directory: see [`StreamDecoder::record`].
    Record,
    /// The archive is complete.
    End,
}

/// What one call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamStep {
    /// Input that was taken.
    pub consumed: usize,
    /// Content that was produced.
    pub produced: usize,
    /// What it came to.
    pub event: StreamEvent,
}

/// Reads an archive in the order of its bytes.
pub struct StreamDecoder {
    options: ReadOptions,
    state: State,
    /// The record at hand, as far as it has come.
    held: Vec<u8>,
    /// Bytes that were taken.
    offset: u64,
    entry: Option<StreamEntry>,
    header: Header,
    decoder: ContentDecoder,
    seen: Vec<Seen>,
    records: u64,
    directory_start: Option<u64>,
    directory_end: u64,
    wide_end: Option<End>,
    total: u64,
    error: Option<Error>,
}

/// What the local header at hand says that the end of the entry is held to.
#[derive(Debug, Clone, Copy, Default)]
struct Header {
    descriptor: bool,
    wide: bool,
    crc32: u32,
    compressed: u64,
    content: u64,
}

/// What is remembered of an entry, to hold the directory to it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    offset: u64,
    crc32: u32,
    name_crc32: u32,
    compressed: u64,
    content: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a record; what has come of it is held.
    Record,
    Content,
    Descriptor,
    /// A record was handed out and is still held.
    Told,
    /// Bytes to pass over, then a record.
    Skip(u64),
    Comment(u64),
    End,
}

impl StreamDecoder {
    /// Reads an archive from its first byte.
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            options: *options,
            state: State::Record,
            held: Vec::new(),
            offset: 0,
            entry: None,
            header: Header::default(),
            decoder: ContentDecoder::default(),
            seen: Vec::new(),
            records: 0,
            directory_start: None,
            directory_end: 0,
            wide_end: None,
            total: 0,
            error: None,
        }
    }

    /// The entry at hand.
    pub fn entry(&self) -> Option<&StreamEntry> {
        self.entry.as_ref()
    }

    /// The record at hand, right after [`StreamEvent::Record`].
    pub fn record(&self) -> Option<Entry<'_>> {
        if self.state != State::Told {
            return None;
        }
        let central = Central::parse(&self.held)?;
        let at = self.offset - self.held.len() as u64;
        Entry::new(central, self.records, at, 0).ok()
    }

    /// Bytes of the archive that were taken.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes input and gives content. After an error every call repeats it.
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<StreamStep, Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let result = self.run(input, output);
        result.inspect_err(|error| self.error = Some(error.clone()))
    }

    /// Says whether the input may end here.
    pub fn finish(&self) -> Result<(), Error> {
        match (&self.error, self.state) {
            (Some(error), _) => Err(error.clone()),
            (None, State::End) => Ok(()),
            _ if self.offset == 0 => {
                Err(Error::new(ErrorKind::NotZip, "no input, so no ZIP archive"))
            }
            _ => Err(self.named(Error::truncated(self.offset, "the archive ends too early"))),
        }
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<StreamStep, Error> {
        let mut taken = 0;
        loop {
            let event = match self.state {
                State::Record => self.gather(input, &mut taken)?,
                State::Told => {
                    self.held.clear();
                    self.state = State::Record;
                    None
                }
                State::Content => return self.content(input, output, taken),
                State::Descriptor => self.descriptor(input, &mut taken)?,
                State::Skip(left) => {
                    let left = self.pass(left, input, &mut taken);
                    self.state = left.map_or(State::Record, State::Skip);
                    left.map(|_| StreamEvent::NeedInput)
                }
                State::Comment(left) => {
                    let left = self.pass(left, input, &mut taken);
                    self.state = left.map_or(State::End, State::Comment);
                    left.map(|_| StreamEvent::NeedInput)
                }
                State::End => {
                    if taken < input.len() && self.options.is_strict() {
                        return Err(Error::corrupt(self.offset, "bytes follow the archive"));
                    }
                    self.pass(u64::MAX, input, &mut taken);
                    Some(StreamEvent::End)
                }
            };
            if let Some(event) = event {
                return Ok(StreamStep {
                    consumed: taken,
                    produced: 0,
                    event,
                });
            }
        }
    }

    /// Passes over input; what is left to be passed over, if anything is.
    fn pass(&mut self, left: u64, input: &[u8], taken: &mut usize) -> Option<u64> {
        let bytes = left.min((input.len() - *taken) as u64);
        *taken += bytes as usize;
        self.offset += bytes;
        (left > bytes).then(|| left - bytes)
    }

    /// Holds input until `bytes` are held; whether they are.
    fn hold(&mut self, bytes: usize, input: &[u8], taken: &mut usize) -> bool {
        let missing = bytes.saturating_sub(self.held.len());
        let part = &input[*taken..];
        let part = &part[..part.len().min(missing)];
        self.held.extend_from_slice(part);
        *taken += part.len();
        self.offset += part.len() as u64;
        part.len() == missing
    }

    /// The byte of the archive that what is held starts at, where some of it may be of the next
    /// record.
    fn held_start(&self) -> u64 {
        self.offset - self.held.len() as u64
    }

    /// Completes the record at hand.
    fn gather(&mut self, input: &[u8], taken: &mut usize) -> Result<Option<StreamEvent>, Error> {
        let wait = Ok(Some(StreamEvent::NeedInput));
        if !self.hold(4, input, taken) {
            return wait;
        }
        let start = self.held_start();
        let signature = le32(&self.held, 0);
        let fixed = match signature {
            LOCAL_SIGNATURE if self.directory_start.is_some() => {
                let what = "an entry behind the start of the directory";
                return Err(Error::corrupt(start, what));
            }
            LOCAL_SIGNATURE => LOCAL_BYTES,
            CENTRAL_SIGNATURE => CENTRAL_BYTES,
            END64_SIGNATURE => END64_BYTES,
            LOCATOR_SIGNATURE => LOCATOR_BYTES,
            END_SIGNATURE => END_BYTES,
            EXTRA_DATA_SIGNATURE => {
                let what = "an encrypted directory";
                return Err(Error::new(ErrorKind::Unsupported, what).at(start));
            }
            _ => return Err(unknown(start)),
        };
        if !self.hold(fixed, input, taken) {
            return wait;
        }
        let whole = match signature {
            LOCAL_SIGNATURE => self.held.first_chunk().map(local::total_bytes),
            CENTRAL_SIGNATURE => self.held.first_chunk().map(central::total_bytes),
            _ => None,
        };
        if !self.hold(whole.unwrap_or(fixed), input, taken) {
            return wait;
        }
        match signature {
            LOCAL_SIGNATURE => self.local(start).map(Some),
            CENTRAL_SIGNATURE => self.central(start).map(Some),
            _ => self.end(signature, start).map(|()| None),
        }
    }

    fn local(&mut self, start: u64) -> Result<StreamEvent, Error> {
        let Some(local) = Local::parse(&self.held) else {
            return Err(Error::corrupt(start, "no local header"));
        };
        let utf8 = local.flags & flag::UTF8 != 0;
        let Some(name) = names::decode(local.name, utf8, local.extra) else {
            let what = "its name is not the UTF-8 that it should be";
            let name = String::from_utf8_lossy(local.name);
            return Err(Error::new(ErrorKind::Name, what).entry(name).at(start));
        };
        let known = !local.has_descriptor();
        let (content, compressed) = local.sizes();
        let entry = StreamEntry {
            name: name.into_owned(),
            method: Method::of(local.method),
            content_bytes: known.then_some(content),
            modified: extra::modified(local.extra)
                .unwrap_or_else(|| time::from_dos(local.time, local.date)),
            offset: start,
        };
        let named = |error: Error| error.at(start).entry(entry.name.clone());
        let encrypted = local.flags & flag::ENCRYPTED != 0 || local.method == 99;
        refuse_encrypted(local.flags, encrypted, start).map_err(named)?;
        let limits = &self.options.limits;
        if self.seen.len() as u64 >= limits.entries {
            let what = format!("more than {} entries", limits.entries);
            return Err(Error::new(ErrorKind::Limit, what).at(start));
        }
        if entry.method == Method::Stored && known && content != compressed {
            let what = "stored, but with two different sizes";
            return Err(named(Error::new(ErrorKind::Size, what)));
        }
        let bounds = Bounds {
            stated: known.then_some(content),
            compressed: known.then_some(compressed),
            limit: limits
                .entry_bytes
                .min(limits.total_bytes.saturating_sub(self.total)),
            ratio: limits.ratio,
        };
        self.decoder.start(entry.method, bounds).map_err(named)?;
        self.header = Header {
            descriptor: !known,
            wide: local.is_zip64(),
            crc32: local.crc32,
            compressed,
            content,
        };
        self.seen.push(Seen {
            offset: start,
            crc32: 0,
            name_crc32: libdeflater::crc32(local.name),
            compressed: 0,
            content: 0,
        });
        self.entry = Some(entry);
        self.held.clear();
        self.state = State::Content;
        Ok(StreamEvent::Entry)
    }

    fn named(&self, error: Error) -> Error {
        match &self.entry {
            Some(entry) => error.at(self.offset).entry(entry.name.clone()),
            None => error.at(self.offset),
        }
    }

    fn content(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        taken: usize,
    ) -> Result<StreamStep, Error> {
        let mut rest = &input[taken..];
        let mut last = false;
        if !self.header.descriptor {
            let left = self
                .header
                .compressed
                .saturating_sub(self.decoder.consumed());
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            last = rest.len() >= left;
            rest = &rest[..rest.len().min(left)];
        }
        let step = self.decoder.push(rest, output, last);
        let step = step.map_err(|error| self.named(error))?;
        self.offset += step.consumed as u64;
        self.total += step.produced as u64;
        if self.total > self.options.limits.total_bytes {
            return Err(self.named(limit(self.options.limits.total_bytes)));
        }
        let event = match (step.done, step.consumed + step.produced) {
            (true, _) => self.content_end()?,
            (false, 0) => StreamEvent::NeedInput,
            (false, _) => StreamEvent::Content,
        };
        Ok(StreamStep {
            consumed: taken + step.consumed,
            produced: step.produced,
            event,
        })
    }

    /// The content is complete; its descriptor may still come.
    fn content_end(&mut self) -> Result<StreamEvent, Error> {
        if self.header.descriptor {
            self.state = State::Descriptor;
            return Ok(StreamEvent::Content);
        }
        let left = self
            .header
            .compressed
            .saturating_sub(self.decoder.consumed());
        if left > 0 && self.options.is_strict() {
            let what = format!("{left} bytes are left behind its compressed content");
            return Err(self.named(Error::new(ErrorKind::Corrupt, what)));
        }
        let verified = self.decoder.verify(self.header.crc32, self.header.content);
        verified.map_err(|error| self.named(error))?;
        self.remember(left);
        self.state = State::Skip(left);
        Ok(StreamEvent::EntryEnd)
    }

    fn remember(&mut self, left: u64) {
        if let Some(seen) = self.seen.last_mut() {
            seen.crc32 = self.decoder.crc32();
            seen.compressed = self.decoder.consumed() + left;
            seen.content = self.decoder.produced();
        }
    }

    fn descriptor(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        if !self.hold(4, input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        let goes_on = self.decoder.goes_on(&self.held);
        if goes_on.map_err(|error| self.named(error))? {
            self.held.clear();
            self.state = State::Content;
            return Ok(None);
        }
        // What is held too much is the start of the next record.
        if !self.hold(DESCRIPTOR_BYTES_MAX, input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        let decoder = &self.decoder;
        let values = (decoder.crc32(), decoder.consumed(), decoder.produced());
        let Some(bytes) = descriptor_bytes(&self.held, values, self.header.wide) else {
            let what = "its descriptor states other sizes or another checksum";
            return Err(self.named(Error::new(ErrorKind::Mismatch, what)));
        };
        self.held.drain(..bytes);
        self.remember(0);
        self.state = State::Record;
        Ok(Some(StreamEvent::EntryEnd))
    }

    fn central(&mut self, start: u64) -> Result<StreamEvent, Error> {
        let first = *self.directory_start.get_or_insert(start);
        self.directory_end = self.offset;
        self.entry = None;
        if self.offset - first > self.options.limits.directory_bytes {
            let what = "a directory beyond the limit of its size";
            return Err(Error::new(ErrorKind::Limit, what).at(start));
        }
        let Some(central) = Central::parse(&self.held) else {
            return Err(Error::corrupt(start, "no directory record"));
        };
        let record = Entry::new(central, self.records, start, 0)?;
        if self.options.is_strict() && !self.matches(&record) {
            let what = "the directory says something else than its local header";
            let error = Error::new(ErrorKind::Mismatch, what).at(start);
            return Err(error.entry(record.name_lossy()));
        }
        self.records += 1;
        self.state = State::Told;
        Ok(StreamEvent::Record)
    }

    /// Whether a record says what was seen of its entry.
    fn matches(&self, record: &Entry<'_>) -> bool {
        let offset = record.offset();
        let at = self.seen.binary_search_by_key(&offset, |seen| seen.offset);
        let stated = (
            record.crc32(),
            record.compressed_bytes(),
            record.content_bytes(),
        );
        at.is_ok_and(|at| {
            let seen = &self.seen[at];
            (seen.crc32, seen.compressed, seen.content) == stated
                && seen.name_crc32 == libdeflater::crc32(record.name_bytes())
        })
    }

    fn end(&mut self, signature: u32, start: u64) -> Result<(), Error> {
        self.state = State::Record;
        if signature == END64_SIGNATURE {
            let Some(end) = End::parse64(&self.held) else {
                return Err(Error::corrupt(start, "no ZIP64 end record"));
            };
            let more = le64(&self.held, 4).saturating_sub(44);
            if more > END64_EXTRA_BYTES_MAX {
                let what = "a ZIP64 end record with too much data";
                return Err(Error::new(ErrorKind::Limit, what).at(start));
            }
            self.wide_end = Some(end);
            self.state = State::Skip(more);
        } else if signature == END_SIGNATURE {
            let Some(end) = End::parse(&self.held) else {
                return Err(Error::corrupt(start, "no end record"));
            };
            self.state = State::Comment(end.comment_bytes as u64);
            self.judge_end(&end, start)?;
        }
        self.entry = None;
        self.held.clear();
        Ok(())
    }

    fn judge_end(&self, narrow: &End, at: u64) -> Result<(), Error> {
        if !self.options.is_strict() {
            return Ok(());
        }
        let end = self.wide_end.as_ref().unwrap_or(narrow);
        let start = self.directory_start.unwrap_or(end.directory_offset);
        let bytes = self.directory_end.saturating_sub(start);
        let right = narrow.agrees_with(end)
            && end.entries == (self.records, self.records)
            && self.seen.len() as u64 == self.records
            && (end.directory_offset, end.directory_bytes) == (start, bytes);
        if right {
            return Ok(());
        }
        let what = "the end record says something else than what came before it";
        Err(Error::new(ErrorKind::Mismatch, what).at(at))
    }
}

fn unknown(start: u64) -> Error {
    if start == 0 {
        Error::new(ErrorKind::NotZip, "no ZIP archive starts like this")
            .at(0)
            .help("read it from a file if something stands before the archive")
    } else {
        Error::corrupt(start, "neither an entry nor the directory")
            .help("read it from a file, where the directory is trusted")
    }
}

impl std::fmt::Debug for StreamDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamDecoder")
            .field("offset", &self.offset)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
