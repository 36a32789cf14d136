//! Directory records of entries that moved.

use crate::error::{Error, ErrorKind};
use crate::format::central::{CENTRAL_BYTES, OFFSET_AT};
use crate::format::{MAX32, extra};
use crate::raw_entry::without_zip64;
use crate::read::{Directory, Entry};

/// The version that a reader of ZIP64 needs, times ten.
const ZIP64_VERSION: u16 = 45;
/// Where a record states the part that its entry starts in.
pub(super) const PART_AT: usize = 34;

/// Appends the record of an entry whose local header is at `offset` now. Everything else stays.
pub(super) fn put_moved(
    out: &mut Vec<u8>,
    directory: &Directory,
    entry: &Entry<'_>,
    offset: u64,
) -> Result<(), Error> {
    let (central, wide) = (entry.central(), entry.wide());
    let start = usize::try_from(entry.position()).unwrap_or(usize::MAX);
    let record = start.checked_add(central.total_bytes());
    let record = record.and_then(|end| directory.records().get(start..end));
    let Some(record) = record.filter(|record| record.len() >= CENTRAL_BYTES) else {
        return Err(Error::new(ErrorKind::Order, "no record at this position"));
    };
    let mut values = Vec::new();
    values.extend((central.content == MAX32).then_some(wide.content));
    values.extend((central.compressed == MAX32).then_some(wide.compressed));
    values.extend((offset >= MAX32.into()).then_some(offset));
    let at = out.len();
    out.extend_from_slice(record);
    if !values.is_empty() || extra::find(central.extra, extra::ZIP64).is_some() {
        let mut area = without_zip64(central.extra);
        if !values.is_empty() {
            extra::put_zip64(&mut area, &values);
        }
        let Ok(area_bytes) = u16::try_from(area.len()) else {
            out.truncate(at);
            let what = "its extra fields leave no room for an offset beyond 4 GiB";
            return Err(Error::new(ErrorKind::Unsupported, what).entry(entry.name_lossy()));
        };
        out.truncate(at + CENTRAL_BYTES + central.name.len());
        out.extend_from_slice(&area);
        out.extend_from_slice(central.comment);
        out[at + 30..at + 32].copy_from_slice(&area_bytes.to_le_bytes());
        if !values.is_empty() {
            let needed = central.needed.max(ZIP64_VERSION);
            out[at + 6..at + 8].copy_from_slice(&needed.to_le_bytes());
        }
    }
    // One disk.
    out[at + PART_AT..at + PART_AT + 2].fill(0);
    let narrow = u32::try_from(offset).unwrap_or(MAX32);
    out[at + OFFSET_AT..at + OFFSET_AT + 4].copy_from_slice(&narrow.to_le_bytes());
    Ok(())
}
