//! Where a directory may be whose end record contradicts itself or the archive. No I/O.
//!
//! A place is right if it has a record of an entry whose local header is where the record says.

use std::ops::Range;

use super::entry::Entry;
use crate::format::central::Central;
use crate::format::end::End;
use crate::format::local::{LOCAL_BYTES, has_signature};

/// Where a directory may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    /// The byte that offsets count from.
    pub(super) base: u64,
    /// Whether the end record states another place.
    pub(super) elsewhere: bool,
}

/// Places to try, those that are more likely first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    places: [Option<Place>; 3],
    at: usize,
}

impl Places {
    /// The places of a directory that ends at `end_at`: the stated one; where its size or its offset is wrong.
    pub(super) fn of(end: &End, end_at: u64) -> Self {
        let (bytes, offset) = (end.directory_bytes, end.directory_offset);
        let start = end_at.checked_sub(bytes);
        let stated = start.and_then(|start| {
            let base = start.checked_sub(offset)?;
            let elsewhere = false;
            Some(Place {
                start,
                base,
                elsewhere,
            })
        });
        let other = |start: u64| Place {
            start,
            base: 0,
            elsewhere: true,
        };
        let sized = (offset < end_at).then(|| other(offset));
        let placed = start.map(other);
        let is_new = |place: &Place| {
            stated.is_none_or(|stated| stated.start != place.start || stated.base > 0)
        };
        Self {
            places: [stated, sized.filter(is_new), placed.filter(is_new)],
            at: 0,
        }
    }

    /// Whether the end record leaves no doubt: it is that of a whole archive that nothing precedes.
    pub(super) fn is_plain(&self, end: &End) -> bool {
        end.is_whole() && self.places[0].is_some_and(|stated| stated.base == 0)
    }
}

impl Iterator for Places {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        while let Some(place) = self.places.get(self.at) {
            self.at += 1;
            if place.is_some() {
                return *place;
            }
        }
        None
    }
}

impl Place {
    /// The first entry of a directory in this place.
    fn entry<'a>(&self, directory: &'a [u8]) -> Option<Entry<'a>> {
        let central = Central::parse(directory)?;
        Entry::new(central, 0, self.start, self.base).ok()
    }

    /// Where the local header of the first entry is, up to its name.
    pub(super) fn first_header(&self, directory: &[u8]) -> Option<Range<u64>> {
        let entry = self.entry(directory)?;
        let start = entry.offset();
        let end = start.checked_add((LOCAL_BYTES + entry.name_bytes().len()) as u64)?;
        (end <= self.start).then_some(start..end)
    }

    /// Whether this is the local header of the first entry.
    pub(super) fn is_first(&self, header: &[u8], directory: &[u8]) -> bool {
        let has_name = |entry: Entry<'_>| header.get(LOCAL_BYTES..) == Some(entry.name_bytes());
        has_signature(header) && self.entry(directory).is_some_and(has_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(bytes: u64, offset: u64, end_at: u64) -> Vec<(u64, u64, bool)> {
        let end = End {
            disks: (0, 0),
            entries: (1, 1),
            directory_bytes: bytes,
            directory_offset: offset,
            comment_bytes: 0,
        };
        let places = Places::of(&end, end_at);
        let whole = [(offset, 0, false)];
        let found: Vec<_> = places
            .map(|place| (place.start, place.base, place.elsewhere))
            .collect();
        assert_eq!(places.is_plain(&end), found == whole);
        found
    }

    #[test]
    fn what_fits_is_tried_once() {
        assert_eq!(places(50, 100, 150), [(100, 0, false)]);
        // Bytes before the archive, or a size that is too small, or an offset that is.
        assert_eq!(
            places(50, 90, 150),
            [(100, 10, false), (90, 0, true), (100, 0, true)]
        );
        // A size that is too large, or an offset that is.
        assert_eq!(places(60, 100, 150), [(100, 0, true), (90, 0, true)]);
        assert_eq!(places(u64::MAX, 100, 150), [(100, 0, true)]);
        assert_eq!(places(50, u64::MAX, 150), [(100, 0, true)]);
        assert_eq!(places(u64::MAX, u64::MAX, 150), []);
    }
}
