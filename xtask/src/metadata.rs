//! What `cargo metadata` says, as far as the chores need it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
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
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

impl Package {
    /// Whether it may be published at all.
    pub(crate) fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }

    /// The names of its integration tests.
    pub(crate) fn integration_tests(&self) -> impl Iterator<Item = &str> {
        let tests = self.targets.iter();
        tests
            .filter(|target| target.kind.iter().any(|kind| kind == "test"))
            .map(|target| target.name.as_str())
    }

    /// Those of them whose manifest says `harness = false`.
    pub(crate) fn tests_with_own_harness(&self) -> Result<BTreeSet<String>> {
        let path = &self.manifest_path;
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: toml::Table = (text.parse()).with_context(|| path.display().to_string())?;
        let tests = manifest.get("test").and_then(toml::Value::as_array);
        let own = tests
            .into_iter()
            .flatten()
            .filter(|test| test.get("harness").and_then(toml::Value::as_bool) == Some(false));
        Ok(own
            .filter_map(|test| Some(test.get("name")?.as_str()?.to_owned()))
            .collect())
    }
}

/// One thing that a package builds.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
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
