//! Builds what is measured, and states which build it is.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::LAST_CPU;
use crate::record::Made;
use crate::{metadata, sh};

/// The build of perfkit at `perfkit`.
pub(super) fn made(perfkit: &Path) -> Result<Made> {
    let version = sh::text(sh::command(perfkit).arg("--version"))?;
    let version = version.lines().next().unwrap_or_default().to_owned();
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    Made::now(Some(version), vec![rustc])
}

/// Name and version of a library in the text of a lock file.
pub(super) fn locked(lock: &str, name: &str) -> Option<String> {
    let (_, behind) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(format!("{name} {}", behind.split('"').next()?))
}

/// What an example of a package says as JSON, which it writes where `--json` tells it to, and the build of
/// it. It runs on one processor where it can be pinned.
pub(super) fn measured_by_example(
    package: &str,
    features: &str,
    example: &str,
    words: &[&str],
) -> Result<(Value, Made)> {
    let [profile, name] = metadata::MEASURED;
    let build = [
        "build",
        profile,
        name,
        "--package",
        package,
        "--example",
        example,
    ];
    sh::run(sh::cargo(&build).args(["--features", features]))?;
    let program = metadata::measured_binaries()?
        .join("examples")
        .join(example);
    let folder = tempfile::tempdir()?;
    let json = folder.path().join("results.json");
    let mut command = match sh::find("taskset") {
        Some(taskset) => {
            let mut command = sh::command(taskset);
            command.args(["-c", LAST_CPU]).arg(&program);
            command
        }
        None => sh::command(&program),
    };
    sh::run(command.arg("--json").arg(&json).args(words))?;
    let lock = fs::read_to_string(sh::root().join("Cargo.lock"))?;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let made = Made::now(locked(&lock, package), vec![rustc])?;
    Ok((serde_json::from_str(&fs::read_to_string(json)?)?, made))
}

pub(super) fn is_built() -> bool {
    std::env::var_os("PERFKIT_BUILT").is_some()
}

/// Builds the binary that is measured. Where `PERFKIT_BUILT` is set, what was built before is taken as
/// it is: the build takes minutes, and a quick look at a harness need not.
pub(super) fn build_perfkit() -> Result<()> {
    if is_built() {
        return Ok(());
    }
    let mut cargo = sh::cargo(&["build", "--bin", "perfkit"]);
    sh::run(cargo.args(metadata::MEASURED))
}
