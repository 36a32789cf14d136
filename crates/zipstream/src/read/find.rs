//! Entries by their names.

use super::directory::Directory;
use super::entry::{Entry, RECORD_COST};
use super::name_index::{Named, Search};
use crate::error::Error;
use crate::write::Budget;

impl Directory {
    /// The last entry of this name: it replaces earlier ones. The second call makes an index of all names,
    /// with which it and later calls take the same time for any number of entries.
    ///
    /// Inside of a runtime use `find_async` (feature `tokio`), which does not hold its thread meanwhile.
    pub fn find(&self, name: &str) -> Result<Option<Entry<'_>>, Error> {
        let mut find = Find::new(name);
        loop {
            // Other threads that make the same index have their turns between.
            if let Some(found) = find.run(self, &mut Budget::bytes(STEP_COST))? {
                return found.map(|position| self.at(position)).transpose();
            }
        }
    }
}

/// How much is done of a search before other threads may go on with the same index.
const STEP_COST: u64 = 1 << 20;

/// The search for a name, in steps.
pub(crate) struct Find<'n> {
    name: &'n str,
    stage: Stage,
}

enum Stage {
    Begin,
    /// Looking at each record, from this position on; the last one of the name so far.
    Scan(u64, Option<u64>),
    Index,
}

impl<'n> Find<'n> {
    pub(crate) fn new(name: &'n str) -> Self {
        Self {
            name,
            stage: Stage::Begin,
        }
    }

    /// Goes on looking for the position of the last record with the name. `None`: the budget is spent.
    pub(crate) fn run(
        &mut self,
        directory: &Directory,
        budget: &mut Budget,
    ) -> Result<Option<Option<u64>>, Error> {
        loop {
            let index = directory.name_index();
            self.stage = match &mut self.stage {
                Stage::Begin if index.is_first() => Stage::Scan(0, None),
                Stage::Begin => Stage::Index,
                Stage::Scan(from, found) => {
                    return scan(self.name, directory, (from, found), budget);
                }
                Stage::Index => {
                    match index.search(self.name, |from| names(directory, from), budget)? {
                        None => return Ok(None),
                        Some(Search::Nowhere) => return Ok(Some(None)),
                        Some(Search::At(position)) if has(&directory.at(position)?, self.name) => {
                            return Ok(Some(Some(position)));
                        }
                        // Another name has the same hash, by a rare chance.
                        Some(Search::At(_)) => Stage::Scan(0, None),
                    }
                }
            };
        }
    }
}

/// The names of the entries from a position on.
fn names(directory: &Directory, from: u64) -> impl Iterator<Item = Result<Named<'_>, Error>> {
    let mut entries = directory.iter_at(from);
    std::iter::from_fn(move || {
        let named = entries.next()?.map(|entry| Named {
            name: entry.name().ok(),
            position: entry.position(),
            bytes: entry.central().total_bytes() as u64,
        });
        Some(named)
    })
}

fn has(entry: &Entry<'_>, name: &str) -> bool {
    entry.name().is_ok_and(|other| other == name)
}

fn scan(
    name: &str,
    directory: &Directory,
    (from, found): (&mut u64, &mut Option<u64>),
    budget: &mut Budget,
) -> Result<Option<Option<u64>>, Error> {
    let mut entries = directory.iter_at(*from);
    while !budget.is_spent() {
        let Some(entry) = entries.next() else {
            return Ok(Some(*found));
        };
        if has(&entry?, name) {
            *found = Some(*from);
        }
        budget.charge(entries.next_position() - *from + RECORD_COST);
        *from = entries.next_position();
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::{ArchiveReader, ArchiveWriter, EntryOptions};

    #[test]
    fn every_search_finds_the_same() {
        let mut writer = ArchiveWriter::new(Vec::new());
        for number in 0..1000 {
            let name = format!("entry {number}");
            let options = EntryOptions::default();
            writer.add(&name, &options, &mut name.as_bytes()).unwrap();
        }
        let (mut archive, _) = writer.finish().unwrap();
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        for _ in 0..3 {
            for number in [0, 7, 999] {
                let name = format!("entry {number}");
                let entry = reader.find(&name).unwrap().unwrap();
                assert_eq!(reader.read(&entry).unwrap(), name.as_bytes());
            }
            assert!(reader.find("entry 1000").unwrap().is_none());
        }
        // Of two with one name the last counts.
        let text = |bytes: &[u8]| bytes.windows(9).rposition(|at| at == b"entry 999").unwrap();
        let at = text(&archive);
        archive[at..at + 9].copy_from_slice(b"entry 998");
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        for _ in 0..3 {
            let entry = reader.find("entry 998").unwrap().unwrap();
            assert_eq!(reader.read(&entry).unwrap(), b"entry 999");
            assert!(reader.find("entry 999").unwrap().is_none());
        }
    }
}
