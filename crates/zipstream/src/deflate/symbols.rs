//! The alphabets of the format (RFC 1951, 3.2.5 and 3.2.6): symbols of lengths and distances, and
//! the fixed code.

/// Literals, the end of a block and lengths.
pub(super) const LITLENS: usize = 288;
/// Distances.
pub(super) const DISTANCES: usize = 32;
/// The symbols that a dynamic block may use: the others have only fixed codes.
pub(super) const LITLENS_USED: usize = 286;
pub(super) const DISTANCES_USED: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;
pub(super) const MATCH_MIN: usize = 3;
pub(super) const MATCH_MAX: usize = 258;
pub(super) const WINDOW: usize = 32 << 10;
/// The order in which code lengths are sent.
pub(super) const PRECODE_ORDER: [u8; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// The symbol of each length, less 257; indexed by the length less 3.
pub(super) static LENGTH_SLOT: [u8; 256] = length_slots();
/// Slots of distances up to 256, then those of larger ones by 128; see [`distance_slot`].
static DISTANCE_SLOT: [u8; 512] = distance_slots();

/// The smallest length of a slot, minus 3.
pub(super) const LENGTH_BASE: [u8; 29] = {
    let mut base = [0; 29];
    let mut slot = 0;
    let mut next = 0_usize;
    while slot < 28 {
        base[slot] = next as u8;
        next += 1 << length_extra(slot);
        slot += 1;
    }
    base[28] = 255;
    base
};

/// The smallest distance of a slot.
pub(super) const DISTANCE_BASE: [u16; 30] = {
    let mut base = [0; 30];
    let mut slot = 0;
    let mut next = 1_u32;
    while slot < 30 {
        base[slot] = next as u16;
        next += 1 << distance_extra(slot);
        slot += 1;
    }
    base
};

/// Extra bits of a length.
pub(super) const fn length_extra(slot: usize) -> u32 {
    if slot < 8 || slot >= 28 {
        0
    } else {
        slot as u32 / 4 - 1
    }
}

/// Extra bits of a distance.
pub(super) const fn distance_extra(slot: usize) -> u32 {
    if slot < 4 || slot >= 30 {
        0
    } else {
        slot as u32 / 2 - 1
    }
}

/// The slot of a distance of 1 to 32768.
#[inline(always)]
pub(super) fn distance_slot(distance: usize) -> usize {
    let index = distance.wrapping_sub(1);
    let index = if index < 256 {
        index
    } else {
        256 + (index >> 7 & 255)
    };
    usize::from(DISTANCE_SLOT[index & 511])
}

/// The slot of a length of 3 to 258.
#[inline(always)]
pub(super) fn length_slot(length: usize) -> usize {
    usize::from(LENGTH_SLOT[length.wrapping_sub(MATCH_MIN) & 255])
}

const fn length_slots() -> [u8; 256] {
    let mut slots = [28; 256];
    let (mut slot, mut index) = (0, 0);
    while slot < 28 {
        let mut left = 1 << length_extra(slot);
        while left > 0 && index < 255 {
            slots[index] = slot as u8;
            index += 1;
            left -= 1;
        }
        slot += 1;
    }
    slots
}

const fn distance_slots() -> [u8; 512] {
    let mut slots = [0; 512];
    let (mut slot, mut distance) = (0, 0_usize);
    while slot < 30 {
        let end = distance + (1 << distance_extra(slot));
        while distance < end {
            if distance < 256 {
                slots[distance] = slot as u8;
            } else {
                slots[256 + (distance >> 7)] = slot as u8;
            }
            distance += 1;
        }
        slot += 1;
    }
    slots
}

/// The lengths of the fixed code.
pub(super) const FIXED_LITLENS: [u8; LITLENS] = {
    let mut lengths = [8; LITLENS];
    let mut symbol = 144;
    while symbol < 280 {
        lengths[symbol] = if symbol < 256 { 9 } else { 7 };
        symbol += 1;
    }
    lengths
};
pub(super) const FIXED_DISTANCES: [u8; DISTANCES] = [5; DISTANCES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_bases_say_the_same() {
        for length in MATCH_MIN..=MATCH_MAX {
            let slot = length_slot(length);
            let extra = length - MATCH_MIN - usize::from(LENGTH_BASE[slot]);
            assert!(extra < 1 << length_extra(slot), "length {length}");
        }
        assert_eq!((length_slot(257), length_slot(258)), (27, 28));
        for distance in 1..=WINDOW {
            let slot = distance_slot(distance);
            let extra = distance - usize::from(DISTANCE_BASE[slot]);
            assert!(extra < 1 << distance_extra(slot), "distance {distance}");
        }
        assert_eq!((distance_slot(1), distance_slot(WINDOW)), (0, 29));
    }
}
