//! What data is written to: a file, or a terminal, which gets only what it can show.

use std::fs::File;
use std::io::{self, IsTerminal as _, Seek as _, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Context, TerminalFilter, standard};

/// A file that is written to, shared between threads. On a terminal the content goes through the
/// [`TerminalFilter`] of the [`Context`], if that has one.
#[derive(Debug, Clone)]
pub struct Output(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    /// What stands between the content and a terminal.
    filter: Option<Mutex<Box<dyn TerminalFilter>>>,
}

impl Output {
    /// An open file, which gets the bytes as they are.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Arc::new(Inner { file, filter: None }))
    }

    /// An open file; if it is a terminal, it gets what the filter of `context` makes of the bytes.
    #[must_use]
    pub fn filtered(file: File, context: &Context) -> Self {
        let filter = file.is_terminal().then(|| context.filter()).flatten();
        let filter = filter.map(Mutex::new);
        Self(Arc::new(Inner { file, filter }))
    }

    /// Standard output, filtered if it is a terminal.
    ///
    /// # Errors
    /// It was closed when the process started, or there are no more handles.
    pub fn stdout(context: &Context) -> io::Result<Self> {
        standard::output().map(|file| Self::filtered(file, context))
    }

    /// The file, for everything but writing to it in order.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.0.file
    }

    /// Takes back the last `bytes` bytes that were written.
    ///
    /// # Errors
    /// It is no regular file (`ErrorKind::Unsupported`), from which nothing can be taken back, or cutting it fails.
    pub fn take_back(&self, bytes: u64) -> io::Result<()> {
        let mut file = self.file();
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let at = file.stream_position()?.saturating_sub(bytes);
        file.seek(SeekFrom::Start(at))?;
        file.set_len(at)
    }

    /// Whether this is the only handle.
    #[cfg(feature = "web")]
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Puts `text` made from content on the terminal.
    fn put(&self, fill: impl FnOnce(&mut dyn TerminalFilter, &mut String)) -> io::Result<()> {
        let Some(filter) = &self.0.filter else {
            return Ok(());
        };
        let mut shown = String::new();
        let mut filter = filter.lock().unwrap_or_else(PoisonError::into_inner);
        fill(&mut **filter, &mut shown);
        drop(filter);
        (&self.0.file).write_all(shown.as_bytes())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0.filter {
            None => (&self.0.file).write(bytes),
            Some(_) => {
                self.put(|filter, shown| filter.show(bytes, shown))?;
                Ok(bytes.len())
            }
        }
    }

    /// Also shows what may have been the start of a character.
    fn flush(&mut self) -> io::Result<()> {
        self.put(|filter, shown| filter.end(shown))?;
        (&self.0.file).flush()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(filter) = &mut self.filter {
            let mut shown = String::new();
            filter
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .end(&mut shown);
            // Nothing can be done when the terminal is gone.
            let _ = self.file.write_all(shown.as_bytes());
        }
    }
}
