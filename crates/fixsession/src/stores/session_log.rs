//! Message and event logs in the forms of QuickFIX and QuickFIX/J.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fixcore::Timestamp;

use crate::id::SessionId;
use crate::settings::{LogFormat, LogOptions};

use super::names::{quickfix_j_name, quickfix_name};

/// The message log and the event log of a session. Lines wait in memory until they are flushed.
#[derive(Debug)]
pub struct SessionLog {
    options: LogOptions,
    messages: Option<LogFile>,
    events: Option<LogFile>,
}

/// How many bytes wait before they are written without being asked for, and how many at most.
const WAITING_BYTES: usize = 1 << 16;
const WAITING_BYTES_MAX: usize = 1 << 20;

/// One log.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    /// Where it goes when it is put away; a number is put in.
    backup: (PathBuf, String),
    file: File,
    waiting: Vec<u8>,
    /// Lines that were lost because the file could not be written.
    lost: u64,
}

impl SessionLog {
    /// Opens the logs of a session in `FileLogPath`, which is made; without it nothing is logged to files.
    ///
    /// # Errors
    ///
    /// The system refuses; the error states the file.
    pub fn open(options: &LogOptions, id: &SessionId) -> io::Result<Self> {
        let (messages, events) = match &options.path {
            None => (None, None),
            Some(dir) => {
                let backup = options.backup_path.as_ref().unwrap_or(dir);
                let open = |kind: &str| LogFile::open(options.format, dir, backup, id, kind);
                (Some(open("messages")?), Some(open("event")?))
            }
        };
        Ok(Self {
            options: options.clone(),
            messages,
            events,
        })
    }

    /// Logs a received message.
    pub fn incoming(&mut self, utc: Timestamp, message: &[u8]) {
        self.message(utc, message);
    }

    /// Logs a sent message.
    pub fn outgoing(&mut self, utc: Timestamp, message: &[u8]) {
        self.message(utc, message);
    }

    fn message(&mut self, utc: Timestamp, message: &[u8]) {
        let Some(log) = &mut self.messages else {
            return;
        };
        if !self.options.heartbeats && is_heartbeat(message) {
            return;
        }
        let has_time = self.options.format == LogFormat::QuickFix || self.options.message_times;
        log.line(&self.options, has_time.then_some(utc), message);
    }

    /// Whether events are logged to a file.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Logs what happened. Control characters are written as `?`, so that an event stays one line.
    pub fn event(&mut self, utc: Timestamp, text: &str) {
        let Some(log) = &mut self.events else { return };
        if text.contains(char::is_control) {
            let clean = text.replace(char::is_control, "?");
            log.line(&self.options, Some(utc), clean.as_bytes());
        } else {
            log.line(&self.options, Some(utc), text.as_bytes());
        }
    }

    /// Writes what waits.
    ///
    /// # Errors
    ///
    /// The system refuses. What could not be written waits, up to a limit; lines beyond it are lost.
    pub fn flush(&mut self) -> io::Result<()> {
        let flushed = self.messages.as_mut().map_or(Ok(()), LogFile::flush);
        flushed.and(self.events.as_mut().map_or(Ok(()), LogFile::flush))
    }

    /// How many lines were lost because a file could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let all = [&self.messages, &self.events];
        all.into_iter().flatten().map(|log| log.lost).sum()
    }

    /// Puts the logs away under the next free number in `FileLogBackupPath`, and begins new ones.
    ///
    /// # Errors
    ///
    /// The system refuses; logging goes on in the files there are.
    pub fn backup(&mut self) -> io::Result<()> {
        self.flush()?;
        let (Some(messages), Some(events)) = (&mut self.messages, &mut self.events) else {
            return Ok(());
        };
        let is_free = |number: &u32| {
            let is_free = |log: &LogFile| fs::symlink_metadata(log.put_away(*number)).is_err();
            is_free(messages) && is_free(events)
        };
        let number = (1..u32::MAX).find(is_free).unwrap_or(u32::MAX);
        messages.restart(number)?;
        events.restart(number)
    }
}

impl Drop for SessionLog {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

impl LogFile {
    fn open(
        format: LogFormat,
        dir: &Path,
        backup: &Path,
        id: &SessionId,
        kind: &str,
    ) -> io::Result<Self> {
        let (name, current) = match format {
            LogFormat::QuickFix => (quickfix_name(id), ".current"),
            LogFormat::QuickFixJ => (quickfix_j_name(id), ""),
        };
        for dir in [dir, backup] {
            fs::create_dir_all(dir).map_err(|error| named(dir, &error))?;
        }
        let path = dir.join(format!("{name}.{kind}{current}.log"));
        let file = OpenOptions::new().append(true).create(true).open(&path);
        Ok(Self {
            file: file.map_err(|error| named(&path, &error))?,
            path,
            backup: (backup.to_owned(), format!("{name}.{kind}.backup.")),
            waiting: Vec::new(),
            lost: 0,
        })
    }

    fn line(&mut self, options: &LogOptions, time: Option<Timestamp>, content: &[u8]) {
        if self.waiting.len() + content.len() > WAITING_BYTES_MAX && self.flush().is_err() {
            self.lost += 1;
            return;
        }
        let out = &mut self.waiting;
        if let Some(time) = time {
            let text = time.to_millis();
            match options.format {
                LogFormat::QuickFix => {
                    let rest = time.0.rem_euclid(1_000_000);
                    out.extend_from_slice(&text);
                    out.extend_from_slice(format!("{rest:06} : ").as_bytes());
                }
                LogFormat::QuickFixJ => {
                    let digits = if options.milliseconds { text.len() } else { 17 };
                    out.extend_from_slice(&text[..digits]);
                    out.extend_from_slice(b": ");
                }
            }
        }
        out.extend_from_slice(content);
        out.push(b'\n');
        if out.len() > WAITING_BYTES {
            // A file that cannot be written is an error of the next flush.
            let _ = self.flush();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            match self.file.write(&self.waiting) {
                Ok(0) => return Err(named(&self.path, &io::ErrorKind::WriteZero.into())),
                Ok(written) => drop(self.waiting.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(named(&self.path, &error)),
            }
        }
        Ok(())
    }

    fn put_away(&self, number: u32) -> PathBuf {
        let (dir, name) = &self.backup;
        dir.join(format!("{name}{number}.log"))
    }

    fn restart(&mut self, number: u32) -> io::Result<()> {
        let away = self.put_away(number);
        fs::rename(&self.path, &away).map_err(|error| named(&away, &error))?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path);
        self.file = file.map_err(|error| named(&self.path, &error))?;
        Ok(())
    }
}

/// An error with its file.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Whether MsgType (35) is 0. It is the third field.
fn is_heartbeat(message: &[u8]) -> bool {
    let mut fields = message.split(|byte| *byte == fixcore::SOH);
    fields.nth(2) == Some(b"35=0")
}
