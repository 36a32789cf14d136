//! Recovering entries by their local headers when the directory is lost or wrong.
//!
//! Every entry is decoded and verified before it counts as recovered. Directory records found on
//! the way restore what local headers lack: modes, links and comments. They also say whether what
//! precedes the first entry belongs there.

use std::collections::HashMap;
use std::ops::Range;

use crate::crypt::Decryption;
use crate::error::{Error, ErrorKind};
use crate::format::central::Central;
use crate::format::local::Local;
use crate::format::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE, le32};
use crate::raw_entry::RawEntry;
use crate::read::{Limits, ReadAt, ReadOptions, StreamDecoder, StreamEvent, read_full};

/// Bytes searched at a time.
const SCAN_BYTES: usize = 128 << 10;
/// The longest header: name and extra fields have at most 65,535 bytes each.
const HEADER_BYTES_MAX: usize = 256 << 10;
/// Bytes that are read for a header that may be none.
const FIRST_BYTES: usize = 4 << 10;
/// How often the bytes of an archive may be decoded again before it is given up: many headers of a
/// hostile one can lead to the same bytes. Decoding each byte for the first time is not counted,
/// whatever content comes of it.
const TURNS_MAX: u64 = 64;
/// Content of this many bytes counts as one byte that is decoded again.
const CONTENT_SHARE: u64 = 64;
/// What programs start with: those of Windows, Linux and macOS, and scripts.
const PROGRAMS: [&[u8]; 8] = [
    b"MZ",
    b"\x7fELF",
    b"#!",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];
/// Longer than any descriptor.
const PADDING: [u8; 24] = [0; 24];

/// A recovered entry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Salvaged {
    /// What its headers say, for [`start_raw`](crate::ArchiveEncoder::start_raw).
    pub raw: RawEntry,
    /// The position of its compressed bytes.
    pub range: Range<u64>,
    /// Whether its content was verified. It cannot be if it is encrypted and there is no password,
    /// or if its method is not read.
    pub verified: bool,
}

/// The result of a recovery.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Salvage {
    /// The entries, in the order of the archive.
    pub entries: Vec<Salvaged>,
    /// Entries that existed and are lost.
    pub lost_entries: u64,
    /// Bytes between entries that belong to no recovered one.
    pub lost_bytes: u64,
    /// Bytes before the first entry that are not lost: a program that extracts the archive, or what else
    /// the directory counts on. They start the new archive if it is written with that number as its
    /// [`preceding_bytes`](crate::ArchiveOptions::preceding_bytes).
    pub preceding_bytes: u64,
}

/// Looks for entries from the first byte of `source` on and returns those that are intact.
///
/// ```
/// use zipstream::{ArchiveWriter, EntryOptions, Limits, salvage};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (mut archive, _) = writer.finish()?;
/// archive.truncate(archive.len() - 30);
///
/// let saved = salvage(&archive, &Limits::default(), None)?;
/// assert_eq!(saved.entries[0].raw.name_bytes(), b"a.txt");
/// # Ok::<(), zipstream::Error>(())
/// ```
pub fn salvage<R: ReadAt>(
    source: &R,
    limits: &Limits,
    decryption: Option<Decryption>,
) -> Result<Salvage, Error> {
    let bytes = source.size().map_err(|error| Error::io(&error))?;
    let search = Search {
        source,
        bytes,
        limits: *limits,
        decryption: decryption.map(|decryption| decryption.release_early(true)),
        again_left: bytes.saturating_mul(TURNS_MAX),
        decoded_to: 0,
        window: Window::default(),
        output: vec![0; SCAN_BYTES],
        found: Salvage::default(),
        records: HashMap::new(),
        first: None,
        failed: 0,
    };
    search.run()
}

struct Search<'a, R> {
    source: &'a R,
    bytes: u64,
    limits: Limits,
    decryption: Option<Decryption>,
    /// Bytes that may still be decoded once more.
    again_left: u64,
    /// Bytes before this one were decoded at least once.
    decoded_to: u64,
    window: Window,
    /// Room for content.
    output: Vec<u8>,
    found: Salvage,
    /// Directory records by name.
    records: HashMap<Vec<u8>, Vec<u8>>,
    /// The first header of an entry, and the number of signatures before it that were none.
    first: Option<(u64, u64)>,
    /// Local headers without an intact entry.
    failed: u64,
}

/// Bytes that are searched for signatures.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl<R: ReadAt> Search<'_, R> {
    fn run(mut self) -> Result<Salvage, Error> {
        let (mut at, mut free) = (0, 0);
        while let Some((place, signature)) = self.next(at)? {
            if signature == CENTRAL_SIGNATURE {
                at = self.record(place)?.unwrap_or(place + 4);
                // A directory belongs to no entry and does not count as lost.
                free = at;
                continue;
            }
            match self.entry(place)? {
                Some(end) => {
                    self.found.lost_bytes += place - free;
                    (at, free) = (end, end);
                }
                None => {
                    self.failed += 1;
                    at = place + 4;
                }
            }
            let admitted = self.limits.admit_entries(self.found.entries.len() as u64);
            admitted.map_err(|error| error.at(place))?;
        }
        self.settle()
    }

    fn read(&self, at: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut held = vec![0; bytes];
        let got = read_full(self.source, &mut held, at);
        held.truncate(got.map_err(|error| Error::io(&error).at(at))?);
        Ok(held)
    }

    /// The next local header or record, by its signature.
    fn next(&mut self, mut at: u64) -> Result<Option<(u64, u32)>, Error> {
        while at + 4 <= self.bytes {
            let skipped = at.checked_sub(self.window.start);
            let skipped = skipped.and_then(|skipped| usize::try_from(skipped).ok());
            let held = skipped.and_then(|skipped| self.window.bytes.get(skipped..));
            let Some(held) = held.filter(|held| held.len() >= 4) else {
                let bytes = self.read(at, SCAN_BYTES)?;
                if bytes.len() < 4 {
                    break;
                }
                self.window = Window { start: at, bytes };
                continue;
            };
            let signature =
                |index: &usize| matches!(le32(held, *index), LOCAL_SIGNATURE | CENTRAL_SIGNATURE);
            if let Some(index) = (0..held.len() - 3).find(signature) {
                return Ok(Some((at + index as u64, le32(held, index))));
            }
            at += held.len() as u64 - 3;
        }
        Ok(None)
    }

    /// Remembers a record; returns where it ends.
    fn record(&mut self, at: u64) -> Result<Option<u64>, Error> {
        let held = self.read(at, HEADER_BYTES_MAX)?;
        let Some(central) = Central::parse(&held) else {
            return Ok(None);
        };
        let bytes = central.total_bytes();
        if (self.records.len() as u64) < self.limits.entries {
            let name = central.name.to_vec();
            self.records.insert(name, held[..bytes].to_vec());
        }
        Ok(Some(at + bytes as u64))
    }

    /// Tries an entry; returns where it ends if it is intact.
    fn entry(&mut self, at: u64) -> Result<Option<u64>, Error> {
        let options = ReadOptions {
            limits: self.limits,
            ..ReadOptions::default()
        };
        let mut decoder = StreamDecoder::new(&options);
        decoder.set_decryption(self.decryption.clone());
        let Some(verified) = self.decode(&mut decoder, at)? else {
            return Ok(None);
        };
        let header = self.read(at, HEADER_BYTES_MAX)?;
        let Some((sizes, end)) = decoder.last_entry() else {
            return Ok(None);
        };
        let Some((raw, header_bytes)) = RawEntry::from_local(&header, &sizes) else {
            return Ok(None);
        };
        let start = at + header_bytes as u64;
        let data_end = start.saturating_add(sizes.compressed);
        let end = data_end.max(at.saturating_add(end));
        if end > self.bytes {
            return Ok(None);
        }
        if !verified && !self.is_followed(end)? {
            return Ok(None);
        }
        let range = start..data_end;
        self.found.entries.push(Salvaged {
            raw,
            range,
            verified,
        });
        Ok(Some(end))
    }

    /// Whether a record starts here, or the archive ends.
    fn is_followed(&self, at: u64) -> Result<bool, Error> {
        let held = self.read(at, 2)?;
        Ok(held.is_empty() || held == b"PK")
    }

    /// Decodes the entry at `at` to its end and returns whether it was verified; `None` if it is
    /// damaged.
    fn decode(&mut self, decoder: &mut StreamDecoder, at: u64) -> Result<Option<bool>, Error> {
        let mut output = std::mem::take(&mut self.output);
        let decoded = self.decode_with(decoder, at, &mut output);
        self.output = output;
        decoded
    }

    fn decode_with(
        &mut self,
        decoder: &mut StreamDecoder,
        at: u64,
        output: &mut [u8],
    ) -> Result<Option<bool>, Error> {
        // What starts where nothing was decoded yet is not decoded again.
        let known = Some(self.decoded_to).filter(|known| *known > at);
        let mut place = at;
        loop {
            let most = if place == at { FIRST_BYTES } else { SCAN_BYTES };
            let mut held = self.read(place, most)?;
            let ends = held.is_empty();
            if ends {
                // Only a descriptor is read ahead.
                held.extend_from_slice(&PADDING);
            }
            let mut input = &held[..];
            loop {
                let from = place + (held.len() - input.len()) as u64;
                let Ok(step) = decoder.push(input, output) else {
                    return Ok(None);
                };
                input = &input[step.consumed..];
                self.spend(known, from, step.consumed as u64, step.produced as u64)?;
                if step.event == StreamEvent::Entry {
                    self.first.get_or_insert((at, self.failed));
                }
                match step.event {
                    StreamEvent::Entry if self.passes_over(decoder) => return Ok(Some(false)),
                    StreamEvent::EntryEnd => return Ok(Some(true)),
                    StreamEvent::Record | StreamEvent::End => return Ok(None),
                    StreamEvent::NeedInput => break,
                    StreamEvent::Content if step.consumed + step.produced == 0 => break,
                    _ => {}
                }
            }
            if ends {
                return Ok(None);
            }
            place += (held.len() - input.len()) as u64;
            if input.len() == held.len() {
                return Ok(None);
            }
        }
    }

    /// Counts what was decoded, as far as an earlier header led to bytes before `known` already.
    fn spend(
        &mut self,
        known: Option<u64>,
        from: u64,
        consumed: u64,
        produced: u64,
    ) -> Result<(), Error> {
        let to = from.saturating_add(consumed);
        self.decoded_to = self.decoded_to.max(to);
        let Some(known) = known.filter(|known| from <= *known) else {
            return Ok(());
        };
        let again = known.min(to) - from + produced / CONTENT_SHARE;
        let left = self.again_left.checked_sub(again);
        self.again_left = left.ok_or_else(|| {
            let what = "too many headers lead to the same bytes";
            Error::new(ErrorKind::Limit, what).at(from)
        })?;
        Ok(())
    }

    /// Whether an entry is taken without decoding, because that is impossible.
    fn passes_over(&self, decoder: &mut StreamDecoder) -> bool {
        let closed = decoder.entry().is_some_and(|entry| {
            (entry.encrypted && self.decryption.is_none()) || !entry.method.is_read()
        });
        closed && decoder.skip_entry()
    }

    /// Whether what precedes the first header belongs to the archive: it is a program, or the directory
    /// says that no entry was there. The start of an entry is neither.
    fn is_preceded(&self, first: u64) -> Result<bool, Error> {
        let start = self.read(0, 4)?;
        if first == 0 || start.starts_with(b"PK") {
            return Ok(false);
        }
        if PROGRAMS.iter().any(|program| start.starts_with(program)) {
            return Ok(true);
        }
        let header = self.read(first, HEADER_BYTES_MAX)?;
        let Some(local) = Local::parse(&header) else {
            return Ok(false);
        };
        let offset = |record: &[u8]| Central::parse(record).map(|central| central.offset);
        let own = self.records.get(local.name);
        let own = own.and_then(|record| offset(record));
        let least = self.records.values().filter_map(|record| offset(record));
        Ok(own.is_some_and(|own| u64::from(own) <= first) && least.min() == own)
    }

    /// Completes entries by their directory records, and counts what is lost.
    fn settle(mut self) -> Result<Salvage, Error> {
        if let Some((first, failed)) = self.first
            && self.is_preceded(first)?
        {
            self.found.preceding_bytes = first;
            self.found.lost_bytes = self.found.lost_bytes.saturating_sub(first);
            self.failed -= failed;
        }
        let mut unmatched = self.records.len() as u64;
        for entry in &mut self.found.entries {
            let record = self.records.get(entry.raw.name_bytes());
            if let Some(central) = record.and_then(|record| Central::parse(record)) {
                unmatched = unmatched.saturating_sub(1);
                entry.raw.complete(&central);
            }
        }
        self.found.lost_entries = self.failed.max(unmatched);
        Ok(self.found)
    }
}
