//! An open store: appending, and the change to the next segment.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use super::error::{StoreError, StoreResult};
use super::files::{self, Lock};
use super::open::{self, Opened};
use super::options::{Durability, Options, SEGMENT_BYTES};
use super::record::{self, RecordKind};
use super::retired::Retired;
use super::segment::{self, ABSENT, HEADER_BYTES, Header, Segment};
use super::spare::{Spare, begin, first_header, make};
use super::walk;
use crate::Timestamp;

/// An open store of sent messages.
#[doc(alias = "FileStore")]
#[doc(alias = "MessageStore")]
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    pub(super) options: Options,
    /// Full segments, and the first number of each.
    pub(super) full: Vec<Segment>,
    pub(super) firsts: Vec<u64>,
    /// How many of them are synced.
    pub(super) full_synced: usize,
    pub(super) active: Segment,
    /// Where the synced part of the active segment ends.
    pub(super) synced: usize,
    /// Where the record ends that marks it as synced, if that is the last record.
    pub(super) marked: usize,
    spare: Option<Spare>,
    retired: Retired,
    pub(super) next_sender: u64,
    next_target: u64,
    /// A sync failed.
    pub(super) is_unsynced: bool,
    opened: Opened,
    /// The full segment of the last message that was read.
    pub(super) last_full: AtomicUsize,
    /// The number of the last message that was read.
    pub(super) last_got: AtomicU64,
    lock: Lock,
}

impl Store {
    /// Opens the store in a directory, creates the directory if needed, and takes its lock.
    ///
    /// The files are mapped into memory. The lock keeps other stores out. A program that ignores the
    /// lock and changes the files changes that memory; if it shortens a file, the system ends this
    /// process.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] if it is already open, [`StoreError::Damaged`] if it is damaged and
    /// [`Options::on_damage`] does not skip that, and errors of the system. A record that was being
    /// written when a process ended is cut off, which is not an error: see [`Store::opened`].
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
                let header = Header {
                    created_ns: options.created.map_or(0, |created| created.0),
                    ..first_header(1, 1, (1, 1))
                };
                begin(spare, header, &options)?
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
            retired: Retired::default(),
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

    /// What opening the store found.
    #[must_use]
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The number of the next message to append.
    #[must_use]
    pub fn next_sender(&self) -> u64 {
        self.next_sender
    }

    /// The number expected in the next message from the other side.
    #[must_use]
    pub fn next_target(&self) -> u64 {
        self.next_target
    }

    /// When the numbers began: [`Options::created`] when the store was made, or the time of the last
    /// [`Store::reset_at`]. `None` if neither was stated.
    #[must_use]
    pub fn created(&self) -> Option<Timestamp> {
        self.active.header.created()
    }

    /// How many segments there are.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.full.len() + 1
    }

    /// Appends a message under the next number.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if the disk has no room for the next segment: nothing has changed, and the
    /// call can be repeated. [`StoreError::Order`] for another number, [`StoreError::TooLong`], and
    /// [`StoreError::Io`] if a sync fails, after which the store must be opened again.
    #[inline]
    pub fn append(&mut self, number: u64, message: &[u8]) -> StoreResult<()> {
        if number != self.next_sender || number == u64::MAX {
            return Err(StoreError::Order {
                given: number,
                next: self.next_sender,
            });
        }
        self.record(RecordKind::Message, number, (None, message))?;
        self.next_sender = number + 1;
        self.acknowledge()
    }

    /// Appends a message and sets the number expected in the next one from the other side, in one step: a reply, and
    /// that what it answers was received. Whatever ends the process, both are kept or neither.
    ///
    /// # Errors
    ///
    /// As for [`Store::append`].
    #[inline]
    pub fn append_and_receive(
        &mut self,
        number: u64,
        message: &[u8],
        next_target: u64,
    ) -> StoreResult<()> {
        if number != self.next_sender || number == u64::MAX {
            return Err(StoreError::Order {
                given: number,
                next: self.next_sender,
            });
        }
        let kind = RecordKind::MessageAndTarget;
        self.record(kind, number, (Some(next_target), message))?;
        (self.next_sender, self.next_target) = (number + 1, next_target);
        self.acknowledge()
    }

    /// Sets the number expected in the next message from the other side.
    ///
    /// # Errors
    ///
    /// As for [`Store::append`].
    pub fn set_next_target(&mut self, number: u64) -> StoreResult<()> {
        self.record(RecordKind::NextTarget, number, (None, &[]))?;
        self.next_target = number;
        self.acknowledge()
    }

    /// Raises the number of the next message to append. The numbers between get no message.
    ///
    /// # Errors
    ///
    /// As for [`Store::append`]; [`StoreError::Order`] for a number that is already used.
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
            self.record(RecordKind::NextSender, number, (None, &[]))?;
            for _ in 0..skipped {
                self.active.push_entry(ABSENT);
            }
        }
        self.next_sender = number;
        self.acknowledge()
    }

    /// Drops all messages and starts again with these numbers, as a Logon with ResetSeqNumFlag (141)
    /// requests.
    ///
    /// # Errors
    ///
    /// As for [`Store::append`].
    pub fn reset(&mut self, next_sender: u64, next_target: u64) -> StoreResult<()> {
        self.restart(0, next_sender, next_target)
    }

    /// [`Store::reset`], and states when the numbers began: all in one step.
    ///
    /// # Errors
    ///
    /// As for [`Store::append`].
    pub fn reset_at(
        &mut self,
        created: Timestamp,
        next_sender: u64,
        next_target: u64,
    ) -> StoreResult<()> {
        self.restart(created.0, next_sender, next_target)
    }

    fn restart(&mut self, created_ns: i64, next_sender: u64, next_target: u64) -> StoreResult<()> {
        self.writable()?;
        let (number, epoch) = (self.active.header.number + 1, self.active.header.epoch + 1);
        let spare = match self.spare.take() {
            Some(spare) => spare,
            None => make(&self.lock, &self.dir, number, &self.options)?,
        };
        let header = Header {
            created_ns,
            ..first_header(number, epoch, (next_sender, next_target))
        };
        let fresh = begin(spare, header, &self.options);
        let fresh = fresh.inspect_err(|_| self.is_unsynced = true)?;
        let old = std::mem::replace(&mut self.active, fresh);
        (self.next_sender, self.next_target) = (next_sender, next_target);
        (self.synced, self.marked, self.full_synced) = (HEADER_BYTES, 0, 0);
        self.firsts.clear();
        // Files that stay are removed when the store is opened next: their epoch is over.
        let over: Vec<Segment> = self.full.drain(..).chain([old]).collect();
        for segment in &over {
            let _ = files::remove(&segment.path);
        }
        self.retired.take(over);
        Ok(())
    }

    /// Does work ahead that `append` would do later: populates up to `bytes` of the segments' memory,
    /// and creates the next segment. Call it in the idle time of the thread that appends. Returns
    /// whether nothing is left to do.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if there is no room for the next segment; messages may still fit into the
    /// current one.
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
            self.make_spare()?;
            return Ok(false);
        };
        let some = more.min(spare.map.len() - spare.populated);
        spare.map.populate(spare.populated, some);
        spare.populated += some;
        Ok(spare.populated == spare.map.len())
    }

    /// Makes sure that this many bytes can be stored whatever the disk does: in the current segment, or in a next one
    /// that is created now. Ask before doing what cannot be undone.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if there is no room for the next segment; messages may still fit into the current one.
    /// [`StoreError::Unsynced`] as for [`Store::append`].
    #[inline]
    pub fn ensure_room(&mut self, bytes: usize) -> StoreResult<()> {
        let is_there = self.spare.is_some() || self.active.has_room(bytes, bytes / 64);
        match is_there && !self.is_unsynced {
            true => Ok(()),
            false => self.make_spare(),
        }
    }

    #[cold]
    fn make_spare(&mut self) -> StoreResult<()> {
        self.writable()?;
        self.room()?;
        let number = self.active.header.number + 1;
        let spare = make(&self.lock, &self.dir, number, &self.options)?;
        self.spare = Some(spare);
        Ok(())
    }

    pub(super) fn writable(&self) -> StoreResult<()> {
        match self.is_unsynced {
            true => Err(StoreError::Unsynced),
            false => Ok(()),
        }
    }

    /// Adds a record, in a new segment if it does not fit.
    #[inline]
    fn record(
        &mut self,
        kind: RecordKind,
        number: u64,
        content: (Option<u64>, &[u8]),
    ) -> StoreResult<()> {
        let bytes = content.0.map_or(0, |_| record::TARGET_BYTES) + content.1.len();
        if self.is_unsynced || !self.active.has_room(record::size(bytes), 1) {
            self.make_room(bytes)?;
        }
        // Without a policy nothing is known to be unsynced, so damage is not mistaken for a torn end.
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

    /// Continues in a new segment, whose first message has this number.
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
            created_ns: self.active.header.created_ns,
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
            // A file that stays is removed when the store is opened next.
            let _ = files::remove(&spare.path);
        }
    }
}
