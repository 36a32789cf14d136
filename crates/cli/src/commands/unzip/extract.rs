//! What the plan asks for, done by the library: files, standard output, or verification alone.

use std::cell::{Cell, RefCell};
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;

use files::output::Output;
use report::ExitStatus;
use zipstream::extract::{
    Destination, ExtractOptions, ExtractReport, Stopped, extract_into, extract_pipe_into,
};
use zipstream::{ArchiveReader, PipeReader, ReadAt};

use crate::args::glob::Asked;
use crate::args::password::PasswordSource;
use crate::commands::unzip::flags::{UnzipMode, UnzipPlan};
use crate::commands::unzip::keys::Keys;
use crate::commands::unzip::messages;
use crate::commands::unzip::objects::Prefix;
use crate::commands::unzip::observe::{Observer, Times};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::Session;
use crate::term::progress::Progress;

/// What the work needs beside the archive.
pub(super) struct Run<'a> {
    pub(super) plan: &'a UnzipPlan,
    /// Where the archive is.
    pub(super) archive: &'a Path,
    /// Who may read it.
    pub(super) metadata: Option<Metadata>,
    /// Whether warnings are shown.
    pub(super) warn: bool,
    pub(super) session: &'a Session,
    pub(super) progress: &'a Progress,
}

/// What came of it.
pub(super) struct Done {
    pub(super) report: ExtractReport,
    pub(super) times: Times,
    /// Why entries failed: the first of them.
    pub(super) failures: Vec<Failure>,
    /// How many did.
    pub(super) failed: u64,
    /// How many of them could not be read, or were not what their checksums say.
    pub(super) damaged: u64,
    /// Whether the user asked to stop.
    pub(super) interrupted: bool,
}

impl Run<'_> {
    /// Entries of an archive that can be read anywhere.
    pub(super) fn file<R: ReadAt + Sync>(&self, reader: &ArchiveReader<R>) -> Result<Done> {
        self.run(|destination, options| extract_into(reader, destination, &options))
    }

    /// Entries of a pipe.
    pub(super) fn pipe(&self, source: impl Read, keys: &mut Keys) -> Result<Done> {
        let mut pipe = PipeReader::new(source, &self.plan.read);
        let keys = RefCell::new(keys);
        let refused = Cell::new(None);
        let done = self.run(|destination, options| {
            let options = options.password(|| {
                keys.borrow_mut().get().map_err(|failure| {
                    let error = std::io::Error::other(failure.message().to_owned());
                    refused.set(Some(failure));
                    zipstream::Error::from_io(&error)
                })
            });
            extract_pipe_into(&mut pipe, destination, &options)
        });
        let mut done = done?;
        if let Some(failure) = refused.take() {
            done.refused(failure);
        }
        if self.warn {
            messages::preceded(pipe.preceding_bytes());
        }
        Ok(done)
    }

    fn run(
        &self,
        extract: impl FnOnce(
            Destination<'_>,
            ExtractOptions<'_>,
        ) -> std::result::Result<ExtractReport, zipstream::Error>,
    ) -> Result<Done> {
        let plan = self.plan;
        let observer = Observer::new(self.session, self.progress);
        let asked = RefCell::new(Asked::new(&plan.selection));
        let mut options = ExtractOptions::new()
            .existing(plan.existing)
            .exact_modes(true)
            .threads(plan.threads as usize)
            .filter(|name| asked.borrow_mut().takes(name))
            .observer(&observer)
            .protect(self.archive)
            .context(context().clone());
        if let PasswordSource::File(path) = &plan.password {
            options = options.protect(path);
        }
        if let Some(metadata) = &self.metadata {
            options = options.readable_as(metadata);
        }
        let mut output;
        let prefix = match &plan.mode {
            UnzipMode::Extract(directory) => Prefix::of(directory, plan.existing),
            _ => None,
        };
        let destination = match &plan.mode {
            UnzipMode::List | UnzipMode::Test => Destination::Nowhere,
            UnzipMode::Print => {
                output = Output::stdout(context())
                    .map_err(|error| Failure::io("write", Path::new("standard output"), &error))?;
                Destination::Writer(&mut output)
            }
            UnzipMode::Extract(directory) => match &prefix {
                Some(prefix) => Destination::Objects(prefix),
                None => Destination::Directory(directory),
            },
        };
        let report =
            extract(destination, options).map_err(|error| messages::not_started(&error))?;
        let failures = report.failures.iter();
        let failures = failures.map(|failed| messages::of_entry(failed, prefix.as_ref()));
        let mut failures: Vec<Failure> = failures.collect();
        let mut failed = report.failed;
        // Not all names were seen where a pipe was not read to its end.
        if !matches!(report.stopped, Some(Stopped::Damaged | Stopped::Full)) {
            let unmatched = messages::unmatched(&asked.borrow(), self.archive);
            failed += unmatched.len() as u64;
            failures.extend(unmatched);
        }
        let times = observer.times();
        Ok(Done {
            interrupted: report.stopped == Some(Stopped::Cancelled),
            damaged: report.damaged,
            report,
            times,
            failures,
            failed,
        })
    }
}

impl Done {
    /// Puts the failure to get a password into the place of the error that came of it.
    fn refused(&mut self, failure: Failure) {
        self.failures.pop();
        if failure.exit_status() == ExitStatus::Interrupted {
            self.failed -= 1;
            self.interrupted = true;
        } else {
            self.failures.push(failure);
        }
    }
}
