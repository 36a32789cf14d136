//! What `cargo metadata` says, as far as the chores need it.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::sh;

/// The workspace and, unless it was read without dependencies, all that it resolves to.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) target_directory: PathBuf,
    pub(crate) resolve: Option<Resolve>,
}

/// The build profile of everything that is measured, as an argument of cargo.
pub(crate) const MEASURED: [&str; 2] = ["--profile", "dist"];

/// Where cargo puts the programs that are built with [`MEASURED`].
pub(crate) fn measured_binaries() -> Result<PathBuf> {
    Ok(workspace()?.target_directory.join(MEASURED[1]))
}

/// One package.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) readme: Option<PathBuf>,
    pub(crate) rust_version: Option<String>,
    /// Where it comes from; `None` is a path in the workspace.
    pub(crate) source: Option<String>,
    /// Registries that it may be published to: an empty list is `publish = false`.
    pub(crate) publish: Option<Vec<String>>,
    pub(crate) targets: Vec<Target>,
    pub(crate) dependencies: Vec<Dependency>,
}

impl Package {
    /// Whether it may be published at all.
    pub(crate) fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }
}

/// One thing that a package builds.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

/// One line of a manifest's dependencies.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    pub(crate) path: Option<PathBuf>,
}

/// The resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// A package in the resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) dependencies: Vec<String>,
}

/// The packages of the workspace alone. Needs no network.
pub(crate) fn workspace() -> Result<Metadata> {
    read(&["metadata", "--format-version", "1", "--no-deps"])
}

/// Everything that the workspace resolves to with all features on one target.
pub(crate) fn resolved(target: &str) -> Result<Metadata> {
    read(&[
        "metadata",
        "--format-version",
        "1",
        "--all-features",
        "--filter-platform",
        target,
    ])
}

fn read(args: &[&str]) -> Result<Metadata> {
    let text = sh::text(&mut sh::cargo(args))?;
    serde_json::from_str(&text).context("cannot read the answer of cargo metadata")
}
