//! `perfkit completions` and `perfkit man`: generated from the definition of the command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};
use files::targets::Targets;
use report::ExitStatus;

use crate::args::Cli;
use crate::commands::docs::flags::ManArgs;
use crate::commands::docs::names;
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
    let page = match (find(&root, &args.page), &args.page[..]) {
        (Ok(page), _) => render(&page)?,
        (Err(failure), [name]) => names::render(names::find(name).ok_or(failure)?),
        (Err(failure), _) => return Err(failure),
    };
    message::output(&page)?;
    Ok(ExitStatus::Ok)
}

/// A command, and the one that it belongs to.
#[derive(Debug, Clone, Copy)]
struct Page<'a> {
    command: &'a clap::Command,
    parent: Option<&'a clap::Command>,
}

/// The command that WORDS name: `fix parse`, or `fix-parse` as its page is called.
fn find<'a>(root: &'a clap::Command, words: &[String]) -> Result<Page<'a>> {
    let wanted = words.join("-");
    let name = format!("perfkit-{wanted}");
    pages(root)
        .into_iter()
        .find(|page| words.is_empty() || page_name(page.command) == name)
        .ok_or_else(|| {
            Failure::usage(format!("unknown command '{}'", words.join(" ")))
                .help("`perfkit --help` lists the commands; `perfkit man fix parse` is the page of `perfkit fix parse`")
        })
}

/// Every command with a page, parents before their own commands, the root first.
fn pages(root: &clap::Command) -> Vec<Page<'_>> {
    let mut pages = vec![Page {
        command: root,
        parent: None,
    }];
    let mut at = 0;
    while let Some(page) = pages.get(at).copied() {
        let own = page.command.get_subcommands();
        let own = own.filter(|command| command.get_name() != "help");
        pages.extend(own.map(|command| Page {
            command,
            parent: Some(page.command),
        }));
        at += 1;
    }
    pages
}

/// All pages appear together, so those of two versions are never mixed.
fn write_pages(dir: &Path, root: &clap::Command) -> Result<ExitStatus> {
    let mut pages = Vec::new();
    for page in self::pages(root) {
        pages.push((page_name(page.command).to_owned(), render(&page)?));
    }
    let others = names::PROGRAMS.iter();
    pages.extend(others.map(|other| (format!("perfkit-{}", other.name), names::render(other))));
    let path = |(name, _): &(String, Vec<u8>)| dir.join(format!("{name}.1"));
    let paths: Vec<PathBuf> = pages.iter().map(path).collect();
    let targets = Targets::create(&paths, true, context())?;
    for ((_, page), target) in pages.iter().zip(targets.iter()) {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        target
            .writer()
            .write_all(page)
            .map_err(|error| target.error(error))?;
    }
    targets.commit()?;
    Ok(ExitStatus::Ok)
}

/// `perfkit`, `perfkit-compress` or `perfkit-fix-parse`: the name that `man` uses.
fn page_name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

/// The page of one command: its long help, the examples, the exit codes.
fn render(page: &Page<'_>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    write(page, &mut text)
        .map_err(|error| Failure::new(format!("cannot render the manual page: {error}")))?;
    Ok(text)
}

fn write(&Page { command, parent }: &Page<'_>, page: &mut Vec<u8>) -> std::io::Result<()> {
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
    see_also(command, parent, &mut rest);
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

/// The command above, those below, and those next to it.
fn see_also(command: &clap::Command, parent: Option<&clap::Command>, page: &mut Roff) {
    page.control("SH", ["SEE ALSO"]);
    let next_to = parent.into_iter().flat_map(clap::Command::get_subcommands);
    let names: Vec<String> = parent
        .into_iter()
        .chain(command.get_subcommands())
        .chain(next_to)
        .filter(|other| other.get_name() != "help")
        .map(page_name)
        .filter(|name| *name != page_name(command))
        .map(|name| format!("{name}(1)"))
        .collect();
    page.text([roman(names.join(", "))]);
}
