//! Every command on a small real job, under the address sanitizer.
//!
//! All Rust code is checked, on every instruction set that the machine has, and what C libraries do with
//! the heap. The jobs are those of README.md and `docs/`, and [`OTHERS`] for commands that appear in none of
//! them. A finding ends the process with code 99, which no command of perfkit uses.

use std::path::Path;
use std::{fs, io::Write as _};

use anyhow::{Context as _, Result, bail};

use crate::{ci, metadata, readme, sh};

/// The stable compiler has the sanitizer behind this variable.
const BOOTSTRAP: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");
/// Reading threads may still wait for a pipe when a process ends: their memory is not a leak.
const OPTIONS: &str = "exitcode=99:detect_leaks=0:abort_on_error=0";

/// Jobs of commands that no document runs, one shell line each.
const OTHERS: &[&str] = &[
    "perfkit tour -q > tour.txt",
    "perfkit completions bash > perfkit.bash",
    "mkdir pages && perfkit man --dir pages",
    "perfkit fix-bench scan --batches 2 --batch-size 50",
    "perfkit fix-bench parse --batches 2 --batch-size 50",
    "perfkit fix-bench encode --batches 2 --batch-size 50",
    "perfkit fix-bench shapes --isa each --shape order --shape 'sweep of bytes' --draws 9 --rounds 1",
    "perfkit fix-bench store --batches 2 --store-messages 2000 --store-dir .",
    "perfkit fix-bench spsc --batches 2 --batch-size 50",
    "perfkit fix-bench deferred --batches 2 --batch-size 50",
    "perfkit betree-bench ad --expressions 500 --buckets 4 --bucket-size 50",
    "perfkit betree-bench shapes --shape everything --draws 3 --expressions 200 --events 20",
];

/// Commands that must have a job.
const COMMANDS: &[&str] = &[
    "advise",
    "betree build",
    "betree explain",
    "betree generate",
    "betree match",
    "betree-bench",
    "compare",
    "completions",
    "compress",
    "compress-bench",
    "decompress",
    "env",
    "fix anonymize",
    "fix diff",
    "fix generate",
    "fix parse",
    "fix print",
    "fix replay",
    "fix stats",
    "fix store dump",
    "fix store stats",
    "fix store verify",
    "fix validate",
    "fix-bench",
    "man",
    "report",
    "stress",
    "tour",
    "unzip",
    "zip",
    "zip-bench",
];

/// Builds the binary with the sanitizer, runs every job, and hands back one line.
pub(crate) fn run() -> Result<String> {
    every_command_has_a_job()?;
    let target = metadata::workspace()?.target_directory.join("sanitize");
    let host = host()?;
    let mut build = sh::cargo(&["build", "--package", "perfkit", "--target", &host]);
    build
        .env(BOOTSTRAP.0, BOOTSTRAP.1)
        .env(
            "RUSTFLAGS",
            "-Zsanitizer=address -Cforce-frame-pointers=yes",
        )
        // The C libraries are built by another compiler, whose checks are not those of this runtime.
        .env("CFLAGS", "-fno-sanitize=address")
        .env("CXXFLAGS", "-fno-sanitize=address")
        .env("CARGO_TARGET_DIR", &target);
    sh::run(&mut build)?;
    let binaries = target.join(&host).join("debug");
    // The shell that runs a block passes the environment on.
    let options = tempfile::tempdir()?;
    let wrapped = wrap(&binaries.join("perfkit"), options.path())?;
    for job in OTHERS {
        let mut shell = sh::command("bash");
        shell
            .args(["-euo", "pipefail", "-c", job])
            .current_dir(options.path())
            .env("PATH", path_with(&wrapped)?);
        sh::run(&mut shell)?;
    }
    let blocks = readme::run_with(&wrapped, &[ci::TEST_COMMAND, ci::TOUR_COMMAND])?;
    Ok(format!("{} further jobs; {blocks}", OTHERS.len()))
}

/// A directory with a `perfkit` that runs the sanitized one and never lets a finding pass for an
/// exit code of its own: a finding is kept in a file, and all later runs fail.
fn wrap(binary: &Path, directory: &Path) -> Result<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let wrapped = directory.join("bin");
    fs::create_dir(&wrapped)?;
    let script = wrapped.join("perfkit");
    let found = directory.join("finding");
    let mut file = fs::File::create(&script)?;
    write!(
        file,
        "#!/usr/bin/env bash\n\
         [ -e {found:?} ] && {{ echo 'an earlier command had a finding' >&2; exit 99; }}\n\
         export ASAN_OPTIONS={OPTIONS}\n\
         ( exec -a \"$0\" {binary:?} \"$@\" )\n\
         code=$?\n\
         [ $code = 99 ] && touch {found:?}\n\
         exit $code\n"
    )?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(wrapped)
}

fn path_with(binaries: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::iter::once(binaries.to_owned());
    Ok(std::env::join_paths(
        first.chain(std::env::split_paths(&path)),
    )?)
}

/// The target that this compiler builds for.
fn host() -> Result<String> {
    let version = sh::text(sh::command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// Fails when a command is in no job.
fn every_command_has_a_job() -> Result<()> {
    let mut jobs = OTHERS.join("\n");
    for document in readme::documents()? {
        jobs += &fs::read_to_string(sh::root().join(document))?;
    }
    for command in COMMANDS {
        if !jobs.contains(&format!("perfkit {command} "))
            && !jobs.contains(&format!("perfkit {command}\n"))
        {
            bail!("no job of `perfkit {command}`: add one to OTHERS in xtask/src/sanitize.rs");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_command_has_a_job() {
        super::every_command_has_a_job().unwrap();
    }
}
