//! An archive as it comes, from its first byte on: local headers, contents, then the directory.
//! No I/O, no seeking.
//!
//! What an entry goes through before and behind its content is in [`content`].
//!
//! What only the directory says (modes, links) is known at the end; it is told then.

mod content;

use super::directory::Entry;
use super::layout::{self, Names, SHARED_FLAGS};
use super::locate::split;
use super::options::{ReadOptions, is_padding};
use super::refuse_unreadable;
use crate::crypt::open::{Opened, Scheme, doubt};
use crate::crypt::{Decryption, aes};
use crate::edit::Facts;
use crate::engine::content::ContentDecoder;
use crate::error::{Error, ErrorKind};
use crate::format::central::{self, CENTRAL_BYTES, Central};
use crate::format::end::{END_BYTES, END64_BYTES, End, LOCATOR_BYTES};
use crate::format::local::{self, LOCAL_BYTES, Local};
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
    /// Whether its content is encrypted.
    pub encrypted: bool,
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
    /// Where the content of the entry at hand starts.
    content_start: u64,
    entry: Option<StreamEntry>,
    header: Header,
    decoder: ContentDecoder,
    decryption: Option<Decryption>,
    /// Why the entry at hand is not read.
    refused: Option<Error>,
    /// The decryption of the entry at hand.
    opened: Option<Opened>,
    /// Whether its content is for nobody.
    passing: bool,
    seen: Vec<Seen>,
    /// Their names, in the strict profile.
    names: Names,
    records: u64,
    directory_start: Option<u64>,
    directory_end: u64,
    wide_end: Option<End>,
    total: u64,
    /// Bytes behind the archive.
    padding: u64,
    error: Option<Error>,
}

/// What the local header at hand says that the end of the entry is held to.
#[derive(Debug, Clone, Copy, Default)]
struct Header {
    descriptor: bool,
    /// Whether sizes stand before the content.
    stated: bool,
    /// Whether a mark ends the compressed content (LZMA).
    marker: bool,
    wide: bool,
    crc32: u32,
    /// Without what encryption adds.
    compressed: u64,
    content: u64,
    scheme: Option<Scheme>,
}

impl Header {
    /// What encryption adds to the compressed content.
    fn outer_bytes(&self) -> u64 {
        self.scheme.map_or(0, |scheme| {
            (scheme.header_bytes() + scheme.code_bytes()) as u64
        })
    }

    /// The checksum to hold the content to, of those found and stated.
    fn crc32(&self, found: u32, stated: u32) -> u32 {
        self.scheme
            .map_or(stated, |scheme| scheme.crc32(found, stated))
    }
}

/// What is remembered of an entry, to hold the directory to it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    method: u16,
    flags: u16,
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
    /// An entry was told of, and nothing of its content was taken.
    Begin,
    /// Before the header of what is encrypted.
    Seal,
    Content,
    /// The entry cannot be read, and is passed over once that was told.
    Refused,
    /// Before the code of what is encrypted.
    Code,
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
            content_start: 0,
            entry: None,
            header: Header::default(),
            decoder: ContentDecoder::default(),
            decryption: None,
            refused: None,
            opened: None,
            passing: false,
            seen: Vec::new(),
            names: Names::default(),
            records: 0,
            directory_start: None,
            directory_end: 0,
            wide_end: None,
            total: 0,
            padding: 0,
            error: None,
        }
    }

    /// Has encrypted entries read. AES entries only where content is [released
    /// early](Decryption::release_early): their codes come last.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.decryption = decryption;
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

    /// What the last entry came to, and where it ends with its descriptor.
    pub(crate) fn last_entry(&self) -> Option<(Facts, u64)> {
        let seen = self.seen.last()?;
        let facts = Facts {
            crc32: seen.crc32,
            compressed: seen.compressed,
            content: seen.content,
        };
        Some((facts, self.held_start()))
    }

    /// Bytes of the archive that were taken.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes input and gives content. After an error every call repeats it, unless it
    /// [goes on](StreamDecoder::can_go_on).
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<StreamStep, Error> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let result = self.run(input, output);
        if let Err(error) = &result
            && self.refused.take().is_none()
        {
            self.error = Some(error.clone());
        }
        result
    }

    /// Whether what follows an error can be read: an entry with another password or of an unknown
    /// method is passed over where its header says how long it is.
    pub fn can_go_on(&self) -> bool {
        self.error.is_none()
    }

    /// Says whether the input may end here.
    pub fn finish(&self) -> Result<(), Error> {
        match (&self.error, self.state) {
            (Some(error), _) => Err(error.clone()),
            (None, State::End) => {
                let fills = self.padding == 0 || is_padding(self.padding, self.offset);
                match fills || !self.options.is_strict() {
                    true => Ok(()),
                    false => Err(follows(self.offset - self.padding)),
                }
            }
            _ if self.offset == 0 => {
                Err(Error::new(ErrorKind::NotZip, "no input, so no ZIP archive"))
            }
            _ => Err(self.named(Error::truncated(self.offset, "the archive ends too early"))),
        }
    }

    /// Judges bytes behind the archive: zeros may fill a block.
    fn behind(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.padding += bytes.len() as u64;
        let zeros = bytes.iter().all(|byte| *byte == 0);
        // Whether they end with a block shows at the end.
        if self.options.is_strict() && !(zeros && is_padding(self.padding, 0)) {
            return Err(follows(self.offset));
        }
        Ok(())
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
                State::Begin => {
                    if let Err(error) = self.begin() {
                        self.refuse(error);
                        continue;
                    }
                    None
                }
                State::Refused => {
                    // What was taken until now is told of first.
                    if taken > 0 {
                        Some(StreamEvent::Content)
                    } else {
                        return Err(self.give_up());
                    }
                }
                State::Seal => self.open(input, &mut taken)?,
                State::Code => self.code(input, &mut taken)?,
                State::Content => {
                    let step = self.content(input, output, taken)?;
                    // An end without a byte is no lack of input.
                    let moved = self.state != State::Content && step.event == StreamEvent::Content;
                    if moved && step.consumed == taken && step.produced == 0 {
                        continue;
                    }
                    return Ok(step);
                }
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
                    self.behind(&input[taken..])?;
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
        let name = name.into_owned();
        let known = !local.has_descriptor();
        let (content, mut compressed) = local.sizes();
        let mut entry = StreamEntry {
            name: name.clone(),
            encrypted: local.flags & flag::ENCRYPTED != 0 || local.method == aes::METHOD,
            method: Method::of(local.method),
            content_bytes: known.then_some(content),
            modified: extra::modified(local.extra)
                .unwrap_or_else(|| time::from_dos(local.time, local.date)),
            offset: start,
        };
        let named = |error: Error| error.at(start).entry(name.clone());
        refuse_unreadable(local.flags, start).map_err(named)?;
        let check = (local.crc32, local.time);
        let scheme = Scheme::of(local.flags, local.method, local.extra, check).map_err(named)?;
        if let Some(Scheme::Aes(field)) = &scheme {
            entry.method = Method::of(field.method);
        }
        let limits = &self.options.limits;
        if self.seen.len() as u64 >= limits.entries {
            let what = format!("more than {} entries", limits.entries);
            return Err(Error::new(ErrorKind::Limit, what).at(start));
        }
        // Some state sizes in both places; only so can the end of a stored content be known.
        // An empty one needs no more than its descriptor, which is held to that.
        let empty = content == 0 && scheme.is_none();
        let stated = known || (entry.method == Method::Stored && (compressed > 0 || empty));
        if let (Some(scheme), true) = (&scheme, stated) {
            compressed = scheme.inner_bytes(compressed).map_err(named)?;
        }
        if entry.method == Method::Stored && stated && content != compressed {
            let what = "stored, but with two different sizes";
            return Err(named(Error::new(ErrorKind::Size, what)));
        }
        self.header = Header {
            descriptor: !known,
            stated,
            marker: local.flags & flag::MARKER != 0,
            wide: local.is_zip64(),
            crc32: local.crc32,
            compressed,
            content,
            scheme,
        };
        if self.options.is_strict() {
            layout::safe_name(&name, local.extra).map_err(named)?;
            if !self.names.insert(&name) {
                return Err(named(layout::twice()));
            }
        }
        self.seen.push(Seen {
            method: local.method,
            flags: local.flags,
            offset: start,
            crc32: 0,
            name_crc32: libdeflater::crc32(local.name),
            compressed: 0,
            content: 0,
        });
        self.entry = Some(entry);
        self.held.clear();
        self.state = State::Begin;
        self.passing = false;
        Ok(StreamEvent::Entry)
    }

    fn named(&self, error: Error) -> Error {
        let error = doubt(self.header.scheme.as_ref(), error);
        match &self.entry {
            Some(entry) => error.at(self.offset).entry(entry.name.clone()),
            None => error.at(self.offset),
        }
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
            let central = record.central();
            (seen.crc32, seen.compressed, seen.content) == stated
                && seen.method == central.method
                && (seen.flags ^ central.flags) & SHARED_FLAGS == 0
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
        if !end.is_whole() {
            return Err(split().at(at));
        }
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

fn follows(at: u64) -> Error {
    Error::corrupt(at, "bytes follow the archive")
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
