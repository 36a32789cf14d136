//! The records of a stream: local headers, and the directory compared with them.

use super::super::encrypted::refuse_unreadable;
use super::super::entry::Entry;
use super::super::locate::split;
use super::super::strict::{
    Seen, check_end, check_end64, check_local, check_locator, check_record,
};
use super::{END64_EXTRA_BYTES_MAX, Header, State, StreamDecoder, StreamEntry, StreamEvent};
use crate::crypt::aes;
use crate::crypt::decrypt::Scheme;
use crate::entry_time::EntryTime;
use crate::error::{Error, ErrorKind};
use crate::format::central::{self, CENTRAL_BYTES, Central};
use crate::format::end::{END_BYTES, END64_BYTES, END64_DATA_BYTES, End, LOCATOR_BYTES};
use crate::format::local::{self, LOCAL_BYTES, Local};
use crate::format::{
    CENTRAL_SIGNATURE, END_SIGNATURE, END64_SIGNATURE, EXTRA_DATA_SIGNATURE, LOCAL_SIGNATURE,
    LOCATOR_SIGNATURE, extra, flag, le32, le64, names, time,
};
use crate::method::Method;

impl StreamDecoder {
    /// Completes the current record.
    pub(super) fn gather(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        let wait = Ok(Some(StreamEvent::NeedInput));
        if !self.hold(4, input, taken) {
            return wait;
        }
        let start = self.held_start();
        let signature = le32(&self.held, 0);
        let fixed = match signature {
            LOCAL_SIGNATURE if self.directory_start.is_some() => {
                let what = "an entry after the start of the directory";
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
            _ if start == 0 && !self.options.is_strict() => {
                self.state = State::Search;
                return Ok(None);
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
        let stated = self.options.stated(false);
        let decoded = names::decode(local.name, utf8, local.extra, stated).map_err(|what| {
            let name = String::from_utf8_lossy(local.name);
            Error::new(ErrorKind::Name, what).entry(name).at(start)
        });
        let name = decoded?.into_owned();
        let known = !local.has_descriptor();
        let extra = extra::Found::of(local.extra);
        let (content, mut compressed) = local.sizes(&extra);
        let mut entry = StreamEntry {
            name: name.clone(),
            encrypted: local.flags & flag::ENCRYPTED != 0 || local.method == aes::METHOD,
            method: Method::of(local.method),
            content_bytes: known.then_some(content),
            time: extra.modified().unwrap_or_else(|| EntryTime::Local {
                seconds: time::from_dos(local.time, local.date),
            }),
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
        let admitted = limits.admit_entries(self.seen.len() as u64 + 1);
        admitted.map_err(|error| error.at(start))?;
        // Some writers state the sizes in both places; only then is the end of a stored content
        // known. An empty one needs only its descriptor, which is compared with that.
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
            wide: extra.zip64.is_some(),
            crc32: local.crc32,
            compressed,
            content,
            before: local.stated_before(&extra),
            scheme,
        };
        if self.options.is_strict() {
            let name = check_local(&local, &extra).map_err(named)?;
            self.names.insert(name).map_err(named)?;
        }
        let seen = Seen::new(&local, &extra, start, &self.key);
        self.seen.push(seen);
        self.entry = Some(entry);
        self.held.clear();
        self.state = State::Begin;
        self.skipping = false;
        Ok(StreamEvent::Entry)
    }

    fn central(&mut self, start: u64) -> Result<StreamEvent, Error> {
        if self.options.is_strict() {
            self.expect(self.wide_end.is_none() && !self.located, start)?;
        }
        let first = *self.directory_start.get_or_insert(start);
        self.directory_end = self.offset;
        self.entry = None;
        let admitted = self.options.limits.admit_directory(self.offset - first);
        admitted.map_err(|error| error.at(start))?;
        let Some(central) = Central::parse(&self.held) else {
            return Err(Error::corrupt(start, "no directory record"));
        };
        let mut record = Entry::new(central, self.records, start, 0)?;
        if self.preceding > 0 {
            let base = self.base.unwrap_or_else(|| self.base_by(record.offset()));
            self.base = Some(base);
            record = Entry::new(central, self.records, start, base)?;
        }
        if self.options.is_strict() {
            let named = |error: Error| error.at(start).entry(record.name_lossy());
            let extra = extra::Found::of(central.extra);
            check_record(&record, &extra).map_err(named)?;
            let offset = record.offset();
            let at = self.seen.binary_search_by_key(&offset, |seen| seen.offset);
            if !at.is_ok_and(|at| self.seen[at].is_of(&record, &extra, &self.key)) {
                let what = "the directory and the local header differ";
                return Err(named(Error::new(ErrorKind::Mismatch, what)));
            }
        }
        self.records += 1;
        self.state = State::RecordHeld;
        Ok(StreamEvent::Record)
    }

    fn end(&mut self, signature: u32, start: u64) -> Result<(), Error> {
        self.state = State::Record;
        let strict = self.options.is_strict();
        if signature == END64_SIGNATURE {
            let Some(end) = End::parse64(&self.held) else {
                return Err(Error::corrupt(start, "no ZIP64 end record"));
            };
            let more = le64(&self.held, 4).saturating_sub(END64_DATA_BYTES);
            if more > END64_EXTRA_BYTES_MAX {
                let what = "a ZIP64 end record with too much data";
                return Err(Error::new(ErrorKind::Limit, what).at(start));
            }
            if strict {
                self.expect(self.wide_end.is_none() && !self.located, start)?;
                check_end64(&self.held).map_err(|error| error.at(start))?;
            }
            (self.wide_end, self.wide_end_at) = (Some(end), start);
            self.state = State::Skip(more);
        } else if signature == END_SIGNATURE {
            let Some(end) = End::parse(&self.held) else {
                return Err(Error::corrupt(start, "no end record"));
            };
            if strict {
                self.judge_end(&end, start)?;
                self.entry = None;
                self.state = State::HeldComment(END_BYTES + end.comment_bytes);
                return Ok(());
            }
            self.state = State::Comment(end.comment_bytes as u64);
        } else if strict {
            self.expect(self.wide_end.is_some() && !self.located, start)?;
            check_locator(&self.held, self.wide_end_at).map_err(|error| error.at(start))?;
            self.located = true;
        }
        self.entry = None;
        self.held.clear();
        Ok(())
    }

    /// Refuses a record of ZIP64 that stands where it should not.
    fn expect(&self, expected: bool, at: u64) -> Result<(), Error> {
        match expected {
            true => Ok(()),
            false => Err(Error::corrupt(at, "a ZIP64 record out of its order")),
        }
    }

    /// Compares the end records with each other and with the directory.
    fn judge_end(&self, narrow: &End, at: u64) -> Result<(), Error> {
        let wide = self.wide_end.as_ref();
        let end = wide.unwrap_or(narrow);
        if !end.is_whole() {
            return Err(split().at(at));
        }
        self.expect(wide.is_some() == self.located, at)?;
        check_end(narrow, wide).map_err(|error| error.at(at))?;
        // One without records would start here.
        let none = if wide.is_some() { self.wide_end_at } else { at };
        let start = self.directory_start.unwrap_or(none);
        let bytes = self.directory_end.saturating_sub(start);
        let right = end.entries == (self.records, self.records)
            && self.seen.len() as u64 == self.records
            && (end.directory_offset, end.directory_bytes) == (start, bytes);
        if right {
            return Ok(());
        }
        let what = "the end record differs from the directory";
        Err(Error::new(ErrorKind::Mismatch, what).at(at))
    }
}

fn unknown(start: u64) -> Error {
    if start == 0 {
        Error::new(ErrorKind::NotZip, "no ZIP archive starts like this")
            .at(0)
            .help("the strict profile takes no bytes before an archive")
    } else {
        Error::corrupt(start, "neither an entry nor the directory")
            .help("read it from a file, where the directory is trusted")
    }
}
