//! Rules for manifests and crate roots.

use std::path::Path;

use super::{Files, Finding, rust, tokens};
use crate::metadata::{Metadata, Package};

/// Crate roots that forbid no unsafe code, with the reason. They have none of their own all the same.
const UNSAFE_ROOTS: &[(&str, &str)] = &[(
    "fuzz/fuzz_targets/",
    "the macro of libFuzzer exports a C function",
)];

/// Files that have unsafe code, with the reason.
const UNSAFE_FILES: &[(&str, &str)] = &[
    (
        "crates/betree-c/src/attributes.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree-c/src/event.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree-c/src/failure.rs",
        "a C function for the last message",
    ),
    (
        "crates/betree-c/src/iterator.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree-c/src/list.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree-c/src/pointer.rs",
        "references from pointers of callers in C",
    ),
    (
        "crates/betree-c/src/search.rs",
        "C functions that check their pointers, reports in memory of C",
    ),
    (
        "crates/betree-c/src/subscription.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree-c/src/tree.rs",
        "C functions that check their pointers",
    ),
    (
        "crates/betree/src/simd/avx2.rs",
        "vector instructions on checked rows",
    ),
    (
        "crates/betree/src/simd/avx512.rs",
        "vector instructions on checked rows",
    ),
    (
        "crates/betree/src/simd/dispatch.rs",
        "calls what needs an instruction set where that was found",
    ),
    (
        "crates/fixcore/src/encoder/overwrite.rs",
        "masked vector loads within a slice, stores within a checked length",
    ),
    (
        "crates/fixcore/src/encoder/digits_ifma.rs",
        "vector loads of constants",
    ),
    (
        "crates/fixcore/src/encoder/avx512.rs",
        "masked vector loads within a slice, stores within a checked length",
    ),
    (
        "crates/fixcore/src/io/uring/ring.rs",
        "the kernel is handed memory, which is owned there until it lets go",
    ),
    (
        "crates/fixcore/src/io/uring/ring/pages.rs",
        "addresses within memory that is allocated by hand",
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
        "crates/fixcore/src/scan/avx512vbmi2/fields.rs",
        "aligned loads and stores of whole arrays, stores within a checked length",
    ),
    (
        "crates/fixcore/src/scan/block.rs",
        "stores within a length that is checked once",
    ),
    (
        "crates/fixcore/src/scan/fields.rs",
        "loads and stores within lengths that are checked once",
    ),
    (
        "crates/fixcore/src/scan/neon.rs",
        "vector loads of whole arrays",
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
        "crates/fixcore/src/separator/vbmi2.rs",
        "masked vector loads within a slice, stores into whole arrays",
    ),
    (
        "crates/fixcore/src/spsc/ring.rs",
        "memory that two threads share",
    ),
    (
        "crates/stdio/src/early.rs",
        "a function that the loader calls before the runtime, to look at descriptors",
    ),
    (
        "crates/zstdkit/src/dictionary/method.rs",
        "functions of libzstd that the safe bindings lack, over checked slices",
    ),
    (
        "crates/fixcore/tests/guard.rs",
        "pages that must not be touched, around messages",
    ),
    (
        "crates/fixcore/src/store/map.rs",
        "maps files that a lock keeps to one store",
    ),
    (
        "crates/zipstream/src/deflate/inflate/dispatch.rs",
        "calls what needs an instruction set where that was found",
    ),
    ("crates/betree-c/tests/threads.rs", "calls functions for C"),
    (
        "crates/fixsession/tests/no_allocation.rs",
        "an allocator that counts",
    ),
    (
        "crates/latency/tests/no_allocation.rs",
        "an allocator that counts",
    ),
];

/// The texts that go with every package.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Checks the manifests of the workspace and the roots of its crates.
pub(super) fn check(workspace: &Metadata, root: &Path, files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        findings.extend(manifest(package, root));
        findings.extend(licences(package, root, files));
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
    for (path, _) in UNSAFE_FILES {
        let content = files.get(*path).map_or("", String::as_str);
        findings.extend(listed_in_vain(path, content));
    }
    findings
}

/// Unsafe code, or an attribute that allows it, in a file that is not listed.
fn unlisted(path: &str, content: &str) -> Vec<Finding> {
    if UNSAFE_FILES.iter().any(|(other, _)| *other == path) {
        return Vec::new();
    }
    let found = |message: &'static str| {
        move |line_index| Finding::at(path, line_index, format!("{message} that is not listed"))
    };
    let code = tokens::unsafe_lines(content).into_iter();
    let code = code.map(found("unsafe code in a file"));
    let permits = tokens::permits_unsafe(content).into_iter();
    code.chain(permits.map(found("unsafe code is permitted in a file")))
        .collect()
}

/// A listed file that has no unsafe code, or is not there.
fn listed_in_vain(path: &str, content: &str) -> Option<Finding> {
    let message = "listed for unsafe code, and has none";
    tokens::unsafe_lines(content)
        .is_empty()
        .then(|| Finding::error(path, message))
}

/// What SECURITY.md says of unsafe code and the code does not: its table has a row for each crate, which
/// says `none` or names the listed files.
pub(super) fn security(files: &Files) -> Vec<Finding> {
    const DOCUMENT: &str = "SECURITY.md";
    let Some(text) = files.get(DOCUMENT) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (path, root) in files {
        let folder = path.strip_suffix("/src/lib.rs");
        let Some(folder) = folder.filter(|folder| folder.starts_with("crates/")) else {
            continue;
        };
        let start = format!("| `{folder}` |");
        let Some(row) = text.lines().find(|line| line.starts_with(&start)) else {
            findings.push(Finding::error(DOCUMENT, format!("no row for `{folder}`")));
            continue;
        };
        let says = |file: &str| row.contains(&format!("`{file}`"));
        let listed = UNSAFE_FILES.iter().filter_map(|(file, _)| {
            let file = file.strip_prefix(folder)?.strip_prefix('/')?;
            file.starts_with("src/").then_some(file)
        });
        let listed: Vec<&str> = listed.collect();
        for file in listed.iter().filter(|file| !says(file)) {
            let message = format!("the row of `{folder}` does not name `{file}`");
            findings.push(Finding::error(DOCUMENT, message));
        }
        for word in row.split('`').filter(|word| word.starts_with("src/")) {
            if !listed.contains(&word) {
                let message = format!("`{word}` of `{folder}` has no unsafe code");
                findings.push(Finding::error(DOCUMENT, message));
            }
        }
        if row.contains("| none |") != rust::forbids_unsafe(root) {
            let message = format!("the row of `{folder}` and its root do not agree on `none`");
            findings.push(Finding::error(DOCUMENT, message));
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

/// A package that is handed out without the text of a licence, which both licences ask for.
fn licences(package: &Package, root: &Path, files: &Files) -> Vec<Finding> {
    let place = relative(&package.manifest_path, root);
    let folder = place.strip_suffix("Cargo.toml").unwrap_or_default();
    let missing = LICENCES
        .iter()
        .filter(|name| package.is_published() && !files.contains_key(&format!("{folder}{name}")));
    missing
        .map(|name| {
            Finding::error(
                &place,
                format!("no `{name}` next to it: link to that of the root"),
            )
        })
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
    fn a_published_package_has_the_texts_of_its_licences() {
        let files: Files = [("a/LICENSE-MIT".to_owned(), "MIT".to_owned())].into();
        let found = licences(&package(WHOLE), Path::new("/r"), &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("LICENSE-APACHE"));
        let private = WHOLE.replace("\"publish\":null", "\"publish\":[]");
        assert!(licences(&package(&private), Path::new("/r"), &files).is_empty());
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
    fn only_listed_files_have_unsafe_code() {
        let code = "//! A.\nfn a() {\n    unsafe { b() }\n}\n";
        let allows = "//! A.\n#![allow(unsafe_code, reason = \"speed\")]\n";
        // Tests, examples and targets of a fuzzer are roots of their own, which forbid nothing.
        for path in [
            "crates/a/src/b.rs",
            "crates/a/tests/b.rs",
            "fuzz/fuzz_targets/a.rs",
            "bench-peers/a/src/main.rs",
        ] {
            let found = unlisted(path, code);
            assert_eq!(found.len(), 1, "{path}");
            assert_eq!(found[0].place, format!("{path}:3"));
            assert_eq!(unlisted(path, allows)[0].place, format!("{path}:2"));
            assert!(unlisted(path, "//! A.\n").is_empty());
        }
        let listed = "crates/betree/src/simd/avx2.rs";
        assert!(unlisted(listed, code).is_empty() && unlisted(listed, allows).is_empty());
    }

    #[test]
    fn no_file_is_listed_in_vain() {
        assert!(listed_in_vain("a.rs", "fn a() { unsafe { b() } }").is_none());
        assert!(listed_in_vain("a.rs", "// unsafe\n").is_some());
        assert!(listed_in_vain("a.rs", "").is_some());
        let mut paths: Vec<_> = UNSAFE_FILES.iter().map(|(path, _)| *path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), UNSAFE_FILES.len());
    }

    #[test]
    fn the_security_document_is_held_to_the_code() {
        let files = |table: &str| -> Files {
            [
                ("SECURITY.md", table),
                ("crates/a/src/lib.rs", "#![forbid(unsafe_code)]\n"),
                ("crates/stdio/src/lib.rs", "#![deny(unsafe_code)]\n"),
            ]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into()
        };
        let right = "| `crates/a` | none |\n| `crates/stdio` | `src/early.rs`: why |\n";
        assert!(security(&files(right)).is_empty());
        for wrong in [
            "",
            "| `crates/a` | none |\n| `crates/stdio` | none |\n",
            "| `crates/a` | `src/early.rs` |\n| `crates/stdio` | `src/early.rs` |\n",
        ] {
            assert_eq!(security(&files(wrong)).len(), 2, "{wrong}");
        }
    }
}
