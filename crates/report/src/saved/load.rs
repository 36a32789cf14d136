//! Files with distributions: JSON reports, interval logs and percentile distributions.
//!
//! What is made of several of them is in `combine`.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use latency::hgrm::{self, HgrmUnit};
use latency::hlog;
use latency::report::{Input, Latency, Report};
use twox_hash::XxHash64;

use crate::{Error, names};

/// Longest file that is read: a year of seconds in an interval log, and more than any other.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// What a file is, and with it how much it says of its rows.
#[derive(Debug, Clone)]
pub enum FileKind {
    /// A whole report.
    Report(Box<Report>),
    /// An interval log: rows by tag, which do not say what one operation is.
    Log,
    /// A percentile distribution, which does not even say of which time.
    Distribution,
}

/// A file with the distributions in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Saved {
    /// What tables call it: its path, and a number where it is not the first of that path.
    pub name: String,
    /// The file itself.
    pub input: Input,
    /// What it is.
    pub kind: FileKind,
    /// Its rows.
    pub latencies: Vec<Latency>,
    /// When its run started, RFC 3339, where it says so.
    pub started_at: Option<String>,
}

impl Saved {
    /// Takes the bytes of a file for what the extension of its path says: `hgrm`, `hlog`, or else JSON. The output of
    /// wrk2 is known by what is in it. `unit` is that of the values of a distribution; without one it is
    /// [what the file says](hgrm::unit_of).
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where they are no such thing.
    pub fn parse(path: &Path, bytes: &[u8], unit: Option<HgrmUnit>) -> Result<Self, Error> {
        let name = names::path(path);
        let failed = |error: &dyn Display| Error::Malformed {
            name: name.clone(),
            reason: error.to_string(),
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let printed = || std::str::from_utf8(bytes).is_ok_and(hgrm::is_printed);
        let (kind, latencies) = match extension {
            other if other == Some("hgrm") || other != Some("json") && printed() => {
                let text = std::str::from_utf8(bytes).map_err(|error| failed(&error))?;
                let unit = unit.unwrap_or_else(|| hgrm::unit_of(text));
                let read = hgrm::read(text, unit).map_err(|error| failed(&error))?;
                (FileKind::Distribution, vec![read.latency()])
            }
            Some("hlog") => {
                let rows = hlog::rows(bytes);
                (FileKind::Log, rows.map_err(|error| failed(&error))?)
            }
            _ => {
                let report = latency::report::read_json(bytes).map_err(|error| failed(&error))?;
                let latencies = report.latencies.clone();
                (FileKind::Report(Box::new(report)), latencies)
            }
        };
        let time = |start: Option<SystemTime>| {
            let start = jiff::Timestamp::try_from(start?).ok()?;
            Some(start.to_string())
        };
        let started_at = match &kind {
            FileKind::Report(report) => Some(report.started_at.clone()),
            FileKind::Log => time(hlog::started_at(bytes)),
            FileKind::Distribution => {
                time(std::str::from_utf8(bytes).ok().and_then(hgrm::started_at))
            }
        };
        let input = Input {
            path: name.clone(),
            bytes: bytes.len() as u64,
            xxh64: Some(format!("{:016x}", XxHash64::oneshot(0, bytes))),
        };
        Ok(Self {
            name,
            input,
            kind,
            latencies,
            started_at,
        })
    }

    /// Numbers this file where `before` has some of the same path.
    pub fn distinguish(&mut self, before: &[Self]) {
        let same = |other: &&Self| other.input.path == self.input.path;
        let count = before.iter().filter(same).count();
        if count > 0 {
            self.name = format!("{} ({})", self.name, count + 1);
        }
    }
}

/// Reads all of `source`; `None` when it is longer than [`FILE_BYTES_MAX`].
///
/// # Errors
///
/// Those of `source`.
pub fn bounded(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}
