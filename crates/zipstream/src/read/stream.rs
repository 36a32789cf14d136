//! An archive in the order of its bytes: local headers, contents, then the directory. No I/O, no
//! seeking.
//!
//! [`step`] is what calls give. [`content`] handles everything between a local header and the next
//! record, [`records`] the records.
//!
//! What only the directory says (modes, links) is known at the end.

mod content;
mod preceding;
mod records;
mod step;

pub use step::{StreamEntry, StreamEvent, StreamStep};

use std::hash::RandomState;

use super::entry::Entry;
use super::options::{ReadOptions, is_padding};
use super::strict::{Names, Seen, hides_an_end};
use crate::crypt::Decryption;
use crate::crypt::decrypt::{Decryptor, Scheme, or_wrong_password};
use crate::engine::content::ContentDecoder;
use crate::error::{Error, ErrorKind};
use crate::format::central::Central;
use crate::format::end::End;
use crate::format::local::StatedBefore;
use crate::raw_entry::FoundSizes;

/// The longest descriptor. Reading this many bytes is safe: the end record, the shortest record
/// that follows a descriptor, is as long.
const DESCRIPTOR_BYTES_MAX: usize = 24;
/// A ZIP64 end record with more data than this is refused.
const END64_EXTRA_BYTES_MAX: u64 = 1 << 16;

/// Reads an archive in the order of its bytes.
pub struct StreamDecoder {
    options: ReadOptions,
    state: State,
    /// The current record, as far as it has arrived.
    held: Vec<u8>,
    /// Bytes consumed.
    offset: u64,
    /// Where the content of the current entry starts.
    content_start: u64,
    entry: Option<StreamEntry>,
    header: Header,
    decoder: ContentDecoder,
    decryption: Option<Decryption>,
    /// Why the current entry is not read.
    refused: Option<Error>,
    /// The decryption of the current entry.
    decryptor: Option<Decryptor>,
    /// Whether its content is skipped.
    skipping: bool,
    seen: Vec<Seen>,
    /// The key of their hashes.
    key: RandomState,
    /// Their names, in the strict profile.
    names: Names,
    /// Bytes before the first header.
    preceding: u64,
    /// What offsets of the directory count from, once its first record is known.
    base: Option<u64>,
    records: u64,
    directory_start: Option<u64>,
    directory_end: u64,
    wide_end: Option<End>,
    /// Where that starts, and whether its locator was seen.
    wide_end_at: u64,
    located: bool,
    total: u64,
    /// Bytes after the archive.
    padding: u64,
    error: Option<Error>,
}

/// What the local header states, to be compared at the end of the entry.
#[derive(Debug, Clone, Copy, Default)]
struct Header {
    descriptor: bool,
    /// Whether the header states the sizes.
    stated: bool,
    /// Whether a marker ends the compressed content (LZMA).
    marker: bool,
    wide: bool,
    crc32: u32,
    /// Without what encryption adds.
    compressed: u64,
    content: u64,
    /// What precedes a descriptor.
    before: StatedBefore,
    scheme: Option<Scheme>,
}

impl Header {
    /// What encryption adds to the compressed content.
    fn outer_bytes(&self) -> u64 {
        self.scheme.map_or(0, |scheme| {
            (scheme.header_bytes() + scheme.code_bytes()) as u64
        })
    }

    /// The checksum that the content must have, given the computed and the stated one.
    fn crc32(&self, found: u32, stated: u32) -> u32 {
        self.scheme
            .map_or(stated, |scheme| scheme.crc32(found, stated))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a record; its first bytes are held.
    Record,
    /// Before the first header, behind bytes that are none; what can be the beginning of it is held.
    Search,
    /// An entry was reported, and none of its content was consumed.
    Begin,
    /// Before the encryption header.
    EncryptionHeader,
    Content,
    /// The entry cannot be read; it is skipped after that was reported.
    Refused,
    /// Before the authentication code.
    Code,
    Descriptor,
    /// A record was reported and is still held.
    RecordHeld,
    /// Bytes to skip, then a record.
    Skip(u64),
    Comment(u64),
    /// The end record with its comment, until so many bytes are held: the strict profile looks into it.
    HeldComment(usize),
    End,
}

impl StreamDecoder {
    /// The options it was made with.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

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
            decryptor: None,
            skipping: false,
            seen: Vec::new(),
            key: RandomState::new(),
            names: Names::default(),
            preceding: 0,
            base: None,
            records: 0,
            directory_start: None,
            directory_end: 0,
            wide_end: None,
            wide_end_at: 0,
            located: false,
            total: 0,
            padding: 0,
            error: None,
        }
    }

    /// Sets the password for encrypted entries. AES entries can be read only if their content is
    /// [released early](Decryption::release_early): their authentication codes come last.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.decryption = decryption;
    }

    /// The current entry.
    pub fn entry(&self) -> Option<&StreamEntry> {
        self.entry.as_ref()
    }

    /// The current record, right after [`StreamEvent::Record`].
    pub fn record(&self) -> Option<Entry<'_>> {
        if self.state != State::RecordHeld {
            return None;
        }
        let central = Central::parse(&self.held)?;
        let at = self.offset - self.held.len() as u64;
        let entry = Entry::new(central, self.records, at, self.base.unwrap_or(0)).ok()?;
        Some(entry.names_by(self.options.stated(false)))
    }

    /// Sizes and checksum of the last entry, and where it ends with its descriptor.
    pub(crate) fn last_entry(&self) -> Option<(FoundSizes, u64)> {
        let seen = self.seen.last()?;
        let found = FoundSizes {
            crc32: seen.crc32,
            compressed: seen.compressed,
            content: seen.content,
        };
        Some((found, self.held_start()))
    }

    /// Bytes of the archive consumed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes input and produces content. After an error every call repeats it, unless the
    /// decoder [can go on](StreamDecoder::can_go_on).
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

    /// Whether the decoder can continue after an error: an entry with a wrong password or an
    /// unknown method is skipped if its header states its size.
    pub fn can_go_on(&self) -> bool {
        self.error.is_none()
    }

    /// Checks that the input may end here.
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
            (None, State::Search) => Err(preceding::not_found(self.offset)),
            _ if self.offset == 0 => {
                Err(Error::new(ErrorKind::NotZip, "no input, so no ZIP archive"))
            }
            _ => Err(self.named(Error::truncated(self.offset, "the archive ends too early"))),
        }
    }

    /// Checks bytes after the archive: zeros may fill a block.
    fn behind(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.padding += bytes.len() as u64;
        let zeros = bytes.iter().all(|byte| *byte == 0);
        // Whether they end with a block is known at the end.
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
                State::Search => self.search(input, &mut taken)?,
                State::RecordHeld => {
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
                    // What was consumed so far is reported first.
                    if taken > 0 {
                        Some(StreamEvent::Content)
                    } else {
                        return Err(self.give_up());
                    }
                }
                State::EncryptionHeader => self.open(input, &mut taken)?,
                State::Code => self.code(input, &mut taken)?,
                State::Content => {
                    let step = self.content(input, output, taken)?;
                    // An end that consumes nothing does not need more input.
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
                State::HeldComment(bytes) => {
                    let whole = self.hold(bytes, input, &mut taken);
                    if whole && hides_an_end(&self.held) {
                        let what = "a second end record in the comment";
                        return Err(Error::corrupt(self.held_start(), what));
                    }
                    if whole {
                        self.held.clear();
                        self.state = State::End;
                    }
                    (!whole).then_some(StreamEvent::NeedInput)
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

    /// Skips input; returns the number of bytes still to be skipped, if any.
    fn pass(&mut self, left: u64, input: &[u8], taken: &mut usize) -> Option<u64> {
        let bytes = left.min((input.len() - *taken) as u64);
        *taken += bytes as usize;
        self.offset += bytes;
        (left > bytes).then(|| left - bytes)
    }

    /// Collects input until `bytes` bytes are held; returns whether they are.
    fn hold(&mut self, bytes: usize, input: &[u8], taken: &mut usize) -> bool {
        let missing = bytes.saturating_sub(self.held.len());
        let part = &input[*taken..];
        let part = &part[..part.len().min(missing)];
        self.held.extend_from_slice(part);
        *taken += part.len();
        self.offset += part.len() as u64;
        part.len() == missing
    }

    /// The position of the first held byte; later ones may belong to the next record.
    fn held_start(&self) -> u64 {
        self.offset - self.held.len() as u64
    }

    fn named(&self, error: Error) -> Error {
        let error = or_wrong_password(self.header.scheme.as_ref(), error);
        match &self.entry {
            Some(entry) => error.at(self.offset).entry(entry.name.clone()),
            None => error.at(self.offset),
        }
    }
}

fn follows(at: u64) -> Error {
    Error::corrupt(at, "bytes follow the archive")
}

impl std::fmt::Debug for StreamDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamDecoder")
            .field("offset", &self.offset)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
