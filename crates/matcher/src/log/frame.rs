//! The bytes of a log. `LOG.md` next to this crate's README describes them.
//!
//! Changes that are made together are one record, which is there as a whole or not at all.

use betree::SubscriptionId;

use crate::change::Change;

/// The first bytes of every log; a transfer that changes line ends destroys them.
pub(super) const MAGIC: [u8; 8] = *b"\x89BEL\r\n\x1a\n";
/// The version of the format.
pub(super) const VERSION: u32 = 1;
/// Bytes of a log before its first record: magic, version, the number of the change before, checksum.
pub const HEADER_BYTES: usize = 24;
/// Bytes of a record before its content: length, number of changes, number of the first change, checksum.
pub(super) const RECORD_BYTES: usize = 20;
/// The checksum after the content.
pub(super) const SUM_BYTES: usize = 4;
/// The longest content of a record.
pub(super) const CONTENT_BYTES_MAX: usize = 1 << 31;

pub(super) const PUT: u8 = 1;
pub(super) const DELETE: u8 = 2;
/// The bit that says that a priority follows the constants.
pub(super) const PRIORITY: u8 = 1 << 5;

/// The first bytes of a log whose first change will be number `last + 1`.
#[must_use]
pub fn header(last: u64) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    out[..8].copy_from_slice(&MAGIC);
    out[8..12].copy_from_slice(&VERSION.to_le_bytes());
    out[12..20].copy_from_slice(&last.to_le_bytes());
    let sum = crc32fast::hash(&out[..20]);
    out[20..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Appends a record of changes, the first of which has the number `sequence`. No changes append nothing.
pub fn append<'c>(sequence: u64, changes: impl IntoIterator<Item = &'c Change>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; RECORD_BYTES]);
    let mut count = 0u32;
    for change in changes {
        content(change, out);
        count += 1;
    }
    if count == 0 {
        out.truncate(start);
        return;
    }
    let content = start + RECORD_BYTES;
    let length = (out.len() - content) as u32;
    let sum = crc32fast::hash(&out[content..]);
    out.extend(sum.to_le_bytes());
    let head = &mut out[start..content];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..8].copy_from_slice(&count.to_le_bytes());
    head[8..16].copy_from_slice(&sequence.to_le_bytes());
    let sum = crc32fast::hash(&head[..16]);
    head[16..].copy_from_slice(&sum.to_le_bytes());
}

fn content(change: &Change, out: &mut Vec<u8>) {
    match change {
        Change::Delete(SubscriptionId(id)) => {
            out.push(DELETE);
            out.extend(id.to_le_bytes());
        }
        Change::Put(SubscriptionId(id), put) => {
            out.push(PUT);
            out.extend(id.to_le_bytes());
            let constants = &put.constants;
            let values = [
                constants.advertiser_id,
                constants.campaign_id,
                constants.campaign_group_id,
                constants.flight_id,
                constants.product_id,
            ];
            let bits = values.iter().enumerate();
            let mask = bits.fold(0u8, |mask, (at, value)| {
                mask | u8::from(value.is_some()) << at
            });
            let priority = Some(put.priority).filter(|priority| *priority != 0);
            out.push(mask | if priority.is_some() { PRIORITY } else { 0 });
            for value in values.into_iter().flatten().chain(priority) {
                out.extend(value.to_le_bytes());
            }
            out.extend((put.expression.len() as u32).to_le_bytes());
            out.extend_from_slice(put.expression.as_bytes());
        }
    }
}
