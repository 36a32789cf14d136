//! Rules for manifests and crate roots.

use std::path::Path;

use super::{Files, Finding, rust};
use crate::metadata::{Metadata, Package};

/// Crate roots that may hold unsafe code, with the reason.
const UNSAFE_ROOTS: &[(&str, &str)] = &[(
    "fuzz/fuzz_targets/",
    "the macro of libFuzzer exports a C function",
)];

/// Files of other crates that may, with the reason.
const UNSAFE_FILES: &[(&str, &str)] = &[
    (
        "crates/betree/src/lockstep/avx2.rs",
        "vector instructions on checked rows",
    ),
    (
        "crates/betree/src/lockstep/avx512.rs",
        "vector instructions on checked rows",
    ),
    (
        "crates/betree/src/lockstep/isa.rs",
        "calls what needs an instruction set where that was found",
    ),
    (
        "crates/fixcore/src/encoder/again.rs",
        "masked vector loads within a slice, stores within a checked length",
    ),
    (
        "crates/fixcore/src/encoder/eight.rs",
        "vector loads of constants",
    ),
    (
        "crates/fixcore/src/encoder/wide.rs",
        "masked vector loads within a slice, stores within a checked length",
    ),
    (
        "crates/fixcore/src/io/uring/ring.rs",
        "the kernel is handed memory, which is owned there until it lets go",
    ),
    (
        "crates/fixcore/src/scan/avx2.rs",
        "vector loads of whole arrays",
    ),
    (
        "crates/fixcore/src/scan/avx512bw.rs",
        "masked vector loads within a slice",
    ),
    (
        "crates/fixcore/src/scan/avx512vbmi2.rs",
        "masked vector loads within a slice, stores within a checked length",
    ),
    (
        "crates/fixcore/src/scan/block.rs",
        "stores within a length that is checked once",
    ),
    (
        "crates/fixcore/src/scan/scanner.rs",
        "calls what needs an instruction set where that was found",
    ),
    (
        "crates/fixcore/src/scan/sse2.rs",
        "vector loads of whole arrays",
    ),
    (
        "crates/fixcore/src/spsc/ring.rs",
        "memory that two threads share",
    ),
    (
        "crates/fixcore/tests/guard.rs",
        "pages that must not be touched, around messages",
    ),
    (
        "crates/fixcore/src/store/map.rs",
        "maps files that a lock keeps to one store",
    ),
];

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
    for (path, content) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        findings.extend(unlisted(path, content));
    }
    findings
}

/// A file that allows itself unsafe code and is not listed.
fn unlisted(path: &str, content: &str) -> Option<Finding> {
    let listed = UNSAFE_FILES.iter().any(|(other, _)| *other == path)
        || UNSAFE_ROOTS
            .iter()
            .any(|(prefix, _)| path.starts_with(prefix));
    // Built from halves, so that this file does not find itself.
    let allows = content.contains(concat!("unsafe_", "code,"))
        || content.contains(concat!("allow(unsafe_", "code"));
    (allows && !listed).then(|| Finding::error(path, "unsafe code in a file that is not listed"))
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
    // The root of a crate with listed files denies what these allow themselves.
    let source = path.strip_suffix("lib.rs").unwrap_or(path);
    let has_listed = UNSAFE_FILES
        .iter()
        .any(|(file, _)| file.starts_with(source));
    let denies = has_listed && rust::denies_unsafe(content);
    let needed = !excused && !denies && !rust::forbids_unsafe(content);
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
        let denies = "#![deny(unsafe_code)]\n";
        assert!(root_file("crates/a/src/lib.rs", denies).is_some());
        assert!(root_file("crates/betree/src/lib.rs", denies).is_none());
        assert!(root_file("crates/betree/src/lib.rs", "//! A.\n").is_some());
    }

    #[test]
    fn only_listed_files_may_allow_themselves_unsafe_code() {
        let allows = concat!("#![allow(unsafe_", "code, reason = \"speed\")]\n");
        assert!(unlisted("crates/a/src/b.rs", allows).is_some());
        assert!(unlisted("crates/betree/src/lockstep/avx2.rs", allows).is_none());
        assert!(unlisted("crates/a/src/b.rs", "//! A.\n").is_none());
    }
}
