//! What a codec does of a run, and what is asked of the rest.

use std::path::Path;

use files::BUFFER_BYTES;
use files::plan::Job;
use files::sink::Written;
use files::source::Summary;
use zstdkit::DecoderOptions;

use crate::args::files::FileArgs;
use crate::commands::formats::Format;
use crate::commands::transfer::stream::{Stop, Stream};
use crate::failure::Result;

/// A codec between a source and a sink.
pub(crate) trait Stage: Sized + Send + 'static {
    /// Inspects a source before it is read.
    fn open(&mut self, _: &Job) -> Result<Opening> {
        Ok(Opening::default())
    }

    /// Passes one whole source through the codec into the sink.
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop>;

    /// Called with what was read and written when both have ended; the place for verification.
    fn check(&mut self, _job: &Job, _read: &Summary, _written: &Written) -> Result<()> {
        Ok(())
    }

    /// A stage of the same kind for small files on another thread; `None` if it cannot be created.
    fn another(&self) -> Option<Self>;

    /// Adds the counts of another stage, if there are some.
    fn merge(&mut self, _other: Self) {}
}

/// How to read a source and write its output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// The byte of the source to start at.
    pub(crate) start: u64,
    /// Whether only a part of it will be read.
    pub(crate) partial: bool,
    /// Whether the stage has threads that work while output is written, so that no thread is needed for
    /// writing.
    pub(crate) threaded: bool,
    /// Whether the stage can use a hash of the source that another thread computes.
    pub(crate) hash: bool,
    /// Size of each buffer that a reading or writing thread passes on: at least the output that the stage
    /// makes room for at a time.
    pub(crate) buffer_bytes: usize,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            start: 0,
            partial: false,
            threaded: false,
            hash: false,
            buffer_bytes: BUFFER_BYTES,
        }
    }
}

/// How to process the jobs.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    /// Which existing targets are replaced.
    pub(crate) overwrite: Overwrite,
    /// Whether sources are removed once their targets are complete.
    pub(crate) rm: bool,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// How to decode output while it is written, to hash its content.
    pub(crate) verify: Option<(Format, &'a DecoderOptions)>,
    /// Whether inputs are hashed.
    pub(crate) hash: bool,
    /// Whether progress is shown.
    pub(crate) progress: bool,
    /// Whether warnings are shown.
    pub(crate) warnings: bool,
    /// Small files that are processed in parallel.
    pub(crate) threads: usize,
}

/// Called for each finished job, with what was read and written.
pub(crate) type Done<'a> = &'a dyn Fn(&Job, &Summary, &Written);

/// What happens to existing targets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Overwrite {
    /// They are kept, and the job fails.
    Never,
    /// They are kept, and their jobs count as done before.
    Keep,
    /// They are replaced.
    Always,
    /// As the user answers this question.
    Ask(fn(&Path) -> bool),
}

impl From<bool> for Overwrite {
    fn from(force: bool) -> Self {
        if force { Self::Always } else { Self::Never }
    }
}

impl Overwrite {
    /// What the flags say.
    pub(crate) fn of(args: &FileArgs) -> Self {
        match args.skip_existing {
            true => Self::Keep,
            false => args.force.into(),
        }
    }

    pub(super) fn allows(self, path: &Path) -> bool {
        match self {
            Self::Never | Self::Keep => false,
            Self::Always => true,
            Self::Ask(answer) => path.is_file() && answer(path),
        }
    }
}
