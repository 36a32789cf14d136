//! A durable store of the messages that a session sent, by their sequence numbers.
//!
//! Messages are appended to segments, files that are allocated whole and mapped: appending is a copy
//! and a checksum, without a call of the system, and getting is two look-ups without a copy. Beside
//! the messages the store keeps both next sequence numbers. Here is what a store does;
//! `open` reads one back, `durable` says when it is on the disk, `survey` looks at one without changing
//! it.
//!
//! What [`Store::append`] acknowledges, by [`Durability`]:
//!
//! | policy | survives the end of the process, however it comes | survives the end of power |
//! |---|---|---|
//! | `None` | when `append` returns | perhaps |
//! | `Batch` | when `append` returns | when [`Store::sync`] returns |
//! | `Message` | when `append` returns | when `append` returns |
//!
//! A number that was acknowledged and survives is never given to another message, except by
//! [`Store::reset`].
//!
//! What the end of power leaves of a store without a policy is whatever pages the system had written,
//! in an order of its own. [`Store::open`] finds one of these, and never hands out a message that was
//! not appended:
//!
//! | what was lost | what becomes of it |
//! |---|---|
//! | the end | it is cut off ([`Opened::torn`]); **its numbers are given again** |
//! | pages of the last segment before others that are there | [`StoreError::Damaged`], for [`OnDamage::Refuse`] is the default; with [`OnDamage::Skip`] those messages are left out, and their numbers stay used |
//! | pages of segments that are full | found when a message is read, or by [`survey()`] |
//! | the first page, the length or the file of a segment | [`StoreError::Damaged`], with either |
//!
//! Whoever has to go on unattended after that takes `Batch` or `Message`.
//!
//! Segments are mapped: their pages count as memory of the process (`RssFile`), and the system takes back
//! those that are written whenever it needs to. What a store has of its own does not grow with its messages.

mod durable;
mod error;
mod files;
#[cfg(feature = "workload")]
mod forge;
mod map;
mod open;
mod record;
mod segment;
mod survey;
mod walk;

use std::hash::BuildHasher as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub use error::{Damage, StoreError, StoreResult};
#[cfg(feature = "workload")]
pub use forge::forge;
pub use open::{Opened, Place};
pub use survey::{Seen, Survey, Visit, is_store, survey, survey_bytes};

use crate::names::named;
use files::Lock;
use map::Map;
use record::RecordKind;
use segment::{ABSENT, HEADER_BYTES, Header, Segment};

/// Bytes that segments may have.
pub const SEGMENT_BYTES: RangeInclusive<usize> = 4096..=1 << 30;

/// How far ahead of messages that are got in order memory is asked for.
const AHEAD: u64 = 24;

/// When what was appended is on the disk.
#[doc(alias = "fsync")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// When the system writes it, in any order: for what may be lost with the power.
    #[default]
    None,
    /// When [`Store::sync`] returns.
    Batch,
    /// When the call that appended returns.
    Message,
}

named!(Durability, "durability");

impl Durability {
    /// All of them, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Batch, Self::Message];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Batch => "batch",
            Self::Message => "message",
        }
    }
}

/// What becomes of a store with damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDamage {
    /// It is not opened.
    #[default]
    Refuse,
    /// It is opened without the messages that are damaged, whose numbers stay used.
    Skip,
}

named!(OnDamage, "treatment of damage");

impl OnDamage {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Refuse, Self::Skip];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Skip => "skip",
        }
    }
}

/// How a store is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// When what was appended is on the disk.
    pub durability: Durability,
    /// Bytes of each segment, within [`SEGMENT_BYTES`] and a multiple of 4,096: of new ones, for
    /// those that exist have what they were made with.
    pub segment_bytes: usize,
    /// Segments that the store may have before it is full, the one that is made ahead among them.
    pub segments_max: usize,
    /// What becomes of a store with damage.
    pub on_damage: OnDamage,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            segment_bytes: 16 << 20,
            segments_max: 1 << 15,
            on_damage: OnDamage::default(),
        }
    }
}

impl Options {
    /// Sets [`durability`](Self#structfield.durability).
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets [`segment_bytes`](Self#structfield.segment_bytes).
    #[must_use]
    pub fn segment_bytes(mut self, segment_bytes: usize) -> Self {
        self.segment_bytes = segment_bytes;
        self
    }

    /// Sets [`segments_max`](Self#structfield.segments_max).
    #[must_use]
    pub fn segments_max(mut self, segments_max: usize) -> Self {
        self.segments_max = segments_max;
        self
    }

    /// Sets [`on_damage`](Self#structfield.on_damage).
    #[must_use]
    pub fn on_damage(mut self, on_damage: OnDamage) -> Self {
        self.on_damage = on_damage;
        self
    }
}

/// A file that is ready to be the next segment.
#[derive(Debug)]
struct Spare {
    path: PathBuf,
    map: Map,
    populated: usize,
}

/// A store that is open.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    options: Options,
    /// Segments that are full, and the first number of each.
    full: Vec<Segment>,
    firsts: Vec<u64>,
    /// How many of them are on the disk.
    full_synced: usize,
    active: Segment,
    /// Where what is synced of the active one ends.
    synced: usize,
    /// Where the mark ends that says so, when nothing is behind it.
    marked: usize,
    spare: Option<Spare>,
    next_sender: u64,
    next_target: u64,
    /// A sync failed.
    is_unsynced: bool,
    opened: Opened,
    /// Where the last message that was asked for was.
    last_full: AtomicUsize,
    /// The number of the last message that was asked for.
    last_got: AtomicU64,
    lock: Lock,
}

impl Store {
    /// Opens the store in a directory, which is made where it is missing, and takes its lock.
    ///
    /// Its files are mapped into memory. The lock keeps other stores away; a program that changes the
    /// files without it changes that memory, and one that shortens them ends this process.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] when it is open elsewhere, [`StoreError::Damaged`] when what was
    /// written is no longer what it was and [`Options::on_damage`] does not skip that, and what
    /// the system says. What was being written when a process ended is cut off: see
    /// [`Store::opened`].
    pub fn open(dir: impl AsRef<Path>, options: Options) -> StoreResult<Self> {
        let dir = dir.as_ref();
        let given = options.segment_bytes;
        if !SEGMENT_BYTES.contains(&given) || !given.is_multiple_of(4096) {
            let (min, max) = (*SEGMENT_BYTES.start(), *SEGMENT_BYTES.end());
            return Err(StoreError::SegmentBytes { given, min, max });
        }
        let lock = files::lock(dir)?;
        let mut found = open::find(lock, dir, &options)?;
        let active = match found.segments.pop() {
            Some(active) => active,
            None => {
                let spare = make(&found.lock, dir, 1, &options)?;
                begin(spare, first_header(1, 1, (1, 1)), &options)?
            }
        };
        Self {
            dir: dir.to_owned(),
            firsts: found
                .segments
                .iter()
                .map(|segment| segment.header.first)
                .collect(),
            full: found.segments,
            full_synced: 0,
            synced: HEADER_BYTES,
            marked: 0,
            active,
            spare: None,
            next_sender: found.next_sender,
            next_target: found.next_target,
            is_unsynced: false,
            opened: found.opened,
            last_full: AtomicUsize::new(0),
            last_got: AtomicU64::new(0),
            options,
            lock: found.lock,
        }
        .settled()
    }

    /// What opening came upon.
    #[must_use]
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The number of the next message that is appended.
    #[must_use]
    pub fn next_sender(&self) -> u64 {
        self.next_sender
    }

    /// The number that the next message of the other side has to have.
    #[must_use]
    pub fn next_target(&self) -> u64 {
        self.next_target
    }

    /// Segments that there are.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.full.len() + 1
    }

    /// Appends a message under the number that is due.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] when the next segment has no room on the disk: nothing has changed, and
    /// the call can be repeated. [`StoreError::Order`] for another number, [`StoreError::TooLong`],
    /// and [`StoreError::Io`] when a sync fails, after which the store has to be opened again.
    #[inline]
    pub fn append(&mut self, number: u64, message: &[u8]) -> StoreResult<()> {
        if number != self.next_sender || number == u64::MAX {
            return Err(StoreError::Order {
                given: number,
                next: self.next_sender,
            });
        }
        self.record(RecordKind::Message, number, message)?;
        self.next_sender = number + 1;
        self.acknowledge()
    }

    /// Says which number the next message of the other side has to have.
    ///
    /// # Errors
    ///
    /// As of [`Store::append`].
    pub fn set_next_target(&mut self, number: u64) -> StoreResult<()> {
        self.record(RecordKind::NextTarget, number, &[])?;
        self.next_target = number;
        self.acknowledge()
    }

    /// Raises the number of the next message that is appended: those between have no message.
    ///
    /// # Errors
    ///
    /// As of [`Store::append`]; [`StoreError::Order`] for a number that was used.
    pub fn set_next_sender(&mut self, number: u64) -> StoreResult<()> {
        let order = StoreError::Order {
            given: number,
            next: self.next_sender,
        };
        let skipped = number.checked_sub(self.next_sender).ok_or(order)?;
        let size = record::size(0);
        if skipped > walk::SKIP_MAX || !self.active.has_room(size, skipped as usize) {
            self.writable()?;
            self.roll(number)?;
        } else {
            self.record(RecordKind::NextSender, number, &[])?;
            for _ in 0..skipped {
                self.active.push_entry(ABSENT);
            }
        }
        self.next_sender = number;
        self.acknowledge()
    }

    /// Forgets every message and begins anew with these numbers, as a Logon with ResetSeqNumFlag
    /// asks for.
    ///
    /// # Errors
    ///
    /// As of [`Store::append`].
    pub fn reset(&mut self, next_sender: u64, next_target: u64) -> StoreResult<()> {
        self.writable()?;
        let (number, epoch) = (self.active.header.number + 1, self.active.header.epoch + 1);
        let spare = match self.spare.take() {
            Some(spare) => spare,
            None => make(&self.lock, &self.dir, number, &self.options)?,
        };
        let header = first_header(number, epoch, (next_sender, next_target));
        let fresh = begin(spare, header, &self.options);
        let fresh = fresh.inspect_err(|_| self.is_unsynced = true)?;
        let old = std::mem::replace(&mut self.active, fresh);
        (self.next_sender, self.next_target) = (next_sender, next_target);
        (self.synced, self.marked, self.full_synced) = (HEADER_BYTES, 0, 0);
        self.firsts.clear();
        // What stays is removed by the next who opens the store: its epoch is over.
        for segment in self.full.drain(..).chain([old]) {
            let _ = files::remove(&segment.path);
        }
        Ok(())
    }

    /// A message, without a copy and without computing its checksum; `None` if there is none of this
    /// number.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] when something else is in its place.
    #[inline]
    pub fn get(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        let before = self.last_got.load(Ordering::Relaxed);
        self.last_got.store(number, Ordering::Relaxed);
        let Some(segment) = self.segment(number) else {
            return Ok(None);
        };
        if before.wrapping_add(1) == number {
            segment.fetch(number.wrapping_add(AHEAD));
        }
        segment.get(number)
    }

    /// A message whose checksum was computed, as it has to be before it is sent again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] when it is not what was appended.
    pub fn verified(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        match self.segment(number) {
            Some(segment) => segment.verified(number),
            None => Ok(None),
        }
    }

    /// The messages of a range for a resend, each with its number and verified; numbers without a
    /// message are left out.
    pub fn range(
        &self,
        numbers: RangeInclusive<u64>,
    ) -> impl Iterator<Item = (u64, StoreResult<&[u8]>)> {
        let (mut next, last) = numbers.into_inner();
        let last = last.min(self.next_sender.saturating_sub(1));
        std::iter::from_fn(move || {
            while next <= last {
                let number = next;
                // Over numbers that no segment has in one step.
                next = match self.segment(number) {
                    Some(_) => number + 1,
                    None => self.first_after(number),
                };
                match self.verified(number) {
                    Ok(None) => {}
                    found => return Some((number, found.map(Option::unwrap_or_default))),
                }
            }
            None
        })
    }

    /// Does some of what appending would have to do later: finds memory for up to so many bytes of
    /// the segments, and makes the next segment. For the idle time of the thread that appends.
    /// Returns whether nothing is left to do.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] when the next segment has no room; messages may still fit into this one.
    pub fn prepare(&mut self, bytes: usize) -> StoreResult<bool> {
        let more = bytes.clamp(4096, 1 << 30) & !4095;
        let length = self.active.map.len();
        if self.active.populated < length {
            let from = self.active.populated;
            let some = more.min(length - from);
            self.active.map.populate(from, some);
            self.active.populated += some;
            return Ok(false);
        }
        let Some(spare) = &mut self.spare else {
            self.room()?;
            self.spare = Some(make(
                &self.lock,
                &self.dir,
                self.active.header.number + 1,
                &self.options,
            )?);
            return Ok(false);
        };
        let some = more.min(spare.map.len() - spare.populated);
        spare.map.populate(spare.populated, some);
        spare.populated += some;
        Ok(spare.populated == spare.map.len())
    }

    #[inline]
    fn segment(&self, number: u64) -> Option<&Segment> {
        if number >= self.active.header.first {
            return Some(&self.active);
        }
        let last = self.last_full.load(Ordering::Relaxed);
        let is_of = |at: usize| {
            let segment = self.full.get(at)?;
            let index = number.checked_sub(segment.header.first)?;
            (index < segment.entries as u64).then_some(segment)
        };
        is_of(last).or_else(|| {
            let after = self.firsts.partition_point(|first| *first <= number);
            let at = after.checked_sub(1)?;
            self.last_full.store(at, Ordering::Relaxed);
            is_of(at)
        })
    }

    /// The first number of a segment behind a number that none has.
    fn first_after(&self, number: u64) -> u64 {
        let after = self.firsts.partition_point(|first| *first <= number);
        let first = self.firsts.get(after).copied();
        first
            .unwrap_or(self.active.header.first)
            .max(number.saturating_add(1))
    }

    fn writable(&self) -> StoreResult<()> {
        match self.is_unsynced {
            true => Err(StoreError::Unsynced),
            false => Ok(()),
        }
    }

    /// Adds a record, with a new segment where it does not fit.
    #[inline]
    fn record(&mut self, kind: RecordKind, number: u64, content: &[u8]) -> StoreResult<()> {
        if self.is_unsynced || !self.active.has_room(record::size(content.len()), 1) {
            self.make_room(content.len())?;
        }
        // Without a policy nothing is known to be unsynced, and damage is not taken for a torn end.
        let synced = match self.options.durability {
            Durability::None => usize::MAX,
            Durability::Batch | Durability::Message => self.synced,
        };
        self.active.push(kind, number, synced, content);
        Ok(())
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) -> StoreResult<()> {
        self.writable()?;
        let bytes_max = segment::content_bytes_max(self.options.segment_bytes);
        if bytes > bytes_max {
            return Err(StoreError::TooLong { bytes, bytes_max });
        }
        self.roll(self.next_sender)
    }

    /// Whether the options allow another segment.
    fn room(&self) -> StoreResult<()> {
        if self.segments() < self.options.segments_max {
            return Ok(());
        }
        Err(StoreError::Full {
            path: files::segment_path(&self.dir, self.active.header.number + 1),
            bytes: self.options.segment_bytes as u64,
            source: None,
        })
    }

    /// Goes on in a new segment, whose first message has this number.
    fn roll(&mut self, first: u64) -> StoreResult<()> {
        let number = self.active.header.number + 1;
        let spare = match self.spare.take() {
            Some(spare) => spare,
            None => {
                self.room()?;
                make(&self.lock, &self.dir, number, &self.options)?
            }
        };
        if self.options.durability != Durability::None {
            let whole = self.active.sync(0, self.active.map.len());
            whole.inspect_err(|_| self.is_unsynced = true)?;
        }
        let header = Header {
            number,
            epoch: self.active.header.epoch,
            first,
            next_target: self.next_target,
            bytes: 0,
            before: (self.active.entries as u64, self.active.end as u64),
            salt: 0,
        };
        let fresh = begin(spare, header, &self.options);
        let fresh = fresh.inspect_err(|_| self.is_unsynced = true)?;
        let old = std::mem::replace(&mut self.active, fresh);
        self.firsts.push(old.header.first);
        self.full.push(old);
        if self.options.durability != Durability::None {
            self.full_synced = self.full.len();
        }
        (self.synced, self.marked) = (HEADER_BYTES, 0);
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(spare) = self.spare.take() {
            // One that stays is removed by the next who opens the store.
            let _ = files::remove(&spare.path);
        }
    }
}

/// The header of a segment without one before it.
fn first_header(number: u64, epoch: u64, (first, next_target): (u64, u64)) -> Header {
    Header {
        number,
        epoch,
        first,
        next_target,
        bytes: 0,
        before: (0, 0),
        salt: 0,
    }
}

/// Makes the file of a segment.
fn make(lock: &Lock, dir: &Path, number: u64, options: &Options) -> StoreResult<Spare> {
    let path = files::segment_path(dir, number);
    let file = files::create(&path, options.segment_bytes as u64)?;
    let map = Map::new(lock, &path).map_err(|error| StoreError::io("map", &path, error));
    let map = map.inspect_err(|_| drop(files::remove(&path)))?;
    if options.durability != Durability::None {
        // The length and the places of the file, and its name.
        file.sync_all()
            .map_err(|error| StoreError::io("sync", &path, error))?;
        files::sync_names(dir)?;
    }
    Ok(Spare {
        path,
        map,
        populated: 0,
    })
}

/// Begins a segment.
fn begin(spare: Spare, header: Header, options: &Options) -> StoreResult<Segment> {
    let salt = std::hash::RandomState::new().hash_one(header.number);
    let header = Header {
        bytes: spare.map.len() as u64,
        salt: salt as u32,
        ..header
    };
    let segment = Segment::begin(spare.path, spare.map, header, spare.populated);
    if options.durability != Durability::None {
        segment.sync(0, HEADER_BYTES)?;
    }
    Ok(segment)
}
