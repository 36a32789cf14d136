//! Opening a store: finds its segments, reads the last one back, and cuts off a torn end.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::{Damage, StoreError, StoreResult};
use super::files::{self, Lock};
use super::map::Map;
use super::options::{OnDamage, Options, SEGMENT_BYTES};
use super::record::is_zero;
use super::segment::{ABSENT, HEADER_BYTES, Header, Segment, checked_header};
use super::walk::{Step, Walk};

/// What opening a store found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// A record that was being written when the machine or the process stopped. It was cut off.
    pub torn: Option<Place>,
    /// Damaged places that were left out: the first 1,024 of them.
    pub damaged: Vec<Place>,
    /// How many indexes were rebuilt, not counting that of the last segment.
    pub indexes_rebuilt: usize,
}

/// A range of bytes in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The segment.
    pub path: PathBuf,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// How many damaged places are listed.
const DAMAGED_MAX: usize = 1024;

/// The segments of a store, and the next numbers they lead to.
pub(super) struct Found {
    pub(super) lock: Lock,
    pub(super) segments: Vec<Segment>,
    pub(super) next_sender: u64,
    pub(super) next_target: u64,
    pub(super) opened: Opened,
}

/// Reads the segments of a locked directory.
pub(super) fn find(lock: Lock, dir: &Path, options: &Options) -> StoreResult<Found> {
    let mut found = Found {
        lock,
        segments: Vec::new(),
        next_sender: 1,
        next_target: 1,
        opened: Opened::default(),
    };
    files::remove_new(dir)?;
    let headers = headers(dir)?;
    for (at, (path, header)) in headers.iter().enumerate() {
        let after = headers.get(at + 1).map(|(_, after)| after);
        if after.is_some_and(|after| after.number != header.number + 1) {
            let missing = files::segment_path(dir, header.number + 1);
            return Err(StoreError::damaged(&missing, 0, Damage::Missing));
        }
        match after {
            Some(after) => found.older(path, header, after, options)?,
            None => found.last(path, header, options)?,
        }
    }
    Ok(found)
}

/// The headers of the segments in use. Removes segments that were never used or are from before a
/// reset.
fn headers(dir: &Path) -> StoreResult<Vec<(PathBuf, Header)>> {
    let mut headers: Vec<(PathBuf, Header)> = Vec::new();
    for number in files::segments(dir)?.into_iter().rev() {
        let path = files::segment_path(dir, number);
        let mut beginning = Vec::new();
        files::open(&path)?
            .take(files::BEGINNING_BYTES as u64)
            .read_to_end(&mut beginning)
            .map_err(|error| StoreError::io("read", &path, error))?;
        let epoch = headers.first().map(|(_, newest)| newest.epoch);
        if epoch.is_none() && Header::is_unused(&path, &beginning)? {
            files::remove(&path)?;
            continue;
        }
        let header = checked_header(&path, &beginning, number)?;
        if epoch.is_some_and(|epoch| header.epoch != epoch) {
            files::remove(&path)?;
            continue;
        }
        headers.push((path, header));
    }
    headers.reverse();
    Ok(headers)
}

impl Found {
    /// A full segment: its index is trusted if it is plausible.
    fn older(
        &mut self,
        path: &Path,
        header: &Header,
        after: &Header,
        options: &Options,
    ) -> StoreResult<()> {
        let mut segment = opened(&self.lock, path, header, false)?;
        let wrong = |offset| StoreError::damaged(path, offset, Damage::Header);
        segment.entries = usize::try_from(after.before.0).map_err(|_| wrong(0))?;
        segment.end = usize::try_from(after.before.1).map_err(|_| wrong(0))?;
        let is_possible = segment.end >= HEADER_BYTES
            && segment.has_room(0, 0)
            && header.first.checked_add(after.before.0) <= Some(after.first);
        if !is_possible {
            return Err(wrong(0));
        }
        if !segment.is_index_sane() {
            let (entries, end) = (segment.entries, segment.end);
            self.walk(&mut segment, options, true)?;
            // Records lost at the end have lost their entries too.
            while segment.entries < entries {
                segment.push_entry(ABSENT);
            }
            segment.end = end;
            self.opened.indexes_rebuilt += 1;
        }
        self.segments.push(segment);
        Ok(())
    }

    /// The last segment: reads its records, builds its index, cuts off a torn end.
    fn last(&mut self, path: &Path, header: &Header, options: &Options) -> StoreResult<()> {
        let mut segment = opened(&self.lock, path, header, true)?;
        self.walk(&mut segment, options, false)?;
        let index = segment.map.len() - super::segment::ENTRY_BYTES * segment.entries;
        let rest = segment.map.get_mut(segment.end..index).unwrap_or_default();
        for chunk in rest.chunks_mut(4096).filter(|chunk| !is_zero(chunk)) {
            chunk.fill(0);
        }
        self.segments.push(segment);
        Ok(())
    }

    /// Reads the records of a segment and builds its index.
    fn walk(&mut self, segment: &mut Segment, options: &Options, is_full: bool) -> StoreResult<()> {
        let mut entries = Vec::new();
        let mut walk = Walk::new(&segment.map, &segment.header);
        while let Some(step) = walk.step() {
            let (offset, bytes, damage) = match step {
                Step::Message {
                    offset, skipped, ..
                } => {
                    entries.extend((0..skipped).map(|_| ABSENT));
                    entries.push((offset / super::record::ALIGN) as u32);
                    continue;
                }
                Step::Numbers { skipped } => {
                    entries.extend((0..skipped).map(|_| ABSENT));
                    continue;
                }
                Step::Torn { offset, bytes } if !is_full => {
                    self.opened.torn = Some(place(&segment.path, offset, bytes));
                    break;
                }
                Step::Torn { offset, bytes } => (offset, bytes, Damage::Missing),
                Step::Damaged {
                    offset,
                    bytes,
                    damage,
                } => (offset, bytes, damage),
            };
            if options.on_damage == OnDamage::Refuse {
                return Err(StoreError::damaged(&segment.path, offset, damage));
            }
            if self.opened.damaged.len() < DAMAGED_MAX {
                let place = place(&segment.path, offset, bytes);
                self.opened.damaged.push(place);
            }
        }
        let end = walk.end();
        (self.next_sender, self.next_target) = (walk.next_sender, walk.next_target);
        segment.end = end;
        segment.entries = 0;
        for entry in entries {
            segment.push_entry(entry);
        }
        Ok(())
    }
}

fn place(path: &Path, offset: usize, bytes: usize) -> Place {
    Place {
        path: path.to_owned(),
        offset: offset as u64,
        bytes: bytes as u64,
    }
}

/// A segment of which only the header is known. The last segment may have lost its end.
fn opened(lock: &Lock, path: &Path, header: &Header, is_last: bool) -> StoreResult<Segment> {
    let file = files::open(path)?;
    let found = file
        .metadata()
        .map_err(|error| StoreError::io("read", path, error))?;
    let is_allowed = SEGMENT_BYTES.contains(&usize::try_from(header.bytes).unwrap_or(0));
    if !is_allowed || found.len() > header.bytes {
        return Err(StoreError::damaged(path, 0, Damage::Header));
    }
    if found.len() < header.bytes {
        if !is_last {
            let end = usize::try_from(found.len()).unwrap_or(usize::MAX);
            return Err(StoreError::damaged(path, end, Damage::Missing));
        }
        files::allocate(&file, header.bytes)
            .map_err(|error| files::failed(path, header.bytes, error))?;
    }
    let map = Map::new(lock, path).map_err(|error| StoreError::io("map", path, error))?;
    Ok(Segment {
        path: path.to_owned(),
        map,
        header: *header,
        end: HEADER_BYTES,
        entries: 0,
        populated: 0,
    })
}
