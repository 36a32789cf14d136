//! `perfkit rerun`: the run that a report states, once more.

use std::ffi::OsString;
use std::process;

use report::ExitStatus;
use report::saved::{self, Stated};

use crate::args::{self, Command};
use crate::built;
use crate::commands::child;
use crate::commands::rerun::flags::RerunArgs;
use crate::commands::saved::read_bounded;
use crate::failure::{Failure, Result};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(args: &RerunArgs) -> Result<ExitStatus> {
    let path = &args.file;
    let stated = Stated::read(&read_bounded(path)?).map_err(|error| {
        Failure::new(format!("cannot read '{}': {error}", path.display()))
            .help("rerun needs a report of perfkit, written with --export-json")
    })?;
    let refused = |why: String, help: &str| {
        let what = format!("cannot repeat '{}': {why}", path.display());
        Failure::new(what).help(help)
    };
    let words = saved::words(&stated).map_err(|why| {
        let help = "run it again with a file in place of what cannot be repeated";
        refused(why.to_string(), help)
    })?;
    let mut words = words.into_iter().map(word).collect::<Result<Vec<_>>>()?;
    if words.first().is_some_and(|first| first == "rerun") {
        return Err(refused(
            "it is a rerun itself".to_owned(),
            "rerun the first report",
        ));
    }
    if let Some(export) = &args.export_json {
        // Before commands, which are behind `--`.
        let at = words.iter().position(|word| word == "--");
        let flag = ["--export-json".into(), export.clone().into_os_string()];
        let at = at.unwrap_or(words.len());
        words.splice(at..at, flag);
    }
    let shown: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into())
        .collect();
    let line = format!("perfkit {}", bench::programs::quoted(&shown));
    let now = latency::environment::capture();
    let differences = saved::differences(&stated, &built::tool(), &now);
    if args.dry_run {
        let mut text = format!("{}\n", crate::term::plain::message(&line));
        for difference in &differences {
            text.push_str(&format!("  {}\n", crate::term::plain::message(difference)));
        }
        message::output(text.as_bytes())?;
        return Ok(ExitStatus::Ok);
    }
    if runs_programs(&words) && !args.trust {
        let help = format!("add --trust to run it: {line}");
        return Err(refused(
            "it runs programs that the report names".to_owned(),
            &help,
        ));
    }
    if args.terminal.wants_warnings() {
        message::line(&line);
        for difference in &differences {
            message::remark(difference);
        }
    }
    repeat(&words)
}

/// Whether the run may start programs of somebody else's choice: under the name of hyperfine, and a comparison,
/// unless its two words are files.
fn runs_programs(words: &[OsString]) -> bool {
    if words.first().is_some_and(|first| first == "hyperfine") {
        return true;
    }
    let argv: Vec<OsString> = std::iter::once("perfkit".into())
        .chain(words.iter().cloned())
        .collect();
    match args::parse(&argv).map(|cli| cli.command) {
        Ok(Command::Compare(args)) => args.runs_commands(),
        // What cannot be parsed is refused when it is run.
        _ => false,
    }
}

/// Runs a command line of this program in a process of its own.
fn repeat(words: &[OsString]) -> Result<ExitStatus> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    let mut command = process::Command::new(&program);
    // The words have the defaults that the run had; those of this machine are not among them.
    command.env(crate::config::FILE_VARIABLE, "").args(words);
    let run =
        child::run(&mut command).map_err(|error| Failure::program("program", &program, &error))?;
    let code = run.and_then(|run| run.used.status.code());
    let same = |status: &ExitStatus| code == Some(i32::from(status.code()));
    let status = ExitStatus::ALL.into_iter().find(same);
    Ok(status.unwrap_or(ExitStatus::Interrupted))
}

#[cfg(unix)]
fn word(bytes: Vec<u8>) -> Result<OsString> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn word(bytes: Vec<u8>) -> Result<OsString> {
    let text = String::from_utf8(bytes);
    text.map(OsString::from)
        .map_err(|_| Failure::new("cannot repeat it: a word of its command line is no text"))
}
