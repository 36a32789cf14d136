//! The commands that there are, for tests that have a table over all of them.

use std::collections::BTreeSet;
use std::path::Path;

use super::run;

/// Commands that only lead to others.
const GROUPS: [&str; 4] = ["fix", "betree", "fix store", "fix settings"];

/// Commands that do something themselves and lead to others.
const BOTH: [&str; 2] = ["betree-bench", "fix-bench"];

/// Every command by the words that lead to it, as the help texts list them.
pub(crate) fn all() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for group in std::iter::once("").chain(GROUPS).chain(BOTH) {
        let words = group.split_whitespace().chain(["-h"]);
        let help = run(Path::new("."), words).expect(0);
        let listed = help.text().lines().skip_while(|line| *line != "Commands:");
        for line in listed.skip(1).take_while(|line| !line.is_empty()) {
            let name = line
                .strip_prefix("  ")
                .filter(|line| !line.starts_with(' '));
            let name = name.and_then(|line| line.split_whitespace().next());
            if let Some(name) = name {
                found.insert(format!("{group} {name}").trim_start().to_owned());
            }
        }
    }
    for group in GROUPS {
        assert!(found.remove(group), "no group {group}: {found:?}");
        found.remove(&format!("{group} help"));
    }
    assert!(found.len() > 25, "{found:?}");
    found
}

/// Fails unless a table has a row for every command.
pub(crate) fn assert_complete<'a>(rows: impl Iterator<Item = &'a str>) {
    let rows: BTreeSet<&str> = rows.collect();
    let missing: Vec<String> = all()
        .into_iter()
        .filter(|command| !rows.contains(command.as_str()))
        .collect();
    assert!(missing.is_empty(), "add a row for each of {missing:?}");
}
