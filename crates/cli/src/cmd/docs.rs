//! `perfkit completions` and `perfkit man`: documents made from the command line's own definition.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::target::Target;

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "perfkit", &mut script);
    print(&script)
}

/// Prints one manual page, or writes all of them into `dir`, replacing older ones.
pub(crate) fn man(page: Option<&str>, dir: Option<&Path>) -> Result<ExitStatus> {
    let mut root = Cli::command();
    root.build();
    if let Some(dir) = dir {
        write_page(dir, "perfkit.1", &root)?;
        for command in root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            write_page(dir, &format!("perfkit-{}.1", command.get_name()), command)?;
        }
        return Ok(ExitStatus::Ok);
    }
    let command = match page {
        None => &root,
        Some(name) => root.find_subcommand(name).ok_or_else(|| {
            Failure::usage(format!("there is no command '{name}'"))
                .help("`perfkit --help` lists the commands")
        })?,
    };
    print(&render(command)?)
}

fn write_page(dir: &Path, name: &str, command: &clap::Command) -> Result<()> {
    let target = Target::create(&dir.join(name), true, None)?;
    let page = render(command)?;
    target
        .writer()?
        .write_all(&page)
        .map_err(|error| target.error(&error))?;
    target.commit()
}

fn render(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::new(format!("cannot render the manual page: {error}")))?;
    Ok(page)
}

fn print(bytes: &[u8]) -> Result<ExitStatus> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write", Path::new("standard output"), &error))
        }
        _ => Ok(ExitStatus::Ok),
    }
}
