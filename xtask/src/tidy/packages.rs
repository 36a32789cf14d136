//! Rules for manifests and crate roots.

use std::path::Path;

use super::{Files, Finding, rust};
use crate::metadata::{Metadata, Package};

/// Crate roots that may hold unsafe code, with the reason.
const UNSAFE_ROOTS: &[(&str, &str)] = &[(
    "fuzz/fuzz_targets/",
    "the macro of libFuzzer exports a C function",
)];

/// Checks the manifests of the workspace and the roots of its crates.
pub(super) fn check(workspace: &Metadata, root: &Path, files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        findings.extend(manifest(package, root));
        for target in &package.targets {
            let is_root = target
                .kind
                .iter()
                .any(|kind| kind == "lib" || kind == "bin");
            let path = relative(&target.src_path, root);
            if is_root {
                findings.extend(root_file(
                    &path,
                    files.get(&path).map_or("", String::as_str),
                ));
            }
        }
    }
    findings
}

fn manifest(package: &Package, root: &Path) -> Vec<Finding> {
    let place = relative(&package.manifest_path, root);
    let mut missing = Vec::new();
    if package
        .description
        .as_ref()
        .is_none_or(|text| text.trim().is_empty())
    {
        missing.push("description");
    }
    if package.license.is_none() {
        missing.push("license");
    }
    if package.rust_version.is_none() {
        missing.push("rust-version");
    }
    if package.is_published() && package.readme.is_none() {
        missing.push("readme");
    }
    missing
        .into_iter()
        .map(|key| Finding::error(&place, format!("no `{key}`")))
        .collect()
}

fn root_file(path: &str, content: &str) -> Option<Finding> {
    let excused = UNSAFE_ROOTS
        .iter()
        .any(|(prefix, _)| path.starts_with(prefix));
    let needed = !excused && !rust::forbids_unsafe(content);
    needed.then(|| Finding::error(path, "a crate root without #![forbid(unsafe_code)]"))
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(json: &str) -> Package {
        serde_json::from_str(json).unwrap()
    }

    const WHOLE: &str = r#"{"id":"a","name":"a","version":"1.0.0","manifest_path":"/r/a/Cargo.toml",
        "description":"A.","license":"MIT","readme":"README.md","rust_version":"1.88","source":null,
        "publish":null,"targets":[],"dependencies":[]}"#;

    #[test]
    fn a_whole_manifest_passes() {
        assert!(manifest(&package(WHOLE), Path::new("/r")).is_empty());
    }

    #[test]
    fn each_missing_key_is_named() {
        let bare = WHOLE
            .replace("\"A.\"", "\" \"")
            .replace("\"MIT\"", "null")
            .replace("\"README.md\"", "null")
            .replace("\"1.88\"", "null");
        let found = manifest(&package(&bare), Path::new("/r"));
        let names: Vec<_> = found.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            names,
            [
                "no `description`",
                "no `license`",
                "no `rust-version`",
                "no `readme`"
            ]
        );
        assert!(found.iter().all(|finding| finding.place == "a/Cargo.toml"));
    }

    #[test]
    fn an_unpublished_package_needs_no_readme() {
        let private = WHOLE
            .replace("\"README.md\"", "null")
            .replace("\"publish\":null", "\"publish\":[]");
        assert!(manifest(&package(&private), Path::new("/r")).is_empty());
    }

    #[test]
    fn only_listed_roots_may_be_unsafe() {
        assert!(root_file("crates/a/src/lib.rs", "//! A.\n").is_some());
        assert!(root_file("crates/a/src/lib.rs", "#![forbid(unsafe_code)]\n").is_none());
        assert!(root_file("fuzz/fuzz_targets/a.rs", "//! A.\n").is_none());
    }
}
