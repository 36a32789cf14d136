//! The work of gzip: perfkit's own transfers without a report.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use files::plan::{Destination, Job, Jobs};
use files::sink::Written;
use files::source::Summary;
use report::{ExitStatus, Outcome};
use zstdkit::{DecoderOptions, EncoderOptions};

use super::ended::{Code, Ended};
use super::flags::GzipPlan;
use super::list::{Listing, Sizes};
use super::plan::{Planned, planned};
use crate::args::levels;
use crate::commands::compress::flags::{CompressPlan, GzipNames};
use crate::commands::compress::run::Compress;
use crate::commands::decompress::flags::{DecompressMode, DecompressPlan};
use crate::commands::decompress::run::Decompress;
use crate::commands::formats::Format;
use crate::commands::formats::settings::PackSettings;
use crate::commands::transfer::{self, Options, Overwrite, Stage, Times};
use crate::failure::{Failure, Result};
use crate::term::{message, screen};

/// The most processors that one run takes.
const THREADS_MAX: u32 = 256;

/// Does what the command line says.
pub(super) fn work(plan: GzipPlan) -> Result<Ended> {
    screen::set_raw(plan.force);
    let stdin = plan.files.is_empty() || plan.files.iter().any(|file| file.as_os_str() == "-");
    let terminal = match plan.decompress {
        true => io::stdin().is_terminal(),
        false => io::stdout().is_terminal(),
    };
    if stdin && !plan.force && !plan.list && terminal {
        let (verb, way) = match plan.decompress {
            true => ("read from", "de"),
            false => ("written to", ""),
        };
        return Err(Failure::new(format!(
            "compressed data not {verb} a terminal. Use -f to force {way}compression."
        ))
        .help("For help, type: gzip -h"));
    }
    let planned = planned(&plan);
    if planned.jobs.jobs.is_empty() {
        return Ok(Ended::With(planned.code));
    }
    match plan.decompress {
        true => decompress(&plan, planned),
        false => compress(&plan, planned),
    }
}

fn compress(plan: &GzipPlan, planned: Planned) -> Result<Ended> {
    let own = CompressPlan {
        adapt: None,
        memory_limit: None,
        format: Format::Gzip,
        gzip_names: GzipNames {
            name: plan.names(),
            time: plan.times(),
        },
        encoder: EncoderOptions::default()
            .with_level(plan.level)
            .with_rsyncable(plan.rsyncable),
        recipe: None,
        threads: levels::threads(0)?.min(THREADS_MAX),
        file_threads: levels::file_threads(None)?,
        stream_size: None,
        packing: PackSettings::default(),
        verify: false,
        exclude_compressed: false,
        seekable: None,
    };
    let mut stage = Compress::new(own, || Arc::new(|_, work| work()))?;
    let (code, interrupted) = transfer(plan, planned, &mut stage, &|_, _, _| {})?;
    Ok(ended(code, interrupted))
}

fn decompress(plan: &GzipPlan, planned: Planned) -> Result<Ended> {
    let own = DecompressPlan {
        decoder: DecoderOptions::default(),
        mode: match plan.test || plan.list {
            true => DecompressMode::Test,
            false => DecompressMode::Write,
        },
        sparse: false,
        range: None,
        threads: 1,
        file_threads: match plan.list {
            true => 1,
            false => levels::file_threads(None)?,
        },
        pass_through: plan.force && plan.stdout && !plan.list && !plan.test,
        as_gzip: true,
    };
    if plan.list {
        return list(plan, planned, &own);
    }
    let mut stage = Decompress::new(&own, Arc::new(|_, work| work()))?;
    let (mut code, interrupted) = transfer(plan, planned, &mut stage, &|_, _, _| {})?;
    tell_trailing(plan, &stage, &mut code);
    Ok(ended(code, interrupted))
}

/// Says which sources had other data behind them.
fn tell_trailing(plan: &GzipPlan, stage: &Decompress, code: &mut Code) {
    for (path, _) in &stage.trailing {
        if !plan.quiet {
            message::status(&format!(
                "gzip: {}: decompression OK, trailing garbage ignored",
                path.display()
            ));
        }
        code.warn();
    }
}

/// Decompresses one file after the other, and prints what they hold.
fn list(plan: &GzipPlan, planned: Planned, own: &DecompressPlan) -> Result<Ended> {
    let mut stage = Decompress::new(own, Arc::new(|_, work| work()))?;
    let mut listing = Listing::default();
    let (mut code, mut interrupted) = (planned.code, false);
    for job in planned.jobs.jobs {
        let seen: RefCell<Option<(u64, u64)>> = RefCell::default();
        let one = Planned {
            jobs: Jobs {
                jobs: vec![Job {
                    destination: Destination::Nowhere,
                    ..job.clone()
                }],
                ..Jobs::default()
            },
            ..Planned::default()
        };
        let done = |_: &Job, read: &Summary, written: &Written| {
            seen.replace(Some((read.bytes, written.bytes)));
        };
        let (own, stopped) = transfer(plan, one, &mut stage, &done)?;
        code = code.max(own);
        if stopped {
            interrupted = true;
            break;
        }
        if let Some((stored, content)) = seen.take() {
            let crc32 = stage.totals.crc32;
            listing.add(
                plan,
                &job,
                Sizes {
                    stored,
                    content,
                    crc32,
                },
            );
        }
    }
    listing.finish(plan);
    message::output(listing.text.as_bytes())?;
    tell_trailing(plan, &stage, &mut code);
    Ok(ended(code, interrupted))
}

fn ended(code: Code, interrupted: bool) -> Ended {
    match interrupted {
        true => Ended::Interrupted,
        false => Ended::With(code),
    }
}

/// Called for each finished job.
type Done<'a> = &'a dyn Fn(&Job, &Summary, &Written);

/// Processes the jobs; returns the code so far, and whether the user interrupted it.
fn transfer(
    plan: &GzipPlan,
    planned: Planned,
    stage: &mut impl Stage,
    also: Done<'_>,
) -> Result<(Code, bool)> {
    let Planned {
        jobs,
        times: set,
        agreed,
        mut code,
    } = planned;
    transfer::refuse(&jobs, plan.force, &[], &[], !plan.decompress)?;
    let done = |job: &Job, read: &Summary, written: &Written| {
        if let Destination::File(target) = &job.destination
            && let Some((_, time)) = set.iter().find(|(path, _)| path == target)
        {
            // A time that cannot be set is no reason to fail: gzip warns with -v at most.
            let file = std::fs::File::options().write(true).open(target);
            let _ = file.and_then(|file| file.set_modified(*time));
        }
        if plan.verbose > 0 && !plan.list {
            message::tabbed(&line(plan, job, read.bytes, written.bytes));
        }
        also(job, read, written);
    };
    let overwrite = match (plan.force, agreed) {
        (true, _) => Overwrite::Always,
        (_, true) => Overwrite::Ask(|_: &Path| true),
        _ => Overwrite::Never,
    };
    let options = Options {
        overwrite,
        rm: !plan.keep && !plan.stdout,
        sparse: false,
        verify: None,
        hash: false,
        progress: false,
        warnings: false,
        threads: match plan.list {
            true => 1,
            false => levels::file_threads(None)? as usize,
        },
    };
    let clock = Times::unreported("call", &jobs);
    let outcome = Outcome::new("gzip");
    let outcome = transfer::run(jobs, stage, clock, &options, Some(&done), outcome);
    match outcome.status {
        ExitStatus::Ok => {}
        ExitStatus::Interrupted => return Ok((code, true)),
        _ => code.fail(),
    }
    Ok((code, false))
}

/// The line of -v: the name, if there is one, and what became of it.
fn line(plan: &GzipPlan, job: &Job, read: u64, written: u64) -> [String; 2] {
    let source = match job.source.as_os_str() == "-" {
        true => String::new(),
        false => format!("{}:", job.source.display()),
    };
    if plan.test {
        return [source, " OK".to_owned()];
    }
    let (content, stored) = match plan.decompress {
        true => (written, read),
        false => (read, written),
    };
    let ratio = match content {
        0 => 0.0,
        // Header and trailer do not count.
        content => 100.0 * (content as f64 - (stored as f64 - 18.0)) / content as f64,
    };
    let became = match &job.destination {
        Destination::File(target) if plan.keep => format!(" -- created {}", target.display()),
        Destination::File(target) => format!(" -- replaced with {}", target.display()),
        _ => String::new(),
    };
    [source, format!("{ratio:5.1}%{became}")]
}
