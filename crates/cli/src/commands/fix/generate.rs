//! `perfkit fix generate`: a log to try things on.

use std::io::Write as _;
use std::path::Path;

use files::target::{Target, is_stdout};
use fixcore::workload::Mix;
use fixlog::Generator;
use report::ExitStatus;

use crate::commands::fix::flags::GenerateArgs;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::signal;

/// What is gathered before it is written.
const OUTPUT_BYTES: usize = 1 << 20;

/// Runs the command.
pub(super) fn run(args: &GenerateArgs) -> Result<ExitStatus> {
    let mix = mix(args)?;
    let target = match is_stdout(&args.output) {
        true => Target::stdout(context())?,
        false => Target::create(&args.output, args.force, None, context())?,
    };
    let mut log = Generator::new(args.seed)
        .mix(mix)
        .sessions(args.sessions as usize)
        .harmed(args.hostile)
        .form(args.form.into())
        .separator(args.separator.into());
    let mut out = Vec::with_capacity(2 * OUTPUT_BYTES);
    let (mut messages, mut written) = (0, 0);
    loop {
        let enough = match args.size {
            Some(bytes) => written + out.len() as u64 >= bytes,
            None => messages >= args.messages,
        };
        if out.len() >= OUTPUT_BYTES || enough {
            match target.writer().write_all(&out) {
                // Who closed the pipe has seen enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
                done => done.map_err(|error| target.error(error))?,
            }
            written += out.len() as u64;
            out.clear();
        }
        if enough {
            break;
        }
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        log.message(&mut out)
            .map_err(|error| failed(&error.to_string()))?;
        messages += 1;
    }
    target.commit()?;
    Ok(ExitStatus::Ok)
}

fn mix(args: &GenerateArgs) -> Result<Mix> {
    let weights = <[u32; 4]>::try_from(args.mix.as_slice());
    let weights = weights
        .ok()
        .filter(|weights| weights.iter().any(|weight| *weight > 0));
    let weights = weights.ok_or_else(|| {
        Failure::usage("--mix has four weights, not all of them 0").help("such as 4,44,48,4")
    })?;
    if !(0.0..=1.0).contains(&args.hostile) {
        return Err(Failure::usage("--hostile is a share from 0 to 1"));
    }
    Ok(Mix { weights })
}

fn failed(reason: &str) -> Failure {
    Failure::io(
        "write",
        Path::new("a message"),
        &std::io::Error::other(reason.to_owned()),
    )
}
