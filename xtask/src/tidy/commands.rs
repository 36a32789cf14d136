//! Rules for the commands of the tool: none imports another, and arguments import none.

use std::collections::BTreeSet;

use super::{Files, Finding, tokens};

const COMMANDS: &str = "crates/cli/src/commands/";
const ARGUMENTS: &str = "crates/cli/src/args/";
/// The one file of the arguments that has to know every command.
const ENUM: &str = "crates/cli/src/args/command.rs";

/// Imports of a command by another one, by what commands share, or by the arguments.
pub(super) fn check(files: &Files) -> Vec<Finding> {
    let commands = names(files);
    let mut findings = Vec::new();
    for (path, content) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let own = match path.strip_prefix(COMMANDS) {
            Some("mod.rs") => continue,
            Some(rest) => rest.split('/').next().unwrap_or_default(),
            None if path.starts_with(ARGUMENTS) && path != ENUM => "",
            None => continue,
        };
        for (line_index, name) in tokens::children(content, "commands") {
            if name != own && commands.contains(name) {
                let message = format!(
                    "imports the command `{name}`: what several share stands in a library, or in a \
                     file of `commands/` that is no command"
                );
                findings.push(Finding::at(path, line_index, message));
            }
        }
    }
    findings
}

/// The folders that are commands: those with flags of their own.
fn names(files: &Files) -> BTreeSet<&str> {
    let paths = files.keys().filter_map(|path| path.strip_prefix(COMMANDS));
    paths
        .filter_map(|path| path.strip_suffix("/flags.rs"))
        .filter(|name| !name.contains('/'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_arguments_import_no_command() {
        let files = |entries: &[(&str, &str)]| -> Files {
            let commands = ["a", "b", "c"].map(|name| format!("{COMMANDS}{name}/flags.rs"));
            let commands = commands.iter().map(|path| (path.as_str(), ""));
            let all = commands.chain(entries.iter().copied());
            all.map(|(path, text)| (path.to_owned(), text.to_owned()))
                .collect()
        };
        let run = format!("{COMMANDS}a/run.rs");
        let part = format!("{COMMANDS}a/pack/part.rs");
        let shared = format!("{COMMANDS}checks.rs");
        let units = format!("{ARGUMENTS}units.rs");
        let root = format!("{COMMANDS}mod.rs");
        let own = "use crate::commands::checks::Checks;\nuse crate::commands::a::flags::A;\n";
        let other = "use crate::commands::b::run::test_all;\n";
        let several = "use crate::commands::{\n    checks,\n    c::run,\n};\n";
        let good = [(run.as_str(), own), (part.as_str(), own), (ENUM, other)];
        assert!(check(&files(&good)).is_empty());
        assert!(check(&files(&[(root.as_str(), other)])).is_empty());
        assert!(check(&files(&[(run.as_str(), "// commands::b\n")])).is_empty());
        for path in [&run, &part, &shared, &units] {
            assert_eq!(check(&files(&[(path, other)])).len(), 1, "{path}");
            let found = check(&files(&[(path, several)]));
            assert_eq!(found.len(), 1, "{path}");
            assert_eq!(found[0].place, format!("{path}:3"));
        }
    }
}
