//! Runs the commands of README.md and of the pages in `docs/`, so that they stay true.
//!
//! A fenced block marked `sh` runs in bash, with the built `perfkit` first on PATH, in a temporary
//! directory that all blocks of a document share; `sh,repo` runs at the root of the repository;
//! `sh,norun` is listed and not run. `# exit 4` at the end of a command asserts that exit code. A
//! `text,exact` block is compared with the output of the block above it: `…` stands for anything in
//! a line, and alone on a line for any number of lines. [`block`] parses documents, [`script`] turns a
//! block into a bash script.

mod block;
mod script;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context, Result, bail};

use crate::{metadata, sh};
use block::{Block, Place};

/// No block may keep a reader waiting longer.
const LIMIT_S: &str = "900";

/// Runs the blocks with the release build, except those whose commands are all in `done`, and returns
/// one line.
pub(crate) fn run(done: &[&str]) -> Result<String> {
    sh::run(&mut sh::cargo(&["build", "--release", "--bin", "perfkit"]))?;
    let binaries = metadata::workspace()?.target_directory.join("release");
    run_with(&binaries, done)
}

/// The same with the `perfkit` in a directory.
pub(crate) fn run_with(binaries: &Path, done: &[&str]) -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binaries = std::iter::once(binaries.to_owned());
    let path = std::env::join_paths(binaries.chain(std::env::split_paths(&path)))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for document in documents()? {
        let name = document.display().to_string();
        let text = fs::read_to_string(sh::root().join(&document))
            .with_context(|| format!("cannot read {name}"))?;
        let blocks = block::read(&text).with_context(|| name.clone())?;
        if blocks.iter().all(|block| block.place == Place::Nowhere) {
            bail!("{name} has no `sh` block to run");
        }
        let folder = tempfile::tempdir()?;
        for block in &blocks {
            let place = format!("{name}:{}", block.line);
            *counts
                .entry(run_block(block, &place, folder.path(), &path, done)?)
                .or_default() += 1;
        }
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(what, n)| format!("{n} {what}"))
        .collect();
    Ok(format!("blocks: {}", parts.join(", ")))
}

/// README.md and the pages of `docs/`, as paths from the root.
pub(crate) fn documents() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(sh::root().join("docs")).context("cannot read docs/")? {
        let page = Path::new("docs").join(entry?.file_name());
        if page.extension().is_some_and(|extension| extension == "md") {
            pages.push(page);
        }
    }
    pages.sort();
    pages.insert(0, PathBuf::from("README.md"));
    Ok(pages)
}

/// Runs one block, and returns what became of it.
fn run_block(
    block: &Block,
    place: &str,
    folder: &Path,
    path: &std::ffi::OsStr,
    done: &[&str],
) -> Result<&'static str> {
    let first = block.code.lines().next().unwrap_or_default();
    let commands: Vec<&str> = script::commands(&block.code);
    if block.place == Place::Nowhere {
        println!("{place}: not run, by its mark: {first}");
        return Ok("not run");
    }
    if !commands.is_empty() && commands.iter().all(|command| done.contains(command)) {
        println!("{place}: done by an earlier step: {}", commands.join("; "));
        return Ok("done earlier");
    }
    let root = sh::root();
    let here = match block.place {
        Place::Repository => &root,
        _ => folder,
    };
    let start = Instant::now();
    let output = execute(&script::bash(&block.code), here, path)
        .with_context(|| format!("{place}: {first}"))?;
    if let Some(wanted) = &block.exact {
        block::matches(wanted, &output).with_context(|| place.to_owned())?;
    }
    println!(
        "{place}: ok in {:.1} s: {first}",
        start.elapsed().as_secs_f64()
    );
    Ok("run")
}

/// Runs a script and returns what it printed, both streams in the order of a terminal.
fn execute(script: &str, folder: &Path, path: &std::ffi::OsStr) -> Result<String> {
    let (mut reader, writer) = io::pipe()?;
    let mut command = sh::command("timeout");
    command
        .args([LIMIT_S, "bash", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("PERFKIT_CONFIG", "")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut child = command.spawn().context("cannot start bash")?;
    // The command still owns copies of the pipe's end: reading would wait for them for ever.
    drop(std::mem::replace(&mut command, Command::new("true")));
    let mut output = Vec::new();
    io::Read::read_to_end(&mut reader, &mut output)?;
    let status = child.wait()?;
    let output = String::from_utf8_lossy(&output).into_owned();
    if !status.success() {
        bail!(
            "the block ended with {status}, after printing:\n{}",
            output.trim_end()
        );
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(code: &str) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        execute(&script::bash(code), folder.path(), &path)
    }

    #[test]
    fn a_block_runs_and_its_output_comes_back() {
        assert_eq!(bash("echo one\necho two >&2\n").unwrap(), "one\ntwo\n");
    }

    #[test]
    fn the_first_failure_ends_a_block() {
        let error = bash("echo before\nfalse\necho beyond\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("before") && !error.contains("beyond"),
            "{error}"
        );
        assert!(bash("false | cat\n").is_err());
        assert!(bash("echo $unset_variable\n").is_err());
    }

    #[test]
    fn what_a_block_leaves_behind_ends_with_it() {
        let start = Instant::now();
        assert!(bash("sleep 300 &\nfalse\n").is_err());
        assert_eq!(bash("sleep 300 &\nsleep 300 &\necho on\n").unwrap(), "on\n");
        assert!(start.elapsed().as_secs() < 100);
    }

    #[test]
    fn an_expected_exit_code_is_asserted() {
        assert_eq!(bash("(exit 4)  # exit 4\necho on\n").unwrap(), "on\n");
        let error = bash("true # exit 4\n").unwrap_err().to_string();
        assert!(
            error.contains("ended with 0") && error.contains("should be 4"),
            "{error}"
        );
        assert!(bash("sh -c \\\n  'exit 3'   # exit 3\n").is_ok());
        assert!(bash("sh -c 'exit 5' # exit 3\n").is_err());
    }
}
