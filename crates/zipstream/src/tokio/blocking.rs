//! An asynchronous source for threads that may wait, so that whole archives can be extracted from it.

use std::future::Future;
use std::io::{self, SeekFrom};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use ::tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncSeekExt as _};
use ::tokio::runtime::Handle;

use super::reader::AsyncArchiveReader;
use crate::error::{Error, ErrorKind};
use crate::read::{ArchiveReader, ReadAt};

impl<R: AsyncRead + AsyncSeek + Unpin + Send> AsyncArchiveReader<R> {
    /// The same archive for threads that may wait, such as those of
    /// [`spawn_blocking`](https://docs.rs/tokio/1/tokio/task/fn.spawn_blocking.html): to extract it, or for whatever else an
    /// [`ArchiveReader`] does. Never use it in a task: it would keep its thread, and the source may need that
    /// very thread.
    ///
    /// ```
    /// # #[cfg(feature = "extract")]
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use zipstream::extract::{ExtractOptions, extract_to};
    /// use zipstream::tokio::AsyncArchiveReader;
    /// use zipstream::{ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("src/a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let directory = tempfile::tempdir()?;
    /// let target = directory.path().to_owned();
    /// let reader = AsyncArchiveReader::open(std::io::Cursor::new(archive)).await?;
    /// let reader = reader.into_blocking()?;
    /// let extract = move || extract_to(&reader, &target, &ExtractOptions::default());
    /// let report = tokio::task::spawn_blocking(extract).await??;
    /// assert!(report.is_complete());
    /// assert_eq!(std::fs::read(directory.path().join("src/a.txt"))?, b"first");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// There is no runtime on this thread.
    pub fn into_blocking(self) -> Result<ArchiveReader<BlockingSource<R>>, Error> {
        let runtime = Handle::try_current().map_err(|_| {
            let what = "the source needs a tokio runtime, and this thread has none";
            Error::new(ErrorKind::Order, what)
        })?;
        let size = self.size();
        let (source, reader) = self.into_parts();
        Ok(reader.with_source(BlockingSource {
            source: Mutex::new(source),
            size,
            runtime,
        }))
    }
}

/// An asynchronous source that is waited for; made by [`AsyncArchiveReader::into_blocking`].
#[derive(Debug)]
pub struct BlockingSource<R> {
    source: Mutex<R>,
    size: u64,
    runtime: Handle,
}

impl<R: AsyncRead + AsyncSeek + Unpin> ReadAt for BlockingSource<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        wait(&self.runtime, async {
            source.seek(SeekFrom::Start(offset)).await?;
            source.read(buffer).await
        })
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

/// What work of the runtime comes to; this thread sleeps meanwhile.
fn wait<T>(runtime: &Handle, work: impl Future<Output = T>) -> T {
    let _entered = runtime.enter();
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return result;
        }
        std::thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
