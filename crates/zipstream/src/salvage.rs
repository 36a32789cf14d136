//! Recovering entries by their local headers when the directory is lost or wrong.
//!
//! Every entry is decoded and verified before it counts as recovered. Directory records found on
//! the way restore what local headers lack: modes, links and comments.

use std::collections::HashMap;
use std::ops::Range;

use crate::crypt::Decryption;
use crate::error::{Error, ErrorKind};
use crate::format::central::Central;
use crate::format::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE, le32};
use crate::raw_entry::RawEntry;
use crate::read::{Limits, ReadAt, ReadOptions, StreamDecoder, StreamEvent, read_full};

/// Bytes searched at a time.
const SCAN_BYTES: usize = 128 << 10;
/// The longest header: name and extra fields have at most 65,535 bytes each.
const HEADER_BYTES_MAX: usize = 256 << 10;
/// How often the bytes of an archive may be decoded before it is given up: a hostile one can lead
/// to the same bytes again and again.
const TURNS_MAX: u64 = 16;
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
        work_left: bytes.saturating_mul(TURNS_MAX),
        found: Salvage::default(),
        records: HashMap::new(),
        failed: 0,
    };
    search.run()
}

struct Search<'a, R> {
    source: &'a R,
    bytes: u64,
    limits: Limits,
    decryption: Option<Decryption>,
    /// Bytes that may still be decoded.
    work_left: u64,
    found: Salvage,
    /// Directory records by name.
    records: HashMap<Vec<u8>, Vec<u8>>,
    /// Local headers without an intact entry.
    failed: u64,
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
            if self.found.entries.len() as u64 > self.limits.entries {
                let what = format!("more than {} entries", self.limits.entries);
                return Err(Error::new(ErrorKind::Limit, what).at(place));
            }
        }
        Ok(self.settle())
    }

    fn read(&self, at: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut held = vec![0; bytes];
        let got = read_full(self.source, &mut held, at);
        held.truncate(got.map_err(|error| Error::io(&error).at(at))?);
        Ok(held)
    }

    /// The next local header or record, by its signature.
    fn next(&self, mut at: u64) -> Result<Option<(u64, u32)>, Error> {
        while at + 4 <= self.bytes {
            let held = self.read(at, SCAN_BYTES)?;
            let signature =
                |index: &usize| matches!(le32(&held, *index), LOCAL_SIGNATURE | CENTRAL_SIGNATURE);
            if let Some(index) = (0..held.len().saturating_sub(3)).find(signature) {
                return Ok(Some((at + index as u64, le32(&held, index))));
            }
            if held.len() < 4 {
                break;
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
        let mut output = vec![0; SCAN_BYTES];
        let mut place = at;
        loop {
            let mut held = self.read(place, SCAN_BYTES)?;
            let ends = held.is_empty();
            if ends {
                // Only a descriptor is read ahead.
                held.extend_from_slice(&PADDING);
            }
            let mut input = &held[..];
            loop {
                let Ok(step) = decoder.push(input, &mut output) else {
                    return Ok(None);
                };
                input = &input[step.consumed..];
                self.spend((step.consumed + step.produced / 64) as u64, place)?;
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

    fn spend(&mut self, work: u64, at: u64) -> Result<(), Error> {
        let left = self.work_left.checked_sub(work);
        self.work_left = left.ok_or_else(|| {
            let what = "too many headers lead to the same bytes";
            Error::new(ErrorKind::Limit, what).at(at)
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

    /// Completes entries by their directory records, and counts what is lost.
    fn settle(mut self) -> Salvage {
        let mut unmatched = self.records.len() as u64;
        for entry in &mut self.found.entries {
            let record = self.records.get(entry.raw.name_bytes());
            if let Some(central) = record.and_then(|record| Central::parse(record)) {
                unmatched = unmatched.saturating_sub(1);
                entry.raw.complete(&central);
            }
        }
        self.found.lost_entries = self.failed.max(unmatched);
        self.found
    }
}
