//! One job from start to end: opens files, runs the codec, commits the target, removes the source.

use std::collections::VecDeque;
use std::time::Instant;

use files::plan::{Destination, Job};
use files::sink::{Buffer, Check, Sink, SinkOptions, Writes, Written};
use files::source::{Hash, Reads, Source, Summary};
use files::target::{self, Target};
use files::{BUFFER_BYTES, INLINE_BYTES};

use crate::commands::transfer::stream::{Stop, Stream, Times, Waits, write_error};
use crate::commands::transfer::{Options, Overwrite, Stage};
use crate::failure::{Failure, Result};
use crate::io::verify::Verifier;
use crate::io::{cancel, context};
use crate::term::progress::Progress;

/// What a thread needs to process jobs.
pub(super) struct Hand<'a, S> {
    pub(super) stage: &'a mut S,
    pub(super) times: &'a mut Times,
    /// The buffer of the previous job.
    pub(super) spare: &'a mut Option<Buffer>,
    /// Whether this is one of several threads, which leaves all but small files to the first one.
    pub(super) helps: bool,
}

/// What all threads of a run share.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    pub(super) options: &'a Options<'a>,
    pub(super) progress: &'a Progress,
}

/// The result of a job.
pub(super) type Finished = std::result::Result<(Summary, Written), Stop>;

/// Processes a job; `joined` is the shared target of all jobs, if there is one.
pub(super) fn one<S: Stage>(
    job: &Job,
    hand: &mut Hand<'_, S>,
    common: Common<'_>,
    joined: Option<&Target>,
) -> Finished {
    let start = Instant::now();
    let options = common.options;
    if let (Overwrite::Keep, Destination::File(path)) = (options.overwrite, &job.destination) {
        // Before its source is opened. To ask a store is for one thread alone.
        if hand.helps && files::url::of(path).is_some() {
            return Err(Stop::Declined);
        }
        if target::is_there(path, context())? {
            return Err(Stop::Kept);
        }
    }
    let opening = hand.stage.open(job)?;
    let wanted = (options.hash || options.verify.is_some()) && !opening.partial;
    let hash = match wanted {
        true => Hash::Yes,
        false if opening.hash => Hash::Apart,
        false => Hash::No,
    };
    let reads = Reads {
        hash,
        start: opening.start,
        buffer_bytes: opening.buffer_bytes,
    };
    let mut source = if hand.helps {
        Source::open_small(&job.source, &reads, context()).ok_or(Stop::Declined)?
    } else {
        Source::open_at(&job.source, &reads, context()).map_err(|error| {
            match job.source.is_dir() {
                true => Failure::from(error).help("add -r to walk it"),
                false => error.into(),
            }
        })?
    };
    let own = own_target(job, &source, options, hand.helps)?;
    let target = own.as_ref().or(joined);
    // A source is only removed if a file now has its content, not for a device.
    let replaceable = own.as_ref().is_some_and(Target::is_regular_file);
    let small = source
        .attributes()
        .is_some_and(|metadata| metadata.len() <= INLINE_BYTES);
    // Waiting for a reader must not keep an interrupt from being seen.
    let behind = target.is_some_and(|target| !(small || opening.threaded) || target.may_wait());
    let verifier = options
        .verify
        .map(|(format, options)| Verifier::new(format, options));
    let verifier = verifier.transpose();
    let verifier = verifier.map_err(|error| write_error(target, error))?;
    let sparse = options.sparse && replaceable;
    let sink_options = SinkOptions {
        buffer_bytes: if behind || !opening.threaded {
            opening.buffer_bytes
        } else {
            BUFFER_BYTES
        },
        sparse,
        writes: if behind {
            Writes::Behind
        } else if target.is_some() && small && !opening.threaded && !hand.helps {
            // What a little source is decompressed to may be large.
            Writes::BehindAfter(INLINE_BYTES)
        } else {
            Writes::Inline
        },
        check: verifier.map(|verifier| Box::new(verifier) as Box<dyn Check>),
        cancel: cancel().clone(),
    };
    let file = target.map(Target::writer);
    let mut sink = Sink::start(file, sink_options, hand.spare.take())
        .map_err(|error| write_error(target, error))?;
    let mut stream = Stream {
        job,
        source: &mut source,
        ahead: VecDeque::new(),
        target,
        sink: &mut sink,
        alone: replaceable.then_some(sparse),
        out: None,
        times: hand.times,
        progress: common.progress,
        calls: 0,
        waits: Waits::default(),
    };
    if let Err(stop) = hand.stage.run(&mut stream) {
        // Standard output gets all that was read before what is damaged, as from other programs.
        if matches!(stop, Stop::Failed(_)) && job.destination == Destination::Stdout {
            let _ = stream.flush();
            let _ = sink.finish();
        }
        return Err(stop);
    }
    stream.flush()?;
    let (written, spare) = sink.finish().map_err(|error| write_error(target, error))?;
    *hand.spare = spare;
    let mut read = source.summary();
    read.xxh64 = read.xxh64.filter(|_| wanted);
    hand.stage.check(job, &read, &written)?;
    if let Some(target) = own {
        if let Some(metadata) = source.attributes() {
            target.copy_attributes(metadata);
        }
        target.commit().map_err(|error| refused(error, options))?;
    }
    if options.rm && replaceable {
        remove(job, &source, &read)?;
    }
    hand.times.finished(job, start);
    Ok((read, written))
}

/// A target that appeared meanwhile was made by another process that does the same.
fn refused(error: files::Error, options: &Options<'_>) -> Stop {
    match (&error, options.overwrite) {
        (files::Error::Exists { .. }, Overwrite::Keep) => Stop::Kept,
        _ => error.into(),
    }
}

/// The job's own target.
fn own_target(
    job: &Job,
    source: &Source,
    options: &Options<'_>,
    helps: bool,
) -> std::result::Result<Option<Target>, Stop> {
    let target = match &job.destination {
        Destination::File(path) if helps => {
            let replace = matches!(options.overwrite, Overwrite::Always);
            let plain = Target::create_plain(path, replace, source.attributes(), context());
            let plain = plain.map_err(|error| refused(error, options))?;
            // The other cases are for a caller that may ask or wait.
            plain.ok_or(Stop::Declined)?
        }
        Destination::File(path) => Target::create_beside(
            path,
            options.overwrite.allows(path),
            source.attributes(),
            context(),
        )
        .map_err(|error| refused(error, options))?,
        Destination::Stdout | Destination::Joined if helps => return Err(Stop::Declined),
        Destination::Stdout => Target::stdout(context())?,
        Destination::Joined | Destination::Nowhere => return Ok(None),
    };
    Ok(Some(target))
}

/// Removes the source of a complete target, unless it has changed meanwhile.
fn remove(job: &Job, source: &Source, read: &Summary) -> Result<()> {
    let Some(metadata) = source.attributes() else {
        // A pipe or device cannot be replaced by its target.
        return Ok(());
    };
    if job.source.as_os_str() == "-" {
        return Ok(());
    }
    if read.bytes != metadata.len() || !source.is_unchanged() {
        return Err(Failure::new(format!(
            "'{}' changed while it was read, so it was not removed",
            job.source.display()
        ))
        .help("the target may mix old and new content: repeat this when no process writes to the file"));
    }
    std::fs::remove_file(&job.source).map_err(|error| Failure::io("remove", &job.source, &error))
}
