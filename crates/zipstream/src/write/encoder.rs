//! The encoder: entries and content in, bytes of an archive out, no I/O and no seeking.
//!
//! This module starts entries and ends archives. [`content`] takes content and decides where it is
//! compressed, [`large`] handles large entries, [`reorder`] keeps the order, [`raw`] takes entries of
//! other archives, [`external_content`] entries whose content the caller places, [`resume`] continues
//! an archive, [`password`] changes it between entries, and [`retract`] removes an entry. The work itself is in `batch` and `engine`.

mod content;
mod external_content;
mod large;
mod password;
mod raw;
#[cfg(feature = "tokio")]
mod ready;
mod reorder;
mod resume;
mod retract;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use super::batch::{Batch, Chunk};
use super::engines::Engines;
use super::in_flight::InFlight;
use super::meta::Meta;
use super::options::{ArchiveOptions, EntryOptions, KnownContent};
use super::sequence::{Large, Sequence, Totals};
use super::workers::{THREADS_MAX, Workers};
use crate::crypt::encrypt::OVERHEAD_BYTES_MAX;
use crate::engine::chunk::bound;
use crate::entry_kind::EntryKind;
use crate::error::{Error, ErrorKind, internal};
use crate::name;

/// The largest content that is compressed in one piece, so that its header states its size.
const WHOLE_BYTES_MAX: usize = 1 << 20;
/// Content of small entries that fills one job.
const BATCH_BYTES: usize = 256 << 10;
/// Small entries that fill one job, however short they are.
const BATCH_ENTRIES: usize = 512;
/// The largest content of an entry with a 32-bit descriptor: its worst compressed size still fits.
const NARROW_BYTES_MAX: u64 = u32::MAX as u64 - (4 << 20);
const _: () = assert!(bound(NARROW_BYTES_MAX) + OVERHEAD_BYTES_MAX < u32::MAX as u64);

/// Writes an archive: entries and content go in, [`output`](ArchiveEncoder::output) comes out.
///
/// For each entry call [`start_entry`](ArchiveEncoder::start_entry), pass the content to
/// [`push`](ArchiveEncoder::push) and call [`finish_entry`](ArchiveEncoder::finish_entry). At the
/// end call [`finish`](ArchiveEncoder::finish). Take the output whenever it pays to write it.
///
/// # Header shapes
/// An entry of up to 1 MiB is held until it is complete, and its header states its sizes. A larger
/// one is written as its content arrives, and a descriptor follows it: of 32 bits if the hinted
/// size is below 4 GiB, else of ZIP64. Stored entries never have a descriptor: a large one needs a
/// [`KnownContent`], and becomes a deflate entry of stored blocks without it.
///
/// # What bounds a call
/// Without threads, a call compresses at most 256 KiB of a large entry, or one whole entry of up to
/// 1 MiB. With threads, a call waits while two jobs per thread are in flight.
///
/// ```
/// use zipstream::{ArchiveEncoder, ArchiveOptions, EntryOptions};
///
/// let mut encoder = ArchiveEncoder::new(ArchiveOptions::default())?;
/// encoder.start_entry("greeting.txt", &EntryOptions::default())?;
/// encoder.push_all(b"hello hello hello")?;
/// encoder.finish_entry()?;
/// encoder.finish()?;
/// assert_eq!(&encoder.output()[..4], b"PK\x03\x04");
/// # Ok::<(), zipstream::Error>(())
/// ```
pub struct ArchiveEncoder {
    options: ArchiveOptions,
    state: State,
    open: Open,
    /// Entries started so far.
    started: u64,
    /// Hashes of all names, with a key of this encoder.
    names: HashSet<u64>,
    hasher: RandomState,
    sequence: Sequence,
    engines: Engines,
    batch: Batch,
    chunk: Chunk,
    in_flight: Option<InFlight>,
    /// Whether calls wait when too many jobs are in flight.
    waits: bool,
    /// Jobs that this call may still submit without waiting.
    unwaited: usize,
    /// Contents of up to this size are compressed by the call itself if nothing is queued before
    /// them.
    inline_bytes_max: u64,
    /// Whether the last chunk of the open entry shrank so much that it took almost no time.
    quick: bool,
    /// What follows the output, in order.
    slots: VecDeque<Slot>,
    spare_batches: Vec<Batch>,
    spare_chunks: Vec<Chunk>,
}

enum State {
    /// Between entries.
    Idle,
    /// Content is held in the batch, from this byte on.
    Whole(usize),
    /// Content goes through chunks of this size.
    Large(usize),
    /// Bytes of an entry of another archive pass through unchanged.
    Raw,
    /// The caller puts the content into the archive.
    External,
    Finished,
    Failed(Error),
}

/// The open entry.
#[derive(Default)]
struct Open {
    name: Vec<u8>,
    hash: u64,
    meta: Option<Meta>,
    hint: Option<u64>,
    known: Option<KnownContent>,
    taken: u64,
    /// The largest content that its header can describe.
    bytes_max: Option<u64>,
}

enum Slot {
    Job,
    Begin(Box<Large>),
    /// Stored content, with its checksum.
    Piece(Chunk),
    End,
}

impl ArchiveEncoder {
    /// Starts an archive. Threads start when there is work for them.
    pub fn new(options: ArchiveOptions) -> Result<Self, Error> {
        if options.comment.len() > usize::from(u16::MAX) {
            return Err(Error::new(
                ErrorKind::Setting,
                "the comment of the archive is longer than 65535 bytes",
            ));
        }
        password::allowed(&options, options.encryption.is_some())?;
        let threads = options.threads.min(THREADS_MAX);
        let own = || (threads > 0).then(|| Workers::new(threads));
        let workers = options.workers.clone().or_else(own);
        let in_flight =
            workers.map(|workers| InFlight::new(workers, threads, options.observer.clone()));
        Ok(Self {
            in_flight,
            sequence: Sequence::resume(options.preceding_bytes, Vec::new(), 0, 0),
            engines: Engines {
                encryption: options.encryption.clone(),
                ..Engines::default()
            },
            options,
            ..Self::inline()
        })
    }

    /// An archive with default options, which cannot fail.
    pub(super) fn inline() -> Self {
        Self {
            in_flight: None,
            waits: true,
            unwaited: 0,
            inline_bytes_max: 0,
            quick: false,
            options: ArchiveOptions::default(),
            state: State::Idle,
            open: Open::default(),
            started: 0,
            names: HashSet::new(),
            hasher: RandomState::new(),
            sequence: Sequence::default(),
            engines: Engines::default(),
            batch: Batch::default(),
            chunk: Chunk::default(),
            slots: VecDeque::new(),
            spare_batches: Vec::new(),
            spare_chunks: Vec::new(),
        }
    }

    /// Starts an entry. Its name must pass [`name::check_portable`] and be new; a directory's name gets its
    /// `/`. Letters that stand for bytes, as in [`name::of_bytes`], become those bytes, which no flag calls UTF-8. After an error of kind `Name`, `Duplicate` or `Setting` the archive continues without
    /// the entry.
    pub fn start_entry(&mut self, name: &str, options: &EntryOptions) -> Result<(), Error> {
        let hint = options.known.map(|known| known.bytes).or(options.size_hint);
        let large = hint.is_some_and(|hint| hint > WHOLE_BYTES_MAX as u64);
        self.open_entry(name, options, large)
    }

    fn open_entry(&mut self, name: &str, options: &EntryOptions, large: bool) -> Result<(), Error> {
        match &self.state {
            State::Idle => {}
            State::Failed(error) => return Err(error.clone()),
            State::Finished => return Err(order("the archive is finished")),
            _ => return Err(order("an entry is open")),
        }
        let meta = options
            .meta(&self.options)
            .map_err(|error| error.entry(name))?;
        let bad = |what: String| Err(Error::new(ErrorKind::Name, what).entry(name));
        if let Err(fault) = name::check_portable(name) {
            return bad(fault.to_string());
        }
        let open = &mut self.open;
        open.name.clear();
        open.name.extend_from_slice(&name::to_bytes(name));
        match (options.kind, name.ends_with('/')) {
            (EntryKind::Directory, false) if name.len() == name::NAME_BYTES_MAX => {
                return bad(name::NameFault::TooLong.to_string());
            }
            (EntryKind::Directory, false) => open.name.push(b'/'),
            (EntryKind::Directory, true) | (_, false) => {}
            (_, true) => return bad("only the name of a directory ends with '/'".to_owned()),
        }
        open.hash = self.hasher.hash_one(&open.name[..]);
        if !self.names.insert(open.hash) {
            let what = "the archive already has an entry of this name";
            return Err(Error::new(ErrorKind::Duplicate, what).entry(name));
        }
        open.meta = Some(meta);
        open.hint = options.known.map(|known| known.bytes).or(options.size_hint);
        open.known = options.known;
        (open.taken, open.bytes_max) = (0, None);
        self.started += 1;
        let result = self.place(large);
        self.keep_error(result)
    }

    /// Remembers a name and returns whether it is new.
    fn take_name(&mut self, name: &[u8]) -> bool {
        self.names.insert(self.hasher.hash_one(name))
    }

    /// Decides where the content of the new entry is collected.
    fn place(&mut self, large: bool) -> Result<(), Error> {
        if large {
            return self.begin_large();
        }
        let hint = self.open.hint.unwrap_or(0) as usize;
        if self.batch.entries() > 0 && self.batch.filled() + hint > BATCH_BYTES {
            self.flush_batch()?;
        }
        self.state = State::Whole(self.batch.filled());
        Ok(())
    }

    /// Waits until another job may be submitted, but no longer than `limit`. Returns whether it may be: then the
    /// next [`push`](Self::push) does not wait, nor does the start or the end of an entry. What waits for all jobs,
    /// such as [`start_external`](Self::start_external), does not after [`settle_within`](Self::settle_within).
    pub fn wait_for_threads(&mut self, limit: Duration) -> Result<bool, Error> {
        self.within(limit, Self::has_room)
    }

    /// The same for a call that takes content, which submits nothing while there is room for more. Returns whether
    /// [`push`](Self::push) and [`room`](Self::room) can do without waiting.
    pub fn wait_to_push(&mut self, limit: Duration) -> Result<bool, Error> {
        match self.only_copies() {
            true => Ok(true),
            false => self.wait_for_threads(limit),
        }
    }

    /// [`settle_all`](Self::settle_all) in steps: returns whether everything is in the output, after waiting no
    /// longer than twice `limit`.
    pub fn settle_within(&mut self, limit: Duration) -> Result<bool, Error> {
        if !self.wait_for_threads(limit)? {
            return Ok(false);
        }
        if matches!(self.state, State::Idle) {
            let result = self.flush_rest();
            self.keep_error(result)?;
        }
        self.within(limit, |encoder| encoder.slots.is_empty())
    }

    fn within(&mut self, limit: Duration, ready: impl Fn(&Self) -> bool) -> Result<bool, Error> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        let result = self.pump();
        self.keep_error(result)?;
        if !ready(self)
            && let Some(in_flight) = &self.in_flight
        {
            in_flight.wait_within(limit);
            let result = self.pump();
            self.keep_error(result)?;
        }
        Ok(ready(self))
    }

    /// Moves everything into the output, between entries, and waits for running jobs. Taking the
    /// output now and then calling [`finish`](Self::finish) saves a copy of a large
    /// [directory](Self::directory_bytes).
    pub fn settle_all(&mut self) -> Result<(), Error> {
        match &self.state {
            State::Idle => {}
            State::Finished => return Ok(()),
            State::Failed(error) => return Err(error.clone()),
            _ => return Err(order("an entry is open")),
        }
        let result = self.flush_rest().and_then(|()| self.settle());
        self.keep_error(result)
    }

    /// The size of the directory so far.
    pub fn directory_bytes(&self) -> u64 {
        self.sequence.directory.len() as u64
    }

    /// Waits for running jobs and writes the directory and the end of the archive.
    pub fn finish(&mut self) -> Result<Totals, Error> {
        if matches!(self.state, State::Finished) {
            return Ok(self.totals());
        }
        self.settle_all()?;
        self.sequence.close(&self.options.comment);
        self.state = State::Finished;
        Ok(self.totals())
    }

    /// Bytes of the archive that are ready to be written.
    pub fn output(&self) -> &[u8] {
        self.sequence.output()
    }

    /// Takes the output together with its memory; the next output is built in `spare`.
    pub fn take_output(&mut self, spare: Vec<u8>) -> Vec<u8> {
        self.sequence.take(spare)
    }

    /// Removes written bytes from the front of the output.
    pub fn consume(&mut self, bytes: usize) {
        self.sequence.consume(bytes);
    }

    /// Totals of the archive so far, without entries that threads still work on.
    pub fn totals(&self) -> Totals {
        self.sequence.totals()
    }

    /// Keeps an error: an archive that failed stays failed.
    fn keep_error<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| {
            let name = String::from_utf8_lossy(&self.open.name);
            let error = error.entry(name);
            self.state = State::Failed(error.clone());
            error
        })
    }

    fn meta(&self) -> Result<Meta, Error> {
        self.open.meta.ok_or_else(|| internal("no entry is open"))
    }
}

fn order(what: &'static str) -> Error {
    Error::new(ErrorKind::Order, what)
}

impl std::fmt::Debug for ArchiveEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchiveEncoder")
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}
