//! The least versions that manifests allow: those of `Cargo.lock`, with which all tests run. An older one may lack what
//! is used here, and nothing would have tried it.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::{Files, Finding};

const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";

#[derive(Deserialize)]
struct Manifest {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    dependencies: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
}

/// Dependencies whose least version is not the one that is locked.
pub(super) fn check(files: &Files) -> Vec<Finding> {
    let (Some(manifest), Some(lock)) = (files.get(MANIFEST), files.get(LOCK)) else {
        return Vec::new();
    };
    match (toml::from_str(manifest), toml::from_str(lock)) {
        (Ok(manifest), Ok(lock)) => compare(&manifest, &lock),
        (Err(error), _) => vec![Finding::error(MANIFEST, error.to_string())],
        (_, Err(error)) => vec![Finding::error(LOCK, error.to_string())],
    }
}

fn compare(manifest: &Manifest, lock: &Lock) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, value) in &manifest.workspace.dependencies {
        let key = |key: &str| value.get(key).and_then(Value::as_str);
        if key("path").is_some() {
            continue;
        }
        let package = key("package").unwrap_or(name);
        let least = value.as_str().or_else(|| key("version")).unwrap_or("none");
        let locked = lock.package.iter().filter(|locked| locked.name == package);
        // What is behind `+` does not count in a requirement.
        let locked = locked.filter_map(|locked| locked.version.split('+').next());
        let locked: Vec<&str> = locked.collect();
        if !locked.contains(&least) {
            let message = format!(
                "the least version of {name} is {least}, and what is tested is {}: state that",
                locked.join(" or ")
            );
            findings.push(Finding::error(MANIFEST, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dependency: &str) -> Vec<String> {
        let manifest = format!("[workspace.dependencies]\n{dependency}\n");
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.2.3+4\"\n\
                    [[package]]\nname = \"a\"\nversion = \"2.0.0\"\n";
        let files: Files = [(MANIFEST, manifest.as_str()), (LOCK, lock)]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
        let findings = check(&files).into_iter();
        findings.map(|finding| finding.message).collect()
    }

    #[test]
    fn the_least_version_is_one_that_is_locked() {
        for right in [
            "a = \"1.2.3\"",
            "a = { version = \"2.0.0\", features = [] }",
            "b = { package = \"a\", version = \"1.2.3\" }",
            "b = { path = \"b\", version = \"0.1.0\" }",
        ] {
            assert_eq!(found(right), [""; 0], "{right}");
        }
        for wrong in [
            "a = \"1.2\"",
            "a = { version = \"2.0.1\" }",
            "a = { git = \"x\" }",
            "c = \"1.0.0\"",
        ] {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
    }
}
