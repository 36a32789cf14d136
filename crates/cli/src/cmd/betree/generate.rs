//! `perfkit betree generate`: a workload as files.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use betree::workload::Generator;
use betree::{Domain, Terms};

use crate::args::betree::{FileForm, GenerateArgs, WorkloadKind};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::target::Target;
use crate::term::signal;

/// Runs the command.
pub(super) fn run(args: &GenerateArgs) -> Result<ExitStatus> {
    let directory = args.output.as_path();
    std::fs::create_dir_all(directory).map_err(|error| Failure::io("write", directory, &error))?;
    let mut generator = Generator::new(super::kind(args.kind, &args.size), args.size.seed);
    match args.form {
        FileForm::Lines => lines(args, directory, &mut generator),
        FileForm::Erlang => terms(args, directory, &mut generator),
    }
}

fn lines(args: &GenerateArgs, directory: &Path, generator: &mut Generator) -> Result<ExitStatus> {
    let names = ["domains", "expressions", "events"].map(|name| directory.join(name));
    // All three are refused before any is written.
    let [domains, expressions, events] = [
        Target::create(&names[0], args.force, None)?,
        Target::create(&names[1], args.force, None)?,
        Target::create(&names[2], args.force, None)?,
    ];
    let text = generator.domains();
    write(domains, &names[0], text.lines().count() as u64, &mut |at| {
        text.lines().nth(at as usize).unwrap_or("").to_owned()
    })?;
    let count = u64::from(args.size.expressions);
    write(expressions, &names[1], count, &mut |_| {
        generator.expression().to_owned()
    })?;
    write(events, &names[2], args.events, &mut |_| {
        generator.event().to_owned()
    })?;
    Ok(ExitStatus::Ok)
}

/// The domain and the expressions in one file, events as lists of bits in another.
fn terms(args: &GenerateArgs, directory: &Path, generator: &mut Generator) -> Result<ExitStatus> {
    if args.kind != WorkloadKind::Bool {
        return Err(Failure::usage("events as Erlang terms are lists of bits")
            .help("generate bool, or leave --form out"));
    }
    let names = ["expressions", "events"].map(|name| directory.join(name));
    let [expressions, events] = [
        Target::create(&names[0], args.force, None)?,
        Target::create(&names[1], args.force, None)?,
    ];
    let domain = Domain::parse(&generator.domains()).ok();
    let head = domain.and_then(|domain| Terms::write_domain(&domain));
    let count = u64::from(args.size.expressions);
    write(expressions, &names[0], count + 1, &mut |at| match at {
        0 => head.clone().unwrap_or_default(),
        _ => Terms::write_expression(generator.expression()),
    })?;
    write(events, &names[1], args.events, &mut |_| {
        Terms::write_event(&generator.event_bits().unwrap_or_default())
    })?;
    Ok(ExitStatus::Ok)
}

fn write(
    target: Target,
    path: &Path,
    count: u64,
    line: &mut dyn FnMut(u64) -> String,
) -> Result<()> {
    let failed = |error| Failure::io("write", path, &error);
    let mut out = BufWriter::new(target.writer());
    for at in 0..count {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        writeln!(out, "{}", line(at)).map_err(failed)?;
    }
    out.into_inner()
        .map_err(|error| failed(error.into_error()))?;
    target.commit()
}
