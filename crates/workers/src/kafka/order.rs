//! The order of the blocks of a topic, whose partitions have none among each other: each source in its own order, and
//! otherwise as the partitions have them. No I/O.

use std::collections::{BTreeMap, HashMap, VecDeque};

/// What is known of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it stands in its partition.
    pub(super) offset: i64,
    /// Its source, and the byte of it at which it starts.
    pub(super) source: Option<(String, u64)>,
    /// Its length.
    pub(super) bytes: u64,
    /// When it was made, in milliseconds.
    pub(super) millis: i64,
}

/// A block in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ordered {
    /// Its number in the topic, from 1.
    pub(super) number: u64,
    /// The byte of its source at which it starts.
    pub(super) byte: Option<u64>,
}

/// Numbers blocks by their partition and offset. A feeder stores a block only after the one before it, so that there is
/// always a first block of a partition that is the next one of its source, or has none. Where blocks were removed, the
/// oldest goes on.
pub(super) fn order(
    mut partitions: BTreeMap<i32, VecDeque<Entry>>,
) -> HashMap<(i32, i64), Ordered> {
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut ordered = HashMap::new();
    let mut number = 0;
    loop {
        let heads = || {
            partitions
                .iter()
                .filter_map(|(at, entries)| Some((*at, entries.front()?)))
        };
        let is_next = |entry: &Entry| {
            entry
                .source
                .as_ref()
                .is_none_or(|(source, byte)| next.get(source).copied().unwrap_or(0) == *byte)
        };
        let found = heads()
            .find(|(_, entry)| is_next(entry))
            .or_else(|| heads().min_by_key(|(at, entry)| (entry.millis, byte(entry), *at)));
        let Some((at, _)) = found else {
            return ordered;
        };
        let Some(entry) = partitions.get_mut(&at).and_then(VecDeque::pop_front) else {
            return ordered;
        };
        number += 1;
        let byte = byte(&entry);
        ordered.insert((at, entry.offset), Ordered { number, byte });
        if let Some((source, byte)) = entry.source {
            next.insert(source, byte + entry.bytes);
        }
    }
}

fn byte(entry: &Entry) -> Option<u64> {
    entry.source.as_ref().map(|(_, byte)| *byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: i64, source: &str, byte: u64) -> Entry {
        Entry {
            offset,
            source: (!source.is_empty()).then(|| (source.to_owned(), byte)),
            bytes: 10,
            millis: i64::try_from(byte).unwrap(),
        }
    }

    fn numbers(partitions: &[&[Entry]]) -> Vec<Vec<u64>> {
        let lists = partitions
            .iter()
            .map(|entries| entries.iter().cloned().collect());
        let ordered = order((0..).zip(lists).collect());
        let number =
            |at: usize, entry: &Entry| ordered[&(i32::try_from(at).unwrap(), entry.offset)].number;
        let lists = partitions.iter().enumerate();
        lists
            .map(|(at, entries)| entries.iter().map(|entry| number(at, entry)).collect())
            .collect()
    }

    #[test]
    fn each_source_keeps_its_order() {
        // B's second block stands before A's first one, and A's second one before B's first one.
        let first = [entry(0, "B", 10), entry(3, "A", 0)];
        let second = [entry(0, "B", 0), entry(1, "A", 10), entry(4, "", 0)];
        assert_eq!(numbers(&[&first, &second]), [vec![2, 3], vec![1, 4, 5]]);
        assert_eq!(numbers(&[]), Vec::<Vec<u64>>::new());
    }

    #[test]
    fn blocks_that_were_removed_are_not_waited_for() {
        let first = [entry(7, "A", 20), entry(8, "A", 40)];
        let second = [entry(5, "A", 30)];
        assert_eq!(numbers(&[&first, &second]), [vec![1, 3], vec![2]]);
    }
}
