//! `perfkit completions` and `perfkit man`: generated from the definition of the command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};
use files::targets::Targets;
use report::ExitStatus;

use crate::args::Cli;
use crate::commands::docs::flags::ManArgs;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::{message, signal};

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "perfkit", &mut script);
    message::output(&script)?;
    Ok(ExitStatus::Ok)
}

/// Prints one manual page, or writes all of them into a directory, replacing older ones.
pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    if let Some(dir) = &args.dir {
        return write_pages(dir, &root);
    }
    let command = match args.page.as_deref() {
        None => &root,
        Some(name) => root.find_subcommand(name).ok_or_else(|| {
            Failure::usage(format!("unknown command '{name}'"))
                .help("`perfkit --help` lists the commands")
        })?,
    };
    message::output(&render(command, &root)?)?;
    Ok(ExitStatus::Ok)
}

/// All pages appear together, so those of two versions are never mixed.
fn write_pages(dir: &Path, root: &clap::Command) -> Result<ExitStatus> {
    let commands = std::iter::once(root).chain(root.get_subcommands());
    let commands: Vec<&clap::Command> = commands.collect();
    let path = |command: &&clap::Command| dir.join(format!("{}.1", page_name(command)));
    let paths: Vec<PathBuf> = commands.iter().map(path).collect();
    let targets = Targets::create(&paths, true, context())?;
    for (command, target) in commands.into_iter().zip(targets.iter()) {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        let page = render(command, root)?;
        target
            .writer()
            .write_all(&page)
            .map_err(|error| target.error(error))?;
    }
    targets.commit()?;
    Ok(ExitStatus::Ok)
}

/// `perfkit` or `perfkit-compress`: the name that `man` uses.
fn page_name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

/// The page of one command: its long help, the examples, the exit codes.
fn render(command: &clap::Command, root: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    write(command, root, &mut page)
        .map_err(|error| Failure::new(format!("cannot render the manual page: {error}")))?;
    Ok(page)
}

fn write(command: &clap::Command, root: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    // A page contains even what the short help hides.
    let whole = command
        .clone()
        .mut_args(|argument| argument.hide_short_help(false));
    let source = format!("perfkit {}", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(whole)
        .source(source)
        .manual("User Commands");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    let mut rest = Roff::new();
    examples(command, &mut rest);
    exit_status(&mut rest);
    environment(&mut rest);
    see_also(command, root, &mut rest);
    rest.to_writer(page)
}

/// The indented lines of the long help, unchanged.
fn examples(command: &clap::Command, page: &mut Roff) {
    let text = command.get_after_long_help().map(ToString::to_string);
    let text = text.unwrap_or_default();
    page.control("SH", ["EXAMPLES"]);
    page.control("nf", []);
    for line in text.lines().skip(1).take_while(|line| !line.is_empty()) {
        page.text([roman(line.trim_start())]);
    }
    page.control("fi", []);
}

fn exit_status(page: &mut Roff) {
    page.control("SH", ["EXIT STATUS"]);
    for status in ExitStatus::ALL {
        page.control("TP", []);
        page.text([bold(status.code().to_string())]);
        page.text([roman(status.meaning())]);
    }
}

fn environment(page: &mut Roff) {
    page.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in [
        (
            "NO_COLOR",
            "set to anything but nothing: no colour, unless --color always",
        ),
        ("TERM", "dumb: no colour and no progress"),
    ] {
        page.control("TP", []);
        page.text([bold(name)]);
        page.text([roman(meaning)]);
    }
}

fn see_also(command: &clap::Command, root: &clap::Command, page: &mut Roff) {
    page.control("SH", ["SEE ALSO"]);
    let pages = std::iter::once(root).chain(root.get_subcommands());
    let names: Vec<String> = pages
        .map(page_name)
        .filter(|name| *name != page_name(command))
        .map(|name| format!("{name}(1)"))
        .collect();
    page.text([roman(names.join(", "))]);
}
