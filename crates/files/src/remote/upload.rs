//! Objects as they are written: through a pipe, in parts, whole or not at all.
//!
//! The object appears when all of it is there. What was sent of one that is given up is taken back.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::answer::Answered;
use super::failed::RemoteError;
use super::{Remote, Waiting};
use crate::output::Output;
use crate::{Cancel, POLL};

/// The first parts: more than the least that every store takes.
const PART_BYTES: usize = 8 << 20;
/// Parts of one size; then they double, for a store takes ten thousand.
const PARTS_ALIKE: usize = 1500;
/// Parts that are sent at the same time, while the next one is filled.
const PARTS_IN_FLIGHT: usize = 3;
/// How long to try to take back what was sent.
const ABORT: Duration = Duration::from_secs(5);

/// An object that is being written.
#[derive(Debug)]
pub struct Upload {
    thread: Option<JoinHandle<()>>,
    /// Whether what came through the pipe is all of it.
    whole: Arc<AtomicBool>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Upload {
    /// Looks whether there is such an object, unless it may be replaced, and starts to write: what goes
    /// into the file. `None`: there is one.
    pub fn start(url: &str, replace: bool, cancel: &Cancel) -> io::Result<Option<(File, Self)>> {
        let remote = Remote::new(url, cancel)?;
        if !replace && remote.exists()? {
            return Ok(None);
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (reader, writer) = io::pipe()?;
        #[cfg(unix)]
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        #[cfg(windows)]
        let file = File::from(std::os::windows::io::OwnedHandle::from(writer));
        let whole = Arc::new(AtomicBool::new(false));
        let failed = Arc::new(Mutex::new(None));
        let parts = Parts {
            store: remote.store,
            path: remote.path,
            answered: remote.answered,
            runtime: Waiting::new(runtime, cancel),
            upload: None,
            going: JoinSet::new(),
            sent: 0,
        };
        let (whole_too, failed_too) = (Arc::clone(&whole), Arc::clone(&failed));
        let thread = std::thread::Builder::new()
            .name("upload".to_owned())
            .spawn(move || parts.run(reader, &whole_too, &failed_too))?;
        let upload = Self {
            thread: Some(thread),
            whole,
            failed,
        };
        Ok(Some((file, upload)))
    }

    /// Makes the object appear. The file must be closed.
    pub fn finish(mut self, file: Output) -> io::Result<()> {
        self.whole.store(true, Ordering::Release);
        if !file.is_alone() {
            return Err(io::Error::other("somebody still writes to it"));
        }
        drop(file);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err(io::Error::other("its thread panicked"));
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// Why it failed, if it did; once.
    pub fn failure(&self) -> Option<io::Error> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.take()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Given up: what was sent is taken back before the process may end.
        let Some(thread) = self.thread.take() else {
            return;
        };
        let patience = Instant::now() + 2 * ABORT;
        while !thread.is_finished() && Instant::now() < patience {
            std::thread::sleep(POLL / 10);
        }
    }
}

/// The thread's side of it.
struct Parts {
    store: Box<dyn ObjectStore>,
    path: Path,
    answered: Answered,
    runtime: Waiting,
    upload: Option<Box<dyn MultipartUpload>>,
    going: JoinSet<object_store::Result<()>>,
    sent: usize,
}

impl Parts {
    fn run(mut self, mut pipe: PipeReader, whole: &AtomicBool, failed: &Mutex<Option<io::Error>>) {
        let Err(error) = self.take_all(&mut pipe, whole) else {
            return;
        };
        self.abort();
        *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        // Only now does the writer see that its reader is gone.
        drop(pipe);
    }

    fn take_all(&mut self, pipe: &mut PipeReader, whole: &AtomicBool) -> io::Result<()> {
        loop {
            let bytes = PART_BYTES << (self.sent / PARTS_ALIKE).min(8);
            let mut part = Vec::with_capacity(bytes);
            pipe.take(bytes as u64).read_to_end(&mut part)?;
            let last = part.len() < bytes;
            if last && !whole.load(Ordering::Acquire) {
                return Err(RemoteError::Interrupted.into());
            }
            if last && self.upload.is_none() {
                let put = self.store.put(&self.path, PutPayload::from(part));
                let result = self.runtime.wait(put)?;
                return result.map(drop).map_err(|error| self.refused(&error));
            }
            if !part.is_empty() {
                self.send(part)?;
            }
            if last {
                return self.complete();
            }
        }
    }

    fn send(&mut self, part: Vec<u8>) -> io::Result<()> {
        if self.upload.is_none() {
            self.begin()?;
        }
        self.settle(PARTS_IN_FLIGHT - 1)?;
        let (Some(upload), Some(runtime)) = (&mut self.upload, &self.runtime.runtime) else {
            return Err(RemoteError::Interrupted.into());
        };
        let part = upload.put_part(PutPayload::from(part));
        self.going.spawn_on(part, runtime.handle());
        self.sent += 1;
        Ok(())
    }

    /// Has the store expect parts.
    fn begin(&mut self) -> io::Result<()> {
        let mut started = std::pin::pin!(self.store.put_multipart(&self.path));
        let result = self.runtime.wait(started.as_mut());
        let Some(runtime) = &self.runtime.runtime else {
            return Err(RemoteError::Interrupted.into());
        };
        let result = match result {
            Ok(result) => result,
            // What the store begins all the same has to be taken back.
            Err(interrupt) => {
                let late = runtime.block_on(async { tokio::time::timeout(ABORT, started).await });
                self.upload = late.ok().and_then(Result::ok);
                return Err(interrupt);
            }
        };
        self.upload = Some(result.map_err(|error| match error {
            object_store::Error::NotImplemented { .. } => RemoteError::NoParts.into(),
            error => self.refused(&error),
        })?);
        Ok(())
    }

    /// Waits until no more parts than `most` are on their way.
    fn settle(&mut self, most: usize) -> io::Result<()> {
        while self.going.len() > most {
            match self.runtime.wait(self.going.join_next())? {
                Some(Ok(Ok(()))) | None => {}
                Some(Ok(Err(error))) => return Err(self.refused(&error)),
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        self.settle(0)?;
        let Some(upload) = &mut self.upload else {
            return Ok(());
        };
        let result = self.runtime.wait(upload.complete())?;
        result.map_err(|error| self.refused(&error))?;
        self.upload = None;
        Ok(())
    }

    /// Takes back what was sent, interrupted or not.
    fn abort(&mut self) {
        self.going.abort_all();
        let (Some(upload), Some(runtime)) = (&mut self.upload, &self.runtime.runtime) else {
            return;
        };
        let going = &mut self.going;
        // A store that is not to be reached forgets it by rules of its own, or not.
        let _ = runtime.block_on(async {
            let back = async {
                while going.join_next().await.is_some() {}
                upload.abort().await
            };
            tokio::time::timeout(ABORT, back).await
        });
    }

    fn refused(&self, error: &object_store::Error) -> io::Error {
        RemoteError::of_request(error, self.answered.last()).into()
    }
}
