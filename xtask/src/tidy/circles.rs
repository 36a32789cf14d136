//! Circles: files of one crate that import each other, directly or by way of others.
//!
//! A file imports the one that has what its paths name; a name that is handed on (`pub use`) is of the file
//! that has it. What modules above a file have is no import: a file is a part of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::paths::{CodePath, paths};
use super::{Files, Finding};

/// How often a name may be handed on.
const HANDED_ON_MAX: usize = 8;

type Module<'c> = Vec<&'c str>;

/// The files of a crate by their modules, with the paths in each.
type Crate<'c> = BTreeMap<Module<'c>, (&'c str, Vec<CodePath<'c>>)>;

/// Finds a circle for each file that is in one, if none that was found has it already.
pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Crate<'_>> = BTreeMap::new();
    for (path, content) in files {
        if let Some((root, module)) = place(path) {
            let file = (path.as_str(), paths(content));
            // Of a library and a program in one folder, the library comes first.
            crates
                .entry(root)
                .or_default()
                .entry(module)
                .or_insert(file);
        }
    }
    crates.values().flat_map(circles).collect()
}

/// The folder of a crate's root and the module that a file is, unless it has tests only.
fn place(path: &str) -> Option<(&str, Module<'_>)> {
    let at = path.find("/src/")? + "/src/".len();
    let (mut root, mut rest) = (&path[..at], path[at..].strip_suffix(".rs")?);
    if let Some(program) = rest.strip_prefix("bin/") {
        let name = program.split_once('/')?.0;
        root = &path[..at + "bin/".len() + name.len()];
        rest = &program[name.len() + 1..];
    }
    let mut module: Module<'_> = rest.split('/').collect();
    if module.contains(&"tests") {
        return None;
    }
    if module.last() == Some(&"mod") || matches!(module[..], ["lib" | "main"]) {
        module.pop();
    }
    Some((root, module))
}

fn circles(files: &Crate<'_>) -> Vec<Finding> {
    let mut imports: BTreeMap<&Module<'_>, BTreeSet<&Module<'_>>> = BTreeMap::new();
    for (module, (_, paths)) in files {
        let found = paths
            .iter()
            .filter_map(|path| has(files, &full(files, module, path, 0)?, 0));
        let others = found.filter(|other| !module.starts_with(other));
        imports.insert(module, others.collect());
    }
    let (mut known, mut findings) = (BTreeSet::new(), Vec::new());
    for module in files.keys() {
        if known.contains(module) {
            continue;
        }
        if let Some(circle) = shortest(&imports, module) {
            known.extend(circle.iter().copied());
            let names = circle
                .iter()
                .chain([&module])
                .map(|module| files[*module].0);
            let message = format!(
                "a circle of imports: {}",
                names.collect::<Vec<_>>().join(" -> ")
            );
            findings.push(Finding::error(files[module].0, message));
        }
    }
    findings
}

/// The shortest way from a file back to it.
fn shortest<'m, 'c>(
    imports: &BTreeMap<&'m Module<'c>, BTreeSet<&'m Module<'c>>>,
    start: &'m Module<'c>,
) -> Option<Vec<&'m Module<'c>>> {
    let mut from: BTreeMap<&Module<'c>, &'m Module<'c>> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for other in imports.get(module)? {
            if *other == start {
                let mut way = vec![module];
                way.extend(std::iter::successors(from.get(module), |before| {
                    from.get(**before)
                }));
                way.reverse();
                return Some(way);
            }
            if !from.contains_key(*other) {
                from.insert(other, module);
                queue.push_back(other);
            }
        }
    }
    None
}

/// A path of a file from the root of its crate; `None` if it leads out of it.
fn full<'c>(
    files: &Crate<'c>,
    module: &[&'c str],
    path: &CodePath<'c>,
    depth: usize,
) -> Option<Module<'c>> {
    let (first, rest) = path.parts.split_first()?;
    let mut base = module.to_vec();
    match *first {
        "crate" => base.clear(),
        "self" => {}
        "super" => _ = base.pop(),
        name => {
            base.push(name);
            if !files.contains_key(&base) {
                // What the file imports under this name, unless this is where it does.
                let (_, paths) = files.get(module)?;
                let import = paths.iter().find(|path| path.name == Some(name));
                let import = import.filter(|_| path.name.is_none() && depth < HANDED_ON_MAX)?;
                base = full(files, module, import, depth + 1)?;
            }
        }
    }
    for part in rest {
        match *part {
            "super" => _ = base.pop(),
            part => base.push(part),
        }
    }
    Some(base)
}

/// The file that has what a full path names; `None` for a module itself, whose parts are named elsewhere.
fn has<'m, 'c>(files: &'m Crate<'c>, path: &[&'c str], depth: usize) -> Option<&'m Module<'c>> {
    let end = (0..=path.len())
        .rev()
        .find(|end| files.contains_key(&path[..*end]))?;
    let (module, (_, paths)) = files.get_key_value(&path[..end])?;
    let name = path.get(end)?;
    let handed_on = paths.iter().find(|path| path.name == Some(*name));
    if let Some(import) = handed_on.filter(|_| depth < HANDED_ON_MAX)
        && let Some(mut there) = full(files, module, import, 0)
        && there != path[..=end]
    {
        there.extend(&path[end + 1..]);
        return has(files, &there, depth + 1);
    }
    Some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files = files
            .iter()
            .map(|(path, text)| (format!("crates/a/src/{path}"), (*text).to_owned()));
        let findings = check(&files.collect());
        findings
            .into_iter()
            .map(|finding| finding.message.replace("crates/a/src/", ""))
            .collect()
    }

    #[test]
    fn circles_are_found_through_names_that_are_handed_on() {
        let circle = ["a circle of imports: b.rs -> c/d.rs -> b.rs"];
        for (uses, calls) in [
            ("use crate::c::D;", "use crate::b;\nfn e() { b::f() }"),
            ("use crate::c::{self, E};", "fn e() { crate::b::f() }"),
            ("use crate::c::d::{E, F as G};", "use super::super::b::{H};"),
            ("use crate::c; fn h() { c::E::new() }", "use crate::f;"),
        ] {
            let files = [
                ("lib.rs", "pub use b::f;"),
                ("b.rs", uses),
                ("c/mod.rs", "pub use d::{D, E};"),
                ("c/d.rs", calls),
            ];
            assert_eq!(found(&files), circle, "{uses} {calls}");
        }
    }

    #[test]
    fn what_is_above_a_file_and_what_tests_use_is_no_import() {
        let files = [
            ("lib.rs", "mod b; pub use b::B; pub struct C;"),
            (
                "b.rs",
                "use crate::C; #[cfg(test)] mod tests { use crate::d::D; }",
            ),
            (
                "d.rs",
                "use crate::b::B; // crate::d::D\n#[cfg(test)]\nuse crate::e::E;",
            ),
            ("e.rs", "use crate::d::D;"),
            ("d/tests.rs", "use crate::d::D;"),
        ];
        assert!(found(&files).is_empty());
    }
}
