//! Archives in object stores: any store of the crate `object_store` (feature `object_store`).
//!
//! - [`ObjectReader`] is what [`AsyncArchiveReader`](crate::tokio::AsyncArchiveReader) reads from: of a
//!   large archive only its directory and the wanted entries.
//! - [`ObjectWriter`] is what [`AsyncArchiveWriter`](crate::tokio::AsyncArchiveWriter) writes to: parts of
//!   8 MiB, three on their way at a time. The object appears complete or not at all, and with
//!   [`Create::IfAbsent`] only if there is none.
//! - [`combine`] makes an object of entries of others, and has the server copy what it can.
//!
//! The feature `remote` adds clients: objects by their URLs (`by_url`), and copies by the server in S3.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use std::sync::Arc;
//!
//! use object_store::memory::InMemory;
//! use zipstream::EntryOptions;
//! use zipstream::object::{Create, Object, ObjectReader, ObjectWriter, UploadOptions};
//! use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter};
//!
//! let object = Object::new(Arc::new(InMemory::new()), "a.zip");
//! let upload = UploadOptions::default().create(Create::IfAbsent);
//! let mut writer = AsyncArchiveWriter::new(ObjectWriter::new(object.clone(), upload));
//! writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..]).await?;
//! let (object_writer, _) = writer.finish().await?;
//! object_writer.complete().await?;
//!
//! let mut reader = AsyncArchiveReader::open(ObjectReader::open(object).await?).await?;
//! let directory = reader.directory();
//! let entry = directory.find("a.txt")?.expect("it was added");
//! assert_eq!(reader.read(&entry).await?, b"first");
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```

pub use files::object::{
    Create, Object, ObjectError, ObjectReader, ObjectStore, ObjectWriter, Parts, Path,
    UploadOptions, Uploaded,
};

use crate::combine::NewArchive;

/// The least bytes of a part that is not the last one.
const PART_BYTES_MIN: u64 = 5 << 20;
/// The most bytes that the server copies by one request.
const COPY_BYTES_MAX: u64 = 1 << 30;

/// Makes an object of the entries of others, as [`NewArchive`] says, and completes the upload. `sources` are
/// the archives in the order in which their directories were added. Pieces of at least 5 MiB are copied by
/// the server where it can, each by a request of its own. The rest comes here and is sent again, one part
/// at a time in memory. [`Uploaded`] has the bytes of both kinds.
///
/// If the future is dropped or fails, [`Parts::abort`] takes back what was sent.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::sync::Arc;
///
/// use object_store::memory::InMemory;
/// use zipstream::EntryOptions;
/// use zipstream::combine::{Combination, CombineOptions};
/// use zipstream::object::{Object, ObjectReader, ObjectWriter, Parts, UploadOptions, combine};
/// use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter};
///
/// let store = Arc::new(InMemory::new());
/// let upload = UploadOptions::default();
/// let mut combination = Combination::new(CombineOptions::default());
/// let mut sources = Vec::new();
/// for name in ["a", "b"] {
///     let object = Object::new(store.clone(), name);
///     let mut writer = AsyncArchiveWriter::new(ObjectWriter::new(object.clone(), upload));
///     writer.add(name, &EntryOptions::default(), &mut name.as_bytes()).await?;
///     writer.finish().await?.0.complete().await?;
///
///     let reader = AsyncArchiveReader::open(ObjectReader::open(object).await?).await?;
///     combination.add(reader.directory())?;
///     sources.push(reader.into_source());
/// }
/// for archive in combination.finish()? {
///     let mut parts = Parts::new(Object::new(store.clone(), "merged"), upload);
///     combine(&archive, &sources, &mut parts).await?;
/// }
/// let merged = ObjectReader::open(Object::new(store, "merged")).await?;
/// assert_eq!(AsyncArchiveReader::open(merged).await?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
///
/// # Errors
/// A store refuses, an object was replaced meanwhile, or there are fewer sources than directories
/// ([`ObjectError::Ended`]).
pub async fn combine(
    archive: &NewArchive,
    sources: &[ObjectReader],
    into: &mut Parts,
) -> Result<Uploaded, ObjectError> {
    let mut held = Vec::new();
    let mut copies = true;
    for piece in archive.pieces() {
        let source = sources.get(piece.source).ok_or(ObjectError::Ended)?;
        let mut range = piece.range.clone();
        if copies && into.object().copies_from(source.object()) {
            let lacks = match held.len() as u64 {
                0 => 0,
                bytes => PART_BYTES_MIN.saturating_sub(bytes),
            };
            // What comes before must be a part of its own, and large enough.
            if range.end - range.start >= lacks + PART_BYTES_MIN {
                if lacks > 0 {
                    let taken = range.start..range.start + lacks;
                    range.start = taken.end;
                    held.extend_from_slice(&source.range(taken).await?);
                }
                if !held.is_empty() {
                    into.send(std::mem::take(&mut held)).await?;
                }
                while copies && range.end - range.start >= PART_BYTES_MIN {
                    let bytes = (range.end - range.start).min(COPY_BYTES_MAX);
                    let next = range.start..range.start + bytes;
                    let copied = into.copy(source.object(), next, source.version());
                    match copied.await {
                        Ok(()) => range.start += bytes,
                        Err(ObjectError::NoCopies { .. }) => copies = false,
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        while range.start < range.end {
            let room = into.part_bytes().saturating_sub(held.len()).max(1) as u64;
            let next = range.start..range.end.min(range.start + room);
            range.start = next.end;
            held.extend_from_slice(&source.range(next).await?);
            send_full(&mut held, into).await?;
        }
    }
    held.extend_from_slice(archive.tail());
    while held.len() > into.part_bytes() {
        let rest = held.split_off(into.part_bytes());
        into.send(std::mem::replace(&mut held, rest)).await?;
    }
    into.complete(held).await
}

async fn send_full(held: &mut Vec<u8>, into: &mut Parts) -> Result<(), ObjectError> {
    if held.len() >= into.part_bytes() {
        into.send(std::mem::take(held)).await?;
    }
    Ok(())
}

/// The object that a URL names: `s3://bucket/path`, `gs://…`, `az://…`, or of a web server. What a store
/// needs to know beyond that is in the environment, under the names that its own tools have.
///
/// # Errors
/// The URL or the environment is invalid.
#[cfg(feature = "remote")]
pub fn by_url(url: &str) -> std::io::Result<Object> {
    files::remote::object(url)
}

#[cfg(feature = "remote")]
impl crate::ReadAt for files::remote::Spans {
    fn read_at(&self, room: &mut [u8], offset: u64) -> std::io::Result<usize> {
        // The inherent methods come first.
        Self::read_at(self, room, offset)
    }

    fn size(&self) -> std::io::Result<u64> {
        Ok(Self::size(self))
    }
}
