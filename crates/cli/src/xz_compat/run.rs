//! The work of xz: perfkit's own transfers without a report.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use files::plan::{Destination, Job};
use files::sink::Written;
use files::source::Summary;
use report::{ExitStatus, Outcome};
use zstdkit::EncoderOptions;

use super::flags::{self, Asked, Mode, Name, XzPlan};
use super::list::list;
use super::plan::{Planned, planned};
use crate::commands::compress::flags::{CompressPlan, GzipNames};
use crate::commands::compress::run::Compress;
use crate::commands::decompress::only::Only;
use crate::commands::formats::Format;
use crate::commands::formats::settings::PackSettings;
use crate::commands::transfer::{self, Options, Stage, Times};
use crate::failure::{Failure, Result};
use crate::gzip_compat::Code;
use crate::io::listed;
use crate::term::message::{self, Voice};
use crate::term::screen;
use crate::term::signal::{self, Ending};

/// Steps in which a dictionary becomes smaller to fit into a limit of memory.
const STEP_BYTES: u32 = 1 << 20;

/// Runs a command line of xz; returns its exit code, or `None` if the user interrupted it.
pub(crate) fn run(name: Name, argv: &[OsString]) -> Option<u8> {
    let voice = |failures| {
        message::set_voice(Voice {
            name: name.text,
            failures,
        });
    };
    voice(true);
    signal::end_by_any();
    signal::install(Ending::BetweenSteps);
    let defaults = ["XZ_DEFAULTS", "XZ_OPT"].map(|name| std::env::var(name).unwrap_or_default());
    let defaults = defaults.join(" ");
    let defaults: Vec<OsString> = defaults.split_whitespace().map(OsString::from).collect();
    let ended = flags::parse(name, &defaults, argv).and_then(|plan| {
        voice(plan.quiet < 2);
        match plan.asked {
            Some(asked) => {
                let text = match asked {
                    Asked::Help => flags::HELP.to_owned(),
                    Asked::Version => format!("xz, by perfkit {}\n", env!("CARGO_PKG_VERSION")),
                };
                message::output(text.as_bytes())?;
                Ok(Some(Code::Ok))
            }
            None => {
                let no_warn = plan.no_warn;
                let code = work(plan)?;
                Ok(code.map(|code| match code {
                    Code::Warning if no_warn => Code::Ok,
                    code => code,
                }))
            }
        }
    });
    match ended {
        Ok(code) => code.map(Code::number),
        Err(failure) => {
            message::failure(&failure);
            Some(Code::Error.number())
        }
    }
}

/// Does what the command line says.
fn work(mut plan: XzPlan) -> Result<Option<Code>> {
    screen::set_raw(plan.force);
    if let Some(list) = &plan.list {
        plan.files.extend(listed::names(list)?);
    }
    if plan.mode == Mode::List {
        return list(&plan);
    }
    let stdin = plan.files.iter().any(|file| file.as_os_str() == "-")
        || plan.files.is_empty() && plan.list.is_none();
    let refused = match plan.mode {
        Mode::Compress => (stdin || plan.stdout) && io::stdout().is_terminal(),
        _ => stdin && io::stdin().is_terminal(),
    };
    if refused {
        let way = match plan.mode {
            Mode::Compress => "written to",
            _ => "read from",
        };
        return Err(
            Failure::new(format!("Compressed data cannot be {way} a terminal"))
                .help("name a file, or redirect; -h lists the options"),
        );
    }
    match plan.mode {
        Mode::Compress => {
            let own = packing(&plan)?;
            let mut stage = Compress::new(own, || Arc::new(|_, work| work()))?;
            transfer(&plan, planned(&plan), &mut stage)
        }
        _ => {
            let mut stage = Only {
                formats: match plan.format {
                    None => vec![Format::Xz, Format::Lzma],
                    Some(format) => vec![format],
                },
                limit: plan.limit_decompress.unwrap_or(u64::from(u32::MAX) << 10),
                pass_through: plan.mode == Mode::Decompress
                    && plan.stdout
                    && plan.force
                    && plan.format.is_none(),
                first: plan.single,
                takes_empty: false,
            };
            transfer(&plan, planned(&plan), &mut stage)
        }
    }
}

/// How files are written, within the limit of memory.
fn packing(plan: &XzPlan) -> Result<CompressPlan> {
    let format = plan.format.unwrap_or(Format::Xz);
    let mut lzma = plan.lzma;
    if let Some(limit) = plan.limit_compress {
        loop {
            let options = lzma.options(plan.level.unsigned_abs());
            let needed = u64::from(options.get_memory_usage()) << 10;
            if needed <= limit {
                break;
            }
            if !plan.adjusts || format == Format::Lzma || options.dict_size <= STEP_BYTES {
                return Err(Failure::new(format!(
                    "Memory usage limit is too low for the given filter setup: {needed} bytes are needed, \
                     the limit is {limit}"
                ))
                .help("raise --memlimit-compress, or choose a lower level"));
            }
            lzma.dictionary_bytes = Some(options.dict_size - STEP_BYTES);
        }
    }
    Ok(CompressPlan {
        adapt: None,
        format,
        gzip_names: GzipNames::default(),
        encoder: EncoderOptions::default()
            .with_level(plan.level)
            .with_content_size(false),
        recipe: None,
        threads: 1,
        file_threads: 1,
        // The dictionary is within it already.
        memory_limit: None,
        stream_size: None,
        packing: PackSettings {
            check: plan.check,
            block_bytes: plan.block_bytes,
            lzma,
            ..PackSettings::default()
        },
        verify: false,
        exclude_compressed: false,
        seekable: None,
    })
}

/// Processes the jobs; returns the code, or `None` if the user interrupted it.
fn transfer(plan: &XzPlan, planned: Planned, stage: &mut impl Stage) -> Result<Option<Code>> {
    let Planned { jobs, mut code } = planned;
    if jobs.jobs.is_empty() {
        return Ok(Some(code));
    }
    transfer::refuse(&jobs, plan.force, &[], &[], plan.mode == Mode::Compress)?;
    let done = |job: &Job, read: &Summary, written: &Written| {
        if plan.verbose > 0 {
            let name = job.source.display();
            message::status(&format!("{name}: {} B -> {} B", read.bytes, written.bytes));
        }
    };
    let options = Options {
        overwrite: plan.force.into(),
        rm: !plan.keep
            && !plan.stdout
            && plan.mode != Mode::Test
            && !jobs
                .jobs
                .iter()
                .all(|job| job.destination == Destination::Nowhere),
        sparse: plan.sparse && plan.mode == Mode::Decompress,
        verify: None,
        hash: false,
        progress: false,
        warnings: false,
        threads: 1,
    };
    let clock = Times::unreported("call", &jobs);
    let outcome = transfer::run(
        jobs,
        stage,
        clock,
        &options,
        Some(&done),
        Outcome::new("xz"),
    );
    match outcome.status {
        ExitStatus::Ok => {}
        ExitStatus::Interrupted => return Ok(None),
        _ => code.fail(),
    }
    Ok(Some(code))
}
