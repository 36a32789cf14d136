//! Files with distributions: JSON reports, interval logs, percentile distributions, and the files of other
//! benchmark tools.
//!
//! What is made of several of them is in `combine`.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use latency::foreign::{self, Foreign};
use latency::hgrm::{self, HgrmUnit};
use latency::hlog;
use latency::report::{Environment, Input, Latency, Report, Stated};
use twox_hash::XxHash64;

use super::notes;
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
    /// The file of another benchmark tool.
    Foreign(Box<Foreign>),
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
    /// What another tool stated without samples.
    pub stated: Stated,
    /// When its run started, RFC 3339, where it says so.
    pub started_at: Option<String>,
    /// What it does not say and was assumed, and what of it was left out, in sentences.
    pub notes: Vec<String>,
}

impl Saved {
    /// Takes the bytes of a file for what the extension of its path says: `hgrm`, `hlog`, or else JSON. The output of
    /// wrk2 and the files of [other tools](latency::foreign) are known by what is in them. `unit` is that of the values of
    /// a distribution or a log; without one it is [what the distribution says](hgrm::unit_of), or nanoseconds.
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
        let mut notes = Vec::new();
        let mut stated = Stated::default();
        let (kind, latencies) = match extension {
            other if other == Some("hgrm") || other != Some("json") && printed() => {
                let text = std::str::from_utf8(bytes).map_err(|error| failed(&error))?;
                let known = unit.or_else(|| hgrm::stated_unit(text));
                let unit = known.unwrap_or_else(|| hgrm::unit_of(text));
                let read = hgrm::read(text, unit).map_err(|error| failed(&error))?;
                stated = hgrm::printed(text);
                if known.is_none() && read.total_count > 0 {
                    notes.push(notes::unit(unit));
                }
                (FileKind::Distribution, vec![read.latency()])
            }
            Some("hlog") => {
                let read = hlog::rows_in(bytes, unit).map_err(|error| failed(&error))?;
                notes = notes::of_log(&read);
                (FileKind::Log, read.rows)
            }
            _ if foreign::source(bytes).is_some() => {
                let read = foreign::read(bytes, &measured(path)).map_err(|error| failed(&error))?;
                let latencies = read.latencies();
                stated = read.stated();
                (FileKind::Foreign(Box::new(read)), latencies)
            }
            _ => {
                let report = latency::report::read_json(bytes).map_err(|error| failed(&error))?;
                let latencies = report.latencies.clone();
                stated = report.stated.clone();
                (FileKind::Report(Box::new(report)), latencies)
            }
        };
        let time = |start: Option<SystemTime>| {
            // A log of values whose start is not known starts there.
            let start = start.filter(|start| *start > SystemTime::UNIX_EPOCH);
            let start = jiff::Timestamp::try_from(start?).ok()?;
            Some(start.to_string())
        };
        let started_at = match &kind {
            FileKind::Report(report) => report.started_at.clone(),
            FileKind::Log => time(hlog::started_at(bytes)),
            FileKind::Distribution => {
                time(std::str::from_utf8(bytes).ok().and_then(hgrm::started_at))
            }
            FileKind::Foreign(read) => read.started_at.as_ref().and_then(|start| {
                let start: jiff::Timestamp = start.parse().ok()?;
                Some(start.to_string())
            }),
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
            stated,
            started_at,
            notes,
        })
    }

    /// The machine that it was measured on, as far as the file states it.
    #[must_use]
    pub fn environment(&self) -> Environment {
        match &self.kind {
            FileKind::Report(report) => report.environment.clone(),
            FileKind::Foreign(read) => read.environment.clone(),
            FileKind::Log | FileKind::Distribution => Environment::unknown(),
        }
    }

    /// Whether it has times that another tool stated without samples.
    #[must_use]
    pub fn has_stated_times(&self) -> bool {
        !self.stated.times.is_empty()
    }

    /// How long its run took, where it says so.
    pub(super) fn duration_ns(&self) -> Option<u64> {
        match &self.kind {
            FileKind::Report(report) => report.duration_ns,
            FileKind::Foreign(read) => read.duration_ns,
            FileKind::Log | FileKind::Distribution => None,
        }
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

/// What a file measured whose content does not say: its directory, of those that criterion makes the one above
/// `new` or `base`; else its name without the extension.
fn measured(path: &Path) -> String {
    let own = |part: Option<&std::ffi::OsStr>| part.map(names::word);
    let is_estimate =
        matches!(path.file_stem(), Some(stem) if stem == "sample" || stem == "estimates");
    let parents = path.ancestors().skip(1).filter_map(Path::file_name);
    let mut named = parents.filter(|part| *part != "new" && *part != "base");
    let found = match is_estimate {
        true => own(named.next()),
        false => None,
    };
    found.or_else(|| own(path.file_stem())).unwrap_or_default()
}

/// Most files of a directory that are read.
const FOLDER_FILES_MAX: usize = 1_000;
/// How deep criterion's directories are: `criterion/group/function/value/new`.
const FOLDER_DEPTH_MAX: usize = 6;

/// The samples in a directory of criterion, in the order of their paths: each `new/sample.json` below it, or that
/// in itself.
///
/// # Errors
///
/// Those of the system.
pub fn folder(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = left.pop() {
        let sample = directory.join("sample.json");
        // What was measured before is in `base`.
        let is_own = depth == 0 || directory.ends_with("new");
        if is_own && sample.is_file() {
            found.push(sample);
        }
        if depth == FOLDER_DEPTH_MAX || found.len() >= FOLDER_FILES_MAX {
            continue;
        }
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            // Not through links, which may lead back.
            if entry.file_type()?.is_dir() {
                left.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_criterion_have_their_samples() {
        let top = std::env::temp_dir().join(format!("perfkit-criterion-{}", std::process::id()));
        let at = |path: &str| top.join(path);
        for path in [
            "group/fast/new",
            "group/fast/base",
            "group/slow/new",
            "single/new",
            "report",
        ] {
            std::fs::create_dir_all(at(path)).unwrap();
            std::fs::write(at(path).join("sample.json"), "{}").unwrap();
        }
        let expected = ["group/fast/new", "group/slow/new", "single/new"];
        let expected: Vec<_> = expected
            .iter()
            .map(|path| at(path).join("sample.json"))
            .collect();
        assert_eq!(folder(&top).unwrap(), expected);
        let names: Vec<_> = expected.iter().map(|path| measured(path)).collect();
        assert_eq!(names, ["fast", "slow", "single"]);
        assert_eq!(
            folder(&at("single/new")).unwrap(),
            [at("single/new/sample.json")]
        );
        assert_eq!(measured(Path::new("runs/oha.json")), "oha");
        std::fs::remove_dir_all(top).unwrap();
    }
}
