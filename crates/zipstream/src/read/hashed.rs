//! Maps whose keys are hashes under a key of this run. They grow in small steps, so that no insertion moves many
//! others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// From this many on, values are in many maps.
const ONE_MAP_MAX: usize = 2048;
/// The maps that there are then. Each has a few thousand values at most.
const MAPS: usize = 4096;

type Map<V> = HashMap<u64, V, BuildHasherDefault<Unhashed>>;

/// Values by hashes.
#[derive(Debug, Clone)]
pub(super) struct Hashed<V> {
    /// One or [`MAPS`].
    maps: Vec<Map<V>>,
    len: usize,
}

impl<V> Hashed<V> {
    /// The value of this hash.
    pub(super) fn get(&self, hash: u64) -> Option<&V> {
        self.maps[self.place(hash)].get(&hash)
    }

    /// Sets the value of a hash. `false`: it had one before.
    pub(super) fn insert(&mut self, hash: u64, value: V) -> bool {
        let place = self.place(hash);
        let is_new = self.maps[place].insert(hash, value).is_none();
        self.count(is_new);
        is_new
    }

    /// The value of a hash, which is made if there is none.
    pub(super) fn get_or_default(&mut self, hash: u64) -> &mut V
    where
        V: Default,
    {
        // It grows by the one that is made next time.
        self.count(false);
        let place = self.place(hash);
        match self.maps[place].entry(hash) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(vacant) => {
                self.len += 1;
                vacant.insert(V::default())
            }
        }
    }

    /// About the memory that it holds.
    #[cfg(feature = "tokio")]
    pub(super) fn bytes(&self) -> usize {
        2 * self.len * size_of::<(u64, V)>() + self.maps.len() * size_of::<Map<V>>()
    }

    fn place(&self, hash: u64) -> usize {
        // The maps use the lowest and the highest bits.
        (hash >> 32) as usize & (self.maps.len() - 1)
    }

    fn count(&mut self, is_new: bool) {
        self.len += usize::from(is_new);
        if self.len <= ONE_MAP_MAX || self.maps.len() == MAPS {
            return;
        }
        let values = std::mem::take(&mut self.maps[0]);
        self.maps.resize_with(MAPS, Map::default);
        for (hash, value) in values {
            let place = self.place(hash);
            self.maps[place].insert(hash, value);
        }
    }
}

impl<V> Default for Hashed<V> {
    fn default() -> Self {
        Self {
            maps: vec![Map::default()],
            len: 0,
        }
    }
}

/// Takes a hash as it is.
#[derive(Debug, Clone, Copy, Default)]
struct Unhashed(u64);

impl Hasher for Unhashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_is_found_in_any_number() {
        let mut hashed = Hashed::default();
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in 0..20_000 {
            assert!(hashed.get(hash(number)).is_none(), "{number}");
            match number % 2 {
                0 => assert!(hashed.insert(hash(number), number)),
                _ => *hashed.get_or_default(hash(number)) = number,
            }
            assert!(!hashed.insert(hash(number), number));
        }
        let found = |number| hashed.get(hash(number)) == Some(&number);
        assert!((0..20_000).all(found));
        assert_eq!((hashed.len, hashed.maps.len()), (20_000, MAPS));
    }

    #[test]
    fn no_map_is_large() {
        let mut hashed = Hashed::default();
        let mut hash = 1_u64;
        for _ in 0..300_000 {
            // The hashes of a run are like random numbers.
            hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            hashed.insert(hash ^ hash >> 33, ());
        }
        let largest = hashed.maps.iter().map(Map::len).max();
        assert!(
            largest.is_some_and(|largest| largest < ONE_MAP_MAX / 8),
            "{largest:?}"
        );
    }
}
