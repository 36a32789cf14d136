//! Files that `perfkit report` reads: JSON reports, interval logs and percentile distributions.
//!
//! What is made of several of them is in `combine.rs`.

use std::io::Read;
use std::path::Path;

use latency::hgrm::{self, HgrmUnit};
use latency::hlog;
use latency::report::{Input, Latency, LatencyName, Report, Timing};
use twox_hash::XxHash64;

use crate::export::names;
use crate::failure::{Failure, Result};
use crate::io::standard;

/// Longest report that is read: a year of seconds in an interval log, and more than any other.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// What a file is, and with it how much it says of its rows.
#[derive(Debug)]
pub(super) enum Kind {
    /// A whole report.
    Report(Box<Report>),
    /// An interval log: rows by tag, which do not say what one operation is.
    Log,
    /// A percentile distribution, which does not even say of which time.
    Distribution,
}

/// A file with the distributions in it.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Its path, and a number where it is not the first of that path.
    pub(super) name: String,
    /// The file itself.
    pub(super) input: Input,
    /// What it is.
    pub(super) kind: Kind,
    /// Its rows.
    pub(super) latencies: Vec<Latency>,
}

/// Reads every file.
pub(super) fn all(paths: &[std::path::PathBuf]) -> Result<Vec<Loaded>> {
    let mut loaded: Vec<Loaded> = Vec::with_capacity(paths.len());
    for path in paths {
        let mut file = Loaded::read(path)?;
        let same = |other: &&Loaded| other.input.path == file.input.path;
        let before = loaded.iter().filter(same).count();
        if before > 0 {
            file.name = format!("{} ({})", file.name, before + 1);
        }
        loaded.push(file);
    }
    Ok(loaded)
}

impl Loaded {
    fn read(path: &Path) -> Result<Self> {
        let bytes = read_bounded(path)?;
        let name = names::path(path);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("cannot read '{name}': {error}"))
                .help("report reads what --export-json, --export-hgrm and --export-hlog write")
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let (kind, latencies) = match extension {
            Some("hgrm") => {
                let text = std::str::from_utf8(&bytes).map_err(|error| failed(&error))?;
                let read = hgrm::read(text, HgrmUnit::Us).map_err(|error| failed(&error))?;
                let histogram = read.histogram();
                let (name, timing) = (LatencyName::Service, Timing::Actual);
                let row = Latency::from_histogram(name, "operation", timing, &histogram);
                (Kind::Distribution, vec![row])
            }
            Some("hlog") => {
                let rows = hlog::read(&bytes).and_then(|lines| hlog::latencies(&lines));
                (Kind::Log, rows.map_err(|error| failed(&error))?)
            }
            _ => {
                let report = latency::report::read_json(&bytes).map_err(|error| failed(&error))?;
                let latencies = report.latencies.clone();
                (Kind::Report(Box::new(report)), latencies)
            }
        };
        let input = Input {
            path: name.clone(),
            bytes: bytes.len() as u64,
            xxh64: Some(format!("{:016x}", XxHash64::oneshot(0, &bytes))),
        };
        Ok(Self {
            name,
            input,
            kind,
            latencies,
        })
    }
}

/// Reads a whole file (`-`: standard input) of at most [`FILE_BYTES_MAX`] bytes.
pub(crate) fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::io("read", path, &error);
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX + 1;
    let file = match path.as_os_str() == "-" {
        true => standard::input(),
        false => std::fs::File::open(path),
    };
    let file = file.map_err(failed)?;
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::new(format!(
            "'{}' is larger than any report",
            path.display()
        )));
    }
    Ok(bytes)
}
