//! Packages built from their own archives, as a registry would hand them out: whatever a package
//! needs from the work tree and does not carry is missing here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{metadata, sh};

/// Packages every publishable crate, and returns one line about them.
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
    // The archives contain no profile. With the profile of the workspace, dependencies that are already
    // built are reused. Our own packages are only built here and not run: optimising them would take minutes.
    let mut command = sh::cargo(&["package"]);
    for setting in dev_settings(&fs::read_to_string(sh::root().join("Cargo.toml"))?, &names)? {
        command.args(["--config", &setting]);
    }
    for name in &names {
        command.args(["--package", name]);
    }
    let status = sh::text(sh::command("git").args(["status", "--porcelain"]))?;
    if !status.is_empty() {
        println!("the work tree has changes: packaging with --allow-dirty");
        command.arg("--allow-dirty");
    }
    forget_unpacked(&names)?;
    forget_built(&workspace.target_directory, &names)?;
    sh::run(&mut command)?;
    Ok(names.join(", "))
}

/// The settings that a manifest has for packages in the dev profile, but for our `own`, as values of `--config`.
fn dev_settings(manifest: &str, own: &[&str]) -> Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse().context("Cargo.toml")?;
    let packages = manifest
        .get("profile")
        .and_then(|profiles| profiles.get("dev")?.get("package")?.as_table())
        .context("Cargo.toml has no [profile.dev.package]")?;
    let mut settings = Vec::new();
    for (package, values) in packages {
        if own.contains(&package.as_str()) {
            continue;
        }
        for (name, value) in values.as_table().into_iter().flatten() {
            let value = match value {
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(switch) => switch.to_string(),
                other => bail!("profile.dev.package.{package}.{name}: unexpected {other:?}"),
            };
            settings.push(format!("profile.dev.package.\"{package}\".{name}={value}"));
        }
    }
    Ok(settings)
}

/// Removes what cargo unpacked for an earlier run. While it verifies, it takes our own packages from
/// a registry of the moment, but does not unpack a version again that it has from the same folder.
fn forget_unpacked(names: &[&str]) -> Result<()> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let Some(sources) = home.map(|home| home.join("registry/src")) else {
        return Ok(());
    };
    let Ok(registries) = fs::read_dir(&sources) else {
        return Ok(());
    };
    for registry in registries {
        let registry = registry?;
        // A registry in a folder has no host in front of the hash.
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for package in fs::read_dir(registry.path())? {
            let package = package?;
            let unpacked = package.file_name().to_string_lossy().into_owned();
            if names.iter().any(|name| is_version_of(&unpacked, name)) {
                fs::remove_dir_all(package.path())?;
            }
        }
    }
    Ok(())
}

/// Has cargo build our own packages again: what comes from a registry it takes to be the same for
/// ever.
fn forget_built(target: &Path, names: &[&str]) -> Result<()> {
    let Ok(fingerprints) = fs::read_dir(target.join("debug/.fingerprint")) else {
        return Ok(());
    };
    for fingerprint in fingerprints {
        let fingerprint = fingerprint?;
        let name = fingerprint.file_name().to_string_lossy().into_owned();
        let package = name.rsplit_once('-').map_or("", |(package, _)| package);
        if names.contains(&package) {
            fs::remove_dir_all(fingerprint.path())?;
        }
    }
    Ok(())
}

/// Whether a folder is named like a version of this package.
fn is_version_of(folder: &str, name: &str) -> bool {
    let version = folder
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('-'));
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_packages_are_passed_on() {
        let manifest = "[profile.dev.package.\"*\"]\ndebug = false\n\
                        [profile.dev.package.zstd-sys]\nopt-level = 3\n\
                        [profile.dev.package.zstdkit]\nopt-level = 1\n";
        assert_eq!(
            dev_settings(manifest, &["zstdkit"]).unwrap(),
            [
                "profile.dev.package.\"*\".debug=false",
                "profile.dev.package.\"zstd-sys\".opt-level=3"
            ]
        );
        assert!(dev_settings("[profile.dev]\ndebug = true\n", &[]).is_err());
    }

    #[test]
    fn versions_of_our_packages_are_told_from_others() {
        assert!(is_version_of("zstdkit-0.1.0", "zstdkit"));
        assert!(!is_version_of("zstdkit-0.1.0", "zstd"));
        assert!(!is_version_of("zstdkit-more-0.1.0", "zstdkit"));
        assert!(!is_version_of("zstdkit", "zstdkit"));
    }
}
