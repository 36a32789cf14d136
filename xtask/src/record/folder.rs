//! The folder of records: which there are, and what is wrong with them. That each Markdown file is what
//! its JSON gives is checked with the other generated files.

use std::collections::BTreeMap;

use super::{FOLDER, Record};

/// The names of the records among these paths.
pub(crate) fn names<'p>(paths: impl Iterator<Item = &'p String>) -> Vec<&'p str> {
    paths
        .filter_map(|path| in_folder(path)?.strip_suffix(".json"))
        .collect()
}

fn in_folder(path: &str) -> Option<&str> {
    let name = path.strip_prefix(FOLDER)?.strip_prefix('/')?;
    (!name.contains('/')).then_some(name)
}

/// What is wrong, each with the path of its file, in the files of a tree by path.
pub(crate) fn check(files: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in files {
        let Some(name) = in_folder(path) else {
            continue;
        };
        if let Some(stem) = name.strip_suffix(".md") {
            if !files.contains_key(&format!("{FOLDER}/{stem}.json")) {
                let message = format!(
                    "there is no {stem}.json: a record is its JSON, and `cargo xtask codegen` writes \
                     the .md from it; measure again with the command that bench-peers/README.md names"
                );
                found.push((path.clone(), message));
            }
        } else if name.ends_with(".json") {
            let faults = match Record::parse(text) {
                Ok(record) => record.faults(),
                Err(error) => vec![format!("{error:#}")],
            };
            let help = "mend the JSON, then run `cargo xtask codegen`";
            found.extend(
                faults
                    .into_iter()
                    .map(|fault| (path.clone(), format!("{fault}: {help}"))),
            );
        } else {
            found.push((path.clone(), "is neither .json nor .md".to_owned()));
        }
    }
    found
}
