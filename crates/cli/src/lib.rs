//! The perfkit command line: arguments, files, the terminal, and nothing else.
//!
//! What a command *does* lives in the libraries (`zstdkit`, `latency`, …). This crate parses the
//! command line to plain data (`args`), moves bytes between files and the libraries (`io`),
//! builds one report ([`run`]) and hands it to the exporters (`export`).
//!
//! The library has one entry, [`run()`]; the exit codes are [`ExitStatus`].

#![forbid(unsafe_code)]

mod args;
mod commands;
mod export;
mod failure;
mod io;
mod session;
mod term;
mod zstd_compat;

use std::ffi::OsString;

pub use report::ExitStatus;

/// Runs one command line, the program's name first, and says how it ended.
///
/// Prints to standard output and standard error as the command documents, and never panics on any
/// input.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let argv: Vec<OsString> = argv.into_iter().collect();
    if let Some(name) = argv
        .first()
        .and_then(|name| zstd_compat::flags::Name::of(name))
    {
        return zstd_compat::run(name, &argv);
    }
    term::color::set_choice(args::color(&argv));
    let cli = match args::parse(&argv) {
        Ok(cli) => cli,
        Err(answer) => return term::message::answer(&answer),
    };
    term::color::set_choice(cli.color);
    term::screen::set_raw(cli.command.wants_raw());
    term::signal::install(commands::ending(&cli.command));
    match commands::dispatch(cli, &argv) {
        Ok(status) => status,
        Err(failure) => {
            term::message::failure(&failure);
            failure.exit_status()
        }
    }
}
