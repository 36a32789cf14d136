//! Objects as they are written: through a pipe, in parts, whole or not at all.
//!
//! The object appears when all of it is there. What was sent of one that is given up is taken back.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::runtime::Builder;

use super::answer::Answered;
use super::failed::RemoteError;
use super::{Remote, Waiting};
use crate::object::{ABORT, Create, ObjectError, Parts, UploadOptions};
use crate::output::Output;
use crate::{Cancel, POLL, url};

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
        // Somebody else may write it meanwhile. Web servers are only asked before.
        let create = match replace || url::is_web(url) {
            true => Create::Replace,
            false => Create::IfAbsent,
        };
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
        let sending = Sending {
            parts: Parts::new(remote.object, UploadOptions::default().create(create)),
            answered: remote.answered,
            runtime: Waiting::new(runtime, cancel),
        };
        let (whole_too, failed_too) = (Arc::clone(&whole), Arc::clone(&failed));
        let thread = std::thread::Builder::new()
            .name("upload".to_owned())
            .spawn(move || sending.run(reader, &whole_too, &failed_too))?;
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
struct Sending {
    parts: Parts,
    answered: Answered,
    runtime: Waiting,
}

impl Sending {
    fn run(mut self, mut pipe: PipeReader, whole: &AtomicBool, failed: &Mutex<Option<io::Error>>) {
        let Err(error) = self.take_all(&mut pipe, whole) else {
            return;
        };
        // Interrupted or not.
        if let Some(runtime) = &self.runtime.runtime {
            runtime.block_on(self.parts.abort());
        }
        *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        // Only now does the writer see that its reader is gone.
        drop(pipe);
    }

    fn take_all(&mut self, pipe: &mut PipeReader, whole: &AtomicBool) -> io::Result<()> {
        let Self {
            parts,
            answered,
            runtime,
        } = self;
        let refused = |error: ObjectError| RemoteError::of_upload(&error, answered.last());
        loop {
            let bytes = parts.part_bytes();
            let mut part = Vec::with_capacity(bytes);
            pipe.take(bytes as u64).read_to_end(&mut part)?;
            let last = part.len() < bytes;
            if last && !whole.load(Ordering::Acquire) {
                return Err(RemoteError::Interrupted.into());
            }
            if last {
                runtime.wait(parts.complete(part))?.map_err(refused)?;
                return Ok(());
            }
            runtime.wait(parts.send(part))?.map_err(refused)?;
        }
    }
}
