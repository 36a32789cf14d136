//! The perfkit command line: arguments, files, the terminal, and nothing else.
//!
//! What a command *does* lives in the libraries (`zstdkit`, `latency`, …). This crate parses the
//! command line to plain data (`args`), moves bytes between files and the libraries (`io`),
//! builds one report ([`run`]) and hands it to the exporters (`export`).
//!
//! The library has one entry, [`run()`]; the exit codes are [`ExitStatus`], and those of the programs whose
//! names it may be called by ([`Exit`]).

#![forbid(unsafe_code)]

mod args;
mod built;
mod commands;
mod config;
mod export;
mod failure;
mod gzip_compat;
mod hyper_compat;
mod io;
mod session;
mod term;
mod xz_compat;
mod zip_compat;
mod zstd_compat;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use args::Parsed;
pub use report::ExitStatus;

/// What a shell reports of a program that SIGPIPE ended.
const PIPE_CLOSED_CODE: u8 = 128 + 13;

/// How a command line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// As commands of perfkit do.
    Own(ExitStatus),
    /// With a code of the program by whose name the binary was called.
    Named(u8),
    /// As programs of that name end when the reader of their output has gone: by SIGPIPE.
    PipeClosed,
}

impl Exit {
    /// The end of the process: of one that a signal interrupted by that signal itself, so that a shell ends its loop,
    /// too. Anything else is an exit code.
    pub fn end(self) -> ExitCode {
        if self == Self::Own(ExitStatus::Interrupted) {
            // What is left to print is lost otherwise; without a reader there is nothing to do about it.
            let _ = std::io::stdout().flush();
            term::signal::die_of_signal();
        }
        if self == Self::PipeClosed {
            term::signal::die_of_pipe();
        }
        self.into()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Own(status) => status.into(),
            Exit::Named(code) => code.into(),
            Exit::PipeClosed => PIPE_CLOSED_CODE.into(),
        }
    }
}

/// Runs one command line, the program's name first, and says how it ended.
///
/// Prints to standard output and standard error as the command documents, and never panics on any
/// input.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Exit {
    let argv: Vec<OsString> = argv.into_iter().collect();
    if let Some(name) = argv.first().and_then(|name| xz_compat::Name::of(name)) {
        return unless_pipe_closed(named_or_interrupted(xz_compat::run(name, &argv)));
    }
    if let Some(name) = argv
        .first()
        .and_then(|name| zstd_compat::flags::Name::of(name))
    {
        return unless_pipe_closed(zstd_compat::run(name, &argv));
    }
    if let Some(name) = argv.first().and_then(|name| gzip_compat::Name::of(name)) {
        return unless_pipe_closed(named_or_interrupted(gzip_compat::run(name, &argv)));
    }
    if let Some(name) = argv.first().and_then(|name| zip_compat::Name::of(name)) {
        return Exit::Named(zip_compat::run(name, &argv));
    }
    if let Some(words) = hyper_compat::asked(&argv) {
        return Exit::Own(hyper_compat::run(words));
    }
    Exit::Own(own(&argv))
}

/// Scripts that remove the source of what such a program wrote trust its exit code.
fn unless_pipe_closed(exit: Exit) -> Exit {
    match term::signal::pipe_closed() && exit != Exit::Own(ExitStatus::Interrupted) {
        true => Exit::PipeClosed,
        false => exit,
    }
}

/// The end of a program under another's name: its exit code, or none if a signal stopped it.
fn named_or_interrupted(code: Option<u8>) -> Exit {
    code.map_or(Exit::Own(ExitStatus::Interrupted), Exit::Named)
}

/// Runs a command line of perfkit itself.
fn own(argv: &[OsString]) -> ExitStatus {
    term::color::set_choice(args::color(argv));
    args::speak_for(argv);
    let parsed = config::Config::load().and_then(|config| args::parse_with(argv, &config));
    let Parsed {
        cli,
        argv,
        defaults,
    } = match parsed {
        Ok(Ok(parsed)) => parsed,
        Ok(Err(answer)) => return term::message::answer(&answer),
        Err(failure) => {
            term::message::failure(&failure);
            return failure.exit_status();
        }
    };
    term::color::set_choice(cli.color);
    term::screen::set_raw(cli.command.wants_raw());
    term::signal::install(commands::ending(&cli.command));
    match commands::dispatch(cli, &argv) {
        Ok(status) => status,
        Err(failure) => {
            let failure = match failure.exit_status() {
                ExitStatus::Usage if !defaults.is_empty() => {
                    failure.more_help(&format!("defaults come from {}", defaults.join("; ")))
                }
                _ => failure,
            };
            term::message::failure(&failure);
            failure.exit_status()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn packages_install_names_that_the_binary_knows() {
        for name in include_str!("../../../deploy/names").lines() {
            let program = OsStr::new(name);
            let known = zstd_compat::flags::Name::of(program).is_some()
                || xz_compat::Name::of(program).is_some()
                || gzip_compat::Name::of(program).is_some()
                || zip_compat::Name::of(program).is_some()
                || hyper_compat::asked(&[program.to_owned()]).is_some();
            assert!(known, "{name}");
        }
    }
}
