//! `perfkit betree generate`: a workload as files.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use betree::workload::Generator;
use betree::{Domain, ErlangTerms};
use report::ExitStatus;

use crate::args::expressions::WorkloadKind;
use crate::commands::betree::flags::{FileForm, GenerateArgs};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::target::Target;
use crate::io::targets::Targets;
use crate::term::signal;

/// Runs the command.
pub(super) fn run(args: &GenerateArgs) -> Result<ExitStatus> {
    let directory = args.output.as_path();
    std::fs::create_dir_all(directory).map_err(|error| Failure::io("write", directory, &error))?;
    let mut generator = Generator::new(
        crate::args::expressions::kind(args.kind, &args.size),
        args.size.seed,
    );
    match args.form {
        FileForm::Lines => lines(args, directory, &mut generator),
        FileForm::Erlang => terms(args, directory, &mut generator),
    }
}

fn lines(args: &GenerateArgs, directory: &Path, generator: &mut Generator) -> Result<ExitStatus> {
    let names = ["domains", "expressions", "events"].map(|name| directory.join(name));
    let targets = Targets::create(&names, args.force, context())?;
    let count = u64::from(args.size.expressions);
    for (at, target) in targets.iter().enumerate() {
        match at {
            0 => write_all(target, generator.domains().as_bytes())?,
            1 => write(target, count, &mut |_| generator.expression().to_owned())?,
            _ => write(target, args.events, &mut |_| generator.event().to_owned())?,
        }
    }
    targets.commit()?;
    Ok(ExitStatus::Ok)
}

/// The domain and the expressions in one file, events as lists of bits in another.
fn terms(args: &GenerateArgs, directory: &Path, generator: &mut Generator) -> Result<ExitStatus> {
    if args.kind != WorkloadKind::Bool {
        return Err(Failure::usage("Erlang terms are only available for bool")
            .help("use `generate bool`, or leave out --form"));
    }
    let names = ["expressions", "events"].map(|name| directory.join(name));
    let targets = Targets::create(&names, args.force, context())?;
    let domain = Domain::parse(&generator.domains()).ok();
    let head = domain.and_then(|domain| ErlangTerms::write_domain(&domain));
    let count = u64::from(args.size.expressions);
    for (at, target) in targets.iter().enumerate() {
        match at {
            0 => write(target, count + 1, &mut |at| match at {
                0 => head.clone().unwrap_or_default(),
                _ => ErlangTerms::write_expression(generator.expression()),
            })?,
            _ => write(target, args.events, &mut |_| {
                ErlangTerms::write_event(&generator.event_bits().unwrap_or_default())
            })?,
        }
    }
    targets.commit()?;
    Ok(ExitStatus::Ok)
}

/// Writes lines; the target is not complete before the others are.
fn write(target: &Target, count: u64, line: &mut dyn FnMut(u64) -> String) -> Result<()> {
    let mut out = BufWriter::new(target.writer());
    for at in 0..count {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        writeln!(out, "{}", line(at)).map_err(|error| target.error(error))?;
    }
    let written = out.into_inner().map(drop);
    Ok(written.map_err(|error| target.error(error.into_error()))?)
}

fn write_all(target: &Target, bytes: &[u8]) -> Result<()> {
    let written = target.writer().write_all(bytes);
    Ok(written.map_err(|error| target.error(error))?)
}
