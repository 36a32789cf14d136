//! Extra fields: iterating over them, and those used here (ZIP64, times, Unicode names, AES).

use super::{MAX32, le16, le32, le64};
use crate::entry_time::EntryTime;

/// Sizes and offset beyond 32 bits.
pub(crate) const ZIP64: u16 = 0x0001;
/// Times of NTFS, in 100 nanoseconds since 1601.
const NTFS_TIMES: u16 = 0x000a;
/// Times in seconds since 1970: PKWARE's for Unix, access first.
const UNIX_TIMES: u16 = 0x000d;
/// Times in seconds since 1970: the modification first.
pub(crate) const TIMES: u16 = 0x5455;
/// Times in seconds since 1970: Info-ZIP's older field for Unix, access first.
const OLD_UNIX_TIMES: u16 = 0x5855;
/// A UTF-8 name next to one in another encoding.
pub(crate) const UNICODE_NAME: u16 = 0x7075;
/// WinZip AES; contains the real method.
pub(crate) const AES: u16 = 0x9901;

/// Bytes of the times field with one time, its header included.
pub(crate) const TIMES_BYTES: usize = 9;

/// The most bytes of a ZIP64 field here.
pub(crate) const ZIP64_BYTES_MAX: usize = 28;

/// Bytes of the times field of NTFS, its header included.
const NTFS_BYTES: usize = 36;
/// The steps of NTFS in a second.
const NTFS_STEPS: u64 = 10_000_000;
/// Seconds from 1601 to 1970.
const NTFS_EPOCH: i64 = 11_644_473_600;

/// How long the field of a modification time is.
pub(crate) fn times_bytes(modified: i64) -> usize {
    match i32::try_from(modified) {
        Ok(_) => TIMES_BYTES,
        Err(_) if ntfs_of(modified).is_some() => NTFS_BYTES,
        Err(_) => 0,
    }
}

/// Appends the modification time: after 2038 and before 1901 in the field of NTFS, for the usual one has 32
/// bits.
pub(crate) fn put_times(out: &mut Vec<u8>, modified: i64) {
    if let Ok(modified) = i32::try_from(modified) {
        out.extend_from_slice(&TIMES.to_le_bytes());
        out.extend_from_slice(&5_u16.to_le_bytes());
        out.push(1);
        out.extend_from_slice(&modified.to_le_bytes());
    } else if let Some(steps) = ntfs_of(modified) {
        out.extend_from_slice(&NTFS_TIMES.to_le_bytes());
        out.extend_from_slice(&32_u16.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&1_u16.to_le_bytes());
        out.extend_from_slice(&24_u16.to_le_bytes());
        for _ in ["modified", "accessed", "created"] {
            out.extend_from_slice(&steps.to_le_bytes());
        }
    }
}

/// Steps of NTFS since 1601; `None` before that and after the year 60,000.
fn ntfs_of(seconds: i64) -> Option<u64> {
    let seconds = u64::try_from(seconds.checked_add(NTFS_EPOCH)?).ok()?;
    seconds.checked_mul(NTFS_STEPS)
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

#[cfg(test)]
thread_local! {
    /// The fields that were looked at on this thread.
    pub(crate) static WALKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The complete fields of an extra area.
pub(crate) fn fields(mut area: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        #[cfg(test)]
        WALKED.set(WALKED.get() + 1);
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

/// The first fields of an area by what they are used for here, and what is checked of all of them: found in one walk, or in two
/// where there are many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// Whether the area consists of complete fields. Up to three bytes of padding are accepted.
    pub(crate) is_whole: bool,
    /// Whether fields with one id have the same data.
    pub(crate) repeats_only: bool,
    pub(crate) zip64: Option<&'a [u8]>,
    pub(crate) aes: Option<&'a [u8]>,
    pub(crate) unicode_name: Option<&'a [u8]>,
    times: Times<'a>,
}

/// The fields of times.
#[derive(Debug, Clone, Copy, Default)]
struct Times<'a> {
    ntfs: Option<&'a [u8]>,
    usual: Option<&'a [u8]>,
    old_unix: Option<&'a [u8]>,
    unix: Option<&'a [u8]>,
}

/// The fields of an area up to which each is compared with those before it.
const FEW_FIELDS: usize = 8;

impl<'a> Times<'a> {
    fn of(area: &'a [u8]) -> Self {
        let mut times = Self::default();
        fields(area).for_each(|(id, data)| times.keep(id, data));
        times
    }

    fn keep(&mut self, id: u16, data: &'a [u8]) {
        let place = match id {
            NTFS_TIMES => &mut self.ntfs,
            TIMES => &mut self.usual,
            OLD_UNIX_TIMES => &mut self.old_unix,
            UNIX_TIMES => &mut self.unix,
            _ => return,
        };
        place.get_or_insert(data);
    }

    /// What each of them says, the finest one first.
    fn all(&self) -> impl Iterator<Item = EntryTime> + use<> {
        let all = [
            self.ntfs.and_then(ntfs_time),
            self.usual.and_then(usual_time),
            self.old_unix.and_then(|data| seconds_at(data, 4)),
            self.unix.and_then(|data| seconds_at(data, 4)),
        ];
        all.into_iter().flatten()
    }
}

impl<'a> Found<'a> {
    /// Looks at every field, and compares those of one kind.
    pub(crate) fn of(area: &'a [u8]) -> Self {
        let mut found = Self::default();
        let mut few = [(0, &[][..]); FEW_FIELDS];
        let (mut used, mut count) = (0, 0);
        for (id, data) in fields(area) {
            used += 4 + data.len();
            if let Some(place) = few.get_mut(count) {
                *place = (id, data);
                let same = |(other, of_other): &(u16, &[u8])| *other != id || *of_other == data;
                found.repeats_only &= few[..count].iter().all(same);
            }
            count += 1;
            found.keep(id, data);
        }
        found.is_whole = area.len() - used < 4;
        if count > FEW_FIELDS {
            found.repeats_only = repeat_only(area);
        }
        found
    }

    fn keep(&mut self, id: u16, data: &'a [u8]) {
        let place = match id {
            ZIP64 => &mut self.zip64,
            AES => &mut self.aes,
            UNICODE_NAME => &mut self.unicode_name,
            _ => return self.times.keep(id, data),
        };
        place.get_or_insert(data);
    }

    /// The seconds since 1970 of every field of times.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = i64> + use<> {
        let seconds = |time: EntryTime| time.seconds_utc(|local| local);
        self.times.all().map(seconds)
    }

    /// The modification time of the finest field of times.
    pub(crate) fn modified(&self) -> Option<EntryTime> {
        self.times.all().next()
    }

    /// The two sizes in a local ZIP64 field: content, then compressed.
    pub(crate) fn local_sizes(&self) -> Option<(u64, u64)> {
        let data = self.zip64.filter(|data| data.len() >= 16)?;
        Some((le64(data, 0), le64(data, 8)))
    }
}

impl Default for Found<'_> {
    /// What an empty area has.
    fn default() -> Self {
        Self {
            is_whole: true,
            repeats_only: true,
            zip64: None,
            aes: None,
            unicode_name: None,
            times: Times::default(),
        }
    }
}

/// Whether fields with one id have the same data, in a time that grows no faster than their number.
fn repeat_only(area: &[u8]) -> bool {
    // Where the data of the first field with each id begins: behind a header, so never at 0.
    let mut first = vec![0_u16; 1 << 16];
    let mut at = 0;
    fields(area).all(|(id, data)| {
        let (begin, end) = (at + 4, at + 4 + data.len());
        at = end;
        let first = &mut first[usize::from(id)];
        if *first == 0 {
            // An area has 65,535 bytes at most.
            *first = begin as u16;
            return true;
        }
        let known = usize::from(*first);
        area.get(known..known + data.len()) == Some(data)
            && usize::from(le16(area, known - 2)) == data.len()
    })
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

/// The modification time of the finest field of times, local or central.
pub(crate) fn modified(area: &[u8]) -> Option<EntryTime> {
    Times::of(area).all().next()
}

/// The modification time of the extended timestamp.
fn usual_time(data: &[u8]) -> Option<EntryTime> {
    let present = data.first()? & 1 == 1;
    present.then(|| seconds_at(data, 1))?
}

/// A time of 32 bits at a place of a field.
fn seconds_at(data: &[u8], at: usize) -> Option<EntryTime> {
    let seconds = data.get(at..)?.first_chunk()?;
    Some(EntryTime::Utc {
        seconds: i32::from_le_bytes(*seconds).into(),
        nanoseconds: 0,
    })
}

/// The modification time of NTFS; 0 is none.
fn ntfs_time(data: &[u8]) -> Option<EntryTime> {
    // Four bytes without a meaning, then fields of their own.
    let own = data.get(4..)?;
    let steps = u64::from_le_bytes(*find(own, 1)?.first_chunk()?);
    (steps > 0).then(|| EntryTime::Utc {
        seconds: (steps / NTFS_STEPS) as i64 - NTFS_EPOCH,
        nanoseconds: (steps % NTFS_STEPS) as u32 * 100,
    })
}

/// The UTF-8 name of the Unicode field, if it belongs to the name in the header.
pub(crate) fn unicode_name<'a>(area: &'a [u8], header_name: &[u8]) -> Option<&'a str> {
    unicode_text(find(area, UNICODE_NAME)?, header_name)
}

/// The name in the data of a Unicode field, if it belongs to the name in the header.
pub(crate) fn unicode_text<'a>(data: &'a [u8], header_name: &[u8]) -> Option<&'a str> {
    let fits = data.len() >= 5 && data[0] == 1 && le32(data, 1) == libdeflater::crc32(header_name);
    fits.then(|| std::str::from_utf8(&data[5..]).ok())?
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
        let nanoseconds = 0;
        assert_eq!(
            modified(&area),
            Some(EntryTime::Utc {
                seconds: 5,
                nanoseconds
            })
        );
    }

    #[test]
    fn the_finest_time_counts() {
        let utc = |seconds, nanoseconds| {
            Some(EntryTime::Utc {
                seconds,
                nanoseconds,
            })
        };
        let put = |area: &mut Vec<u8>, id: u16, data: &[u8]| {
            area.extend_from_slice(&id.to_le_bytes());
            area.extend_from_slice(&(data.len() as u16).to_le_bytes());
            area.extend_from_slice(data);
        };
        let mut area = Vec::new();
        assert_eq!(modified(&area), None);
        put(&mut area, UNIX_TIMES, &[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(modified(&area), utc(2, 0));
        put(
            &mut area,
            OLD_UNIX_TIMES,
            &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        );
        assert_eq!(modified(&area), utc(-1, 0));
        put(&mut area, TIMES, &[2, 9, 0, 0, 0]);
        assert_eq!(modified(&area), utc(-1, 0), "only the time of access");
        area.clear();
        put(&mut area, OLD_UNIX_TIMES, &[0; 7]);
        put(&mut area, TIMES, &[3, 0, 0, 0, 0x80, 9, 0, 0, 0]);
        assert_eq!(modified(&area), utc(i32::MIN.into(), 0));
        let steps = |value: u64| [&[0, 0, 0, 0, 1, 0, 8, 0][..], &value.to_le_bytes()].concat();
        for (value, time) in [
            (0, utc(i32::MIN.into(), 0)),
            (1, utc(-NTFS_EPOCH, 100)),
            (u64::MAX, utc(1_833_029_933_770, 955_161_500)),
        ] {
            let mut area = area.clone();
            put(&mut area, NTFS_TIMES, &steps(value));
            assert_eq!(modified(&area), time, "{value}");
        }
        // What is cut is no field.
        for end in 0..16 {
            area.clear();
            put(&mut area, NTFS_TIMES, &steps(7)[..end]);
            assert_eq!(modified(&area), None, "{end}");
        }
    }

    #[test]
    fn every_time_is_read_as_it_was_written() {
        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
        for seconds in [-NTFS_EPOCH, min - 1, min, -1, 0, 1, max, max + 1, 1 << 40] {
            let mut area = Vec::new();
            put_times(&mut area, seconds);
            assert_eq!(area.len(), times_bytes(seconds));
            let read = modified(&area);
            // The field of NTFS has no 0.
            let is_none = seconds == -NTFS_EPOCH;
            let nanoseconds = 0;
            let written = EntryTime::Utc {
                seconds,
                nanoseconds,
            };
            assert_eq!(read, (!is_none).then_some(written));
        }
        for seconds in [i64::MIN, -NTFS_EPOCH - 1, 1 << 41, i64::MAX] {
            let mut area = Vec::new();
            put_times(&mut area, seconds);
            assert_eq!((area.len(), times_bytes(seconds)), (0, 0), "{seconds}");
        }
    }

    #[test]
    fn fields_of_one_kind_repeat_or_differ() {
        let put = |area: &mut Vec<u8>, id: u16, data: &[u8]| {
            area.extend_from_slice(&id.to_le_bytes());
            area.extend_from_slice(&(data.len() as u16).to_le_bytes());
            area.extend_from_slice(data);
        };
        for others in [0, 3, 6, 7, 8, 16_000] {
            for (first, second, repeats) in [
                (&b"ab"[..], &b"ab"[..], true),
                (b"", b"", true),
                (b"ab", b"ac", false),
                (b"ab", b"a", false),
                (b"", b"a", false),
            ] {
                let mut area = Vec::new();
                put(&mut area, 60_000, first);
                (0..others).for_each(|id| put(&mut area, id, b""));
                put(&mut area, 60_000, second);
                let found = Found::of(&area).repeats_only;
                assert_eq!(found, repeats, "{others} {first:?} {second:?}");
            }
        }
        assert!(Found::of(&[]).repeats_only);
    }

    #[test]
    fn one_walk_finds_what_single_searches_do() {
        let put = |area: &mut Vec<u8>, id: u16, data: &[u8]| {
            area.extend_from_slice(&id.to_le_bytes());
            area.extend_from_slice(&(data.len() as u16).to_le_bytes());
            area.extend_from_slice(data);
        };
        let ids = [
            ZIP64,
            AES,
            UNICODE_NAME,
            NTFS_TIMES,
            TIMES,
            OLD_UNIX_TIMES,
            UNIX_TIMES,
            7,
        ];
        let mut area = Vec::new();
        for round in 0..3_u8 {
            for id in ids {
                put(&mut area, id, &[round + 1; 40]);
                let (found, is) = (Found::of(&area), |id| find(&area, id));
                assert_eq!((found.zip64, found.aes), (is(ZIP64), is(AES)));
                assert_eq!(found.unicode_name, is(UNICODE_NAME));
                assert_eq!(found.times.ntfs, is(NTFS_TIMES));
                assert_eq!(found.times.usual, is(TIMES));
                assert_eq!(found.times.old_unix, is(OLD_UNIX_TIMES));
                assert_eq!(found.times.unix, is(UNIX_TIMES));
                let sizes = is(ZIP64).map(|data| (le64(data, 0), le64(data, 8)));
                assert_eq!(found.local_sizes(), sizes);
                assert_eq!(found.repeats_only, round == 0);
                assert!(found.is_whole);
            }
        }
    }

    #[test]
    fn a_cut_area_ends_the_walk() {
        let mut area = Vec::new();
        put_times(&mut area, 5);
        assert!(Found::of(&area).is_whole);
        for cut in 4..area.len() {
            assert_eq!(fields(&area[..cut]).count(), 0);
            assert!(!Found::of(&area[..cut]).is_whole);
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
