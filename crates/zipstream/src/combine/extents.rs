//! Which bytes of an archive are an entry's: from its local header to the next one, or to the directory.

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::format::local::LOCAL_BYTES;
use crate::read::Directory;

/// An entry's place in its directory, and its bytes in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) position: u64,
    pub(super) range: Range<u64>,
}

/// The extents of all entries, in the order of the directory.
pub(super) fn of(directory: &Directory) -> Result<Vec<Extent>, Error> {
    let mut extents = Vec::new();
    for entry in directory {
        let entry = entry?;
        let start = entry.offset();
        extents.push(Extent {
            position: entry.position(),
            range: start..directory.start(),
        });
    }
    let mut order: Vec<usize> = (0..extents.len()).collect();
    order.sort_unstable_by_key(|at| extents[*at].range.start);
    for pair in order.windows(2) {
        extents[pair[0]].range.end = extents[pair[1]].range.start;
    }
    for (entry, extent) in directory.iter().zip(&extents) {
        let entry = entry?;
        // The local header may be longer.
        let header = (LOCAL_BYTES + entry.name_bytes().len()) as u64;
        let least = header.saturating_add(entry.compressed_bytes());
        let Range { start, end } = extent.range;
        if start.saturating_add(least) > end {
            let (kind, what) = match end == directory.start() {
                true => (ErrorKind::Corrupt, "it reaches into the directory"),
                false => (ErrorKind::Overlap, "it shares bytes with another entry"),
            };
            return Err(Error::new(kind, what)
                .at(entry.record_offset())
                .entry(entry.name_lossy()));
        }
    }
    Ok(extents)
}
