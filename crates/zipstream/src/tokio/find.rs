//! Entries by their names, found in the turns of a thread.

use super::pace::Pace;
use crate::error::Error;
use crate::read::{Directory, Entry, Find};

/// What 1 KiB of content takes. None is decoded here.
const NS_PER_KIB: u64 = 2_000;

impl Directory {
    /// [`find`](Directory::find) inside of a runtime: it lets other tasks have their turns while it looks at the records or
    /// makes the index of names, which all searches make together. The future may be dropped; what there is of the index stays.
    ///
    /// ```
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use zipstream::tokio::AsyncArchiveReader;
    /// use zipstream::{ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let mut reader = AsyncArchiveReader::open(std::io::Cursor::new(archive)).await?;
    /// let directory = reader.directory();
    /// let entry = directory.find_async("a.txt").await?.expect("it was added");
    /// assert_eq!(reader.read(&entry).await?, b"first");
    /// assert!(directory.find_async("b.txt").await?.is_none());
    /// # Ok::<(), zipstream::Error>(()) }).unwrap();
    /// ```
    pub async fn find_async(&self, name: &str) -> Result<Option<Entry<'_>>, Error> {
        let mut find = Find::new(name);
        let mut pace = Pace::new(NS_PER_KIB, self.threshold_ns());
        loop {
            let step = pace.step(|budget| find.run(self, budget));
            if let Some(found) = step.await? {
                return found.map(|position| self.at(position)).transpose();
            }
        }
    }
}
