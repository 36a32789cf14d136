//! Where the anchors of the older file are: a table of bounded size.

use super::gear::Gear;

/// Offsets of one anchor that are remembered.
pub(super) const PLACES_MAX: usize = 4;
/// Slots that are looked at for one anchor.
const PROBES: usize = 16;
/// Of a slot, the low bits are the offset plus one, the others tell anchors apart. 0: empty.
const OFFSET_BITS: u32 = 40;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
/// The most slots: 64 MiB.
const SLOTS_LOG_MAX: u32 = 23;
const SLOTS_LOG_MIN: u32 = 6;
const RATE_LOG_MIN: u32 = 6;
/// Anchors that a segment has, about, at most.
const SEGMENT_ANCHORS_LOG_MAX: u32 = 20;

/// The offsets of an anchor in the older file, the lowest first as a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Places {
    offsets: [u64; PLACES_MAX],
    count: usize,
}

impl Places {
    pub(super) fn offsets(&self) -> &[u64] {
        &self.offsets[..self.count]
    }

    pub(super) fn push(&mut self, offset: u64) {
        if let Some(free) = self.offsets.get_mut(self.count) {
            *free = offset;
            self.count += 1;
        }
    }
}

/// The anchors of the older file.
#[derive(Debug, Clone)]
pub(super) struct Index {
    rate_log: u32,
    slots: Vec<u64>,
    gear: Gear,
}

impl Index {
    /// An empty table for a file of this size, whose anchors are looked up for segments of this size.
    pub(super) fn new(older_bytes: u64, segment_bytes: u64) -> Self {
        let (rate_log, slots_log) = logs(older_bytes, segment_bytes);
        Self {
            rate_log,
            slots: vec![0; 1 << slots_log],
            gear: Gear::new(rate_log),
        }
    }

    /// The memory that the table takes, in bytes.
    pub(super) fn memory_bytes(older_bytes: u64, segment_bytes: u64) -> u64 {
        8 << logs(older_bytes, segment_bytes).1
    }

    /// An anchor follows the one before after `1 << rate_log` bytes on average.
    pub(super) fn rate_log(&self) -> u32 {
        self.rate_log
    }

    /// Bytes of the older file that were taken.
    pub(super) fn taken(&self) -> u64 {
        self.gear.position()
    }

    /// Takes the next bytes of the older file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let slots = &mut self.slots;
        self.gear
            .scan(bytes, |offset, hash| insert(slots, offset, hash));
    }

    /// Where this anchor is.
    pub(super) fn places(&self, hash: u64) -> Places {
        let (start, tag) = slot(hash, self.slots.len());
        let mut places = Places::default();
        for probe in 0..PROBES {
            let slot = self.slots[(start + probe) & (self.slots.len() - 1)];
            if slot == 0 {
                break;
            }
            if slot & !OFFSET_MASK == tag {
                places.push((slot & OFFSET_MASK) - 1);
            }
        }
        places
    }
}

/// How far apart anchors are, and how many slots there are, as logarithms.
fn logs(older_bytes: u64, segment_bytes: u64) -> (u32, u32) {
    let log = |bytes: u64| u64::BITS - bytes.leading_zeros();
    // Half of the slots stay empty.
    let rate_log = RATE_LOG_MIN
        .max((log(older_bytes) + 1).saturating_sub(SLOTS_LOG_MAX))
        .max(log(segment_bytes).saturating_sub(SEGMENT_ANCHORS_LOG_MAX));
    let slots_log = (log(older_bytes) + 1).saturating_sub(rate_log);
    (rate_log, slots_log.clamp(SLOTS_LOG_MIN, SLOTS_LOG_MAX))
}

/// The first slot of an anchor, and what tells it from others.
fn slot(hash: u64, slots: usize) -> (usize, u64) {
    // The high bits of an anchor's hash are zero, and its low bits are about few bytes.
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let start = (mixed >> 24) as usize & (slots - 1);
    (start, mixed << OFFSET_BITS)
}

fn insert(slots: &mut [u64], offset: u64, hash: u64) {
    if offset >= OFFSET_MASK {
        return;
    }
    let (start, tag) = slot(hash, slots.len());
    let mask = slots.len() - 1;
    let mut same = 0;
    for probe in 0..PROBES {
        let slot = &mut slots[(start + probe) & mask];
        if *slot == 0 {
            *slot = tag | (offset + 1);
            return;
        }
        same += usize::from(*slot & !OFFSET_MASK == tag);
        if same == PLACES_MAX {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_grows_with_the_file_up_to_its_bound() {
        assert_eq!(logs(0, 1 << 10), (6, 6));
        assert_eq!(logs((1 << 30) - 1, 1 << 20), (8, 23));
        assert_eq!(logs((6 << 30) - 1, 1 << 29), (11, 23));
        assert_eq!(logs(u64::MAX, 1 << 30), (42, 23));
        assert_eq!(Index::memory_bytes(6 << 30, 1 << 29), 64 << 20);
    }

    #[test]
    fn an_anchor_has_the_places_where_it_was_found() {
        let mut slots = vec![0; 64];
        for offset in [100, 200, 300, 400, 500] {
            insert(&mut slots, offset, 77);
        }
        insert(&mut slots, OFFSET_MASK, 78);
        let index = Index {
            slots,
            ..Index::new(1, 1)
        };
        assert_eq!(index.places(77).offsets(), [100, 200, 300, 400]);
        assert_eq!(index.places(78).offsets(), []);
    }
}
