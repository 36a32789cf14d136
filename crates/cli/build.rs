//! Records which source and which compiler this binary was made from, for its reports.
//!
//! All of it is best effort: outside of a git checkout (in a package from the registry) the commit is
//! unknown.

use std::process::Command;

/// Without a lock it writes nothing, which the next build would take for a change.
const STATUS: &[&str] = &[
    "--no-optional-locks",
    "status",
    "--porcelain",
    "--untracked-files=no",
];

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Not under `PERFKIT_`: cargo passes these on to tests, where defaults of flags are read from such variables.
fn set(name: &str, value: Option<String>) {
    println!("cargo::rustc-env={name}={}", value.unwrap_or_default());
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A checkout of this very project has the workspace manifest two levels up; a package that was
    // unpacked inside some other repository must not take that repository's commit for its own.
    let in_checkout = std::path::Path::new("../../xtask/Cargo.toml").exists();
    let commit = in_checkout
        .then(|| output("git", &["rev-parse", "--short=12", "HEAD"]))
        .flatten();
    let dirty = commit
        .as_ref()
        .and_then(|_| output("git", STATUS))
        .map(|changes| (!changes.is_empty()).to_string());
    if commit.is_some() {
        // Not simply below `.git`, which in a worktree is a file: what is missing has always changed.
        for name in ["HEAD", "index"] {
            if let Some(path) = output("git", &["rev-parse", "--git-path", name]) {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    set("BUILT_COMMIT", commit);
    set("BUILT_DIRTY", dirty);
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set("BUILT_RUSTC", output(&rustc, &["--version"]));
    set("BUILT_TARGET", std::env::var("TARGET").ok());
    set("BUILT_PROFILE", profile());
}

/// The build profile. `PROFILE` says `release` for every profile that inherits from it, so the name
/// comes from the path of `OUT_DIR`: `target/dist/build/perfkit-0123456789abcdef/out`.
fn profile() -> Option<String> {
    let coarse = std::env::var("PROFILE").ok()?;
    let out = std::env::var_os("OUT_DIR");
    let named = out.as_deref().and_then(|out| {
        let folder = std::path::Path::new(out).ancestors().nth(3)?;
        folder.file_name()?.to_str().map(str::to_owned)
    });
    Some(named.filter(|_| coarse == "release").unwrap_or(coarse))
}
