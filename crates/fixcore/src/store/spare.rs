//! Files that become segments: made and allocated whole, then begun with a header.

use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

use super::error::{StoreError, StoreResult};
use super::files::{self, Lock};
use super::map::Map;
use super::options::{Durability, Options};
use super::segment::{HEADER_BYTES, Header, Segment};

/// A file that is ready to be the next segment.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) path: PathBuf,
    pub(super) map: Map,
    pub(super) populated: usize,
}

/// The header of a segment without one before it.
pub(super) fn first_header(number: u64, epoch: u64, (first, next_target): (u64, u64)) -> Header {
    Header {
        number,
        epoch,
        first,
        next_target,
        bytes: 0,
        before: (0, 0),
        salt: 0,
        created_ns: 0,
    }
}

/// Makes the file of a segment.
pub(super) fn make(lock: &Lock, dir: &Path, number: u64, options: &Options) -> StoreResult<Spare> {
    let path = files::segment_path(dir, number);
    let file = files::create(&path, options.segment_bytes as u64)?;
    let map = Map::new(lock, &path).map_err(|error| StoreError::io("map", &path, error));
    let map = map.and_then(|map| match options.locked {
        true => map.locked(&path),
        false => Ok(map),
    });
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
pub(super) fn begin(spare: Spare, header: Header, options: &Options) -> StoreResult<Segment> {
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
