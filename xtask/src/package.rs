//! Packages built from their own archives, as a registry would hand them out: whatever a package
//! needs from the work tree and does not carry is missing here.

use anyhow::{Result, bail};

use crate::{metadata, sh};

/// Packages every publishable crate, and hands back one line about them.
pub(crate) fn run() -> Result<String> {
    let workspace = metadata::workspace()?;
    let names: Vec<&str> = workspace
        .packages
        .iter()
        .filter(|package| package.is_published())
        .map(|package| package.name.as_str())
        .collect();
    if names.is_empty() {
        bail!("no package of the workspace may be published");
    }
    // The archives carry no profile. With that of the workspace, what is built already is reused.
    let mut command = sh::cargo(&["package"]);
    for setting in [
        "\"*\".opt-level=2",
        "\"*\".debug=false",
        "zstd-sys.opt-level=3",
    ] {
        command.args(["--config", &format!("profile.dev.package.{setting}")]);
    }
    for name in &names {
        command.args(["--package", name]);
    }
    let status = sh::text(sh::command("git").args(["status", "--porcelain"]))?;
    if !status.is_empty() {
        println!("the work tree has changes: packaging with --allow-dirty");
        command.arg("--allow-dirty");
    }
    sh::run(&mut command)?;
    Ok(names.join(", "))
}
