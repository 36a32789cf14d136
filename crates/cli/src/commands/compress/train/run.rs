//! `perfkit compress --train`: trains a dictionary on samples, and measures what it saves on samples that
//! were held out.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::path::Path;

use files::conflicts::Files;
use files::display;
use files::plan::{self, Direction, Request};
use files::target::Target;
use latency::report::{Table, Unit};
use report::{ExitStatus, Outcome};
use zstdkit::Dictionary;
use zstdkit::dictionary::{self, Evaluation, SizeClass, TrainOptions, train_best};

use crate::commands::compress::train::flags::TrainPlan;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::open::open;
use crate::term::{message, signal};

/// The most that is read of one sample, as in the zstd program.
const SAMPLE_BYTES_MAX: u64 = 128 << 10;
/// The most that is read of all samples.
const SAMPLES_BYTES_MAX: u64 = 2 << 30;
/// The most samples: a directory may contain any number.
const SAMPLES_MAX: usize = 4 << 20;

/// Trains the dictionary, writes it, and reports what it saves.
pub(crate) fn run(plan: &TrainPlan) -> Result<Outcome> {
    let found = plan::jobs(&Request {
        recursive: plan.recursive,
        nowhere: true,
        any_name: true,
        ..Request::of(
            &plan.files,
            Direction::Compress {
                suffix: "zst",
                exclude_compressed: false,
            },
        )
    })?;
    Files::default()
        .jobs(&found.jobs, Some(&plan.output))
        .check()?;
    // A target that cannot be written must be an error before an hour of training, not after it.
    let target = Target::create(&plan.output, plan.force, None, context())?;
    let mut outcome = Outcome::new("train");
    for error in &found.failures {
        message::failure(&error.into());
    }
    let mut failed = found.failures.len();
    let mut samples = Vec::new();
    let mut taken_bytes = 0_u64;
    let most_bytes = plan.samples_bytes_max.unwrap_or(u64::MAX);
    let most_bytes = most_bytes.min(SAMPLES_BYTES_MAX);
    for job in &found.jobs {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        if samples.len() >= SAMPLES_MAX || taken_bytes >= most_bytes {
            message::remark("there are more samples than are of use: the rest is left out");
            break;
        }
        match sample(&job.source, plan.sample_bytes, most_bytes - taken_bytes) {
            Ok(bytes) => {
                taken_bytes += bytes.len() as u64;
                match plan
                    .sample_bytes
                    .and_then(|size| usize::try_from(size).ok())
                {
                    Some(size) => samples.extend(bytes.chunks(size).map(<[u8]>::to_vec)),
                    None => samples.push(bytes),
                }
            }
            Err(failure) => {
                failed += 1;
                message::failure(&failure);
            }
        }
    }
    let filled = samples.iter().filter(|sample| !sample.is_empty()).count();
    let (dictionary, evaluation) = made(plan, &samples).map_err(|error| match filled {
        // The code of the zstd program for this.
        ..5 => refused(&error).code(14),
        _ => refused(&error),
    })?;
    write(target, dictionary.bytes(), &plan.output)?;
    outcome.bytes_in = taken_bytes;
    outcome.bytes_content = taken_bytes;
    outcome.bytes_out = dictionary.bytes().len() as u64;
    outcome.workload.inputs_total = samples.len() as u64;
    if failed > 0 {
        outcome.status = ExitStatus::Partial;
        outcome.complete = false;
    }
    let params = &mut outcome.workload.params;
    params.insert("dictionary_id".to_owned(), dictionary.id().into());
    outcome.tables = evaluation
        .map(|evaluation| tables(&dictionary, &evaluation))
        .unwrap_or_default();
    Ok(outcome)
}

/// The dictionary, and what it saves if that is asked for.
fn made(
    plan: &TrainPlan,
    samples: &[Vec<u8>],
) -> std::result::Result<(Dictionary, Option<Evaluation>), zstdkit::Error> {
    let options = TrainOptions::default()
        .with_size_bytes(plan.size_bytes)
        .with_encoder(plan.encoder.clone());
    match plan.id {
        id if !plan.judged => {
            let dictionary = match plan.method {
                Some(method) => {
                    dictionary::train_by(samples, plan.size_bytes, method, plan.encoder.level)?
                }
                None => dictionary::train(samples, plan.size_bytes)?,
            };
            let numbered = id.map(|id| dictionary.with_id(id)).transpose()?;
            Ok((numbered.unwrap_or(dictionary), None))
        }
        Some(id) => numbered(samples, &options, id).map(|(best, worth)| (best, Some(worth))),
        None => train_best(samples, &options).map(|best| (best.dictionary, Some(best.evaluation))),
    }
}

/// A dictionary with an id, which plain content could not have; a fifth of the samples is held out to judge
/// it.
fn numbered(
    samples: &[Vec<u8>],
    options: &TrainOptions,
    id: NonZeroU32,
) -> std::result::Result<(Dictionary, Evaluation), zstdkit::Error> {
    let part = |held_out: bool| -> Vec<&[u8]> {
        let samples = samples.iter().enumerate();
        let wanted = samples.filter(|(at, _)| (at % 5 == 0) == held_out);
        wanted.map(|(_, sample)| sample.as_slice()).collect()
    };
    let dictionary = dictionary::train(&part(false), options.size_bytes)?.with_id(id)?;
    let evaluation = dictionary.evaluate(&part(true), &options.encoder)?;
    Ok((dictionary, evaluation))
}

fn refused(error: &zstdkit::Error) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// The start of a file, or all of it up to `room_bytes` if it is to be cut.
fn sample(path: &Path, cut: Option<u64>, room_bytes: u64) -> Result<Vec<u8>> {
    let failed = |error| Failure::io("read", path, &error);
    if path.is_dir() {
        let message = format!("{} is a directory", display(path));
        return Err(Failure::new(message).help("add -r to walk it"));
    }
    let mut bytes = Vec::new();
    let most_bytes = match cut {
        Some(_) => room_bytes,
        None => SAMPLE_BYTES_MAX.min(room_bytes),
    };
    open(path, OpenOptions::new().read(true))
        .and_then(|file| file.take(most_bytes).read_to_end(&mut bytes))
        .map_err(failed)?;
    Ok(bytes)
}

fn write(target: Target, bytes: &[u8], path: &Path) -> Result<()> {
    target
        .writer()
        .write_all(bytes)
        .map_err(|error| Failure::io("write", path, &error))?;
    Ok(target.commit()?)
}

/// What the dictionary saves, by sample size and in total.
fn tables(dictionary: &Dictionary, evaluation: &Evaluation) -> Vec<Table> {
    let Evaluation { classes, total, .. } = evaluation;
    let bytes = dictionary.bytes().len() as u64;
    let mut table = Table::new(
        "samples not trained on",
        &[
            ("size_up_to_bytes", Unit::Bytes),
            ("samples", Unit::Count),
            ("content_bytes", Unit::Bytes),
            ("ratio_without", Unit::Ratio),
            ("ratio_with", Unit::Ratio),
            ("break_even_samples", Unit::Count),
        ],
    );
    let row = |class: &SizeClass| {
        vec![
            class.sample_bytes_max.map(|most| most as u64).into(),
            class.samples.into(),
            class.content_bytes.into(),
            class.plain_ratio().into(),
            class.ratio().into(),
            class.break_even_samples(bytes).into(),
        ]
    };
    table.rows.extend(classes.iter().map(row));
    if classes.len() > 1 {
        table.rows.push(row(total));
    }
    vec![table]
}
