//! `perfkit betree generate`: a workload as files.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use betree::workload::shapes::{self, Drawer, Shape};
use betree::workload::{Generator, Kind};
use betree::{Domain, ErlangTerms};
use files::target::Target;
use files::targets::Targets;
use report::ExitStatus;

use crate::commands::betree::flags::{FileForm, GenerateArgs, GenerateKind};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::{message, signal};

/// Runs the command.
pub(super) fn run(args: &GenerateArgs) -> Result<ExitStatus> {
    let (Some(kind), Some(directory)) = (args.kind, args.output.as_deref()) else {
        return list();
    };
    let generator = match kind {
        GenerateKind::Bool => Ok(Generator::new(
            Kind::Bool(args.size.attributes),
            args.size.seed,
        )),
        GenerateKind::Ad => Ok(Generator::new(Kind::Ad, args.size.seed)),
        GenerateKind::Shape | GenerateKind::Drawn => Err(shape(kind, args)?),
    };
    if args.form == FileForm::Erlang && kind != GenerateKind::Bool {
        return Err(Failure::usage("Erlang terms are only available for bool")
            .help("use `generate bool`, or leave out --form"));
    }
    if let (Some(name), true) = (&args.name, generator.is_ok()) {
        return Err(
            Failure::usage(format!("unexpected '{name}': only shapes have a name"))
                .help("leave it out, or use `generate shape NAME`"),
        );
    }
    std::fs::create_dir_all(directory).map_err(|error| Failure::io("write", directory, &error))?;
    match (generator, args.form) {
        (Ok(mut generator), FileForm::Lines) => lines(args, directory, &mut generator),
        (Ok(mut generator), FileForm::Erlang) => terms(args, directory, &mut generator),
        (Err(shape), _) => shaped(args, directory, shape),
    }
}

/// The shape that is asked for.
fn shape(kind: GenerateKind, args: &GenerateArgs) -> Result<Shape> {
    let name = args.name.as_deref().unwrap_or_default();
    if kind == GenerateKind::Drawn {
        return name.parse().map(shapes::drawn).map_err(|_| {
            Failure::usage(format!("'{name}' is no number to draw a shape from"))
                .help("state a whole number, as in `generate drawn 17`")
        });
    }
    Shape::by_name(name).ok_or_else(|| {
        Failure::usage(format!("no shape is called '{name}'"))
            .help("`perfkit betree generate --list` shows the names")
    })
}

/// Lists the named shapes.
fn list() -> Result<ExitStatus> {
    let swept = shapes::sweeps().into_iter().flat_map(|sweep| sweep.shapes);
    let mut out = String::new();
    let named = shapes::named().into_iter().chain(shapes::long());
    for shape in named.chain(swept) {
        out.push_str(&format!("{:36}  {}\n", shape.name, shape.summary()));
    }
    message::output(out.as_bytes())?;
    Ok(ExitStatus::Ok)
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

/// The files of a shape: with constants, if its expressions have frequency caps.
fn shaped(args: &GenerateArgs, directory: &Path, shape: Shape) -> Result<ExitStatus> {
    let mut names = vec!["domains", "expressions", "events"];
    names.extend(shape.has_caps().then_some("constants"));
    let names: Vec<_> = names.iter().map(|name| directory.join(name)).collect();
    let targets = Targets::create(&names, args.force, context())?;
    let count = u64::from(args.size.expressions);
    let new = || Drawer::new(shape.clone(), args.size.seed);
    for (at, target) in targets.iter().enumerate() {
        let mut drawer = new();
        match at {
            0 => write_all(target, shape.domains().as_bytes())?,
            1 => write(target, count, &mut |_| {
                shapes::text(&shape, &drawer.expression())
            })?,
            2 => write(target, args.events, &mut |_| {
                shapes::json(&shape, &drawer.event())
            })?,
            // The id of an expression is the number of its line.
            _ => write(target, count + 1, &mut |line| match line {
                0 => "id,campaign_id".to_owned(),
                line => {
                    let campaign = shapes::campaign(&drawer.expression());
                    format!(
                        "{line},{}",
                        campaign.map_or(String::new(), |id| id.to_string())
                    )
                }
            })?,
        }
    }
    targets.commit()?;
    Ok(ExitStatus::Ok)
}

/// The domain and the expressions in one file, events as lists of bits in another.
fn terms(args: &GenerateArgs, directory: &Path, generator: &mut Generator) -> Result<ExitStatus> {
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
