//! Extra fields: iterating over them, and those used here (ZIP64, times, Unicode names, AES).

use super::{MAX32, le16, le32, le64};

/// Sizes and offset beyond 32 bits.
pub(crate) const ZIP64: u16 = 0x0001;
/// Times in seconds since 1970.
pub(crate) const TIMES: u16 = 0x5455;
/// A UTF-8 name next to one in another encoding.
pub(crate) const UNICODE_NAME: u16 = 0x7075;
/// WinZip AES; contains the real method.
pub(crate) const AES: u16 = 0x9901;

/// Bytes of the times field with one time, its header included.
pub(crate) const TIMES_BYTES: usize = 9;

/// The most bytes of a ZIP64 field here.
pub(crate) const ZIP64_BYTES_MAX: usize = 28;

/// Appends the modification time.
pub(crate) fn put_times(out: &mut Vec<u8>, modified: i32) {
    out.extend_from_slice(&TIMES.to_le_bytes());
    out.extend_from_slice(&5_u16.to_le_bytes());
    out.push(1);
    out.extend_from_slice(&modified.to_le_bytes());
}

/// Appends a ZIP64 field with these values in the order of the format.
pub(crate) fn put_zip64(out: &mut Vec<u8>, values: &[u64]) {
    out.extend_from_slice(&ZIP64.to_le_bytes());
    // At most three values.
    out.extend_from_slice(&((values.len() * 8) as u16).to_le_bytes());
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The complete fields of an extra area.
pub(crate) fn fields(mut area: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header = area.get(..4)?;
        let (id, length) = (le16(header, 0), usize::from(le16(header, 2)));
        let data = area.get(4..4 + length)?;
        area = &area[4 + length..];
        Some((id, data))
    })
}

/// The data of the first field with this id.
pub(crate) fn find(area: &[u8], id: u16) -> Option<&[u8]> {
    fields(area)
        .find(|(found, _)| *found == id)
        .map(|(_, data)| data)
}

/// Whether the area consists of complete fields. Up to three bytes of padding are accepted.
pub(crate) fn is_whole(area: &[u8]) -> bool {
    let used: usize = fields(area).map(|(_, data)| 4 + data.len()).sum();
    area.len() - used < 4
}

/// Sizes and offset with the values of the ZIP64 field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) content: u64,
    pub(crate) compressed: u64,
    pub(crate) offset: u64,
}

/// Resolves 32-bit values by the ZIP64 field, which contains, in this order, those that are all
/// ones. `None` if it is too short for that. Without a ZIP64 field a value of all ones is taken
/// literally.
pub(crate) fn widen(content: u32, compressed: u32, offset: u32, area: &[u8]) -> Option<Wide> {
    let narrow = Wide {
        content: content.into(),
        compressed: compressed.into(),
        offset: offset.into(),
    };
    if [content, compressed, offset]
        .iter()
        .all(|value| *value != MAX32)
    {
        return Some(narrow);
    }
    let Some(mut data) = find(area, ZIP64) else {
        return Some(narrow);
    };
    let mut next = |value: u32| {
        if value != MAX32 {
            return Some(u64::from(value));
        }
        let (first, rest) = data.split_first_chunk::<8>()?;
        data = rest;
        Some(u64::from_le_bytes(*first))
    };
    Some(Wide {
        content: next(content)?,
        compressed: next(compressed)?,
        offset: next(offset)?,
    })
}

/// The modification time of the times field, local or central.
pub(crate) fn modified(area: &[u8]) -> Option<i64> {
    let data = find(area, TIMES)?;
    let present = data.len() >= 5 && data[0] & 1 == 1;
    present.then(|| i64::from(le32(data, 1) as i32))
}

/// The UTF-8 name of the Unicode field, if it belongs to the name in the header.
pub(crate) fn unicode_name<'a>(area: &'a [u8], header_name: &[u8]) -> Option<&'a str> {
    let data = find(area, UNICODE_NAME)?;
    let fits = data.len() >= 5 && data[0] == 1 && le32(data, 1) == libdeflater::crc32(header_name);
    fits.then(|| std::str::from_utf8(&data[5..]).ok())?
}

/// The two sizes in a local ZIP64 field: content, then compressed.
pub(crate) fn local_sizes(area: &[u8]) -> Option<(u64, u64)> {
    let data = find(area, ZIP64)?;
    (data.len() >= 16).then(|| (le64(data, 0), le64(data, 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zip64_holds_only_what_is_all_ones() {
        let mut area = Vec::new();
        put_times(&mut area, 5);
        assert_eq!(area.len(), TIMES_BYTES);
        put_zip64(&mut area, &[1 << 40, 7]);
        let wide = widen(MAX32, 3, MAX32, &area).unwrap();
        assert_eq!(
            (wide.content, wide.compressed, wide.offset),
            (1 << 40, 3, 7)
        );
        assert_eq!(widen(MAX32, MAX32, MAX32, &area), None, "three are needed");
        assert_eq!(widen(MAX32, 0, 0, &[]).unwrap().content, u64::from(MAX32));
        assert_eq!(modified(&area), Some(5));
    }

    #[test]
    fn a_cut_area_ends_the_walk() {
        let mut area = Vec::new();
        put_times(&mut area, 5);
        assert!(is_whole(&area));
        for cut in 4..area.len() {
            assert_eq!(fields(&area[..cut]).count(), 0);
            assert!(!is_whole(&area[..cut]));
        }
    }

    #[test]
    fn a_unicode_name_counts_only_with_the_checksum_of_the_other() {
        let mut area = UNICODE_NAME.to_le_bytes().to_vec();
        area.extend_from_slice(&7_u16.to_le_bytes());
        area.push(1);
        area.extend_from_slice(&libdeflater::crc32(b"?").to_le_bytes());
        area.extend_from_slice("é".as_bytes());
        assert_eq!(unicode_name(&area, b"?"), Some("é"));
        assert_eq!(unicode_name(&area, b"!"), None);
    }
}
