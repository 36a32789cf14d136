//! Entries by their names.

use super::directory::Directory;
use super::entry::Entry;
use super::name_index::Search;
use crate::error::Error;

impl Directory {
    /// The last entry of this name: it replaces earlier ones. The second call makes an index of all names,
    /// with which it and later calls take the same time for any number of entries.
    pub fn find(&self, name: &str) -> Result<Option<Entry<'_>>, Error> {
        let names = self.iter().map(|entry| {
            let entry = entry?;
            Ok((entry.name().ok(), entry.position()))
        });
        let position = match self.name_index().search(name, names)? {
            Search::First => return self.scan(name),
            Search::Nowhere => return Ok(None),
            Search::At(position) => position,
        };
        let entry = self.iter_at(position).next().transpose()?;
        match entry.filter(|entry| entry.name().is_ok_and(|other| other == name)) {
            Some(entry) => Ok(Some(entry)),
            // Another name has the same hash, by a rare chance.
            None => self.scan(name),
        }
    }

    fn scan(&self, name: &str) -> Result<Option<Entry<'_>>, Error> {
        let mut found = None;
        for entry in self {
            let entry = entry?;
            if entry.name().is_ok_and(|other| other == name) {
                found = Some(entry);
            }
        }
        Ok(found)
    }
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
