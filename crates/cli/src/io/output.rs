//! What data is written to: a file, or a terminal, which gets only what it can show.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::standard;
use crate::term::screen::{self, Screen};

/// A file that is written to, shared between threads. Every write of data goes through here: on a
/// terminal control characters are shown, unless the user asked for the bytes as they are (`-f`).
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    /// What stands between the content and a terminal.
    screen: Option<Mutex<Screen>>,
}

impl Output {
    /// The same for an open file.
    pub(crate) fn new(file: File) -> Self {
        let shows = file.is_terminal() && !screen::is_raw();
        let screen = shows.then(|| Mutex::new(Screen::default()));
        Self(Arc::new(Inner { file, screen }))
    }

    /// Standard output.
    pub(crate) fn stdout() -> io::Result<Self> {
        standard::output().map(Self::new)
    }

    /// The file, for everything but writing to it in order.
    pub(crate) fn file(&self) -> &File {
        &self.0.file
    }

    /// Whether this is the only handle.
    #[cfg(feature = "cloud")]
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Puts `text` made from content on the terminal.
    fn put(&self, fill: impl FnOnce(&mut Screen, &mut String)) -> io::Result<()> {
        let Some(screen) = &self.0.screen else {
            return Ok(());
        };
        let mut shown = String::new();
        fill(
            &mut screen.lock().unwrap_or_else(PoisonError::into_inner),
            &mut shown,
        );
        (&self.0.file).write_all(shown.as_bytes())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0.screen {
            None => (&self.0.file).write(bytes),
            Some(_) => {
                self.put(|screen, shown| screen.show(bytes, shown))?;
                Ok(bytes.len())
            }
        }
    }

    /// Also shows what may have been the start of a character.
    fn flush(&mut self) -> io::Result<()> {
        self.put(Screen::end)?;
        (&self.0.file).flush()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(screen) = &mut self.screen {
            let mut shown = String::new();
            screen
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .end(&mut shown);
            // Nothing can be done when the terminal is gone.
            let _ = self.file.write_all(shown.as_bytes());
        }
    }
}
