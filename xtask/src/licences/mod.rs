//! The dependency tree against `deny.toml`, offline: licences, duplicate versions, bans,
//! wildcards and sources. An equal of `cargo deny check licenses bans sources` for the keys that
//! our `deny.toml` uses; a key that this does not know is refused, not skipped.
//!
//! [`rules`] decides; this file reads the tree and prints. Advisories need a database that is
//! fetched: only the real `cargo deny` can check them.

mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail};

use crate::metadata::{self, Metadata, Package};
use crate::sh;
use rules::{Bans, Rules, bans_of, duplicates, licence_of, source_of};

/// Runs all checks that are possible here, and returns one line about them.
pub(crate) fn run() -> Result<String> {
    let path = sh::root().join("deny.toml");
    let text = fs::read_to_string(&path).context("cannot read deny.toml")?;
    let rules: Rules = toml::from_str(&text).context("cannot understand deny.toml")?;
    if !rules.graph.all_features {
        bail!("deny.toml: all-features = false is not supported here");
    }

    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    let mut findings = BTreeSet::new();
    for target in &rules.graph.targets {
        let found = reachable(metadata::resolved(target)?);
        findings.extend(duplicates(&found, &rules.bans));
        packages.extend(
            found
                .into_iter()
                .map(|package| (package.id.clone(), package)),
        );
    }
    for package in packages.values() {
        findings.extend(licence_of(package, &rules.licenses));
        findings.extend(source_of(package, &rules.sources));
        findings.extend(bans_of(package, &rules.bans));
    }
    report_skips(&rules.bans, &packages);

    for finding in &findings {
        println!("error: {finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings against deny.toml", findings.len());
    }
    let licences: BTreeSet<_> = packages
        .values()
        .filter_map(|p| p.license.as_deref())
        .collect();
    println!(
        "licences, duplicates, bans and sources of {} packages on {} targets: ok ({} different expressions)",
        packages.len(),
        rules.graph.targets.len(),
        licences.len()
    );
    let advisories = cargo_deny()?;
    println!("{advisories}");
    Ok(format!("{} packages; {advisories}", packages.len()))
}

/// The packages that the resolved graph really uses.
fn reachable(metadata: Metadata) -> Vec<Package> {
    let nodes = metadata
        .resolve
        .map(|resolve| resolve.nodes)
        .unwrap_or_default();
    let edges: BTreeMap<&str, &[String]> = nodes
        .iter()
        .map(|node| (node.id.as_str(), node.dependencies.as_slice()))
        .collect();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    let mut queue: Vec<&str> = metadata
        .workspace_members
        .iter()
        .map(String::as_str)
        .collect();
    while let Some(id) = queue.pop() {
        if wanted.insert(id) {
            queue.extend(
                edges
                    .get(id)
                    .into_iter()
                    .flat_map(|ids| ids.iter())
                    .map(String::as_str),
            );
        }
    }
    metadata
        .packages
        .iter()
        .filter(|p| wanted.contains(p.id.as_str()))
        .cloned()
        .collect()
}

/// Says which entries of `skip` are no longer needed: they would hide the next duplicate.
fn report_skips(rules: &Bans, packages: &BTreeMap<String, Package>) {
    for skip in &rules.skip {
        if !packages.values().any(|package| skip.matches(package)) {
            println!(
                "warning: deny.toml skips {}, which is not in the tree",
                skip.name
            );
        }
    }
}

/// Runs the real tool if it is installed. Returns the line about advisories.
fn cargo_deny() -> Result<&'static str> {
    if sh::find("cargo-deny").is_none() {
        return Ok("advisories: not checked, cargo-deny is not installed");
    }
    sh::run(&mut sh::cargo(&[
        "deny",
        "--offline",
        "check",
        "licenses",
        "bans",
        "sources",
    ]))?;
    let mut fetch = sh::command("timeout");
    fetch.args(["60", "cargo", "deny", "fetch", "db"]);
    if sh::output(&mut fetch).is_err() {
        return Ok("advisories: not checked, database not reachable");
    }
    sh::run(&mut sh::cargo(&["deny", "check", "advisories"]))?;
    Ok("advisories: checked")
}
