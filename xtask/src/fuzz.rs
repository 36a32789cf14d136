//! Running the fuzz targets: by cargo-fuzz where it is installed, else as property tests.
//!
//! The targets are in `fuzz/`; both ways run the same bodies.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::sh;

/// How long each target runs as a property test, in the environment.
pub(crate) const SECONDS: &str = "PERFKIT_FUZZ_SECONDS";

pub(crate) fn has_cargo_fuzz() -> bool {
    sh::find("cargo-fuzz").is_some()
}

/// Runs every target for `seconds`, and returns one line about it.
pub(crate) fn run(seconds: u32) -> Result<String> {
    let targets = targets()?;
    if !has_cargo_fuzz() {
        println!("cargo-fuzz is not installed: the same targets run as property tests instead");
        return properties(targets.len(), seconds);
    }
    for target in &targets {
        // New finds go to a directory of their own: the committed corpus stays as it is.
        let finds = format!("fuzz/artifacts/corpus/{target}");
        fs::create_dir_all(sh::root().join(&finds))?;
        let seeds = format!("fuzz/corpus/{target}");
        let mut command = cargo_fuzz(&["run", target, &finds, &seeds]);
        command.args(["--", &format!("-max_total_time={seconds}"), "-timeout=10"]);
        command.args(["-rss_limit_mb=2048", "-print_funcs=0", "-verbosity=0"]);
        sh::run(&mut command).with_context(|| format!("fuzz target {target}"))?;
    }
    Ok(format!("{} targets, {seconds} s each", targets.len()))
}

/// cargo-fuzz needs unstable flags of the compiler, and no link-time optimisation over
/// instrumented code. C is instrumented too, but for the scopes of locals: gcc marks a table of
/// constants in libzstd as a local that has ended, and every call of it would be a find.
fn cargo_fuzz(args: &[&str]) -> Command {
    let mut command = sh::cargo(&["fuzz"]);
    command
        .args(&args[..1])
        .args(["--features", "libfuzzer", "--fuzz-dir", "fuzz"])
        .args(&args[1..])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .env("CFLAGS", "-fno-sanitize-address-use-after-scope");
    command
}

fn properties(targets: usize, seconds: u32) -> Result<String> {
    let mut command = sh::cargo(&["test", "--workspace", "--test", "smoke"]);
    command.env(SECONDS, seconds.to_string());
    sh::run(&mut command)?;
    Ok(format!(
        "{targets} targets as property tests, {seconds} s each"
    ))
}

/// The names of the targets: the files in `fuzz/fuzz_targets`.
fn targets() -> Result<Vec<String>> {
    let folder = sh::root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(
                path.file_stem()
                    .map(Path::new)
                    .map(|stem| stem.display().to_string()),
            );
        }
    }
    names.sort();
    if names.is_empty() {
        bail!("{} has no targets", folder.display());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_target_has_a_committed_corpus() {
        for target in super::targets().unwrap() {
            let corpus = crate::sh::root().join("fuzz/corpus").join(&target);
            let files = std::fs::read_dir(&corpus)
                .map(Iterator::count)
                .unwrap_or_default();
            assert!(files > 0, "fuzz/corpus/{target} is empty");
        }
    }
}
