//! Several entries at once, each by a task with a source of its own.

use std::collections::VecDeque;

use ::tokio::io::{AsyncRead, AsyncSeek};
use ::tokio::task::JoinSet;

use super::reader::AsyncArchiveReader;
use crate::error::{Error, ErrorKind};

impl<R: AsyncRead + AsyncSeek + Unpin + Send + 'static> AsyncArchiveReader<R> {
    /// Reads entries with tasks of the runtime, as many at once as there are `sources`, and passes each content
    /// to `take` with the [position](crate::Entry::position) of its entry, in the order in which they are
    /// done. Every source must read this archive: one more handle of its file, or one more reader of its object.
    /// A content is wholly in memory, and no more contents than sources are at a time.
    ///
    /// If the future is dropped, all of it ends.
    ///
    /// ```
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use std::io::Cursor;
    ///
    /// use zipstream::tokio::AsyncArchiveReader;
    /// use zipstream::{ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// for name in ["a", "b", "c"] {
    ///     writer.add(name, &EntryOptions::default(), &mut name.as_bytes())?;
    /// }
    /// let (archive, _) = writer.finish()?;
    ///
    /// let reader = AsyncArchiveReader::open(Cursor::new(archive.clone())).await?;
    /// let directory = reader.directory();
    /// let mut positions = Vec::new();
    /// for entry in &*directory {
    ///     positions.push(entry?.position());
    /// }
    /// let sources = vec![Cursor::new(archive.clone()), Cursor::new(archive)];
    /// let mut contents = Vec::new();
    /// reader
    ///     .read_entries_parallel(&positions, sources, |_, content| contents.push(content))
    ///     .await?;
    /// assert_eq!(contents.len(), 3);
    /// # Ok::<(), zipstream::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// There is no source, or a position is none of an entry. Entries that cannot be read are passed to `take`
    /// as their errors.
    pub async fn read_entries_parallel(
        &self,
        positions: &[u64],
        sources: Vec<R>,
        mut take: impl FnMut(u64, Result<Vec<u8>, Error>),
    ) -> Result<(), Error> {
        if sources.is_empty() {
            let what = "entries cannot be read without a source";
            return Err(Error::new(ErrorKind::Setting, what));
        }
        let mut left: VecDeque<u64> = positions.iter().copied().collect();
        let mut tasks = JoinSet::new();
        let readers = sources.into_iter().map(|source| self.with_source(source));
        for reader in readers {
            let Some(position) = left.pop_front() else {
                break;
            };
            tasks.spawn(read_at(reader, position));
        }
        while let Some(joined) = tasks.join_next().await {
            let done = joined.map_err(|_| crate::error::internal("a task that reads panicked"))?;
            let (reader, position, content) = done?;
            if let Some(next) = left.pop_front() {
                tasks.spawn(read_at(reader, next));
            }
            take(position, content);
        }
        Ok(())
    }
}

type Done<R> = (AsyncArchiveReader<R>, u64, Result<Vec<u8>, Error>);

/// Reads the entry at a position, and gives the reader back.
async fn read_at<R: AsyncRead + AsyncSeek + Unpin>(
    mut reader: AsyncArchiveReader<R>,
    position: u64,
) -> Result<Done<R>, Error> {
    let directory = reader.directory();
    let Some(entry) = directory.iter_at(position).next() else {
        return Err(Error::new(ErrorKind::Order, "no record at this position"));
    };
    let content = match entry {
        Ok(entry) => reader.read(&entry).await,
        Err(error) => Err(error),
    };
    Ok((reader, position, content))
}
