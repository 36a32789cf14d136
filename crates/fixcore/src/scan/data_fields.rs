//! Data fields behind the fields that state their lengths, where both are as they should be.

use super::index::Index;
use super::watch::Watch;
use crate::frame::SOH;

/// Adds data fields and their length fields, from the start of one on. Returns the start of the first field that
/// is neither, or not as it should be.
#[inline(always)]
pub(crate) fn data_fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let mut at = from;
    while let Some(both) = pair(bytes, watch, at) {
        for (tag, end) in both {
            index.push(tag, end as u32);
            at = end + 1;
        }
    }
    at
}

/// The tags and ends of a length field and its data field, if both are here and as they should be. The
/// decoder's reader says what is wrong with them otherwise.
#[inline(always)]
fn pair(bytes: &[u8], watch: &Watch, at: usize) -> Option<[(u32, usize); 2]> {
    let (length_tag, value) = number(bytes, at, b'=')?;
    let data = watch.data_of(length_tag);
    if data == 0 || bytes.get(at) == Some(&b'0') {
        return None;
    }
    let (length, behind) = number(bytes, value, SOH)?;
    let (tag, content) = number(bytes, behind, b'=')?;
    let is_data = tag == data && watch.data_of(tag) == 0 && bytes.get(behind) != Some(&b'0');
    let end = content + length as usize;
    let is_whole = is_data && length > 0 && bytes.get(end) == Some(&SOH);
    is_whole.then_some([(length_tag, behind - 1), (tag, end)])
}

/// One to nine digits with this byte after them: the number, and the place behind that byte.
#[inline(always)]
fn number(bytes: &[u8], at: usize, end: u8) -> Option<(u32, usize)> {
    let mut number = 0;
    for (digits, byte) in bytes.get(at..)?.iter().take(10).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (*byte == end && digits > 0).then_some((number, at + digits + 1));
        }
        number = u32::wrapping_add(number.wrapping_mul(10), digit.into());
    }
    None
}
