//! Running other programs: from the root of the repository, with no standard input.
//!
//! What a chore does with the output is the chore's own business.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// A command at the root, without the variables that `cargo run` set for this program: they
/// would make a build script of another package believe that its surroundings had changed.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        let inherited = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        if inherited.iter().any(|prefix| name_text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// Prints the command, runs it with its output shown, and fails when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    std::io::stdout().flush()?;
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Like [`run`], and returns the lines of standard output that `keep` wants.
pub(crate) fn run_keeping(
    command: &mut Command,
    keep: impl Fn(&str) -> bool,
) -> Result<Vec<String>> {
    println!("$ {}", shown(command));
    std::io::stdout().flush()?;
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    let mut kept = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line).into_owned();
            println!("{line}");
            if keep(&line) {
                kept.push(line);
            }
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(kept)
}

/// Runs silently and returns all output; a failure shows the program's standard error.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!(
            "{} ended with {}\n{}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(output)
}

/// Standard output of a command, as text without the last line end.
pub(crate) fn text(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    Ok(String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned())
}

/// Where `program` is on PATH, if it is.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![
        program
            .file_name()
            .unwrap_or(program.as_os_str())
            .to_string_lossy(),
    ];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    words
        .iter()
        .map(|word| {
            let plain = |c: char| c.is_alphanumeric() || "-_./=+:,@%".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.clone().into_owned()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_pasted() {
        let mut command = Command::new("/usr/bin/printf");
        command.args(["%s", "two words", "it's", ""]);
        assert_eq!(shown(&command), r"printf %s 'two words' 'it'\''s' ''");
    }

    #[test]
    fn a_failure_carries_standard_error() {
        let error = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"]));
        let message = error.map(drop).unwrap_err().to_string();
        assert!(
            message.contains("why") && message.contains('3'),
            "{message}"
        );
    }

    #[test]
    fn kept_lines_are_those_asked_for() {
        let mut command = Command::new("printf");
        command.args(["%s\\n", "one", "two", "three"]);
        let kept = run_keeping(&mut command, |line| line.starts_with('t')).unwrap();
        assert_eq!(kept, ["two", "three"]);
    }
}
